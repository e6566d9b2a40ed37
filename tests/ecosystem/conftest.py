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


MINUTE = 60 * 10**9
BEGIN = 1_700_000_000_000_000_000 // MINUTE * MINUTE


def send_work(plumbd, minutes):
    """Reads of four DataNodes, of which dn2 gets eight times slower after ten minutes, calls of a NameNode and of
    clients; the last call of each minute fails."""
    for minute in minutes:
        for node in (1, 2, 3, 4):
            works = (
                ("DataNode", "BlockSender#readLocal", 1_000_000 * (8 if node == 2 and minute >= 10 else 1)),
                ("NameNode", "FSNamesystemLock#writeLock", 50_000),
                ("FSClient", "DFSOutputStream#write", 300_000),
            )
            for number, (service, name, base) in enumerate(works, (minute * 4 + node) * len(works)):
                spans = []
                for call in range(24):
                    begin = BEGIN + minute * MINUTE + call * 10**9
                    end = begin + base * node + 10_000 * ((call * 7 + minute * 3) % 20)
                    times = {"startTimeUnixNano": str(begin), "endTimeUnixNano": str(end)}
                    spans.append(a_span(number * 24 + call, 1, name=name, **times))
                spans[-1]["status"] = {"code": 2}
                assert post(plumbd, spans_body(*spans, service=service, **{"host.name": f"dn{node}"}))[0] == 200
    plumbd.flush()


@pytest.fixture(scope="session")
def scraped(plumbd_program, tmp_path_factory):
    """(plumbd, a Prometheus that scrapes it, several times before and after calls were stored)"""
    folder = tmp_path_factory.mktemp("scraped")
    plumbd = Plumbd(plumbd_program, folder / "plumbd").start()
    send_work(plumbd, range(16))
    plumbd.stop()
    plumbd.start()  # hosts are judged at the start
    wait_for(lambda: plumbd.metrics()["plumbd_judged_time_seconds"] > 0)
    send_work(plumbd, [16])
    prometheus = Prometheus(folder, plumbd.http)
    try:
        wait_for(lambda: (prometheus.value("count_over_time(plumbd_ready[1m])") or 0) >= 2)
        send_work(plumbd, [17])
        wait_for(lambda: (prometheus.value("sum(increase(plumbd_host_calls_total[1m]))") or 0) > 0)
        yield plumbd, prometheus
    finally:
        prometheus.process.kill()
        prometheus.process.wait()
        plumbd.clean_up()
