"""A forest of traces: what an hour of HDFS's clients could leave, drawn from a seed, as HTrace's JSON lines.

Kinds of traces differ in how often they come (a thousandfold), how many calls they have, and how much their times vary.
For part of the time one DataNode is slow: what it serves takes several times as long.
"""

import json
import math
import random
from collections import namedtuple

HOUR_MS = 3_600_000
BEGIN_MS = 497_222 * HOUR_MS  # a whole hour: plumbd thins out by the hour
SECONDS = 1800
DATANODES = 4
SLOW_HOST, SLOW_FROM, SLOW_UNTIL, SLOW_TIMES = 2, 700, 760, 8
# How often in all, (function, role, mean ms, deviation, least calls, most calls) of each step below the root.
Kind = namedtuple("Kind", "root count steps")
KINDS = [
    Kind("FileSystem#open", 6000, [("ClientProtocol#getBlockLocations", "NameNode", 2, 2, 1, 1)]),
    Kind(
        "DFSInputStream#read",
        4000,
        [("OpReadBlockProto", "DataNode", 20, 30, 1, 3), ("BlockSender#sendPacket", "DataNode", 1, 1, 2, 8)],
    ),
    Kind(
        "FileSystem#create",
        1500,
        [("ClientProtocol#create", "NameNode", 3, 2, 1, 1), ("FSNamesystem#startFile", "NameNode", 2, 2, 1, 1)],
    ),
    Kind(
        "DFSOutputStream#close",
        1500,
        [("OpWriteBlockProto", "DataNode", 60, 60, 1, 2), ("ClientProtocol#complete", "NameNode", 5, 8, 1, 2)],
    ),
    Kind(
        "DFSInputStream#read",
        25,
        [("OpReadBlockProto", "DataNode", 20, 30, 1, 1), ("DFSInputStream#reportLostBlock", "NameNode", 9, 9, 1, 1)],
    ),
    Kind(
        "DFSOutputStream#close",
        8,
        [("ClientProtocol#abandonBlock", "NameNode", 6, 6, 1, 1), ("OpWriteBlockProto", "DataNode", 60, 60, 1, 1)],
    ),
    Kind("FileSystem#delete", 200, [("ClientProtocol#delete", "NameNode", 4, 4, 1, 1)]),
    Kind("FileSystem#rename", 60, [("ClientProtocol#rename", "NameNode", 4, 4, 1, 1)]),
    Kind("FileSystem#concat", 20, [("ClientProtocol#concat", "NameNode", 12, 10, 1, 1)]),
    Kind("FileSystem#setAcl", 6, [("ClientProtocol#setAcl", "NameNode", 4, 3, 1, 1)]),
]


def lognormal(draw, mean, deviation):
    variance = math.log1p((deviation / mean) ** 2)
    return mean * math.exp(draw.gauss(0, math.sqrt(variance)) - variance / 2)


def span_id(trace, number):
    return f"{trace:016x}{number:016x}"


def trace_lines(draw, trace, kind, second, slow):
    """Its spans, the root last; and whether the slow DataNode served it while it was slow: from and until a second."""
    begin = BEGIN_MS + int(second * 1000)
    at, number, lines, hit = begin, 1, [], False
    for function, role, mean, deviation, least, most in kind.steps:
        for _ in range(draw.randint(least, most)):
            host = draw.randrange(DATANODES) if role == "DataNode" else 0
            struck = role == "DataNode" and host == SLOW_HOST and slow[0] <= second < slow[1]
            hit |= struck
            took = max(1, round(lognormal(draw, mean, deviation) * (SLOW_TIMES if struck else 1)))
            number += 1
            process = f"DataNode/10.0.1.{host}" if role == "DataNode" else "NameNode/10.0.0.1"
            lines.append(
                {
                    "a": span_id(trace, number),
                    "b": at,
                    "e": at + took,
                    "d": function,
                    "r": process,
                    "p": [span_id(trace, 1)],
                }
            )
            at += took
    root = {"a": span_id(trace, 1), "b": begin, "e": at + 1, "d": kind.root, "r": "FSClient/10.0.2.1", "p": []}
    return [*lines, root], hit


Trace = namedtuple("Trace", "id root begin_s lines hit")


def forest(seed, share=1.0, slow=(SLOW_FROM, SLOW_UNTIL)):
    """Traces by begin; of each kind this share of its count, at least one. slow: seconds in which the DataNode is so.
    With others the same traces begin when they did."""
    draw = random.Random(seed)
    drawn = [
        (draw.uniform(0, SECONDS), number)
        for number, kind in enumerate(KINDS)
        for _ in range(max(1, round(kind.count * share)))
    ]
    traces = []
    for second, number in sorted(drawn):
        trace = draw.getrandbits(63) | 1
        lines, hit = trace_lines(draw, trace, KINDS[number], second, slow)
        traces.append(Trace(trace, KINDS[number].root, second, lines, hit))
    return traces


def late_trace():
    """One that begins when the hour of the others has ended."""
    lines, _ = trace_lines(random.Random(0), 1, KINDS[-1], HOUR_MS / 1000 + 60, (0, 0))
    return Trace(1, KINDS[-1].root, HOUR_MS / 1000 + 60, lines, False)


def json_lines(traces):
    for trace in traces:
        for span in trace.lines:
            yield json.dumps(span, separators=(",", ":"))
