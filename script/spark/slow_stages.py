"""Stages that a fault makes slow for everybody: which of a Spark application were, by its event log, and whether `plumb
why` says so."""

from collections import namedtuple

from script.spark.truth import tasks_of

# As `plumb why` counts: "all" means nothing of fewer.
TASKS_LEAST = 4
# The network of a DataNode shows as that, or as its threads that wait for the socket (docs/spark-faults.md).
RESOURCES = {"disk": {"disk"}, "network": {"network", "server"}, "processor": {"server", "disk", "network"}}

StageTime = namedtuple("StageTime", "stage begin_ms end_ms tasks")


def stage_times(log):
    """[StageTime] of an event log, of the stages that can be judged."""
    by_stage = {}
    for task in tasks_of(log):
        by_stage.setdefault(task.stage, []).append(task)
    return [
        StageTime(stage, min(task.begin_ms for task in tasks), max(task.end_ms for task in tasks), len(tasks))
        for stage, tasks in sorted(by_stage.items())
        if len(tasks) >= TASKS_LEAST
    ]


def together(stage, begin_ms, end_ms):
    """The share of the stage's time in which the fault was there."""
    shared = min(stage.end_ms, end_ms) - max(stage.begin_ms, begin_ms)
    return max(0, shared) / max(stage.end_ms - stage.begin_ms, 1)


def judge_stages(stages, fault_ms, named, host, layers):
    """What `plumb why` names (its "stages") against what is true: a stage is slow when the fault, from fault_ms[0] to
    fault_ms[1], was there for half of its time or more; of one that it touched for less nothing is expected.

    {"slow", "found": of these, "well", "wrong": [[stage, host, resource]]}: of a slow stage whatever else is named, of
    one that the fault did not touch anything, of the others another host. Stages that cannot be judged do not count."""
    resources = set().union(*(RESOURCES[layer] for layer in layers if layer in RESOURCES))
    suspects = {row["stage"]: row["suspect"] for row in named if "suspect" in row}
    shares = {stage.stage: together(stage, *fault_ms) for stage in stages}
    slow = [stage for stage, share in shares.items() if share >= 0.5]
    right = [
        stage
        for stage in slow
        if stage in suspects and suspects[stage].get("host") == host and suspects[stage].get("resource") in resources
    ]
    return {
        "slow": len(slow),
        "found": len(right),
        "well": sum(share == 0 for share in shares.values()),
        "wrong": [
            [stage, suspect.get("host", "?"), suspect.get("resource", "?")]
            for stage, suspect in suspects.items()
            if stage in shares
            and stage not in right
            and (stage in slow or shares[stage] == 0 or suspect.get("host") != host)
        ],
    }
