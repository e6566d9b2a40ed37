"""plumb watch beside a running application: a real Spark in one JVM, whose event log plumb-bridge follows while it
grows."""

import json
import os
import signal
import subprocess
import threading
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
