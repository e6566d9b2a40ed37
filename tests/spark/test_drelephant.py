"""plumb advise --method drelephant against tables worked out by hand, for eight logs: of Spark 1.6, 2.4 and 3.0,
written here as these wrote them; of 3.5 and 4.3, recorded; one without executors, one of a driver that was killed, one
of an application that runs."""

import json
import subprocess

import pytest

from tests.conftest import ROOT

RECORDED = ROOT / "tests/data/spark"
MIB = 1 << 20
GIB = 1 << 30
MINUTE = 60000
BEGIN = 1600000000000
LARGE = 100 * MIB  # Dr. Elephant did not read logs above
KRYO = "org.apache.spark.serializer.KryoSerializer"
JAVA = "org.apache.spark.serializer.JavaSerializer"


def metrics(task):
    run = task["ms"]
    return {
        "Host Name": "w1",
        "Executor Deserialize Time": 5,
        "Executor Run Time": run,
        "JVM GC Time": round(run * task["gc"]),
        "Result Size": 10,
        "Memory Bytes Spilled": 0,
        "Disk Bytes Spilled": 0,
        "Shuffle Read Metrics": {"Remote Bytes Read": task.get("read", 0), "Local Bytes Read": 0},
        "Shuffle Write Metrics": {"Shuffle Bytes Written": task.get("write", 0), "Shuffle Write Time": 1},
        "Input Metrics": {"Data Read Method": "Hadoop", "Bytes Read": task.get("input", 0), "Records Read": 1},
    }


def task_end(version, number, task):
    event = {"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask"}
    event["Task End Reason"] = {"Reason": "Success"}
    if task.get("fails"):
        event["Task End Reason"] = {"Reason": "ExceptionFailure", "Class Name": "E", "Description": "no"}
    event["Task Info"] = {
        "Task ID": number,
        "Index": number,
        "Attempt": 0,
        "Launch Time": BEGIN,
        "Executor ID": task["executor"],
        "Host": "w1",
        "Locality": "PROCESS_LOCAL",
        "Speculative": False,
        "Getting Result Time": 0,
        "Finish Time": BEGIN + task["ms"],
        "Failed": bool(task.get("fails")),
        "Accumulables": [],
    }
    if not task.get("fails"):
        event["Task Metrics"] = metrics(task)
    if version < "2":
        del event["Stage Attempt ID"]
    return event


def written(version, properties, tasks, failed=False, hadoop=None):
    """The lines of one application of one job with one stage. The driver has a block manager, and is no executor."""
    stage = {
        "Stage ID": 0,
        "Stage Attempt ID": 0,
        "Stage Name": "count at Main.scala:5",
        "Number of Tasks": len(tasks),
        "RDD Info": [],
        "Parent IDs": [],
        "Details": "",
        "Submission Time": BEGIN,
    }
    ended = {**stage, "Completion Time": BEGIN + MINUTE, **({"Failure Reason": "tasks failed"} if failed else {})}
    environment = {"JVM Information": {"Java Version": "1.8"}, "Spark Properties": properties}
    if hadoop:
        environment["Hadoop Properties"] = hadoop
    block_manager = {"Executor ID": "driver", "Host": "d", "Port": 1}
    yield {"Event": "SparkListenerLogStart", "Spark Version": version}
    yield {"Event": "SparkListenerBlockManagerAdded", "Block Manager ID": block_manager, "Maximum Memory": 1}
    yield {"Event": "SparkListenerEnvironmentUpdate", **environment}
    yield {
        "Event": "SparkListenerApplicationStart",
        "App ID": "app-1",
        "App Name": "n",
        "Timestamp": BEGIN,
        "User": "u",
    }
    cores = int(properties.get("spark.executor.cores", 1))
    for executor in sorted({task["executor"] for task in tasks}):
        info = {"Host": "w1", "Total Cores": cores, "Log Urls": {}}
        yield {
            "Event": "SparkListenerExecutorAdded",
            "Timestamp": BEGIN,
            "Executor ID": executor,
            "Executor Info": info,
        }
    job = {"Job ID": 0, "Submission Time": BEGIN, "Stage IDs": [0], "Stage Infos": [stage]}
    yield {"Event": "SparkListenerJobStart", **job}
    yield {"Event": "SparkListenerStageSubmitted", "Stage Info": stage}
    for number, task in enumerate(tasks):
        yield task_end(version, number, task)
    if tasks:
        yield {"Event": "SparkListenerStageCompleted", "Stage Info": ended}
    result = {"Result": "JobFailed", "Exception": {"Message": "no"}} if failed else {"Result": "JobSucceeded"}
    yield {"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": BEGIN + MINUTE, "Job Result": result}
    yield {"Event": "SparkListenerApplicationEnd", "Timestamp": BEGIN + MINUTE}


def of_1_6():
    properties = {
        "spark.serializer": KRYO,
        "spark.dynamicAllocation.enabled": "true",
        "spark.shuffle.service.enabled": "true",
        "spark.dynamicAllocation.minExecutors": "2",
        "spark.executor.memory": "10g",
        "spark.executor.cores": "4",
        "spark.yarn.executor.memoryOverhead": "2048",
        "spark.yarn.secondary.jars": "lib/*",
    }
    inputs = [100, 100, 200, 2000]
    return written(
        "1.6.3",
        properties,
        [{"executor": str(i + 1), "ms": 20 * MINUTE, "gc": 0.1, "input": n * MIB} for i, n in enumerate(inputs)],
    )


def of_2_4():
    """Three of ten tasks fail, and the job with them. Its log has more than 100 MB."""
    properties = {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.maxExecutors": "900",
        "spark.executor.memory": "15g",
        "spark.executor.cores": "6",
        "spark.executor.memoryOverhead": "4g",
    }
    tasks = [{"executor": str(1 + i % 2), "ms": 10 * MINUTE, "gc": 0.2, "fails": i >= 7} for i in range(10)]
    yield from written("2.4.8", properties, tasks, failed=True)
    for _ in range(LARGE // MIB + 1):
        yield {"Event": "SparkListenerUnpersistRDD", "RDD ID": 1, "padding": "x" * MIB}


def of_3_0():
    properties = {
        "spark.serializer": JAVA,
        "spark.shuffle.service.enabled": "true",
        "spark.executor.memory": "24g",
        "spark.executor.cores": "8",
        "spark.executor.memoryOverhead": "6g",
    }
    node = {"yarn.nodemanager.resource.cpu-vcores": "16", "yarn.nodemanager.resource.memory-mb": str(64 * 1024)}
    minutes, inputs, reads, writes = [1, 1, 10, 18], [1, 1, 150, 200], [1, 1, 149, 200], [1, 1, 63, 200]
    tasks = [
        {
            "executor": str(i + 1),
            "ms": minutes[i] * MINUTE,
            "gc": 0.15,
            "input": inputs[i] * MIB,
            "read": reads[i] * MIB,
            "write": writes[i] * MIB,
        }
        for i in range(4)
    ]
    return written("3.0.3", properties, tasks, hadoop=node)


def without_executors():
    return written("3.5.6", {}, [], failed=True)


# (log, severity, score, {rule: severity of what is not "none"}, {rule: value}); "unknown" stands for what is not known.
UNKNOWN = dict.fromkeys(["resource skew", "storage memory"], "unknown")
DEFAULTS = {"serializer": "moderate", "shuffle service": "moderate", **UNKNOWN}
MEASURED = {
    rule: found for rule, found in DEFAULTS.items() if rule != "storage memory"
}  # of executors, at stages' ends
TABLES = [
    (
        of_1_6,
        "critical",
        40,  # of 4 tasks: configuration 16, executors 16, garbage collection 8
        {
            **UNKNOWN,
            "executor memory": "low",
            "executor cores": "low",
            "executor overhead": "low",
            "minExecutors": "critical",
            "jars with *": "critical",
            "input": "critical",  # 2000 / 200
            "stage run time": "low",  # 80 min / 4
            "garbage collection": "moderate",
        },
        {"stage run time": "20 min in stage 0", "garbage collection": "0.1"},
    ),
    (
        of_2_4,
        "critical",
        150,  # of 10 tasks: configuration 30, stages, jobs and garbage collection 40 each
        {
            **UNKNOWN,
            "serializer": "moderate",
            "shuffle service": "severe",
            "executor memory": "moderate",
            "executor cores": "moderate",
            "executor overhead": "moderate",
            "failed stages": "critical",
            "failed tasks of a stage": "moderate",  # 0.3: not only when all fail
            "stage run time": "moderate",  # 70 min of those that ended well / 2
            "failed jobs": "critical",
            "failed tasks of a job": "moderate",
            "garbage collection": "critical",
        },
        {"failed tasks of a stage": "0.3 in stage 0", "stage run time": "35 min in stage 0"},
    ),
    (
        of_3_0,
        "severe",
        36,  # of 4 tasks: configuration, executors and garbage collection 12 each
        {
            "storage memory": "unknown",
            "serializer": "moderate",
            "executor memory": "severe",
            "executor cores": "severe",
            "executor overhead": "severe",
            "task time": "moderate",  # 18 / 10 min
            "shuffle read": "low",  # 200 / 149
            "shuffle write": "severe",  # 200 / 63
            "garbage collection": "severe",
        },
        {"resource skew": "0.75"},  # (16 / 8) / (64 / 24)
    ),
    (
        without_executors,
        "critical",
        0,  # no task, no score
        {
            **DEFAULTS,
            **dict.fromkeys(["task time", "input", "shuffle read", "shuffle write"], "unknown"),
            "failed jobs": "critical",
        },
        {"failed stages": "0 (0 of 1)"},
    ),
    (
        "3.5.6/failed_tasks.zstd",
        "moderate",
        20,
        {**MEASURED, "failed tasks of a stage": "low", "failed tasks of a job": "low"},  # 2 of 10
        {"failed tasks of a stage": "0.2 in stage 0", "garbage collection": "0.0141"},  # 278 ms of 19,724
    ),
    (
        "4.3.0/executor_lost.zstd",
        "critical",
        138,  # of 23 tasks: configuration 46, stages 92
        {
            **MEASURED,
            "failed stages": "low",  # 1 of 4
            "failed tasks of a stage": "critical",  # 3 of 6, of stage 1's first attempt
            "failed tasks of a job": "low",  # 3 of 23
        },
        {"failed stages": "0.25 (1 of 4)", "failed tasks of a stage": "0.5 in stage 1"},
    ),
    (
        "3.5.6/crashed.zstd.inprogress",
        "moderate",
        8,
        {**DEFAULTS, "garbage collection": "low"},  # 121 ms of 1,466
        {"garbage collection": "0.0825"},
    ),
    ("4.3.0/still_running.zstd.inprogress", "moderate", 8, DEFAULTS, {"garbage collection": "0"}),
]


def name_of(table):
    return table[0] if isinstance(table[0], str) else table[0].__name__


@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_table(tmp_path, plumb_program, table):
    log, severity, score, judged, values = table
    path = tmp_path / "app-1"
    if isinstance(log, str):
        path = RECORDED / log
    else:
        path.write_text("".join(json.dumps(event, separators=(",", ":")) + "\n" for event in log()))
    store = tmp_path / "store"
    subprocess.run([plumb_program, "import", "--store", store, path], check=True, capture_output=True)
    asked = [plumb_program, "advise", "latest", "--method", "drelephant", "--store", store, "--json"]
    answer = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)

    rules = [rule for group in answer["groups"] if group["group"] != "later" for rule in group["rules"]]
    known = {rule["rule"]: "unknown" if rule["value"] == "unknown" else rule["severity"] for rule in rules}
    assert {rule: found for rule, found in known.items() if found != "none"} == judged
    assert {rule["rule"]: rule["value"] for rule in rules if rule["rule"] in values} == values
    assert (answer["severity"], answer["score"]) == (severity, score)


def test_limits(tmp_path, plumb_program):
    """Where severities begin may be told: of a log of which 0.0141 was garbage collection, and 2 of 10 tasks failed."""
    store = tmp_path / "store"
    log = RECORDED / "3.5.6/failed_tasks.zstd"
    subprocess.run([plumb_program, "import", "--store", store, log], check=True, capture_output=True)

    def asked(*words):
        command = [plumb_program, "advise", "latest", "--store", store, "--method", "drelephant", *words]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    told = "gc=0.005/0.014/0.02/0.03,failures=0.1/0.15/0.2/never"
    rules = {
        rule["rule"]: rule
        for group in json.loads(asked("--limits", told, "--json").stdout)["groups"]
        for rule in group["rules"]
    }
    assert [rules[name]["severity"] for name in ("garbage collection", "failed tasks of a stage")] == [
        "moderate",
        "severe",
    ]
    assert f"by limits of your own: {told.replace(',', ', ')}" in asked("--limits", told).stdout
    for wrong, says in (
        ("gc=1/2", "not four limits"),
        ("heap=1/2/3/4", "there are resource-skew"),
        ("", "none is told"),
    ):
        done = asked("--limits", wrong)
        assert done.returncode != 0 and says in done.stderr, done
    assert "limits is for method=drelephant" in asked("--method", "ours", "--limits", told).stderr


def test_node(tmp_path, plumb_program):
    """What a node has may be told: (16 / 1) / (64 / 0.5) = 0.125, of whole executors 16 by cores and 73 by memory."""
    store = tmp_path / "store"
    log = RECORDED / "4.3.0/normal.zstd"
    subprocess.run([plumb_program, "import", "--store", store, log], check=True, capture_output=True)

    def asked(*words):
        command = [plumb_program, "advise", "latest", "--store", store, *words]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    table = asked("--method", "drelephant", "--node", "16c,64g", "--json")
    rules = {rule["rule"]: rule for group in json.loads(table.stdout)["groups"] for rule in group["rules"]}
    assert (rules["resource skew"]["value"], rules["resource skew"]["severity"]) == ("0.125", "none")
    assert rules["resource skew"]["note"].startswith("corrected: 4.56, critical")  # 896 MiB an executor: 73
    for words in (["--node", "16,64g"], ["--node", "16c"], ["--node", "0c,64g"], ["--node", "16c,lots"]):
        done = asked("--method", "drelephant", *words)
        assert done.returncode != 0 and "such as 16c,64g" in done.stderr, words
    assert "node is for method=drelephant" in asked("--node", "16c,64g").stderr
