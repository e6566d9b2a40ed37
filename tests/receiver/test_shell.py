"""Analyses that plumbd runs for its page: real plumbd, real plumb."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.receiver.sender import OK, STRINGS, Sender, span
from tests.receiver.test_http import load, readers_that_stop
from tests.receiver.waiting import wait_for

# Of plumb, but not for the page: they write, read files, ask for passwords, or never end.
COMMANDS_LEFT_OUT = {"import", "export", "token", "mark", "watch", "load plan", "load run", "load report", "load clean"}
# Where plumb asks, how it logs in, files, and forms that are no lines.
OPTIONS_LEFT_OUT = {"server", "ca", "certificate", "key", "token-file", "store", "json", "color", "help"}
OPTIONS_LEFT_OUT |= {"config", "dot", "chrome", "negotiate", "csv", "otlp"}


@pytest.fixture
def make_shell(make_plumbd, plumb_program, build_dir):
    """A plumbd, not started, that knows its plumb. A sanitizer takes terabytes of addresses."""

    def make(**settings):
        sanitized = build_dir.name not in ("default", "release", "debug")
        return make_plumbd(shell__program=plumb_program, **({"shell__memory": "0"} if sanitized else {}), **settings)

    return make


@pytest.fixture
def shell(make_shell):
    return make_shell().start()


def connect(plumbd, source="127.0.0.1"):
    host, port = plumbd.http.rsplit(":", 1)
    return http.client.HTTPConnection(host, int(port), timeout=60, source_address=(source, 0))


def post(plumbd, path, document, source="127.0.0.1", **headers):
    """(status, document)"""
    sent = {"Origin": f"http://{plumbd.http}", "Content-Type": "application/json", **headers}
    body = document if isinstance(document, (str, bytes)) else json.dumps(document)
    with contextlib.closing(connect(plumbd, source)) as connection:
        connection.request("POST", f"/api/v1/shell/{path}", body, {k: v for k, v in sent.items() if v is not None})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())


def begin(plumbd, analysis, source="127.0.0.1", **parameters):
    named = {name.replace("_", "-"): value for name, value in parameters.items()}
    status, run = post(plumbd, "run", {"analysis": analysis, "parameters": named}, source)
    assert status == 202, run
    return run


def refused(plumbd, analysis, parameters):
    status, answer = post(plumbd, "run", {"analysis": analysis, "parameters": parameters})
    assert status == 400, answer
    return answer["error"]


def runs(plumbd):
    return plumbd.ask("shell/runs")["runs"]


def run_of(plumbd, run):
    return next(row for row in runs(plumbd) if row["id"] == run["id"])


class Events:
    """The output of a run as it comes."""

    def __init__(self, plumbd, run, after=None):
        self.connection = connect(plumbd)
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        self.connection.request("GET", f"/api/v1/shell/output?id={run['id']}", headers=headers)
        self.reply = self.connection.getresponse()
        assert self.reply.status == 200, self.reply.read()
        assert self.reply.headers["Content-Type"] == "text/event-stream"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def __iter__(self):
        """(number, name, data) of each event."""
        number = name = None
        for line in self.reply:
            key, _, value = line.decode().rstrip("\n").partition(": ")
            number = int(value) if key == "id" else number
            name = value if key == "event" else name
            if key == "data":
                yield number, name, json.loads(value)


def output(plumbd, run, after=None):
    """(lines, how it ended)"""
    with Events(plumbd, run, after) as events:
        *lines, (_, name, end) = events
    assert name == "end" and {name for _, name, _ in lines} <= {"line"}
    first = (after or 0) + 1
    assert [number for number, _, _ in lines] == list(range(first, first + len(lines)))
    return [line for _, _, line in lines], end


def typed(plumbd, plumb_program, *arguments, columns=140):
    """Lines of plumb in a terminal of that width."""
    environment = {"PLUMB_SERVER": plumbd.http, "LC_ALL": "C.UTF-8", "COLUMNS": str(columns)}
    done = subprocess.run([plumb_program, *arguments], env=environment, capture_output=True, text=True, timeout=60)
    return (done.stdout + done.stderr).splitlines()


def children_of(pid):
    """{pid: command line}"""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
            if parent == pid:
                found[int(stat.parent.name)] = (stat.parent / "cmdline").read_bytes().split(b"\0")[:-1]
    return found


@contextlib.contextmanager
def waiting_run(plumbd, analysis="functions", source="127.0.0.1", **parameters):
    """A run whose question waits, since an export that nobody reads has the only thread of its peer."""
    with readers_that_stop(plumbd, ["127.0.0.1"]):
        run = begin(plumbd, analysis, source, **parameters)
        wait_for(lambda: all(children_of(plumbd.process.pid).values()))  # a program that begins has no arguments yet
        yield run


@pytest.fixture
def make_slow(make_shell):
    def make(**settings):
        return make_shell(http__query_threads="1", http__timeout="5m", **settings).start()

    return make


# ---- the list ----


def test_the_list_has_the_words_of_plumb(shell, plumb_program):
    def words(*arguments):
        done = subprocess.run([plumb_program, "--words", *arguments], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    listed = {row["analysis"]: row["parameters"] for row in shell.ask("shell/analyses")["analyses"]}
    assert set(listed) == set(words()) - COMMANDS_LEFT_OUT
    for analysis, parameters in listed.items():
        options = {}
        for line in words(analysis):
            name, *choices = line.split()
            if name.strip("-=") not in OPTIONS_LEFT_OUT:
                options[name] = choices
        mine = {
            f"--{row['name']}" + ("" if row["kind"] == "flag" else "="): row.get("choices", [])
            for row in parameters
            if not row["argument"]
        }
        assert mine == options, analysis


def test_each_analysis_is_understood_by_plumb(shell):
    """With every parameter that it may have: plumb may find nothing, but not fault the command line."""
    of_kind = {"flag": True, "number": 1, "list": ["a", "b"]}
    of_text = {
        "time": "1h",
        "duration": "1s",
        "number": "0.5",
        "role": "client",
        "pattern": "1234",
        "trace": "1" * 16,
        "span": "1" * 32,
    }
    named = {"a": "2h..1h", "b": "1h..", "ratio": "2"}
    exclude_each_other = {("nodes", name) for name in ("on-host", "predict", "on")} | {("diff", "stage")}
    exclude_each_other |= {("advise", name) for name in ("since", "until", "simulate", "node", "limits")}
    for row in shell.ask("shell/analyses")["analyses"]:
        parameters = {}
        for one in row["parameters"]:
            text = named.get(one["name"]) or of_text.get(one.get("of"), "11")
            value = one["choices"][0] if one["kind"] == "choice" else of_kind.get(one["kind"], text)
            if (row["analysis"], one["name"]) not in exclude_each_other:
                parameters[one["name"]] = value
        run = begin(shell, row["analysis"], **parameters)
        lines, end = output(shell, run)
        assert end.get("exit_code") != 2, (run["command"], lines)
        assert end["state"] in ("done", "failed") and lines, (end, lines)


# ---- runs ----


def counted(line):
    """How many rows the statistics have depends on what plumbd put together meanwhile."""
    return re.sub(r"^\d+ rows of statistics", "rows of statistics", line)


def test_the_lines_are_those_of_plumb(shell, plumb_program):
    load(shell, traces=20)
    shell.flush()
    for analysis, parameters, arguments in [
        ("functions", {"sort": "calls", "limit": 3}, ["functions", "--sort=calls", "--limit=3"]),
        ("trace", {"id": "0000000000000003", "fold": True}, ["trace", "--fold", "0000000000000003"]),
        ("verify", {}, ["verify"]),
        ("traces", {"min-duration": "100h"}, ["traces", "--min-duration=100h"]),
    ]:
        run = begin(shell, analysis, **parameters)
        assert (run["analysis"], run["by"]) == (analysis, "anonymous")
        assert run["command"] == " ".join(["plumb", *arguments])
        lines, end = output(shell, run)
        assert [counted(line) for line in lines] == [counted(line) for line in typed(shell, plumb_program, *arguments)]
        assert (end["state"], end["exit_code"], end["lines"]) == ("done", 0, len(lines))
        assert run_of(shell, run) == end
        assert f"begins run {run['id']}: {run['command']}" in shell.messages()
    lines, end = output(shell, begin(shell, "trace", id="1234567812345678"))
    assert (end["state"], end["exit_code"]) == ("failed", 1)
    assert lines == typed(shell, plumb_program, "trace", "1234567812345678")


def test_lines_are_as_wide_as_is_asked(shell):
    load(shell, traces=3)
    shell.flush()
    widths = {}
    for columns in (60, 200):
        _, run = post(shell, "run", {"analysis": "functions", "columns": columns})
        widths[columns] = max(map(len, output(shell, run)[0]))
    assert widths[60] <= 60 < widths[200] <= 200


def test_whoever_comes_back_goes_on(shell):
    load(shell)
    run = begin(shell, "status")
    lines, end = output(shell, run)
    assert len(lines) > 10
    for after in (0, 7, len(lines), len(lines) + 5):
        assert output(shell, run, after) == (lines[after:], end)
    status, body = shell.fetch(f"/api/v1/shell/output?id={run['id']}&after=3")
    assert status == 200 and body.decode().count("event: line") == len(lines) - 3
    for query, wanted in [("id=1", 404), ("", 400), (f"id={run['id']}&after=x", 400), ("id=%", 400)]:
        assert shell.fetch(f"/api/v1/shell/output?{query}")[0] == wanted


def test_a_reader_sees_lines_before_the_end(make_slow):
    """And two readers the same."""
    plumbd = make_slow()
    with waiting_run(plumbd) as run:
        with Events(plumbd, run) as first, Events(plumbd, run) as second:
            assert run_of(plumbd, run)["state"] == "running"
            status, stopped = post(plumbd, "stop", {"id": run["id"]})
            assert (status, stopped["id"]) == (202, run["id"])
            for events in first, second:
                assert [(name, data["state"]) for _, name, data in events] == [("end", "stopped")]
        assert not children_of(plumbd.process.pid)
        assert post(plumbd, "stop", {"id": run["id"]})[0] == 202  # nothing happens
        assert "why" not in run_of(plumbd, run)


def test_the_child_has_nothing_that_it_does_not_need(make_slow, plumb_program):
    plumbd = make_slow()
    with waiting_run(plumbd, exclude=["$(touch /tmp/x)", "; ls"], limit=3):
        ((pid, command),) = children_of(plumbd.process.pid).items()
        assert command == [b"plumb", b"functions", b"--exclude=$(touch /tmp/x)", b"--exclude=; ls", b"--limit=3", b"--"]
        proc = Path(f"/proc/{pid}")
        assert Path(os.readlink(proc / "exe")) == plumb_program.resolve()
        variables = dict(one.split(b"=", 1) for one in (proc / "environ").read_bytes().split(b"\0") if one)
        assert set(variables) == {b"PLUMB_SERVER", b"PLUMB_LEASH", b"LC_ALL", b"COLUMNS"}
        assert variables[b"PLUMB_SERVER"].startswith(b"unix:@plumbd-")
        opened = [os.readlink(fd) for fd in (proc / "fd").iterdir()]
        assert not [name for name in opened if str(plumbd.folder) in name], opened
        limits = (proc / "limits").read_text()
        for limit in ("cpu time +301 +302", "file size +0 +0", "core file size +0 +0", "open files +64 +64"):
            assert re.search(f"^Max {limit} ", limits, re.M), limits
        assert (proc / "oom_score_adj").read_text() == "1000\n"
        assert os.getpgid(pid) == pid and os.getpriority(os.PRIO_PROCESS, pid) >= 10


def test_nobody_else_uses_the_socket_of_the_children(make_slow):
    plumbd = make_slow()
    with waiting_run(plumbd):
        ((pid, _),) = children_of(plumbd.process.pid).items()
        (name,) = re.findall(rb"PLUMB_SERVER=unix:@([^\0]+)", Path(f"/proc/{pid}/environ").read_bytes())
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(b"\0" + name)
            connection.settimeout(60)
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert connection.recv(100) == b""


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_no_child_outlives_plumbd(make_slow, how):
    plumbd = make_slow()
    with waiting_run(plumbd):
        ((pid, _),) = children_of(plumbd.process.pid).items()
        child = os.pidfd_open(pid)
        if how == "kill":
            plumbd.kill()
        else:
            assert plumbd.stop() == 0
        with contextlib.suppress(ProcessLookupError):  # it is a zombie of nobody, or gone
            wait_for(lambda: not alive(pid))
        os.close(child)
    assert "Sanitizer" not in plumbd.messages()


def alive(pid):
    """Does it run? Whoever inherits it may not have waited for it yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


# ---- who may ----


def test_only_our_page_may_begin_and_stop(shell):
    wanted = {"analysis": "status"}
    own = f"http://{shell.http}"
    for headers, status in [
        ({"Origin": None}, 400),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": own.replace("http:", "https:")}, 202),  # TLS may end before us
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 421),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": None}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "application/json; charset=utf-8"}, 202),
    ]:
        for path in ("run", "stop"):
            answer = post(shell, path, wanted, **headers)
            assert answer[0] == (404 if (path, status) == ("stop", 202) else status), (path, headers, answer)
    for path in ("run", "stop"):
        assert shell.fetch(f"/api/v1/shell/{path}")[0] == 405
    for path in ("runs", "analyses", "output"):
        assert shell.fetch(f"/api/v1/shell/{path}", "POST")[0] == 405
    wait_for(lambda: all(run["state"] == "done" for run in runs(shell)))
    assert len(runs(shell)) == 2


def test_wrong_requests(shell):
    for body in ("", "[]", "{", '{"analysis": 3}', '{"analysis": "status", "analysis": "slow"}', b"\xff", "[" * 5000):
        assert post(shell, "run", body)[0] == 400, body
    for analysis in ("", "import", "export", "token", "watch", "no-such", "status; ls", "../plumb", "--help"):
        assert "shell/analyses" in refused(shell, analysis, {})
    assert post(shell, "run", {"analysis": "status", "parameters": []})[0] == 400
    assert post(shell, "run", b" " * 70_000)[0] == 413
    for columns in (39, 401, -1, "80", None, 1e9):
        assert "columns" in post(shell, "run", {"analysis": "status", "columns": columns})[1]["error"]

    cases = [
        ("functions", {"limit": "3"}, "limit"),
        ("functions", {"limit": -1}, "limit"),
        ("functions", {"limit": 2**40}, "limit"),
        ("functions", {"limit": True}, "limit"),
        ("functions", {"sort": "calls; ls"}, "sort"),
        ("functions", {"bytes": "yes"}, "bytes"),
        ("functions", {"host": ""}, "host"),
        ("functions", {"host": "a\nb"}, "host"),
        ("functions", {"host": "\x1b[2J"}, "host"),
        ("functions", {"host": "x" * 1025}, "host"),
        ("functions", {"host": ["a"]}, "host"),
        ("functions", {"exclude": "a"}, "exclude"),
        ("functions", {"exclude": ["a"] * 17}, "exclude"),
        ("functions", {"exclude": ["a", 3]}, "exclude"),
        ("why", {}, "what is needed"),
        ("diff", {"b": "1h.."}, "a is needed"),
    ]
    for analysis, parameters, said in cases:
        assert said in refused(shell, analysis, parameters)
    for option in sorted(OPTIONS_LEFT_OUT | {"output", "--store", "limit=1", "", "Limit"}):
        for analysis in ("forest", "trace", "why"):
            assert "parameter" in refused(shell, analysis, {option: "x"})
    assert runs(shell) == []


def test_an_argument_is_never_an_option(shell, plumb_program):
    for value in ("--store=/etc", "-h", "--", "--help", "--server=evil.example"):
        lines, end = output(shell, begin(shell, "why", what=value))
        assert end["exit_code"] == 1, (value, lines)  # there is no such application
        assert end["command"] == f"plumb why -- {value}"
        assert lines == typed(shell, plumb_program, "why", "--", value)


# ---- limits ----


def test_so_many_at_once(make_slow):
    plumbd = make_slow(shell__at_once="3", shell__per_peer="2")
    with waiting_run(plumbd) as first:
        begin(plumbd, "traces")
        status, answer = post(plumbd, "run", {"analysis": "slow"})
        assert status == 429 and "shell.per-peer" in answer["error"]
        load_other = post(plumbd, "run", {"analysis": "status"}, "127.0.0.2")
        assert load_other[0] == 202  # which may end at once: another peer's thread is free
        assert post(plumbd, "stop", {"id": first["id"]})[0] == 202
        wait_for(lambda: run_of(plumbd, first)["state"] == "stopped")
        begin(plumbd, "slow")


def test_too_many_of_all(make_slow):
    plumbd = make_slow(shell__at_once="1", shell__per_peer="1")
    with waiting_run(plumbd):
        status, answer = post(plumbd, "run", {"analysis": "slow"}, "127.0.0.2")
        assert status == 429 and "shell.at-once" in answer["error"]


def test_one_that_takes_too_long_is_ended(make_slow):
    plumbd = make_slow(shell__time_limit="1s")
    with waiting_run(plumbd) as run:
        _, end = output(plumbd, run)
        assert (end["state"], "shell.time-limit" in end["why"]) == ("cut", True)
        assert "exit_code" not in end
        assert not children_of(plumbd.process.pid)


def test_one_that_writes_too_much_is_ended(make_shell):
    plumbd = make_shell(shell__output_limit="4K").start()
    load(plumbd, traces=200, spans=2)
    plumbd.flush()
    lines, end = output(plumbd, begin(plumbd, "traces", limit=0))
    assert (end["state"], "shell.output-limit" in end["why"]) == ("cut", True)
    assert 3000 < sum(len(line.encode()) + 1 for line in lines) <= 4097
    assert output(plumbd, begin(plumbd, "apps"))[1]["state"] == "done"


def test_one_that_needs_too_much_memory_fails(make_plumbd, plumb_program, build_dir):
    if build_dir.name not in ("default", "release", "debug"):
        pytest.skip("a sanitizer takes terabytes of addresses")
    plumbd = make_plumbd(shell__program=plumb_program, shell__memory="16M").start()
    _, end = output(plumbd, begin(plumbd, "status"))
    assert end["state"] == "failed"


def test_only_the_last_are_kept(shell):
    begun = []
    for _ in range(23):
        begun.append(begin(shell, "apps"))
        output(shell, begun[-1])
    assert [run["id"] for run in runs(shell)] == [run["id"] for run in reversed(begun[3:])]
    assert shell.fetch(f"/api/v1/shell/output?id={begun[0]['id']}")[0] == 404


def test_so_many_in_a_minute(make_shell):
    plumbd = make_shell(shell__per_peer="64", shell__at_once="64").start()
    statuses = [post(plumbd, "run", {"analysis": "apps"})[0] for _ in range(61)]
    assert statuses == [202] * 60 + [429]


def test_readers_are_limited(make_slow):
    plumbd = make_slow()
    with waiting_run(plumbd) as run, contextlib.ExitStack() as stack:
        for _ in range(16):
            stack.enter_context(Events(plumbd, run))
        assert plumbd.fetch(f"/api/v1/shell/output?id={run['id']}")[0] == 429
        stack.close()
        wait_for(lambda: try_events(plumbd, run))


def try_events(plumbd, run):
    with contextlib.suppress(AssertionError), Events(plumbd, run):
        return True


# ---- without ----


def test_switched_off(make_shell):
    plumbd = make_shell(shell__enabled="no").start()
    listed = plumbd.ask("shell/analyses")
    assert listed["enabled"] is False and "shell.enabled" in listed["why"]
    assert post(plumbd, "run", {"analysis": "status"}) == (403, {"error": listed["why"]})
    assert runs(plumbd) == []


def test_without_plumb(make_plumbd):
    plumbd = make_plumbd(shell__program="/nowhere/plumb").start()
    assert "/nowhere/plumb" in plumbd.ask("shell/analyses")["why"]
    assert post(plumbd, "run", {"analysis": "status"})[0] == 403


def test_where_anybody_comes_in(make_shell):
    """An address that other hosts reach, without a login: only when somebody says so."""
    open_to_all = {"listen__http": "0.0.0.0:0", "listen__insecure": "yes"}
    plumbd = make_shell(**open_to_all).start()
    plumbd.http = plumbd.http.replace("0.0.0.0", "127.0.0.1")
    assert "listen.insecure" in plumbd.ask("shell/analyses")["why"]
    assert post(plumbd, "run", {"analysis": "status"})[0] == 403
    plumbd = make_shell(**open_to_all, shell__enabled="yes").start()
    plumbd.http = plumbd.http.replace("0.0.0.0", "127.0.0.1")
    assert output(plumbd, begin(plumbd, "status"))[1]["state"] == "done"


def test_a_stop_ends_streams(make_slow):
    plumbd = make_slow()
    with waiting_run(plumbd) as run, Events(plumbd, run) as events:
        plumbd.signal(signal.SIGTERM)
        with contextlib.suppress(http.client.IncompleteRead, ConnectionError):
            assert [data["state"] for _, _, data in events if isinstance(data, dict)] in ([], ["stopped"])
        assert plumbd.wait() == 0


def test_hostile_names_in_lines(shell):
    """Lines are JSON in the stream: no name begins an event."""
    with Sender(shell) as sender:
        name = "a\n\nevent: end\ndata: {}\n\n\u2028<b>"
        assert sender.deliver([span(1, 1)], strings=[name, *STRINGS[1:]]).status == OK
    shell.flush()
    lines, end = output(shell, begin(shell, "functions"))
    assert end["state"] == "done" and not [line for line in lines if "\n" in line]
    assert any("event: end" in line for line in lines)
