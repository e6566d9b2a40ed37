"""Event logs of Spark for applications that never ran: only what the analyses read."""

import json


def line(event, **fields):
    return json.dumps({"Event": f"SparkListener{event}", **fields}, separators=(",", ":"))


def application(app, name, begin_ms, end_ms, body=()):
    """All lines of a log that has its end."""
    return [
        line("LogStart", **{"Spark Version": "4.3.0"}),
        line("ApplicationStart", **{"App Name": name, "App ID": app, "Timestamp": begin_ms, "User": "study"}),
        *body,
        line("ApplicationEnd", Timestamp=end_ms),
    ]


def stage_submitted(stage, tasks, at_ms):
    return line(
        "StageSubmitted",
        **{
            "Stage Info": {"Stage ID": stage, "Stage Attempt ID": 0, "Number of Tasks": tasks, "Submission Time": at_ms}
        },
    )


def task_ended(task):
    """task: stage, task, index, host, executor, begin_ms, end_ms; where they are known gc_ms, cpu_ms, input_bytes,
    shuffle_bytes, fetch_wait_ms, write_bytes."""
    metrics = {
        "Executor Run Time": task["end_ms"] - task["begin_ms"],
        "JVM GC Time": task.get("gc_ms", 0),
        **({"Executor CPU Time": round(1e6 * task["cpu_ms"])} if "cpu_ms" in task else {}),
        "Input Metrics": {"Bytes Read": task.get("input_bytes", 0), "Records Read": 1},
        "Shuffle Read Metrics": {
            "Remote Bytes Read": task.get("shuffle_bytes", 0),
            "Local Bytes Read": 0,
            **({"Fetch Wait Time": task["fetch_wait_ms"]} if "fetch_wait_ms" in task else {}),
        },
        **({"Shuffle Write Metrics": {"Shuffle Bytes Written": task["write_bytes"]}} if "write_bytes" in task else {}),
    }
    info = {
        "Task ID": task["task"],
        "Index": task["index"],
        "Attempt": 0,
        "Partition ID": task["index"],
        "Launch Time": task["begin_ms"],
        "Finish Time": task["end_ms"],
        "Executor ID": task["executor"],
        "Host": task["host"],
        "Locality": "NODE_LOCAL",
        "Failed": False,
        "Killed": False,
    }
    return line(
        "TaskEnd",
        **{
            "Stage ID": task["stage"],
            "Stage Attempt ID": 0,
            "Task Type": "ResultTask",
            "Task End Reason": {"Reason": "Success"},
            "Task Info": info,
            "Task Metrics": metrics,
        },
    )
