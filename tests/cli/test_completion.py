"""Completion in a real bash, fish and zsh, of what the program offers (plumb --complete)."""

import os
import pty
import subprocess

import pytest

from tests.cli.conftest import BUILD, ENVIRONMENT, PLUMB, ROOT, run_plumb
from tests.cli.real import json_lines, make_spans

EVENT_LOG = ROOT / "tests/data/spark/4.3.0/executor_lost.zstd"

# what is typed: (some of what is offered, something that is not)
CASES = {
    "plumb fo": ({"forest"}, "functions"),
    "plumb ": ({"forest", "load", "help"}, "load plan"),
    "plumb help tr": ({"traces", "trace"}, "forest"),
    "plumb --json help tr": ({"traces", "trace"}, "forest"),
    "plumb functions --so": ({"--sort="}, "--since="),
    "plumb functions --sort cr": ({"critical"}, "calls"),
    "plumb functions --sort=q7": ({"--sort=q75"}, "--sort=q25"),
    "plumb functions --sort=": ({"--sort=calls", "--sort=q25"}, "--since="),
    "plumb trace --d": ({"--dot"}, "--chrome"),
    "plumb import --st": ({"--store="}, "--since="),
    "plumb forest --json --le": ({"--level="}, "--limit="),
    "plumb forest --level ": ({"forest", "tree"}, "functions"),
    "plumb functions --role data": ({"datanode"}, "client"),
    "plumb load ": ({"plan", "run", "report", "clean"}, "forest"),
    "plumb load r": ({"run", "report"}, "plan"),
    "plumb load plan --pres": ({"--preset="}, "--seed="),
    "plumb --json load plan --preset ta": ({"table15"}, "yahoo"),
    "plumb --se": ({"--server="}, "--store="),
    "plumb --ver": ({"--version"}, "--store="),
    "plumb --color ne": ({"never"}, "auto"),
    "plumb --json fo": ({"forest"}, "functions"),
    "plumb --server h:1 fo": ({"forest"}, "functions"),
    "plumb --server=h:1 fo": ({"forest"}, "functions"),
    "plumb --store d functions --sort cr": ({"critical"}, "calls"),
    "plumb --store sp": ({"spans.json"}, "status"),
    "plumb import --store=sp": ({"--store=spans.json"}, "status"),
    "plumb import sp": ({"spans.json"}, "status"),
    "plumb nonsense --": (set(), "--json"),
    "plumb functions --limit ": (set(), "spans.json"),
}

# Zsh completes on a terminal alone: it completes what was typed as soon as there is a line to edit, and ends.
ZSHRC = """
fpath=("$CONFIGURATION" $fpath)
autoload -Uz compinit
compinit -u -D
typeset -ga seen_by_test
compadd() {
    local -a matching before
    if ! ((${@[(I)-[OAD]]})); then
        builtin compadd -O matching "$@"
        seen_by_test+=("$IPREFIX"$^matching)
    fi
    builtin compadd "$@"
}
zle-line-init() {
    BUFFER=$TYPED CURSOR=$#TYPED
    zle complete-word
    print -rl -- $seen_by_test >$OFFERED
    exit
}
zle -N zle-line-init
"""


def bash(typed, folder, environment):
    """Readline replaces only what stands behind the last = or :, so that is what it is told."""
    script = """source "$1/conf/plumb.bash-completion"
COMP_LINE=$2 COMP_POINT=${#2}
read -ra COMP_WORDS <<<"$2"
_plumb
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
"""
    done = subprocess.run(
        ["bash", "-c", script, "bash", ROOT, typed], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.stderr == ""
    word = typed.split(" ")[-1]
    kept = word[: max(word.rfind("="), word.rfind(":")) + 1]
    return {kept + line for line in done.stdout.splitlines()}


def fish(typed, folder, environment):
    script = f"source {ROOT}/conf/plumb.fish; complete -C '{typed}'"
    done = subprocess.run(["fish", "-N", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    return {line.split("\t")[0] for line in done.stdout.splitlines()}


def zsh(typed, folder, environment):
    (folder / ".zshrc").write_text(ZSHRC)
    offered = folder / ".offered"
    environment = {
        **environment,
        "TERM": "dumb",
        "ZDOTDIR": str(folder),
        "CONFIGURATION": str(ROOT / "conf"),
        "TYPED": typed,
        "OFFERED": str(offered),
    }
    terminal, inside = pty.openpty()
    try:
        streams = {"stdin": inside, "stdout": inside, "stderr": inside}
        subprocess.run(["zsh", "-d", "-i"], **streams, env=environment, cwd=folder, timeout=120)
        said = os.read(terminal, 65536).decode()
    finally:
        os.close(inside)
        os.close(terminal)
    assert offered.exists(), said
    return set(offered.read_text().splitlines()) - {""}


SHELLS = [bash, fish, zsh]


@pytest.fixture
def environment(tmp_path):
    (tmp_path / "spans.json").write_text("")
    (tmp_path / "plumb").symlink_to(PLUMB)
    return {**ENVIRONMENT, "HOME": str(tmp_path), "PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}"}


@pytest.mark.parametrize("shell", SHELLS)
def test_what_is_known_without_a_server(shell, environment, tmp_path):
    for typed, (wanted, unwanted) in CASES.items():
        offered = shell(typed, tmp_path, environment)
        assert wanted <= offered and unwanted not in offered, (typed, offered)
        assert offered or not wanted


@pytest.fixture
def filled(plumbd):
    """With HDFS's spans and an application of Spark; (its address, the application's id)."""
    plumbd.plumb("import", "-", stdin=json_lines(make_spans(2)))
    bridge = BUILD / "spark-bridge/plumb-bridge"
    subprocess.run(
        [bridge, "--receiver", plumbd.thrift_address, EVENT_LOG], check=True, capture_output=True, timeout=120
    )
    (app,) = plumbd.ask("apps")["apps"]
    return plumbd.http, app["app"]


@pytest.mark.parametrize("shell", SHELLS)
def test_what_the_server_has(shell, filled, environment, tmp_path):
    server, app = filled
    by_option = shell(f"plumb --server {server} functions --host 10.0.3.", tmp_path, environment)
    assert by_option == {"10.0.3.1", "10.0.3.2", "10.0.3.3", "10.0.3.9"}
    environment["PLUMB_SERVER"] = server
    assert "DFSOutputStream#write" in shell("plumb functions --function DFSO", tmp_path, environment)
    assert "--host=10.0.3.1" in shell("plumb functions --host=10.0.3", tmp_path, environment)
    assert shell("plumb why ", tmp_path, environment) == {"latest", app}
    assert app in shell(f"plumb stages {app[:5]}", tmp_path, environment)


def test_nobody_there_offers_nothing_and_says_nothing(closed_port):
    done = run_plumb("--complete", "--server", closed_port, "functions", "--host", "")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert run_plumb("--complete").stdout.startswith("status\n")


def test_names_that_no_line_can_have_are_left_out(canned):
    """An answer of anybody who listens there: no control characters reach a terminal, no name becomes an option."""
    names = ["good", "two words", "\x1b[31mred", "two\nlines", "--store=/", "ünï"]
    canned.answer({"names": [{"name": name} for name in names]})
    done = run_plumb("--complete", "--server", canned.address, "names", "--function", "")
    assert done.stdout == ""
    done = run_plumb("--complete", "--server", canned.address, "functions", "--host", "")
    assert done.stdout.splitlines() == ["good", "two words", "ünï"]
