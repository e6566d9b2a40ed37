"""conf/plumb.bash-completion in a real bash."""

import subprocess

import pytest

from tests.cli.conftest import ENVIRONMENT, PLUMB, ROOT

CASES = [
    (["plumb", "fo"], 1, ["forest"]),
    (["plumb", "help", "tr"], 2, ["traces", "trace"]),
    (["plumb", "functions", "--so"], 2, ["--sort="]),
    (["plumb", "functions", "--sort", "cr"], 3, ["critical"]),
    (["plumb", "functions", "--sort", "=", "q7"], 4, ["q75"]),
    (["plumb", "functions", "--sort", "="], 3, None),
    (["plumb", "trace", "--d"], 2, ["--dot"]),
    (["plumb", "import", "--st"], 2, ["--store="]),
    (["plumb", "forest", "--json", "--le"], 3, ["--level="]),
    (["plumb", "forest", "--level", ""], 3, ["forest", "tree"]),
    (["plumb", "import", "sp"], 2, ["spans.json"]),
    (["plumb", "forest", "--config", "sp"], 3, ["spans.json"]),
    (["plumb", "nonsense", "--x"], 2, []),
    (["plumb", "--se"], 1, ["--server="]),
    (["plumb", "--json", "fo"], 2, ["forest"]),
    (["plumb", "--server", "h:1", "fo"], 3, ["forest"]),
    (["plumb", "--server", "=", "h", ":", "1", "fo"], 6, ["forest"]),
    (["plumb", "--store", "sp"], 2, ["spans.json"]),
    (["plumb", "--color", "ne"], 2, ["never"]),
    (["plumb", "--store", "d", "functions", "--sort", "cr"], 5, ["critical"]),
    (["plumb", "--json", "help", "tr"], 3, ["traces", "trace"]),
    (["plumb", "loa"], 1, ["load"]),
    (["plumb", "load", ""], 2, ["plan", "run", "report", "clean"]),
    (["plumb", "load", "r"], 2, ["run", "report"]),
    (["plumb", "load", "plan", "--pre"], 3, ["--preset="]),
    (["plumb", "--json", "load", "plan", "--preset", "t"], 5, ["table15"]),
]


@pytest.mark.parametrize("words, at, expected", CASES, ids=[" ".join(words) for words, _, _ in CASES])
def test_completion(words, at, expected, tmp_path):
    (tmp_path / "spans.json").write_text("")
    (tmp_path / "plumb").symlink_to(PLUMB)
    script = """source "$1"; shift
COMP_CWORD=$1; shift
COMP_WORDS=("$@")
_plumb
printf '%s\\n' "${COMPREPLY[@]}"
"""
    environment = {**ENVIRONMENT, "PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script, "bash", ROOT / "conf/plumb.bash-completion", str(at), *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    got = [word for word in done.stdout.splitlines() if word]
    if expected is None:
        assert len(got) > 10
    else:
        assert got == expected
