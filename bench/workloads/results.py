"""What came out of recorded runs of workloads, as a table."""

import json
import subprocess

from bench.workloads.sizes import NAMES
from script.spark.truth import tasks_of

COLUMNS = ["workload", "size", "stages", "tasks", "task s", "seconds", "HDFS %", "NameNode %", "spans", "said"]


def runs_of(into, stem):
    """Folders of runs, in their order; cases of them may lie beside them."""
    found = [path for path in into.glob(f"{stem}-[0-9]*") if path.is_dir()]
    return sorted(found, key=lambda path: int(path.name.rsplit("-", 1)[1]))


def spans_in(path):
    """How many lines."""
    with subprocess.Popen(["zstd", "-dc", path], stdout=subprocess.PIPE) as plain:
        return sum(1 for _ in plain.stdout)


def hdfs_share(waited):
    """Of the tasks' critical path: whatever is neither the task itself nor an operation of Spark."""
    return sum(one["share"] for one in waited.get("functions", []) if not of_spark(one["function"]))


def of_spark(function):
    return function == "SparkTask" or function.startswith("RDD:")


def row_of(folder):
    about = json.loads((folder / "run.json").read_text())
    waited = json.loads((folder / "waited.json").read_text())
    tasks = [task for task in tasks_of(folder / "events") if task.good]
    said = {key: value for key, value in about["said"][0].items() if key not in ("workload", "step", "seconds")}
    namenode = sum(wait["share"] for wait in waited.get("waits", []) if wait.get("role") == "namenode")
    sizes = " ".join(f"{key}={value}" for key, value in about["sizes"].items() if value and key != "partitions")
    return [
        about["workload"],
        sizes,
        len({(task.stage, task.attempt) for task in tasks}),
        len(tasks),
        f"{sum(task.end_ms - task.begin_ms for task in tasks) / 1e3:.1f}",
        f"{about['said'][0]['seconds']:.1f}",
        f"{100 * hdfs_share(waited):.0f}",
        f"{100 * namenode:.1f}",
        spans_in(folder / "spans.jsonl.zst"),
        " ".join(f"{key} {value:.6g}" for key, value in said.items()) or "-",
    ]


def table(into):
    """Markdown: the last run of each workload; of those that did not run on HDFS, of one JVM."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|---|" + "--:|" * 7 + "---|"]
    for name in NAMES:
        runs = runs_of(into, name) or runs_of(into, f"{name}-local")
        if runs:
            lines.append(f"| {' | '.join(map(str, row_of(runs[-1])))} |")
    return "\n".join(lines)
