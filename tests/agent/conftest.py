"""One tour for each version of Hadoop, made when first asked for and then shared by all tests."""
import pytest

from tests.agent.tours import VERSIONS, Cluster, Forest, agent, start_plumbd, traced_tour
from cluster import wait_for
from jars import java_home, tour_classes


@pytest.fixture(scope="session")
def tour_program(tmp_path_factory):
    """Classes of the tour, compiled once against the oldest version in use."""
    return tour_classes(tmp_path_factory.mktemp("tour"), VERSIONS[0])


@pytest.fixture(scope="session")
def plumbds(plumbd_program, tmp_path_factory):
    """plumbds(**settings) starts one; all are gone at the end."""
    started = []

    def start(**settings):
        started.append(start_plumbd(plumbd_program, tmp_path_factory.mktemp("plumbd"), **settings))
        return started[-1]

    yield start
    for plumbd in started:
        plumbd.clean_up()


@pytest.fixture(scope="session")
def toured(tour_program, plumbds, tmp_path_factory):
    """toured(version) or toured(version, java release): the agent in every process, every call of the application traced."""
    done = {}

    def get(version, java=17):
        if (version, java) not in done:
            home = None if java == 17 else java_home(java)
            plumbd = plumbds()
            cluster = Cluster(tmp_path_factory.mktemp("hdfs"), version, agent=agent(plumbd, sampling="always"), java=home)
            done[version, java] = traced_tour(cluster, plumbd, tour_program)
        return done[version, java]

    return get


@pytest.fixture(scope="session")
def background(plumbds, tmp_path_factory):
    """background(version): the forest of a small cluster that nobody uses, its own work traced."""
    done = {}

    def get(version):
        if version not in done:
            plumbd = plumbds()
            with Cluster(tmp_path_factory.mktemp("hdfs"), version, datanodes=1,
                         agent=agent(plumbd, background="on", sampling="always")):
                wait_for(lambda: reported(plumbd), 30, "heartbeat and block report traced")
            done[version] = Forest(plumbd)
        return done[version]

    return get


def reported(plumbd):
    """Have DataNode and NameNode both sent spans of a heartbeat and of a block report?"""
    plumbd.flush()
    rows = {row["function"] for row in plumbd.ask("functions?limit=0")["functions"]}
    return rows >= {"BPServiceActor#sendHeartBeat", "BPServiceActor#blockReport", "NameNodeRpcServer#sendHeartbeat",
                    "NameNodeRpcServer#blockReport"}
