"""Records the event logs of tests/data/spark: small applications on a real Spark, one for each fate of a task.

Needs root: Spark runs at /opt/spark and in /srv/spark of a mount namespace, so that no path of this machine is in the
logs.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from script.hdfs.jars import ROOT
from script.hdfs.spark import spark_home
from script.spark.standalone import JOBS, Standalone, wait_for

VERSIONS = ["4.3.0", "3.5.6"]
HOME, WORK = Path("/opt/spark"), Path("/srv/spark")
TEXT = WORK / "text"
SECONDS = 400
SPECULATE = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.5",
}
EXCLUDE = {
    "spark.excludeOnFailure.enabled": "true",
    "spark.excludeOnFailure.application.maxFailedTasksPerExecutor": "2",
    "spark.excludeOnFailure.killExcludedExecutors": "false",
    "spark.executor.metrics.pollingInterval": "500ms",
    "spark.executor.processTreeMetrics.enabled": "true",
}
TRACK = {"spark.taskMetrics.trackUpdatedBlockStatuses": "true", "spark.cores.max": "1"}
CODECS = ["zstd", "lz4", "snappy", "lzf"]
RECORDS = {}


def record(function):
    RECORDS[function.__name__] = function
    return function


def newest(spark):
    return max(spark.events.iterdir(), key=lambda path: path.stat().st_mtime_ns)


def running(spark):
    """The log of the application that runs, once its first task has begun."""

    def begun():
        logs = list(spark.events.glob("*.inprogress"))
        return logs[0] if logs and b"SparkListenerTaskStart" in logs[0].read_bytes() else None

    return wait_for(begun, SECONDS, "a task in the event log")


@record
def normal(spark):
    spark.run("wordcount", [f"file://{TEXT}"], "normal")
    return newest(spark)


@record
def failed_tasks(spark):
    """One partition fails twice and then works."""
    spark.run("failing", [2], "failed tasks")
    return newest(spark)


@record
def failed_job(spark):
    """One partition fails as often as it may, and the job with it."""
    spark.run("failing", [100], "failed job", code=1)
    return newest(spark)


@record
def speculative(spark):
    spark.run("slow_partition", [15], "speculative", SPECULATE)
    return newest(spark)


@record
def killed(spark):
    spark.run("cancelled", [60], "killed")
    return newest(spark)


@record
def given(spark):
    """Executor 0 is excluded, and a stage has a profile of resources. Memory is measured twice a second."""
    spark.run("given", [], "given", EXCLUDE)
    return newest(spark)


@record
def evicted(spark):
    """What is kept does not fit into memory, and which partitions had to go is logged."""
    spark.run("evicting", [], "evicted", TRACK)
    return newest(spark)


@record
def queries(spark):
    """Of Spark SQL, with their plans."""
    spark.run("queries", [f"file://{WORK}/tables"], "queries")
    return newest(spark)


def waited(spark, executors):
    with Standalone(WORK / f"waiting{executors}", spark.version, workers=executors, home=HOME) as own:
        own.jobs = spark.jobs
        own.run("waiting", [], "waiting")
        return newest(own)


@record
def waiting_1(spark):
    """The same job with one executor, two and three: what a simulation is held against."""
    return waited(spark, 1)


@record
def waiting_2(spark):
    return waited(spark, 2)


@record
def waiting_3(spark):
    return waited(spark, 3)


@record
def without_stages(spark):
    spark.run("nothing", [], "without stages")
    return newest(spark)


@record
def executor_lost(spark):
    """An executor is killed while the second stage runs: its tasks fail, and what it wrote in the first is gone, so
    parts of that stage are run again, and the second has a second attempt."""
    marks = WORK / "marks"
    shutil.rmtree(marks, ignore_errors=True)
    marks.mkdir()
    with spark.submit("lossy", [2, marks], "executor lost") as application:
        wait_for(lambda: len(list(marks.iterdir())) >= 3, SECONDS, "tasks of the second stage")
        for pid in spark.executors()["worker1"]:
            os.kill(pid, 9)
        if application.wait(SECONDS) != 0:
            raise SystemExit(spark.log_end("executor lost"))
    return newest(spark)


@record
def still_running(spark):
    """Copied while it grows: the last line may be cut."""
    with spark.submit("long_running", [600], "still running") as application:
        log = running(spark)
        copy = WORK / "growing.inprogress"
        copy.write_bytes(log.read_bytes()[:-37])
        application.terminate()
    log.unlink(missing_ok=True)
    return copy


@record
def crashed(spark):
    """The driver is killed; what it had written is all there is, for good under this name."""
    with spark.submit("long_running", [600], "crashed") as application:
        log = running(spark)
        application.kill()
    return log


def codec_logs(spark):
    for codec in CODECS:
        conf = {"spark.eventLog.compress": "true", "spark.eventLog.compression.codec": codec}
        spark.run("nothing", [], f"codec {codec}", conf)
        yield f"codec_{codec}", newest(spark)
    conf = {"spark.eventLog.rolling.enabled": "true", "spark.eventLog.compress": "true"}
    spark.run("failing", [1], "rolling", conf)
    yield "rolling", newest(spark)


def keep(log, name, folder):
    """As Spark compresses logs, so that they need no unpacking; what is compressed or a folder already, as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    if log.is_dir():
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(log, folder / name / log.name)
        for check in folder.rglob("*.crc"):
            check.unlink()
    elif name.startswith("codec_"):
        (folder / f"{name}.{name.removeprefix('codec_')}").write_bytes(log.read_bytes())
    else:
        end = ".inprogress" if log.name.endswith(".inprogress") else ""
        with open(folder / f"{name}.zstd{end}", "wb") as out:
            subprocess.run(["zstd", "-q", "-19", "-c", log], stdout=out, check=True)
    print(f"{time.strftime('%T')} {folder.name}/{name}", file=sys.stderr, flush=True)


def record_version(version, names, folder):
    subprocess.run(["mount", "--bind", spark_home(version), HOME], check=True)
    try:
        with Standalone(WORK / version, version, workers=2, home=HOME) as spark:
            spark.jobs = Path(shutil.copy(JOBS, WORK))
            for name in names:
                if name == "codecs":
                    for kind, log in codec_logs(spark):
                        keep(log, kind, folder / version)
                else:
                    keep(RECORDS[name](spark), name, folder / version)
    finally:
        subprocess.run(["umount", HOME], check=True)


def in_namespace(arguments):
    """The same again, where /opt and /srv are ours alone."""
    script = 'mount -t tmpfs none /opt && mount -t tmpfs none /srv && exec "$@"'
    os.execvp(
        "unshare",
        [
            "unshare",
            "-m",
            "sh",
            "-c",
            script,
            "sh",
            sys.executable,
            "-m",
            "script.spark.record",
            "--inside",
            *arguments,
        ],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", default=ROOT / "tests" / "data" / "spark", type=Path)
    parser.add_argument("--spark", action="append", help=f"version (default: {', '.join(VERSIONS)})")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help=f"of: {', '.join([*RECORDS, 'codecs'])} (default: all)")
    options = parser.parse_args()
    if not options.inside:
        in_namespace(sys.argv[1:])
    HOME.mkdir()
    WORK.mkdir()
    TEXT.write_text("alpha beta alpha gamma delta\n" * 3000)
    tempfile.tempdir = str(WORK)
    os.environ["TMPDIR"] = str(WORK)
    for version in options.spark or VERSIONS:
        record_version(version, options.names or [*RECORDS, "codecs"], options.into.resolve())


if __name__ == "__main__":
    main()
