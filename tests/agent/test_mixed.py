"""Clusters that are not all alike: another version at the client, the agent in some processes only."""

from types import SimpleNamespace

import pytest

from tests.agent.tours import Cluster, Forest, agent, faults, lost, shape, spans, tour

HTRACE, MODERN = "3.3.1", "3.5.0"
PIPELINE = "Tour#write"
STRIPED = "Tour#writeStriped"  # to one DataNode for each of its three blocks


def roles(trace):
    return {span["role"] for span in trace["spans"]}


def hosts(trace):
    return {span["host"] for span in trace["spans"]}


class Mixed:
    """A running cluster of one version, and tours of several clients over it."""

    def __init__(self, work, version, tour_program, plumbds, agents):
        self.version, self.program, self.plumbds = version, tour_program, plumbds
        self.servers_plumbd = plumbds()
        self.cluster = Cluster(
            work,
            version,
            agent={name: agent(self.servers_plumbd) if attached else None for name, attached in agents.items()},
        )

    def tour(self, name, version, attached=True, **settings):
        """Results, and the forest in one plumbd of the client's spans and the servers'."""
        options = {"version": version, "agent": agent(self.servers_plumbd, **settings) if attached else None}
        before = set(Forest(self.servers_plumbd).traces)
        results, counters = tour(self.cluster, self.program, name, **options)
        self.cluster.wait_all_sent()
        forest = Forest(self.servers_plumbd)
        forest.traces = {key: trace for key, trace in forest.traces.items() if key not in before}
        return SimpleNamespace(results=results, counters=counters, forest=forest)


@pytest.fixture(scope="module", params=[HTRACE, MODERN])
def servers(request, tmp_path_factory, tour_program, plumbds):
    """The agent in all servers but one DataNode, which sits in the middle of some pipelines."""
    mixed = Mixed(
        tmp_path_factory.mktemp("hdfs"), request.param, tour_program, plumbds, {"*": True, "datanode2": False}
    )
    with mixed.cluster:
        yield mixed


@pytest.fixture(scope="module", params=[HTRACE, MODERN])
def bare_servers(request, tmp_path_factory, tour_program, plumbds):
    """No agent in any server."""
    mixed = Mixed(tmp_path_factory.mktemp("hdfs"), request.param, tour_program, plumbds, {"*": False})
    with mixed.cluster:
        yield mixed


def other(version):
    return HTRACE if version == MODERN else MODERN


def test_a_client_of_the_other_era(servers, toured):
    """One tree over both, and the DataNode without the agent breaks nothing."""
    found = servers.tour("across", other(servers.version))
    assert found.results == toured(servers.version).results
    assert lost(found.counters) == 0
    # Whoever comes behind the silent DataNode in a pipeline does not hear of the trace, and pipelines are drawn: it may
    # be first.
    assert hosts(found.forest.one(PIPELINE)) - {"datanode1", "datanode3"} == {"across", "namenode"}
    trace = found.forest.one(STRIPED)
    assert roles(trace) == {"client", "namenode", "datanode"}
    assert hosts(trace) == {"across", "namenode", "datanode1", "datanode3"}
    assert any("datanode OpWriteBlockProto" in path and path[0] == f"client {STRIPED}" for path in shape(trace))
    rename = found.forest.one("Tour#rename")
    assert spans(rename, "ClientProtocol#rename", "namenode") and rename["orphans"] == 0
    assert faults(servers.cluster) == []


def test_a_client_without_the_agent(servers, toured):
    """Nobody starts a trace, so there is none."""
    found = servers.tour("bare", other(servers.version), attached=False)
    assert found.results == toured(servers.version).results
    assert found.counters is None
    assert found.forest.traces == {}
    assert faults(servers.cluster) == []


def test_propagation_off(servers, toured):
    """The client's own spans, and nothing on the wire."""
    found = servers.tour("alone", servers.version, propagation="off")
    assert found.results == toured(servers.version).results
    assert found.forest.named(PIPELINE)
    for trace in found.forest.traces.values():
        assert hosts(trace) == {"alone"}
    assert faults(servers.cluster) == []


@pytest.mark.parametrize("version", [HTRACE, MODERN])
def test_the_agent_at_the_client_only(bare_servers, version, toured):
    found = bare_servers.tour(f"only{version.replace('.', '')}", version)
    assert found.results == toured(bare_servers.version).results
    assert lost(found.counters) == 0 and found.counters["SpansReceived"] > 0
    trace = found.forest.one(PIPELINE)
    assert roles(trace) == {"client"} and trace["orphans"] == 0
    assert faults(bare_servers.cluster) == []
