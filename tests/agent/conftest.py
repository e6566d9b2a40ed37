"""One tour for each version of Hadoop, made when first asked for and then shared by all tests."""
import pytest

from tests.agent.tours import VERSIONS, Cluster, agent, start_plumbd, traced_tour
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
            cluster = Cluster(tmp_path_factory.mktemp("hdfs"), version, agent=agent(plumbd), java=home)
            done[version, java] = traced_tour(cluster, plumbd, tour_program)
        return done[version, java]

    return get
