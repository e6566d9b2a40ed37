"""Jars woven beforehand instead of the agent: the same forest."""

import pytest

from script.hdfs.attach import Woven, weave
from tests.agent.tours import NEWEST, SITE_LIST, Cluster, agent, operations, shape, traced_tour


@pytest.fixture(scope="module", params=NEWEST)
def run(request, tour_program, plumbds, tmp_path_factory):
    """No agent in any process; the application is woven too."""
    work, plumbd = tmp_path_factory.mktemp("woven"), plumbds()
    lib = weave(request.param, work, functions=SITE_LIST, beside=tour_program)
    woven = Woven(lib, agent(plumbd, sampling="always").settings)
    # Its own class path has the woven classes of the application; the plain ones must not come first.
    return traced_tour(Cluster(work / "hdfs", request.param, agent=woven), plumbd, "")


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
