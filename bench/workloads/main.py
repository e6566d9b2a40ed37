"""Runs a workload of HiBench, written anew with the same operations in the same order, on a traced HDFS under a real
Spark, and keeps what is known of the run.

    bench/workload NAME [--size tiny|small|here] [--set KEY=N] [--into DIR]
    bench/workload NAME --local        in one JVM, on this host's own disk, without HDFS
    bench/workload all [--into DIR]    one after the other, those that have not run yet
    bench/workload table [--into DIR]  what came out of the runs in DIR
    bench/workload list                names and sizes

A run leaves DIR/NAME-N (default: ./workloads): run.json (sizes, versions, seconds, what came out), events (Spark's
event log), spans.jsonl.zst (every span), waited.json (whom its tasks waited for: the answer of "bottleneck" about
SparkTask). It is there whole or not at all. Data is made by the same program before, of which nothing is kept; of tpch
it comes from tpchgen-cli, and its results are no results of TPC. Needs no root; some 4 GB of memory with HDFS.
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.studies.programs import flush, plumbd
from bench.studies.report import environment
from bench.workloads.program import jar, submit, tpch_tables
from bench.workloads.results import table
from bench.workloads.sizes import NAMES, SIZE_NAMES, SIZES
from script.hdfs.attach import Agent
from script.hdfs.cluster import SHORT_LIVED, Cluster
from script.hdfs.jars import ROOT, ClusterError, agent_jar
from script.spark.hosts import Loopback
from script.spark.standalone import DEFAULT_SPARK, Standalone

HADOOP = "3.5.0"
DATANODES, WORKERS = 3, 3
BLOCK, REPLICATION = 1 << 20, 2
DEFAULT_SIZE = "here"
PARTITIONS = 8
SHORT_LIVED_JVM = " ".join(SHORT_LIVED)
EVENTS = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.sql.adaptive.enabled": "false",
    "spark.hadoop.dfs.blocksize": str(BLOCK),
    "spark.hadoop.dfs.replication": str(REPLICATION),
    "spark.hadoop.fs.local.block.size": str(BLOCK),
}


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="bench/workload", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=[*NAMES, "all", "table", "list"])
    parser.add_argument("--size", choices=SIZE_NAMES, default=DEFAULT_SIZE)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=N", help="another number of the size")
    parser.add_argument("--local", action="store_true", help="in one JVM, without HDFS")
    parser.add_argument("--into", type=Path, default=Path("workloads"), help="folder (default: %(default)s)")
    parser.add_argument("--build", type=Path, default=ROOT / "build/default", help="where the programs are")
    options = parser.parse_args(arguments)
    options.given = {}
    if options.set and options.name not in NAMES:
        parser.error("--set is of one workload")
    for word in options.set:
        key, equals, number = word.partition("=")
        known = ["partitions", *SIZES[options.name][options.size]]
        if key not in known or not equals or not number.isdigit() or int(number) == 0:
            parser.error(f"--set {word}: KEY=N with KEY of {', '.join(known)}, N at least 1")
        options.given[key] = int(number)
    return options


def sizes_of(name, options):
    return {"partitions": PARTITIONS, **SIZES[name][options.size], **options.given}


def show_sizes():
    for name, sizes in SIZES.items():
        for size, numbers in sizes.items():
            print(f"{name:12} {size:6}", " ".join(f"{key}={value}" for key, value in numbers.items()))


class Local:
    """One JVM, with the agent, on the host's own disk."""

    def __init__(self, work, daemon):
        self.work, self.daemon = work, daemon
        self.events = work / "events"
        self.events.mkdir()

    def submit(self, step, name, sizes):
        """Only the run itself is traced, and leaves an event log."""
        java, properties = SHORT_LIVED_JVM, {"spark.ui.enabled": "false"}
        if step == "run":
            java += f" -javaagent:{agent_jar()}=receivers={self.daemon.thrift},sampling=always,spark.operations=all"
            properties = {**EVENTS, "spark.eventLog.dir": f"file://{self.events}", "spark.app.name": f"{name} {step}"}
        options = ["--driver-memory", "1g", "--driver-java-options", java]
        words = [name, f"file://{self.work}/{name}", step, *sizes]
        return submit(
            DEFAULT_SPARK, "local[2]", words, options=options, properties=properties, log=self.work / "work.log"
        )

    def put(self, folder, name):
        shutil.copytree(folder, self.work / name / "input")

    def settle(self):
        flush(self.daemon)


class OnHdfs:
    """HDFS and a standalone Spark, each process its own JVM, all traced."""

    def __init__(self, work, daemon, stack):
        self.work, self.daemon = work, daemon
        hosts = Loopback()
        agent = Agent({"receivers": daemon.thrift, "sampling": "always", "spark.operations": "all"})
        hdfs = {"dfs.blocksize": str(BLOCK), "dfs.replication": str(REPLICATION)}
        self.hdfs = stack.enter_context(Cluster(work / "hdfs", HADOOP, DATANODES, hosts=hosts, hdfs=hdfs, agent=agent))
        self.spark = stack.enter_context(
            Standalone(work / "spark", DEFAULT_SPARK, WORKERS, hosts=hosts, agent=agent, conf=EVENTS)
        )
        self.events = self.spark.events

    def submit(self, step, name, sizes):
        words = [name, self.hdfs.url(f"/{name}"), step, *sizes]
        return self.spark.run(jar(DEFAULT_SPARK), words, f"{name}-{step}").splitlines()

    def _shell(self, *words):
        shell = self.hdfs.java("shell", "org.apache.hadoop.fs.FsShell", words, agent=None)
        if shell.wait() != 0:
            raise ClusterError(f"{' '.join(map(str, words))}: {self.hdfs.log_end('shell')}")

    def put(self, folder, name):
        self._shell("-mkdir", "-p", f"/{name}")
        self._shell("-put", str(folder), f"/{name}/input")

    def settle(self):
        self.hdfs.wait_all_sent()
        flush(self.daemon)


def make_data(bed, name, sizes):
    if name != "tpch":
        bed.submit("generate", name, [f"{key}={value}" for key, value in sizes.items()])
        return
    tpch_tables(sizes["scale"] / 1000, bed.work / "tpch-tables")
    bed.put(bed.work / "tpch-tables", name)


def export(daemon, build, begin_ms, path):
    """Spans from then on."""
    command = [build / "analyzer/plumb", "--server", daemon.http, "export", "--since", str(begin_ms * 1_000_000)]
    with open(path, "wb") as out, subprocess.Popen(command, stdout=subprocess.PIPE) as spans:
        subprocess.run(["zstd", "-q", "-c"], stdin=spans.stdout, stdout=out, check=True)
    if spans.returncode != 0:
        raise ClusterError("the spans could not be exported")


def keep(bed, name, options, lines, partial):
    """What is known of the run, which was the last application."""
    partial.mkdir(parents=True)
    log = max(bed.events.iterdir(), key=lambda path: path.stat().st_mtime)
    shutil.copy(log, partial / "events")
    (begin_ms,) = (
        json.loads(line)["Timestamp"]
        for line in log.read_text().splitlines()
        if line.startswith('{"Event":"SparkListenerApplicationStart"')
    )
    waited = bed.daemon.ask("bottleneck", root="SparkTask", since=begin_ms * 1_000_000, limit=0)
    (partial / "waited.json").write_text(json.dumps(waited, indent=1) + "\n")
    export(bed.daemon, options.build, begin_ms, partial / "spans.jsonl.zst")
    about = {
        "workload": name,
        "sizes": sizes_of(name, options),
        "application": log.name,
        "spark": DEFAULT_SPARK,
        "hadoop": None if options.local else HADOOP,
        "environment": environment(options.build),
        "said": [json.loads(line) for line in lines if line.startswith("{")],
    }
    (partial / "run.json").write_text(json.dumps(about, indent=1) + "\n")
    return waited


def run_workload(bed, name, options):
    """The folder of the run, what it said, and whom it waited for."""
    sizes = sizes_of(name, options)
    make_data(bed, name, sizes)
    lines = bed.submit("run", name, [f"{key}={value}" for key, value in sizes.items()])
    bed.settle()
    kept = bed.work / f"{name}-kept"
    waited = keep(bed, name, options, lines, kept)

    taken = [int(path.name.rsplit("-", 1)[1]) for path in options.into.glob(f"{name}-[0-9]*")]
    into = options.into / f"{name}-{max(taken, default=0) + 1}"
    partial = into.with_name(f".{into.name}")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(kept, partial)
    partial.rename(into)
    return into, lines, waited


def run_all(options, names):
    """One after the other on one bed; goes on after one that failed. How many did."""
    failed = 0
    options.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plumb-workload-") as folder, ExitStack() as stack:
        daemon = stack.enter_context(plumbd(options.build))
        work = Path(folder)
        bed = Local(work, daemon) if options.local else OnHdfs(work, daemon, stack)
        for name in names:
            try:
                into, lines, waited = run_workload(bed, name, options)
            except ClusterError as error:
                failed += 1
                print(f"workload: {name}: {error}", file=sys.stderr, flush=True)
                continue
            print(*lines, sep="\n")
            for wait in waited.get("waits", []):
                place = " ".join(wait[key] for key in ("role", "resource") if key in wait)
                print(f"  {100 * wait['share']:5.1f} %  {place}")
            print(into, flush=True)
    return failed


def main(arguments=None):
    options = parse(arguments)
    if options.name == "list":
        return show_sizes()
    if options.name == "table":
        return print(table(options.into))
    names = [options.name]
    if options.name == "all":
        names = [name for name in NAMES if not list(options.into.glob(f"{name}-[0-9]*"))]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        failed = run_all(options, names) if names else 0
    except (ClusterError, OSError) as error:
        sys.exit(f"workload: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
