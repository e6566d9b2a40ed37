"""Spans without the scopes of tasks and operations: which task each call served must stay known."""

import json

from script.spark.scopes import without_scopes

TRACE, OTHER = "1045df68d4c7a0c3", "ae5d9fe02681eb0f"


def span(number, name, parent=None, trace=TRACE, **notes):
    return {
        "a": f"{trace}{number:016x}",
        "p": [f"{trace}{parent:016x}"] if parent else [],
        "d": name,
        "r": "FSClient/w1/7",
        "b": 1,
        "e": 2,
        "bn": str(number * 1000),
        "en": str(number * 1000 + 5),
        "n": notes,
    }


def exploded(*spans):
    kept, truth = without_scopes(map(json.dumps, spans))
    return {each["a"][16:].lstrip("0"): each for each in kept}, truth


def test_each_call_below_a_scope_is_a_trace():
    kept, truth = exploded(
        span(5, "getBlockLocations", parent=4),  # before its parents, as spans come
        span(1, "SparkTask", taskAttemptId="7"),
        span(2, "RDD:HadoopRDD", parent=1),
        span(3, "RDD:FileScanRDD", parent=2),
        span(4, "newDFSInputStream", parent=3),
        span(6, "rename", parent=1),
    )
    assert set(kept) == {"4", "5", "6"}
    opened, asked, renamed = (kept[number] for number in "456")
    assert opened["p"] == renamed["p"] == [] and asked["p"] == [opened["a"]]
    assert len({each["a"][:16] for each in (opened, renamed)} | {TRACE}) == 3
    assert truth == {opened["a"][:16]: (7, 5), renamed["a"][:16]: (7, 5)}


def test_other_traces_stay_as_they_are():
    alone = span(1, "mkdir", trace=OTHER)
    kept, truth = exploded(alone, span(2, "mkdirs", parent=1, trace=OTHER))
    assert kept["1"] == alone and kept["2"]["p"] == [alone["a"]] and truth == {}


def test_below_a_lost_call_it_is_unknown_where_a_trace_began():
    kept, truth = exploded(
        span(1, "SparkTask", taskAttemptId="7"),
        span(4, "readNextPacket", parent=3),
        span(5, "blockSeekTo", parent=4),
        span(6, "rename", parent=1),
    )
    assert set(kept) == {"6"} and len(truth) == 1
