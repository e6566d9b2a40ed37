"""Inside a module, units do not include each other in a circle: there is an order in which the code can be read."""

import re

import pytest

from tests.style.test_includes import FOLDER_OF
from tests.style.test_style import ROOT, c_files, name

FILES = [name(path) for path in c_files("c", "h", "cc")]
COMPILED = {path.rpartition(".")[0] for path in FILES if not path.endswith(".h")}


def unit_of(path):
    """X.c and X.h are a unit. A header without a .c belongs to the unit with which its name begins: X_row.h to X."""
    folder, _, file = path.rpartition("/")
    parts = file.rpartition(".")[0].split("_")
    beginnings = ["_".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return next((one for one in beginnings if f"{folder}/{one}" in COMPILED), beginnings[0])


def includes(folder):
    """{unit: units of this folder that it includes}"""
    graph = {}
    for path in FILES:
        if path.rpartition("/")[0] != folder:
            continue
        used = graph.setdefault(unit_of(path), set())
        for included in re.findall(r'^#include "([^"]+)"', (ROOT / path).read_text(), re.M):
            if included.rpartition("/")[0] == folder and unit_of(included) != unit_of(path):
                used.add(unit_of(included))
    return graph


def reached(graph, start):
    found, todo = set(), [start]
    while todo:
        new = graph.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def circles(graph):
    """Sets of units each of which includes all others of the set, directly or not."""
    reach = {unit: reached(graph, unit) for unit in graph}
    return {frozenset(other for other in graph if other in reach[unit] and unit in reach[other]) for unit in graph} - {
        frozenset()
    }


@pytest.mark.parametrize("folder", sorted(FOLDER_OF.values()))
def test_no_circles(folder):
    found = [" ".join(sorted(circle)) for circle in circles(includes(folder))]
    assert not found, f"{folder}: units that include each other: {found}"


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}) == {frozenset("abc")}
