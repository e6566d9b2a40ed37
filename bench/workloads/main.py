"""Runs a workload of HiBench, written anew with the same operations in the same order, on a traced HDFS under a real
Spark, and keeps what is known of the run.

    bench/workload NAME [--size tiny|small|here] [--set KEY=N] [--into DIR]
    bench/workload NAME --local        in one JVM, on this host's own disk, without HDFS
    bench/workload list                names and sizes

A run leaves DIR/NAME-N (default: ./workloads): run.json (sizes, versions, seconds, what came out), events (Spark's
event log), spans.jsonl.zst (every span), waited.json (whom its tasks waited for: the answer of "bottleneck" about
SparkTask), work.log. It is there whole or not at all. Data is made by the same program before, traced but not kept; of
tpch it comes from tpchgen-cli, and its results are no results of TPC. Needs no root; some 4 GB of memory with HDFS.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.studies.programs import flush, plumbd
from bench.studies.report import environment
from bench.workloads.program import jar, submit, tpch_tables
from bench.workloads.sizes import NAMES, SIZE_NAMES, SIZES
from script.hdfs.attach import Agent
from script.hdfs.cluster import Cluster
from script.hdfs.jars import ROOT, ClusterError, agent_jar
from script.spark.hosts import Loopback
from script.spark.standalone import DEFAULT_SPARK, Standalone

HADOOP = "3.5.0"
DATANODES, WORKERS = 3, 3
BLOCK = 1 << 20
DEFAULT_SIZE = "here"
PARTITIONS = 8
EVENTS = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.sql.adaptive.enabled": "false",
}


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="bench/workload", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=[*NAMES, "list"])
    parser.add_argument("--size", choices=SIZE_NAMES, default=DEFAULT_SIZE)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=N", help="another number of the size")
    parser.add_argument("--local", action="store_true", help="in one JVM, without HDFS")
    parser.add_argument("--into", type=Path, default=Path("workloads"), help="folder (default: %(default)s)")
    parser.add_argument("--build", type=Path, default=ROOT / "build/default", help="where the programs are")
    options = parser.parse_args(arguments)
    if options.name != "list":
        options.sizes = {"partitions": PARTITIONS, **SIZES[options.name][options.size]}
        for word in options.set:
            key, equals, number = word.partition("=")
            if key not in options.sizes or not equals or not number.isdigit() or int(number) == 0:
                parser.error(f"--set {word}: KEY=N with KEY of {', '.join(options.sizes)}, N at least 1")
            options.sizes[key] = int(number)
    return options


def show_sizes():
    for name, sizes in SIZES.items():
        for size, numbers in sizes.items():
            print(f"{name:12} {size:6}", " ".join(f"{key}={value}" for key, value in numbers.items()))


class Local:
    """One JVM, with the agent, on the host's own disk."""

    def __init__(self, work, daemon):
        self.work, self.daemon = work, daemon
        self.folder = f"file://{work}/data"
        self.events = work / "events"
        self.events.mkdir()

    def submit(self, step, name, sizes):
        agent = f"-javaagent:{agent_jar()}=receivers={self.daemon.thrift},sampling=always,spark.operations=all"
        properties = {**EVENTS, "spark.eventLog.dir": f"file://{self.events}", "spark.app.name": f"{name} {step}"}
        options = ["--driver-memory", "1g", "--driver-java-options", agent]
        properties["spark.hadoop.fs.local.block.size"] = str(BLOCK)
        words = [name, self.folder, step, *sizes]
        return submit(
            DEFAULT_SPARK, "local[2]", words, options=options, properties=properties, log=self.work / "work.log"
        )

    def put(self, folder):
        shutil.copytree(folder, self.work / "data/input")

    def settle(self):
        flush(self.daemon)


class OnHdfs:
    """HDFS and a standalone Spark, each process its own JVM, all traced."""

    def __init__(self, work, daemon, stack):
        self.work, self.daemon = work, daemon
        hosts = Loopback()
        agent = Agent({"receivers": daemon.thrift, "sampling": "always", "spark.operations": "all"})
        hdfs = {"dfs.blocksize": str(BLOCK), "dfs.replication": "2"}
        self.hdfs = stack.enter_context(Cluster(work / "hdfs", HADOOP, DATANODES, hosts=hosts, hdfs=hdfs, agent=agent))
        self.spark = stack.enter_context(
            Standalone(work / "spark", DEFAULT_SPARK, WORKERS, hosts=hosts, agent=agent, conf=EVENTS)
        )
        self.folder, self.events = self.hdfs.url("/workload"), self.spark.events

    def submit(self, step, name, sizes):
        return self.spark.run(jar(DEFAULT_SPARK), [name, self.folder, step, *sizes], f"{name}-{step}").splitlines()

    def put(self, folder):
        shell = self.hdfs.java("shell", "org.apache.hadoop.fs.FsShell", ["-mkdir", "-p", "/workload"], agent=None)
        shell.wait()
        shell = self.hdfs.java("shell", "org.apache.hadoop.fs.FsShell", ["-put", folder, "/workload/input"], agent=None)
        if shell.wait() != 0:
            raise ClusterError(f"put: {self.hdfs.log_end('shell')}")

    def settle(self):
        self.hdfs.wait_all_sent()
        flush(self.daemon)


def make_data(bed, options, sizes):
    if options.name != "tpch":
        bed.submit("generate", options.name, sizes)
        return
    tpch_tables(options.sizes["scale"] / 1000, bed.work / "tpch")
    bed.put(bed.work / "tpch")


def keep(bed, options, daemon, lines, partial):
    """What is known of the run, which was the last application."""
    partial.mkdir(parents=True)
    log = max(bed.events.iterdir(), key=lambda path: path.stat().st_mtime)
    shutil.copy(log, partial / "events")
    (begin_ms,) = (
        json.loads(line)["Timestamp"]
        for line in log.read_text().splitlines()
        if line.startswith('{"Event":"SparkListenerApplicationStart"')
    )
    waited = daemon.ask("bottleneck", root="SparkTask", since=begin_ms * 1_000_000, limit=0)
    (partial / "waited.json").write_text(json.dumps(waited, indent=1) + "\n")
    with (
        open(partial / "spans.jsonl.zst", "wb") as out,
        subprocess.Popen(
            [options.build / "analyzer/plumb", "--server", daemon.http, "export", "--since", str(begin_ms * 1_000_000)],
            stdout=subprocess.PIPE,
        ) as spans,
    ):
        subprocess.run(["zstd", "-q", "-c"], stdin=spans.stdout, stdout=out, check=True)
    if spans.returncode != 0:
        raise ClusterError("the spans could not be exported")
    about = {
        "workload": options.name,
        "sizes": options.sizes,
        "application": log.name,
        "spark": DEFAULT_SPARK,
        "hadoop": None if options.local else HADOOP,
        "environment": environment(options.build),
        "said": [json.loads(line) for line in lines if line.startswith("{")],
    }
    (partial / "run.json").write_text(json.dumps(about, indent=1) + "\n")
    return waited


def run_workload(options):
    """The folder of the run, and whom it waited for."""
    sizes = [f"{key}={value}" for key, value in options.sizes.items()]
    options.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plumb-workload-") as folder, ExitStack() as stack:
        daemon = stack.enter_context(plumbd(options.build))
        work = Path(folder)
        bed = Local(work, daemon) if options.local else OnHdfs(work, daemon, stack)
        make_data(bed, options, sizes)
        lines = bed.submit("run", options.name, sizes)
        bed.settle()
        waited = keep(bed, options, daemon, lines, work / "kept")
        taken = [int(path.name.rsplit("-", 1)[1]) for path in options.into.glob(f"{options.name}-[0-9]*")]
        into = options.into / f"{options.name}-{max(taken, default=0) + 1}"
        partial = into.with_name(f".{into.name}")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(work / "kept", partial)
        partial.rename(into)
    return into, lines, waited


def main(arguments=None):
    options = parse(arguments)
    if options.name == "list":
        return show_sizes()
    try:
        folder, lines, waited = run_workload(options)
    except (ClusterError, OSError) as error:
        sys.exit(f"workload: {options.name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    print(*lines, sep="\n")
    for wait in waited.get("waits", []):
        place = " ".join(wait[key] for key in ("role", "resource") if key in wait)
        print(f"  {100 * wait['share']:5.1f} %  {place}")
    print(folder)


if __name__ == "__main__":
    main()
