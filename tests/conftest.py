"""What all suites that run the programs share: where the build is, and a real plumbd on free ports.

PLUMB_BUILD names a build folder (default build/default), PLUMBD another plumbd."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

from script.hdfs.cluster import free_port

ROOT = Path(__file__).resolve().parents[1]

STOP_SECONDS = 120
# How long each file of tests took when it last ran: for script/check.
SECONDS_NOTED = ROOT / "build/python-seconds.json"
seconds_of_files = Counter()


# What takes longest of the suite begins first, so that no worker is left alone with it at the end.
LONGEST = (
    "tours",
    "test_live",
    "test_spark",
    "test_ready_again",
    "test_install",
    "test_recovery",
    "test_kafka",
    "test_comparing",
)


def group_of(item):
    """A file stays together, for its fixtures; so do all that share clusters."""
    return "tours" if "toured" in item.fixturenames else item.path.stem


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """For pytest -n 2 --dist loadgroup."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            item.add_marker(pytest.mark.xdist_group(group_of(item)))
    if hasattr(config, "workerinput"):
        places = {group: place for place, group in enumerate(LONGEST)}
        items.sort(key=lambda item: places.get(group_of(item), len(places)))


def pytest_runtest_logreport(report):
    seconds_of_files[report.nodeid.split("::")[0]] += report.duration


def pytest_sessionfinish(session):
    """Of files that ran whole."""
    chosen = session.config.option.keyword or any("::" in argument for argument in session.config.args)
    if chosen or hasattr(session.config, "workerinput") or not SECONDS_NOTED.parent.is_dir():
        return
    noted = json.loads(SECONDS_NOTED.read_text()) if SECONDS_NOTED.exists() else {}
    noted.update({file: round(seconds, 1) for file, seconds in seconds_of_files.items()})
    new = SECONDS_NOTED.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(noted, indent=0))
    new.replace(SECONDS_NOTED)


@pytest.fixture(scope="session")
def build_dir():
    return Path(os.environ.get("PLUMB_BUILD") or ROOT / "build/default")


@pytest.fixture(scope="session")
def plumbd_program(build_dir):
    program = Path(os.environ.get("PLUMBD") or build_dir / "receiver/plumbd")
    assert program.is_file(), f"{program} is not built: run script/build, or name a build folder with PLUMB_BUILD"
    return program


@pytest.fixture(scope="session")
def plumb_program(build_dir):
    program = build_dir / "analyzer/plumb"
    assert program.is_file(), f"{program} is not built: run script/build, or name a build folder with PLUMB_BUILD"
    return program


def lasting_address():
    """Of a plumbd that is away for a while: a port that the kernel gives to nobody else meanwhile."""
    return f"127.0.0.1:{free_port()}"


class Plumbd:
    """One plumbd with its folders; may be stopped, killed and started again. Settings are names with '__' for '.' and
    '_' for '-': trace__idle="100ms", store__min_free="0"."""

    def __init__(self, program, folder, **settings):
        self.program = program
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.store, self.journal = self.folder / "store", self.folder / "journal"
        self.log = self.folder / "plumbd.log"
        self.settings = {
            "listen.thrift": "127.0.0.1:0",
            "listen.http": "127.0.0.1:0",
            "store.path": self.store,
            "journal.path": self.journal,
            "store.min-free": "0",
            **{name.replace("__", ".").replace("_", "-"): value for name, value in settings.items()},
        }
        self.arguments = []
        # GLib's slice allocator hides from the sanitizers who owns what.
        self.environment = {"G_SLICE": "always-malloc"}
        self.process = None
        self.thrift = self.http = self.hrpc = None

    def command(self):
        sets = [part for name, value in self.settings.items() for part in ("--set", f"{name}={value}")]
        return [str(self.program), *self.arguments, *sets]

    def spawn(self, **options):
        """Starts it without waiting until it is ready."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **self.environment},
                **options,
            )
        return self

    def wait_ready(self):
        line = self.process.stdout.readline()
        ready = re.fullmatch(r"plumbd ready thrift=(\S+):(\d+) http=(\S+)(?: hrpc=(\S+):(\d+))? store=(.*)\n", line)
        assert ready, f"not ready: {line!r}, exit {self.process.wait(STOP_SECONDS)}\n{self.messages()}"
        self.thrift = (ready.group(1), int(ready.group(2)))
        self.http = ready.group(3)
        self.hrpc = (ready.group(4), int(ready.group(5))) if ready.group(4) else None
        return self

    def recovering(self):
        return "recovering" in self.receiver()

    def wait_recovered(self):
        """Until all that the journal held at the start is taken in."""
        until = time.monotonic() + STOP_SECONDS
        while self.recovering():
            assert time.monotonic() < until, self.messages()
        return self

    def start(self, **options):
        return self.spawn(**options).wait_ready()

    def messages(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        code = self.process.wait(STOP_SECONDS)
        self.process.stdout.close()
        return code

    def kill(self):
        self.signal(signal.SIGKILL)
        return self.wait()

    def stop(self):
        """In order; the exit code."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def fetch(self, path, method="GET", timeout=STOP_SECONDS):
        """(status, body) of a request."""
        request = urllib.request.Request(f"http://{self.http}{path}", method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def ask(self, question):
        status, body = self.fetch(f"/api/v1/{question}")
        assert status == 200, (question, status, body)
        return json.loads(body)

    def flush(self):
        status, body = self.fetch("/api/v1/flush", "POST")
        assert status == 200, body
        return json.loads(body)["closed_traces"]

    def receiver(self):
        return self.ask("status")["receiver"]

    def stored(self):
        return self.ask("status")["store"]

    def export(self):
        status, body = self.fetch("/api/v1/export")
        assert status == 200, body
        return [json.loads(line) for line in body.splitlines()]

    def metrics(self):
        """{name with labels: value}"""
        status, body = self.fetch("/metrics")
        assert status == 200
        lines = [line for line in body.decode().splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

    def clean_up(self):
        if self.process and self.process.poll() is None:
            self.kill()


@pytest.fixture
def make_plumbd(plumbd_program, tmp_path):
    """make_plumbd(folder=..., **settings) makes a Plumbd that is not started; all are gone after the test."""
    made = []

    def make(folder=None, **settings):
        made.append(Plumbd(plumbd_program, folder or tmp_path / f"plumbd{len(made)}", **settings))
        return made[-1]

    yield make
    for plumbd in made:
        plumbd.clean_up()
    for plumbd in made:  # of a build with a sanitizer
        assert "Sanitizer" not in plumbd.messages(), plumbd.messages()


@pytest.fixture
def plumbd(make_plumbd):
    """A plumbd that is ready."""
    return make_plumbd().start()
