"""Records loads on a real, traced HDFS for the study of bottlenecks: a file for each run, which is there whole or not
at all, so that recording goes on where it stopped.

    DIR/ALPHA-MODE-REPEAT.run.json.gz    what `plumb load report` says of the run, with whom its requests waited for

Modes: shared (16 clients with a FileSystem each, as applications have) and new (a new FileSystem for each request, as
the thesis' generator made them). Runs are in an order that a seed shuffles, so that what the machine does meanwhile
falls on all rates alike.
"""

import gzip
import json
import random
import subprocess
import tempfile
from pathlib import Path

from bench.studies.programs import plumbd
from bench.studies.report import environment, pressure
from script.hdfs.attach import Agent
from script.hdfs.cluster import Cluster
from script.hdfs.jars import ClusterError, hadoop_jars

HADOOP = "3.5.0"
DATANODES = 3
SUFFIX = ".run.json.gz"
# The thesis' rates; seconds that are measured: a slow load needs longer to have enough requests; part that is traced.
ALPHAS = {0.001: (60, 1), 0.005: (60, 1), 0.01: (40, 1), 0.05: (20, 1), 0.1: (20, 0.5), 0.5: (20, 0.1)}
NEW_ALPHAS = [0.001, 0.01, 0.1]
REPEATS = 3
WARM_UP = "5s"
# The model's files, cut so that all fit the disk of three DataNodes on one machine in seconds.
FILES = ["--files", "100", "--max-file", "4M"]
HDFS = {"dfs.blocksize": str(128 << 20), "dfs.bytes-per-checksum": "512"}
CLIENT_JVM = ["--java-option=-Xmx512m", "--java-option=-XX:+UseSerialGC"]


def planned(repeats):
    """(alpha, mode, repeat) of each run."""
    runs = [(alpha, "shared", repeat) for alpha in ALPHAS for repeat in range(repeats)]
    runs += [(alpha, "new", repeat) for alpha in NEW_ALPHAS for repeat in range(repeats)]
    random.Random(1).shuffle(runs)
    return runs


def name_of(run):
    return "{}-{}-{}".format(*run)


def load(build, *arguments):
    done = subprocess.run(
        [build / "analyzer/plumb", "load", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ClusterError(f"plumb load {arguments[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


# Of rows: what the study adds up. Intervals within a run are not needed, since runs are its units.
REPORT = ["seconds", "due", "done", "asked_per_s", "achieved_per_s", "waited_share", "handed_on_late", "end"]
WAITED = ["found", "requests", "incomplete", "seconds", "response_ns", "spans", "packets"]
ROW = [
    "function",
    "role",
    "resource",
    "calls",
    "total_ns",
    "self_ns",
    "critical_ns",
    "share",
    "size",
    "requests",
    "bytes",
]


def only(row, names):
    return {name: row[name] for name in names if name in row}


def trimmed(report):
    """What the study needs of a report."""
    waited = report["waited"]
    kept = only(waited, WAITED)
    kept["waits"] = [only(row, ROW) for row in waited["waits"]]
    kept["functions"] = [only(row, ROW) for row in waited["functions"]]
    kept["operations"] = [
        {
            **only(operation, ROW),
            "sizes": [
                {**only(size, ROW), "waits": [only(row, ["role", "resource", "critical_ns"]) for row in size["waits"]]}
                for size in operation["sizes"]
            ],
        }
        for operation in waited["operations"]
    ]
    return {**only(report, REPORT), "waited": kept}


def record_run(build, work, cluster, daemon, run):
    """Its document."""
    alpha, mode, repeat = run
    seconds, part = ALPHAS[alpha]
    plan = work / f"{name_of(run)}.plan"
    draw = ["--preset", "table15", "--alpha", alpha, "--seed", 1 + repeat, "--duration", f"{seconds}s"]
    load(build, "plan", plan, *draw, "--warm-up", WARM_UP, *FILES, "--json")
    before = pressure()
    command = ["--classpath", f"{cluster.conf}:{hadoop_jars(HADOOP)}/*", "--folder", "/load", *CLIENT_JVM]
    command += ["--trace", daemon.thrift, "--server", daemon.http, "--sampling", f"Load#*={part};never", "--quiet"]
    report = load(build, "run", plan, *command, *(["--new-client"] if mode == "new" else []), "--json")
    plan.with_name(plan.name + ".result").unlink()
    plan.unlink()
    return {
        "alpha": alpha,
        "mode": mode,
        "repeat": repeat,
        "traced": part,
        "environment": {**environment(build), "hadoop": HADOOP, "datanodes": DATANODES},
        "pressure_before": before,
        "pressure_after": pressure(),
        "report": trimmed(report),
    }


def write_whole(path, document):
    partial = path.with_name(f".{path.name}")
    partial.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0))
    partial.rename(path)


def record(build, into, repeats=None):
    """What is not there yet; says which."""
    left = [run for run in planned(repeats or REPEATS) if not (into / f"{name_of(run)}{SUFFIX}").exists()]
    if not left:
        return
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plumb-load-") as folder, plumbd(build) as daemon:
        work = Path(folder)
        agent = Agent({"receivers": daemon.thrift, "sampling": "never"})
        with Cluster(work / "hdfs", HADOOP, DATANODES, hdfs=HDFS, agent=agent, jvm=("-XX:+UseSerialGC",)) as cluster:
            for run in left:
                path = into / f"{name_of(run)}{SUFFIX}"
                write_whole(path, record_run(build, work, cluster, daemon, run))
                print(path, flush=True)


def read(folder):
    """Documents of all runs in a folder, by name."""
    return [json.loads(gzip.decompress(path.read_bytes())) for path in sorted(folder.glob(f"*{SUFFIX}"))]
