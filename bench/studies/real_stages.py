"""Stages of jobs that a real Spark ran with the agent (record.py): patterns, and which operations are on top more often
than they are there."""

from collections import defaultdict

from bench.studies import pictures
from bench.studies.figures import bootstrap
from bench.studies.programs import flush, plumbd
from bench.studies.record import runs_in

# Below it a stage's letter says nothing.
TASKS_LEAST = 8
# Of table 13: how many of the instances on top are of each class, in all workloads.
PUBLISHED_TOP = {
    "MapPartitions": 10085, "Hadoop": 2075, "Shuffled": 716, "PartitionwiseSampled": 614, "ZippedPartitionsRDD2": 145,
    "CoGrouped": 47, "VertexRDDImpl": 13, "Union": 12, "Sliding": 12, "NewHadoop": 3,
}  # fmt: skip


def stages_of(build, folder):
    """[(job, a stage as the question "operations" has it)]."""
    found = []
    for job, log, spans in runs_in(folder):
        with plumbd(build) as daemon:
            daemon.spans(spans)
            daemon.bridge(log)
            flush(daemon)
            found += [(job, stage) for stage in daemon.ask("operations", app="latest", limit=1)["stages"]]
    return found


def simple(operation):
    return operation["class"].rsplit(".", 1)[-1].removesuffix("RDD")


def apart(stage):
    """Features of the JVM that are apart beyond chance, the least p first."""
    p = stage.get("clusters", {}).get("apart_p", {})
    return [name for _, name in sorted((value, name) for name, value in p.items() if value < 0.01)]


def add_patterns(report, stages):
    rows = []
    for job, stage in stages:
        first = max(stage["operations"], key=lambda one: one["share"])
        rows.append(
            [
                job,
                stage["stage"],
                stage["pipelines"],
                stage.get("coverage"),
                stage["pattern"] if stage["pipelines"] >= TASKS_LEAST else f"({stage['pattern']})",
                f"{simple(first)} {first.get('rdd', '')}".strip(),
                first["share"],
                first["cv"],
                ", ".join(apart(stage)) or "-",
            ]
        )
    columns = ["job", "stage", "tasks", "coverage", "pattern", "dominant", "its share", "cv", "apart of the JVM"]
    report.table("stages", "Stages that a real Spark ran", columns, rows)


def lift(stages, name):
    """(share among the top instances) / (share of all) of a class, over all stages."""
    top = of_top = here = of_all = 0
    for stage in stages:
        for one in stage["operations"]:
            of_top, of_all = of_top + one["top_instances"], of_all + one["instances"]
            if simple(one) == name:
                top, here = top + one["top_instances"], here + one["instances"]
    return (top / of_top) / (here / of_all) if here and of_top else float("nan")


def add_lift(report, stages):
    stages = [stage for _, stage in stages if stage["pipelines"] >= TASKS_LEAST]
    counts = defaultdict(lambda: [0, 0, 0.0])
    for stage in stages:
        for one in stage["operations"]:
            of = counts[simple(one)]
            of[0], of[1], of[2] = (
                of[0] + one["instances"],
                of[1] + one["top_instances"],
                of[2] + one["saves_ms"] / 1000,
            )
    rows, lifts = [], []
    for name, (instances, top, saves_s) in sorted(counts.items(), key=lambda item: (-item[1][1], item[0])):
        ours = bootstrap(stages, lambda drawn, name=name: lift(drawn, name))
        rows.append([name, instances, top, PUBLISHED_TOP.get(name, 0), *ours[:3], saves_s])
        lifts.append((name, *ours[:3]))
    columns = ["class", "instances", "on top", "published on top", "lift", "low", "high", "saves s"]
    report.table("lift", "Operations on top, and how much more often than they are there (as table 13)", columns, rows)
    title = "Share among the top tenth by the share of all"
    report.picture("lift", title, pictures.intervals(title, "lift", lifts, (1,)))


def add_real(report, folder):
    stages = stages_of(report.build, folder)
    add_patterns(report, stages)
    add_lift(report, stages)
