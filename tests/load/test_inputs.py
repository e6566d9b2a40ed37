"""Wrong command lines and files: one clear line each, and nothing is started."""

import gzip

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
    (["plan", "p", "--day", "5m"], "--day is of --profile"),
    (["plan", "p", "--profile", "/dev/zero"], "more than 65536 bytes"),
    (["plan", "p", "--profile", "PLAN"], "must be a time of day and a factor"),
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
    (["plan", "p", "--session", "0"], "--session: from 1 to 10000"),
    (["plan", "p", "--seed", "-1"], "--seed=-1: must be a whole number"),
    (["plan", "p", "--speed", "2"], "--speed is of --from-audit"),
    (["plan", "p", "--from-audit", "x", "--mix", "read=1"], "--from-audit and --mix exclude each other"),
    (["plan", "p", "--from-audit", "x", "--preset", "yahoo"], "--from-audit and --preset exclude each other"),
    (["plan", "p", "--from-audit", "x", "--speed", "0"], "--speed=0: must be a number"),
    (["plan", "p", "--from-audit", "/dev/null"], "read twice"),
    (["plan", "p", "--from-audit", "PLAN"], "no line of the NameNode's audit log"),
    (["plan", "p", "--from-audit", "PACKED"], "unpack it first"),
    (["plan", "p", "--warm-up", "1s", "--ramp", "2s"], "part of --warm-up"),
    (["run"], "run what?"),
    (["run", "PLAN", "--classpath", "x", "--closed", "0"], "--closed=0: from 1"),
    (["run", "PLAN", "--find-max", "p99<=1s", "--closed", "2"], "exclude each other"),
    (["report", "--merge", "/dev/null", "/dev/null"], "no result of a load"),
    (["run", "PLAN", "--find-max", "p99"], "lacks its bound"),
    (["run", "PLAN", "--find-max", "p99<=1s", "--classpath", "x", "--searches", "0"], "--searches=0: from 1"),
    (["run", "PLAN", "--find-max", "p99<=1s", "--classpath", "x", "--precision", "0"], "--precision=0"),
    (["run", "FOREIGN", "--find-max", "p99<=1s", "--classpath", "x"], "drew can be drawn anew"),
    (["run", "/dev/null"], "this is no plan"),
    (["run", "PLAN"], "name the class path"),
    (["run", "PLAN", "--classpath", "x", "--conf", "a"], "must be KEY=VALUE"),
    (["run", "PLAN", "--classpath", "x", "--max-errors", "101"], "--max-errors=101"),
    (["run", "PLAN", "--classpath", "x", "--trace", "a:1,b:2"], "takes one HOST:PORT"),
    (["run", "PLAN", "--classpath", "x", "--threads", "0"], "--threads=0"),
    (["run", "PLAN", "--classpath", "x", "--max-bytes", "0"], "--max-bytes: a byte at least"),
    (["run", "PLAN", "--classpath", "x", "--min-free", "101%"], "--min-free=101%: must be a part of HDFS"),
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


def fnv64(data):
    found = 0xCBF29CE484222325
    for byte in data:
        found = (found ^ byte) * 0x100000001B3 % 2**64
    return found


@pytest.fixture(scope="module")
def a_plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "a.plan"
    plan(path, "--duration", "1s", "--warm-up", "0s")
    return path


@pytest.fixture(scope="module")
def a_foreign_plan(a_plan):
    """Of another program: it has only what must be there."""
    path = a_plan.with_name("foreign.plan")
    text = "plumb-load-plan 1\nwarm-up-ns 0\nduration-ns 1000\nclients 2\n\nf 10\no 0 stat 0 0 0 0\n"
    path.write_text(text + f"end 1 1 {fnv64(text.encode()):016x}\n")
    return path


@pytest.mark.parametrize("arguments, message", MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
def test_mistakes(arguments, message, a_plan, a_foreign_plan):
    packed = a_plan.with_name("log.gz")
    packed.write_bytes(gzip.compress(b"a log"))
    plans = {"PLAN": a_plan, "FOREIGN": a_foreign_plan, "PACKED": packed}
    done = run_load(*[plans.get(word, word) for word in arguments])
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
