"""Samples of traces: which ones the agent's own sampling takes, and what totals and quantiles they let one estimate."""

import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import numpy

from bench.studies.figures import RESAMPLES, Z95, Interval, chi_squared
from script.hdfs.jars import agent_jar, run

JAVA = Path(__file__).parent / "java"
NANOS_PER_SECOND = 1_000_000_000


def drawn(traces, policies, draws):
    """{policy: array of draws x traces, True: taken}, by the classes in the agent's jar on a clock of its own."""
    with tempfile.TemporaryDirectory(prefix="plumb-draw-") as classes:
        run(["javac", "-nowarn", "-cp", agent_jar(), "-d", classes, JAVA / "Draw.java"], "Draw.java")
        done = subprocess.run(
            ["java", "-cp", f"{classes}:{agent_jar()}", "Draw", str(draws), *policies],
            input="".join(f"{round(trace.begin_s * NANOS_PER_SECOND)} {trace.root}\n" for trace in traces),
            capture_output=True,
            text=True,
            check=True,
        )
    rows = numpy.array([[character == "1" for character in line] for line in done.stdout.split()])
    return {policy: rows[i * draws : (i + 1) * draws] for i, policy in enumerate(policies)}


def share_held(held, of):
    """Of intervals, by draw: the share that held, with a bootstrap over the draws, since those of one hang together."""
    if of.sum() == 0:
        return Interval(float("nan"), 0.0, 1.0, 0)
    rows = numpy.random.default_rng(1).integers(0, len(of), (RESAMPLES, len(of)))
    shares = held[rows].sum(axis=1) / numpy.maximum(1, of[rows].sum(axis=1))
    low, high = numpy.quantile(shares, [0.025, 0.975])
    return Interval(float(held.sum() / of.sum()), float(low), float(high), int(of.sum()))


def by_load(traces, floor, limit, draws):
    """(as of a policy of drawn(), chance of each trace): p = max(floor, 1 - exp(-limit^2 / n^2)), n being how many of
    its root begin in that second. The agent has no such policy."""
    seconds = Counter((trace.root, int(trace.begin_s)) for trace in traces)
    n = numpy.array([seconds[trace.root, int(trace.begin_s)] for trace in traces])
    chances = numpy.maximum(floor, 1 - numpy.exp(-(limit**2) / n**2))
    return numpy.random.default_rng(1).random((draws, len(traces))) < chances, chances


# ---- estimates ----

# share: the chance with which each trace was taken: of all the same, or a column of one for each.


def totals(taken, values, share):
    """Of each draw and column the estimated total, and its variance (Horvitz and Thompson; Poisson sampling): sum of
    y / p, and sum of (1 - p) (y / p)^2."""
    mask = taken.astype(float)
    return mask @ (values / share), mask @ (values**2 * (1 - share) / share**2)


def normal_interval(total, variance):
    half = Z95 * numpy.sqrt(variance)
    return total - half, total + half


def gamma_interval(total, variance, greatest):
    """For weighted counts (Fay and Feuer, "Confidence intervals for directly standardized rates", 1997), which does not
    rely on many traces: greatest is the largest weight, y / p, of a draw. Arrays; nan where nothing was taken."""
    low, high = numpy.full(total.shape, numpy.nan), numpy.full(total.shape, numpy.nan)
    for at in zip(*numpy.nonzero(total > 0), strict=True):
        t, v, w = total[at], max(variance[at], 1e-12 * total[at]), greatest[at]
        low[at] = v / (2 * t) * chi_squared(2 * t * t / v, 0.025)
        upper_v = v + w * w
        high[at] = upper_v / (2 * (t + w)) * chi_squared(2 * (t + w) ** 2 / upper_v, 0.975)
    return low, high


def greatest_weights(taken, values, share):
    weights = values / share
    return numpy.array(
        [[numpy.max(weights[row, column], initial=0) for column in range(values.shape[1])] for row in taken]
    )


def quantile_interval(sample, q, share):
    """Of the q-quantile, from the order statistics of a sample (in any order); None when the sample is too small for
    one that is above it in 97.5 % of samples."""
    ordered, n = numpy.sort(sample), len(sample)
    half = Z95 * numpy.sqrt(n * q * (1 - q) * (1 - share))
    low, high = int(numpy.floor(n * q - half)), int(numpy.ceil(n * q + half))
    return None if low < 1 or high > n - 1 else (ordered[low - 1], ordered[high])
