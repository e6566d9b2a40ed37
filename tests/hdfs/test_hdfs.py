"""A real HDFS (one NameNode, three DataNodes, a client, each its own JVM, Hadoop 3.3.1) traced into a real plumbd.

One run serves all tests. In every JVM HTrace's LocalFileSpanReceiver works beside ours: what it wrote is what must come
out of plumbd, span by span. plumbd is down when HDFS starts; while the load runs it is killed and stopped several
times, and started again each time. PLUMB_HADOOP names another version, 2.8 to 3.3.1.
"""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from script.hdfs.cluster import (
    DEFAULT_VERSION,
    Cluster,
    die_with_parent,
    receiver_jar,
    sample_class_path,
    sample_core_site,
    tracing,
    workload_classes,
)
from tests.conftest import ROOT, Plumbd, lasting_address
from tests.hdfs.spans import calls_per_function, content, json_values, normal_name, role, traces

VERSION = os.environ.get("PLUMB_HADOOP") or DEFAULT_VERSION
DATANODES = 3
THREADS = 2
ROUNDS = 6
# What happens to plumbd after how many rounds of the load, counted over all threads.
BLOWS = {2: "kill", 4: "terminate", 6: "kill", 8: "terminate", 10: "kill"}
DRAIN_SECONDS = 60


def make_plumbd(program, folder):
    """On a port that senders know before it runs, and after it was started again."""
    return Plumbd(program, folder, listen__thrift=lasting_address())


def start(plumbd):
    plumbd.start(preexec_fn=die_with_parent)


def strike(plumbd, blow):
    if blow == "kill":
        plumbd.kill()
    elif blow == "terminate":
        assert plumbd.stop() == 0
    if blow:
        start(plumbd)


def load_with_restarts(cluster, plumbd, classes):
    """Runs the load, hits plumbd in the middle; what the load said at its end."""
    arguments = ["--rounds", ROUNDS, "--threads", THREADS, "--drain-seconds", DRAIN_SECONDS, "--progress", "--htrace"]
    with cluster.java(
        "client", "Workload", map(str, arguments), class_path=str(classes), stdout=subprocess.PIPE
    ) as load:
        rounds, last = 0, ""
        for last in load.stdout:
            if last.startswith("round "):
                rounds += 1
                strike(plumbd, BLOWS.get(rounds))
        assert load.wait() == 0, cluster.log_end("client")
        assert rounds == ROUNDS * THREADS
        return load.pid, json.loads(last)


@pytest.fixture(scope="module")
def run(tmp_path_factory, plumbd_program):
    """The whole story; what is known at its end."""
    work = tmp_path_factory.mktemp("hdfs")
    plumbd = make_plumbd(plumbd_program, work / "plumbd")
    classes = workload_classes(work, VERSION)
    core = tracing(plumbd.settings["listen.thrift"], local_files=True)
    cluster = Cluster(work / "cluster", VERSION, DATANODES, core, class_path=sample_class_path(receiver_jar()))
    try:
        with cluster:
            down = cluster.senders()
            start(plumbd)
            pids = {name: process.pid for name, process in cluster.processes.items()}
            pids["client"], done = load_with_restarts(cluster, plumbd, classes)
            senders = cluster.wait_all_sent(DRAIN_SECONDS)
        senders["client"] = done["sender"]
        plumbd.flush()
        local = {name: list(json_values(cluster.local_spans(name).read_text())) for name in pids}
        yield SimpleNamespace(
            plumbd=plumbd,
            cluster=cluster,
            done=done,
            down=down,
            senders=senders,
            pids=pids,
            local=local,
            exported=plumbd.export(),
        )
    finally:
        plumbd.clean_up()


def local_spans_with_pid(run):
    """What LocalFileSpanReceiver wrote, each process's number added to its tracer ids as our receiver does."""
    return [{**span, "r": f"{span['r']}/{run.pids[process]}"} for process, spans in run.local.items() for span in spans]


def test_settings_are_those_of_the_samples(run):
    written = (run.cluster.conf / "core-site.xml").read_text()
    changed = {"hadoop.htrace.plumb.receiver.addresses", "hadoop.htrace.span.receiver.classes"}
    for name, value in sample_core_site().items():
        assert f"<name>{name}</name>" in written
        if name not in changed and not name.endswith(".fraction"):
            assert f"<value>{value}</value>" in written
    assert sample_core_site()["hadoop.htrace.span.receiver.classes"] == "io.plumbline.htrace.PlumbSpanReceiver"
    assert run.cluster.extra_class_path == str(receiver_jar())


def test_the_load_did_everything(run):
    rounds = ROUNDS * THREADS
    operations = run.done["operations"]
    expected = {
        "mkdirs": rounds,
        "write": 2 * rounds,
        "log": rounds,
        "read": rounds,
        "pread": 6 * rounds,
        "append": rounds,
        "rename": rounds,
        "list": rounds,
    }
    assert {name: operations[name] for name in expected} == expected
    assert operations["delete"] >= rounds


def test_receiver_down_at_start_harms_nobody(run):
    """HDFS became ready without plumbd; DataNodes had traced their start by then, and kept it."""
    assert set(run.down) == set(run.pids) - {"client"}
    assert sum(bean["SpansReceived"] for bean in run.down.values()) > 0
    for bean in run.down.values():
        assert bean["SpansAcknowledged"] == bean["SpansDropped"] == 0


def test_nothing_is_lost_by_the_restarts(run):
    for name, bean in run.senders.items():
        assert bean["SpansReceived"] == bean["SpansSent"] == bean["SpansAcknowledged"], (name, bean)
        assert bean["SpansDropped"] == 0, (name, bean)
        # A thread that was inside a span when these were read has ended it since.
        assert bean["SpansReceived"] <= len(run.local[name]), name


def test_every_span_is_there_once_and_says_the_same(run):
    ids = Counter(span["a"] for span in run.exported)
    assert [i for i, n in ids.items() if n > 1] == []
    expected = {content(span) for span in local_spans_with_pid(run)}
    found = {content(span) for span in run.exported}
    assert expected - found == set()
    assert found - expected == set()
    assert len(run.exported) == sum(map(len, run.local.values()))


def test_counts_per_function(run):
    rows = run.plumbd.ask("functions?limit=0")["functions"]
    found = {(row["function"], row["role"]): row["calls"] for row in rows}
    assert found == dict(calls_per_function(span for spans in run.local.values() for span in spans))
    assert {row["resolution_ns"] for row in rows} == {1000000}
    totals = Counter()
    for spans in run.local.values():
        for span in spans:
            totals[normal_name(span), role(span)] += (span["e"] - span["b"]) * 1000000
    assert {(row["function"], row["role"]): row["total_ns"] for row in rows} == dict(totals)


def test_each_process_is_a_host(run):
    """Which DataNode did how much is told apart."""
    rows = run.plumbd.ask("functions?limit=0&by=host")["functions"]
    for name, spans in run.local.items():
        found = {(row["function"], row["role"]): row["calls"] for row in rows if row["host"] == name}
        assert found == dict(calls_per_function(spans)), name


def write_traces(run):
    return [trace for trace in traces(run.exported).values() if trace.named("Workload#write")]


def test_a_write_is_one_tree_over_all_processes(run):
    """The client's span, the NameNode's, and the pipeline: every DataNode under the one before it."""
    datanodes = {pid for name, pid in run.pids.items() if name.startswith("datanode")}
    writes = write_traces(run)
    assert len(writes) == 2 * ROUNDS * THREADS
    several_blocks = 0
    for trace in writes:
        assert [root["d"] for root in trace.roots()] == ["Workload#write"]
        assert trace.orphans() == []
        assert {role(span) for span in trace.spans} == {"client", "namenode", "datanode"}
        blocks = len(trace.named("ClientProtocol#addBlock"))
        several_blocks += blocks > 1
        operations = trace.named("OpWriteBlockProto")
        assert len(operations) == DATANODES * blocks
        last_of_pipeline = [op for op in operations if not any(op["a"] in other["p"] for other in operations)]
        assert len(last_of_pipeline) == blocks
        for end in last_of_pipeline:
            above = list(trace.ancestors(end))
            pipeline = [end] + [span for span in above if span["d"] == "OpWriteBlockProto"]
            assert {int(span["r"].rsplit("/", 1)[1]) for span in pipeline} == datanodes
            assert role(above[len(pipeline) - 1]) == "client", "the first DataNode is under the client"
            assert above[-1]["d"] == "Workload#write"
    assert several_blocks == ROUNDS * THREADS


def test_reads_reach_datanodes_and_namenode(run):
    found = traces(run.exported).values()
    for operation, least in (("Workload#read", 1), ("Workload#pread", 1)):
        for trace in (t for t in found if t.named(operation)):
            assert len(trace.named("OpReadBlockProto")) >= least
            assert len(trace.named("sendBlock")) == len(trace.named("OpReadBlockProto"))
            assert trace.named("ClientProtocol#getBlockLocations")
            assert trace.orphans() == []


def test_trace_of_the_api_is_the_same_tree(run):
    trace = max(write_traces(run), key=lambda t: len(t.spans))
    shown = run.plumbd.ask(f"trace?id={trace.roots()[0]['a'][:16]}")
    assert shown["orphans"] == shown["cycles"] == 0 and not shown["incomplete"]
    assert shown["spans_total"] == len(shown["spans"]) == len(trace.spans)
    depths = {span["span"]: span["depth"] for span in shown["spans"]}
    for span in trace.spans:
        assert depths[span["a"]] == len(list(trace.ancestors(span)))
    on_datanodes = {span["pid"] for span in shown["spans"] if span["function"] == "OpWriteBlockProto"}
    assert on_datanodes == {pid for name, pid in run.pids.items() if name.startswith("datanode")}


def test_senders_counters_reach_the_status(run):
    known = {sender["sender"]: sender for sender in run.plumbd.receiver()["senders"]}
    for name, bean in run.senders.items():
        assert known[bean["SenderId"]]["spans_sent"] >= bean["SpansSent"], name
        assert known[bean["SenderId"]]["spans_queued"] == 0
        assert known[bean["SenderId"]].get("drops", {}) == {}
    assert sum(sender["spans_sent"] for sender in known.values()) == len(run.exported)
    assert {sender.split("/")[0] for sender in known} == {"NameNode", "DataNode", "Workload"}


def test_statistics_agree_with_the_spans(run):
    verified = run.plumbd.ask("verify")
    assert verified["differences"] == 0, verified["reports"]
    assert verified["spans"] == len(run.exported)
    store = run.plumbd.stored()
    assert (store["spans"], store["traces"], store["incomplete_traces"]) == (
        len(run.exported),
        len(traces(run.exported)),
        0,
    )


def test_forest_has_each_operation(run):
    roots = {pattern["nodes"][0]["function"] for pattern in run.plumbd.ask("forest?limit=0")["patterns"]}
    assert {f"Workload#{name}" for name in run.done["operations"]} <= roots


@pytest.mark.parametrize(
    "command, shown",
    [
        (["functions", "--limit", "0"], ["OpWriteBlockProto", "Workload#write", "ClientProtocol#addBlock"]),
        (["forest"], ["Workload#write", "OpWriteBlockProto", "datanode1", "namenode"]),
        (["traces", "--function", "Workload#append"], ["Workload#append"]),
    ],
)
def test_plumb_shows_it(run, plumb_program, command, shown):
    done = subprocess.run(
        [plumb_program, *command, "--server", run.plumbd.http], check=True, capture_output=True, text=True, timeout=60
    )
    for text in shown:
        assert text in done.stdout


@pytest.mark.parametrize("options", [[], ["--hadoop", VERSION, "--receiver-only"]], ids=["agent", "receiver"])
def test_demonstration(tmp_path, plumbd, options):
    """What script/server --demo runs, and the same without the agent."""
    address = f"{plumbd.thrift[0]}:{plumbd.thrift[1]}"
    demo = subprocess.run(
        [
            sys.executable,
            "-m",
            "script.hdfs.demo",
            "--plumbd-thrift",
            address,
            "--work-dir",
            tmp_path / "hdfs",
            *options,
            "--rounds",
            "1",
            "--threads",
            "1",
            "--json",
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    done = json.loads(demo.stdout)
    plumbd.flush()
    assert plumbd.stored()["spans"] == done["spans"] == done["acknowledged"] > 500
    roots = {pattern["nodes"][0]["function"] for pattern in plumbd.ask("forest?limit=0")["patterns"]}
    assert {f"Workload#{name}" for name in done["operations"]} <= roots
    assert set(done["senders"]) == {"client", "namenode", "datanode1", "datanode2", "datanode3"}


def test_an_interrupted_demonstration(tmp_path, plumbd):
    """Ctrl-C ends it without a traceback and leaves no process behind."""
    address = f"{plumbd.thrift[0]}:{plumbd.thrift[1]}"
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "script.hdfs.demo",
            "--plumbd-thrift",
            address,
            "--work-dir",
            tmp_path / "hdfs",
            "--hadoop",
            VERSION,
            "--receiver-only",
        ],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job ignores Ctrl-C, and so would all below it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as demo:
        while "starting one NameNode" not in demo.stderr.readline():
            assert demo.poll() is None
        demo.send_signal(signal.SIGINT)
        said = demo.stderr.read()
        assert demo.wait(timeout=60) == 130
    assert said == "demo: interrupted\n"
    assert subprocess.run(["pgrep", "-f", str(tmp_path / "hdfs")], capture_output=True, check=False).stdout == b""
