"""Logs in a real HDFS: whole folders, a file that is being written, a DataNode and a NameNode that go away while
reading."""

import json
import signal
import subprocess

import pytest

from script.hdfs.cluster import NAMENODE, Cluster, compile_java
from tests.bridge.conftest import RECORDED, apps, events_of, text_of, wait_until
from tests.bridge.test_bridge import check_task, expected_tasks, receiver, report_of, tasks_of
from tests.conftest import ROOT

NORMAL = RECORDED / "4.3.0/normal.zstd"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("hdfs"), datanodes=2) as started:
        yield started


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return compile_java([ROOT / "tests/bridge/workload/Writer.java"], tmp_path_factory.mktemp("classes"))


def put(cluster, folder, *paths):
    for arguments in (["-mkdir", "-p", folder], ["-put", "-f", *map(str, paths), folder]):
        shell = cluster.java("shell", "org.apache.hadoop.fs.FsShell", arguments, stdout=subprocess.PIPE)
        output = shell.communicate(timeout=120)[0]
        assert shell.returncode == 0, output + cluster.log_end("shell")


class Writer:
    """Writes a log into HDFS line by line, as Spark does; the lines are visible, the file is not closed."""

    def __init__(self, cluster, classes, path, events):
        self.process = cluster.java(
            "writer", "Writer", [path], str(classes), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.lines = text_of(events).splitlines(keepends=True)
        self.at = 0

    def write(self, n):
        for line in self.lines[self.at : self.at + n]:
            self.process.stdin.write(line)
            self.process.stdin.flush()
            self.at += 1
            assert self.process.stdout.readline() == f"{self.at}\n"

    def finish(self):
        self.write(len(self.lines))
        self.process.stdin.close()
        assert self.process.wait(timeout=120) == 0


def test_a_folder(cluster, bridge, plumbd, tmp_path):
    """With several blocks in a file (of 256 KiB here), names that must be escaped, and a rolling log."""
    events = events_of(NORMAL)
    large = tmp_path / "app-large"
    large.write_text(text_of(events[:-1] * 5 + events[-1:]))
    assert large.stat().st_size > 3 * 262144
    rolling = next((RECORDED / "4.3.0/rolling").iterdir())
    put(cluster, "/spark history", NORMAL, large, rolling, RECORDED / "4.3.0/crashed.zstd.inprogress")
    state = tmp_path / "state.json"
    folder = cluster.url("/spark history", "webhdfs")
    first = report_of(bridge(*receiver(plumbd), "--state", state, "--json", folder))
    logs = {log["log"].rsplit("/", 1)[1]: log for log in first["logs"]}
    assert logs.keys() == {NORMAL.name, large.name, rolling.name, "crashed.zstd"}
    assert sum(log["broken"] for log in first["logs"]) == 0
    assert logs[large.name]["lines"] == 5 * (len(events) - 1) + 1
    assert logs[large.name]["bytes"] == large.stat().st_size
    (app,) = {log["app"] for log in (logs[NORMAL.name], logs[large.name])}
    found = tasks_of(plumbd, app)
    for task, event in expected_tasks(events).items():
        check_task(found[task], event)
    again = report_of(bridge(*receiver(plumbd), "--state", state, "--json", folder))
    assert again["records_sent"] == 0 and again["lines"] == 0


def test_a_file_that_is_being_written(cluster, classes, follow, plumbd, tmp_path):
    """The NameNode knows nothing of its length; what was flushed is read, over the end of a block and the rename."""
    events = events_of(NORMAL) * 2
    put(cluster, "/growing", NORMAL)  # makes the folder
    writer = Writer(cluster, classes, "/growing/app-grows", events)
    follower = follow(
        *receiver(plumbd),
        "--interval",
        1,
        "--state",
        tmp_path / "state.json",
        "--json",
        cluster.url("/growing/app-grows", "webhdfs"),
    )
    writer.write(30)
    (app,) = wait_until(lambda: apps(plumbd).values(), "the application is there")
    shown = len(expected_tasks(events[:30]))
    wait_until(lambda: len(tasks_of(plumbd, app["app"])) == shown, "its tasks are there")
    follower.end(signal.SIGKILL)
    writer.write(len(events) // 2)  # ends a block of 256 KiB
    follower = follow(
        *receiver(plumbd),
        "--interval",
        1,
        "--state",
        tmp_path / "state.json",
        "--json",
        cluster.url("/growing/app-grows", "webhdfs"),
    )
    expected = expected_tasks(events)
    wait_until(lambda: tasks_of(plumbd, app["app"]).keys() == expected.keys(), "all tasks are there")
    writer.finish()
    wait_until(
        lambda: (
            "app-grows" in (tmp_path / "state.json").read_text()
            and any(entry["line"] == len(events) for entry in json.loads((tmp_path / "state.json").read_text())["logs"])
        ),
        "the end is read",
    )
    code, printed = follower.end()
    assert code == 0, follower.said()
    (log,) = json.loads(printed)["logs"]
    assert log["broken"] == 0 and log["ended"] and log["lines"] < len(events)


def test_hdfs_goes_away(cluster, classes, follow, bridge, plumbd, tmp_path):
    """Servers that hang and come back: it waits, says so once, and goes on where it was."""
    put(cluster, "/away", NORMAL)
    writer = Writer(cluster, classes, "/away/app-1", events_of(NORMAL))
    address = cluster.url("/away/app-1", "webhdfs")
    follower = follow(*receiver(plumbd), "--interval", 1, "--hdfs-retry", 1, "--json", address)
    writer.write(20)
    (app,) = wait_until(lambda: apps(plumbd).values(), "the application is there")
    namenode = cluster.processes["namenode"]
    namenode.kill()
    namenode.wait()
    wait_until(lambda: "HDFS at" in follower.said(), "it says so")
    done = bridge("--check", "--hdfs-retry", 1, address)
    assert done.returncode == 1 and "trying again" in done.stderr and "HDFS at" in done.stderr
    cluster._spawn("namenode", NAMENODE, [], 256)
    wait_until(cluster._ready, "HDFS is there again")
    writer.finish()
    wait_until(lambda: apps(plumbd)[app["app"]]["state"] == "ended", "the end is there")
    code, printed = follower.end()
    (log,) = json.loads(printed)["logs"]
    assert (log["lines"], log["broken"], log["ended"]) == (len(events_of(NORMAL)), 0, True), follower.said()
    assert code == 0, follower.said()


def test_a_datanode_is_lost(cluster, bridge):
    """One of two has every block, too."""
    put(cluster, "/lost", NORMAL)
    victim = cluster.processes["datanode1"]
    victim.kill()
    victim.wait()
    (log,) = report_of(bridge("--check", "--json", cluster.url("/lost", "webhdfs"), timeout=240))["logs"]
    assert log["broken"] == 0 and log["ended"]


MISTAKES = {
    "no such file": ("/nowhere", "no such file or folder in HDFS"),
    "a NameNode's RPC port": (None, "HDFS at"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case, cluster, bridge):
    path, said = MISTAKES[case]
    address = cluster.url(path, "webhdfs") if path else f"webhdfs://127.0.0.1:{cluster.rpc_port}/x"
    done = bridge("--check", "--hdfs-retry", 0, address)
    assert done.returncode == 1 and said in done.stderr, done.stderr
