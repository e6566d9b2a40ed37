"""Workloads that bench/workload runs: on a real Spark, in one JVM."""

import json
import subprocess
from pathlib import Path

import pytest

from bench.workloads.main import main
from bench.workloads.program import submit, tpch_tables
from bench.workloads.results import table
from bench.workloads.sizes import NAMES, SIZE_NAMES, SIZES
from script.spark.standalone import DEFAULT_SPARK

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["--set", "lines=2000", "--set", "partitions=2"]


def said(lines):
    return {one["step"]: one for one in map(json.loads, lines)}


def test_wordcount_leaves_what_is_known_of_it(tmp_path):
    done = subprocess.run(
        [ROOT / "bench/workload", "wordcount", "--local", *SMALL, "--into", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "wordcount-1"
    about = json.loads((folder / "run.json").read_text())
    assert about["workload"] == "wordcount" and about["sizes"]["lines"] == 2000
    assert about["said"][0]["step"] == "run" and about["said"][0]["seconds"] > 0
    events = [json.loads(line) for line in (folder / "events").read_text().splitlines()]
    tasks = [event for event in events if event["Event"] == "SparkListenerTaskEnd"]
    waited = json.loads((folder / "waited.json").read_text())
    assert len(tasks) == waited["requests"] > 0
    assert waited["operations"][0]["function"] == "SparkTask"
    assert not list(tmp_path.glob(".*"))
    row = table(tmp_path).splitlines()[-1].strip("| ").split(" | ")
    assert row[:4] == ["wordcount", "lines=2000", "2", str(len(tasks))]
    assert all(float(cell) >= 0 for cell in row[4:8]) and int(row[8]) > len(tasks)


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
        (["all", "--set", "lines=1"], "--set is of one workload"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2 and message in capsys.readouterr().err
