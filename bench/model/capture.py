"""Captures the model of the load generator from a real HDFS: /usr/bin/python3 -m bench.model.capture --work DIR

Writes beside itself, from what HTrace's own LocalFileSpanReceiver wrote in every JVM of a cluster under tests/hdfs's
load:
hdfs-VERSION.jsonl          traces as templates, spans as HTrace 4 JSON lines, those of one trace together, root first
hdfs-VERSION.summary.json   for each template how many traces had its shape; for each function its calls, durations and
                            children
"""

import argparse
import json
import math
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from script.hdfs.cluster import DEFAULT_VERSION, Cluster, tracing, workload_classes

HERE = Path(__file__).resolve().parent

MAX_TEMPLATE_BYTES = 95_000
# The shapes of a function's traces differ by how many packets a write took and what was connected already: of each root
# function its most frequent shapes.
SHAPES_PER_ROOT = 3
QUANTILES = (0, 0.25, 0.5, 0.75, 0.95, 0.99, 1)


def read_spans(path):
    """A sequence of JSON values, with or without white space between them."""
    decoder, text, at = json.JSONDecoder(), path.read_text(), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        span, at = decoder.raw_decode(text, at)
        yield span


def run_cluster(work, version, rounds, size):
    core = tracing("127.0.0.1:9")
    core["hadoop.htrace.span.receiver.classes"] = "LocalFileSpanReceiver"
    core["hadoop.htrace.local.file.span.receiver.path"] = "${plumb.local.spans}"
    with Cluster(work, version, core=core) as cluster:
        arguments = ["--htrace", "--rounds", str(rounds), "--threads", "2", "--size", str(size)]
        load = cluster.java(
            "client", "Workload", arguments, class_path=str(workload_classes(work, version)), stdout=subprocess.PIPE
        )
        print(load.communicate()[0], end="")
        if load.returncode != 0:
            sys.exit(f"load failed: {cluster.log('client')}")
        return {name: cluster.local_spans(name) for name in ("client", *cluster.processes)}


def with_own_hosts(spans, process):
    """All JVMs ran on one host: gives each the address it would have in a cluster, and its process number."""
    hosts = {"client": "10.0.0.5", "namenode": "10.0.0.1"}
    host = hosts.get(process) or f"10.0.0.{10 + int(process.removeprefix('datanode'))}"
    pid = 4000 + int(host.rsplit(".", 1)[1])
    for span in spans:
        span["r"] = f"{span['r'].split('/')[0]}/{host}/{pid}"
        for note in span.get("t", []):
            note["m"] = note["m"].replace("127.0.0.1", "10.0.0.1")
        yield span


def name(span):
    head, _, number = span["d"].rpartition("_")
    return head if number.isdigit() else span["d"]


def shape(trace):
    """Equal for traces whose trees have the same functions in the same places, whatever the order."""
    children = defaultdict(list)
    for span in trace:
        children[span["p"][0] if span["p"] else ""].append(span)

    def of(parent):
        return tuple(sorted((name(child), of(child["a"])) for child in children[parent]))

    return of("")


def choose(traces):
    """Templates: trace id to the number of traces of that shape."""
    by_root = defaultdict(lambda: defaultdict(list))
    for identity, trace in traces.items():
        by_root[min((name(s) for s in trace if not s["p"]), default="")][shape(trace)].append(identity)
    chosen, used = {}, 0
    candidates = []
    for root, shapes in by_root.items():
        ranked = sorted(shapes.values(), key=len, reverse=True)
        candidates += [(rank, ids) for rank, ids in enumerate(ranked[:SHAPES_PER_ROOT]) if root]
    for _, ids in sorted(candidates, key=lambda c: (c[0], -len(c[1]), c[1][0])):
        size = sum(len(json.dumps(span)) + 1 for span in traces[ids[0]])
        if used + size <= MAX_TEMPLATE_BYTES:
            chosen[ids[0]] = len(ids)
            used += size
    return chosen


def functions(traces):
    rows = defaultdict(lambda: {"calls": 0, "durations_ms": [], "children": Counter(), "annotations": Counter()})
    for trace in traces.values():
        by_id = {span["a"]: span for span in trace}
        for span in trace:
            row = rows[f"{span['r'].split('/')[0]} {name(span)}"]
            row["calls"] += 1
            row["durations_ms"].append(span.get("e", 0) - span.get("b", 0))
            row["annotations"].update(span.get("n", {}).keys())
            parent = by_id.get(span["p"][0]) if span["p"] else None
            if parent:
                rows[f"{parent['r'].split('/')[0]} {name(parent)}"]["children"][name(span)] += 1
    for row in rows.values():
        values = sorted(row["durations_ms"])
        row["durations_ms"] = {f"q{int(q * 100)}": values[math.ceil(q * (len(values) - 1))] for q in QUANTILES}
    return dict(sorted(rows.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", required=True, help="folder for the cluster")
    parser.add_argument("--version", default=DEFAULT_VERSION)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--size", type=int, default=400_000, help="bytes of the large files (default %(default)s)")
    options = parser.parse_args()
    traces = defaultdict(list)
    for process, path in run_cluster(options.work, options.version, options.rounds, options.size).items():
        for span in with_own_hosts(read_spans(path), process):
            traces[span["a"][:16]].append(span)
    chosen = choose(traces)
    model = HERE / f"hdfs-{options.version}.jsonl"
    with open(model, "w", encoding="utf-8") as out:
        for identity in chosen:
            for span in sorted(traces[identity], key=lambda s: (bool(s["p"]), s["b"], s["a"])):
                out.write(json.dumps(span, separators=(",", ":")) + "\n")
    summary = {
        "traces": len(traces),
        "spans": sum(map(len, traces.values())),
        "templates": chosen,
        "functions": functions(traces),
    }
    (HERE / f"hdfs-{options.version}.summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    print(
        f"{summary['traces']} traces, {summary['spans']} spans; {len(chosen)} templates, {model.stat().st_size} bytes"
    )


if __name__ == "__main__":
    main()
