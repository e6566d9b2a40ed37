"""What the agent costs, on this machine, as Markdown.

    bench/agent/run               all: twenty minutes
    bench/agent/run --quick       the same, coarser: six minutes
    bench/agent/run --only hdfs   one part: calls (not sampled), spans (sampled), hdfs

Other options go to `/usr/bin/python3 -m bench.agent.hdfs_cost`. bench/README.md says how to read the figures."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from script.hdfs.jars import agent_jar
from tests.conftest import Plumbd

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "bench/agent"

POLICIES = {
    "plain": "not woven",
    "never": "never",
    "never;seen": "never, after some were sampled",
    "1e-9": "a fraction, not drawn",
    "1e-9;seen": "the same, after some were sampled",
}
BENCHMARKS = {
    "root": "a root",
    "rootWithValues": "a root that would record 3 values",
    "notRoot": "a call that is no root",
    "rootWith16Below": "a root with 16 calls below it",
}
# How many traced functions a call of each is.
FUNCTIONS = {"rootWith16Below": 17}


def java(receiver, main, *arguments, **options):
    agent = f"-javaagent:{agent_jar()}=functions={HERE}/functions.conf,sampling=never,receivers={receiver}"
    class_path = f"{HERE}/target/classes:{HERE}/target/lib/*"
    return subprocess.run(
        ["java", agent, "-Xmx512m", "-XX:+UseG1GC", "-cp", class_path, main, *map(str, arguments)],
        check=True,
        **options,
    )


def table(head, rows):
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def calls(receiver, quick):
    """JMH: forks inherit the agent."""
    shape = (
        ["-f", "1", "-wi", "3", "-i", "3", "-w", "500ms", "-r", "500ms"]
        if quick
        else ["-f", "2", "-wi", "3", "-i", "5", "-w", "1", "-r", "1"]
    )
    with tempfile.NamedTemporaryFile(suffix=".json") as found:
        java(
            receiver,
            "org.openjdk.jmh.Main",
            "NotSampled",
            *shape,
            "-prof",
            "gc",
            "-rf",
            "json",
            "-rff",
            found.name,
            "-v",
            "SILENT",
            stdout=subprocess.DEVNULL,
        )
        results = {(one["benchmark"].rsplit(".", 1)[1], one["params"]["policy"]): one for one in json.load(found)}

    def cell(benchmark, policy):
        one = results[benchmark, policy]
        time, error = one["primaryMetric"]["score"], one["primaryMetric"]["scoreError"]
        bytes_each = one["secondaryMetrics"]["gc.alloc.rate.norm"]["score"]
        return f"{time:.1f} ± {error:.1f} ns, {bytes_each:.1f} B"

    print("\n### A call that is not sampled: time, and bytes allocated (JMH)")
    table(
        ["call", *POLICIES.values()],
        [[text, *(cell(name, policy) for policy in POLICIES)] for name, text in BENCHMARKS.items()],
    )
    return dearest(results)


def dearest(results):
    """Of policies that sample nothing, and of those that decide for each root: ns that a traced function costs at
    most."""

    def more(name, policy):
        plain, woven = (results[name, one]["primaryMetric"]["score"] for one in ("plain", policy))
        return (woven - plain) / FUNCTIONS.get(name, 1)

    return [
        max(more(name, policy) for name in BENCHMARKS for policy in POLICIES if policy.startswith(kind))
        for kind in ("never", "1e-9")
    ]


def spans(receiver, quick):
    per_second, seconds = 100_000, 2 if quick else 8
    lines = java(
        receiver, "io.plumbline.bench.Sampled", per_second, seconds, stdout=subprocess.PIPE, text=True
    ).stdout.splitlines()
    print(f"\n### A sampled span, {per_second:,} a second: processor time and bytes allocated, above those of the call")
    table(
        ["call", "in the application's thread", "in the thread that sends", "spans dropped"],
        [
            [name, f"{app_ns} ns, {app_bytes} B", f"{send_ns} ns, {send_bytes} B", dropped]
            for name, app_ns, app_bytes, send_ns, send_bytes, dropped in (line.split("|") for line in lines)
        ],
    )


def main():
    parser = argparse.ArgumentParser(
        prog="bench/agent/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["calls", "spans", "hdfs"])
    options, others = parser.parse_known_args()
    call_ns = []
    for kind in ("jar",) if "PLUMB_BUILD" in os.environ else ("default", "jar"):
        subprocess.run([str(ROOT / "script/build"), kind], check=True)
    if options.only != "hdfs":
        subprocess.run(
            ["mvn", "-q", "-B", "-ntp", "-Dstyle.color=never", "-f", str(HERE / "pom.xml"), "package"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        build = Path(os.environ.get("PLUMB_BUILD") or ROOT / "build/default")
        with tempfile.TemporaryDirectory(prefix="plumb-bench-") as folder:
            plumbd = Plumbd(build / "receiver/plumbd", folder, trace__idle="1s", trace__max_age="5s").start()
            try:
                receiver = "{}:{}".format(*plumbd.thrift)
                if options.only in (None, "calls"):
                    call_ns = ["--call-ns", *map(str, calls(receiver, options.quick))]
                if options.only in (None, "spans"):
                    spans(receiver, options.quick)
            finally:
                plumbd.clean_up()
    if options.only in (None, "hdfs"):
        quick = ["--quick"] if options.quick else []
        subprocess.run([sys.executable, "-m", "bench.agent.hdfs_cost", *quick, *call_ns, *others], check=True)


if __name__ == "__main__":
    main()
