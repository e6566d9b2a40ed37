"""Jars woven beforehand instead of the agent: the same forest."""
import pytest

from attach import Woven, weave
from tests.agent.tours import Cluster, agent, operations, shape, traced_tour


@pytest.fixture(scope="module", params=["3.3.1", "3.5.0"])
def run(request, tour_program, plumbds, tmp_path_factory):
    """All servers on woven jars. The client's own class can only be woven by the agent, so it has that."""
    work, plumbd = tmp_path_factory.mktemp("woven"), plumbds()
    weave(request.param, work / "lib")
    woven = Woven(work / "lib", agent(plumbd).settings)
    cluster = Cluster(work / "hdfs", request.param, agent=woven)
    classes = weave_classes(tour_program, work)
    return traced_tour(cluster, plumbd, classes)


def test_nothing_goes_wrong(run):
    assert run.faults == []
    assert set(run.senders) == {"client", "namenode", "datanode1", "datanode2", "datanode3"}
    for name, counters in run.senders.items():
        assert counters["SpansAcknowledged"] == counters["SpansReceived"] > 0, name


def test_the_forest_is_the_agents(run, toured):
    same = toured(run.cluster.version_of("namenode"))
    assert run.results == same.results
    for operation in operations():
        assert shape(run.forest.one(operation)) == shape(same.forest.one(operation)), operation
