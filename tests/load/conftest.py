"""A real HDFS of one DataNode, and `plumb load` on it."""

import json
import os
import signal
import struct
import subprocess
import time
import urllib.request
import zlib
from types import SimpleNamespace

import pytest

from script.hdfs.attach import Agent
from script.hdfs.cluster import Cluster
from script.hdfs.jars import built_jar, hadoop_jars
from tests.cli.conftest import ENVIRONMENT, PLUMB
from tests.conftest import Plumbd

KINDS = ["read", "pread", "write", "append", "open", "stat", "list", "mkdir", "rename", "delete"]
RUN_SECONDS = 120
RECORD = struct.Struct("<BBHIQQQQQQI")


def run_load(*arguments, env=None):
    """plumb load to its end; stdout and stderr are text."""
    return subprocess.run(
        [PLUMB, "load", *map(str, arguments)],
        env={**ENVIRONMENT, "HADOOP_HOME": "/nonexistent", **(env or {})},
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
    )


def plan(path, *options):
    """Draws one; what it comes to."""
    done = run_load("plan", path, *options, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def report(*paths):
    done = run_load("report", *paths, "--json", "--slowest", 100, "--untraced")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def records(path):
    """Operations of a result, as docs/load.md says that they are written. What is not whole is left out."""
    data = path.read_bytes() if path.exists() else b""
    _, blank, body = data.partition(b"\n\n")
    found = []
    for at in range(0, len(body) - 63 if blank else 0, 64):
        record = body[at : at + 64]
        if record[:1] == b"o" and zlib.crc32(record[:60]) == int.from_bytes(record[60:], "little"):
            _, kind, error, _, due, begin, end, size, trace, number, flags = RECORD.unpack(record[:60])
            found.append(
                SimpleNamespace(
                    kind=KINDS[kind], error=error, due=due / 1e9, begin=begin / 1e9, end=end / 1e9,
                    latency=(end - due) / 1e9, bytes=size, trace=trace, number=number, unfinished=flags,
                )
            )  # fmt: skip
    return found


class Hdfs:
    """The cluster, and how plumb load reaches it."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.class_path = f"{cluster.conf}:{hadoop_jars()}/*"

    def command(self, what, *arguments, folder="/load"):
        return [what, *arguments, "--classpath", self.class_path, "--folder", folder, *java_options()]

    def run(self, *arguments, **options):
        return run_load(*self.command("run", *arguments, "--quiet", **options))

    def clean(self, **options):
        return run_load(*self.command("clean", **options))

    def start(self, *arguments, **options):
        """The run, going on."""
        words = map(str, self.command("run", *arguments, "--quiet", **options))
        return subprocess.Popen(
            [PLUMB, "load", *words], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def ask(self, method, path, operation):
        """WebHDFS, as the user that owns the cluster."""
        url = self.cluster.url(f"/webhdfs/v1{path}?op={operation}&user.name=plumb", scheme="http")
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=60) as answer:
            return json.load(answer)

    def make(self, *paths):
        for path in paths:
            assert self.ask("PUT", path, "MKDIRS")["boolean"]

    def remove(self, path):
        assert self.ask("DELETE", path, "DELETE&recursive=true")["boolean"]

    def tree(self, path):
        """All that is below it, by name, sorted."""
        found = []
        for entry in self.ask("GET", path, "LISTSTATUS")["FileStatuses"]["FileStatus"]:
            below = f"{path.rstrip('/')}/{entry['pathSuffix']}"
            found += [below, *(self.tree(below) if entry["type"] == "DIRECTORY" else [])]
        return sorted(found)

    def signal_datanode(self, number):
        self.cluster.processes["datanode1"].send_signal(number)


def java_options():
    """A JVM that is up quickly."""
    return [f"--java-option={option}" for option in ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m")]


@pytest.fixture(scope="session")
def hdfs(plumbd, tmp_path_factory):
    """Its processes trace what traced operations ask them for."""
    assert built_jar("load", "plumb-load-*.jar")
    agent = Agent({"receivers": "{}:{}".format(*plumbd.thrift), "sampling": "never"})
    with Cluster(tmp_path_factory.mktemp("hdfs"), datanodes=1, agent=agent) as cluster:
        yield Hdfs(cluster)
        cluster.processes["datanode1"].send_signal(signal.SIGCONT)


@pytest.fixture(scope="session")
def plumbd(plumbd_program, tmp_path_factory):
    plumbd = Plumbd(plumbd_program, tmp_path_factory.mktemp("plumbd"))
    plumbd.start()
    yield plumbd
    plumbd.clean_up()


def wait_until(process, holds):
    """While the process goes on."""
    until = time.monotonic() + RUN_SECONDS
    while not holds():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def wait_records(process, path, n):
    """Until that many operations have ended, by the file."""
    wait_until(process, lambda: len(records(path)) >= n)


def executor_of(process):
    """The process id of the JVM that plumb started."""
    (child,) = open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()
    return int(child)


def kill_executor(process):
    os.kill(executor_of(process), signal.SIGKILL)
