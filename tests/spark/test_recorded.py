"""What the recorded event logs are there for is in them: script.spark.record may record them again at any time."""

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "tests" / "data" / "spark"
VERSIONS = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
LARGEST = 60_000


def log(version, name):
    (found,) = (FOLDER / version).glob(f"{name}.zstd*")
    return found


def unpacked(path):
    """Bytes; of a log that was not closed, what can be had."""
    done = subprocess.run(["zstd", "-dc", str(path)], capture_output=True, check=False)
    return done.stdout


def events(version, name):
    lines = unpacked(log(version, name)).split(b"\n")
    assert lines.pop() == b"", "the last line is whole"
    return [json.loads(line) for line in lines]


def named(found, name):
    return [event for event in found if event["Event"] == f"SparkListener{name}"]


def reasons(found):
    return Counter(event["Task End Reason"]["Reason"] for event in named(found, "TaskEnd"))


def attempts(found):
    return Counter(event["Stage Info"]["Stage Attempt ID"] for event in named(found, "StageCompleted"))


@pytest.mark.parametrize("version", VERSIONS)
def test_normal(version):
    found = events(version, "normal")
    assert named(found, "LogStart")[0]["Spark Version"] == version
    assert set(reasons(found)) == {"Success"} and len(named(found, "ApplicationEnd")) == 1
    assert all(event["Task Metrics"]["Executor Run Time"] >= 0 for event in named(found, "TaskEnd"))


@pytest.mark.parametrize("version", VERSIONS)
def test_failed_tasks(version):
    found = events(version, "failed_tasks")
    assert reasons(found)["ExceptionFailure"] == 2
    assert {event["Job Result"]["Result"] for event in named(found, "JobEnd")} == {"JobSucceeded"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_failed_job(version):
    found = events(version, "failed_job")
    assert reasons(found)["ExceptionFailure"] == 4
    assert {event["Job Result"]["Result"] for event in named(found, "JobEnd")} == {"JobFailed"}


@pytest.mark.parametrize("version", VERSIONS)
def test_speculative_tasks(version):
    found = named(events(version, "speculative"), "TaskEnd")
    assert any(event["Task Info"]["Speculative"] for event in found)
    assert any(event["Task Info"]["Killed"] or event["Task End Reason"]["Reason"] == "TaskKilled" for event in found)


@pytest.mark.parametrize("version", VERSIONS)
def test_killed_tasks(version):
    assert reasons(events(version, "killed"))["TaskKilled"] >= 1


@pytest.mark.parametrize("version", VERSIONS)
def test_a_lost_executor_and_a_second_attempt(version):
    found = events(version, "executor_lost")
    assert len(named(found, "ExecutorRemoved")) >= 1
    assert {"ExecutorLostFailure", "FetchFailed"} & set(reasons(found))
    assert attempts(found)[1] >= 1


@pytest.mark.parametrize("version", VERSIONS)
def test_an_application_without_stages(version):
    found = events(version, "without_stages")
    assert named(found, "ApplicationEnd") and not named(found, "StageSubmitted") and not named(found, "TaskStart")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["still_running", "crashed"])
def test_no_end(version, name):
    path = log(version, name)
    assert path.name.endswith(".inprogress")
    assert b"SparkListenerTaskStart" in unpacked(path) and b"SparkListenerApplicationEnd" not in unpacked(path)
    assert (name == "crashed") or not unpacked(path).endswith(b"\n")


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(FOLDER.rglob("*")) if path.is_file()],
    ids=lambda path: str(path.relative_to(FOLDER)),
)
def test_small_and_of_no_machine(path):
    assert path.stat().st_size <= LARGEST
    if ".zstd" in path.suffixes:
        assert b"/tmp/w" not in unpacked(path) and str(Path.home() / ".cache").encode() not in unpacked(path)


@pytest.mark.parametrize("version", VERSIONS)
def test_evicted_partitions(version):
    """Some had to go for those of another RDD, and were computed again."""
    tasks = named(events(version, "evicted"), "TaskEnd")
    blocks = [block for task in tasks for block in task["Task Metrics"]["Updated Blocks"]]
    blocks = [block for block in blocks if block["Block ID"].startswith("rdd_")]
    kept = Counter(block["Block ID"] for block in blocks if block["Status"]["Memory Size"] > 0)
    assert len(kept) == 16 and max(kept.values()) == 2 and len(blocks) > sum(kept.values())


# ---- what plumb-bridge reads in them ----


@pytest.fixture(scope="module")
def bridge(build_dir):
    def check(path):
        done = subprocess.run(
            [build_dir / "spark-bridge/plumb-bridge", "--check", "--json", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return check


def lines_of(path):
    """Those that are whole."""
    return [json.loads(line) for line in unpacked(path).split(b"\n")[:-1]]


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(FOLDER.rglob("*.zstd*")) if path.is_file()],
    ids=lambda path: str(path.relative_to(FOLDER)),
)
def test_every_task_is_read(bridge, path):
    if "rolling" in path.parts:
        path = path.parent
    found = bridge(path)
    files = sorted(path.glob("events_*")) if path.is_dir() else [path]
    events_read = [event for file in files for event in lines_of(file)]
    tasks = {event["Task Info"]["Task ID"] for event in events_read if "Task Info" in event}
    assert found["records"].get("task", 0) == len(tasks)
    assert found["logs"][0]["ended"] == any(event["Event"] == "SparkListenerApplicationEnd" for event in events_read)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("codec", ["zstd", "lz4", "snappy", "lzf"])
def test_every_codec_is_read(bridge, version, codec):
    """The same application each time: it did no task, and what ran on one JVM alone had no executor but the driver."""
    found = bridge(FOLDER / version / f"codec_{codec}.{codec}")
    assert found["logs"][0]["ended"] and found["logs"][0]["broken"] == 0
    assert found["records"]["app"] >= 1 and found["records"].get("task", 0) == 0
    events_read = lines_of(FOLDER / version / "codec_zstd.zstd")
    added = sum(event["Event"] == "SparkListenerExecutorAdded" for event in events_read)
    assert (found["records"].get("executor", 0) > 0) == (added > 0)
