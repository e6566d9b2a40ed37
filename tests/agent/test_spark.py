"""A real Spark, driver and executor in JVMs of their own, reads a file of a traced HDFS 3.5.0."""
import os
import subprocess

import pytest

from tests.agent.tours import Cluster, Forest, agent, faults
from cluster import wait_for
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


@pytest.mark.parametrize("version", ["3.5.6", "4.3.0"])
def test_a_word_count(hdfs, version, tmp_path):
    cluster, plumbd = hdfs
    path = f"/words-{version}"
    put(cluster, path)
    job = tmp_path / "job.py"
    job.write_text(JOB)
    home = spark_home(version)
    driver, executor = (agent(plumbd, sampling="always").options(f"{name}-{version}", tmp_path)[0]
                        for name in ("driver", "executor"))
    done = subprocess.run(
        [home / "bin" / "spark-submit", "--master", "local-cluster[1,1,512]",
         "--conf", f"spark.driver.extraJavaOptions={driver}", "--conf", f"spark.executor.extraJavaOptions={executor}",
         "--conf", "spark.ui.enabled=false", "--conf", "spark.executor.memory=512m",
         job, f"hdfs://127.0.0.1:{cluster.rpc_port}{path}"],
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home), "PYSPARK_PYTHON": "/usr/bin/python3",
             "HADOOP_USER_NAME": "plumb"},
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
