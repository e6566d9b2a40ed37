"""A real Spark, driver and executor in JVMs of their own, reads a file of a traced HDFS 3.5.0."""
import os
import re
import subprocess

import pytest

from tests.conftest import ROOT
from tests.agent.tours import Cluster, Forest, agent, faults
from cluster import wait_for
from jars import agent_jar
from spark import spark_home

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
SUBMIT_SECONDS = 120


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory, plumbds):
    plumbd = plumbds()
    with Cluster(tmp_path_factory.mktemp("hdfs"), "3.5.0", datanodes=2, agent=agent(plumbd, sampling="always")) as cluster:
        yield cluster, plumbd


def put(cluster, path):
    """A file of many blocks' size is not needed: two splits are made of any."""
    local = cluster.work / "words.txt"
    local.write_text("alpha beta alpha gamma\n" * (WORDS // 4))
    shell = cluster.java("shell", "org.apache.hadoop.fs.FsShell", ["-put", str(local), path], agent=None)
    assert shell.wait(60) == 0, cluster.log_end("shell")


def properties(plumbd, version, folder):
    """Our sample, with the jar and the configuration of this test: a file for each of the two kinds of process."""
    text = (ROOT / "conf" / "spark-defaults.conf.sample").read_text().replace(
        "/usr/share/plumbline/plumb-agent.jar", str(agent_jar()))
    for process in ("driver", "executor"):
        conf = folder / f"{process}.conf"
        conf.write_text(f"receivers = {plumbd.thrift[0]}:{plumbd.thrift[1]}\nsampling = always\n"
                        f"tracer.id = %{{tname}}/{process}-{version}\n")
        text = re.sub(rf"(spark\.{process}\..*=conf=).*", rf"\g<1>{conf}", text)
    path = folder / "spark-defaults.conf"
    path.write_text(text + "spark.ui.enabled false\nspark.executor.memory 512m\n")
    return path


@pytest.mark.parametrize("version", ["3.5.6", "4.3.0"])
def test_a_word_count(hdfs, version, tmp_path):
    cluster, plumbd = hdfs
    path = f"/words-{version}"
    put(cluster, path)
    job = tmp_path / "job.py"
    job.write_text(JOB)
    home = spark_home(version)
    done = subprocess.run(
        [home / "bin" / "spark-submit", "--master", "local-cluster[1,1,512]",
         "--properties-file", properties(plumbd, version, tmp_path),
         job, f"hdfs://127.0.0.1:{cluster.rpc_port}{path}"],
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home), "HADOOP_USER_NAME": "plumb",
             "PYSPARK_PYTHON": "/usr/bin/python3"},
        cwd=tmp_path, capture_output=True, text=True, timeout=SUBMIT_SECONDS, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    half = WORDS // 4
    assert f"[('alpha', {2 * half}), ('beta', {half}), ('gamma', {half})]" in done.stdout

    def reads():
        forest = Forest(plumbd)
        return [trace for trace in forest.traces.values()
                if {"namenode", "datanode"} <= {span["role"] for span in trace["spans"]}
                and trace["spans"][0]["host"] == f"executor-{version}"]

    wait_for(reads, 30, "the executor's reads in one tree with NameNode and DataNode")
    assert faults(cluster) == []
    assert "io.plumbline" not in done.stderr
