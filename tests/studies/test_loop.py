"""What is done of advice in the closed loop, and what it is held to: without HDFS and Spark."""

from bench.studies.loop import done_text, expected_s, saved_s
from bench.studies.loop_runs import fix_of, spread
from script.spark.truth import Task
from script.spark.verdicts import rules_text


def said(findings, conf=()):
    return {"findings": findings, "conf": [{"key": key, "value": value} for key, value in conf]}


def test_what_advice_says_is_done():
    node = {"rule": "node", "node": True, "role": "datanode", "host": "datanode2"}
    worker = {"rule": "node", "node": True, "role": "worker", "host": "worker1"}
    skew = {"rule": "skew", "node": False, "partitions": 9}
    fix = fix_of(said([skew, node, worker, node], [("spark.locality.wait", "0s")]))
    assert fix == {"conf": {"spark.locality.wait": "0s"}, "partitions": 9, "datanodes": ["datanode2"]}
    assert done_text(fix) == "locality.wait 0s, data written anew in 9 parts, datanode2 out"
    assert done_text(fix_of(said([worker]))) == "nothing"


def test_what_was_to_be_saved_is_of_what_was_done():
    """Of skew, and of a setting that is applied; not of one that another finding sets otherwise, nor of a host."""
    changed = {"rule": "spill", "changes": [{"key": "a"}]}
    lost = {"rule": "gc", "changes": [{"key": "a", "conflict": True}]}
    before = {
        "step_s": 50.0,
        "application_s": 60.0,
        "simulated_s": 60.0,
        "findings": [changed, lost],
        "what_if": [{"rule": rule, "time_s": s} for rule, s in (("skew", 40), ("spill", 57), ("gc", 50), ("node", 20))],
    }
    after = {"step_s": None, "application_s": 28.0}
    pair = {"before": before, "after": after, "fix": {"conf": {}, "partitions": 9, "datanodes": []}}
    assert expected_s(pair) == 20 + 3
    assert saved_s(pair) == 22


def test_the_deviation_is_of_the_stage_that_took_most():
    def task(stage, seconds, read):
        return Task(0, stage, 0, 0, "", 0, seconds * 1000, True, {"Input Metrics": {"Bytes Read": read}})

    assert spread([task(1, 9, 10), task(1, 1, 30), task(2, 1, 1), task(2, 1, 99)]) == 0.5


def test_advice_of_several_runs():
    assert rules_text([{"spill", "gc"}, {"spill"}]) == "gc (1 of 2), spill"
    assert rules_text([set()]) == "none"
