"""The same operations give the same trees on every Hadoop, but for what is stated in differences.py."""

import pytest

from script.hdfs.jars import version_number
from tests.agent.differences import DIFFERENCES, INSIDE
from tests.agent.tours import VERSIONS, function_of, left_out, operations, shape

REFERENCE = "3.5.0"


STATED = {name for difference in DIFFERENCES for name in difference.functions}


def earlier(difference, version):
    return version_number(version)[: len(difference.last)] <= difference.last


def not_compared(version, other):
    """Functions of the stated differences between these versions."""
    parted = [difference for difference in INSIDE if earlier(difference, version) != earlier(difference, other)]
    return STATED.union(*(difference.functions for difference in parted))


def without(functions, paths):
    """What is left of a tree's paths when these functions are taken out."""
    return {tuple(step for step in path if function_of(step) not in functions) for path in paths}


def readable(paths):
    return sorted(" > ".join(path) for path in paths)


@pytest.mark.parametrize("version", [version for version in VERSIONS if version != REFERENCE])
@pytest.mark.parametrize("operation", operations())
def test_as_in_the_newest(toured, version, operation):
    if operation.removeprefix("Tour#") in left_out(version):
        pytest.skip("this Hadoop has no such operation")
    functions = not_compared(version, REFERENCE)
    here, there = (without(functions, shape(toured(which).forest.one(operation))) for which in (version, REFERENCE))
    assert (readable(here - there), readable(there - here)) == ([], []), f"only in {version}, only in {REFERENCE}"


def test_results_are_the_same(toured):
    expected = toured(REFERENCE).results
    for version in VERSIONS:
        assert toured(version).results == {
            name: result for name, result in expected.items() if name not in left_out(version)
        }


def test_stated_differences_are_there(toured):
    """One that is no more is to be taken out of the list."""
    steps = {
        version: {
            function_of(step)
            for operation in operations()
            for trace in toured(version).forest.named(operation)
            for path in shape(trace)
            for step in path
        }
        for version in VERSIONS
    }
    for name in STATED:
        having = [version for version in VERSIONS if name in steps[version]]
        assert having not in ([], VERSIONS), name


@pytest.mark.parametrize("difference", INSIDE, ids=lambda difference: difference.call)
def test_stated_calls_are_inside(toured, difference):
    for version in VERSIONS:
        callers = {
            function_of(path[-2])
            for operation in operations()
            for trace in toured(version).forest.named(operation)
            for path in shape(trace)
            if function_of(path[-1]) == difference.call
        }
        assert bool(callers & set(difference.functions)) == earlier(difference, version), version
