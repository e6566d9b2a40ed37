"""Work that nobody asked for is traced only where it is wanted."""

import pytest

from tests.agent.conftest import block_commands
from tests.agent.tours import VERSIONS

HEARTBEAT, REPORT = "BPServiceActor#sendHeartBeat", "BPServiceActor#blockReport"
NEWS = "IncrementalBlockReportManager#sendIBRs"


def background_work(trace):
    return trace["spans"][0]["function"].startswith("BPServiceActor#")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("function", [HEARTBEAT, REPORT])
def test_heartbeats_and_block_reports_reach_the_namenode(background, version, function):
    reached = [
        trace
        for trace in background(version).named(function)
        if {span["role"] for span in trace["spans"]} == {"datanode", "namenode"}
    ]
    assert reached
    assert "commands" in reached[0]["spans"][0]["annotations"]


@pytest.mark.parametrize("version", VERSIONS)
def test_off_unless_asked_for(toured, version):
    assert [trace["trace"] for trace in toured(version).forest.traces.values() if background_work(trace)] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_news_of_blocks_reach_the_namenode(background, version):
    reached = [
        trace
        for trace in background(version).named(NEWS)
        if "NameNodeRpcServer#blockReceivedAndDeleted" in {span["function"] for span in trace["spans"]}
    ]
    assert reached


@pytest.mark.parametrize("version", VERSIONS)
def test_commands_that_came_with_a_heartbeat(background, version):
    """The file's block is deleted at the NameNode's word."""
    assert "BlockCommand" in block_commands(background(version))
