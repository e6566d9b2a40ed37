"""Processes that were started for a span of another tracer: W3C's traceparent in the environment of a shell, and in the
properties of an application of Spark."""

import os

import pytest

from script.hdfs.attach import Agent
from script.hdfs.cluster import Cluster
from script.spark.standalone import Standalone
from tests.conftest import Plumbd
from tests.receiver.waiting import wait_for

HADOOP, SPARK = "3.3.6", "3.5.6"


class Started(Agent):
    """Our agent in a process with that variable."""

    def __init__(self, settings, trace_parent):
        super().__init__(settings)
        self.trace_parent = trace_parent

    def environment(self, name, work):
        return {"TRACEPARENT": self.trace_parent}


@pytest.fixture(scope="module")
def place(plumbd_program, tmp_path_factory):
    """(plumbd, a cluster with our agent, the agent's settings: of what was not started for a span nothing is traced)"""
    plumbd = Plumbd(plumbd_program, tmp_path_factory.mktemp("plumbd")).start()
    settings = {"receivers": "{}:{}".format(*plumbd.thrift), "sampling": "Nothing=always; never"}
    folder = tmp_path_factory.mktemp("hdfs")
    with Cluster(folder / "hdfs", HADOOP, datanodes=1, agent=Agent(settings)) as cluster:
        yield plumbd, cluster, settings
    plumbd.clean_up()


def drawn():
    """Ids of a span that never comes to plumbd: (its trace, its own)."""
    return os.urandom(16).hex(), os.urandom(8).hex()


def put(place, name, text, **options):
    """Of a small file by Hadoop's shell, started for that span."""
    _, cluster, settings = place
    source = cluster.work / "file"
    source.write_bytes(b"x" * 100_000)
    arguments = ["-put", "-f", str(source), f"/{name}"]
    shell = "org.apache.hadoop.fs.FsShell"
    assert cluster.java(name, shell, arguments, agent=Started({**settings, **options}, text)).wait(120) == 0


def roles_of(plumbd, trace):
    status, _ = plumbd.fetch(f"/api/v1/trace?id={trace[16:]}")
    return {row["role"] for row in plumbd.ask(f"trace?id={trace[16:]}&limit=0")["spans"]} if status == 200 else set()


def test_a_shell(place):
    """All that it calls is below the span, down to the DataNode."""
    plumbd = place[0]
    trace, span = drawn()
    put(place, "shell", f"00-{trace}-{span}-01")
    wait_for(lambda: roles_of(plumbd, trace) >= {"client", "namenode", "datanode"})

    def outermost(rows):
        """Parents that have not come: of the spans that are on their way, and the one that never comes."""
        return {parent for row in rows for parent in row["parents"]} - {row["span"] for row in rows}

    def rows():
        return plumbd.ask(f"trace?id={trace[16:]}&limit=0")["spans"]

    wait_for(lambda: outermost(rows()) == {trace[16:] + span})
    assert all(row["parents"] for row in rows())


@pytest.mark.parametrize("text", ["00-{}-{}-00", "x" * 5000], ids=["unrecorded", "other"])
def test_what_is_no_parent(place, text):
    """Our own sampling decides, which wants nothing here."""
    plumbd = place[0]
    trace, span = drawn()
    name = f"none-{len(text)}"
    put(place, name, text.format(trace, span))
    plumbd.flush()
    assert plumbd.ask("traces?limit=0&path=/shell")["traces"]
    assert not plumbd.ask(f"traces?limit=0&path=/{name}")["traces"]


def test_spark(place, tmp_path):
    """The driver's calls are in the trace. Tasks have their own, linked to it, with all they call in HDFS."""
    plumbd, cluster, settings = place
    put(place, "lines", "")
    trace, span = drawn()
    tracer = Agent({**settings, "sampling": "SparkTask=always; never"})
    properties = {"spark.executorEnv.TRACEPARENT": f"00-{trace}-{span}-01"}
    with Standalone(tmp_path / "spark", SPARK, workers=1, agent=tracer, conf=properties) as spark:
        spark.run("text", [f"{cluster.url()}/lines", "x"])
    wait_for(lambda: roles_of(plumbd, trace) >= {"client", "namenode"})
    plumbd.flush()
    rows = plumbd.ask(f"trace?id={trace[16:]}&limit=0")["spans"]
    assert {parent for row in rows for parent in row["parents"]} - {row["span"] for row in rows} == {trace[16:] + span}
    question = "traces?function=SparkTask&limit=0&annotation="
    tasks = plumbd.ask(f"{question}link={trace}%20{span}")["traces"]
    assert tasks and len(tasks) == len(plumbd.ask("traces?function=SparkTask&limit=0")["traces"])
    roles = {row["role"] for task in tasks for row in plumbd.ask(f"trace?id={task['trace']}&limit=0")["spans"]}
    assert roles >= {"client", "datanode"}
