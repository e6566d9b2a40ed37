"""plumb watch beside a running application: a real Spark in one JVM, whose event log plumb-bridge follows while it
grows."""

import heapq
import json
import os
import random
import signal
import subprocess
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest

from script.hdfs.cluster import wait_for
from script.hdfs.spark import spark_home

VERSION = "4.3.0"
TASKS, STUCK = 40, 5
SECONDS = 300
# One task ends when it is told to; the events of those after it push its own out of Spark's buffers.
JOB = f"""
import os, sys, time
from pyspark.sql import SparkSession
def work(number, go_on=sys.argv[1]):
    while number == {STUCK} and not os.path.exists(go_on):
        time.sleep(0.05)
    return number
spark = SparkSession.builder.appName("stuck").getOrCreate()
print("sum", spark.sparkContext.parallelize(range({TASKS}), {TASKS}).map(work).sum())
spark.stop()
"""


@contextmanager
def running(*command, **options):
    """A program that is gone afterwards, whatever happens; what it waits for takes no longer than SECONDS."""
    with subprocess.Popen([str(word) for word in command], text=True, stdout=subprocess.PIPE, **options) as process:
        guard = threading.Timer(SECONDS, process.kill)
        guard.start()
        try:
            yield process
        finally:
            guard.cancel()
            if process.poll() is None:
                process.kill()


@pytest.fixture
def application(tmp_path):
    """Starts it; its event log lies in tmp_path/events, and it goes on once tmp_path/go exists."""
    (tmp_path / "events").mkdir()
    (tmp_path / "job.py").write_text(JOB)
    conf = {
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{tmp_path}/events",
        "spark.eventLog.buffer.kb": "1",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    words = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    with (
        open(tmp_path / "spark.log", "w") as log,
        running(
            spark_home(VERSION) / "bin" / "spark-submit",
            "--master",
            "local[2]",
            "--driver-memory",
            "512m",
            *words,
            tmp_path / "job.py",
            tmp_path / "go",
            stderr=log,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": "/usr/bin/python3"},
        ) as process,
    ):
        yield process


def named(watch):
    """The first line about the task that is stuck; others may have been slow, too."""
    for line in watch.stdout:
        row = json.loads(line)
        if row.get("partition") == STUCK:
            return row
    raise AssertionError("plumb watch ended before it named the task")


def test_a_straggler_is_named_while_it_runs(application, plumbd, plumb_program, build_dir, tmp_path):
    bridge = build_dir / "spark-bridge/plumb-bridge"
    with ExitStack() as stack:
        follower = stack.enter_context(
            running(
                bridge, "--follow", "--interval", 1, "--receiver", "{}:{}".format(*plumbd.thrift), tmp_path / "events"
            )
        )
        watch = stack.enter_context(running(plumb_program, "watch", "--interval", 1, "--json", "--server", plumbd.http))
        row = named(watch)
        assert application.poll() is None
        assert (row["status"], row["scale"] >= 1.5) == ("running", True)
        (app,) = plumbd.ask("apps")["apps"]
        assert (app["name"], app["state"], row["app"]) == ("stuck", "running", app["app"])

        (tmp_path / "go").touch()
        output = application.communicate(timeout=SECONDS)[0]
        assert application.returncode == 0, (tmp_path / "spark.log").read_text()[-3000:]
        assert f"sum {sum(range(TASKS))}" in output
        wait_for(lambda: plumbd.ask("apps")["apps"][0]["state"] == "ended", SECONDS, "the end of the log read")
        once = subprocess.run(
            [plumb_program, "watch", "--once", "--server", plumbd.http],
            capture_output=True,
            text=True,
            check=True,
            timeout=SECONDS,
        )
        assert once.stdout == ""  # of what is over nothing is said any more
        for process in (watch, follower):
            process.send_signal(signal.SIGTERM)
            assert process.wait(SECONDS) == 0


# ---- when a stage ends ----

HOSTS, CORES, DRAWN = 3, 2, 90


def drawn_stage():
    """Tasks of 200 to 300 s, on the last host three times as long: (begin, end, host) in ms, and the true end."""
    draw = random.Random(11)
    free = [(0, host) for host in range(HOSTS) for _ in range(CORES)]
    tasks = []
    for _ in range(DRAWN):
        begin, host = heapq.heappop(free)
        end = begin + draw.randint(200000, 300000) * (3 if host == HOSTS - 1 else 1)
        heapq.heappush(free, (end, host))
        tasks.append((begin, end, host))
    return tasks, max(end for _, end, _ in tasks)


def events(app, tasks, begin_ms, run_ms):
    """What its log has when the stage has run for so long, event by event as Spark writes them."""
    stage = {
        "Stage ID": 0,
        "Stage Attempt ID": 0,
        "Stage Name": "count at Main.scala:5",
        "Number of Tasks": DRAWN,
        "RDD Info": [],
        "Parent IDs": [],
        "Details": "",
        "Submission Time": begin_ms,
    }
    yield {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"}
    yield {
        "Event": "SparkListenerApplicationStart",
        "App Name": app,
        "App ID": app,
        "Timestamp": begin_ms,
        "User": "u",
    }
    yield {"Event": "SparkListenerStageSubmitted", "Stage Info": stage, "Properties": {}}
    happened = []
    for number, (begin, end, host) in enumerate(tasks):
        info = {
            "Task ID": number,
            "Index": number,
            "Attempt": 0,
            "Launch Time": begin_ms + begin,
            "Executor ID": str(host),
            "Host": f"w{host}",
            "Locality": "NODE_LOCAL",
            "Speculative": False,
            "Getting Result Time": 0,
            "Finish Time": 0,
            "Failed": False,
            "Killed": False,
            "Accumulables": [],
        }
        common = {"Stage ID": 0, "Stage Attempt ID": 0}
        happened.append((begin, {"Event": "SparkListenerTaskStart", **common, "Task Info": info}))
        ended = {**info, "Finish Time": begin_ms + end}
        reason = {"Task Type": "ResultTask", "Task End Reason": {"Reason": "Success"}}
        metrics = {"Executor Run Time": end - begin, "Result Size": 1}
        happened.append(
            (end, {"Event": "SparkListenerTaskEnd", **common, **reason, "Task Info": ended, "Task Metrics": metrics})
        )
    yield from (event for at, event in sorted(happened, key=lambda one: one[0]) if at <= run_ms)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.97])
def test_the_end_of_a_stage(plumbd, plumb_program, build_dir, tmp_path, share):
    """Its log as it lies while it grows; when the stage ends is known here alone."""
    tasks, all_ms = drawn_stage()
    run_ms = int(share * all_ms)
    begin_ms = int(time.time() * 1000) - run_ms
    log = tmp_path / f"app-{run_ms}"
    log.write_text("".join(json.dumps(event) + "\n" for event in events(log.name, tasks, begin_ms, run_ms)))
    bridge = build_dir / "spark-bridge/plumb-bridge"
    subprocess.run([bridge, "--receiver", "{}:{}".format(*plumbd.thrift), log], check=True, timeout=SECONDS)

    command = [plumb_program, "watch", "--once", "--server", plumbd.http]
    run = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True, timeout=SECONDS)
    (row,) = [row for row in map(json.loads, run.stdout.splitlines()) if row["kind"] == "stage-end"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS).stdout
    assert (row["app"], row["tasks"], row["ended"]) == (log.name, DRAWN, sum(end <= run_ms for _, end, _ in tasks))
    assert row["known"] == (share > 0.1)
    if not row["known"]:
        assert f"{log.name} stage 0.0 ends at a time not known yet: 0 of {DRAWN} tasks have ended" in text
        return

    end_ns = (begin_ms + all_ms) * 10**6
    slack_ns = 2 * 10**9  # since the log was written
    assert row["earliest_time_ns"] - slack_ns <= end_ns <= row["latest_time_ns"] + slack_ns, text
    assert abs(row["end_time_ns"] - end_ns) <= 0.15 * all_ms * 10**6, text
    assert "% done, by that alone in" in text
    if row["waiting"] == 0:
        last = max(range(DRAWN), key=lambda number: tasks[number][1])
        assert (row["last"]["task"], row["last"]["host"], row["last"]["reason"]) == (last, f"w{HOSTS - 1}", "slow-host")
        assert f"of its running tasks {last} on w{HOSTS - 1} is the last, in " in text
        assert "times as long there" in text
