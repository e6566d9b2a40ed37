"""As docs/tracing.md says: a running NameNode gets and loses our receiver, and a command of the shell is traced."""

import subprocess

import pytest

from script.hdfs.cluster import Cluster, receiver_jar, sample_class_path, tracing
from tests.hdfs.spans import normal_name, role, traces

RECEIVER = "io.plumbline.htrace.PlumbSpanReceiver"


@pytest.fixture(scope="module")
def namenode(tmp_path_factory):
    """A NameNode alone, with our jar on its class path and nothing configured."""
    with Cluster(tmp_path_factory.mktemp("hdfs"), datanodes=0, class_path=sample_class_path(receiver_jar())) as cluster:
        yield cluster


def run_java(cluster, main, *arguments):
    process = cluster.java("shell", main, arguments, stdout=subprocess.PIPE)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 0, output + cluster.log_end("shell")
    return output


def run_traced_mkdir(cluster, plumbd, folder, **more):
    """hdfs dfs -mkdir with every call traced; more settings with '_' for '.'."""
    settings = {
        **tracing("{}:{}".format(*plumbd.thrift)),
        "fs.shell.htrace.sampler.classes": "AlwaysSampler",
        **{name.replace("_", "."): value for name, value in more.items()},
    }
    run_java(
        cluster,
        "org.apache.hadoop.fs.FsShell",
        *(f"-D{name}={value}" for name, value in settings.items()),
        "-mkdir",
        "-p",
        folder,
    )


def test_receiver_at_run_time_and_a_traced_command(namenode, plumbd):
    address = "{}:{}".format(*plumbd.thrift)

    def trace_admin(*arguments):
        return run_java(
            namenode, "org.apache.hadoop.tracing.TraceAdmin", "-host", f"127.0.0.1:{namenode.rpc_port}", *arguments
        )

    trace_admin("-add", "-class", RECEIVER, f"-Chadoop.htrace.plumb.receiver.addresses={address}")
    identity, name = trace_admin("-list").split()[-2:]
    assert name == RECEIVER

    run_traced_mkdir(namenode, plumbd, "/a/b")
    trace_admin("-remove", identity)  # closes the receiver, which sends what it has
    assert namenode.senders() == {}

    plumbd.flush()
    (trace,) = [trace for trace in traces(plumbd.export()).values() if any(role(s) == "namenode" for s in trace.spans)]
    (root,) = trace.roots()
    assert (root["d"], root["n"]) == ("mkdir", {"args": "-mkdir -p /a/b"})
    assert root["r"].split("/")[:2] == ["FsShell", "shell"]
    assert trace.orphans() == []
    (made,) = trace.named("ClientProtocol#mkdirs")
    assert [normal_name(span) for span in trace.ancestors(made)] == ["ClientNamenodeProtocol#mkdirs", "mkdir", "mkdir"]
    known = {sender["sender"].split("/")[0] for sender in plumbd.receiver()["senders"]}
    assert known == {"NameNode", "FsShell"}


def test_a_senders_loss_is_seen(namenode, plumbd):
    """A queue of one span, emptied only once another one found it full: that one is dropped, and plumbd is told."""
    run_traced_mkdir(
        namenode, plumbd, "/c", hadoop_htrace_plumb_queue_spans=1, hadoop_htrace_plumb_flush_interval_ms=3600000
    )
    plumbd.flush()
    (sender,) = plumbd.receiver()["senders"]
    assert sender["spans_sent"] == len(plumbd.export()) >= 1
    assert sender["drops"]["queue full"] >= 1
    assert set(sender["drops"]) == {"queue full"}
