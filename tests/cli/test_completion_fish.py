"""conf/plumb.fish in a real fish."""

import subprocess

import pytest

from tests.cli.conftest import ENVIRONMENT, PLUMB, ROOT

# what is typed: (some of what is offered, something that is not)
CASES = {
    "plumb fo": ({"forest"}, "functions"),
    "plumb help tr": ({"traces", "trace"}, "forest"),
    "plumb functions --so": ({"--sort=calls", "--sort=critical"}, "--since="),
    "plumb functions --sort cr": ({"critical"}, "calls"),
    "plumb functions --sort=q7": ({"--sort=q75"}, "--sort=q25"),
    "plumb trace --d": ({"--dot"}, "--chrome"),
    "plumb forest --json --le": ({"--level=forest", "--level=tree"}, "--limit="),
    "plumb forest --level ": ({"forest", "tree"}, "functions"),
    "plumb --se": ({"--server="}, "--store="),
    "plumb --json fo": ({"forest"}, "functions"),
    "plumb --store d functions --sort cr": ({"critical"}, "calls"),
    "plumb import sp": ({"spans.json"}, "status"),
}


@pytest.mark.parametrize("typed", CASES)
def test_completion(typed, tmp_path):
    (tmp_path / "spans.json").write_text("")
    (tmp_path / "plumb").symlink_to(PLUMB)
    environment = {**ENVIRONMENT, "HOME": str(tmp_path), "PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}"}
    script = f"source {ROOT}/conf/plumb.fish; complete -C '{typed}'"
    done = subprocess.run(["fish", "-N", "-c", script], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.stderr == ""
    offered = {line.split("\t")[0] for line in done.stdout.splitlines()}
    wanted, unwanted = CASES[typed]
    assert wanted <= offered and unwanted not in offered, offered
