"""How the Python code reads: laid out and checked by ruff, and found from the top of the tree."""

import subprocess

from tests.style.test_style import ROOT, name, tracked


def ruff(*arguments):
    done = subprocess.run([ROOT / "script/ruff", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_layout():
    code, said = ruff("format", "--check", ".")
    assert code == 0, f"run script/ruff format\n{said}"


def test_faults():
    code, said = ruff("check", "--output-format", "concise", ".")
    assert code == 0, f"script/ruff check --fix mends some of these\n{said}"


def test_modules_are_found_without_help():
    """What a program imports is named from the top of the tree, so that its name says where it is."""
    searched = "sys." + "path"
    assert [name(path) for path in tracked("*.py") if searched in path.read_text()] == []
