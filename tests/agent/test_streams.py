"""Where no span is going on when a file is opened for writing, the output stream itself is the trace: one for each
file, with all that was written, waited for and done on the DataNodes. Reads of one stream are roots of one trace."""

import pytest

from script.hdfs.attach import Agent
from tests.agent.tours import NEWEST, Cluster, number, spans, total, traced_tour

STREAM = "DFSOutputStream#stream"
READ = "DFSInputStream#byteArrayRead"
PREAD = "DFSInputStream#byteArrayPread"
FILE, WRITTEN, BLOCKS = "/client/file", 624288, 3
# Each of them was a trace of its own without the stream.
CALLS = {"DFSOutputStream#write", "DFSOutputStream#close", "hflush", "hsync", "waitForAckedSeqno", "dataStreamer"}
WAITS = {"dataStreamer", "hflush", "hsync", "DFSOutputStream#close", "waitForAckedSeqno"}


@pytest.fixture(scope="module", params=NEWEST)
def run(request, tour_program, plumbds, tmp_path_factory):
    """The tour of an application that has no roots of its own."""
    plumbd = plumbds()
    host, port = plumbd.thrift
    agent = Agent({"receivers": f"{host}:{port}", "sampling": "always"})
    return traced_tour(Cluster(tmp_path_factory.mktemp("streams"), request.param, agent=agent), plumbd, tour_program)


@pytest.fixture(scope="module")
def streams(run):
    return run.forest.named(STREAM)


def test_nothing_goes_wrong(run):
    assert run.faults == []
    assert run.senders["client"]["SpansAcknowledged"] == run.senders["client"]["SpansReceived"] > 0


def test_no_call_of_a_stream_is_a_trace_of_its_own(run, streams):
    """Of the application's. A DataNode that serves webhdfs closes its file after the call that opened it."""
    application = streams[0]["spans"][0]["pid"]
    roots = [trace["spans"][0] for trace in run.forest.traces.values() if trace["spans"]]
    assert {root["function"] for root in roots if root["pid"] == application} & CALLS == set()


def test_a_stream_has_everything_from_its_begin_to_its_end(streams):
    assert len(streams) > 3
    for trace in streams:
        functions = {span["function"] for span in trace["spans"]}
        opened = functions & {"DistributedFileSystem#create", "DistributedFileSystem#append"}
        assert opened and "DFSOutputStream#close" in functions, trace["spans"][0]
        root = trace["spans"][0]
        end = max(span["begin_time_ns"] + span["duration_ns"] for span in spans(trace, "DFSOutputStream#close"))
        assert root["annotations"]["path"].startswith("/client")
        assert root["begin_time_ns"] + root["duration_ns"] >= end


def test_the_pipeline_is_below_the_stream(streams):
    written = [trace for trace in streams if spans(trace, "DFSOutputStream#write")]
    assert written
    for trace in written:
        assert spans(trace, "DataStreamer#writeTo") and spans(trace, "OpWriteBlockProto", "datanode")


def test_spans_that_wait_say_which_stream_they_belong_to(streams):
    for trace in streams:
        stream = trace["spans"][0]["annotations"]["stream"]
        waiting = [span for span in trace["spans"] if span["function"] in WAITS and span["role"] == "client"]
        assert {span["annotations"]["stream"] for span in waiting} == {stream}
    assert len({trace["spans"][0]["annotations"]["stream"] for trace in streams}) > 1


def test_packets_are_told_apart_by_their_numbers(streams):
    for trace in streams:
        sent = {number(span, "seqno") for span in spans(trace, "dataStreamer")}
        assert {number(span, "seqno") for span in spans(trace, "BlockReceiver#receivePacket", "datanode")} == sent
        assert {number(span, "seqno") for span in spans(trace, "waitForAckedSeqno")} <= sent | {-1}


def test_bytes_of_writes_packets_and_sockets_agree(streams):
    (whole,) = [trace for trace in streams if trace["spans"][0]["annotations"]["path"] == FILE]
    received = total(whole, "BlockReceiver#receivePacket", "bytes", "datanode")
    sent = total(whole, "dataStreamer", "bytes")
    assert total(whole, "DFSOutputStream#write", "bytes") == sent == total(whole, "DataStreamer#writeTo", "bytes") > 0
    assert received == 3 * sent


def reads_of_file(run, function):
    return [trace for trace in run.forest.named(function) if trace["spans"][0]["annotations"]["path"] == FILE]


def test_reads_of_a_stream_are_roots_of_one_trace(run):
    """So what one waits for is in it, though another asked the DataNode for the block. A block that begins more than
    10 s after the first begins another trace."""
    traces = reads_of_file(run, READ)
    reads = [span for trace in traces for span in trace["spans"] if span["depth"] == 0]
    assert 0 < len(traces) <= BLOCKS and len(reads) > 2 * BLOCKS
    assert {span["function"] for span in reads} == {READ}
    assert all(span["parents"] == [] for span in reads)
    for trace in traces:
        assert total(trace, READ, "bytes") == total(trace, "BlockSender#sendPacket", "bytes", "datanode")
    assert sum(total(trace, READ, "bytes") for trace in traces) == WRITTEN
    assert sum(len(spans(trace, "OpReadBlockProto", "datanode")) for trace in traces) == BLOCKS


def test_what_reads_took_is_somebodys(run):
    """Of all that read, and of those that worked for them: nothing twice, and nothing lost."""
    for trace in reads_of_file(run, READ):
        waited = sum(span["duration_ns"] for span in trace["spans"] if span["depth"] == 0)
        assert sum(span["critical_ns"] for span in trace["spans"]) == waited


def test_a_positional_read_is_a_trace_of_its_own(run):
    alone = reads_of_file(run, PREAD)
    assert alone
    for trace in alone:
        assert [span["function"] for span in trace["spans"] if span["depth"] == 0] == [PREAD]
        assert spans(trace, "OpReadBlockProto", "datanode")
