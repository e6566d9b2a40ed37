"""The audit log of a real NameNode becomes a plan, which is carried out again."""

import urllib.request
from collections import Counter

import pytest

from tests.load.conftest import plan, records, report, run_load

LOGGER = "org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit"
MIX = "read=4,write=3,stat=2,list=1,mkdir=1,rename=1,delete=2,append=1"


@pytest.fixture(scope="module")
def audited(hdfs, tmp_path_factory):
    """(Operations of a load, by kind; the NameNode's log of it)."""
    folder = tmp_path_factory.mktemp("audit")
    level(hdfs, "INFO")
    path, log = folder / "a.plan", hdfs.cluster.log("namenode")
    begin = log.stat().st_size
    try:
        plan(path, "--files", 5, "--max-file", "16K", "--rate", 30, "--duration", "3s", "--warm-up", "0s", "--mix", MIX)
        done = hdfs.run(path, folder="/audited")
        assert done.returncode == 0, done.stderr
    finally:
        level(hdfs, "WARN")
    part = folder / "hdfs-audit.log"
    part.write_bytes(log.read_bytes()[begin:])
    return Counter(operation.kind for operation in records(folder / "a.plan.result")), part


def level(hdfs, name):
    url = hdfs.cluster.url(f"/logLevel?log={LOGGER}&level={name}", scheme="http")
    urllib.request.urlopen(url, timeout=60).close()


def test_the_log_becomes_a_plan_with_what_was_done(audited, tmp_path):
    done, log = audited
    planned = plan(tmp_path / "b.plan", "--from-audit", log, "--speed", 2)
    kinds = {row["kind"]: row["operations"] for row in planned["kinds"]}
    # What the load does beside its operations, to make files and to look after its folder, is in the log, too.
    for kind in ("read", "write", "append", "list", "mkdir", "rename", "delete"):
        assert kinds[kind] >= done[kind] > 0
    assert kinds["append"] == done["append"] and kinds["rename"] == done["rename"]
    lines = log.read_text().splitlines()
    assert planned["audit"]["lines"] == len(lines)
    assert planned["operations"] == sum("FSNamesystem.audit: allowed=true" in line for line in lines) - sum(
        planned["audit"]["left_out"].values()
    )
    plan(tmp_path / "c.plan", "--from-audit", log, "--speed", 2)
    assert (tmp_path / "b.plan").read_bytes() == (tmp_path / "c.plan").read_bytes()


def test_the_plan_is_carried_out(hdfs, audited, tmp_path):
    _, log = audited
    path = tmp_path / "b.plan"
    planned = plan(path, "--from-audit", log, "--speed", 2, "--max-file", "16K", "--clients", 2)
    done = hdfs.run(path, folder="/replayed")
    assert done.returncode == 0, done.stderr
    found = records(tmp_path / "b.plan.result")
    assert len(found) == planned["operations"]
    assert not any(operation.unfinished for operation in found)
    assert sum(operation.error > 0 for operation in found) <= len(found) // 20  # read before it was written, say
    assert "of an audit log, at 2 times its speed" in done.stdout
    assert report(tmp_path / "b.plan.result")["seconds"] == pytest.approx(planned["duration_ns"] / 1e9)
    again = hdfs.run(path, "--find-max", "p99<=1s", folder="/replayed")
    assert again.returncode == 2 and "can be drawn anew" in again.stderr
    assert run_load("report", tmp_path / "b.plan.result", "--html", tmp_path / "p.html").returncode == 0
    assert hdfs.clean(folder="/replayed").returncode == 0
