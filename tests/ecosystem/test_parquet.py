"""plumb export --parquet, by the real program duckdb: read back by DuckDB and by pandas with PyArrow."""

import json
import os
import signal
import struct
import subprocess

import pytest

from script.hdfs.jars import python_package
from script.hdfs.spark import spark_home
from tests.ecosystem.conftest import BEGIN, MINUTE, send_work
from tests.ecosystem.test_otlp import a_span, attribute, post, spans_body
from tests.receiver.test_versions import varint
from tests.receiver.waiting import wait_for

DUCKDB = "1.5.6"
FILES = ["functions.parquet", "spans.parquet", "traces.parquet"]
SPARK = "4.3.0"
PANDAS = "pandas==3.1.1 pyarrow==26.0.1 numpy==2.4.6 python-dateutil==4.0.0 six==1.17.0 tzdata==2026.6"
PANDAS_READS = """
import json, sys
import pandas
names = ("spans", "traces", "functions")
spans, traces, functions = (pandas.read_parquet(f"{sys.argv[1]}/{name}.parquet") for name in names)
hard = dict(spans[spans.function.str.contains("DROP")].annotations.iloc[0])
print(json.dumps({
    "types": [str(spans[name].dtype) for name in ("begin_time_ns", "duration_ns")],
    "spans": len(spans), "traces": len(traces), "functions": len(functions),
    "begin": int(pandas.to_datetime(spans.begin_time_ns, unit="ns").min().value),
    "hard": {key: value for key, value in hard.items() if key.startswith("a")},
}))
"""
SPARK_READS = """
import json, sys
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
spark = SparkSession.builder.getOrCreate()
spans, traces = (spark.read.parquet(f"file://{sys.argv[1]}/{name}.parquet") for name in ("spans", "traces"))
row = spans.join(traces.select("trace"), "trace").agg(
    F.count("*").alias("joined"),
    F.countDistinct(F.col("host")).alias("hosts"),
    F.count(F.col("annotations")["a'b"]).alias("hard"),
    F.max("duration_ns").alias("longest")).first()
print(json.dumps(row.asDict()))
"""


@pytest.fixture(scope="module")
def duckdb():
    """The program."""
    program = python_package(f"duckdb-cli=={DUCKDB}", f"duckdb-cli-{DUCKDB}") / "duckdb_cli/duckdb"
    program.chmod(0o755)
    return program


@pytest.fixture(scope="module")
def rows(duckdb):
    """rows(SQL, folder) gives the rows."""

    def run(sql, folder):
        done = subprocess.run([duckdb, "-json", "-c", sql], capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout or "[]")

    return run


@pytest.fixture(scope="module")
def work(plumbd_program, tmp_path_factory):
    """send_work() of two minutes, and a trace whose texts are hard to quote and whose id has 128 bits."""
    from tests.conftest import Plumbd

    plumbd = Plumbd(plumbd_program, tmp_path_factory.mktemp("work")).start()
    send_work(plumbd, range(2))
    trace = 0x5B8EFFF798038103 << 64 | 0xABC
    hard = a_span(
        trace,
        1,
        name='it\'s "hard" ; DROP TABLE x -- \\ \n é',
        startTimeUnixNano=str(BEGIN + 123),
        endTimeUnixNano=str(BEGIN + 456),
        attributes=[attribute("a'b", "x,y\n'z'"), attribute("a", "1")],
    )
    times = {"startTimeUnixNano": str(BEGIN + 200), "endTimeUnixNano": str(BEGIN + 300)}
    child = a_span(trace, 2, name="below", parentSpanId=f"{1:016x}", **times)
    assert post(plumbd, spans_body(hard, child, service="shop", **{"host.name": "web'1"}))[0] == 200
    plumbd.flush()
    yield plumbd
    plumbd.clean_up()


@pytest.fixture
def export(plumb_program, work, duckdb):
    def run(folder, *options, program=None, of=work):
        where = ["--duckdb", program or duckdb, "--server", of.http]
        command = [plumb_program, "export", "--parquet", folder, *options, *where]
        return subprocess.run(command, capture_output=True, text=True)

    return run


def test_all(work, export, rows, tmp_path):
    folder = tmp_path / "it's a 'folder'"
    done = export(folder, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    spans, traces = work.export(), work.ask("traces?limit=0")["traces"]
    functions = work.ask("functions?limit=0")["functions"]
    assert (report["spans"], report["traces"], report["functions"]) == (len(spans), len(traces), len(functions))
    assert sorted(os.listdir(folder)) == FILES
    assert report["bytes"] == sum((folder / name).stat().st_size for name in FILES)

    columns = ("function", "role", "calls", "total_ns", "max_ns", "exact_quantiles")
    read = rows(f"SELECT {', '.join(columns)} FROM 'functions.parquet'", folder)
    key = json.dumps
    assert sorted(read, key=key) == sorted(({name: row[name] for name in columns} for row in functions), key=key)
    columns = ("trace", "begin_time_ns", "duration_ns", "pattern", "incomplete")
    read = rows(f"SELECT {', '.join(columns)} FROM 'traces.parquet'", folder)
    assert sorted(read, key=key) == sorted(({name: row[name] for name in columns} for row in traces), key=key)

    read = rows("SELECT * REPLACE (to_json(annotations) AS annotations) FROM 'spans.parquet'", folder)
    assert len(read) == len(spans)
    stored = {span["a"]: span for span in spans}
    for row in read:
        span = stored[row["span"]]
        process, host = span["r"].split("/")[:2]
        assert (row["trace"], row["function"], row["parents"]) == (span["a"][:16], span["d"], span["p"])
        assert (row["process"], row["host"], row["pid"]) == (process, host, None)
        assert (row["begin_time_ns"], row["duration_ns"]) == (int(span["bn"]), int(span["en"]) - int(span["bn"]))
        notes = row["annotations"]
        assert (json.loads(notes) if isinstance(notes, str) else notes) == span["n"]
    hard = next(row for row in read if row["host"] == "web'1" and "DROP" in row["function"])
    assert hard["trace"] == f"{0xABC:016x}" and hard["duration_ns"] == 333

    joined = rows("SELECT count(*) AS n FROM 'spans.parquet' JOIN 'traces.parquet' USING (trace)", folder)
    assert joined == [{"n": len(spans)}]


def test_types(export, rows, tmp_path):
    """What other readers find: whole numbers of 64 bits, texts, a list, a map."""
    assert export(tmp_path / "out").returncode == 0
    types = {row["column_name"]: row["column_type"] for row in rows("DESCRIBE FROM 'out/spans.parquet'", tmp_path)}
    assert types == {
        **dict.fromkeys(("trace", "span", "function", "process", "host"), "VARCHAR"),
        **dict.fromkeys(("begin_time_ns", "duration_ns", "pid"), "BIGINT"),
        "parents": "VARCHAR[]",
        "annotations": "MAP(VARCHAR, VARCHAR)",
    }
    codecs = rows("SELECT DISTINCT compression FROM parquet_metadata('out/*.parquet')", tmp_path)
    assert codecs == [{"compression": "ZSTD"}]


@pytest.mark.parametrize(
    "options, where",
    [
        (["--function", "shop: below"], "trace = '0000000000000abc'"),
        (["--host", "dn2", "--role", "client"], "host = 'dn2' AND process = 'FSClient'"),
        (["--since", str(BEGIN + MINUTE)], f"begin_time_ns >= {BEGIN + MINUTE}"),
    ],
)
def test_chosen(work, export, rows, tmp_path, options, where):
    """Chosen traces have the same spans as in the export of all; the period is one of whole traces."""
    assert export(tmp_path / "all").returncode == 0
    done = export(tmp_path / "some", *options)
    assert done.returncode == 0, done.stderr
    wanted = f"FROM 'all/spans.parquet' WHERE trace IN (SELECT trace FROM 'all/spans.parquet' WHERE {where})"
    assert rows(f"SELECT count(*) AS n {wanted}", tmp_path)[0]["n"] > 0
    every = "SELECT trace, span, parents, function, process, host, pid, begin_time_ns, duration_ns, annotations"
    for one, other in (("{0} FROM 'some/spans.parquet'", "{0} {1}"), ("{0} {1}", "{0} FROM 'some/spans.parquet'")):
        difference = f"{one} EXCEPT {other}".format(every, wanted)
        assert rows(difference, tmp_path) == []
    traces = rows("SELECT DISTINCT trace FROM 'some/traces.parquet' ORDER BY trace", tmp_path)
    assert traces == rows("SELECT DISTINCT trace FROM 'some/spans.parquet' ORDER BY trace", tmp_path)


def test_repeated_keys(plumbd, export, rows, tmp_path):
    """Values of one key are a list, in the order they came, whether traces are chosen or not."""
    values = ['a"\\', "\u0001é/\x7f\n\t", "x,y", ""]
    attributes = [attribute("first", "[]"), *(attribute("k", value) for value in values[:3]), attribute("last", "z")]
    span = a_span(1, 1, attributes=[*attributes, attribute("k", values[3]), attribute("last", "z")])
    assert post(plumbd, spans_body(span, a_span(1, 2, attributes=[attribute("k", "a")])))[0] == 200
    plumbd.flush()
    read = []
    for name, options in (("all", []), ("chosen", ["--function", "shop: work"])):
        done = export(tmp_path / name, *options, of=plumbd)
        assert done.returncode == 0, done.stderr
        pairs = "SELECT span, map_entries(annotations) AS pairs FROM 'spans.parquet' ORDER BY span"
        read.append([dict((p["key"], p["value"]) for p in row["pairs"]) for row in rows(pairs, tmp_path / name)])
    assert read[0] == read[1]
    assert read[0][0]["first"] == "[]" and read[0][1]["k"] == "a"
    assert json.loads(read[0][0]["k"]) == values and json.loads(read[0][0]["last"]) == ["z", "z"]


def tagged(number, data):
    """A field of protobuf."""
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def test_a_span_of_many_bytes(plumbd, export, rows, tmp_path):
    """More than the 16 MiB of JSON that DuckDB takes unless it is told otherwise."""
    value = tagged(2, tagged(1, b"\x01" * 65536))
    attributes = [tagged(9, tagged(1, b"k%d" % number) + value) for number in range(300)]
    times = struct.pack("<BQBQ", 7 << 3 | 1, BEGIN, 8 << 3 | 1, BEGIN + 1)
    span = tagged(1, bytes(15) + b"\x01") + tagged(2, bytes(7) + b"\x01") + tagged(5, b"x") + times
    body = tagged(1, tagged(2, tagged(2, span + b"".join(attributes))))
    assert post(plumbd, body, kind="application/x-protobuf")[0] == 200
    plumbd.flush()
    done = export(tmp_path / "out", of=plumbd)
    assert done.returncode == 0, done.stderr
    sizes = "SELECT list_sum([len(v) FOR v IN map_values(annotations)])::BIGINT AS n FROM 'out/spans.parquet'"
    assert rows(sizes, tmp_path)[0]["n"] >= 300 * 65536


def test_without_duckdb(export, plumb_program, work, tmp_path):
    done = export(tmp_path / "out", program=tmp_path / "nothing")
    assert done.returncode == 1 and "there is no such program" in done.stderr
    command = [plumb_program, "export", "--parquet", tmp_path / "out", "--server", work.http]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/nonexistent"})
    assert done.returncode == 1 and "pip install duckdb-cli" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("breaks", ["exit 3", "echo 'no: space' >&2; exit 1", "cat >/dev/null; echo late >&2; exit 1"])
def test_nothing_half_written(export, tmp_path, breaks):
    """A duckdb that fails, before or behind the rows: the files of the last time stay, and nothing else."""
    assert export(tmp_path / "out").returncode == 0
    before = {name: (tmp_path / "out" / name).read_bytes() for name in FILES}
    program = tmp_path / "duckdb"
    program.write_text(f"#!/bin/sh\n{breaks}\n")
    program.chmod(0o755)
    done = export(tmp_path / "out", program=program)
    assert done.returncode == 1 and "duckdb failed: " in done.stderr
    assert ("late" in breaks) == ("late" in done.stderr) and ("space" in breaks) == ("space" in done.stderr)
    assert {name: (tmp_path / "out" / name).read_bytes() for name in sorted(os.listdir(tmp_path / "out"))} == before


@pytest.mark.parametrize("file", ["functions", "spans"])
def test_stopped(plumb_program, work, tmp_path, file):
    """SIGTERM while duckdb reads nothing, with few rows and with more than it takes: the program is ended, its file
    is taken away."""
    program = tmp_path / "duckdb"
    sleeps = f'*{file}.parquet*) echo $$ >"{tmp_path}/pid"; exec sleep 1000;;'
    program.write_text(f'#!/bin/sh\ncase "$5" in {sleeps} esac\nexec cat >/dev/null\n')
    program.chmod(0o755)
    command = [plumb_program, "export", "--parquet", tmp_path / "out", "--duckdb", program, "--server", work.http]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"))
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=20)
    assert running.returncode == 1 and "stopped" in said
    assert os.listdir(tmp_path / "out") == []
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_pandas(work, export, tmp_path):
    """pandas with PyArrow: numbers are numbers, times keep their nanoseconds, the map is a list of pairs."""
    packages = python_package(PANDAS, "pandas-3.1.1")
    assert export(tmp_path / "out").returncode == 0
    done = subprocess.run(
        ["/usr/bin/python3", "-c", PANDAS_READS, tmp_path / "out"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(packages)},
    )
    assert done.returncode == 0, done.stderr
    read, spans = json.loads(done.stdout), work.export()
    assert read["types"] == ["int64", "int64"]
    assert read["spans"] == len(spans) and read["begin"] == min(int(span["bn"]) for span in spans)
    assert read["hard"] == {"a": "1", "a'b": "x,y\n'z'"}
    assert (read["traces"], read["functions"]) == (
        len(work.ask("traces?limit=0")["traces"]),
        len(work.ask("functions?limit=0")["functions"]),
    )


def test_spark(work, export, tmp_path):
    """Spark joins spans with traces, and reads into the map."""
    assert export(tmp_path / "out").returncode == 0
    (tmp_path / "job.py").write_text(SPARK_READS)
    conf = ["--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=1"]
    command = [spark_home(SPARK) / "bin/spark-submit", "--master", "local[1]", *conf, tmp_path / "job.py"]
    done = subprocess.run(
        [*command, tmp_path / "out"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYSPARK_PYTHON": "/usr/bin/python3"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    read = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    spans = work.export()
    assert read["joined"] == len(spans)
    assert read["hosts"] == len({span["r"].split("/")[1] for span in spans})
    assert read["hard"] == 1
    assert read["longest"] == max(int(span["en"]) - int(span["bn"]) for span in spans)
