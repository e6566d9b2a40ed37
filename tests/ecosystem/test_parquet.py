"""Parquet as docs/ecosystem.md says: its commands and its SQL, by DuckDB, which reads it back."""

import json
import re
import subprocess

import pytest

from script.hdfs.jars import python_package
from tests.conftest import ROOT
from tests.ecosystem.conftest import send_work

DUCKDB = "2.0.1"
SECTION = (ROOT / "docs/ecosystem.md").read_text().split("## Parquet")[1]
SQL = re.search(r"```sql\n(.*?)```", SECTION, re.S).group(1)
COMMANDS = re.findall(r"^    plumb (.*) >(\S+)$", SECTION, re.M)
RUN = "import duckdb, json, sys; print(json.dumps(duckdb.sql(sys.stdin.read()).fetchall()))"
RUN_ALL = "import duckdb, sys; duckdb.execute(sys.stdin.read())"


@pytest.fixture(scope="module")
def duckdb(tmp_path_factory):
    """duckdb(SQL, folder) gives the rows; with rows=False it runs several statements."""
    packages = python_package(f"duckdb=={DUCKDB}", f"duckdb-{DUCKDB}")

    def run(sql, folder, rows=True):
        done = subprocess.run(
            ["/usr/bin/python3", "-c", RUN if rows else RUN_ALL],
            input=sql,
            capture_output=True,
            text=True,
            cwd=folder,
            env={"PYTHONPATH": str(packages), "HOME": str(folder)},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if rows else None

    return run


def test_from_csv_and_export(plumbd, plumb_program, duckdb, tmp_path):
    send_work(plumbd, range(2))
    assert [file for _, file in COMMANDS] == ["functions.csv", "traces.csv", "spans.json"]
    for command, file in COMMANDS:
        words = command.replace("--since 1d", "").split()
        with open(tmp_path / file, "w") as out:
            subprocess.run([plumb_program, *words, "--server", plumbd.http], stdout=out, check=True)
    duckdb(SQL, tmp_path, rows=False)

    functions = plumbd.ask("functions?limit=0")["functions"]
    read = duckdb("SELECT function, role, calls, total_ns, max_ns FROM 'functions.parquet'", tmp_path)
    columns = ("function", "role", "calls", "total_ns", "max_ns")
    assert sorted(map(tuple, read)) == sorted(tuple(row[column] for column in columns) for row in functions)

    traces = plumbd.ask("traces?limit=0")["traces"]
    read = duckdb("SELECT trace, duration_ns, pattern FROM 'traces.parquet'", tmp_path)
    assert sorted(map(tuple, read)) == sorted((row["trace"], row["duration_ns"], row["pattern"]) for row in traces)

    spans = plumbd.export()
    read = duckdb(
        "SELECT span, begin_time_ns, duration_ns, annotations->>'resource.host.name' FROM 'spans.parquet'", tmp_path
    )
    assert sorted(map(tuple, read)) == sorted(
        (span["a"], int(span["bn"]), int(span["en"]) - int(span["bn"]), span["n"].get("resource.host.name"))
        for span in spans
    )
    joined = "SELECT count(*) FROM 'spans.parquet' JOIN 'traces.parquet' USING (trace)"
    assert duckdb(joined, tmp_path) == [[len(spans)]]
