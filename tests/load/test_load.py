"""plumb load on a real HDFS: plan, run, report, clean."""

import json
import re
import signal
import time
from collections import Counter

import pytest

from script.hdfs.cluster import wait_for
from tests.cli.conftest import run_plumb
from tests.load.conftest import KINDS, kill_executor, plan, records, report, run_load, wait_records

ALL_KINDS = ",".join(f"{kind}=1" for kind in KINDS)
SMALL = ["--files", 10, "--max-file", "64K", "--clients", 3]


def traced(plumbd):
    return ["--trace", "{}:{}".format(*plumbd.thrift), "--server", plumbd.http]


def waited(result, plumbd):
    """Whom the operations waited for."""
    said = run_load("report", result, "--json", "--server", plumbd.http)
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout)["waited"]


@pytest.fixture(scope="module")
def done(hdfs, plumbd, tmp_path_factory):
    """A run of every kind of operation, traced: (what was planned, the result's file, what was printed)."""
    path = tmp_path_factory.mktemp("load") / "all.plan"
    planned = plan(path, *SMALL, "--rate", 30, "--duration", "4s", "--warm-up", "1s", "--mix", ALL_KINDS)
    ran = hdfs.run(path, *traced(plumbd))
    assert ran.returncode == 0, ran.stderr
    return planned, path.with_name("all.plan.result"), ran.stdout


def test_each_operation_of_the_plan_is_done_once(done):
    planned, result, _ = done
    found = records(result)
    assert sorted(operation.number for operation in found) == list(range(planned["operations"]))
    assert {operation.error for operation in found} == {0} and {operation.unfinished for operation in found} == {0}
    assert {kind: sum(o.kind == kind for o in found) for kind in KINDS} == {
        row["kind"]: row["operations"] for row in planned["kinds"]
    }
    assert sum(o.bytes for o in found if "read" in o.kind) == planned["read_bytes"]
    assert sum(o.bytes for o in found if o.kind in ("write", "append")) == planned["write_bytes"]
    assert all(o.due <= o.begin <= o.end for o in found)


def test_report(done, plumbd):
    _, result, printed = done
    said = report(result)
    measured = [operation for operation in records(result) if operation.due >= 1]
    assert said["end"] == "done" and said["missing"] == said["damaged_records"] == 0
    assert said["due"] == said["done"] == len(measured)
    rows = {row["kind"]: row for row in said["kinds"]}
    assert set(rows) == {*KINDS, "all"}
    times = sorted(operation.latency for operation in measured)
    p50 = rows["all"]["latency"]["p50"]
    assert p50["ns"] == round(times[(len(times) + 1) // 2 - 1] * 1e9)
    assert p50["low_ns"] <= p50["ns"]
    assert p50["high_ns"] is None or p50["ns"] <= p50["high_ns"]  # None: past the last rank
    assert rows["all"]["latency"]["max_ns"] == round(times[-1] * 1e9) == said["slowest"][0]["latency_ns"]
    assert "were due in 4 s" in printed and "slowest" in printed
    assert run_load("report", result, "--server", plumbd.http).stdout == printed


def test_whom_they_waited_for_comes_first(done, plumbd):
    """The parts of the critical path are those of all servers, and add up to what the operations took."""
    _, result, printed = done
    first = " ".join(printed.splitlines()[:4])
    # A server that had no processor sends the last of its spans after the run.
    wait_for(lambda: waited(result, plumbd)["incomplete"] == 0, 60, "all spans of the operations")
    said = waited(result, plumbd)
    assert said["requests"] >= said["found"] - 1 >= 100
    assert set(said["spans"]) == {"client", "namenode", "datanode"}
    for rows in (said["waits"], said["calls"], said["processes"], said["functions"]):
        assert sum(row["critical_ns"] for row in rows) == said["response_ns"]
    greatest = said["calls"][0]
    assert first.startswith(f"What {said['requests']} traced operations waited for, by critical-path time: ")
    assert f"in {greatest['function']}: {100 * greatest['share']:.0f} %" in first
    names = {row["function"] for row in said["functions"]}
    assert {"FSNamesystem#getBlockLocations", "sendBlock", "BlockSender#sendPacket", "Load#read"} <= names
    (reads,) = (row for row in said["operations"] if row["function"] == "Load#read")
    assert reads["bytes"] == sum(one.bytes for one in records(result) if one.kind == "read" and one.begin >= 1)


def test_without_plumbd_the_report_says_why_it_does_not_know(done):
    _, result, _ = done
    nobody = run_load("report", result, "--server", "127.0.0.1:1")
    assert nobody.returncode == 0
    assert nobody.stdout.startswith("Whom the operations waited for is not known: ") and "--untraced" in nobody.stdout
    assert "aited for" not in run_load("report", result, "--untraced").stdout


def test_page(done, tmp_path):
    """One file, with as many points as seconds (p99 of those with 100 operations), that loads nothing and takes
    nothing for tags that is text."""
    _, result, _ = done
    page = tmp_path / "page.html"
    strange = tmp_path / "<script>.result"
    strange.write_bytes(result.read_bytes())
    assert run_load("report", strange, "--html", page).returncode == 0
    text = page.read_text()
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert not re.search(r"(src|href)=|url\(|@import", text)
    seconds = Counter(int(operation.due) for operation in records(result) if operation.due >= 1)
    times = 3 if max(seconds.values()) >= 100 else 2
    lines = re.findall(r'<path style="stroke:var\(--c\d+\)[^"]*" d="([^"]*)"', text)
    assert len(lines) == times + 1 + len(KINDS) + 1
    assert all(len(re.findall("[ML]", line)) == len(seconds) for line in (lines[0], *lines[times - 1 : times + 1]))
    assert ("p99 is drawn where" in text) == (min(seconds.values()) < 100)
    assert run_load("report", result, result, "--html", page).returncode == 0
    assert "What differs" in page.read_text()


def test_the_slowest_open_as_traces(done, plumbd):
    _, result, _ = done
    for slow in report(result)["slowest"][:5]:
        spans = plumbd.ask(f"trace?id={slow['trace']}")["spans"]
        assert spans[0]["function"] == f"Load#{slow['kind']}"
        assert int(spans[0]["annotations"]["operation"]) == slow["operation"]
        assert int(spans[0]["annotations"]["dueNs"]) == slow["due_ns"]
        assert len(spans) > 1  # and what it did


def test_two_runs_are_compared(done, hdfs, tmp_path):
    """The second time the files are there; of other plans that is said."""
    _, result, _ = done
    other = tmp_path / "other.plan"
    plan(other, *SMALL, "--rate", 30, "--duration", "1s", "--warm-up", "0s", "--mix", "stat=1")
    assert hdfs.run(other).returncode == 0
    both = report(result, other.with_name("other.plan.result"))
    assert not both["same_plan"]
    assert {(row["kind"], row["quantile"]) for row in both["changes"]} == {("stat", q) for q in ("p50", "p90", "p99")}
    text = run_load("report", result, other.with_name("other.plan.result")).stdout
    assert "had different plans" in text


def test_a_stopped_datanode_shows_in_as_many_requests_as_were_due(hdfs, plumbd, tmp_path):
    """Two seconds in which nothing can be read: each read that is due in them has what is left of them as its latency,
    and none of the others waits for it. The report names that DataNode."""
    path, result = tmp_path / "stop.plan", tmp_path / "stop.plan.result"
    plan(path, *SMALL, "--rate", 40, "--gaps", "even", "--duration", "9s", "--warm-up", "1s", "--mix", "read=1")
    process = hdfs.start(path, *traced(plumbd))
    wait_records(process, result, 80)
    before = len(records(result))
    hdfs.signal_datanode(signal.SIGSTOP)
    time.sleep(2)
    hdfs.signal_datanode(signal.SIGCONT)
    output, said = process.communicate(timeout=60)
    assert process.returncode == 0, said

    found = [operation for operation in records(result) if operation.bytes > 0]
    assert max(operation.latency for operation in found) >= 1.9, output
    # The first that ended afterwards; in a cold client some take long before, too.
    again = min(operation.end for operation in found if operation.latency > 1 and operation.number >= before)
    due_meanwhile = [operation for operation in found if again - 1.8 < operation.due < again]
    assert len(due_meanwhile) >= 50  # 72 are due; some read nothing
    assert all(operation.end > again - 0.05 for operation in due_meanwhile)
    late = sorted(operation.begin - operation.due for operation in found)
    assert late[len(late) * 9 // 10] < 0.5  # the generator went on
    said = waited(result, plumbd)
    assert said["processes"][0]["host"] == "datanode1" and said["processes"][0]["share"] > 0.5


def test_a_killed_run_is_read_as_far_as_it_went(hdfs, tmp_path):
    path, result = tmp_path / "killed.plan", tmp_path / "killed.plan.result"
    plan(path, *SMALL, "--rate", 40, "--duration", "1m", "--warm-up", "0s", "--mix", "stat=1")
    process = hdfs.start(path)
    wait_records(process, result, 20)
    kill_executor(process)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "the executor was killed" in output
    said = report(result)
    assert said["end"] == "killed" and said["done"] == len(records(result)) >= 20


def test_an_interrupted_run_is_whole(hdfs, tmp_path):
    path, result = tmp_path / "ended.plan", tmp_path / "ended.plan.result"
    plan(path, *SMALL, "--rate", 40, "--duration", "1m", "--warm-up", "0s", "--mix", "stat=1")
    process = hdfs.start(path)
    wait_records(process, result, 20)
    process.send_signal(signal.SIGTERM)
    output, said = process.communicate(timeout=60)
    assert process.returncode == 1, said
    assert "It was interrupted" in output
    said = report(result)
    assert said["end"] == "interrupted" and said["missing"] == 0 and said["due"] == len(records(result))


def test_a_run_that_fails_stops(hdfs, tmp_path):
    """What it needs goes away: all fail, and it says with what."""
    path, result = tmp_path / "fails.plan", tmp_path / "fails.plan.result"
    plan(path, *SMALL, "--rate", 40, "--duration", "1m", "--warm-up", "0s", "--mix", "stat=1")
    process = hdfs.start(path, folder="/fails")
    wait_records(process, result, 20)
    hdfs.remove("/fails/d")
    output, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "too many operations failed" in said and "x FileNotFoundException: File does not exist" in output
    assert report(result)["end"] == "errors"


def test_a_foreign_folder_is_refused_and_nothing_of_it_removed(hdfs, tmp_path):
    path = tmp_path / "small.plan"
    plan(path, *SMALL, "--rate", 5, "--duration", "1s", "--warm-up", "0s")
    hdfs.make("/mine/d/00")
    for what in (hdfs.run(path, folder="/mine"), hdfs.clean(folder="/mine")):
        assert what.returncode == 2
        assert "/mine" in what.stderr
    assert hdfs.tree("/mine") == ["/mine/d", "/mine/d/00"]


def test_files_that_do_not_fit_are_not_begun(hdfs, tmp_path):
    path = tmp_path / "large.plan"
    plan(path, "--files", 30000, "--max-file", "1T", "--rate", 5, "--duration", "1s", "--warm-up", "0s")
    done = hdfs.run(path, folder="/large")
    assert done.returncode == 2 and "by --min-free): draw it with smaller --files" in done.stderr
    assert hdfs.tree("/large/d/00") == []
    assert hdfs.clean(folder="/large").returncode == 0


def test_clean_removes_what_the_load_made_and_only_that(hdfs, done):
    hdfs.make("/load/d/00/mine", "/load/mine")
    left = hdfs.clean()
    assert left.returncode == 1
    assert "/load/d/00/mine" in left.stderr and "/load/mine" in left.stderr
    assert hdfs.tree("/load") == ["/load/.plumb-load", "/load/d", "/load/d/00", "/load/d/00/mine", "/load/mine"]
    hdfs.remove("/load/d/00/mine")
    hdfs.remove("/load/mine")
    assert "/load, 0 files" in hdfs.clean().stderr
    assert not [path for path in hdfs.tree("/") if path.startswith("/load")]
    nothing = hdfs.clean()
    assert nothing.returncode == 0 and "there is no " in nothing.stderr


def test_the_examples_class_path_is_hadoops(hdfs, tmp_path):
    """Without --classpath, `hadoop classpath` says it."""
    hadoop = tmp_path / "bin" / "hadoop"
    hadoop.parent.mkdir()
    hadoop.write_text(f'#!/bin/sh\n[ "$1" = classpath ] && echo "{hdfs.class_path}"\n')
    hadoop.chmod(0o755)
    done = run_plumb("load", "clean", "--folder", "/load", env={"HADOOP_HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "folder, message",
    [
        ("hdfs://no-such-host.invalid/x", "no host has this name"),
        ("hdfs://127.0.0.1:1/x", "is the NameNode running"),
        ("s3x://a/b", "hdfs://HOST:PORT/FOLDER"),
    ],
)
def test_a_folder_that_is_nowhere(hdfs, tmp_path, folder, message):
    path = tmp_path / "small.plan"
    plan(path, *SMALL, "--rate", 5, "--duration", "1s", "--warm-up", "0s")
    done = hdfs.run(path, "--conf", "ipc.client.connect.max.retries=0", folder=folder)
    assert done.returncode == 1
    assert message in done.stderr.splitlines()[-1], done.stderr


def test_a_load_on_the_own_disk_says_so_and_is_watched(hdfs, tmp_path):
    """With --json a document each second, of what has been done and of what was since the last, and then the report,
    with the same sums."""
    path = tmp_path / "small.plan"
    plan(path, *SMALL, "--rate", 40, "--duration", "2s", "--warm-up", "1s", "--mix", "stat=1,read=1")
    done = run_load(*hdfs.command("run", path, "--json", folder=f"file://{tmp_path}/load"))
    assert done.returncode == 0, done.stderr
    assert "not on HDFS" in done.stderr

    lines, rest = [], done.stdout
    while rest.startswith('{"live":'):
        line, _, rest = rest.partition("\n")
        lines.append(json.loads(line))
    found, said = records(tmp_path / "small.plan.result"), json.loads(rest)
    seconds = [line for line in lines if line["live"] == "load"]
    assert [line["second"] for line in seconds] == list(range(1, len(seconds) + 1)) and len(seconds) >= 2
    assert [line["warm_up"] for line in seconds[:2]] == [True, False] and seconds[0]["of"] == 3
    assert lines[-1]["live"] == "end" and lines[-1]["end"] == said["end"] == "done"
    assert lines[-1]["due"] == lines[-1]["done"] == len(found) and lines[-1]["in_flight"] == lines[-1]["failed"] == 0
    watched = [*seconds, lines[-1]]
    for name in ("due", "done", "failed", "bytes"):
        assert sum(line["last"][name] for line in watched) == lines[-1][name]
    assert lines[-1]["bytes"] == sum(operation.bytes for operation in found) > 0
    for line in watched:
        last, slowest = line["last"], max(operation.latency for operation in found) * 1e9
        assert (last["p50_ns"] is None) == (last["done"] == 0)
        assert last["done"] == 0 or 0 < last["p50_ns"] <= last["p99_ns"] < 1.1 * slowest
    assert {line["result"] for line in lines} == {said["result"]}
