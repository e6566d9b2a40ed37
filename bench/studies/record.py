"""Records jobs of a real Spark, in one JVM with the agent, for the study of operations: a folder for each, which is
there whole or not at all, so that recording goes on where it stopped.

    DIR/JOB/app-ID.zstd      its event log
    DIR/JOB/spans.jsonl.zst  every span that plumbd got
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from bench.studies.programs import flush, plumbd
from script.hdfs.jars import ClusterError, agent_jar
from script.hdfs.spark import spark_home
from script.spark.runs import write_text

SPARK = "4.3.0"
JOBS_FILE = Path(__file__).resolve().parents[2] / "script/spark/jobs.py"
BLOCKS, BLOCK = 24, 1 << 20
# Arguments after the name; {text}: lines of words, {out}: a folder of its own.
JOBS = {
    "wordcount": ["wordcount", "{text}"],
    "text": ["text", "{text}", "a"],
    "sort": ["sort", "{text}", "{out}/sorted"],
    "parquet": ["parquet", "{text}", "{out}/table"],
    "shuffled": ["shuffled", "{text}", "32", "1"],
    "skewed": ["skewed", "{text}", "0.2", "32"],
    "bayes": ["bayes", "20000", "24"],
}
SECONDS = 600


def submit(work, daemon, arguments):
    agent = f"-javaagent:{agent_jar()}=receivers={daemon.thrift},sampling=always,spark.operations=all"
    conf = {
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "true",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": f"file://{work}/events",
        "spark.sql.files.maxPartitionBytes": str(BLOCK),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "24",
        "spark.hadoop.fs.local.block.size": str(BLOCK),
    }
    command = [spark_home(SPARK) / "bin/spark-submit", "--master", "local[2]", "--driver-memory", "1g"]
    command += ["--driver-java-options", agent]
    for key, value in conf.items():
        command += ["--conf", f"{key}={value}"]
    words = [word.format(text=f"file://{work}/text", out=f"file://{work}/out") for word in arguments]
    done = subprocess.run(
        [*map(str, command), str(JOBS_FILE), *words],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "PYSPARK_PYTHON": "/usr/bin/python3", "PYSPARK_DRIVER_PYTHON": "/usr/bin/python3"},
        check=False,
    )
    if done.returncode != 0:
        raise ClusterError(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stderr[-2000:]}")


def record_job(build, work, job, into):
    """Leaves into/JOB."""
    (work / "events").mkdir()
    partial = work / "kept"
    partial.mkdir()
    with plumbd(build) as daemon:
        submit(work, daemon, JOBS[job])
        flush(daemon)
        with (
            open(partial / "spans.jsonl.zst", "wb") as out,
            subprocess.Popen(
                [build / "analyzer/plumb", "--server", daemon.http, "export"], stdout=subprocess.PIPE
            ) as spans,
        ):
            subprocess.run(["zstd", "-q", "-19", "-c"], stdin=spans.stdout, stdout=out, check=True)
        if spans.returncode != 0:
            raise ClusterError(f"the spans of {job} could not be exported")
    for log in (work / "events").iterdir():
        shutil.copy(log, partial / log.name)
    into.mkdir(parents=True, exist_ok=True)
    shutil.copytree(partial, into / f"{job}.partial", dirs_exist_ok=True)
    (into / f"{job}.partial").rename(into / job)


def record(build, into):
    """Of each job that is not there yet; says which."""
    for job in JOBS:
        if (into / job).exists():
            continue
        with tempfile.TemporaryDirectory(prefix="plumb-record-") as work:
            write_text(Path(work) / "text", BLOCKS)
            record_job(build, Path(work), job, into)
        print(into / job, flush=True)


def runs_in(folder):
    """(job, event log, spans) of each that is recorded."""
    for run in sorted(path for path in folder.iterdir() if (path / "spans.jsonl.zst").exists()):
        (log,) = (path for path in run.iterdir() if path.name != "spans.jsonl.zst")
        yield run.name, log, run / "spans.jsonl.zst"
