"""One tour for each version of Hadoop, made when first asked for and then shared by all tests."""

import pytest

from script.hdfs.jars import tour_classes
from tests.agent.tours import VERSIONS, Cluster, agent, home_of, java_for, start_plumbd, traced_tour

BUSY = "datanode3"  # whose own work is traced
FS_SHELL = "org.apache.hadoop.fs.FsShell"
SHELL_SECONDS = 120


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
    """toured(version) or toured(version, java release): the agent in every process, every call of the application
    traced, and what the NameNode and one DataNode do of their own accord. The release is the version's own unless
    given."""
    done = {}

    def get(version, java=None):
        java = java or java_for(version)
        if (version, java) not in done:
            plumbd = plumbds()
            quiet, busy = (agent(plumbd, sampling="always", background=word) for word in ("off", "on"))
            cluster = Cluster(
                tmp_path_factory.mktemp("hdfs"),
                version,
                agent={"*": quiet, "namenode": busy, BUSY: busy},
                java=home_of(java),
            )
            done[version, java] = traced_tour(cluster, plumbd, tour_program, until=lambda: reported(plumbd))
        return done[version, java]

    return get


def reported(plumbd):
    """Have DataNode and NameNode both sent spans of all they have to tell each other, and of the block's deletion?"""
    plumbd.flush()
    rows = {row["function"] for row in plumbd.ask("functions?limit=0")["functions"]}
    told = {
        "BPServiceActor#sendHeartBeat",
        "BPServiceActor#blockReport",
        "NameNodeRpcServer#sendHeartbeat",
        "NameNodeRpcServer#blockReport",
        "IncrementalBlockReportManager#sendIBRs",
        "NameNodeRpcServer#blockReceivedAndDeleted",
        "BPOfferService#processCommandFromActor",
    }
    return rows >= told and plumbd.ask("traces?annotation=command=BlockCommand&limit=1")["traces"]


def block_commands(forest):
    """Kinds of commands that DataNodes were given."""
    return {
        span["annotations"]["command"]
        for trace in forest.named("BPOfferService#processCommandFromActor")
        for span in trace["spans"]
        if "command" in span.get("annotations", {})
    }
