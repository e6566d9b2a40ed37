"""What sampling loses: rare functions, patterns, slow traces, those that a slow DataNode served; and how often an
interval of an estimate holds the truth."""

import signal
import tempfile
import time
from collections import defaultdict, namedtuple
from pathlib import Path

import numpy

from bench.studies import pictures
from bench.studies.figures import Claim, Interval
from bench.studies.forest import BEGIN_MS, HOUR_MS, SECONDS, forest, json_lines, late_trace
from bench.studies.programs import exported, import_spans, plumbd
from bench.studies.report import Report
from bench.studies.sampled_faults import add_found
from bench.studies.samples import (
    by_load,
    drawn,
    gamma_interval,
    greatest_weights,
    normal_interval,
    quantile_interval,
    share_held,
    totals,
)
from script.hdfs.jars import ClusterError

FRACTIONS = [0.5, 0.2, 0.1, 0.05, 0.01, 0.001]
RATES = ["1/s", "0.1/s"]
FLOOR, LIMIT = 0.01, 1
BY_LOAD = f"max({FLOOR}, 1 - exp(-{LIMIT}/n^2))"
# Fewer traces than this with a function are too few for an interval to be judged.
EXPECTED_LEAST = 5
SLOWEST, TOP = 0.01, 10
QUANTILE = 0.95
GOAL = (0.90, 0.98)
THIN_SECONDS = 120
THIN_CONF = "[store]\nthin-free={free}\n[retention]\nwhole=0s\ntraces=0s\n"
THINNED_OUT = "there is nothing left to thin out"
MS_OF_NS = 1e6
ABOUT = (
    "A forest of traces is drawn from a seed and stored by `plumbd`. The classes in the agent's jar say which of its "
    "roots a policy would have traced, on a clock of their own; a `plumbd` that is short of space thins out its own. "
    "Lost and kept are counted per draw; intervals are held to the totals of all traces."
)

Known = namedtuple("Known", "traces functions calls time_ms duration_ms patterns roots")


def known(daemon, traces):
    """What the stored traces have, by trace in the order of 'traces': calls and ms of each function, its duration, its
    pattern."""
    place = {f"{trace.id:016x}": i for i, trace in enumerate(traces)}
    spans = [(place[span["a"][:16]], span["d"], span["e"] - span["b"]) for span in exported(daemon)]
    functions = sorted({name for _, name, _ in spans})
    column = {name: i for i, name in enumerate(functions)}
    calls, time_ms = (numpy.zeros((len(traces), len(functions))) for _ in range(2))
    for trace, name, took in spans:
        calls[trace, column[name]] += 1
        time_ms[trace, column[name]] += took
    duration_ms, patterns = numpy.zeros(len(traces)), [""] * len(traces)
    for trace in daemon.ask("traces", limit=0)["traces"]:
        i = place[trace["trace"]]
        duration_ms[i], patterns[i] = trace["duration_ns"] / MS_OF_NS, trace["pattern"]
    return Known(traces, functions, calls, time_ms, duration_ms, patterns, numpy.array([t.root for t in traces]))


def check_sums(daemon, functions, calls, time_ms, **period):
    """How many functions `plumb functions` says the same calls and time of, in this plumbd."""
    said = defaultdict(lambda: [0, 0.0])
    for row in daemon.ask("functions", limit=0, **period)["functions"]:
        said[row["function"]][0] += row["calls"]
        said[row["function"]][1] += row["total_ns"] / MS_OF_NS
    same = [
        said[name][0] == calls[i] and abs(said[name][1] - time_ms[i]) <= 1e-6 * time_ms[i] + 1e-6
        for i, name in enumerate(functions)
    ]
    return sum(same), len(same)


# ---- what is kept ----


def shares_kept(all_of, taken):
    """Of one draw: traces, functions, the functions with the most time, patterns, the slowest, those hit."""
    total = all_of.time_ms.sum(axis=0)
    seen = all_of.time_ms[taken].sum(axis=0)
    best = set(numpy.argsort(-total, kind="stable")[:TOP])
    order = [i for i in numpy.argsort(-seen, kind="stable")[:TOP] if seen[i] > 0]
    slow = numpy.argsort(-all_of.duration_ms, kind="stable")[: max(1, round(SLOWEST * len(taken)))]
    hit = numpy.array([trace.hit for trace in all_of.traces])
    kinds = set(all_of.patterns)
    return [
        taken.mean(),
        (all_of.calls[taken].sum(axis=0) > 0).mean(),
        len(best & set(order)) / len(best),
        len({all_of.patterns[i] for i in numpy.nonzero(taken)[0]}) / len(kinds),
        taken[slow].mean(),
        (taken & hit).sum() / max(1, hit.sum()),
    ]


KEPT_COLUMNS = ["policy", "draws", "traces", "functions", "top 10", "patterns", "slowest 1 %", "hit by the slow host"]


# ---- intervals ----


def covered(low, high, truth, judged):
    """Of each draw how many intervals held, and of how many columns that are judged there were any: where nothing was
    taken there is none."""
    there = ~numpy.isnan(low[:, judged])
    held = (low[:, judged] <= truth[judged]) & (truth[judged] <= high[:, judged])
    return (held & there).sum(axis=1), there.sum(axis=1)


def quantile_coverage(all_of, taken, share):
    held, of = numpy.zeros(len(taken), int), numpy.zeros(len(taken), int)
    for root in sorted(set(all_of.roots)):
        mine = all_of.roots == root
        truth = numpy.quantile(all_of.duration_ms[mine], QUANTILE)
        for draw, row in enumerate(taken):
            found = quantile_interval(all_of.duration_ms[mine & row], QUANTILE, share)
            if found is not None:
                of[draw] += 1
                held[draw] += found[0] <= truth <= found[1]
    return held, of


def coverage_rows(all_of, samples, chances):
    """[(policy, what, Interval of the share that held, median of |error|)]. chances: {policy: of each trace}."""
    rows = []
    for policy, share in chances.items():
        taken = samples[policy]
        judged = ((all_of.calls > 0) * share).sum(axis=0) >= EXPECTED_LEAST
        if not judged.any():
            continue
        for what, values in (("calls", all_of.calls), ("time", all_of.time_ms)):
            truth = values.sum(axis=0)
            total, variance = totals(taken, values, share)
            error = float(numpy.median(numpy.abs(total[:, judged] / truth[judged] - 1)))
            weights = greatest_weights(taken, values, share)
            for kind, (low, high) in (
                ("gamma", gamma_interval(total, variance, weights)),
                ("normal", normal_interval(total, variance)),
            ):
                rows.append((policy, f"total {what}, {kind}", share_held(*covered(low, high, truth, judged)), error))
        if policy != BY_LOAD:
            rows.append((policy, "p95 of the duration", share_held(*quantile_coverage(all_of, taken, share)), None))
    return rows


# ---- plumbd thins out ----


def wait_thinned(daemon):
    log, deadline = daemon.folder / "plumbd.log", time.monotonic() + THIN_SECONDS
    while THINNED_OUT not in log.read_text():
        if time.monotonic() > deadline:
            raise ClusterError(f"plumbd did not thin out within {THIN_SECONDS} s:\n{log.read_text()[-1000:]}")
        time.sleep(0.1)


def thinned(build, all_of):
    """Which traces a plumbd keeps that stays short of space, and of how many functions it still says the totals."""
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as conf:
        Path(conf.name).write_text(THIN_CONF.format(free=0))
        with plumbd(build, ["--config", conf.name]) as daemon:
            import_spans(daemon, json_lines(all_of.traces))
            totals_of = [values.sum(axis=0) for values in (all_of.calls, all_of.time_ms)]
            before = check_sums(daemon, all_of.functions, *totals_of)
            import_spans(daemon, json_lines([late_trace()]))
            Path(conf.name).write_text(THIN_CONF.format(free="1000G"))
            daemon.process.send_signal(signal.SIGHUP)
            wait_thinned(daemon)
            ids = {span["a"][:16] for span in exported(daemon)}
            until = f"{BEGIN_MS // 1000 + HOUR_MS // 1000}000000000"
            after = check_sums(daemon, all_of.functions, *totals_of, until=until)
    taken = numpy.array([f"{trace.id:016x}" in ids for trace in all_of.traces])
    return taken, after[0] if before[0] == before[1] else 0, after[1]


# ---- the report ----


def sent_again(build, all_of, samples):
    """Draws that were sent to a plumbd of their own: (functions of which it says the sums above, functions)."""
    same = of = 0
    for share in FRACTIONS[2:4]:
        taken = samples[str(share)][0]
        with plumbd(build) as daemon:
            import_spans(daemon, json_lines([all_of.traces[i] for i in numpy.nonzero(taken)[0]]))
            ours = [values[taken].sum(axis=0) for values in (all_of.calls, all_of.time_ms)]
            found = check_sums(daemon, all_of.functions, *ours)
        same, of = same + found[0], of + found[1]
    return same, of


def add_kept(report, all_of, samples):
    rows, lines = [], defaultdict(list)
    for policy, draws in samples.items():
        shares = numpy.mean([shares_kept(all_of, taken) for taken in draws], axis=0)
        rows.append([policy, len(draws), *map(float, shares)])
        if policy[0] == "0" and "/" not in policy:
            for name, share in zip(KEPT_COLUMNS[3:], shares[1:], strict=True):
                lines[name].append((float(policy), float(share)))
    report.table("kept", "What is kept: shares of all, mean over the draws", KEPT_COLUMNS, rows)
    title = "What a fraction of the traces keeps"
    report.picture("kept", title, pictures.lines(title, "fraction", "share kept", lines, log_x=True))


def add_coverage(report, all_of, samples, chances):
    rows = coverage_rows(all_of, samples, chances)
    columns = ["policy", "interval of", "intervals", "coverage", "low", "high", "median error"]
    table, drawn_rows = [], []
    for policy, what, (value, low, high, n), error in rows:
        table.append([policy, what, n, value, low, high, error])
        if "normal" not in what and n:
            drawn_rows.append((f"{policy} {what}", value, low, high))
    report.table("coverage", "How often a 95 % interval holds the truth", columns, table)
    report.picture(
        "coverage", "Coverage", pictures.intervals("Coverage of 95 % intervals", "share that held", drawn_rows, GOAL)
    )
    for what in ("total calls, gamma", "total time, gamma", "p95 of the duration"):
        add_coverage_claim(report, rows, what)


def add_coverage_claim(report, rows, what):
    """Over the fractions of 0.05 and more: the least and the greatest coverage of them must be within the goal."""
    enough = {str(share) for share in FRACTIONS if share >= 0.05}
    shares = [held for policy, name, held, _ in rows if name == what and policy in enough and held.n]
    if not shares:
        return
    n = sum(share.n for share in shares)
    value = sum(share.value * share.n for share in shares) / n
    ours = Interval(value, min(share.low for share in shares), max(share.high for share in shares), n)
    text = f"95 % intervals of {what} hold the truth, at each fraction >= 0.05"
    report.claim(Claim(text, "90 to 98 % (goal)", ("in", *GOAL), ours))


def study(options):
    report = Report("sampling", "What sampling loses", ABOUT, options.build)
    draws = options.runs or 200
    share = min(1.0, draws / 100)
    traces = forest(1, share)
    with plumbd(options.build) as daemon:
        import_spans(daemon, json_lines(traces))
        all_of = known(daemon, traces)
        whole = check_sums(daemon, all_of.functions, all_of.calls.sum(axis=0), all_of.time_ms.sum(axis=0))
    fractions = drawn(traces, [str(share) for share in FRACTIONS], draws)
    by_its_load, chances = by_load(traces, FLOOR, LIMIT, draws)
    samples = {**fractions, BY_LOAD: by_its_load, **drawn(traces, RATES, 1)}
    chances = {**{str(share): share for share in FRACTIONS}, BY_LOAD: chances[:, None]}
    report.parameters = {"draws": draws, "traces": len(traces), "spans": int(all_of.calls.sum()), "seconds": SECONDS}

    same, of = sent_again(options.build, all_of, samples)
    text = "plumbd's totals of a sample are the sums that intervals are made of"
    report.claim(Claim(text, "all", (">=", 1.0), exact(same + whole[0], of + whole[1])))
    taken, same, of = thinned(options.build, all_of)
    text = "totals of functions are as before when plumbd has thinned out"
    report.claim(Claim(text, "all", (">=", 1.0), exact(same, of)))
    add_kept(report, all_of, {**samples, "plumbd thins": [taken]})
    add_coverage(report, all_of, samples, chances)
    add_found(report, options.build, samples, share, max(1, draws // 20))
    report.note("A rate such as 1/s has no weights: what it keeps says nothing of totals, and no interval is given.")
    report.note("plumb itself gives totals of what was sampled, and no interval: the estimates are this study's.")
    return report


def exact(part, whole):
    """Of something that is so or is not: no sample of anything."""
    return Interval(part / whole, part / whole, part / whole, whole)
