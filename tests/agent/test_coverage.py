"""docs/coverage.md says what these runs saw. script/coverage writes it: PLUMB_WRITE_COVERAGE=1, all versions."""

import os
import re

import pytest

from tests.agent import coverage
from tests.agent.differences import SLEEPS
from tests.agent.tours import VERSIONS

# Not in every run: work that a NameNode or DataNode does of its own accord, sooner or later, where the runs end before,
# or that another DataNode was chosen for. Only test_listed.py is sure to look at these.
BY_CHANCE = {
    "BlockRecoveryWorker#recoverBlocks",
    "LeaseManager#checkLeases",
    "BlockManager#computeDatanodeWork",
    "StripedBlockReconstructor#run",
    "StripedBlockReconstructor#reconstructTargets",
    "StripedReader#readMinimumSources",
    "StripedBlockReader#readFromBlock",
    "StripedBlockWriter#transferData2Target",
} | SLEEPS


@pytest.fixture(scope="session")
def found(toured):
    return {version: coverage.seen(toured(version).forest) for version in VERSIONS}


@pytest.mark.skipif("PLUMB_WRITE_COVERAGE" not in os.environ, reason="script/coverage writes the table")
def test_write_the_table(found):
    coverage.write_table(found)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_table_is_what_was_found(found, version):
    committed = coverage.read_table()[version]
    differences = {function for function in committed ^ found[version] if function.name not in BY_CHANCE}
    assert differences == set(), "script/coverage writes the table anew"


@pytest.mark.parametrize("version", VERSIONS)
def test_names_carry_no_numbers(found, version):
    """Of blocks, for example; that of a class may have one."""
    assert [function.name for function in found[version] if re.search(r"(?<![A-Za-z])\d", function.name)] == []
