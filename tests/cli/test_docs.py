"""docs/plumb.md says what the program says. After a change of an option: UPDATE_GOLDEN=1 pytest
tests/cli/test_docs.py."""

import os
import re
import shlex

import pytest

from tests.cli.conftest import ROOT, run_plumb

DOCUMENT = ROOT / "docs/plumb.md"
COMMANDS = run_plumb("--words").stdout.splitlines()


def block(command):
    """The pattern of a command's usage block: (before, text, after)."""
    return re.compile(rf"(<!-- plumb {command} --help -->\n```\n)(.*?)(```\n)", re.S)


@pytest.mark.parametrize("command", COMMANDS)
def test_usage_is_documented(command):
    text = DOCUMENT.read_text()
    usage = run_plumb(*command.split(), "--help").stdout
    assert block(command).search(text), f"docs/plumb.md has no block for {command}"
    if os.environ.get("UPDATE_GOLDEN"):
        text = block(command).sub(lambda match: match.group(1) + usage + match.group(3), text)
        DOCUMENT.write_text(text)
    assert block(command).search(text).group(2) == usage


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command):
    done = run_plumb(*command.split(), "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert run_plumb("help", *command.split()).stdout == done.stdout == run_plumb(*command.split(), "-h").stdout
    for part in (f"Usage: plumb {command} [OPTION...]", "Common options:", "--json", "Examples:\n  "):
        assert part in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120


@pytest.mark.parametrize("width", [80, 120])
def test_help_fits_the_terminal(width):
    """But for the examples, which are to be copied."""
    for command in COMMANDS:
        usage = run_plumb(*command.split(), "--help", env={"COLUMNS": str(width)}).stdout
        lines = usage.split("\nExamples:\n")[0].splitlines()
        assert max(map(len, lines)) <= width, command
        if width == 120:
            assert usage == run_plumb(*command.split(), "--help").stdout


def examples():
    for command in COMMANDS:
        usage = run_plumb(*command.split(), "--help").stdout
        for line in usage.split("Examples:\n")[1].splitlines():
            yield line.strip()


@pytest.mark.parametrize("example", examples())
def test_examples_are_understood(example, closed_port, tmp_path):
    """Every example of --help gets as far as its connection, or its files: no option of it is mistyped."""
    words = shlex.split(example.split("#")[0].split("&&")[0].split(">")[0])
    words = words[words.index("plumb") + 1 :]
    if "|" in words:
        words = words[: words.index("|")]
    if words[0] == "import":
        words += ["--thrift", closed_port]
        if "--store" in words:  # it is made
            words[words.index("--store") + 1] = str(tmp_path / "store")
    if "--config" in words:
        words[words.index("--config") + 1] = str(ROOT / "conf/analysis.conf")
    if "--output" in words:
        words[words.index("--output") + 1] = str(tmp_path / "spans.json")
    if "--tokens" in words:
        words[words.index("--tokens") + 1] = str(tmp_path / "tokens")
    if words[:2] == ["load", "plan"]:
        words[2] = str(tmp_path / words[2])
    if "--from-audit" in words:
        log = tmp_path / "hdfs-audit.log"
        log.write_text("2026-11-21 10:00:00,123 INFO FSNamesystem.audit: allowed=true\tugi=a\tcmd=open\tsrc=/a\n")
        words[words.index("--from-audit") + 1] = str(log)
    if "--store" not in words:
        words += ["--server", closed_port]
    done = run_plumb(*words, stdin="", env={"HADOOP_HOME": "/nonexistent"})
    # Without Hadoop, 'load clean' says how to name it.
    code = 0 if words[0] == "token" or words[:2] == ["load", "plan"] else 2 if words[:2] == ["load", "clean"] else 1
    assert done.returncode == code, done.stderr


def test_every_command_is_in_the_overview():
    done = run_plumb("--help")
    assert done.returncode == 0
    for command in COMMANDS:
        assert re.search(rf"^  {command} +\S", done.stdout, re.M)
    assert run_plumb("help").stdout == done.stdout


def test_version():
    version = re.search(r"VERSION (\S+) ", (ROOT / "CMakeLists.txt").read_text()).group(1)
    assert run_plumb("--version").stdout == f"plumb {version}\n"
