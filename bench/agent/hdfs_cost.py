"""What the agent costs an HDFS on this machine, as Markdown (and JSON with --json).

    /usr/bin/python3 -m bench.agent.hdfs_cost            all: about a quarter of an hour
    /usr/bin/python3 -m bench.agent.hdfs_cost --quick    fewer and shorter runs: about four minutes

Three clusters run side by side, each a NameNode, DataNodes and a client in JVMs of their own: two without the agent
(the difference between those is the noise) and one with it, whose policy changes while it runs. The same work goes to
one after the other in changing order, the others being idle. All starts anew a few times, since no two runs of a JVM
compile alike. What the policies differ by is measured in one and the same cluster, in pairs; and how many functions are
called is counted in a cluster of its own, which records every one. What counts is the processor time of the processes;
bench/README.md says how to read it."""

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from bench.agent.sink import Sink
from script.hdfs.attach import Agent
from script.hdfs.cluster import Cluster
from script.hdfs.jars import compile_java
from tests.conftest import Plumbd

ROOT = Path(__file__).resolve().parents[2]

# As in production: both compilers, G1, room for what is young.
JVM = ("-XX:+UseG1GC",)
HDFS = {"dfs.blocksize": 128 << 20, "dfs.namenode.fs-limits.min-block-size": 1 << 20, "dfs.heartbeat.interval": 3}
DATANODES = 2
# Where blocks go: in memory, since the costs of a disk's file system swing by far more than what is measured.
MEMORY = "/dev/shm"
# After a command: what threads in the background still do for it (flush interval of the sender: 0.5 s) counts.
SETTLE_SECONDS = 0.6
AGENTS = {"never": "never", "1 %": "0.01", "everything": "always"}
ABSENT = ("absent", "absent, again")
MODES = (*ABSENT, *AGENTS)
BUILT_IN = ROOT / "tracer-patches/agent/src/main/resources/io/plumbline/weave/functions.conf"
# What may be left out of a tree, though it was called.
LEFT_OUT = " unless-leaf"

# name: (command, unit)
WORK = {
    "write, 1 client": ("write 1 {mb} 65536", "MB"),
    "write, 8 clients": ("write 8 {mb} 65536", "MB"),
    "read, 1 client": ("read 1 128 65536 {times}", "MB"),
    "read, 8 clients": ("read 8 128 65536 {times}", "MB"),
    "read by 4 KB": ("read 1 128 4096 {times}", "MB"),
    "pread of 4 KB": ("pread {preads} 4096", "op"),
    "NameNode": ("meta 4 {ops}", "op"),
}


def cpu_ns(pid):
    """Processor time of a process, all its threads, also those that ended (CPUCLOCK_SCHED of that process)."""
    return time.clock_gettime_ns(((~pid) << 3) | 2)


def command(name, options):
    """About a second of work for a size of 256."""
    size = options.size // 8 * 8
    return WORK[name][0].format(mb=size, times=max(1, size // 21), preads=16 * size, ops=15 * size // 24 * 24)


class PlumbdReceiver:
    """The real one, on the same processors."""

    def __init__(self, stack, folder):
        build = Path(os.environ.get("PLUMB_BUILD") or ROOT / "build/default")
        self.plumbd = Plumbd(
            build / "receiver/plumbd", folder / "plumbd", trace__idle="1s", trace__max_age="10s"
        ).start()
        stack.callback(self.plumbd.clean_up)
        self.address = "{}:{}".format(*self.plumbd.thrift)

    def spans(self):
        return self.receiver.spans()

    def cpu_ns(self):
        return cpu_ns(self.plumbd.process.pid)

    def settle(self):
        """What it still has to do belongs to this work, not to the next."""
        self.plumbd.flush()


class SinkReceiver:
    """One that forgets what it gets."""

    def __init__(self, stack, _folder):
        self.sink = stack.enter_context(Sink())
        self.address = self.sink.address
        self.spans = self.sink.spans

    def cpu_ns(self):
        return time.process_time_ns()  # its threads are ours

    def settle(self):
        pass


RECEIVERS = {"sink": SinkReceiver, "plumbd": PlumbdReceiver}


class Site:
    """A cluster and its client, with or without the agent."""

    def __init__(self, stack, work, classes, options, agent=None):
        self.cluster = stack.enter_context(
            Cluster(work, options.version, DATANODES, hdfs=HDFS, agent=agent, jvm=JVM, java=options.java)
        )
        pipe = {"stdin": -1, "stdout": -1}
        self.client = self.cluster.java("client", "Load", class_path=str(classes), heap_mb=512, **pipe)
        stack.callback(self.client.kill)
        self.traced = agent is not None
        assert self.client.stdout.readline() == "ready\n", self.cluster.log_end("client")

    def tell(self, command):
        """(seconds, units) of it."""
        self.client.stdin.write(f"{command}\n")
        self.client.stdin.flush()
        answer = self.client.stdout.readline().split()
        if len(answer) != 2:
            sys.exit(f"hdfs_cost: '{command}' failed\n{self.cluster.log_end('client')}")
        return float(answer[0]), float(answer[1])

    def clocks(self):
        processes = {"client": self.client, **self.cluster.processes}
        clocks = dict.fromkeys(("client", "namenode", "datanodes"), 0)
        for name, process in processes.items():
            clocks["datanodes" if name.startswith("datanode") else name] += cpu_ns(process.pid)
        return clocks


class Bench:
    """One start of everything."""

    def __init__(self, stack, folder, classes, options):
        self.options = options
        self.receiver = RECEIVERS[options.receiver](stack, folder)
        kinds = {"agent": Agent({"receivers": self.receiver.address, "sampling": "never", "propagation": "on"})}
        if options.absent:
            kinds.update(dict.fromkeys(ABSENT))
        order = list(kinds)
        random.shuffle(order)
        self.sites = {
            kind: Site(stack, folder / kind.replace(", ", "-"), classes, options, kinds[kind]) for kind in order
        }

    def site(self, mode):
        return self.sites["agent" if mode in AGENTS else mode]

    def set_policy(self, mode):
        if mode in AGENTS:
            self.site(mode).tell(f"policy {AGENTS[mode]}")

    def warm_up(self):
        """Each kind of work, traced and not, until the compilers are through with it."""

        def work(site, policies):
            for _ in range(self.options.warm_ups):
                for name in self.options.work:
                    for policy in policies:
                        if policy:
                            site.tell(f"policy {policy}")
                        site.tell(command(name, self.options))

        with ThreadPoolExecutor() as pool:
            done = [
                pool.submit(work, site, ("always", "never") if site.traced else (None, None))
                for site in self.sites.values()
            ]
            for one in done:
                one.result()
        self.site("never").tell("drain")

    def measure(self, name, mode):
        site = self.site(mode)
        self.set_policy(mode)
        before, receiver = site.clocks(), self.receiver.cpu_ns()
        spans = self.receiver.spans()
        seconds, units = site.tell(command(name, self.options))
        time.sleep(SETTLE_SECONDS)
        after = site.clocks()
        if site.traced:
            site.tell("drain")
            self.receiver.settle()
        row = {process: (after[process] - before[process]) / 1e3 / units for process in after}
        row["all"] = sum(row.values())
        row["receiver"] = (self.receiver.cpu_ns() - receiver) / 1e3 / units
        row["rate"] = units / seconds
        row["spans"] = (self.receiver.spans() - spans) / units
        return row

    def in_any_order(self, name, modes):
        modes = list(modes)
        random.shuffle(modes)
        return {mode: self.measure(name, mode) for mode in modes}

    def rounds(self, figures):
        for _ in range(self.options.rounds):
            for name in self.options.work:
                row = self.in_any_order(name, MODES if self.options.absent else AGENTS)
                pairs = [row, *(self.in_any_order(name, AGENTS) for _ in range(self.options.pairs - 1))]
                figures[name].append({**row, "pairs": [{mode: pair[mode] for mode in AGENTS} for pair in pairs]})
        figures["dropped"].append(self.site("never").tell("drain")[1])


def everything_listed(path):
    """A list that records what the built-in one leaves out when nothing was traced below it. Site lines come first."""
    section, lines = "", []
    for line in BUILT_IN.read_text().splitlines():
        section = line if line.startswith("[") else section
        if LEFT_OUT in line and not line.startswith("#"):
            lines += [section, line.replace(LEFT_OUT, "")]
    path.write_text("\n".join(lines) + "\n")
    return path


def count_calls(folder, classes, options):
    """Name of the work: calls of traced functions a unit."""
    folder.mkdir()
    calls = {}
    with ExitStack() as stack:
        receiver = SinkReceiver(stack, folder)
        functions = everything_listed(folder / "functions.conf")
        agent = Agent(
            {
                "receivers": receiver.address,
                "sampling": "always",
                "functions": functions,
                "queue.spans": 10_000_000,
                "queue.bytes": 1 << 28,
            }
        )
        site = Site(stack, folder / "cluster", classes, options, agent)
        for name in options.work:
            for _ in range(2):  # the first makes the files that are read
                site.tell("drain")
                time.sleep(2 * SETTLE_SECONDS)
                before = receiver.spans()
                units = site.tell(command(name, options))[1]
                site.tell("drain")
                time.sleep(2 * SETTLE_SECONDS)
            calls[name] = (receiver.spans() - before) / units
    return calls


# ---- figures ----


def ratios(rows, mode, field):
    """Of each round, against the mean of both clusters without the agent; of the second of them, against the first."""
    for row in rows:
        first, second = row["absent"][field], row["absent, again"][field]
        base = first if mode == "absent, again" else (first + second) / 2
        if base > 0:
            yield 100 * (row[mode][field] / base - 1)


def interval(values):
    """Median, and the middle 90 % of the medians of samples drawn from these values."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(1000))
    return f"{statistics.median(values):+.1f} ({medians[50]:+.1f} to {medians[950]:+.1f})"


def median(rows, mode, field):
    return statistics.median(row[mode][field] for row in rows)


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(head, lines):
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(line) + " |", flush=True)


def against_absent(work, options):
    """Median over rounds, each against the clusters without the agent."""
    shown = MODES[1:]
    titles = [f"{mode}, %" for mode in shown]
    print(
        f"\n### Processor time of client, NameNode and DataNodes against no agent; Hadoop {options.version}\n\n"
        f"Median of {len(next(iter(work.values())))} rounds in {options.starts} starts, and 90 % confidence of it. "
        "*Absent, again* is a second cluster without the agent: the noise."
    )
    table(
        ["work", "without agent", *titles],
        [
            [
                name,
                f"{number(median(rows, 'absent', 'all'))} us/{WORK[name][1]}",
                *(interval(list(ratios(rows, mode, "all"))) for mode in shown),
            ]
            for name, rows in work.items()
        ],
    )
    print("\n### Throughput, a unit being a MB or an operation a second")
    table(
        ["work", "without agent, per s", *titles],
        [
            [
                name,
                number(median(rows, "absent", "rate")),
                *(interval(list(ratios(rows, mode, "rate"))) for mode in shown),
            ]
            for name, rows in work.items()
        ],
    )


def differences(rows, mode, field="all"):
    """Of each pair, what this policy costs more than never in the same cluster, in us per unit."""
    return [pair[mode][field] - pair["never"][field] for row in rows for pair in row["pairs"]]


def paired(work):
    """The policies against each other, in the same JVMs."""
    pairs = sum(len(row["pairs"]) for row in next(iter(work.values())))
    print(
        f"\n### The agent's policies against *never*, in the same processes\n\nMedian difference of {pairs} pairs, "
        "and 90 % confidence of it, in % of never."
    )

    def cell(rows, mode):
        base = median(rows, "never", "all")
        return interval([100 * one / base for one in differences(rows, mode)])

    table(
        ["work", "never", "1 %, %", "everything, %", "spans per unit", "us per span"],
        [
            [
                name,
                f"{number(median(rows, 'never', 'all'))} us/{WORK[name][1]}",
                cell(rows, "1 %"),
                cell(rows, "everything"),
                number(median(rows, "everything", "spans")),
                per_span(rows),
            ]
            for name, rows in work.items()
        ],
    )


def bounds(work, calls, call_ns):
    """What not sampling costs at most, by counting instead of comparing."""
    never_ns, drawn_ns = call_ns
    print(
        f"\n### What not sampling costs at most\n\nCalls of traced functions per unit (counted), each {never_ns:.1f} "
        f"ns with *never* and {drawn_ns:.1f} ns with a fraction (the dearest of the calls measured), of the "
        "processor time per unit; at 1 %, one hundredth of what everything costs is added."
    )
    lines = []
    for name, rows in work.items():
        base = median(rows, "absent" if "absent" in rows[0] else "never", "all")
        everything = max(0.0, statistics.median(differences(rows, "everything")))
        never, drawn = (calls[name] * ns / 1e3 for ns in (never_ns, drawn_ns))
        lines.append(
            [
                name,
                number(calls[name]),
                f"{number(base)} us/{WORK[name][1]}",
                f"{100 * never / base:.2f}",
                f"{100 * (drawn + everything / 100) / base:.2f}",
            ]
        )
    table(["work", "calls per unit", "processor time", "never, %", "1 %, %"], lines)


def report(figures, options):
    work = {name: figures[name] for name in options.work}
    if options.absent:
        against_absent(work, options)
    paired(work)
    if options.call_ns:
        bounds(work, figures["calls"], options.call_ns)
    modes = MODES if options.absent else tuple(AGENTS)
    print("\n### The same by process, medians in us per unit")
    table(
        ["work", "process", *modes],
        [
            [name, process, *(number(median(rows, mode, process)) for mode in modes)]
            for name, rows in work.items()
            for process in ("client", "namenode", "datanodes", "receiver")
        ],
    )
    print(f"\nSpans dropped by the clients, by start: {', '.join(f'{n:,.0f}' for n in figures['dropped'])}.")


def per_span(rows):
    """What everything costs more than nothing, of the processes traced, per span."""
    spans = median(rows, "everything", "spans")
    more = statistics.median(differences(rows, "everything"))
    return f"{more / spans:.2f}" if spans else "-"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="about four minutes")
    parser.add_argument("--version", default="3.5.0", help="of Hadoop (default %(default)s)")
    parser.add_argument("--java", help="another Java home")
    parser.add_argument("--work", nargs="+", choices=WORK, default=list(WORK), help="only these")
    parser.add_argument("--starts", type=int, help="of all JVMs (3; quick: 1)")
    parser.add_argument("--rounds", type=int, help="per start (3; quick: 3)")
    parser.add_argument("--warm-ups", type=int, help="per start (2; quick: 2)")
    parser.add_argument("--size", type=int, help="MB of a write; the rest goes with it (256; quick: 128)")
    parser.add_argument(
        "--folder",
        default=MEMORY if os.access(MEMORY, os.W_OK) else None,
        help="for the clusters (default: in memory, in %(default)s)",
    )
    parser.add_argument(
        "--receiver",
        choices=RECEIVERS,
        default="sink",
        help="of the spans: one that forgets them, or plumbd, "
        "which takes its share of the processors (default %(default)s)",
    )
    parser.add_argument(
        "--pairs", type=int, help="policies of the agent compared with each other, a round (2; quick: 2)"
    )
    parser.add_argument(
        "--no-absent",
        dest="absent",
        action="store_false",
        help="no clusters without the agent: only its policies against each other",
    )
    parser.add_argument(
        "--call-ns",
        nargs=2,
        type=float,
        metavar=("NEVER", "DRAWN"),
        help="what a traced function costs that "
        "is not sampled, as bench/agent/run --only calls finds it: for the bounds",
    )
    parser.add_argument("--json", metavar="FILE", help="all figures of all rounds")
    options = parser.parse_args()
    usual = {"starts": (3, 1), "rounds": (3, 3), "warm_ups": (2, 2), "size": (256, 128), "pairs": (2, 2)}
    for name, values in usual.items():
        if getattr(options, name) is None:
            setattr(options, name, values[options.quick])
    return options


def main():
    options = arguments()
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({platform.machine()}), Linux {platform.release()}")
    figures = {name: [] for name in (*options.work, "dropped")}
    folder = Path(tempfile.mkdtemp(prefix="plumb-cost-", dir=options.folder))
    try:
        classes = compile_java((ROOT / "bench/agent/load").glob("*.java"), folder / "classes", options.version)
        for start in range(options.starts):
            with ExitStack() as stack:
                bench = Bench(stack, folder / str(start), classes, options)
                bench.warm_up()
                bench.rounds(figures)
            shutil.rmtree(folder / str(start))
        if options.call_ns:
            figures["calls"] = count_calls(folder / "counted", classes, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if options.json:
            Path(options.json).write_text(json.dumps(figures, indent=1))
    report(figures, options)


if __name__ == "__main__":
    main()
