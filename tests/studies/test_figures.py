"""Intervals, and what they say of claims."""

import math

import pytest

from bench.studies.figures import (
    Claim,
    Interval,
    bootstrap,
    chi_squared,
    difference_interval,
    judge,
    mean_interval,
    ratio_interval,
    student,
    wilson,
)


def test_wilson():
    """As the thesis' table 6 has them (stragglers.md): 43 of 71, 1 of 283."""
    value, low, high, n = wilson(43, 71)
    assert (round(100 * value, 2), round(100 * low, 1), round(100 * high, 1), n) == (60.56, 48.9, 71.1, 71)
    assert [round(100 * bound, 2) for bound in wilson(1, 283)[:3]] == [0.35, 0.06, 1.97]
    assert wilson(0, 0)[1:] == (0, 1, 0)


def test_bootstrap():
    """Whole groups are drawn: ten groups of a hundred equal values tell no more than ten values do."""
    groups = [[number % 2] * 100 for number in range(10)]

    def mean(drawn):
        values = [value for group in drawn for value in group]
        return sum(values) / len(values)

    ours = bootstrap(groups, mean)
    assert ours.value == 0.5 and ours.low <= 0.2 and ours.high >= 0.8
    assert bootstrap(groups, mean) == ours
    assert math.isnan(bootstrap([], mean).value)


@pytest.mark.parametrize(
    ("freedom", "low", "high"), [(4, 0.4844, 11.143), (10, 3.247, 20.483), (100, 74.222, 129.561)], ids=str
)
def test_chi_squared(freedom, low, high):
    """Against tables: few degrees of freedom are told less well."""
    assert chi_squared(freedom, 0.025) == pytest.approx(low, rel=0.08 if freedom < 10 else 0.01)
    assert chi_squared(freedom, 0.975) == pytest.approx(high, rel=0.01)


@pytest.mark.parametrize(
    ("bound", "ours", "verdict"),
    [
        ((">=", 0.9), (0.95, 0.91, 0.97), "holds"),
        ((">=", 0.9), (0.95, 0.89, 0.97), "undecided"),
        ((">=", 0.9), (0.80, 0.70, 0.89), "does not"),
        (("<=", 0.1), (0.05, 0.01, 0.10), "holds"),
        (("<=", 0.1), (0.05, 0.01, 0.11), "undecided"),
        (("<=", 0.1), (0.20, 0.11, 0.30), "does not"),
        (("in", 0.9, 0.98), (0.95, 0.91, 0.97), "holds"),
        (("in", 0.9, 0.98), (0.95, 0.91, 0.99), "undecided"),
        (("in", 0.9, 0.98), (0.99, 0.985, 1.0), "does not"),
        ((">=", 0.9), (math.nan, 0.0, 1.0), "undecided"),
    ],
)
def test_verdicts(bound, ours, verdict):
    assert judge(Claim("", "", bound, Interval(*ours, 10))) == verdict


def test_means_of_few_runs():
    """Against tables of Student's t; of one run nothing is known but its value."""
    assert [student(freedom) for freedom in (1, 2, 4.9, 10)] == [12.706, 4.303, 2.776, 2.228]
    assert student(30) == pytest.approx(2.042, rel=0.005)
    ours = mean_interval([1.0, 2.0, 3.0])
    assert ours.value == 2 and ours.high == pytest.approx(2 + 4.303 / math.sqrt(3)) and ours.n == 3
    assert mean_interval([5.0]) == Interval(5.0, -math.inf, math.inf, 1)
    assert mean_interval([]).n == 0


def test_two_sets_of_runs():
    """Welch's t of equal variances and numbers has the degrees of both; a ratio is that of the logarithms."""
    ours = difference_interval([11.0, 12.0, 13.0], [1.0, 2.0, 3.0])
    assert ours.value == 10 and ours.high == pytest.approx(10 + 2.776 * math.sqrt(2 / 3))
    assert difference_interval([2.0, 2.0], [1.0, 1.0])[:3] == (1, 1, 1)
    ratio = ratio_interval([8.0, 8.0], [2.0, 2.0])
    assert ratio[:3] == pytest.approx((4, 4, 4))
    assert ratio_interval([8.0], [2.0, 2.0]) == (pytest.approx(4), 0, math.inf, 1)
    assert math.isnan(ratio_interval([], [2.0]).value)
    assert ratio_interval([1e-300, 1e300], [1.0, 1.0]).high == math.inf
    assert ratio_interval([], [1.0]).n == 0
