"""plumb-bridge as a program: run to its end, or followed while logs grow."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT

RECORDED = ROOT / "tests/data/spark"
SECONDS = 120
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C.UTF-8",
    "G_SLICE": "always-malloc",
    **{name: os.environ[name] for name in ("ASAN_OPTIONS",) if name in os.environ},
}


def events_of(path):
    """Every event of a recorded log that is whole, read without us."""
    data = path.read_bytes()
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        data = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=False).stdout
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def text_of(events):
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)


def wait_until(condition, what):
    deadline = time.monotonic() + SECONDS
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what}: not within {SECONDS} s"
        time.sleep(0.02)
    return value


class Follower:
    """A plumb-bridge --follow."""

    def __init__(self, program, *arguments, log):
        self.log = Path(log)
        with open(self.log, "ab") as errors:
            self.process = subprocess.Popen(
                [program, "--follow", *map(str, arguments)],
                env=ENVIRONMENT,
                text=True,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def said(self):
        return self.log.read_text()

    def end(self, number=signal.SIGTERM):
        """(exit code, what it printed)"""
        self.process.send_signal(number)
        printed = self.process.communicate(timeout=SECONDS)[0]
        return self.process.returncode, printed


@pytest.fixture(scope="session")
def bridge_program(build_dir):
    program = build_dir / "spark-bridge/plumb-bridge"
    assert program.is_file(), f"{program} is not built: run script/build, or name a build folder with PLUMB_BUILD"
    return program


@pytest.fixture
def bridge(bridge_program):
    """bridge(ARGUMENT...) runs it to its end."""

    def run(*arguments, **options):
        return subprocess.run(
            [bridge_program, *map(str, arguments)],
            env=ENVIRONMENT,
            text=True,
            capture_output=True,
            check=False,
            **{"timeout": SECONDS, **options},
        )

    return run


@pytest.fixture
def follow(bridge_program, tmp_path):
    """follow(ARGUMENT...) starts a Follower; all are gone after the test."""
    started = []

    def start(*arguments):
        started.append(Follower(bridge_program, *arguments, log=tmp_path / "bridge.log"))
        return started[-1]

    yield start
    for follower in started:
        if follower.process.poll() is None:
            follower.process.kill()
            follower.process.communicate()
        assert "Sanitizer" not in follower.said(), follower.said()


def apps(plumbd):
    plumbd.flush()
    return {app["app"]: app for app in plumbd.ask("apps?limit=0")["apps"]}


@pytest.fixture
def closed_port():
    """An address of this machine where nobody listens."""
    import socket

    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))  # bound, never listening: connections are refused while it lives
        yield f"127.0.0.1:{reserved.getsockname()[1]}"
