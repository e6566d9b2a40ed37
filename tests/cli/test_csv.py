"""--csv of each command with a table: read by Python's csv module, it has what --json has, cell by cell."""

import csv
import io
import json
import re

import pytest

from tests.cli.conftest import run_plumb
from tests.cli.real import Plumbd, json_lines, make_spans
from tests.cli.test_output import CASES, HARMFUL, spoilt

# What of a document is the table; "outer.inner": of each of the outer ones, behind what that says itself.
ROWS = {
    "apps": ["apps"],
    "contrast": ["rows"],
    "diff": ["rows", "stages"],
    "forest": ["patterns.nodes"],
    "functions": ["functions"],
    "executors": ["executors"],
    "hosts": ["hosts"],
    "jobs": ["jobs"],
    "marks": ["marks"],
    "names": ["names"],
    "nodes": ["nodes", "stages.hosts"],
    "operations": ["stages.operations"],
    "skew": ["pairs"],
    "slow": ["slow"],
    "stages": ["stages"],
    "status": ["senders"],
    "stragglers": ["stragglers"],
    "tasks": ["tasks"],
    "trace": ["spans"],
    "traces": ["traces"],
    "why": ["stragglers", "waits"],
}
DATA_NAMES = {"annotations", "drops", "properties", "refused"}
TABLES = [
    name for name, (_, command, env) in CASES.items() if command[0] in ROWS and not env and "--dot" not in command
]
NO_TABLES = {"status", "status_store"}


def in_bytes(run, *arguments):
    """What it printed, with its own ends of lines."""
    done = run(*arguments, stdin=b"")
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return done


def flat(row, prefix=""):
    """{column: value}"""
    cells = {}
    for name, value in row.items():
        if isinstance(value, dict) and name not in DATA_NAMES:
            cells.update(flat(value, f"{prefix}{name}."))
        else:
            cells[prefix + name] = value
    return cells


def rows_of(document, command):
    for path in ROWS[command]:
        outer, _, inner = path.partition(".")
        if outer not in document:
            continue
        if not inner:
            return [flat(row) for row in document[outer]]
        around = [({k: v for k, v in each.items() if k != inner}, each.get(inner, [])) for each in document[outer]]
        return [{**flat(row), **flat(each, f"{outer}.")} for each, inners in around for row in inners]
    return None


def read(text):
    """(header, rows as {column: text})"""
    lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert all(len(line) == len(lines[0]) for line in lines)
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def same(cell, value):
    """Is this what the cell of a value must be?"""
    if value is None:
        return cell == ""
    if isinstance(value, str):  # what commands a terminal is escaped, as in tables
        return cell == re.sub("[\x00-\x09\x0b-\x1f]", lambda harmful: f"\\x{ord(harmful[0]):02x}", value)
    return json.loads(cell) == value


def check(text, document, command):
    expected = rows_of(document, command)
    assert re.search(r"(?<!\r)\n\Z", text) is None  # lines end in CR LF
    if not expected:
        assert text == ""
        return
    table = read(text)
    assert len(table) == len(expected)
    assert set(table[0]) == {name for row in expected for name in row}
    for cells, row in zip(table, expected, strict=True):
        wrong = {name: cell for name, cell in cells.items() if not same(cell, row.get(name))}
        assert not wrong, row


@pytest.mark.parametrize("name", TABLES)
def test_it_is_what_json_is(name, canned):
    document, command, _ = CASES[name]
    canned.answer_file(document)
    as_json = run_plumb(*command, "--server", canned.address, "--json")
    as_csv = in_bytes(run_plumb, "--csv", "--server", canned.address, *command)
    if name in NO_TABLES:
        assert as_csv.returncode == 2 and "is no table" in as_csv.stderr
        return
    assert as_csv.returncode == as_json.returncode == 0, as_csv.stderr
    check(as_csv.stdout, json.loads(as_json.stdout), command[0])


@pytest.mark.parametrize("name", [name for name in TABLES if name not in NO_TABLES])
def test_hostile_text(name, canned):
    """It breaks no cell, and commands no terminal."""
    document, command, _ = CASES[name]
    canned.answer_file(document)
    whole = spoilt(json.loads(canned.body))
    canned.answer(whole)
    done = in_bytes(run_plumb, *command, "--server", canned.address, "--csv")
    assert done.returncode == 0, done.stderr
    assert not HARMFUL.search(done.stdout.replace("\r\n", "").replace("\n", ""))
    expected = rows_of(whole, command[0])
    assert len(read(done.stdout)) == len(expected) if expected else done.stdout == ""


def test_of_a_real_plumbd(tmp_path):
    (tmp_path / "spans.json").write_text(json_lines(make_spans(200)))
    plumbd = Plumbd(tmp_path)
    try:
        assert plumbd.plumb("import", tmp_path / "spans.json").returncode == 0
        plumbd.flush()
        trace = json.loads(plumbd.plumb("traces", "--json").stdout)["traces"][0]["trace"]
        for command in (["functions"], ["functions", "--by", "host"], ["traces"], ["trace", trace], ["forest"]):
            document = json.loads(plumbd.plumb(*command, "--json").stdout)
            check(in_bytes(plumbd.plumb, *command, "--csv").stdout, document, command[0])
        cut = in_bytes(plumbd.plumb, "functions", "--limit", "1", "--csv")
        assert len(read(cut.stdout)) == 1 and "there are more rows than these" in cut.stderr
    finally:
        plumbd.clean_up()


@pytest.mark.parametrize(
    "command, message",
    [
        (["functions", "--csv", "--json"], "--json and --csv exclude each other: give one"),
        (["trace", "4be1c2a09d3f5577", "--csv", "--dot"], "exclude each other: give one"),
        (["verify", "--csv"], "unknown option --csv"),
        (["export", "--csv"], "unknown option --csv"),
    ],
)
def test_mistakes(command, message):
    done = run_plumb(*command)
    assert done.returncode == 2 and message in done.stderr


# ---- answers whose lists of numbers become rows ----


def begins(document, numbers):
    return [document["since_time_ns"] + at * document["step_ns"] for at in numbers]


def rows_of_series(document):
    peers = {}
    for row in document.get("peers", []):
        peers[row["function"], row["role"]] = dict(zip(row["at"], row["medians"], strict=True))
    for row in document["series"]:
        names = {name: row[name] for name in ("function", "role", "host", "ratio") if name in row}
        medians = peers.get((row["function"], row["role"]), {})
        for at, value, calls in zip(row["at"], row["values"], row["calls"], strict=True):
            median = {"median": medians[at]} if at in medians else {}
            yield {
                **names,
                "begin_time_ns": begins(document, [at])[0],
                document["field"]: value,
                "calls": calls,
            } | median


def rows_of_distribution(document):
    unit = {"duration": "ns", "bytes": "bytes", "rate": "bytes_per_s"}[document["of"]]
    for column in document["columns"]:
        for at, calls in zip(column["at"], column["counts"], strict=True):
            low, high = document["edges"][at : at + 2]
            yield {"begin_time_ns": column["begin_time_ns"], f"from_{unit}": low, f"to_{unit}": high, "calls": calls}


def rows_of_samples(document):
    names = ("samples", "user", "system", "iowait", "steal", "disk", "rx_bytes_per_s", "tx_bytes_per_s")
    for i, begin in enumerate(begins(document, document["at"])):
        known = {name: document[name][i] for name in names if document[name][i] >= 0}
        yield {"host": document["host"], "begin_time_ns": begin, **known}


def rows_of_pipelines(document):
    for row in document["pipelines"]:
        names = {name: row[name] for name in ("task", "partition", "host", "duration_ms") if name in row}
        for operation, ms in zip(document["operations"], row["operations_ms"], strict=True):
            yield {**names, **operation, "operation_ms": ms}


UNFOLDED = {
    "series": rows_of_series,
    "distribution": rows_of_distribution,
    "samples": rows_of_samples,
    "pipelines": rows_of_pipelines,
}


@pytest.mark.parametrize("name", [n for n, (_, command, env) in CASES.items() if command[0] in UNFOLDED and not env])
def test_lists_of_numbers_become_rows(name, canned):
    document, command, _ = CASES[name]
    canned.answer_file(document)
    as_json = json.loads(run_plumb(*command, "--server", canned.address, "--json").stdout)
    as_csv = in_bytes(run_plumb, *command, "--server", canned.address, "--csv")
    assert as_csv.returncode == 0, as_csv.stderr
    expected = list(UNFOLDED[command[0]](as_json))
    assert ("none" in name) == (expected == [])
    if not expected:
        assert as_csv.stdout == ""
        return
    table = read(as_csv.stdout)
    assert set(table[0]) == {column for row in expected for column in row}
    for cells, row in zip(table, expected, strict=True):
        assert not [column for column, cell in cells.items() if not same(cell, row.get(column))], row
