"""conf/_plumb in a real zsh, on a terminal, since zsh completes nowhere else."""

import os
import pty
import subprocess

import pytest

from tests.cli.conftest import ENVIRONMENT, PLUMB, ROOT

# Completes what was "typed" as soon as there is a line to edit, notes what was offered, and ends.
ZSHRC = """
fpath=("$CONFIGURATION" $fpath)
autoload -Uz compinit
compinit -u -D
typeset -ga offered
compadd() {
    local -a matching
    if ! ((${@[(I)-[OAD]]})); then
        builtin compadd -O matching "$@"
        offered+=($matching)
    fi
    builtin compadd "$@"
}
zle-line-init() {
    BUFFER=$TYPED CURSOR=$#TYPED
    zle complete-word
    print -rl -- $offered >$OFFERED
    exit
}
zle -N zle-line-init
"""

# what is typed: (some of what is offered, something that is not)
CASES = {
    "plumb fo": ({"forest"}, "functions"),
    "plumb ": ({"forest", "load", "help"}, "load plan"),
    "plumb help tr": ({"traces", "trace"}, "forest"),
    "plumb functions --so": ({"--sort="}, "--since="),
    "plumb functions --sort cr": ({"critical"}, "calls"),
    "plumb functions --sort=q7": ({"q75"}, "q25"),
    "plumb trace --d": ({"--dot"}, "--chrome"),
    "plumb forest --json --le": ({"--level="}, "--limit="),
    "plumb forest --level ": ({"forest", "tree"}, "functions"),
    "plumb load ": ({"plan", "run", "report", "clean"}, "forest"),
    "plumb load plan --pres": ({"--preset="}, "--seed="),
    "plumb load plan --preset ta": ({"table15"}, "yahoo"),
    "plumb --se": ({"--server="}, "--store="),
    "plumb --json fo": ({"forest"}, "functions"),
    "plumb --store d functions --sort cr": ({"critical"}, "calls"),
    "plumb import sp": ({"spans.json"}, "status"),
}


@pytest.mark.parametrize("typed", CASES)
def test_completion(typed, tmp_path):
    (tmp_path / ".zshrc").write_text(ZSHRC)
    (tmp_path / "spans.json").write_text("")
    (tmp_path / "plumb").symlink_to(PLUMB)
    environment = {
        **ENVIRONMENT,
        "PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}",
        "TERM": "dumb",
        "ZDOTDIR": str(tmp_path),
        "CONFIGURATION": str(ROOT / "conf"),
        "TYPED": typed,
        "OFFERED": str(tmp_path / "offered"),
    }
    terminal, inside = pty.openpty()
    try:
        subprocess.run(
            ["zsh", "-d", "-i"], stdin=inside, stdout=inside, stderr=inside, env=environment, cwd=tmp_path, timeout=120
        )
        said = os.read(terminal, 65536).decode()
    finally:
        os.close(inside)
        os.close(terminal)
    assert (tmp_path / "offered").exists(), said
    offered = set((tmp_path / "offered").read_text().splitlines())
    wanted, unwanted = CASES[typed]
    assert wanted <= offered and unwanted not in offered, (offered, said)
