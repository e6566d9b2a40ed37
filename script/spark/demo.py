#!/usr/bin/env python3
"""Runs a Spark job on a traced HDFS with one slow DataNode, and tells a running plumbd of it: for script/server --demo.

One NameNode, four DataNodes, Spark's master and three workers, each its own JVM, with the agent in all of HDFS, in the
executors and in the driver. Root makes the disk of datanode2 slow; others stop and resume that DataNode all the time. The event
log lies in that HDFS, and plumb-bridge reads it from there. Prints the application's id.
"""
import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from standalone import DEFAULT_SPARK, Agent, Standalone  # noqa: E402
from cluster import Cluster  # noqa: E402
from faults import Faults  # noqa: E402
from hosts import Loopback, Namespaces, why_no_namespaces  # noqa: E402
from jars import ClusterError, hadoop_jars  # noqa: E402
from runs import write_text  # noqa: E402

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


def start(options, work, stack):
    """HDFS with the text in it, and Spark."""
    reason = why_no_namespaces()
    hosts = stack.enter_context(Loopback() if reason else Namespaces(work / "hosts", [SLOW], network=False))
    agent = Agent({"receivers": options.plumbd_thrift, "sampling": "always"})
    say(f"starting one NameNode, four DataNodes of Hadoop {HADOOP}, and Spark {options.spark} with three workers")
    hdfs = stack.enter_context(Cluster(work / "hdfs", HADOOP, 4, hosts=hosts, agent=agent,
                                       hdfs={"dfs.replication": "1", "dfs.blocksize": str(BLOCK)}))
    write_text(work / "text", BLOCKS)
    shell(hdfs, "-mkdir", "/spark-events")
    shell(hdfs, "-put", str(work / "text"), "/text")
    spark = stack.enter_context(Standalone(work / "spark", options.spark, 3, hosts=hosts, agent=agent,
                                           conf={"spark.eventLog.dir": hdfs.url("/spark-events")}))
    return hosts, hdfs, spark


def run_job(hosts, hdfs, spark, work):
    """With the slow DataNode; the application's id."""
    faults = Faults(hosts, hdfs, spark, work / "injections.jsonl")
    if isinstance(hosts, Namespaces):
        say(f"{SLOW} reads {BYTES_PER_SECOND // 1000} kB a second from its disk from now on")
        slow = faults.slow_disk(SLOW, BYTES_PER_SECOND)
    else:
        say(f"{SLOW} is stopped for {STOPPED} of every {EVERY} seconds from now on (a slow disk needs root)")
        slow = faults.hung(SLOW, STOPPED, EVERY)
    say("running a job that reads a text, once at each block")
    begin = time.monotonic()
    with slow:
        spark.run("scan", [hdfs.url("/text"), "2"], "slow scan")
    say(f"the job took {time.monotonic() - begin:.0f} s")
    return application_of(hdfs)


def application_of(hdfs):
    listed = hdfs.java("shell", "org.apache.hadoop.fs.FsShell", ["-ls", "-C", "/spark-events"], agent=None,
                       stdout=subprocess.PIPE)
    return Path(listed.communicate()[0].split()[-1]).name


def demo(options, work):
    hadoop_jars(HADOOP)
    with ExitStack() as stack:
        hosts, hdfs, spark = start(options, work, stack)
        application = run_job(hosts, hdfs, spark, work)
        say("waiting until every span has been acknowledged, and reading the event log out of HDFS")
        hdfs.wait_all_sent()
        log = hdfs.url(f"/spark-events/{application}", "webhdfs")
        done = subprocess.run(
            [options.bridge, "--receiver", options.plumbd_thrift, log], stdout=sys.stderr, check=False)
        if done.returncode != 0:
            raise ClusterError(f"{options.bridge} could not read {log}")
    return application


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plumbd-thrift", required=True, metavar="HOST:PORT", help="where plumbd takes spans")
    parser.add_argument("--bridge", required=True, metavar="PROGRAM", help="plumb-bridge")
    parser.add_argument("--work-dir", type=Path, help="folder for data and logs (default: a temporary one)")
    parser.add_argument("--spark", default=DEFAULT_SPARK, help="version (default %(default)s)")
    options = parser.parse_args()
    try:
        if options.work_dir:
            options.work_dir.mkdir(parents=True, exist_ok=True)
            print(demo(options, options.work_dir.resolve()))
        else:
            with tempfile.TemporaryDirectory(prefix="plumb-demo-") as work:
                print(demo(options, Path(work)))
    except ClusterError as error:
        sys.exit(f"demo: {error}")
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)


if __name__ == "__main__":
    main()
