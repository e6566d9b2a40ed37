"""Is a slow DataNode still found where only samples of traces are stored? `plumb slow` is asked, of a plumbd that got
what a policy takes, and of one that got all."""

import numpy

from bench.studies.forest import BEGIN_MS, SECONDS, SLOW_HOST, forest, json_lines
from bench.studies.programs import import_spans, plumbd

SLOW = (900, 1500)  # seconds: of less than three minutes nothing is told
SLOW_NAME = f"10.0.1.{SLOW_HOST}"
NS_PER_MS = 1_000_000


def spells(build, traces):
    """What plumb slow names of these traces."""
    with plumbd(build) as daemon:
        import_spans(daemon, json_lines(traces))
        since = BEGIN_MS * NS_PER_MS
        until = (BEGIN_MS + SECONDS * 1000) * NS_PER_MS
        return daemon.ask("slow", since=since, until=until, limit=0)["slow"]


def judged(found):
    """(is the slow DataNode named, is anybody else, s by which its begin is off; nan when it is not named)."""
    right = [spell for spell in found if spell.get("host") == SLOW_NAME]
    begin_ms = BEGIN_MS + SLOW[0] * 1000
    off = [abs(spell["begin_time_ns"] / NS_PER_MS - begin_ms) / 1000 for spell in right]
    return bool(right), len(right) < len(found), min(off, default=float("nan"))


def add_found(report, build, samples, share, most):
    """samples: {policy: draws} of a forest of that share, of which so many are looked at."""
    traces = forest(1, share, SLOW)
    every = numpy.ones((1, len(traces)), bool)
    rows = []
    for policy, draws in {"all": every, **samples}.items():
        said = [judged(spells(build, [traces[i] for i in numpy.nonzero(taken)[0]])) for taken in draws[:most]]
        right, wrong, off = (numpy.array(column, float) for column in zip(*said, strict=True))
        middle = float(numpy.median(off[right > 0])) if right.any() else None
        rows.append([policy, len(said), int(right.sum()), int(wrong.sum()), middle])
    columns = ["policy", "draws", "found", "somebody else named", "begin off by, s (median)"]
    report.table("found", f"A DataNode that is 8 times as slow for {(SLOW[1] - SLOW[0]) // 60} minutes", columns, rows)
