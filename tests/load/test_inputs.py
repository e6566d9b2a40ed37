"""Wrong command lines and files: one clear line each, and nothing is started."""

import pytest

from tests.load.conftest import plan, run_load

MISTAKES = [
    (["plan"], "where is the plan to go"),
    (["plan", "p", "q"], "'q' is too much"),
    (["plan", "p.gz"], "not compressed"),
    (["plan", "p", "--preset", "table51"], "did you mean table15"),
    (["plan", "p", "--alpha", "0"], "--alpha=0: must be a number"),
    (["plan", "p", "--alpha", "nan"], "--alpha=nan: must be a number"),
    (["plan", "p", "--rate", "5", "--alpha", "1"], "exclude each other"),
    (["plan", "p", "--rate", "5", "--persistence", "0.5"], "leave out --rate"),
    (["plan", "p", "--duration", "5"], "a time with its unit"),
    (["plan", "p", "--duration", "0s"], "a second at least"),
    (["plan", "p", "--duration", "30d"], "the most is 7"),
    (["plan", "p", "--rate", "1e6", "--duration", "1h"], "lower the rate"),
    (["plan", "p", "--mix", "raed=1"], "did you mean read"),
    (["plan", "p", "--mix", "read"], "needs a weight"),
    (["plan", "p", "--mix", "read=0"], "all weights are 0"),
    (["plan", "p", "--files", "0"], "--files: from 1"),
    (["plan", "p", "--max-file", "big"], "must be a size"),
    (["plan", "p", "--clients", "0"], "--clients: from 1"),
    (["plan", "p", "--seed", "-1"], "--seed=-1: must be a whole number"),
    (["run"], "run what?"),
    (["run", "/dev/null"], "this is no plan"),
    (["run", "PLAN"], "name the class path"),
    (["run", "PLAN", "--classpath", "x", "--conf", "a"], "must be KEY=VALUE"),
    (["run", "PLAN", "--classpath", "x", "--max-errors", "101"], "--max-errors=101"),
    (["run", "PLAN", "--classpath", "x", "--trace", "a:1,b:2"], "takes one HOST:PORT"),
    (["run", "PLAN", "--classpath", "x", "--threads", "0"], "--threads=0"),
    (["run", "PLAN", "--result", "PLAN"], "--overwrite"),
    (["clean"], "name the class path"),
    (["report"], "report what?"),
    (["report", "/dev/null"], "no result of a load"),
    (["report", "PLAN"], "no result of a load"),
    (["report", "a", "b", "c"], "'c' is too much"),
    (["report", "a", "--html", "b", "--json"], "exclude each other"),
    (["plna"], "did you mean 'load plan'"),
    ([], "Usage: plumb load COMMAND"),
]


@pytest.fixture(scope="module")
def a_plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "a.plan"
    plan(path, "--duration", "1s", "--warm-up", "0s")
    return path


@pytest.mark.parametrize("arguments, message", MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
def test_mistakes(arguments, message, a_plan):
    done = run_load(*[a_plan if word == "PLAN" else word for word in arguments])
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert message in done.stderr
    if arguments:
        assert done.stderr.count("\n") == 1
    if len(arguments) > 1:
        assert done.stderr.startswith(f"plumb load {arguments[0]}: ")


def test_what_is_not_there(tmp_path):
    for words in (["run", tmp_path / "no.plan"], ["report", tmp_path / "no.result"], ["plan", "/nonexistent/p"]):
        done = run_load(*words)
        assert done.returncode == 1
        assert "No such file" in done.stderr or "/nonexistent" in done.stderr


def test_a_plan_that_was_changed(a_plan, tmp_path):
    changed = tmp_path / "changed.plan"
    changed.write_text(a_plan.read_text().replace(" read ", " stat ", 1))
    done = run_load("run", changed, "--classpath", "x")
    assert done.returncode == 2
    assert "was changed after it was made" in done.stderr


def test_the_same_options_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        plan(tmp_path / name, "--preset", "yahoo", "--seed", 5)
    plan(tmp_path / "c", "--preset", "yahoo", "--seed", 6)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() != (tmp_path / "c").read_bytes()
