"""What script/check runs after a change of one file."""

import re
import subprocess

import pytest

from script.check_changes import BUILD, objects_by_file
from tests.conftest import ROOT


def plan(*arguments):
    """(ctest programs, pytest files, what is said to be left out)"""
    done = subprocess.run([ROOT / "script/check", "--plan", *arguments], check=True, capture_output=True, text=True)
    lines = dict(re.findall(r"^(ctest|pytest): (.*)$", done.stdout, re.M))
    return lines["ctest"].split(), lines["pytest"].split(), "\n".join(re.findall(r"^not run: (.*)$", done.stdout, re.M))


def one(pattern):
    """The path of the only file like that; files move between folders."""
    (path,) = ROOT.glob(pattern)
    return str(path.relative_to(ROOT))


def test_absolute_and_relative_paths_are_one_file():
    header = "common/base/clock.h"
    deps = f"a.o: #deps 2\n    {ROOT}/{header}\n    /usr/include/glib.h\n\nb.o: #deps 1\n    ../../{header}\n"
    assert (BUILD / "../..").resolve() == ROOT
    assert objects_by_file(deps) == {header: {"a.o", "b.o"}}


def test_nearest_programs_come_first():
    programs, _, left = plan(one("common/**/bytes.c"))
    assert {"test_base", "test_config"} & set(programs[:3])
    assert "test_store_faults" in left or "test_store_faults" in programs


def test_only_programs_that_it_is_linked_into():
    programs, _, left = plan("--all", one("spark-bridge/**/splits.c"))
    assert "test_spark_splits" in programs
    assert "test_store" not in programs and left.count("test_store") == 0


def test_a_header_reaches_those_that_include_it():
    programs, _, _ = plan("--all", one("analyzer/**/query.h"))
    assert {"test_query", "test_receiver_daemon"} <= set(programs)


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("docs/api.md", "tests/query/test_api_document.py"),
        ("tests/cli/test_docs.py", "tests/cli/test_docs.py"),
        ("tests/receiver/sender.py", "tests/receiver/test_accounting.py"),
        ("script/spark/scopes.py", "tests/spark/test_scopes.py"),
    ],
)
def test_python_tests_that_need_a_file(changed, tests):
    assert tests in plan("--all", changed)[1]


def test_of_other_files_nothing_runs_but_style():
    assert plan(one(".editor*"))[:2] == (["nothing"], ["nothing"])


def test_what_takes_long_is_named():
    assert "script/test java" in plan("tracer-patches/pom.xml")[2]
    assert "tests/agent/test_woven.py" in plan("tests/agent/tours.py")[2]
