"""Intervals, and what they say of claims."""

import math

import pytest

from bench.studies.figures import Claim, Interval, bootstrap, chi_squared, judge, wilson


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
