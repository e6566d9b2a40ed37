"""One plan on several hosts: each carries out its share, all begin together, and their results are one report."""

import os
import select
import signal

import pytest

from tests.load.conftest import kill_executor, plan, records, report, run_load, wait_records, wait_until

OPTIONS = ["--files", 8, "--max-file", "4K", "--rate", 40, "--duration", "2s", "--warm-up", "1s", "--clients", 5]
STATS = ["--rate", 40, "--duration", "60s", "--warm-up", "0s", "--clients", 2, "--mix", "stat=1"]


@pytest.fixture(scope="module")
def shared(hdfs, tmp_path_factory):
    """(What was planned, the two results)."""
    path = tmp_path_factory.mktemp("shares") / "a.plan"
    planned = plan(path, *OPTIONS, "--mix", "read=2,write=1,stat=1,append=1")
    # The second is begun first: it waits until it is called.
    hosts = [hdfs.start(path, "--share", f"{number}/2", folder="/shares") for number in (2, 1)]
    for host in hosts:
        _, said = host.communicate(timeout=120)
        assert host.returncode == 0, said
    return planned, [path.with_name(f"a.plan.{number}-of-2.result") for number in (1, 2)]


def test_each_operation_is_done_once(shared):
    planned, results = shared
    parts = [records(result) for result in results]
    assert all(len(part) > 20 for part in parts)
    assert sorted(operation.number for part in parts for operation in part) == list(range(planned["operations"]))
    assert {operation.error for part in parts for operation in part} == {0}


def test_they_begin_together(shared, hdfs):
    """By the NameNode's time of the files that each wrote: the begin is that less the time since the begin."""
    _, results = shared
    begins = []
    for result in results:
        writes = [operation for operation in records(result) if operation.kind == "write"]
        assert len(writes) > 3
        files = {}
        for operation in writes:
            folder = f"/shares/d/{written(result, operation) % 256:02x}"
            if folder not in files:
                entries = hdfs.ask("GET", folder, "LISTSTATUS")["FileStatuses"]["FileStatus"]
                files[folder] = {entry["pathSuffix"]: entry["modificationTime"] / 1e3 for entry in entries}
        # A file is closed before its operation ends: the least delay of several is small.
        begins.append(
            max(
                files[f"/shares/d/{number % 256:02x}"][f"f{number}"] - operation.end
                for operation in writes
                for number in [written(result, operation)]
            )
        )
    assert abs(begins[0] - begins[1]) < 0.25


def written(result, operation):
    """The number of the file that an operation of the plan wrote."""
    lines = result.with_name("a.plan").read_text().splitlines()
    return int([line for line in lines if line.startswith("o ")][operation.number].split()[4])


def test_their_results_are_one_report(shared):
    _, results = shared
    said = run_load("report", "--merge", *results)
    assert "2 of the 2 hosts that shared the plan" in said.stdout
    whole = report("--merge", *results)
    measured = [operation for result in results for operation in records(result) if operation.due >= 1]
    assert whole["due"] == whole["done"] == len(measured) and whole["missing"] == 0
    all_kinds = whole["kinds"][-1]["latency"]
    times = sorted(operation.latency for operation in measured)
    assert all_kinds["p50"]["ns"] == round(times[(len(times) + 1) // 2 - 1] * 1e9)
    assert all_kinds["max_ns"] == round(times[-1] * 1e9) == whole["slowest"][0]["latency_ns"]
    assert [host["share"] for host in whole["hosts"]] == ["1/2", "2/2"]
    assert all(0 < host["clock_uncertain_ns"] < 1e9 for host in whole["hosts"])
    # One alone is a report, too, and it says what it lacks.
    assert "lacks the others" in run_load("report", results[0]).stdout
    assert report(results[0])["missing"] == 0


def test_what_does_not_belong_together(shared, tmp_path):
    _, results = shared
    twice = run_load("report", "--merge", results[0], results[0])
    assert twice.returncode == 2 and "is there twice" in twice.stderr
    other = tmp_path / "other"
    other.write_bytes(results[1].read_bytes().replace(b"\nmeeting ", b"\nmeeting 0", 1))
    strange = run_load("report", "--merge", results[0], other)
    assert strange.returncode == 2 and "is of another run" in strange.stderr


def test_nothing_of_the_meeting_is_left(shared, hdfs):
    assert "/shares/r" not in hdfs.tree("/shares")
    assert hdfs.clean(folder="/shares").returncode == 0


def test_who_waits_in_vain_is_told(hdfs, tmp_path):
    path, other = tmp_path / "a.plan", tmp_path / "b.plan"
    plan(path, *OPTIONS)
    plan(other, *OPTIONS, "--seed", 2)
    alone = hdfs.run(path, "--share", "1/2", "--wait", "100ms", folder="/alone")
    assert alone.returncode == 2 and "the host with --share 2/2 is not ready" in alone.stderr
    leader = hdfs.start(path, "--share", "1/2", "--wait", "100s", folder="/alone")
    try:
        while not {"/alone/r", "/alone/r/begin"} <= set(hdfs.tree("/alone")):
            assert leader.poll() is None, leader.communicate()
        follower = hdfs.run(other, "--share", "2/2", "--wait", "100ms", folder="/alone")
        assert follower.returncode == 2
        assert "has not called" in follower.stderr and "it has another plan" in follower.stderr
    finally:
        leader.terminate()
        leader.communicate(timeout=60)
    many = hdfs.run(path, "--share", "1/6", folder="/alone")
    assert many.returncode == 2 and "the plan has 5 clients" in many.stderr


def test_a_stale_call_is_not_kept_to(hdfs, tmp_path):
    """The first host is killed, and its call believed: the second makes files that the next first host takes away. Then
    it is told to end, and leaves nothing."""
    path, folder = tmp_path / "a.plan", tmp_path / "load"
    plan(path, "--files", 4, "--max-file", "1M", *STATS)
    assert path.read_text().split("\nf ")[2] == "1048576"  # file 1, of the second host: no pipe takes so much
    pipe = folder / "d/01/f1"

    hosts = []

    def start(share):
        hosts.append(hdfs.start(path, "--share", share, "--overwrite", folder=f"file://{folder}"))
        return hosts[-1]

    def call():
        try:
            return (folder / "r/begin").read_text()
        except FileNotFoundError:
            return ""

    try:
        killed = start("1/2")
        wait_until(killed, call)
        stale = call()
        kill_executor(killed)
        killed.communicate(timeout=60)
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        second = start("2/2")
        wait_until(second, lambda: select.select([reader], [], [], 0)[0] and os.read(reader, 1))
        first = start("1/2")
        wait_until(first, lambda: not pipe.exists() and call() not in ("", stale))
        os.close(reader)  # what is written to it fails now

        wait_records(first, tmp_path / "a.plan.1-of-2.result", 1)
        wait_records(second, tmp_path / "a.plan.2-of-2.result", 1)
        assert pipe.stat().st_size == 1 << 20
        for host in (first, second):
            host.send_signal(signal.SIGTERM)
            _, said = host.communicate(timeout=60)
            assert host.returncode == 1, said
    finally:
        for host in hosts:
            host.terminate()
    assert not (folder / "r").exists()


@pytest.mark.parametrize("share", ["2", "0/2", "3/2", "1/x", "1/0", "/2"])
def test_shares_that_are_none(share, tmp_path):
    path = tmp_path / "a.plan"
    plan(path, *OPTIONS)
    done = run_load("run", path, "--classpath", "x", "--share", share)
    assert done.returncode == 2 and "must be I/N" in done.stderr
