"""plumb load run --closed: workers that wait for the cluster, and a report that says so."""

import pytest

from tests.load.conftest import plan, records, report, run_load

SMALL = ["--files", 5, "--max-file", "4K", "--warm-up", "1s", "--mix", "stat=1"]


@pytest.fixture(scope="module")
def closed(hdfs, tmp_path_factory):
    """(Result, what was printed): three workers for two seconds, of a plan with far too many operations."""
    path = tmp_path_factory.mktemp("closed") / "a.plan"
    plan(path, *SMALL, "--rate", 20000, "--duration", "2s")
    done = hdfs.run(path, "--closed", 3, folder="/closed")
    assert done.returncode == 0, done.stderr
    return path.with_name("a.plan.result"), done.stdout


def test_no_more_are_under_way_than_there_are_workers(closed):
    found = sorted(records(closed[0]), key=lambda operation: operation.begin)
    assert sorted(operation.number for operation in found) == list(range(len(found)))
    assert len(found) > 50
    ends = []
    for operation in found:
        ends = [end for end in ends if end > operation.begin] + [operation.end]
        assert len(ends) <= 3
        assert operation.due < 3 and operation.due <= operation.begin


def test_its_report_says_what_it_is(closed):
    result, printed = closed
    said = report(result)
    measured = [operation for operation in records(result) if operation.due >= 1]
    assert said["closed"] and said["end"] == "done" and not said["generator_late"]
    assert said["due"] == said["done"] == len(measured) and said["missing"] == 0
    assert said["asked_per_s"] == pytest.approx(len(measured) / 2, rel=0.1)
    assert "A closed loop of 3:" in printed and "coordinated omission" in printed


def test_it_ends_with_the_plan(hdfs, closed, tmp_path):
    path = tmp_path / "b.plan"
    planned = plan(path, *SMALL, "--rate", 20, "--duration", "60s")
    done = hdfs.run(path, "--closed", 4, folder="/closed")
    assert done.returncode == 0, done.stderr
    assert len(records(tmp_path / "b.plan.result")) == planned["operations"]
    said = run_load("report", closed[0], tmp_path / "b.plan.result").stdout
    assert "One of them was a closed loop" not in said
    assert report(tmp_path / "b.plan.result")["seconds"] < 59
