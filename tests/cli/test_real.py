"""Commands against a real plumbd and its store: what goes in comes out, and both ways to ask give the same."""

import gzip
import json
import re
import socket
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import ENVIRONMENT, PLUMB, ROOT, run_plumb
from tests.cli.real import Plumbd, by_id, json_lines, make_spans

SPANS = make_spans(200)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled")
    (folder / "spans.json").write_text(json_lines(SPANS))
    daemon = Plumbd(folder)
    done = daemon.plumb("import", folder / "spans.json")
    assert done.returncode == 0, done.stderr
    yield daemon
    daemon.clean_up()
    assert "Sanitizer" not in daemon.messages(), daemon.messages()


def trace_ids():
    return sorted({span["a"][:16] for span in SPANS})


def test_open_traces_are_told(tmp_path):
    """What plumbd holds open is in no statistics: whoever asks in the first seconds is told so."""
    (tmp_path / "spans.json").write_text(json_lines(make_spans(3, seed=5)))
    daemon = Plumbd(tmp_path, trace__idle="1h", trace__max_age="1h")
    try:
        assert daemon.plumb("import", "--no-flush", tmp_path / "spans.json").returncode == 0
        daemon.wait_for("open_traces", 3)
        for command in ("functions", "forest", "traces"):
            done = daemon.plumb(command)
            assert done.returncode == 0 and "3 traces are still open" in done.stdout, done.stdout + done.stderr
            assert "still open" not in daemon.plumb(command, "--json").stdout
        daemon.flush()
        assert "still open" not in daemon.plumb("functions").stdout
    finally:
        daemon.clean_up()


QUESTIONS = {
    "functions": ["functions"],
    "functions by host": ["functions", "--by", "host", "--sort", "calls"],
    "functions of a role": ["functions", "--role", "datanode,namenode"],
    "functions of a period": ["functions", "--since", "2020-11-21T10:00:00Z", "--until", "2020-11-21T10:00:05Z"],
    "functions by bytes": ["functions", "--sort", "bytes"],
    "forest": ["forest"],
    "forest without some": ["forest", "--exclude", "default", "--exclude", "DFSOutputStream#write", "--limit", "0"],
    "forest of traces": ["forest", "--level", "tree", "--limit", "5"],
    "traces": ["traces", "--limit", "0", "--sort", "duration"],
    "traces of a path": ["traces", "--path", "part-00007"],
    "trace": ["trace", trace_ids()[0]],
    "trace of a span": ["trace", SPANS[0]["a"]],
    "diff of traces": ["diff", *trace_ids()[:2]],
    "diff of periods": ["diff", "..2020-11-21T10:00", "2020-11-21T10:00.."],
    "verify": ["verify"],
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_store_and_server_agree(name, filled):
    """The store is read beside the plumbd that writes it. Hours and days are summed up meanwhile: rows of which the
    disk may not know yet."""
    by_http = filled.plumb(*QUESTIONS[name], "--json")
    by_store = run_plumb(*QUESTIONS[name], "--json", "--store", filled.store)
    assert by_http.returncode == by_store.returncode == 0, by_http.stderr + by_store.stderr
    asked, read = json.loads(by_http.stdout), json.loads(by_store.stdout)
    if name == "verify":
        assert asked.pop("rows") > 0 and read.pop("rows") > 0
        assert asked == read
        return
    assert asked == read
    assert filled.plumb(*QUESTIONS[name]).stdout == run_plumb(*QUESTIONS[name], "--store", filled.store).stdout != ""


def test_every_sort_of_every_command_is_known(filled):
    """What --sort offers is what the questions understand."""
    for command, more in (
        ("functions", ["--by", "host,minute"]),
        ("forest", []),
        ("traces", []),
        ("diff", ["..2020-11-22", "2020-11-22.."]),
    ):
        words = run_plumb("--words", command).stdout.splitlines()
        (sorts,) = [line.split()[1:] for line in words if line.startswith("--sort=")]
        for sort in sorts:
            done = filled.plumb(command, *more, "--sort", sort)
            assert done.returncode == 0, done.stderr


def test_functions_are_sorted(filled):
    for sort, field in (("calls", "calls"), ("max", "max_ns"), ("self", "self_ns")):
        rows = json.loads(filled.plumb("functions", "--sort", sort, "--json").stdout)["functions"]
        values = [row[field] for row in rows]
        assert values == sorted(values, reverse=True) and len(values) == 5


def test_counts_are_those_of_the_spans(filled):
    rows = json.loads(filled.plumb("functions", "--json").stdout)["functions"]
    expected = {}
    for span in SPANS:
        name = "sendBlock" if span["d"].startswith("sendBlock_") else span["d"]
        calls, total = expected.get(name, (0, 0))
        expected[name] = (calls + 1, total + (span["e"] - span["b"]) * 1000000)
    assert {row["function"]: (row["calls"], row["total_ns"]) for row in rows} == expected


def test_status(filled):
    by_http, by_store = (
        json.loads(done.stdout)
        for done in (filled.plumb("status", "--json"), run_plumb("status", "--json", "--store", filled.store))
    )
    assert by_http["store"]["spans"] == by_store["store"]["spans"] == len(SPANS)
    assert by_http["receiver"]["spans_received"] == len(SPANS)
    (sender,) = by_http["receiver"]["senders"]
    assert sender["sender"].startswith("plumb import/") and sender["spans_sent"] == len(SPANS)
    assert "receiver" not in by_store


def test_export_is_what_was_imported(filled):
    assert by_id(filled.exported()) == {span["a"]: span for span in SPANS}
    by_store = run_plumb("export", "--store", filled.store)
    assert sorted(by_store.stdout.splitlines()) == filled.exported()


@pytest.mark.parametrize("ending", ["json", "json.gz", "json.zst"])
def test_export_import_export(ending, filled, tmp_path):
    path = tmp_path / f"spans.{ending}"
    done = filled.plumb("export", "--output", path, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["spans"] == len(SPANS)
    assert stat.S_IMODE(path.stat().st_mode) & 0o400
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    other = Plumbd(tmp_path)
    try:
        assert other.plumb("import", path).returncode == 0
        assert other.exported() == filled.exported()
        strip = {"since_time_ns", "until_time_ns"}
        forests = [json.loads(daemon.plumb("forest", "--limit", "0", "--json").stdout) for daemon in (filled, other)]
        assert [{k: v for k, v in forest.items() if k not in strip} for forest in forests][0] == {
            k: v for k, v in forests[1].items() if k not in strip
        }
    finally:
        other.clean_up()


def test_a_folder_without_a_log(tmp_path):
    (tmp_path / "events").mkdir()
    done = run_plumb("import", "--store", tmp_path / "own", tmp_path / "events")
    assert done.returncode == 0 and "no event log is there" in done.stdout, done


def test_records_of_spark_come_along(tmp_path):
    """An application in a store of its own, exported, into a plumbd: the same answers, and again the same records."""
    store, path = tmp_path / "own", tmp_path / "records.json.zst"
    log = ROOT / "tests/data/spark/4.3.0/executor_lost.zstd"
    done = run_plumb("import", "--store", store, log)
    assert done.returncode == 0, done.stderr
    done = run_plumb("export", "--store", store, "--output", path, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["spans"], report["records"] > 20) == (0, True)
    other = Plumbd(tmp_path)
    try:
        done = other.plumb("import", path, "--json")
        assert done.returncode == 0, done.stderr
        sent = json.loads(done.stdout)
        assert (sent["bad_values"], sent["records_refused"]) == (0, 0)
        assert sent["records_sent"] == sent["records_accepted"] == report["records"]
        for question in (
            ["apps"],
            ["stages", "latest"],
            ["tasks", "latest"],
            ["stragglers", "latest"],
            ["why", "latest"],
        ):
            by_store = run_plumb(*question, "--limit", "0", "--json", "--store", store)
            by_http = other.plumb(*question, "--limit", "0", "--json")
            assert by_store.returncode == by_http.returncode == 0, by_store.stderr + by_http.stderr
            assert without_now(by_http.stdout) == without_now(by_store.stdout), question
        exported = run_plumb("export", "--store", store).stdout.splitlines()
        assert other.exported() == sorted(exported) and len(exported) == report["records"]
        assert "records of Spark" in other.plumb("import", path).stdout
        assert other.exported() == sorted(exported)
    finally:
        other.clean_up()


def without_now(document):
    """How long an application has been silent, and when an answer is final, depends on when one asks."""
    return re.sub(r'"(silent|final_in)_ns": ?\d+', "", document)


def test_export_of_a_period(filled):
    done = filled.plumb("export", "--since", "2020-11-21T10:00:01Z", "--until", "2020-11-21T10:00:02Z")
    roots = [span for span in map(json.loads, done.stdout.splitlines()) if span["d"] == "FsShell#put"]
    assert len(roots) == 20


def test_export_leaves_the_old_file_when_it_fails(closed_port, tmp_path):
    path = tmp_path / "spans.json"
    path.write_text("old")
    done = run_plumb("export", "--server", closed_port, "--output", path)
    assert done.returncode == 1
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["spans.json"]


def test_export_that_breaks_off_is_no_file(canned, tmp_path):
    canned.answer(json_lines(SPANS).encode())
    canned.cut = True  # the connection ends before all that was promised came
    path = tmp_path / "spans.json"
    done = run_plumb("export", "--server", canned.address, "--output", path)
    assert done.returncode == 1 and "broke" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_pipe_that_closes_ends_quietly(filled):
    done = subprocess.run(
        f"set -o pipefail; {PLUMB} export --server {filled.http} | head -n 1 | wc -l",
        shell=True,
        executable="/bin/bash",
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "1" and done.stderr == ""


def test_a_repeated_import_changes_nothing(filled, tmp_path):
    before = filled.plumb("forest", "--limit", "0").stdout
    path = tmp_path / "again.gz"
    path.write_bytes(gzip.compress(json_lines(SPANS[:500]).encode()))
    done = filled.plumb("import", path)
    assert done.returncode == 0, done.stderr
    assert filled.plumb("forest", "--limit", "0").stdout == before
    assert filled.plumb("verify").returncode == 0


def test_forest_with_an_analysis_file(filled, tmp_path):
    path = tmp_path / "analysis.conf"
    path.write_text("[analysis]\nexclude=default\nroles=client;datanode\n[functions]\nnamenode=FsShell#put\n")
    forest = json.loads(filled.plumb("forest", "--config", path, "--json").stdout)
    nodes = [node for pattern in forest["patterns"] for node in pattern["nodes"]]
    names = {node["function"] for node in nodes}
    assert names == {"FsShell#put", "DFSOutputStream#write", "sendBlock"}
    assert {node["role"] for node in nodes if node["function"] == "FsShell#put"} == {"namenode"}
    assert "FsShell#put" in filled.plumb("forest", "--config", path).stdout


def test_the_environment_names_the_server(filled):
    assert run_plumb("status", env={"PLUMB_SERVER": filled.http}).returncode == 0


def test_the_folder_that_holds_the_store(filled):
    """/var/lib/plumbline and script/server --data DIR hold the store and the journal."""
    folder = Path(filled.store).parent
    assert Path(filled.store).name == "store"
    done = run_plumb("functions", "--store", folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == run_plumb("functions", "--store", filled.store).stdout != ""


def test_the_port_for_spans_is_not_that_for_questions(filled):
    done = run_plumb("status", "--server", filled.thrift_address)
    assert done.returncode == 1 and "listen.http" in done.stderr and filled.thrift_address in done.stderr


def test_an_import_to_a_web_server(filled, tmp_path):
    (tmp_path / "spans").write_text(json_lines(SPANS[:1]))

    def answer(listening):
        while True:
            try:
                connection = listening.accept()[0]
            except OSError:  # the test is over
                return
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                while connection.recv(65536):
                    pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer, args=(listening,), daemon=True)
        thread.start()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        done = run_plumb("import", "--thrift", address, "--server", filled.http, tmp_path / "spans")
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert done.returncode == 1 and "listen.thrift" in done.stderr and address in done.stderr


def test_no_such_trace(filled):
    for where in (["--server", filled.http], ["--store", filled.store]):
        done = run_plumb("trace", "0123456789abcdef", *where)
        assert done.returncode == 1 and "0123456789abcdef" in done.stderr


def test_chrome_and_dot_of_every_trace(filled):
    for trace in trace_ids()[:20]:
        spans = {span["a"] for span in SPANS if span["a"].startswith(trace)}
        events = json.loads(filled.plumb("trace", trace, "--chrome").stdout)["traceEvents"]
        assert {event["args"]["span"] for event in events if event["ph"] == "X"} == spans
        dot = filled.plumb("trace", trace, "--dot").stdout
        assert all(f'"{span}" [label=' in dot for span in spans)
