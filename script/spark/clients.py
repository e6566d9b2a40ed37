"""Clients of HDFS: two of them, or an application of Spark, read or write all the time, something becomes slow, and
`plumb slow` is asked again and again what it is. Each run leaves a folder:

    run.json          what was done, what should be named, and what was, with the times
    injections.jsonl  what was made slow, where and when (faults.py)
    store             when it is to be kept: all that plumbd has stored of it
"""

import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections import defaultdict, namedtuple
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from script.hdfs.cluster import Cluster, free_port, wait_for
from script.hdfs.jars import ClusterError
from script.spark import hadoop_slow
from script.spark.faults import Faults, read_injections
from script.spark.hosts import Namespaces
from script.spark.runs import BLOCK, DATANODES, HADOOP, SLOW, Bed, wait_end, worker_hosts
from script.spark.slow_stages import judge_stages, stage_times
from script.spark.standalone import Agent

CLIENTS = ("client1", "client2")
OTHER = "datanode3"
# They are there where one of the faults is theirs. What a disk of theirs writes a second: less than a page in a tenth
# of one, for which blkio lets anything pass. The megabyte that is reserved now and then takes 40 s, after 20 of which
# the NameNode would give up.
JOURNALNODES = ("journalnode1", "journalnode2", "journalnode3")
JOURNAL_BYTES = 25_000
PATIENT = {"dfs.qjournal.write-txns.timeout.ms": "120000"}
THREADS, PAUSE_MS = 2, 200
# How often is asked, and how far from the truth the begin may be.
ASK_SECONDS, BEGIN_SECONDS = 10, 60
# A fault that is to end once it is named goes on for so long.
NAMED_SECONDS = 30
READY_SECONDS = 180
DISK = {"disk", "disk or network"}
NETWORK = {"network", "disk or network"}
PROCESSOR = {"processor"}
EDIT_LOG = {"edit log"}
# What is between two hosts, and no host's own network.
LINK = {"link"}
# A process that stands still shows as whatever it was doing.
ANY = None

# load, replication: of HdfsLoad, or of SPARK_JOBS; guilty: [(hosts, layers)], one of the hosts must be named for each.
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
    # Each file in one call, and not packet by packet.
    "pread-slow-network": on_datanode("pread", 1, "slow_network", NETWORK),
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
    "read-slow-link": Fault("read", 1, lambda faults: faults.slow_link(SLOW, CLIENTS[1]), [((SLOW, CLIENTS[1]), LINK)]),
    "two-faults": Fault(
        "write",
        3,
        lambda faults: both(faults.slow_writes(SLOW), faults.slow_network(OTHER)),
        [*guilty(SLOW, DISK), *guilty(OTHER, NETWORK)],
    ),
    # Two of three, of which mostly the faster one completes the majority; one of three is waited for by nobody.
    "journal-slow-disk": Fault(
        "small",
        1,
        lambda faults: both(*(faults.slow_writes(host, JOURNAL_BYTES) for host in JOURNALNODES[1:])),
        [(JOURNALNODES[1:], EDIT_LOG)],
    ),
    "journal-one-slow-disk": Fault("small", 1, lambda faults: faults.slow_writes(JOURNALNODES[2], JOURNAL_BYTES), []),
    "small-files": Fault("small", 3, lambda _: nothing(), []),
    "none": Fault("write", 3, lambda _: nothing(), []),
    # All tasks are slow: each reads or writes at so many DataNodes that the slow one is among them.
    "spark-write-slow-disk": on_datanode("spark-write", 3, "slow_writes", DISK),
    "spark-write-slow-network": on_datanode("spark-write", 3, "slow_network", NETWORK),
    "spark-write-starved-cpu": on_datanode("spark-write", 3, "starved", PROCESSOR),
    "spark-read-slow-disk": on_datanode("spark-read", 1, "slow_disk", DISK),
    "spark-read-slow-network": on_datanode("spark-read", 1, "slow_network", NETWORK),
    "spark-read-starved-cpu": on_datanode("spark-read", 1, "starved", PROCESSOR),
}
# What is not said, beside which faults are to be made.
ALL_CLIENTS = [name for name in FAULTS if not name.startswith(("spark-", "journal-"))]

# Of jobs.py, its arguments, and more of Spark's properties; jobs go on until a file is there, their last argument.
SPARK_JOBS = {
    "spark-write": ("write_on", ["/out"], {"spark.hadoop.dfs.blocksize": str(BLOCK)}),
    "spark-read": ("scan_on", ["/text"], {"spark.sql.files.maxPartitionBytes": str(8 * BLOCK)}),
}
# Where time stays for which nobody is seen to work.
CLIENT_HOSTS = {*CLIENTS, *worker_hosts(), "driver"}
# A node is judged from so many minutes on.
LEARN_MINUTES = 5


# What is counted as one operation: the last call of a file that is written, the first of one that is read.
OPERATION = dict.fromkeys(("read", "pread", "spark-read"), "DFSInputStream#new")
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
        part = "guilty" if host in guilty_hosts else "clients" if host in CLIENT_HOSTS else "innocent"
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


def windows_of(timelines, spells, since_ns, until_ns):
    """{"windows": of hosts and classes of work that begin in [since, until), "bad", "suspected": of these}. timelines:
    those of `plumb nodes HOST`, by host; spells: of `plumb nodes`."""
    ill = [spell for spell in spells if spell["state"] in ("suspected", "recovered") and "host" in spell]
    counts = {"windows": 0, "bad": 0, "suspected": 0}
    for host, series in timelines.items():
        for one in series:
            times = [
                (spell["begin_time_ns"] - MINUTE_NS, spell.get("end_time_ns", until_ns))
                for spell in ill
                if (spell["host"], spell["class"]) == (host, one["class"])
            ]
            for point in one["points"]:
                if not since_ns <= point["time_ns"] < until_ns:
                    continue
                counts["windows"] += 1
                counts["bad"] += point.get("bad", False)
                counts["suspected"] += any(begin < point["time_ns"] < end for begin, end in times)
    return counts


class ClientBed(Bed):
    """Hosts, plumbd and HDFS; and Spark, when one of the faults is to be made under it."""

    def __init__(self, work, build, faults):
        super().__init__(work, build)
        self.with_spark = any(FAULTS[fault].load in SPARK_JOBS for fault in faults)
        self.journalnodes = JOURNALNODES if any(fault.startswith("journal-") for fault in faults) else ()

    def _start(self):
        self.work.mkdir(parents=True, exist_ok=True)
        servers = ["namenode", *(f"datanode{i}" for i in range(1, DATANODES + 1))]
        workers = self.workers if self.with_spark else ()
        names = [*servers, *self.journalnodes, *CLIENTS, *workers]
        self.hosts = self.stack.enter_context(Namespaces(self.work / "hosts", names))
        self.thrift = f"{self.hosts.address('driver')}:{free_port()}"
        self.agent = Agent({"receivers": self.thrift, "sampling": "always", "spark.operations": "all"})
        self.hdfs = self.stack.enter_context(
            Cluster(
                self.work / "hdfs",
                HADOOP,
                DATANODES,
                hosts=self.hosts,
                hdfs={"dfs.blocksize": str(BLOCK), **hadoop_slow.SETTINGS, **(PATIENT if self.journalnodes else {})},
                agent=self.agent,
                journalnodes=len(self.journalnodes),
            )
        )
        if self.with_spark:
            self._start_spark()
        self.faults = Faults(self.hosts, self.hdfs, None, self.work / "injections.jsonl")
        self.stack.callback(self.faults.close)

    def loads(self, stack, fault):
        """Starts what reads or writes, until the stack ends: the processes."""
        if fault.load in SPARK_JOBS:
            return [stack.enter_context(self.application(fault))]
        return [stack.enter_context(self.load(client, fault)) for client in CLIENTS]

    @contextmanager
    def application(self, fault):
        job, paths, conf = SPARK_JOBS[fault.load]
        over, begin = self.work / "over", time.time()
        over.unlink(missing_ok=True)
        conf = {**conf, "spark.hadoop.dfs.replication": str(fault.replication)}
        with self.spark.submit(job, [*map(self.hdfs.url, paths), over], fault.load, conf) as process:
            try:
                wait_for(lambda: self._first_task(begin) or process.poll() is not None, READY_SECONDS, "a task")
                yield process
            finally:
                over.touch()
                process.wait(READY_SECONDS)

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

    def run(self, name, folder, options):
        """One fault. 'folder' is there, whole, or not at all. options: healthy and faulty, how many seconds before it
        and of it; until_named: no longer than until it is named; keep: its store, too."""
        fault, partial = FAULTS[name], Path(f"{folder}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        if name == "namenode-lock" and not self.faults.load:
            self.faults.prepare_namenode_load()
        self.faults.record = partial / "injections.jsonl"
        with self.plumbd(partial) as http:
            self.faults.http = http
            with ExitStack() as stack:
                loads = self.loads(stack, fault)
                until(loads, time.monotonic() + options.healthy)
                before = named(ask_slow(http))
                stack.enter_context(fault.make(self.faults))
                about = self._watch(fault, http, loads, options)
                about["lost"] = self._lost(fault, http, about["begin_ms"], options.healthy)
                about["windows"] = windows_without_fault(http, about["begin_ms"] if fault.guilty else None)
            about["wrong"] = sorted({*map(tuple, about["wrong"]), *before})
            if fault.load in SPARK_JOBS:
                about["why"] = self._why(fault, partial, http)
        about.update(
            fault=name,
            load=fault.load,
            replication=fault.replication,
            healthy=options.healthy,
            faulty=options.faulty,
            hadoop=HADOOP,
            processors=os.cpu_count(),
        )
        (partial / "run.json").write_text(json.dumps(about, indent=1) + "\n")
        for part in ("journal",) if options.keep else ("store", "journal"):
            shutil.rmtree(partial / part)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
        return about

    def _why(self, fault, folder, http):
        """What `plumb why` says of the application, against what is true of its stages."""
        log = self.last_log()
        self.hdfs.wait_all_sent()
        program = self.build / "spark-bridge/plumb-bridge"
        subprocess.run([str(program), "--receiver", self.thrift, str(log)], check=True, stdout=subprocess.DEVNULL)
        shutil.copy(log, folder / "events")
        wait_for(lambda: is_stored(http, log.name), READY_SECONDS, "the application stored")
        answer = wait_for(lambda: final_why(http, log.name), READY_SECONDS, "an answer that does not change any more")
        found = subprocess.run(
            [str(self.build / "analyzer/plumb"), "--server", http, "why", log.name],
            check=True,
            capture_output=True,
            text=True,
        )
        injection = read_injections(folder / "injections.jsonl")[0]
        ((host,), layers) = fault.guilty[0]
        times = [injection["begin_ms"], injection["end_ms"]]
        judged = judge_stages(stage_times(log), times, answer["stages"], host, layers)
        return {**judged, "text": found.stdout.splitlines()[:3], "stages": answer["stages"]}

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

    def _watch(self, fault, http, loads, options):
        begin, begin_ms = time.monotonic(), time.time_ns() // 1_000_000
        seconds, rows, wrong, busy = None, [], set(), []
        own = {}  # what Hadoop itself named: seconds after the begin
        end = begin + options.faulty
        while (left := end - time.monotonic()) > 0:
            until(loads, time.monotonic() + min(ASK_SECONDS, left))
            rows = ask_slow(http)
            wrong.update(named(judge(fault, begin_ms, rows)[2]))
            for pair in hadoop_slow.ask(self.hdfs):
                own.setdefault(pair, time.monotonic() - begin)
            busy.append(os.getloadavg()[0])
            if seconds is None and fault.guilty and judge(fault, begin_ms, rows)[0]:
                seconds = time.monotonic() - begin
                end = min(end, time.monotonic() + NAMED_SECONDS) if options.until_named else end
        return {
            "begin_ms": begin_ms,
            "guilty": [[list(hosts), sorted(layers or ["any"])] for hosts, layers in fault.guilty],
            "right": seconds is not None if fault.guilty else not wrong,
            # One that ends once it is named does not tell.
            "still": judge(fault, begin_ms, rows)[0] if fault.guilty and not options.until_named else None,
            "seconds": seconds,
            "begin_off_seconds": judge(fault, begin_ms, rows)[1],
            "wrong": sorted(wrong),
            "named": rows,
            "hadoop_named": [[host, which, after] for (host, which), after in sorted(own.items())],
            "load_average": median(busy),
        }


def named(rows):
    """{(host, layer)}"""
    return {(row.get("host", "all hosts"), row["layer"]) for row in rows}


def windows_without_fault(http, begin_ms):
    """Windows of hosts and classes of work that were judged before it began (None: there is none)."""
    nodes = ask(http, "nodes?limit=0")
    hosts = sorted({row["host"] for row in nodes["nodes"]})
    timelines = {host: ask(http, f"nodes?host={host}")["timeline"] for host in hosts}
    end_ns = nodes["until_time_ns"] if begin_ms is None else begin_ms * 1_000_000 // MINUTE_NS * MINUTE_NS
    return windows_of(timelines, nodes["spells"], nodes["since_time_ns"] + LEARN_MINUTES * MINUTE_NS, end_ns)


def ask(http, question):
    with urllib.request.urlopen(f"http://{http}/api/v1/{question}", timeout=READY_SECONDS) as answer:
        return json.load(answer)


def is_stored(http, app):
    """To its end."""
    return any(row["app"] == app and row["state"] == "ended" for row in ask(http, "apps")["apps"])


def final_why(http, app):
    """None while spans may follow."""
    answer = ask(http, f"why?app={app}&limit=0")
    return None if "may_change" in answer else answer


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
    shares = [str(round(100 * lost[part])) if part in lost else "-" for part in ("guilty", "innocent")]
    return [f"{lost['seconds']:.0f}", *shares]


def share_text(run):
    counts = run.get("windows")
    return f"{counts['suspected']} of {counts['windows']}" if counts and counts["windows"] else "-"


def still_text(run):
    return {True: "yes", False: "no", None: "-"}[run.get("still")]


def run_row(fault, number, run):
    after = "-" if run["seconds"] is None else f"{run['seconds']:.0f}"
    off = ", ".join(f"{seconds:.0f}" for seconds in run["begin_off_seconds"]) or "-"
    return (
        f"| {fault} | {run['load']} | {run['replication']} | {number} | {'yes' if run['right'] else 'no'} "
        f"| {after} | {off} | {texts(run['wrong'])} | {' | '.join(lost_texts(run.get('lost')))} "
        f"| {share_text(run)} | {still_text(run)} |"
    )


def all_row(fault, runs):
    right = sum(run["right"] for run in runs)
    times = [run["seconds"] for run in runs if run["seconds"] is not None]
    still = [run["still"] for run in runs if run.get("still") is not None]
    near = [seconds <= BEGIN_SECONDS for run in runs for seconds in run["begin_off_seconds"]]
    return (
        f"| **{fault}** | | | all | {right} of {len(runs)} | {f'{median(times):.0f}' if times else '-'} "
        f"| {f'{sum(near)} of {len(near)} within {BEGIN_SECONDS}' if near else '-'} "
        f"| {sum(bool(run['wrong']) for run in runs)} of {len(runs)} | | | | "
        f"| {f'{sum(still)} of {len(still)}' if still else '-'} |"
    )


def stages_rows(fault, runs):
    return [
        f"| {fault} | {number} | {why['found']} of {why['slow']} "
        f"| {len(why['wrong'])} of {why['slow'] + why['well']} | {why['text'][0] if why['text'] else '-'} |"
        for number, why in enumerate((run.get("why") for run in runs), 1)
        if why
    ]


def hadoop_text(run):
    return ", ".join(f"{host}: {which}, {after:.0f}" for host, which, after in run["hadoop_named"]) or "-"


def hadoop_rows(fault, runs):
    """Beside what `plumb slow` named, what Hadoop itself did."""
    return [
        f"| {fault} | {number} | {'-' if run['seconds'] is None else round(run['seconds'])} | {hadoop_text(run)} |"
        for number, run in enumerate(runs, 1)
        if "hadoop_named" in run
    ]


def recorded(runs):
    """When and where, of all of them."""
    days = sorted({time.strftime("%Y-%m-%d", time.gmtime(run["begin_ms"] / 1e3)) for run in runs})
    loads = [run["load_average"] for run in runs]
    processors = sorted({str(run["processors"]) for run in runs})
    return (
        f"Recorded on {' and '.join(days)}, {' or '.join(processors)} processors, load average "
        f"{min(loads):.1f} to {max(loads):.1f}."
    )


def table(folder):
    """Markdown: a line for each run, and one for all of a fault; and of Spark its stages."""
    lines = [
        "| fault | load | replicas | run | right | after, s | begin off by, s | named wrongly "
        "| lost, s | at the guilty, % | at innocent servers, % | suspected of windows before "
        "| still named at the end |",
        "|---|---|--:|--:|---|--:|--:|---|--:|--:|--:|--:|---|",
    ]
    found, stages, own = runs_in(folder), [], []
    for fault, runs in found.items():
        lines += [run_row(fault, number, run) for number, run in enumerate(runs, 1)]
        lines.append(all_row(fault, runs))
        stages += stages_rows(fault, runs)
        own += hadoop_rows(fault, runs)
    if stages:
        lines += [
            "",
            "| fault | run | slow stages that `plumb why` names rightly | others named | its first line |",
            "|---|--:|--:|--:|---|",
            *stages,
        ]
    if own:
        lines += [
            "",
            "| fault | run | `plumb slow` after, s | Hadoop itself: who, by what, after, s |",
            "|---|--:|--:|---|",
        ]
        lines += own
    known = [run for runs in found.values() for run in runs if "load_average" in run]
    if known:
        lines += ["", recorded(known)]
    return "\n".join(lines)
