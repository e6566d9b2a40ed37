"""Every operation of HDFS, on every version, the agent in all five processes: what plumbd then knows."""

import subprocess

import pytest

from script.hdfs.javas import java_home
from tests.agent.tours import VERSIONS, java_for, left_out, operations, shape, spans, total

PROCESSES = {"client", "namenode", "datanode1", "datanode2", "datanode3"}
RUNS = [(version, java_for(version)) for version in VERSIONS] + [("3.5.0", 25)]
BLOCK, CELL = 262144, 1024 * 1024
WRITTEN = 2 * BLOCK + 100_000


@pytest.fixture(params=RUNS, ids=lambda run: f"{run[0]}-java{run[1]}", scope="module")
def run(request, toured):
    version, java = request.param
    if java == 25 and java_home(java) is None:
        pytest.skip(f"no JDK {java}: set JAVA_HOME_{java}")
    return toured(version, java)


def test_each_server_is_on_that_java(request, run):
    release = request.node.callspec.params["run"][1]
    assert run.javas == dict.fromkeys(PROCESSES - {"client"}, "1.8" if release == 8 else str(release))


def version_of(run):
    return run.cluster.version_of("namenode")


def test_nothing_goes_wrong(run):
    """Neither in Hadoop nor in tracing, and no span is lost."""
    assert run.faults == []
    assert set(run.senders) == PROCESSES
    for name, counters in run.senders.items():
        assert counters["SpansReceived"] == counters["SpansSent"] == counters["SpansAcknowledged"] > 0, (name, counters)
        assert counters["SpansDropped"] == 0, (name, counters)
    assert {name: bean["LastTrouble"] for name, bean in run.agents.items()} == dict.fromkeys(PROCESSES, "")


def test_the_status_accounts_for_every_sender(run, plumb_program):
    known = {sender["sender"]: sender for sender in run.status["senders"]}
    for name, counters in run.senders.items():
        sender = known[counters["SenderId"]]
        # Whose counters were read, and who was told to end after that, may have had a thread inside a span.
        assert sender["spans_sent"] >= counters["SpansSent"] and sender["spans_queued"] == 0, name
        assert set(sender.get("drops", {})) <= {"ended after close"}, name
    accounting = run.status["accounting"]
    assert accounting["agree"]
    once = accounting["received"] - accounting["repeated"]  # a reply that came too late has them sent again
    assert once == sum(sender["spans_sent"] for sender in known.values()), accounting
    shown = subprocess.run(
        [plumb_program, "status", "--server", run.plumbd.http], check=True, capture_output=True, text=True, timeout=60
    ).stdout
    for sender in known:
        assert sender in shown


def test_each_operation_is_one_tree(run):
    """The application's method at its root, nobody's parent missing."""
    skipped = {f"Tour#{name}" for name in left_out(version_of(run))}
    for operation in set(operations()) - skipped:
        trace = run.forest.one(operation)
        assert (trace["orphans"], trace["cycles"], trace["duplicates"]) == (0, 0, 0), operation
        assert [span["function"] for span in trace["spans"] if not span["parents"]] == [operation]


def test_trees_reach_over_processes(run):
    for operation, roles in [
        ("Tour#mkdirs", {"client", "namenode"}),
        ("Tour#rename", {"client", "namenode"}),
        ("Tour#write", {"client", "namenode", "datanode"}),
        ("Tour#read", {"client", "namenode", "datanode"}),
        ("Tour#append", {"client", "namenode", "datanode"}),
        ("Tour#pread", {"client", "namenode", "datanode"}),
        ("Tour#hedgedRead", {"client", "namenode", "datanode"}),
        ("Tour#checksum", {"client", "namenode", "datanode"}),
    ]:
        assert {span["role"] for span in run.forest.one(operation)["spans"]} == roles, operation


def test_times_are_nanoseconds(run):
    """Hadoop's own spans too, which HTrace counts in milliseconds."""
    assert {row["function"] for row in run.forest.functions if row["resolution_ns"] != 1} == set()
    times = [span["duration_ns"] for trace in run.forest.traces.values() for span in trace["spans"]]
    assert min(times) >= 0
    assert sum(time % 1_000_000 != 0 for time in times) > 0.99 * len(times)


def test_parents_enclose_what_they_wait_for(run):
    """Within one process, a call in the thread of its parent lies inside it."""
    for operation in ("Tour#mkdirs", "Tour#status", "Tour#list", "Tour#read"):
        for span in run.forest.one(operation)["spans"]:
            assert span["self_ns"] >= 0 and "reversed" not in span.get("flags", [])


def test_site_functions_record_values(run):
    (root,) = spans(run.forest.one("Tour#write"), "Tour#write")
    assert root["annotations"] == {"path": "/client/file", "bytes": str(WRITTEN), "written": str(WRITTEN)}
    (root,) = spans(run.forest.one("Tour#read"), "Tour#read")
    assert root["annotations"]["sum"] == run.results["read"]


def test_statistics_agree_with_the_spans(run):
    assert run.plumbd.ask("verify")["differences"] == 0


def test_a_write_goes_down_the_pipeline(run):
    """Three blocks, three DataNodes each, one below the other."""
    trace = run.forest.one("Tour#write")
    assert len(spans(trace, "OpWriteBlockProto", "datanode")) == 9
    path = next(path for path in shape(trace) if path.count("datanode OpWriteBlockProto") == 3)
    assert path[0] == "client Tour#write"
    hosts = {span["host"] for span in spans(trace, "OpWriteBlockProto")}
    assert hosts == PROCESSES - {"client", "namenode"}


def test_bytes_add_up_on_the_write_path(run):
    """Every DataNode receives, and writes to disk, what the application wrote; the last of the pipeline checks it."""
    trace = run.forest.one("Tour#write")
    assert total(trace, "BlockReceiver#receivePacket", "bytes") == 3 * WRITTEN
    assert total(trace, "ReplicaOutputStreams#writeDataToDisk", "bytes") == 3 * WRITTEN
    assert total(trace, "BlockReceiver#receiveBlock", "length") == 3 * WRITTEN
    assert total(trace, "BlockReceiver#verifyChunks", "bytes") == WRITTEN
    assert 2 * WRITTEN < total(trace, "PacketReceiver#mirrorPacketTo", "bytes") < 2.1 * WRITTEN  # headers, checksums
    assert 3 * WRITTEN < total(trace, "PacketReceiver#receiveNextPacket", "bytes") < 3.1 * WRITTEN


@pytest.mark.parametrize("operation", ["Tour#read", "Tour#readBuffer"])
def test_bytes_add_up_on_the_read_path(run, operation):
    """From the disk, through the socket, to the application."""
    trace = run.forest.one(operation)
    read = "DFSInputStream#byteArrayRead" if operation == "Tour#read" else "DFSInputStream#byteBufferRead"
    assert total(trace, read, "bytes") == WRITTEN
    assert total(trace, "BlockReaderRemote2#readNextPacket", "bytes") == WRITTEN
    assert total(trace, "BlockSender#sendPacket", "bytes") == WRITTEN
    assert total(trace, "FileIoProvider#transferToSocketFully", "bytes") == WRITTEN
    assert total(trace, "BlockSender#readChecksum", "bytes") >= WRITTEN // 512 * 4


def test_bytes_add_up_of_a_positional_read(run):
    trace = run.forest.one("Tour#pread")
    assert total(trace, "DFSInputStream#byteArrayPread", "bytes") == 10_000
    assert total(trace, "BlockReaderRemote#new", "length") == 10_000
    assert 10_000 <= total(trace, "BlockSender#sendPacket", "bytes") < 10_000 + 4 * 512  # whole chunks


@pytest.mark.parametrize("operation", ["Tour#read", "Tour#pread"])
def test_a_datanode_serves_below_the_call_that_asked_it(run, operation):
    """So what is waited before it begins can be told."""
    served = [path for path in shape(run.forest.one(operation)) if path[-1] == "datanode OpReadBlockProto"]
    assert served
    assert {path[-2] for path in served} == {"client BlockReaderRemote#new"}


def test_bytes_add_up_of_striped_files(run):
    if left_out(version_of(run)):
        pytest.skip("Hadoop 2 has no erasure coding")
    cells, parity = 2 * CELL + 10_000, CELL + 10_000
    assert total(run.forest.one("Tour#writeStriped"), "BlockReceiver#receivePacket", "bytes") == cells + parity
    trace = run.forest.one("Tour#readStriped")
    assert total(trace, "DFSInputStream#byteArrayRead", "bytes") == cells
    assert total(trace, "BlockSender#sendPacket", "bytes") == cells
