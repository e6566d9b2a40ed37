"""Runs a Spark job on a traced HDFS with one slow DataNode, and tells a running plumbd of it: for script/server --demo.

One NameNode, four DataNodes, Spark's master and three workers, each its own JVM, with the agent in all of HDFS, in the
executors and in the driver. Root makes the disk of datanode2 slow; others stop and resume that DataNode all the time.
The event log lies in that HDFS, and plumb-bridge reads it from there. Prints the application's id.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from script.hdfs.jars import ClusterError, hadoop_jars
from script.spark.slow_job import HADOOP, run_job, say, start
from script.spark.standalone import DEFAULT_SPARK


def demo(options, work):
    hadoop_jars(HADOOP)
    with ExitStack() as stack:
        hosts, hdfs, spark = start(options, work, stack)
        application = run_job(hosts, hdfs, spark, work, http=options.plumbd_http)
        say("waiting until every span has been acknowledged, and reading the event log out of HDFS")
        hdfs.wait_all_sent()
        log = hdfs.url(f"/spark-events/{application}", "webhdfs")
        done = subprocess.run(
            [options.bridge, "--receiver", options.plumbd_thrift, log], stdout=sys.stderr, check=False
        )
        if done.returncode != 0:
            raise ClusterError(f"{options.bridge} could not read {log}")
    return application


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plumbd-thrift", required=True, metavar="HOST:PORT", help="where plumbd takes spans")
    parser.add_argument("--plumbd-http", metavar="HOST:PORT", help="where it is told what was made slow")
    parser.add_argument("--bridge", required=True, metavar="PROGRAM", help="plumb-bridge")
    parser.add_argument("--work-dir", type=Path, help="folder for data and logs (default: a temporary one)")
    parser.add_argument("--spark", default=DEFAULT_SPARK, help="version (default %(default)s)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
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
