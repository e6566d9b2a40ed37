"""Does what plumb advise proposes make a job faster, by about what it says? Runs jobs with one fault each on a real
Spark, applies what plumb advise --conf prints, unread, and runs them again.

    bench/advise [--spark VERSION...] [--job NAME...] [--repeat N]
    bench/advise --simulate [--recorded] [--spark VERSION...]
    bench/advise --million [TASKS]

The table: task time before and after in core-seconds, and what of it the processor worked, which other work on the
machine does not change; what was predicted to be saved of task time, without that of cores that stood idle, and what
was; the same of the time in which jobs ran (by plumb advise --simulate); and whether the rule's finding is gone. With
--repeat each runs so many times, before and after in turns, and the table has medians. --simulate runs one job with one
executor, two and three, and holds what plumb advise --simulate makes of each against the others. --million measures
advice on an application of a million tasks with plans of Spark SQL."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.lib import advise_million, advise_simulate
from script.hdfs.spark import spark_home

ROOT = Path(__file__).resolve().parents[2]
PLUMB = ROOT / "build/default/analyzer/plumb"
PROGRAM = Path(__file__).resolve().parent / "advise_jobs.py"
VERSIONS = ["4.3.0", "3.5.6"]
NS = 1e9
SECONDS = 300
COLUMNS = ["Spark", "job", "settings advised", "task s", "after", "change", "foretold", "CPU s", "after", "change"]
FIGURES = ("task", "cpu", "time", "saves", "saves_s")
COLUMNS += ["saves", "saved", "time of jobs s", "after", "saves", "saved", "found", "gone"]
# What these save are cores that stood idle, and no task's time.
OF_IDLE_CORES = {"few-partitions", "skew", "idle", "driver", "locality"}
NOT_ADAPTIVE = {"spark.sql.adaptive.enabled": "false"}

# name: (rule that is to find it, cores, settings)
JOBS = {
    "spill": ("spill", 2, {**NOT_ADAPTIVE, "spark.driver.memory": "512m", "spark.sql.shuffle.partitions": "2"}),
    "two": ("few-partitions", 4, {**NOT_ADAPTIVE, "spark.driver.memory": "512m", "spark.sql.shuffle.partitions": "2"}),
    "tiny": ("many-partitions", 2, {**NOT_ADAPTIVE, "spark.sql.shuffle.partitions": "2000"}),
    "skew": ("skew", 2, {**NOT_ADAPTIVE, "spark.sql.shuffle.partitions": "64"}),
    "small": (
        "small-input",
        2,
        {**NOT_ADAPTIVE, "spark.sql.shuffle.partitions": "2", "spark.sql.files.maxPartitionBytes": "1m"},
    ),
}


class Runs:
    """One version of Spark, in a folder."""

    def __init__(self, work, version):
        self.work, self.home, self.count = Path(work), Path(spark_home(version)), 0

    def submit(self, job, master, conf):
        """Runs a job to its end; its event log. master: cores of a local one, or as Spark has it."""
        self.count += 1
        events = self.work / f"events{self.count}"
        events.mkdir()
        settings = {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.dir": f"file://{events}",
            "spark.executor.metrics.pollingInterval": "1s",
            "spark.ui.enabled": "false",
            "spark.local.dir": str(self.work),
            "spark.app.name": job,
            **conf,
        }
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
        done = subprocess.run(
            [
                self.home / "bin/spark-submit",
                "--master",
                f"local[{master}]" if isinstance(master, int) else master,
                *(word for key, value in settings.items() for word in ("--conf", f"{key}={value}")),
                PROGRAM,
                job,
                self.work,
            ],
            env={**environment, "SPARK_HOME": str(self.home), "PYSPARK_PYTHON": "/usr/bin/python3"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(f"{job} ended with {done.returncode}:\n{done.stderr[-3000:]}")
        (log,) = events.iterdir()
        return log

    def advise(self, log, *options):
        store = log.parent / "store"
        if not store.exists():
            subprocess.run([PLUMB, "import", "--store", store, log], capture_output=True, check=True)
        return subprocess.run(
            [PLUMB, "advise", "latest", "--store", store, *options], capture_output=True, text=True, check=True
        ).stdout


def settings_of(lines):
    """What spark-submit would make of them."""
    return dict(line.removeprefix("--conf ").split("=", 1) for line in lines.splitlines())


def applied(answer):
    """Findings all of whose changes are."""
    return [f for f in answer["findings"] if f["changes"] and not any(c.get("conflict") for c in f["changes"])]


def predicted(answer):
    return sum(one["saves_ns"] for one in applied(answer) if one["rule"] not in OF_IDLE_CORES) / NS


def jobs_s(simulation):
    """In which any job ran."""
    return (simulation["measured_ns"] - simulation["driver_ns"]) / NS


def predicted_s(answer, simulation):
    rules = {finding["rule"] for finding in applied(answer)}
    return sum(row["saves_ns"] for row in simulation["what_if"] if row["rule"] in rules) / NS


def cpu_s(log):
    """Of the processor, in all tasks."""
    total_ns = 0
    with log.open() as lines:
        for line in lines:
            if line.startswith('{"Event":"SparkListenerTaskEnd"'):
                task = json.loads(line).get("Task Metrics") or {}
                total_ns += task.get("Executor CPU Time", 0) + task.get("Executor Deserialize CPU Time", 0)
    return total_ns / NS


def run_once(runs, name, conf):
    log = runs.submit(name, JOBS[name][1], conf)
    answer = json.loads(runs.advise(log, "--json"))
    simulation = json.loads(runs.advise(log, "--simulate", "--json"))["simulation"]
    return {
        "answer": answer,
        "conf": settings_of(runs.advise(log, "--conf")),
        "simulation": simulation,
        "task": answer["task_ns"] / NS,
        "cpu": cpu_s(log),
        "time": jobs_s(simulation),
        "saves": predicted(answer),
        "saves_s": predicted_s(answer, simulation),
    }


def measure(runs, name, repeats):
    rule, cores, conf = JOBS[name]
    if name == "small":
        runs.submit("make_small", cores, conf)
    before = [run_once(runs, name, conf)]
    advised = before[0]["conf"]
    after = [run_once(runs, name, {**conf, **advised})]
    for repeat in range(1, repeats):
        # What runs second may find another machine: each comes first in turn.
        for of, settings in ((after, {**conf, **advised}), (before, conf))[:: 1 if repeat % 2 else -1]:
            of.append(run_once(runs, name, settings))
    return {
        "job": name,
        "settings": advised,
        "found": all(any(f["rule"] == rule for f in run["answer"]["findings"]) for run in before),
        "gone": not any(f["rule"] == rule for run in after for f in run["answer"]["findings"]),
        "before": {key: median(run[key] for run in before) for key in FIGURES},
        "after": {key: median(run[key] for run in after) for key in FIGURES},
    }


def print_row(version, row):
    before, after = row["before"], row["after"]
    settings = ", ".join(f"{key.removeprefix('spark.')} {value}" for key, value in row["settings"].items()) or "none"
    cells = [version, row["job"], settings]
    for figure in ("task", "cpu"):
        change = 100 * (after[figure] / before[figure] - 1)
        cells += [f"{before[figure]:.1f}", f"{after[figure]:.1f}", f"{change:+.0f} %"]
        if figure == "task":
            cells.append(f"{-100 * before['saves'] / before['task']:+.0f} %")
    cells += [f"{before['saves']:.1f}", f"{before['task'] - after['task']:.1f}"]
    cells += [f"{before['time']:.1f}", f"{after['time']:.1f}"]
    cells += [f"{before['saves_s']:.1f}", f"{before['time'] - after['time']:.1f}"]
    cells += ["yes" if row["found"] else "NO", "yes" if row["gone"] else "NO"]
    print(f"| {' | '.join(cells)} |", flush=True)


def simulate(options):
    advise_simulate.print_head()
    for version in options.spark or (VERSIONS[:1] if options.recorded else VERSIONS):
        with tempfile.TemporaryDirectory(prefix="bench-advise-") as work:
            if options.recorded:
                logs = advise_simulate.recorded(ROOT / "tests/data/spark" / version)
            else:
                runs = Runs(work, version)
                logs = {
                    executors: runs.submit("waits", f"local-cluster[{executors},1,1024]", advise_simulate.CONF)
                    for executors in advise_simulate.EXECUTORS
                }
            advise_simulate.print_table(PLUMB, version, logs)
    return 0


def main():
    parser = argparse.ArgumentParser(
        prog="bench/advise", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--spark", action="append", choices=VERSIONS, help="only this version; may be given again")
    parser.add_argument("--job", action="append", choices=list(JOBS), help="only this job; may be given again")
    parser.add_argument("--repeat", metavar="N", type=int, default=1, help="each run so many times; 1 unless said")
    parser.add_argument("--keep", metavar="DIR", help="leave event logs in this folder")
    parser.add_argument("--simulate", action="store_true", help="hold simulations against runs")
    parser.add_argument("--recorded", action="store_true", help="with --simulate: of the logs that the tests have")
    parser.add_argument("--million", nargs="?", type=int, const=1_000_000, metavar="TASKS", help="measure a large one")
    options = parser.parse_args()
    if options.simulate:
        return simulate(options)
    if options.million:
        advise_million.measure(PLUMB, options.million)
        return 0

    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for version in options.spark or VERSIONS:
        with tempfile.TemporaryDirectory(prefix="bench-advise-") as work:
            folder = Path(options.keep, version) if options.keep else Path(work)
            folder.mkdir(parents=True, exist_ok=True)
            runs = Runs(folder, version)
            for name in options.job or JOBS:
                print_row(version, measure(runs, name, options.repeat))
    return 0


if __name__ == "__main__":
    sys.exit(main())
