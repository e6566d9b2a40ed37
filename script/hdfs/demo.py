"""Runs a load on a real HDFS whose spans go to a running plumbd: for script/server --demo and for tests.

Starts one NameNode and three DataNodes, each its own JVM, with the agent in every one (or, with --receiver-only, with
HTrace's spans of Hadoop 2.8 to 3.3.1 alone, set up as in conf/core-site.xml.sample), and every operation of the
application traced; runs tests/hdfs's load; waits until every span is acknowledged; stops the cluster. Ends with 1 when
a span was lost or anything failed. Progress goes to standard error; with --json, what was done to standard output.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time

from script.hdfs.attach import Agent
from script.hdfs.cluster import Cluster, sample_class_path, tracing
from script.hdfs.jars import ROOT, ClusterError, hadoop_jars, receiver_jar, workload_classes

HADOOP = "3.5.0"
SITE_LIST = ROOT / "tests" / "hdfs" / "workload" / "workload.conf"


def say(text):
    print(f"demo: {text}", file=sys.stderr, flush=True)


def run_load(cluster, options):
    arguments = [
        "--rounds",
        options.rounds,
        "--threads",
        options.threads,
        "--size",
        options.size,
        "--seed",
        options.seed,
        *(["--htrace"] if options.receiver_only else []),
    ]
    classes = workload_classes(cluster.work, options.hadoop)
    load = cluster.java("client", "Workload", map(str, arguments), class_path=str(classes), stdout=subprocess.PIPE)
    output = load.communicate()[0]
    if load.returncode != 0:
        raise ClusterError(f"the load failed:\n{cluster.log_end('client')}")
    return json.loads(output.splitlines()[-1])


def traced_cluster(options, work):
    """Not started yet."""
    if options.receiver_only:
        return Cluster(
            work,
            options.hadoop,
            options.datanodes,
            core=tracing(options.plumbd_thrift),
            class_path=sample_class_path(receiver_jar()),
        )
    # What processes do before and beside the load would be thousands of small traces.
    agent = Agent({"receivers": options.plumbd_thrift, "functions": SITE_LIST, "sampling": "Workload#*=always;never"})
    return Cluster(work, options.hadoop, options.datanodes, agent=agent)


def summary(done, servers):
    """The counters of all senders, and their sum."""
    senders = {"client": done["sender"], **servers}
    done["senders"] = {
        name: {
            "id": bean["SenderId"],
            "spans": bean["SpansReceived"],
            "acknowledged": bean["SpansAcknowledged"],
            "dropped": bean["SpansDropped"],
        }
        for name, bean in senders.items()
    }
    del done["sender"]
    for field in ("spans", "acknowledged", "dropped"):
        done[field] = sum(sender[field] for sender in done["senders"].values())
    return done


def demo(options, work):
    say(f"jars of Hadoop {options.hadoop} (fetched the first time)")
    hadoop_jars(options.hadoop)
    say(f"starting one NameNode and {options.datanodes} DataNodes in {work}")
    begin = time.monotonic()
    with traced_cluster(options, work) as cluster:
        say(
            f"HDFS is ready after {time.monotonic() - begin:.0f} s; creating, writing, reading, appending, renaming, "
            "listing and deleting files"
        )
        done = run_load(cluster, options)
        say("waiting until every span has been acknowledged")
        servers = cluster.wait_all_sent()
    done = summary(done, servers)
    operations = sum(done["operations"].values())
    say(
        f"{operations} operations, {done['written_bytes'] / 1e6:.1f} MB written, "
        f"{done['read_bytes'] / 1e6:.1f} MB read; "
        f"{done['spans']} spans of {len(done['senders'])} processes, {done['acknowledged']} acknowledged, "
        f"{done['dropped']} dropped"
    )
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plumbd-thrift", required=True, metavar="HOST:PORT", help="where plumbd takes spans")
    parser.add_argument("--work-dir", help="folder for data and logs (default: a temporary one, removed at the end)")
    parser.add_argument("--hadoop", default=HADOOP, help="version, 2.10 to 3.5 (default %(default)s)")
    parser.add_argument(
        "--receiver-only", action="store_true", help="no agent, but the span receiver and HTrace: Hadoop 2.8 to 3.3.1"
    )
    parser.add_argument("--datanodes", type=int, default=3)
    parser.add_argument(
        "--rounds", type=int, default=10, help="of all operations, in each thread (default %(default)s)"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--size", type=int, default=1_500_000, help="bytes of the large files (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print what was done, and every sender's counters")
    options = parser.parse_args()
    try:
        if options.work_dir:
            done = demo(options, options.work_dir)
        else:
            with tempfile.TemporaryDirectory(prefix="plumb-demo-") as work:
                done = demo(options, work)
    except ClusterError as error:
        sys.exit(f"demo: {error}")
    except KeyboardInterrupt:  # Ctrl-C; the cluster is stopped by now
        say("interrupted")
        sys.exit(130)
    if options.json:
        print(json.dumps(done))
    if done["acknowledged"] != done["spans"]:
        sys.exit("demo: spans were lost; the senders' counters say why (plumb status)")


if __name__ == "__main__":
    main()
