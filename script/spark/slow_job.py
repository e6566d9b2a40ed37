"""A Spark job on a traced HDFS with one slow DataNode: for the demonstration and for tests."""

import subprocess
import sys
import time
from pathlib import Path

from script.hdfs.cluster import Cluster
from script.hdfs.jars import ClusterError
from script.spark.faults import Faults
from script.spark.hosts import Loopback, Namespaces, why_no_namespaces
from script.spark.runs import write_text
from script.spark.standalone import Agent, Standalone

HADOOP = "3.5.0"
SLOW = "datanode2"
BLOCKS, BLOCK = 40, 1 << 20
BYTES_PER_SECOND = 300_000
STOPPED, EVERY = 1.5, 2.0
SECONDS = 300


def say(text):
    print(f"demo: {text}", file=sys.stderr, flush=True)


def shell(hdfs, *arguments):
    if hdfs.java("shell", "org.apache.hadoop.fs.FsShell", arguments, agent=None).wait(SECONDS) != 0:
        raise ClusterError(f"hdfs dfs {' '.join(arguments)}:\n{hdfs.log_end('shell')}")


def put_text(hdfs, local, path, blocks):
    write_text(local, blocks)
    shell(hdfs, "-put", str(local), path)


def start(options, work, stack):
    """HDFS with the text in it, and Spark."""
    reason = why_no_namespaces()
    hosts = stack.enter_context(Loopback() if reason else Namespaces(work / "hosts", [SLOW], network=False))
    agent = Agent({"receivers": options.plumbd_thrift, "sampling": "always", "spark.operations": "all"})
    say(f"starting one NameNode, four DataNodes of Hadoop {HADOOP}, and Spark {options.spark} with three workers")
    hdfs = stack.enter_context(
        Cluster(
            work / "hdfs",
            HADOOP,
            4,
            hosts=hosts,
            agent=agent,
            hdfs={"dfs.replication": "1", "dfs.blocksize": str(BLOCK)},
        )
    )
    shell(hdfs, "-mkdir", "/spark-events")
    put_text(hdfs, work / "text", "/text", BLOCKS)
    spark = stack.enter_context(
        Standalone(
            work / "spark",
            options.spark,
            3,
            hosts=hosts,
            agent=agent,
            conf={"spark.eventLog.dir": hdfs.url("/spark-events")},
        )
    )
    return hosts, hdfs, spark


def run_job(hosts, hdfs, spark, work, *, http=None, times=2):
    """Reads the text times over with the slow DataNode, of which the plumbd at http is told; the application's id."""
    faults = Faults(hosts, hdfs, spark, work / "injections.jsonl")
    faults.http = http
    if isinstance(hosts, Namespaces):
        say(f"{SLOW} reads {BYTES_PER_SECOND // 1000} kB a second from its disk from now on")
        slow = faults.slow_disk(SLOW, BYTES_PER_SECOND)
    else:
        say(f"{SLOW} is stopped for {STOPPED} of every {EVERY} seconds from now on (a slow disk needs root)")
        slow = faults.hung(SLOW, STOPPED, EVERY)
    say("running a job that reads a text, once at each block")
    begin = time.monotonic()
    with slow:
        spark.run("scan", [hdfs.url("/text"), times], "slow scan")
    say(f"the job took {time.monotonic() - begin:.0f} s")
    return application_of(hdfs)


def application_of(hdfs):
    listed = hdfs.java(
        "shell", "org.apache.hadoop.fs.FsShell", ["-ls", "-C", "/spark-events"], agent=None, stdout=subprocess.PIPE
    )
    return Path(listed.communicate()[0].split()[-1]).name
