"""Clients of HDFS without Spark: two of them read or write all the time, something becomes slow, and `plumb slow` is
asked again and again what it is. Each run leaves a folder:

    run.json          what was done, what should be named, and what was, with the times
    injections.jsonl  what was made slow, where and when (faults.py)
    store             when it is to be kept: all that plumbd has stored of it
"""

import json
import shutil
import subprocess
import time
import urllib.request
from collections import defaultdict, namedtuple
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from script.hdfs.cluster import Cluster, free_port
from script.hdfs.jars import ClusterError
from script.spark.faults import Faults
from script.spark.hosts import Namespaces
from script.spark.runs import BLOCK, DATANODES, HADOOP, SLOW, Bed, wait_end
from script.spark.standalone import Agent

CLIENTS = ("client1", "client2")
OTHER = "datanode3"
THREADS, PAUSE_MS = 2, 200
# How often is asked, and how far from the truth the begin may be.
ASK_SECONDS, BEGIN_SECONDS = 10, 60
READY_SECONDS = 180
DISK = {"disk", "disk or network"}
NETWORK = {"network", "disk or network"}
PROCESSOR = {"processor"}
# What is between two hosts, and no host's own network.
LINK = {"link"}
# A process that stands still shows as whatever it was doing.
ANY = None

# load, replication: of HdfsLoad; guilty: [(hosts, layers)], one of the hosts must be named for each.
Fault = namedtuple("Fault", "load replication make guilty")


def guilty(host, layers):
    return [((host,), layers)]


@contextmanager
def both(first, second):
    with first, second:
        yield


@contextmanager
def nothing():
    yield


def on_datanode(load, replication, what, layers):
    return Fault(load, replication, lambda faults: getattr(faults, what)(SLOW), guilty(SLOW, layers))


FAULTS = {
    "write-slow-disk": on_datanode("write", 3, "slow_writes", DISK),
    "write-slow-network": on_datanode("write", 3, "slow_network", NETWORK),
    "write-starved-cpu": on_datanode("write", 3, "starved", PROCESSOR),
    "write-hung": on_datanode("write", 3, "hung", ANY),
    "read-hung": on_datanode("read", 1, "hung", PROCESSOR),
    "write-stopped": on_datanode("write", 3, "stopped", ANY),
    "read-stopped": on_datanode("read", 2, "stopped", ANY),
    "two-stopped": Fault(
        "write",
        2,
        lambda faults: both(faults.stopped(SLOW), faults.stopped(OTHER)),
        [*guilty(SLOW, ANY), *guilty(OTHER, ANY)],
    ),
    "write-2-slow-disk": on_datanode("write", 2, "slow_writes", DISK),
    "write-1-slow-disk": on_datanode("write", 1, "slow_writes", DISK),
    "append-slow-disk": on_datanode("append", 3, "slow_writes", DISK),
    "hflush-slow-network": on_datanode("hflush", 3, "slow_network", NETWORK),
    "hsync-slow-disk": on_datanode("hsync", 3, "slow_writes", DISK),
    "read-slow-disk": on_datanode("read", 1, "slow_disk", DISK),
    "read-slow-network": on_datanode("read", 1, "slow_network", NETWORK),
    "namenode-lock": Fault(
        "small",
        1,
        lambda faults: faults.namenode_loaded(None),
        guilty("namenode", {"NameNode lock", "queue", "processor"}),
    ),
    "slow-client": Fault(
        "write", 3, lambda faults: faults.slow_network(CLIENTS[1]), guilty(CLIENTS[1], {"network", "client"})
    ),
    "slow-link": Fault("write", 3, lambda faults: faults.slow_link(SLOW, OTHER), [((SLOW, OTHER), LINK)]),
    "two-faults": Fault(
        "write",
        3,
        lambda faults: both(faults.slow_writes(SLOW), faults.slow_network(OTHER)),
        [*guilty(SLOW, DISK), *guilty(OTHER, NETWORK)],
    ),
    "small-files": Fault("small", 3, lambda _: nothing(), []),
    "none": Fault("write", 3, lambda _: nothing(), []),
}


# What is counted as one operation: the last call of a file that is written, the first of one that is read.
OPERATION = {"read": "DFSInputStream#new"}
WRITTEN = "DFSOutputStream#close"
MINUTE_NS = 60_000_000_000


def critical_by_host(rows, operation):
    """Of the rows of `plumb functions --by host`: ({host: seconds of critical time}, operations)."""
    seconds, operations = defaultdict(float), 0
    for row in rows:
        seconds[row.get("host", "")] += row["critical_ns"] / 1e9
        operations += row["calls"] if row["function"] == operation else 0
    return seconds, operations


def lost_by_host(before, during, operation):
    """Critical seconds beyond what as many operations took before the fault, by host; None: nothing to compare."""
    well, n_well = critical_by_host(before, operation)
    ill, n_ill = critical_by_host(during, operation)
    if not n_well or not n_ill:
        return None
    return {host: ill[host] - well[host] * n_ill / n_well for host in sorted({*well, *ill})}


def lost_shares(lost, guilty_hosts):
    """{"seconds" that were lost in all, and of these the shares of the "guilty" hosts, of "innocent" servers, and of
    "clients", where what nobody is seen to work at stays}"""
    total = sum(lost.values())
    if total <= 0:
        return {"seconds": total}
    parts = {"guilty": 0.0, "innocent": 0.0, "clients": 0.0}
    for host, seconds in lost.items():
        part = "guilty" if host in guilty_hosts else "clients" if host in CLIENTS else "innocent"
        parts[part] += seconds
    return {"seconds": total, **{part: seconds / total for part, seconds in parts.items()}}


def names(row, culprit):
    hosts, layers = culprit
    if layers is LINK:
        link = row.get("link", {})
        return {link.get("from"), link.get("to")} == set(hosts)
    return row.get("host") in hosts and (layers is ANY or row.get("layer") in layers)


def judge(fault, begin_ms, rows):
    """(are all named, [seconds that the begins are off], rows that name anything else)"""
    found = [[row for row in rows if names(row, culprit)] for culprit in fault.guilty]
    hosts = {host for culprit in fault.guilty for host in culprit[0]}
    off = [abs(right[0]["begin_time_ns"] / 1e9 - begin_ms / 1e3) for right in found if right]
    return all(found), off, [row for row in rows if row.get("host") not in hosts]


class ClientBed(Bed):
    """Hosts, plumbd and HDFS; no Spark."""

    def _start(self):
        self.work.mkdir(parents=True, exist_ok=True)
        servers = ["namenode", *(f"datanode{i}" for i in range(1, DATANODES + 1))]
        self.hosts = self.stack.enter_context(Namespaces(self.work / "hosts", [*servers, *CLIENTS]))
        self.thrift = f"{self.hosts.address('driver')}:{free_port()}"
        self.agent = Agent({"receivers": self.thrift, "sampling": "always"})
        self.hdfs = self.stack.enter_context(
            Cluster(
                self.work / "hdfs",
                HADOOP,
                DATANODES,
                hosts=self.hosts,
                hdfs={"dfs.blocksize": str(BLOCK)},
                agent=self.agent,
            )
        )
        self.faults = Faults(self.hosts, self.hdfs, None, self.work / "injections.jsonl")
        self.stack.callback(self.faults.close)

    @contextmanager
    def load(self, client, fault):
        process = self.hdfs.java(
            client,
            "HdfsLoad",
            [self.hdfs.url(), client, fault.load, str(THREADS), str(fault.replication), str(PAUSE_MS)],
            class_path=str(self.faults.classes),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            if process.stdout.readline() != "ready\n":
                raise ClusterError(f"no load from {client}:\n{self.hdfs.log_end(client)}")
            yield process
        finally:
            process.stdin.close()
            process.wait(READY_SECONDS)
            process.stdout.close()

    def run(self, name, folder, healthy=360, faulty=300, keep=False):
        """One fault. 'folder' is there, whole, or not at all; with the store of it, if that is to be kept."""
        fault, partial = FAULTS[name], Path(f"{folder}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        if name == "namenode-lock" and not self.faults.load:
            self.faults.prepare_namenode_load()
        self.faults.record = partial / "injections.jsonl"
        with ExitStack() as stack:
            http = self.faults.http = stack.enter_context(self.plumbd(partial))
            loads = [stack.enter_context(self.load(client, fault)) for client in CLIENTS]
            until(loads, time.monotonic() + healthy)
            stack.enter_context(fault.make(self.faults))
            about = self._watch(fault, http, loads, faulty)
            about["lost"] = self._lost(fault, http, about["begin_ms"], healthy)
        about.update(
            fault=name, load=fault.load, replication=fault.replication, healthy=healthy, faulty=faulty, hadoop=HADOOP
        )
        (partial / "run.json").write_text(json.dumps(about, indent=1) + "\n")
        for part in ("journal",) if keep else ("store", "journal"):
            shutil.rmtree(partial / part)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
        return about

    def _lost(self, fault, http, begin_ms, healthy):
        """What the fault cost, and where: of whole minutes before it and of it."""
        begin = begin_ms * 1_000_000 // MINUTE_NS
        first, now = begin - int(healthy) // 60 + 1, time.time_ns() // MINUTE_NS
        before, during = (
            ask(http, f"functions?by=host&limit=0&since={since * MINUTE_NS}&until={until * MINUTE_NS}")["functions"]
            for since, until in ((first, begin), (begin + 1, now))
        )
        lost = lost_by_host(before, during, OPERATION.get(fault.load, WRITTEN))
        return lost and lost_shares(lost, {host for hosts, _ in fault.guilty for host in hosts})

    def _watch(self, fault, http, loads, faulty):
        begin, begin_ms = time.monotonic(), time.time_ns() // 1_000_000
        seconds, rows = None, []
        while (left := begin + faulty - time.monotonic()) > 0:
            until(loads, time.monotonic() + min(ASK_SECONDS, left))
            rows = ask_slow(http)
            if seconds is None and fault.guilty and judge(fault, begin_ms, rows)[0]:
                seconds = time.monotonic() - begin
        right, off, wrong = judge(fault, begin_ms, rows)
        return {
            "begin_ms": begin_ms,
            "guilty": [[list(hosts), sorted(layers or ["any"])] for hosts, layers in fault.guilty],
            "right": right and not wrong if not fault.guilty else seconds is not None,
            "seconds": seconds,
            "begin_off_seconds": off,
            "wrong": [[row.get("host", "all hosts"), row["layer"]] for row in wrong],
            "named": rows,
        }


def ask(http, question):
    with urllib.request.urlopen(f"http://{http}/api/v1/{question}", timeout=READY_SECONDS) as answer:
        return json.load(answer)


def ask_slow(http):
    return ask(http, "slow")["slow"]


def until(loads, end):
    """Waits; a load that ends is a mistake."""
    while (left := end - time.monotonic()) > 0:
        ended = [load for load in loads if load.poll() is not None]
        if ended:
            raise ClusterError(f"a load ended with {ended[0].returncode}")
        wait_end(loads[0], min(left, 1))


def runs_in(folder):
    """What is known of each run, by fault."""
    found = defaultdict(list)
    for path in sorted(Path(folder).glob("*/run.json")):
        about = json.loads(path.read_text())
        found[about["fault"]].append(about)
    return {fault: found[fault] for fault in FAULTS if fault in found}


def texts(rows):
    return ", ".join(f"{host}: {layer}" for host, layer in rows) or "-"


def lost_texts(lost):
    if not lost:
        return ["-"] * 3
    shares = [f"{100 * lost[part]:.0f}" if part in lost else "-" for part in ("guilty", "innocent")]
    return [f"{lost['seconds']:.0f}", *shares]


def table(folder):
    """Markdown: a line for each run, and one for all of a fault."""
    lines = [
        "| fault | load | replicas | run | right | after, s | begin off by, s | named wrongly "
        "| lost, s | at the guilty, % | at innocent servers, % |",
        "|---|---|--:|--:|---|--:|--:|---|--:|--:|--:|",
    ]
    for fault, runs in runs_in(folder).items():
        for number, run in enumerate(runs, 1):
            after = "-" if run["seconds"] is None else f"{run['seconds']:.0f}"
            off = ", ".join(f"{seconds:.0f}" for seconds in run["begin_off_seconds"]) or "-"
            lines.append(
                f"| {fault} | {run['load']} | {run['replication']} | {number} | {'yes' if run['right'] else 'no'} "
                f"| {after} | {off} | {texts(run['wrong'])} | {' | '.join(lost_texts(run.get('lost')))} |"
            )
        right = sum(run["right"] for run in runs)
        times = [run["seconds"] for run in runs if run["seconds"] is not None]
        near = [seconds <= BEGIN_SECONDS for run in runs for seconds in run["begin_off_seconds"]]
        lines.append(
            f"| **{fault}** | | | all | {right} of {len(runs)} | {f'{median(times):.0f}' if times else '-'} "
            f"| {f'{sum(near)} of {len(near)} within {BEGIN_SECONDS}' if near else '-'} "
            f"| {sum(bool(run['wrong']) for run in runs)} of {len(runs)} | | | |"
        )
    return "\n".join(lines)
