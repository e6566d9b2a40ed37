"""Runs a workload of HiBench, written anew with the same operations in the same order, on a traced HDFS under a real
Spark, and keeps what is known of the run.

    bench/workload NAME... [--size tiny|small|here] [--set KEY=N] [--into DIR]
    bench/workload NAME... --local     in one JVM, on this host's own disk, without HDFS
    bench/workload NAME... --rules     the same, with rules of Byteman in place of the agent
    bench/workload all [--into DIR]    one after the other, those that have not run yet
    bench/workload table [--into DIR]  what came out of the runs in DIR
    bench/workload list                names and sizes

A run leaves DIR/NAME-N (default: ./workloads; NAME-local-N and NAME-rules-N of one JVM): run.json (sizes, versions,
seconds, what came out), events (Spark's event log), operations.json (of each stage: the answer of "operations"),
pipelines.json (of the three stages with most time in operations: the answers of "pipelines"), and, with the agent,
spans.jsonl.zst (every span) and waited.json (whom its tasks waited for: the answer of "bottleneck" about SparkTask).
It is there whole or not at all; bench/study workloads --from DIR says what follows from all of them.
Data is made by the same program before, of which nothing is kept; of tpch it comes from tpchgen-cli, and its results
are no results of TPC. Needs no root; some 4 GB of memory with HDFS.
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
from bench.workloads.results import runs_of, table
from bench.workloads.sizes import NAMES, SIZE_NAMES, SIZES
from script.hdfs.attach import Agent
from script.hdfs.cluster import SHORT_LIVED, Cluster
from script.hdfs.jars import ROOT, ClusterError, agent_jar, built_jar, whole_jar
from script.spark.hosts import Loopback
from script.spark.standalone import DEFAULT_SPARK, Standalone
from script.spark.verdicts import QUESTION_MEMORY

HADOOP = "3.5.0"
DATANODES, WORKERS = 3, 3
BLOCK, REPLICATION = 1 << 20, 2
DEFAULT_SIZE = "here"
PARTITIONS = 8
PICTURED = 3  # stages
MANY = ["--set", "partitions=32"]
SIZED, LINES = "wordcount", [426, 6_000, 600_000]  # besides the usual one
SHORT_LIVED_JVM = " ".join(SHORT_LIVED)
# The other collector of operations (docs/spark.md, "Operation logs").
BYTEMAN = "4.0.25"
RULES = ROOT / "tracer-patches/byteman/spark-operations.btm"
LOCAL_HOST = "localhost"  # of rules' lines, which do not say it
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
    parser.add_argument("names", nargs="+", metavar="name", choices=[*NAMES, "all", "table", "list"])
    parser.add_argument("--size", choices=SIZE_NAMES, default=DEFAULT_SIZE)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=N", help="another number of the size")
    parser.add_argument("--local", action="store_true", help="in one JVM, without HDFS")
    parser.add_argument("--rules", action="store_true", help="the same with rules of Byteman in place of the agent")
    parser.add_argument("--into", type=Path, default=Path("workloads"), help="folder (default: %(default)s)")
    parser.add_argument("--build", type=Path, default=ROOT / "build/default", help="where the programs are")
    options = parser.parse_args(arguments)
    options.given = {}
    (name, *more) = options.names
    if more and not set(options.names) <= set(NAMES):
        parser.error("all, table and list stand alone")
    known = ["partitions", *([] if more or name not in NAMES else SIZES[name][options.size])]
    for word in options.set:
        key, equals, number = word.partition("=")
        if key not in known or not equals or not number.isdigit() or int(number) == 0:
            parser.error(f"--set {word}: KEY=N with KEY of {', '.join(known)}, N at least 1")
        options.given[key] = int(number)
    return options


def sizes_of(name, options, given):
    return {"partitions": PARTITIONS, **SIZES[name][options.size], **given}


def show_sizes():
    for name, sizes in SIZES.items():
        for size, numbers in sizes.items():
            print(f"{name:12} {size:6}", " ".join(f"{key}={value}" for key, value in numbers.items()))


class Local:
    """One JVM, with the agent or with rules of Byteman, on the host's own disk."""

    def __init__(self, work, daemon, rules):
        self.work, self.daemon, self.rules = work, daemon, rules
        self.events, self.log = work / "events", work / "operations.log"
        self.events.mkdir()

    def collector(self):
        """Options of a JVM whose operations are measured."""
        if self.rules:
            byteman = whole_jar("org.jboss.byteman", "byteman", BYTEMAN)
            plugin = built_jar("spark-plugin", "plumb-spark-plugin-*.jar")
            return f"-javaagent:{byteman}=script:{RULES},sys:{plugin} -Dplumb.operations.log={self.log}"
        return f"-javaagent:{agent_jar()}=receivers={self.daemon.thrift},sampling=always,spark.operations=all"

    def submit(self, step, name, sizes):
        """Only the run itself is traced, and leaves an event log."""
        java, properties = SHORT_LIVED_JVM, {"spark.ui.enabled": "false"}
        if step == "run":
            self.log.unlink(missing_ok=True)
            java += f" {self.collector()}"
            properties = {**EVENTS, "spark.eventLog.dir": f"file://{self.events}", "spark.app.name": f"{name} {step}"}
        options = ["--driver-memory", "1g", "--driver-java-options", java]
        words = [name, f"file://{self.work}/{name}", step, *sizes]
        return submit(
            DEFAULT_SPARK, "local[2]", words, options=options, properties=properties, log=self.work / "work.log"
        )

    def put(self, folder, name):
        shutil.copytree(folder, self.work / name / "input")

    def settle(self, app):
        if self.rules:
            lines = ["--app", app, "--host", LOCAL_HOST, "--operations", self.log]
            self.daemon.run("spark-bridge/plumb-bridge", "--receiver", self.daemon.thrift, *lines)
        flush(self.daemon)


class OnHdfs:
    """HDFS and a standalone Spark, each process its own JVM, all traced."""

    rules = False

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

    def settle(self, _):
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


def write_json(path, document):
    path.write_text(json.dumps(document, indent=1) + "\n")


def keep_traces(bed, build, log, partial):
    """The spans of the application, and whom its tasks waited for."""
    (begin_ms,) = (
        json.loads(line)["Timestamp"]
        for line in log.read_text().splitlines()
        if line.startswith('{"Event":"SparkListenerApplicationStart"')
    )
    waited = bed.daemon.ask("bottleneck", root="SparkTask", since=begin_ms * 1_000_000, limit=0)
    write_json(partial / "waited.json", waited)
    export(bed.daemon, build, begin_ms, partial / "spans.jsonl.zst")
    return waited


def time_in(stage):
    return sum(one["mean_ms"] * one["instances"] for one in stage["operations"])


def keep_operations(daemon, app, partial):
    operations = daemon.ask("operations", app=app, limit=1)
    write_json(partial / "operations.json", operations)
    longest = sorted(operations["stages"], key=time_in, reverse=True)[:PICTURED]
    pipelines = [daemon.ask("pipelines", app=app, stage=stage["stage"]) for stage in longest]
    write_json(partial / "pipelines.json", pipelines)


def keep(bed, name, sizes, build, lines, partial):
    """What is known of the run, which was the last application. Whom it waited for."""
    partial.mkdir(parents=True)
    log = max(bed.events.iterdir(), key=lambda path: path.stat().st_mtime)
    shutil.copy(log, partial / "events")
    bed.daemon.bridge(log)
    bed.settle(log.name)
    keep_operations(bed.daemon, log.name, partial)
    waited = {} if bed.rules else keep_traces(bed, build, log, partial)
    about = {
        "workload": name,
        "collector": "rules" if bed.rules else "agent",
        "sizes": sizes,
        "application": log.name,
        "spark": DEFAULT_SPARK,
        "hadoop": HADOOP if isinstance(bed, OnHdfs) else None,
        "environment": environment(build),
        "said": [json.loads(line) for line in lines if line.startswith("{")],
    }
    write_json(partial / "run.json", about)
    return waited


def stem_of(name, options):
    """Of the folders of its runs."""
    return f"{name}-rules" if options.rules else f"{name}-local" if options.local else name


def run_workload(bed, name, options, sizes):
    """The folder of the run, what it said, and whom it waited for."""
    make_data(bed, name, sizes)
    lines = bed.submit("run", name, [f"{key}={value}" for key, value in sizes.items()])
    kept = bed.work / f"{name}-kept"
    waited = keep(bed, name, sizes, options.build, lines, kept)

    stem = stem_of(name, options)
    taken = [int(path.name.rsplit("-", 1)[1]) for path in runs_of(options.into, stem)]
    into = options.into / f"{stem}-{max(taken, default=0) + 1}"
    partial = into.with_name(f".{into.name}")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(kept, partial)
    shutil.rmtree(kept)
    partial.rename(into)
    return into, lines, waited


def wanted(options):
    """(name, its sizes) of each that is to run: of those that are named; of all those that have not run."""
    names = options.names
    if names == ["all"]:
        names = [name for name in NAMES if not runs_of(options.into, stem_of(name, options))]
    return [(name, sizes_of(name, options, options.given)) for name in names]


def run_all(options, works):
    """One after the other on one bed; goes on after one that failed. How many did. works: of wanted()."""
    failed = 0
    if not works:
        return failed
    options.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plumb-workload-") as folder, ExitStack() as stack:
        daemon = stack.enter_context(plumbd(options.build, ["--set", f"http.question-memory={QUESTION_MEMORY}"]))
        work = Path(folder)
        alone = options.local or options.rules
        bed = Local(work, daemon, options.rules) if alone else OnHdfs(work, daemon, stack)
        for name, sizes in works:
            try:
                into, lines, waited = run_workload(bed, name, options, sizes)
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


def record(build, into):
    """What has not run yet: on HDFS, one of them in several sizes, and in one JVM by each collector, there with tasks
    enough for its state to be told. How many failed."""
    failed = 0
    for way in ([], ["--local", *MANY], ["--rules", *MANY]):
        options = parse(["all", "--into", str(into), "--build", str(build), *way])
        works = wanted(options)
        if not way:
            there = [json.loads(path.read_text())["sizes"] for path in into.glob(f"{SIZED}-[0-9]*/run.json")]
            more = [sizes_of(SIZED, options, {"lines": lines}) for lines in LINES]
            works += [(SIZED, sizes) for sizes in more if sizes not in there]
        failed += run_all(options, works)
    return failed


def main(arguments=None):
    options = parse(arguments)
    if options.names == ["list"]:
        return show_sizes()
    if options.names == ["table"]:
        return print(table(options.into))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        failed = run_all(options, wanted(options))
    except (ClusterError, OSError) as error:
        sys.exit(f"workload: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
