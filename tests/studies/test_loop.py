"""What is done of advice in the closed loop, and what it is held to: without HDFS and Spark."""

from functools import partial
from types import SimpleNamespace

import pytest

from bench.studies import loop_runs
from bench.studies.loop import add_claims, done_text, expected_s, saved_s
from bench.studies.loop_runs import fix_of, spread
from script.hdfs.jars import ClusterError
from script.spark.truth import Task
from script.spark.verdicts import rules_text


def said(findings, conf=()):
    return {"findings": findings, "conf": [{"key": key, "value": value} for key, value in conf]}


def test_what_advice_says_is_done():
    """The rule of a setting that another finding sets otherwise is not done; nor are partitions of what is no
    workload."""
    node = {"rule": "node", "node": True, "role": "datanode", "host": "datanode2", "changes": []}
    worker = {"rule": "node", "node": True, "role": "worker", "host": "worker1", "changes": []}
    skew = {"rule": "skew", "node": False, "partitions": 9, "changes": []}
    spill = {"rule": "spill", "node": False, "changes": [{"key": "a"}]}
    lost = {"rule": "gc", "node": False, "changes": [{"key": "a", "conflict": True}]}
    advice = said([skew, node, worker, node, spill, lost], [("spark.locality.wait", "0s")])
    fix = fix_of(advice, "lr")
    assert fix == {
        "conf": {"spark.locality.wait": "0s"},
        "partitions": 9,
        "datanodes": ["datanode2"],
        "rules": ["node", "skew", "spill"],
    }
    assert done_text(fix) == "locality.wait 0s, data written anew in 9 parts, datanode2 out"
    assert done_text(fix_of(said([worker]), "lr")) == "nothing"
    assert fix_of(advice, None) == {**fix, "partitions": 0, "rules": ["node", "spill"]}


def pair_of(before_s, expected, after_s):
    before = {"step_s": before_s, "application_s": 60.0, "simulated_s": 60.0, "causes": {}}
    before["what_if"] = [{"rule": rule, "time_s": 60 - s} for rule, s in (("skew", expected), ("node", 40))]
    after = {"step_s": None, "application_s": after_s, "causes": {}}
    return {"before": before, "after": after, "fix": {"conf": {}, "partitions": 9, "datanodes": [], "rules": ["skew"]}}


def test_what_was_to_be_saved_is_of_what_was_done():
    pair = pair_of(50.0, 20, 28.0)
    assert expected_s(pair) == 20
    assert saved_s(pair) == 22


def test_what_saved_nothing_counts_as_well():
    """Of two jobs that were to take 20 s less of 50 s one took 20 s less, the other as much more."""
    claims = []
    add_claims(SimpleNamespace(claim=claims.append), "lr", [pair_of(50.0, 20, 30.0), pair_of(50.0, 20, 70.0)])
    (off,) = [claim.ours for claim in claims if "to be saved" in claim.text]
    assert (off.value, off.n) == (pytest.approx((0 + 40 / 50) / 2), 2)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Which runs record_pair makes, in their order, without a bed."""
    made = []

    class Bed:
        def run(self, fault, folder, conf=None):
            folder.mkdir()
            made.append((folder.name, self.job, conf))

    advice = said([{"rule": "spill", "node": False, "changes": [{"key": "a"}]}], [("a", "1")])
    monkeypatch.setattr(loop_runs, "asked", lambda folder, build: advice)
    monkeypatch.setattr(loop_runs, "environment", lambda build: {})
    monkeypatch.setattr(loop_runs, "job_of", lambda name, fix: "again" if fix else "as it is")
    return SimpleNamespace(made=made, pair=partial(loop_runs.record_pair, Bed(), None, tmp_path, "slow-disk"))


def test_every_second_pair_begins_with_the_run_after(runs, tmp_path):
    """With what was said of the first pair."""
    loop_runs.write_whole(tmp_path / f"slow-disk-1{loop_runs.SUFFIX}", first := runs.pair(1))
    second = runs.pair(2)
    assert [one["first"] for one in (first, second)] == ["before", "after"]
    assert first["fix"] == second["fix"]
    assert runs.made == [
        ("slow-disk-1-before", "as it is", None),
        ("slow-disk-1-after", "again", {"a": "1"}),
        ("slow-disk-2-after", "again", {"a": "1"}),
        ("slow-disk-2-before", "as it is", None),
    ]


def test_a_run_that_is_there_is_not_made_again(runs, monkeypatch):
    """And what is said of the machine is what was when it began."""
    monkeypatch.setattr(loop_runs, "pressure", lambda: 7.0)
    runs.pair(1)
    monkeypatch.setattr(loop_runs, "pressure", lambda: 99.0)
    assert runs.pair(1)["pressure_before"] == 7.0
    assert len(runs.made) == 2


def test_the_deviation_is_of_the_stage_that_took_most():
    def task(stage, seconds, read):
        return Task(0, stage, 0, 0, "", 0, seconds * 1000, True, {"Input Metrics": {"Bytes Read": read}})

    assert spread([task(1, 9, 10), task(1, 1, 30), task(2, 1, 1), task(2, 1, 99)]) == 0.5


def test_a_job_that_there_is_not(tmp_path):
    with pytest.raises(ClusterError, match="--only sort: the jobs are slow-disk, lr, nweight"):
        loop_runs.record(None, tmp_path, only="sort")


def test_advice_of_several_runs():
    assert rules_text([{"spill", "gc"}, {"spill"}]) == "gc (1 of 2), spill"
    assert rules_text([set()]) == "none"
