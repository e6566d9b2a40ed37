"""The agent beside what an operator of a Hadoop with HTrace has configured before: receivers, samplers, the shell's
tracer."""

import subprocess

import pytest

from script.hdfs.cluster import receiver_jar, sample_class_path, tracing
from tests.agent.tours import FAULT, Agent, Cluster, start_plumbd
from tests.conftest import ROOT
from tests.hdfs.spans import json_values, normal_name, role, traces

VERSION = "3.3.1"
OURS = "io.plumbline.trace.htrace.AgentReceiver"
OPERATORS = "io.plumbline.htrace.PlumbSpanReceiver"
PUT = ["put", "put"]  # the command, and the shell's own name for running it


@pytest.fixture
def plumbd(request, plumbd_program, tmp_path):
    plumbd = start_plumbd(plumbd_program, tmp_path / "plumbd", **getattr(request, "param", {}))
    yield plumbd
    plumbd.clean_up()


def shell(cluster, *arguments, main="org.apache.hadoop.fs.FsShell", name="shell"):
    process = cluster.java(name, main, arguments, stdout=subprocess.PIPE)
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output + cluster.log_end(name)
    return output


def no_faults(cluster):
    for log in cluster.work.glob("*.log"):
        assert FAULT.search(log.read_text(errors="replace")) is None, log


def local_spans(cluster):
    return [span for file in cluster.work.glob("*.spans") for span in json_values(file.read_text())]


@pytest.mark.parametrize("plumbd", [{"senders__sampling": "always"}], indirect=True)
def test_the_operators_receivers_go_on(plumbd, plumbd_program, tmp_path):
    """Our jar configured as before, and HTrace's own files beside it: each span comes once to plumbd and once to a
    file, in HTrace's own form, whatever the agent has put into it. What plumbd answers about sampling holds for the
    agent."""
    address = "{}:{}".format(*plumbd.thrift)
    other = start_plumbd(plumbd_program, tmp_path / "other")  # where the agent would send
    agent = Agent({"receivers": "{}:{}".format(*other.thrift), "sampling": "always"})
    with Cluster(
        tmp_path / "hdfs",
        VERSION,
        1,
        tracing(address, local_files=True),
        class_path=sample_class_path(receiver_jar()),
        agent=agent,
    ) as cluster:
        shell(cluster, "-put", str(ROOT / "LICENSE"), "/license")
        cluster.wait_all_sent()
        agent_bean = cluster.jmx("namenode", "io.plumbline:type=Agent")[0]
        assert (agent_bean["SamplingSource"], agent_bean["Sampling"]) == ("receiver", "always")
    plumbd.flush()
    exported, written = plumbd.export(), local_spans(cluster)
    assert len(exported) == len({span["a"] for span in exported}) > 0
    assert {span["a"] for span in exported} == {span["a"] for span in written}
    assert len(written) == len(exported)
    assert {key for span in written for key in span} == set("abedrpnt")
    assert {"FSNamesystem#startFile", "BlockReceiver#receivePacket"} <= {span["d"] for span in written}
    other.flush()
    assert other.export() == []
    other.clean_up()
    no_faults(cluster)


def test_receivers_at_run_time(plumbd, tmp_path):
    """ "hadoop trace" shows ours, and one that is added for the same purpose takes its place."""
    agent = Agent({"receivers": "{}:{}".format(*plumbd.thrift)})
    with Cluster(tmp_path / "hdfs", VERSION, 0, class_path=sample_class_path(receiver_jar()), agent=agent) as cluster:

        def admin(*arguments):
            return shell(
                cluster,
                "-host",
                f"127.0.0.1:{cluster.rpc_port}",
                *arguments,
                main="org.apache.hadoop.tracing.TraceAdmin",
                name="admin",
            )

        assert OURS in admin("-list")
        admin("-add", "-class", OPERATORS, "-Chadoop.htrace.plumb.receiver.addresses={}:{}".format(*plumbd.thrift))
        listed = admin("-list")
        assert OPERATORS in listed and OURS not in listed
    no_faults(cluster)


@pytest.mark.parametrize("sampling, roots", [("put=always;never", [PUT]), ("put=never;always", [])])
def test_a_command_is_one_trace_or_none(plumbd, tmp_path, sampling, roots):
    """The shell's tracer and the file system's follow one decision, made where the command begins."""
    agent = Agent({"receivers": "{}:{}".format(*plumbd.thrift), "sampling": sampling})
    with Cluster(tmp_path / "hdfs", VERSION, 1, agent={"*": agent, "namenode": agent}) as cluster:
        shell(cluster, "-put", str(ROOT / "LICENSE"), "/license")
        cluster.wait_all_sent()
    plumbd.flush()
    found = traces(plumbd.export()).values()
    # FileSystem#createFileSystem comes before the command, and servers open file systems of their own.
    commands = [trace for trace in found if any(normal_name(root) == "put" for root in trace.roots())]
    assert len(commands) == len(roots)
    for trace in commands:
        assert trace.orphans() == []
        assert {role(span) for span in trace.spans} == {"client", "namenode", "datanode"}
    files = [trace for trace in found if trace.named("newStreamForCreate")]
    assert len(files) == len(roots)
    no_faults(cluster)
