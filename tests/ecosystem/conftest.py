import json
import subprocess

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="session")
def otel_app():
    """otel_app(plumbd, compression, orders) runs the shop under OpenTelemetry's SDK; gives what it sent."""
    python = subprocess.run([ROOT / "script/opentelemetry"], check=True, capture_output=True, text=True).stdout.strip()

    def run(plumbd, compression="none", orders=1):
        url = f"http://{plumbd.http}/v1/traces"
        command = [python, ROOT / "tests/ecosystem/otel_app.py", url, compression, str(orders)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
        return json.loads(done.stdout)

    return run
