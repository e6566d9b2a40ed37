"""Workloads that bench/workload runs: on a real Spark, in one JVM."""

import json
import subprocess
from pathlib import Path

import pytest

from bench.studies import workload_runs
from bench.studies.real_stages import simple
from bench.studies.workloads import CREATE, lead, longer
from bench.workloads.main import main
from bench.workloads.program import submit, tpch_tables
from bench.workloads.results import table
from bench.workloads.sizes import NAMES, SIZE_NAMES, SIZES
from script.spark.standalone import DEFAULT_SPARK

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["--set", "lines=2000", "--set", "partitions=2"]


def said(lines):
    return {one["step"]: one for one in map(json.loads, lines)}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Of wordcount in one JVM, by each collector of operations."""
    into = tmp_path_factory.mktemp("workloads")
    for way in ("--local", "--rules"):
        done = subprocess.run(
            [ROOT / "bench/workload", "wordcount", way, *SMALL, "--into", into],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return into


def test_wordcount_leaves_what_is_known_of_it(runs):
    folder = runs / "wordcount-local-1"
    about = json.loads((folder / "run.json").read_text())
    assert about["workload"] == "wordcount" and about["sizes"]["lines"] == 2000
    assert about["said"][0]["step"] == "run" and about["said"][0]["seconds"] > 0
    events = [json.loads(line) for line in (folder / "events").read_text().splitlines()]
    tasks = [event for event in events if event["Event"] == "SparkListenerTaskEnd"]
    waited = json.loads((folder / "waited.json").read_text())
    assert len(tasks) == waited["requests"] > 0
    assert waited["operations"][0]["function"] == "SparkTask"
    assert not list(runs.glob(".*"))
    row = table(runs).splitlines()[-1].strip("| ").split(" | ")
    assert row[:4] == ["wordcount", "lines=2000", "2", str(len(tasks))]
    assert all(float(cell) >= 0 for cell in row[4:8]) and int(row[8]) > len(tasks)


def test_both_collectors_measure_the_same_operations(runs, tmp_path):
    """Each class of each stage, by the agent and by rules; the study keeps a case of each run, and needs no more."""
    done = subprocess.run(
        [ROOT / "bench/study", "workloads", "--from", runs, "--into", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    cases = workload_runs.read(runs)
    assert [(case["name"], case["collector"]) for case in cases] == [
        ("wordcount-local-1", "agent"),
        ("wordcount-rules-1", "rules"),
    ]
    seen = [[[simple(one) for one in stage["operations"]] for stage in case["stages"]] for case in cases]
    assert seen[0] == seen[1] and [len(stage) for stage in seen[0]] == [5, 2]
    assert cases[0]["waited"] and not cases[1]["waited"]
    for case in cases:
        path = tmp_path / f"{case['name']}{workload_runs.SUFFIX}"
        path.write_bytes((runs / path.name).read_bytes())
    assert workload_runs.read(tmp_path) == cases
    report = (tmp_path / "workloads/report.md").read_text()
    assert "Operations' time by class, by both collectors" in report and "stage-wordcount.svg" in report


def test_who_leads_of_one_run_by_its_own_seconds():
    def row(function, share, low, high):
        return {"function": function, "role": "client", "share": share, "share_low": low, "share_high": high}

    rows = [
        row("SparkTask", 0.6, 0.5, 0.7),
        row("RDD:HadoopRDD", 0.2, 0.1, 0.3),
        row(CREATE, 0.10, 0.08, 0.12),
        row("sendBlock", 0.05, 0.01, 0.09),
    ]
    case = {"waited": {"functions": rows, "seconds": 40}}
    assert lead(case, CREATE) == (pytest.approx(0.05), pytest.approx(-0.01), pytest.approx(0.11), 40)
    assert lead(case, "sendBlock").value == pytest.approx(-0.05)
    assert lead(case, "DFSInputStream#read").value == pytest.approx(-0.10)
    one, two = ({"mean_ns": mean, "mean_ns_low": low, "mean_ns_high": high} for mean, low, high in (
        (90.0, -5.0, 100.0), (30.0, 20.0, 40.0)))  # fmt: skip
    rows += [{**rows[0], **one, "function": "opened"}, {**rows[0], **two, "function": "asked", "role": "namenode"}]
    assert longer([case], "opened", "asked") == (3, 0, 5, 40)


def test_terasort_sorts(tmp_path):
    """Ten bytes of each of 3,000 rows, over all files."""
    words = ["terasort", f"file://{tmp_path}", "generate,run,check", "rows=3000", "partitions=3"]
    properties = {"spark.ui.enabled": "false"}
    steps = said(submit(DEFAULT_SPARK, "local[2]", words, properties=properties, log=tmp_path / "log"))
    assert (steps["check"]["rows"], steps["check"]["out of order"]) == (3000, 0)
    assert len(list((tmp_path / "output").glob("part-*"))) == 3


def test_tpch_has_its_tables(tmp_path):
    tpch_tables(0.001, tmp_path / "tables")
    tables = {path.name: path.read_bytes()[:4] for path in (tmp_path / "tables").iterdir()}
    assert len(tables) == 8 and tables["lineitem.parquet"] == b"PAR1"


def test_each_workload_has_its_sizes():
    assert set(NAMES) - {"tpch"} == {
        "wordcount", "sort", "terasort", "kmeans", "bayes", "lr", "svm", "pca", "nweight", "pagerank", "aggregation",
        "join", "scan",
    }  # fmt: skip
    for name in NAMES:
        assert list(SIZES[name]) == SIZE_NAMES and len({tuple(size) for size in SIZES[name].values()}) == 1


def test_what_cannot_be(capsys):
    for arguments, message in (
        (["weather"], "invalid choice: 'weather'"),
        (["sort", "--set", "rows=1"], "KEY=N with KEY of partitions, lines"),
        (["sort", "--set", "lines=0"], "N at least 1"),
        (["all", "--set", "lines=1"], "KEY=N with KEY of partitions, N"),
        (["sort", "scan", "--set", "lines=1"], "KEY=N with KEY of partitions, N"),
        (["sort", "all"], "all, table and list stand alone"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2 and message in capsys.readouterr().err
