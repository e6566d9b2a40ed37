"""Spans of traced tasks as they would be had nobody traced Spark: the spans of tasks and operations are taken away, and
each call of HDFS that was directly below one of those becomes a trace of its own.

Ids are 32 hexadecimal digits whose first 16 are the trace's. New ones follow from the call's own id, so that the same
spans give the same traces.
"""

import hashlib
import json

TASK, OPERATION = "SparkTask", "RDD:"


def is_scope(span):
    return span.get("d", "") == TASK or span.get("d", "").startswith(OPERATION)


def trace_of(top):
    """Of the call with this id; never 0."""
    number = int.from_bytes(hashlib.blake2b(top.encode(), digest_size=8).digest(), "big")
    return f"{number or 1:016x}"


def top_of(span, by_id, tops):
    """The id of the call below a scope that this span belongs to; None: of none, or its parent is lost."""
    way, at = [], span
    while at["a"] not in tops:
        way.append(at["a"])
        parent = by_id.get(at["p"][0]) if at["p"] else None
        if parent is None or is_scope(parent):
            tops[at["a"]] = at["a"] if parent else None
            break
        at = parent
    for each in way:
        tops[each] = tops[at["a"]]
    return tops[at["a"]]


def nanoseconds(span):
    return int(span["en"]) - int(span["bn"]) if "bn" in span else (span["e"] - span["b"]) * 1_000_000


def without_scopes(lines):
    """(spans, {trace id: (task attempt id, nanoseconds)}). Traces without a task stay as they are, and nobody's."""
    spans = [json.loads(line) for line in lines]
    by_id = {span["a"]: span for span in spans}
    tasks = {span["a"][:16]: int(span["n"]["taskAttemptId"]) for span in spans if span.get("d") == TASK}
    kept, truth, tops = [], {}, {}
    for span in spans:
        if is_scope(span):
            continue
        task, top = tasks.get(span["a"][:16]), top_of(span, by_id, tops)
        if task is not None and top is None:
            continue  # something between it and the task was lost: whose call it was is unknown
        if task is not None:
            trace = trace_of(top)
            if span["a"] == top:
                truth[trace] = (task, nanoseconds(span))
            parents = [] if span["a"] == top else [trace + parent[16:] for parent in span["p"]]
            span = {**span, "a": trace + span["a"][16:], "p": parents}
        kept.append(span)
    return kept, truth
