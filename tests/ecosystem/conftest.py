import json
import subprocess

import pytest

from tests.conftest import ROOT, Plumbd
from tests.ecosystem.prometheus import Prometheus
from tests.ecosystem.test_otlp import a_span, post, spans_body
from tests.receiver.waiting import wait_for


@pytest.fixture(scope="session")
def run_app():
    """run_app(FILE, arguments...) runs a program under OpenTelemetry's SDK; gives what it printed."""
    python = subprocess.run([ROOT / "script/opentelemetry"], check=True, capture_output=True, text=True).stdout.strip()

    def run(name, *arguments):
        command = [python, ROOT / "tests/ecosystem" / name, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture
def otel_app(run_app):
    """otel_app(plumbd, compression, orders) runs the shop under OpenTelemetry's SDK; gives what it sent."""
    return lambda plumbd, compression="none", orders=1: run_app(
        "otel_app.py", f"http://{plumbd.http}/v1/traces", compression, orders
    )


@pytest.fixture(scope="session")
def scraped(plumbd_program, tmp_path_factory):
    """(plumbd, a Prometheus that has scraped it several times)"""
    folder = tmp_path_factory.mktemp("scraped")
    plumbd = Plumbd(plumbd_program, folder / "plumbd").start()
    assert post(plumbd, spans_body(a_span(1, 1)))[0] == 200
    plumbd.flush()
    prometheus = Prometheus(folder, plumbd.http)
    try:
        wait_for(lambda: (prometheus.value("count_over_time(plumbd_ready[1m])") or 0) >= 4)
        yield plumbd, prometheus
    finally:
        prometheus.process.kill()
        prometheus.process.wait()
        plumbd.clean_up()
