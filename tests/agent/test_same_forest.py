"""The same operations give the same trees on every Hadoop, but for what is stated in differences.py."""

import pytest

from tests.agent.differences import DIFFERENCES
from tests.agent.tours import VERSIONS, function_of, left_out, operations, shape

REFERENCE = "3.5.0"


STATED = {name for difference in DIFFERENCES for name in difference.functions}


def without_differences(paths):
    """What is left of a tree's paths when the functions of the stated differences are taken out."""
    return {tuple(step for step in path if function_of(step) not in STATED) for path in paths}


def readable(paths):
    return sorted(" > ".join(path) for path in paths)


@pytest.mark.parametrize("version", [version for version in VERSIONS if version != REFERENCE])
@pytest.mark.parametrize("operation", operations())
def test_as_in_the_newest(toured, version, operation):
    if operation.removeprefix("Tour#") in left_out(version):
        pytest.skip("this Hadoop has no such operation")
    here, there = (without_differences(shape(toured(which).forest.one(operation))) for which in (version, REFERENCE))
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
