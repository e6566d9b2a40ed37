"""Work that nobody asked for is traced only where it is wanted."""
import pytest

from tests.agent.tours import Cluster, Forest, agent
from cluster import wait_for

BACKGROUND = {"BPServiceActor#sendHeartBeat", "BPServiceActor#blockReport"}


def is_background(row):
    return row["function"].startswith("BPServiceActor#")


@pytest.mark.parametrize("version", ["3.3.1", "3.5.0"])
def test_heartbeats_and_block_reports(version, plumbds, tmp_path):
    plumbd = plumbds()
    wanted = agent(plumbd, background="on", sampling="always")
    with Cluster(tmp_path, version, datanodes=1, agent=wanted, hdfs={"dfs.blockreport.initialDelay": "0"}):
        def seen():
            plumbd.flush()
            return BACKGROUND <= {row["function"] for row in plumbd.ask("functions?limit=0")["functions"]}

        wait_for(seen, 30, "heartbeats and block reports traced")
    forest = Forest(plumbd)
    reached = [trace for trace in forest.traces.values() if {"datanode", "namenode"} <= {
        span["role"] for span in trace["spans"]} and is_background(trace["spans"][0])]
    assert reached


def test_off_unless_asked_for(toured):
    assert [row["function"] for row in toured("3.5.0").forest.functions if is_background(row)] == []
