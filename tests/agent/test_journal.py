"""The edit log on JournalNodes: a call is followed to the disk of the one that completed the majority."""

import subprocess
from types import SimpleNamespace

import pytest

from script.hdfs.attach import Agent
from script.hdfs.cluster import Cluster, wait_for
from tests.agent.conftest import FS_SHELL, SHELL_SECONDS
from tests.agent.tours import ALL, DRAIN_SECONDS, VERSIONS, Forest, faults, home_of, java_for, spans
from tests.conftest import ROOT

MS = 1_000_000
SOURCE = ROOT / "tests/agent/workload/slow_syncs.c"
DISK = "EditLogFileOutputStream#flushAndSync"
# Far above what a busy machine adds by chance.
SLOW_MS, SLOWER_MS = 800, 3000


class SlowDisks(Agent):
    """JournalNodes whose disks take as long to sync as slow() says."""

    def __init__(self, library, settings):
        super().__init__(settings)
        self.library = library

    def environment(self, name, work):
        if not name.startswith("journalnode"):
            return {}
        return {"LD_PRELOAD": str(self.library), "SLOW_SYNCS": str(work / f"{name}.syncs")}


def slow(cluster, **milliseconds):
    for name in cluster.journalnodes:
        (cluster.work / f"{name}.syncs").write_text(str(milliseconds.get(name, 0)))


def make_folder(cluster, path):
    with cluster.java("client", FS_SHELL, ["-mkdir", path], stdout=subprocess.DEVNULL) as client:
        assert client.wait(SHELL_SECONDS) == 0, cluster.log_end("client")


def all_have_journaled(cluster):
    """Both folders: the call with its queue, Journal#journal, and the disk."""
    senders = cluster.senders()
    return all(senders.get(name, {}).get("SpansReceived", 0) >= 2 * 4 for name in cluster.journalnodes)


@pytest.fixture(scope="module", params=VERSIONS if ALL else VERSIONS[-1:])
def made(request, plumbds, tmp_path_factory):
    """Two folders, by a NameNode with three JournalNodes: two of them slow, then one alone."""
    library = tmp_path_factory.mktemp("library") / "slow_syncs.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
    plumbd = plumbds()
    agent = SlowDisks(library, {"receivers": "{}:{}".format(*plumbd.thrift), "sampling": "always"})
    java = home_of(java_for(request.param))
    work = tmp_path_factory.mktemp("hdfs")
    with Cluster(work, request.param, datanodes=0, agent=agent, java=java, journalnodes=3) as cluster:
        slow(cluster, journalnode2=SLOW_MS, journalnode3=SLOWER_MS)
        make_folder(cluster, "/two")
        slow(cluster, journalnode3=SLOWER_MS)
        make_folder(cluster, "/one")
        wait_for(lambda: all_have_journaled(cluster), DRAIN_SECONDS, "the slowest JournalNode")
        cluster.wait_all_sent(DRAIN_SECONDS)
    traces = {}
    for trace in Forest(plumbd).traces.values():
        for span in spans(trace, "FSNamesystem#mkdirs", "namenode"):
            traces[span["annotations"]["path"]] = trace
    return SimpleNamespace(plumbd=plumbd, traces=traces, faults=faults(cluster))


def at_disks(trace):
    """{JournalNode: milliseconds of critical time at its disk}"""
    found = {}
    for span in spans(trace, DISK, "journalnode"):
        found[span["host"]] = found.get(span["host"], 0) + span["critical_ns"] / MS
    return found


def names_below(trace, top):
    """Functions by depth, of what is below the span: (depth below it, role, function)."""
    first = trace["spans"].index(top)
    below = []
    for span in trace["spans"][first + 1 :]:
        if span["depth"] <= top["depth"]:
            break
        below.append((span["depth"] - top["depth"], span["role"], span["function"]))
    return below


def test_the_call_is_followed_to_each_journalnode(made):
    (sync,) = spans(made.traces["/two"], "FSEditLog#logSync", "namenode")
    below = names_below(made.traces["/two"], sync)
    own = 1 + sum(function == "FSEditLogAsync#logSync" for _, _, function in below)
    assert below.count((own, "namenode", DISK)) == 1, below
    assert below.count((own, "namenode", "QuorumOutputStream#flushAndSync")) == 1, below
    for depth, role, function in [
        (1, "namenode", "IPCLoggerChannel#sendEdits"),
        (2, "namenode", "QJournalProtocolService#journal"),
        (3, "journalnode", "QJournalProtocol#journal"),
        (4, "journalnode", "RPC#queue"),
        (4, "journalnode", "Journal#journal"),
        (5, "journalnode", DISK),
    ]:
        assert below.count((own + depth, role, function)) == 3, (function, below)


def test_the_second_to_answer_was_waited_for(made):
    disks = at_disks(made.traces["/two"])
    assert disks["journalnode2"] >= 0.7 * SLOW_MS and disks["journalnode3"] == 0, disks
    waits = made.plumbd.ask(f"why?trace={made.traces['/two']['trace']}&limit=0")["waits"]
    disks = {wait["host"]: wait["time_ns"] / MS for wait in waits if wait.get("function") == DISK}
    assert disks["journalnode2"] >= 0.5 * SLOW_MS and "journalnode3" not in disks, waits


def test_one_slow_of_three_costs_nothing(made):
    disks = at_disks(made.traces["/one"])
    assert disks["journalnode3"] == 0, disks


def test_nothing_went_wrong(made):
    assert made.faults == []
