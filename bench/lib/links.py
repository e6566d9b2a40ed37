"""How often each kind of link finds the task that a trace of HDFS served, measured on a real run where that is known.

    bench/links                 runs a job (scan, word count, Parquet) on a traced HDFS, into ./links, and the table
    bench/links table           the table again, from what was recorded

The agent's own scopes say which task each call of HDFS belongs to. They are then taken away: each call directly below a
task's or an operation's span becomes a trace with an id of its own, as on a site whose Spark is not traced, and the
linker is asked again. Recording needs root (hosts of their own), and some 5 GB of memory. docs/spark.md has a table.
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from script.hdfs.cluster import write_site
from script.hdfs.jars import ClusterError
from script.spark.hosts import HostError, why_no_namespaces
from script.spark.runs import Bed
from script.spark.scopes import without_scopes
from script.spark.verdicts import Plumbd

ROOT = Path(__file__).resolve().parents[2]

CORES = 3
JOB = ("mixed", ["/text", "/out"])
THREAD_NAMES = """rootLogger.level = info
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss,SSS} %p [%t] %c{1}: %m%n
"""


def record(options):
    shutil.rmtree(options.into, ignore_errors=True)
    with TemporaryDirectory(prefix="plumb-links-") as work:
        site = Path(work, "conf")
        site.mkdir()
        write_site(site / "core-site.xml", {"hadoop.caller.context.enabled": "true"})
        if options.thread_names:
            (site / "log4j2.properties").write_text(THREAD_NAMES)
        conf = {f"spark.{process}.extraClassPath": str(site) for process in ("driver", "executor")}
        with Bed(Path(work, "bed"), options.build, options.spark, cores=options.cores, conf=conf, job=JOB) as bed:
            bed.run("none", options.into)


def load(options, work):
    """A store with the run's records and its spans without scopes; closed."""
    about = json.loads((options.into / "run.json").read_text())
    named = Path(work, about["application"])
    shutil.copy(options.into / "events", named)
    plumbd = Plumbd(options.build, work)
    try:
        with subprocess.Popen(
            ["zstd", "-dc", str(options.into / "spans.jsonl.zst")], stdout=subprocess.PIPE, text=True
        ) as plain:
            spans, truth = without_scopes(plain.stdout)
        if plain.returncode != 0:
            raise ClusterError(f"{options.into}/spans.jsonl.zst cannot be read")
        Path(work, "spans.jsonl").write_text("".join(json.dumps(span) + "\n" for span in spans))
        Path(work, "truth").write_text("".join(f"{trace} {task} {ns}\n" for trace, (task, ns) in truth.items()))
        plumbd.run(
            "analyzer/plumb", "import", "--thrift", plumbd.thrift, "--server", plumbd.http, Path(work, "spans.jsonl")
        )
        plumbd.bridge(named)
        for log in sorted((options.into / "executors").glob("*.log")):
            worker, executor = log.stem.rsplit("-", 1)
            plumbd.bridge(
                "--app",
                about["application"],
                "--executor",
                executor,
                "--host",
                worker,
                "--zone",
                "UTC",
                "--executor-log",
                log,
            )
    finally:
        plumbd.stop()
    return about["application"]


def table(options):
    with TemporaryDirectory(prefix="plumb-links-") as work:
        app = load(options, work)
        subprocess.run([str(options.build / "bench/bench_links"), f"{work}/store", app, f"{work}/truth"], check=True)


def main():
    parser = argparse.ArgumentParser(
        prog="bench/links", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["all", "run", "table"], default="all")
    parser.add_argument("--into", type=Path, default=Path("links"), help="folder of the recorded run (default ./links)")
    parser.add_argument(
        "--cores", type=int, default=CORES, help="tasks at once on each of 3 hosts (default %(default)s)"
    )
    parser.add_argument("--thread-names", action="store_true", help="in the lines of executors' logs")
    parser.add_argument("--spark", default="4.3.0", help="version (default %(default)s)")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "default", help="where the programs are")
    options = parser.parse_args()
    options.into, options.build = options.into.resolve(), options.build.resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if options.what != "table":
            if why_no_namespaces():
                sys.exit(f"links: hosts of their own cannot be made here: {why_no_namespaces()}")
            record(options)
        if options.what != "run":
            table(options)
    except (ClusterError, HostError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"links: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
