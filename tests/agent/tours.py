"""One tour (workload/Tour.java: every operation of HDFS once) over a real cluster, and the call trees that plumbd made
of it."""

import json
import os
import re
import subprocess
import threading
from collections import Counter
from types import SimpleNamespace

from script.hdfs.attach import Agent
from script.hdfs.cluster import Cluster, die_with_parent, wait_for
from script.hdfs.jars import has_htrace, version_number
from script.hdfs.javas import java_home
from tests.agent.differences import RETRIED, SLEEPS, SYNCS
from tests.conftest import ROOT, Plumbd

# The oldest, on Java 8; one that runs on Java 11; the last with HTrace, the first without; the newest.
SUITE = ["2.10.2", "3.1.0", "3.3.1", "3.3.6", "3.5.0"]
LONGER = ["3.0.3", "3.2.4", "3.4.1"]
ALL = os.environ.get("PLUMB_HADOOP_VERSIONS") == "all"
VERSIONS = sorted(SUITE + LONGER if ALL else SUITE, key=version_number)
# Where not all are needed: the last with HTrace, and the newest.
NEWEST = ["3.3.1", "3.5.0"]
JAVA_IN_PATH = 17  # which script/bootstrap installs
SITE_LIST = ROOT / "tests" / "agent" / "workload" / "tour.conf"
# Only what an application starts: what processes do on their own comes at times of its own.
TOUR_ONLY = "Tour#*=always;never"
STRIPED = ["writeStriped", "readStriped", "preadStriped", "readLost"]
DRAIN_SECONDS = 60
TOUR_SECONDS = 240
# What tracing must never leave in a log.
FAULT = re.compile(
    r"io\.plumbline|VerifyError|ClassFormatError|NoClassDefFoundError|IncompatibleClassChange|"
    r"BootstrapMethodError|NoSuchMethodError|NoSuchFieldError|InvalidProtocolBuffer"
)


def operations():
    """Names of the roots, as the site's list has them."""
    return re.findall(r"(Tour#\w+)", SITE_LIST.read_text())


def java_for(version):
    """The release of Java that a Hadoop is tested on: what old ones run on at sites, and 17, which 3.5 needs."""
    number = version_number(version)
    return 8 if number < (3, 1) else 11 if number < (3, 3) else JAVA_IN_PATH


def home_of(release):
    """None where it is the one in PATH."""
    return None if release == JAVA_IN_PATH else java_home(release)


def left_out(version):
    return [] if version_number(version) >= (3,) else STRIPED


def agent(plumbd, **settings):
    """Sends to that plumbd; settings with '_' for '.'."""
    given = {"receivers": "{}:{}".format(*plumbd.thrift), "functions": SITE_LIST, "sampling": TOUR_ONLY}
    return Agent({**given, **{name.replace("_", "."): value for name, value in settings.items()}})


def start_plumbd(program, folder, **settings):
    return Plumbd(program, folder, **settings).start(preexec_fn=die_with_parent)


def tour(cluster, classes, name="client", skip=None, drain_seconds=DRAIN_SECONDS, after=None, **options):
    """Runs it in the folder /NAME: the result of each operation, and the counters of the client's sender (None without
    one). after: operation to what is called when it is over."""
    version = options.get("version") or cluster.version_of(name)
    skip = left_out(min(version, cluster.version_of("namenode"), key=version_number)) if skip is None else skip
    arguments = [f"127.0.0.1:{cluster.http['namenode']}", f"/{name}", str(drain_seconds), *skip]
    results, line = {}, ""
    with cluster.java(
        name, "Tour", arguments, class_path=str(classes or ""), stdout=subprocess.PIPE, **options
    ) as client:
        guard = threading.Timer(TOUR_SECONDS, client.kill)
        guard.start()
        for line in client.stdout:
            operation, colon, result = line.rstrip("\n").partition(": ")
            if colon and not line.startswith("{"):
                results[operation] = result
                (after or {}).get(operation, lambda: None)()
        code = client.wait()
        guard.cancel()
    assert code == 0, f"{results}\n{cluster.log_end(name)}"
    return results, json.loads(line)


def lost(counters):
    """Spans that a sender has not got acknowledged."""
    return counters["SpansReceived"] - counters["SpansAcknowledged"]


class Forest:
    """What a plumbd knows of a tour."""

    def __init__(self, plumbd):
        plumbd.flush()
        self.functions = plumbd.ask("functions?limit=0")["functions"]
        self.listed = plumbd.ask("traces?limit=0")["traces"]
        self.traces = {row["trace"]: plumbd.ask(f"trace?id={row['trace']}&limit=0") for row in self.listed}

    def named(self, root):
        """The traces of an operation."""
        return [trace for trace in self.traces.values() if trace["spans"] and trace["spans"][0]["function"] == root]

    def one(self, root):
        (trace,) = self.named(root)
        return trace

    def seen(self):
        """(function, role) to calls."""
        return Counter({(row["function"], row["role"]): row["calls"] for row in self.functions})


def spans(trace, function, role=None):
    return [span for span in trace["spans"] if span["function"] == function and role in (None, span["role"])]


def number(span, key):
    return int(span["annotations"][key])


def total(trace, function, key, role=None):
    return sum(number(span, key) for span in spans(trace, function, role) if key in span.get("annotations", {}))


def function_of(step):
    """Of a step 'role function' of a shape."""
    return step.split(" ", 1)[1]


def shape(trace):
    """The tree without counts, order and times: every path of 'role function' from the root, as a set. Retries that lie
    in one another are one, and pauses before them are left out, and so is whoever syncs the edit log."""
    paths, above = set(), []
    for span in trace["spans"]:
        del above[span["depth"] :]
        if span["function"] in SLEEPS | SYNCS:
            continue
        above.append(f"{span['role']} {span['function']}")
        paths.add(
            tuple(
                step
                for before, step in zip([None, *above], above, strict=False)
                if step != before or function_of(step) not in RETRIED
            )
        )
    return paths


def faults(cluster):
    """Lines in the logs of the cluster's processes that tracing is to blame for."""
    return [
        f"{log.stem}: {line}"
        for log in sorted(cluster.work.glob("*.log"))
        for line in log.read_text(errors="replace").splitlines()
        if FAULT.search(line)
    ]


def traced_tour(cluster, plumbd, classes, until=lambda: True, **options):
    """Starts the cluster, runs the tour, waits for what the servers do by themselves and for all spans, and stops it;
    what is known then."""
    with cluster:
        results, client = tour(cluster, classes, **options)
        wait_for(until, DRAIN_SECONDS, "what servers do by themselves")
        senders = cluster.wait_all_sent(DRAIN_SECONDS)
        agents = {name: bean for name in cluster.http for bean in cluster.jmx(name, "io.plumbline:type=Agent")}
        javas = {name: cluster.jmx(name, "java.lang:type=Runtime")[0]["SpecVersion"] for name in cluster.http}
    if client:
        senders["client"] = agents["client"] = client
    return SimpleNamespace(
        cluster=cluster,
        plumbd=plumbd,
        results=results,
        senders=senders,
        agents=agents,
        javas=javas,
        forest=Forest(plumbd),
        status=plumbd.receiver(),
        faults=faults(cluster),
    )


__all__ = [
    "NEWEST",
    "VERSIONS",
    "Cluster",
    "Forest",
    "agent",
    "function_of",
    "has_htrace",
    "home_of",
    "java_for",
    "left_out",
    "lost",
    "number",
    "operations",
    "shape",
    "spans",
    "start_plumbd",
    "total",
    "tour",
    "traced_tour",
]
