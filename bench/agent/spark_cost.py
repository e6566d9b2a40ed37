"""What traced tasks and operations cost jobs of Spark on this machine, as Markdown: over text, in one JVM, traced and
not in pairs; processor time of the tasks' threads (Spark's Executor CPU Time), and of the whole process with the
agent's threads.

    /usr/bin/python3 -m bench.agent.spark_cost [--spark 4.3.0] [--pairs 20] [--jobs count,words,sort]
        [--set spark.operations=sources ...]
"""

import argparse
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.agent.sink import Sink
from script.hdfs.jars import agent_jar
from script.hdfs.spark import spark_home, spark_program

ROOT = Path(__file__).resolve().parents[2]

WORDS = 14


def write_lines(path, lines):
    draw = random.Random(1)
    words = ["".join(draw.choice("abcdefghij") for _ in range(draw.randint(3, 9))) for _ in range(5000)]
    with open(path, "w", encoding="ascii") as out:
        for _ in range(lines):
            out.write(" ".join(draw.choice(words) for _ in range(WORDS)) + "\n")


def prepare(work, options):
    """The jobs' jar and their input."""
    load = ROOT / "bench/agent/load"
    sources = [load / "AgentBean.java", *(load / "spark").glob("*.java")]
    spark_program(sources, "SparkCost", work / "program", options.spark)
    write_lines(work / "lines", options.lines)


def measure(work, options, job, address):
    """[(tasks traced, not, process traced, not)] in ns of processor time."""
    settings = "".join(f",{setting}" for setting in options.set)
    command = [
        spark_home(options.spark) / "bin" / "spark-submit",
        "--master",
        "local[1]",
        "--driver-memory",
        "1g",
        "--driver-java-options",
        f"-javaagent:{agent_jar()}=receivers={address},sampling=never{settings} {options.java}",
        "--conf",
        "spark.ui.enabled=false",
        work / "program/program.jar",
        job,
        f"file://{work}/lines",
        options.warm_ups,
        options.pairs,
    ]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"spark_cost: the job failed\n{done.stderr[-3000:]}")
    return [tuple(map(int, line.split()[1:])) for line in done.stdout.splitlines() if line.startswith("pair ")]


def interval(values):
    """Median, and the middle 90 % of the medians of samples drawn from these values."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(1000))
    return f"{statistics.median(values):+.1f} % ({medians[50]:+.1f} to {medians[950]:+.1f})"


def row(work, options, job):
    with Sink() as sink:
        pairs = measure(work, options, job, sink.address)
        time.sleep(1)
        spans = sink.spans()
    if not spans:
        sys.exit("spark_cost: no span came: nothing was traced")
    more = statistics.median((traced - plain) / options.lines for traced, plain, _, _ in pairs)
    plain = statistics.median(plain / options.lines for _, plain, _, _ in pairs)
    tasks = interval([100 * (traced / plain - 1) for traced, plain, _, _ in pairs])
    process = interval([100 * (traced / plain - 1) for _, _, traced, plain in pairs])
    return f"| {job} | {plain:.0f} ns | {more:+.0f} ns | {tasks} | {process} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spark", default="4.3.0")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--warm-ups", type=int, default=5)
    parser.add_argument("--lines", type=int, default=500_000, help="of about 98 bytes")
    parser.add_argument("--jobs", default="count,words,sort", help="count: five maps and filters")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the agent")
    parser.add_argument("--java", default="-XX:+UseSerialGC", help="options of the JVM")
    options = parser.parse_args()
    print(
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({platform.machine()}), Spark {options.spark}, "
        f"{options.java}; {options.pairs} pairs {' '.join(options.set)}\n"
    )
    print(
        "| job | a line, not traced | traced, more | of its tasks' threads | of the process |\n|---|---|---|---|---|",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="plumb-spark-cost-") as folder:
        prepare(Path(folder), options)
        for job in options.jobs.split(","):
            print(row(Path(folder), options, job), flush=True)


if __name__ == "__main__":
    main()
