"""What a study needs of the runs that bench/workload leaves: a case for each, some kilobytes, kept beside the runs so
that the tables come without them.

    DIR/NAME-N.case.json.gz    of the folder DIR/NAME-N
"""

import gzip
import json

from bench.studies.load_runs import only, write_whole
from script.spark.truth import tasks_of

SUFFIX = ".case.json.gz"
WAIT = ["role", "resource", "share", "share_low", "share_high", "decided"]
FUNCTION = ["function", "role", "calls", "total_ns", "mean_ns", "mean_ns_low", "mean_ns_high", *WAIT[2:]]
STAGE = ["stage", "pipelines", "coverage", "pattern", "source"]
OPERATION = ["class", "rdd", "instances", "mean_ms", "share", "cv", "top_instances", "saves_ms"]
RUN = ["workload", "collector", "sizes", "spark", "hadoop", "environment"]


def rounded(row):
    """Six digits are more than anything here is known to."""
    return {name: float(f"{value:.6g}") if isinstance(value, float) else value for name, value in row.items()}


def stage_of(stage):
    clusters = stage.get("clusters", {})
    return {
        **rounded(only(stage, STAGE)),
        "operations": [rounded(only(one, OPERATION)) for one in stage["operations"]],
        "silhouettes": rounded(clusters.get("silhouettes", {})),
        "apart_p": rounded(clusters.get("apart_p", {})),
        "apart": rounded(clusters.get("apart", {})),
    }


def waited_of(waited):
    return {
        **only(waited, ["requests", "response_ns", "seconds"]),
        "waits": [rounded(only(one, WAIT)) for one in waited.get("waits", [])],
        "functions": [rounded(only(one, FUNCTION)) for one in waited.get("functions", [])],
    }


def pipelines_of(answer):
    return {
        "stage": answer["stage"],
        "operations": [only(one, ["rdd", "class"]) for one in answer["operations"]],
        "ms": [[round(value, 3) for value in one["operations_ms"]] for one in answer["pipelines"]],
    }


def case_of(folder):
    about = json.loads((folder / "run.json").read_text())
    tasks = [task for task in tasks_of(folder / "events") if task.good]
    operations = json.loads((folder / "operations.json").read_text())
    waited = folder / "waited.json"
    return {
        **only(about, RUN),
        "name": folder.name,
        "seconds": about["said"][0]["seconds"],
        "tasks": len(tasks),
        "task_s": sum(task.end_ms - task.begin_ms for task in tasks) / 1e3,
        "waited": waited_of(json.loads(waited.read_text())) if waited.exists() else None,
        "stages": [stage_of(stage) for stage in operations["stages"]],
        "pipelines": [pipelines_of(one) for one in json.loads((folder / "pipelines.json").read_text())],
    }


def read(folder):
    """Cases of all runs in a folder, by name; of runs that have none they are made."""
    for run in sorted(path.parent for path in folder.glob("[!.]*/operations.json")):
        path = folder / f"{run.name}{SUFFIX}"
        if not path.exists():
            write_whole(path, case_of(run))
    return [json.loads(gzip.decompress(path.read_bytes())) for path in sorted(folder.glob(f"*{SUFFIX}"))]
