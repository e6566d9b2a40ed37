"""Intervals, and what they say of a claim."""

import math
import random
from collections import namedtuple

Z95 = 1.959963985
RESAMPLES = 2000
Interval = namedtuple("Interval", "value low high n")
# published: as the thesis (or the goal) has it; bound: what ours is held to, (">=", x), ("<=", x), ("in", low, high).
Claim = namedtuple("Claim", "text published bound ours")


def wilson(part, whole):
    """The 95 % interval of a share (Wilson, 1927). Of nothing, anything may be true."""
    if whole == 0:
        return Interval(math.nan, 0.0, 1.0, 0)
    share, z2 = part / whole, Z95 * Z95
    middle = (share + z2 / (2 * whole)) / (1 + z2 / whole)
    half = Z95 * math.sqrt(share * (1 - share) / whole + z2 / (4 * whole * whole)) / (1 + z2 / whole)
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half), whole)


def bootstrap(groups, statistic, seed=1, resamples=RESAMPLES):
    """The 95 % percentile interval of statistic(groups): whole groups (runs) are drawn, since what is in one hangs
    together. A draw of which the statistic is not defined (NaN) does not count."""
    draw, n = random.Random(seed), len(groups)
    values = sorted(
        value
        for value in (statistic([groups[draw.randrange(n)] for _ in range(n)]) for _ in range(resamples if n else 0))
        if not math.isnan(value)
    )
    if not values:
        return Interval(math.nan, -math.inf, math.inf, n)
    return Interval(statistic(groups), quantile(values, 0.025), quantile(values, 0.975), n)


def quantile(values, q):
    """Of sorted values, at rank q (n - 1), between the two neighbours."""
    at = q * (len(values) - 1)
    below = math.floor(at)
    above = min(below + 1, len(values) - 1)
    return values[below] + (at - below) * (values[above] - values[below])


def chi_squared(freedom, q):
    """Its quantile, by Wilson and Hilferty's cube root (1931): within 1 % from 10 degrees of freedom on, 8 % with 4."""
    normal = {0.025: -Z95, 0.975: Z95}[q]
    part = 2 / (9 * freedom)
    return freedom * max(0.0, 1 - part + normal * math.sqrt(part)) ** 3


# Of Student's t, at 97.5 %, by degrees of freedom.
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]


def student(freedom):
    """From 11 degrees on by Cornish and Fisher's first term: within 0.5 %."""
    whole = max(1, math.floor(freedom))
    return STUDENT[whole - 1] if whole <= len(STUDENT) else Z95 + (Z95**3 + Z95) / (4 * freedom)


def variance_of_mean(values):
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)


def mean_interval(values):
    """Of a few runs: their mean, by Student's t."""
    n = len(values)
    if n < 2:
        return Interval(values[0] if values else math.nan, -math.inf, math.inf, n)
    mean, half = sum(values) / n, student(n - 1) * math.sqrt(variance_of_mean(values))
    return Interval(mean, mean - half, mean + half, n)


def difference_interval(values, others):
    """mean(values) - mean(others) of two sets of runs, by Welch's t. Of one run alone nothing is known of how far it is
    off."""
    n, m = len(values), len(others)
    difference = sum(values) / n - sum(others) / m if n and m else math.nan
    if n < 2 or m < 2:
        return Interval(difference, -math.inf, math.inf, min(n, m))
    a, b = variance_of_mean(values), variance_of_mean(others)
    freedom = (a + b) ** 2 / (a * a / (n - 1) + b * b / (m - 1)) if a + b > 0 else n + m - 2
    half = student(freedom) * math.sqrt(a + b)
    return Interval(difference, difference - half, difference + half, n + m)


def ratio_interval(values, others):
    """mean(values) / mean(others), geometric means of positive values."""
    if not values or not others:
        return Interval(math.nan, -math.inf, math.inf, 0)
    logs = difference_interval([math.log(value) for value in values], [math.log(value) for value in others])
    value, low, high = (math.inf if log > 700 else math.exp(log) for log in logs[:3])
    return Interval(value, low, high, logs.n)


def judge(claim):
    """ "holds", "does not" or "undecided": where the whole interval lies."""
    kind, *bounds = claim.bound
    value, low, high, _ = claim.ours
    if math.isnan(value):
        return "undecided"
    if kind == ">=":
        return "holds" if low >= bounds[0] else "does not" if high < bounds[0] else "undecided"
    if kind == "<=":
        return "holds" if high <= bounds[0] else "does not" if low > bounds[0] else "undecided"
    inside = bounds[0] <= low and high <= bounds[1]
    return "holds" if inside else "does not" if high < bounds[0] or low > bounds[1] else "undecided"
