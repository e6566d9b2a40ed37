import json
import subprocess

import pytest

from tests.conftest import ROOT


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
