"""What people get wrong: each mistake has one clear line on standard error, and the exit code that says whose it
was."""

import json
import re

import pytest

from tests.cli.conftest import run_plumb

# command line, exit code, what the message must say
MISTAKES = [
    ([], 2, "Usage"),
    (["functons"], 2, "did you mean 'functions'"),
    (["FOREST2000"], 2, "plumb --help"),
    (["--json"], 2, "which command"),
    (["--json", "statsu"], 2, "did you mean 'status'"),
    (["--sevrer", "x", "status"], 2, "did you mean --server"),
    (["--sort", "mean", "functions"], 2, "plumb COMMAND --sort"),
    (["-s", "x", "status"], 2, "unknown option"),
    (["--server"], 2, "--server lacks its value"),
    (["--server", "localhost:http", "status"], 2, "HOST:PORT"),
    (["--store", "x", "status", "--server", "y"], 2, "exclude each other"),
    (["--store", "x", "import", "file"], 1, "no such file or folder"),
    (["help", "traec"], 2, "did you mean 'trace'"),
    (["slow", "datanode2"], 2, "'plumb nodes datanode2' tells of one"),
    (["nodes", "--predict", "--on", "h"], 2, "--predict lacks its value"),
    (["functions", "--since", "--role=client"], 2, "--since lacks its value"),
    (["status", "extra"], 2, "'extra' is too much"),
    (["status", "--jsno"], 2, "did you mean --json"),
    (["status", "--server", "localhost:http"], 2, "HOST:PORT"),
    (["functions", "--sort", "cals"], 2, "did you mean calls"),
    (["functions", "--limit", "ten"], 2, "whole number"),
    (["functions", "--limit=-1"], 2, "whole number"),
    (["functions", "--by", "rack"], 2, "must be one of host"),
    (["functions", "-l", "5"], 2, "unknown option"),
    (["functions", "--since"], 2, "--since"),
    (["forest", "--level", "trees"], 2, "did you mean tree?"),
    (["forest", "--exlude", "x"], 2, "did you mean --exclude"),
    (["forest", "--config", "/nonexistent.conf"], 1, "/nonexistent.conf"),
    (["traces", "--min_duration", "1s"], 2, "did you mean --min-duration"),
    (["traces", "--sort", "durations"], 2, "did you mean duration"),
    (["traces", "--store", "x", "--server", "y"], 2, "exclude each other"),
    (["trace"], 2, "plumb traces"),
    (["trace", "1", "2"], 2, "'2' is too much"),
    (["trace", "1", "--dot", "--chrome"], 2, "exclude each other"),
    (["diff"], 2, "two periods"),
    (["diff", "1h.."], 2, "two periods"),
    (["diff", "a", "b", "--kind", "day"], 2, "period, pattern, trace"),
    (["import"], 2, "- for standard input"),
    (["import", "--store", "x", "file"], 1, "no such file or folder"),
    (["import", "--thrift", "nonsense:port", "/dev/null"], (1, 2), "nonsense:port"),
    (["export", "--json"], 2, "--output"),
    (["export", "--output", "/nonexistent/file"], 1, "/nonexistent/file"),
    (["export", "file"], 2, "'file' is too much"),
    (["verify", "--store", "/nonexistent"], 1, "/nonexistent"),
    (["verify", "--sotre=/x"], 2, "did you mean --store"),
    (["verify", "now"], 2, "'now' is too much"),
    (["advise", "--since", "7d", "--simulate"], 2, "--simulate is of one application"),
    (["advise", "latest", "--simulate", "--fail-on", "low"], 2, "leave out --conf, --method and --fail-on"),
]


def test_answer_that_is_too_large(canned):
    """Nothing of it is read when its length comes first."""
    canned.announced = 1 << 42
    done = run_plumb("status", "--server", canned.address)
    assert done.returncode == 1 and "more than this machine has memory for: ask for less" in done.stderr


def test_refusal_that_does_not_end(canned):
    canned.announced = 1 << 32
    canned.answer(b'{"error": "' + b"x" * (8 << 20), 500)
    done = run_plumb("status", "--server", canned.address)
    assert done.returncode == 1 and "answered HTTP 500 with over 1048576 bytes" in done.stderr


def test_watch_where_ends_are_not_told(canned):
    """Stragglers of all applications are named, and it is said once."""
    apps = [{"app": app, "id": app, "state": "running"} for app in ("a", "b")]
    canned.answer({"apps": apps, "stragglers": [{"task": 7, "main_cause": {"feature": "gc"}}]})
    canned.unknown = {"/api/v1/ends"}
    done = run_plumb("watch", "--once", "--json", "--server", canned.address)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["kind"], row["app"], row["task"]) for row in rows] == [("straggler", "a", 7), ("straggler", "b", 7)]
    assert done.returncode == 0
    assert done.stderr.count("when stages end is not told: ") == 1 and "no such question" in done.stderr


@pytest.mark.parametrize("arguments, code, said", MISTAKES, ids=[" ".join(m[0]) or "nothing" for m in MISTAKES])
def test_mistake(arguments, code, said):
    done = run_plumb(*arguments)
    assert done.returncode in (code if isinstance(code, tuple) else (code,))
    assert said in done.stderr
    assert done.stdout == ""
    if arguments:
        assert re.fullmatch(r"plumb[^\n]*\n", done.stderr), "one line, which begins with the program's name"


COMMANDS = ["status", "functions", "forest", "traces", "trace 1", "diff 1 2", "verify", "export"]


@pytest.mark.parametrize("command", COMMANDS)
def test_nobody_there(command, closed_port):
    done = run_plumb(*command.split(), "--server", closed_port)
    assert done.returncode == 1
    for hint in (closed_port, "script/server", "listen.http", "--server", "--store"):
        assert hint in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_that_is_no_store(command, tmp_path):
    (tmp_path / "file").write_text("x")
    done = run_plumb(*command.split(), "--store", tmp_path)
    assert done.returncode == 1
    assert str(tmp_path) in done.stderr and "plumb import --store" in done.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"], "reading must not make a store"


ANSWERS = {
    "bad parameter": (400, {"error": 'sort "x" is no field'}, 2, "is no field"),
    "no such trace": (404, {"error": "no trace 1"}, 1, "no trace 1"),
    "not ready": (503, {"error": "recovering the journal"}, 1, "recovering the journal"),
    "broken": (500, {"error": "corrupt"}, 1, "corrupt"),
    "another program's page": (404, b"<html>nginx</html>", 1, "another program"),
    "another program's success": (200, b"<html>hello</html>", 1, "another program"),
    "no object": (200, b"[1, 2]", 1, "no JSON object"),
    "nothing": (200, b"", 1, "another program"),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("command", COMMANDS[:-1])
def test_answers_that_are_none(name, command, canned):
    status, body, code, said = ANSWERS[name]
    canned.answer(body, status)
    done = run_plumb(*command.split(), "--server", canned.address)
    assert done.returncode == code
    assert said in done.stderr and done.stdout == ""


# Documents with fields missing or of the wrong type: a newer or broken server must not crash the command.
ODD = [
    {},
    {"functions": 5, "patterns": "x", "traces": None, "spans": {}, "rows": True, "reports": [1, None], "store": []},
    {
        "functions": [1, None, {}],
        "patterns": [1, {"nodes": [None, {"depth": "x"}, {"depth": -5}, {"depth": 1e300}]}],
        "traces": [None, {"begin_time_ns": 9223372036854775807, "duration_ns": -9223372036854775808}],
        "spans": [
            None,
            {"parents": [1, None], "flags": [2], "annotations": {"a": [1]}, "notes": [3]},
            {"depth": 4000000000},
        ],
        "missing": [None, {"at": -1}],
        "skew": [{}],
        "rows": [{}, {"a": 1, "b": {"mean_ns": "x"}}],
        "store": {"spans": 1e308},
        "receiver": {"senders": [None], "refused": {"x": "y"}},
    },
]


@pytest.mark.parametrize("document", ODD, ids=["empty", "wrong types", "odd rows"])
@pytest.mark.parametrize("command", COMMANDS[:-1] + ["trace 1 --dot", "trace 1 --chrome", "functions --bytes"])
def test_odd_documents(command, document, canned):
    canned.answer(document)
    done = run_plumb(*command.split(), "--server", canned.address)
    assert done.returncode == 0, done.stderr


def test_parameters_arrive_as_given(canned):
    canned.answer({})
    run_plumb(
        "traces",
        "--path",
        "/a b&c=d/ü?#%",
        "--annotation",
        "k=v",
        "--annotation",
        "x",
        "--min-duration",
        "1.5s",
        "--incomplete",
        "--limit",
        "7",
        "--sort",
        "duration",
        "--server",
        canned.address,
    )
    method, path, parameters = canned.asked[0]  # then what is still open
    assert (method, path) == ("GET", "/api/v1/traces")
    assert sorted(parameters) == sorted(
        [
            ("path", "/a b&c=d/ü?#%"),
            ("annotation", "k=v"),
            ("annotation", "x"),
            ("min_duration", "1.5s"),
            ("incomplete", "true"),
            ("limit", "7"),
            ("sort", "duration_ns"),
        ]
    )


def test_defaults_of_forest(canned):
    canned.answer({})
    run_plumb("forest", "--exclude", "default", "--exclude", "x", "--server", canned.address)
    assert canned.asked[0][2] == [
        ("sort", "total_ns"),
        ("limit", "10"),
        ("exclude", "OpWriteBlockProto"),
        ("exclude", "dataStreamer"),
        ("exclude", "waitForAckedSeqno"),
        ("exclude", "x"),
    ]


BEFORE = [
    ["--server", "{}", "functions", "--limit", "7"],
    ["--server={}", "functions", "--limit=7"],
    ["--json", "--server={}", "--color", "never", "functions", "--limit", "7"],
    ["--server", "127.0.0.1:1", "functions", "--limit", "7", "--server", "{}"],
]


@pytest.mark.parametrize("words", BEFORE, ids=[" ".join(words) for words in BEFORE])
def test_common_options_before_the_command(words, canned):
    canned.answer({})
    done = run_plumb(*(word.format(canned.address) for word in words))
    assert done.returncode == 0, done.stderr
    asked, *later = canned.asked
    assert asked == ("GET", "/api/v1/functions", [("limit", "7")])
    assert later == ([] if "--json" in words else [("GET", "/api/v1/status", [])])  # how many traces are open
    assert (done.stdout == "{}\n") == ("--json" in words)


def test_help_before_the_command():
    assert (
        run_plumb("--help", "trace").stdout == run_plumb("trace", "--help").stdout == run_plumb("help", "trace").stdout
    )
    assert run_plumb("--json", "--help").stdout == run_plumb("--help").stdout == run_plumb("help").stdout
    assert run_plumb("--store", "x", "help", "trace").stdout == run_plumb("help", "trace").stdout


def test_store_before_the_command(tmp_path):
    after = run_plumb("status", "--store", tmp_path / "none")
    before = run_plumb("--store", tmp_path / "none", "status")
    assert (before.returncode, before.stderr) == (after.returncode, after.stderr) and before.returncode == 1


def test_an_argument_may_begin_with_a_dash(canned):
    canned.answer({})
    run_plumb("trace", "--server", canned.address, "--", "-x")
    assert canned.asked[0][2] == [("id", "-x")]
