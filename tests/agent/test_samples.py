"""The samples of conf/ for clients of a traced HDFS 3.5.0, read by what reads them: a real Spark (driver and executor
in JVMs of their own), hadoop-env.sh, the environment of a unit."""

import os
import re
import subprocess

import pytest

from script.hdfs.cluster import wait_for
from script.hdfs.jars import agent_jar
from script.hdfs.spark import spark_home
from tests.agent.tours import Cluster, Forest, agent, faults
from tests.conftest import ROOT

WORDS = 20_000
JOB = """
from operator import add
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.appName("words").getOrCreate()
lines = spark.sparkContext.textFile(sys.argv[1], 2)
counts = lines.flatMap(lambda line: line.split()).map(lambda word: (word, 1)).reduceByKey(add).collect()
print(sorted(counts))
spark.stop()
"""
SUBMIT_SECONDS = 300


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory, plumbds):
    plumbd = plumbds()
    with Cluster(
        tmp_path_factory.mktemp("hdfs"), "3.5.0", datanodes=2, agent=agent(plumbd, sampling="always")
    ) as cluster:
        yield cluster, plumbd


def put(cluster, path):
    """A file of many blocks' size is not needed: two splits are made of any."""
    local = cluster.work / "words.txt"
    local.write_text("alpha beta alpha gamma\n" * (WORDS // 4))
    shell = cluster.java("shell", "org.apache.hadoop.fs.FsShell", ["-put", str(local), path], agent=None)
    assert shell.wait(60) == 0, cluster.log_end("shell")


def agent_conf(plumbd, folder, host):
    """A file of settings for one kind of process."""
    path = folder / f"{host}.conf"
    path.write_text(
        f"receivers = {plumbd.thrift[0]}:{plumbd.thrift[1]}\nsampling = always\ntracer.id = %{{tname}}/{host}\n"
    )
    return path


def of_this_build(text, conf):
    """A sample with the jar of the build and the settings of a test."""
    return text.replace("/usr/share/plumbline/plumb-agent.jar", str(agent_jar())).replace(
        "/etc/plumbline/plumb-agent.conf", str(conf)
    )


def spark_defaults(plumbd, version, folder):
    """Our sample; driver and executor with settings of their own."""
    lines = (ROOT / "conf" / "spark-defaults.conf.sample").read_text().splitlines()
    for process in ("driver", "executor"):
        conf = agent_conf(plumbd, folder, f"{process}-{version}")
        lines = [of_this_build(line, conf) if line.startswith(f"spark.{process}.") else line for line in lines]
    path = folder / "spark-defaults.conf"
    path.write_text("\n".join([*lines, "spark.ui.enabled false", "spark.executor.memory 512m", ""]))
    return path


def spark_in(folder, version):
    """A SPARK_HOME to work in: executors leave their logs there."""
    folder.mkdir()
    for part in spark_home(version).iterdir():
        if part.name != "work":
            (folder / part.name).symlink_to(part)
    return folder


def trees_from(plumbd, host, roles):
    """Traces that a process began and that reach others."""
    return [
        trace
        for trace in Forest(plumbd).traces.values()
        if roles <= {span["role"] for span in trace["spans"]} and trace["spans"][0]["host"] == host
    ]


@pytest.mark.parametrize("version", ["3.5.6", "4.3.0"])
def test_a_word_count(hdfs, version, tmp_path):
    cluster, plumbd = hdfs
    path = f"/words-{version}"
    put(cluster, path)
    job = tmp_path / "job.py"
    job.write_text(JOB)
    home = spark_in(tmp_path / "spark", version)
    done = subprocess.run(
        [
            home / "bin" / "spark-submit",
            "--master",
            "local-cluster[1,1,512]",
            "--properties-file",
            spark_defaults(plumbd, version, tmp_path),
            job,
            f"hdfs://127.0.0.1:{cluster.rpc_port}{path}",
        ],
        env={
            **os.environ,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_HOME": str(home),
            "HADOOP_USER_NAME": "plumb",
            "PYSPARK_PYTHON": "/usr/bin/python3",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SUBMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    half = WORDS // 4
    assert f"[('alpha', {2 * half}), ('beta', {half}), ('gamma', {half})]" in done.stdout

    wait_for(
        lambda: trees_from(plumbd, f"executor-{version}", {"namenode", "datanode"}),
        30,
        "the executor's reads in one tree with NameNode and DataNode",
    )
    assert faults(cluster) == []
    assert "io.plumbline" not in done.stderr


def hadoop_opts(text, folder):
    """What hadoop-env.sh leaves in the environment."""
    script = folder / "hadoop-env.sh"
    script.write_text(text)
    done = subprocess.run(
        ["bash", "-uc", f'. {script}; printf %s "$HADOOP_OPTS"'],
        env={"PATH": os.environ["PATH"]},
        check=True,
        capture_output=True,
        text=True,
    )
    return {"JAVA_TOOL_OPTIONS": done.stdout}  # the shell scripts of Hadoop put them on the command line


def unit_environment(text, _folder):
    return dict([re.search(r'^Environment="(\w+)=(.*)"$', text, re.M).groups()])


@pytest.mark.parametrize(
    "sample, environment",
    [("hadoop-env-agent.sh.sample", hadoop_opts), ("hadoop-tracing.systemd.sample", unit_environment)],
)
def test_a_command_of_the_shell(hdfs, tmp_path, monkeypatch, sample, environment):
    cluster, plumbd = hdfs
    host = sample.split(".")[0]
    text = of_this_build((ROOT / "conf" / sample).read_text(), agent_conf(plumbd, tmp_path, host))
    for name, value in environment(text, tmp_path).items():
        monkeypatch.setenv(name, value)
    shell = cluster.java(host, "org.apache.hadoop.fs.FsShell", ["-mkdir", f"/{host}"], agent=None)
    assert shell.wait(60) == 0, cluster.log_end(host)
    wait_for(lambda: trees_from(plumbd, host, {"client", "namenode"}), 30, "a tree of the shell and the NameNode")
