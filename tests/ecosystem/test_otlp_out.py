"""plumb trace --otlp: OpenTelemetry's own protobuf package reads it, and plumbd takes it back to the same tree."""

import json
import re
import subprocess

import pytest

from tests.conftest import ROOT
from tests.ecosystem.test_otlp import post
from tests.receiver.sender import OK, Sender, span


def trace_as_otlp(plumb_program, plumbd, trace):
    command = [plumb_program, "trace", trace, "--otlp", "--server", plumbd.http]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def add_hdfs(plumbd, trace, parent, begin):
    """Calls of HDFS below a span of the trace."""
    strings = ["read", "FSClient/10.0.0.5/42", "getFileInfo", "NameNode/10.0.0.1/77"]
    ours = [
        span(trace, 101, 0, begin, 5000, parent=parent),
        span(trace, 102, 2, begin + 10, 1001, parent=101, tracer=3),
    ]
    with Sender(plumbd) as sender:
        assert sender.deliver(ours, strings=strings).status == OK
    plumbd.flush()


@pytest.fixture
def shown(plumbd, otel_app, plumb_program):
    """(id, what is stored of it, its OTLP JSON): of a shop under OpenTelemetry whose trace goes on in an HDFS."""
    sent = otel_app(plumbd)["spans"]
    page = next(one for one in sent if one["name"] == "GET /order")
    trace = page["trace"][16:]
    add_hdfs(plumbd, int(trace, 16), int(page["span"], 16), page["begin"])
    return page, plumbd.ask(f"trace?id={trace}"), trace_as_otlp(plumb_program, plumbd, trace)


def tree(document):
    """What must be the same."""
    fields = ("span", "parents", "depth", "function", "role", "process", "host", "pid", "begin_time_ns", "duration_ns")
    return [
        {**{field: row.get(field) for field in fields}, "notes": row.get("notes"), "flags": row.get("flags")}
        for row in document["spans"]
    ]


def test_opentelemetry_reads_it(shown, run_app, tmp_path):
    page, stored, text = shown
    (tmp_path / "json").write_text(text)
    read = {one["span"]: one for one in run_app("otlp_read.py", tmp_path / "json", tmp_path / "protobuf")}
    assert len(read) == len(stored["spans"]) >= 4
    assert {one["trace"] for one in read.values()} == {page["trace"]}  # all 128 bits, of all spans
    for row in stored["spans"]:
        one = read[row["span"][16:]]
        assert (one["begin"], one["end"] - one["begin"]) == (row["begin_time_ns"], row["duration_ns"])
        assert one["parent"] == (row["parents"][0][16:] if row["parents"] else "")
        assert one["events"] == len(row.get("notes", []))
    names = {(one["service"], one["name"]) for one in read.values()}
    assert names >= {("shop/web", "GET /order"), ("FSClient", "read"), ("NameNode", "getFileInfo")}


@pytest.mark.parametrize("form", ["json", "protobuf"])
def test_it_comes_back(shown, make_plumbd, run_app, tmp_path, form):
    """To another plumbd, as it is and as OpenTelemetry's package writes it: the same tree, and all that was noted."""
    _, stored, text = shown
    (tmp_path / "json").write_text(text)
    run_app("otlp_read.py", tmp_path / "json", tmp_path / "protobuf")
    other = make_plumbd().start()
    kind = "application/json" if form == "json" else "application/x-protobuf"
    status, _, body = post(other, (tmp_path / form).read_bytes(), kind)
    assert status == 200, body
    assert json.loads(body) == {} if form == "json" else body == b""
    other.flush()

    again = other.ask(f"trace?id={stored['trace']}")
    assert tree(again) == tree(stored)
    for row, new in zip(stored["spans"], again["spans"], strict=True):
        noted, now = row.get("annotations", {}), new.get("annotations", {})
        own = {key: value for key, value in noted.items() if not key.startswith(("resource.", "trace_id."))}
        assert own.items() <= now.items()


def times(line):
    return line.get("bn", line["b"] * 10**6), line.get("en", line["e"] * 10**6)


def test_export(make_plumbd, otel_app, plumb_program, build_dir, tmp_path):
    """All that is stored, as lines of requests, goes into another plumbd."""
    plumbd = make_plumbd().start()
    sent = otel_app(plumbd)["spans"]
    load = [build_dir / "bench/bench_load", "--model", ROOT / "bench/model/hdfs-3.3.1.jsonl", "--nanoseconds"]
    where = ["--thrift", f"{plumbd.thrift[0]}:{plumbd.thrift[1]}", "--spans", "20000", "--hosts", "20"]
    subprocess.run([*load, *where], check=True, capture_output=True)
    plumbd.flush()

    file = tmp_path / "spans.jsonl"
    command = [plumb_program, "export", "--otlp", "--output", file, "--server", plumbd.http, "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert report["spans"] == plumbd.stored()["spans"] and report["json_bytes"] == file.stat().st_size
    lines = file.read_text().splitlines()
    assert len(lines) > 1

    other = make_plumbd().start()
    for line in lines:
        status, _, body = post(other, line.encode())
        assert (status, json.loads(body)) == (200, {})
    other.flush()
    ours, theirs = ({line["a"]: line for line in exported.export()} for exported in (plumbd, other))
    assert ours.keys() == theirs.keys()
    for one, again in ((line, theirs[a]) for a, line in ours.items()):
        assert (times(one), one["r"]) == (times(again), again["r"])
        assert [parent for parent in one["p"] if parent[:16] == one["a"][:16]][:1] == again["p"]
        assert again["d"] in (one["d"], f"{one['r'].split('/')[0]}: {one['d']}")
    # The upper half of the ids, which OpenTelemetry's traces have.
    assert {one["trace"] for one in sent} <= set(re.findall(r'"traceId":"(\w+)"', file.read_text()))
