#!/usr/bin/python3
"""What traced tasks and operations cost a job of Spark on this machine, as Markdown: maps and filters over text, in one JVM,
traced and not in pairs; processor time of the whole process, the agent's and the receiver's threads included.

    bench/agent/spark_cost.py [--spark 4.3.0] [--pairs 20]
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

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "script" / "hdfs"), str(Path(__file__).resolve().parent)]

from jars import agent_jar, run  # noqa: E402
from sink import Sink  # noqa: E402
from spark import spark_home  # noqa: E402

WORDS = 14


def write_lines(path, lines):
    draw = random.Random(1)
    words = ["".join(draw.choice("abcdefghij") for _ in range(draw.randint(3, 9))) for _ in range(5000)]
    with open(path, "w", encoding="ascii") as out:
        for _ in range(lines):
            out.write(" ".join(draw.choice(words) for _ in range(WORDS)) + "\n")


def measure(work, options, address):
    """[(traced, not traced)] in ns of processor time."""
    home, classes = spark_home(options.spark), work / "classes"
    classes.mkdir()
    run(["javac", "-nowarn", "--release", "17", "-cp", f"{home}/jars/*", "-d", classes,
         ROOT / "bench" / "agent" / "load" / "AgentBean.java", *(ROOT / "bench" / "agent" / "load" / "spark").glob("*.java")],
        "javac failed")
    run(["jar", "--create", "--file", work / "cost.jar", "--main-class", "SparkCost", "-C", classes, "."], "jar failed")
    write_lines(work / "lines", options.lines)
    command = [home / "bin" / "spark-submit", "--master", "local[1]", "--driver-memory", "1g", "--driver-java-options",
               f"-javaagent:{agent_jar()}=receivers={address},sampling=never -XX:+UseSerialGC", "--conf", "spark.ui.enabled=false",
               work / "cost.jar", f"file://{work}/lines", options.warm_ups, options.pairs]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"spark_cost: the job failed\n{done.stderr[-3000:]}")
    return [tuple(map(int, line.split()[1:])) for line in done.stdout.splitlines() if line.startswith("pair ")]


def interval(values):
    """Median, and the middle 90 % of the medians of samples drawn from these values."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(1000))
    return f"{statistics.median(values):+.1f} % ({medians[50]:+.1f} to {medians[950]:+.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spark", default="4.3.0")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--warm-ups", type=int, default=5)
    parser.add_argument("--lines", type=int, default=500_000, help="of about 98 bytes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plumb-spark-cost-") as folder, Sink() as sink:
        pairs = measure(Path(folder), options, sink.address)
        time.sleep(1)
        spans = sink.spans()
    if not spans:
        sys.exit("spark_cost: no span came: nothing was traced")
    costs = [100 * (traced / plain - 1) for traced, plain in pairs]
    per_line = statistics.median((traced - plain) / options.lines for traced, plain in pairs)
    plain = statistics.median(plain / options.lines for _, plain in pairs)
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({platform.machine()}), Spark {options.spark}; {len(pairs)} pairs\n")
    print("| a line of text, 5 operations | not traced | traced, more |\n|---|---|---|")
    print(f"| processor time | {plain:.0f} ns | {per_line:+.0f} ns; {interval(costs)} |")


if __name__ == "__main__":
    main()
