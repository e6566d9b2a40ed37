"""Work that nobody asked for is traced only where it is wanted."""

import pytest

from tests.agent.conftest import BUSY, block_commands
from tests.agent.tours import VERSIONS

HEARTBEAT, REPORT = "BPServiceActor#sendHeartBeat", "BPServiceActor#blockReport"
NEWS = "IncrementalBlockReportManager#sendIBRs"


def background_work(trace):
    return trace["spans"][0]["function"].startswith("BPServiceActor#")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("function", [HEARTBEAT, REPORT])
def test_heartbeats_and_block_reports_reach_the_namenode(toured, version, function):
    reached = [
        trace
        for trace in toured(version).forest.named(function)
        if {span["role"] for span in trace["spans"]} == {"datanode", "namenode"}
    ]
    assert reached
    assert "commands" in reached[0]["spans"][0]["annotations"]


@pytest.mark.parametrize("version", VERSIONS)
def test_off_unless_asked_for(toured, version):
    assert {
        trace["spans"][0]["host"] for trace in toured(version).forest.traces.values() if background_work(trace)
    } == {BUSY}


@pytest.mark.parametrize("version", VERSIONS)
def test_news_of_blocks_reach_the_namenode(toured, version):
    reached = [
        trace
        for trace in toured(version).forest.named(NEWS)
        if "NameNodeRpcServer#blockReceivedAndDeleted" in {span["function"] for span in trace["spans"]}
    ]
    assert reached


@pytest.mark.parametrize("version", VERSIONS)
def test_commands_that_came_with_a_heartbeat(toured, version):
    """Blocks of deleted files are removed at the NameNode's word."""
    assert "BlockCommand" in block_commands(toured(version).forest)
