"""The list against the jars of every version: what each line means there, and that the JVM takes what was woven."""

import json
import subprocess

import pytest

from script.hdfs.attach import agent_command
from script.hdfs.jars import agent_jar, compile_java, hadoop_jars
from script.hdfs.spark import spark_home
from tests.agent.listed import DIFFERENCES, NEITHER, expected
from tests.agent.tours import VERSIONS, home_of, java_for
from tests.conftest import ROOT

# Spark's version to that of the shaded Hadoop client in it.
SHADED = {"3.5.6": "3.3.4", "4.3.0": "3.5.0"}


def lines(findings):
    """Of the list, without the patches: name to (class, status, values that are not there)."""
    return {row["function"]: row for row in findings if not row["function"].startswith("patch ")}


@pytest.fixture(scope="module")
def verifier(tmp_path_factory):
    source = ROOT / "tests" / "agent" / "workload" / "Verify.java"
    return compile_java([source], tmp_path_factory.mktemp("verify"))


@pytest.fixture(params=VERSIONS + [f"spark-{version}" for version in SHADED], scope="module")
def jars(request):
    """(Hadoop's version, jars, only those of a client?)"""
    if not request.param.startswith("spark-"):
        return request.param, sorted(hadoop_jars(request.param).glob("*.jar")), False
    spark = request.param.split("-")[1]
    folder = spark_home(spark) / "jars"
    return SHADED[spark], [*sorted(folder.glob("hadoop-client-*.jar")), *folder.glob("slf4j-api-*.jar")], True


@pytest.fixture(scope="module")
def findings(jars):
    return json.loads(agent_command("report", "--in", ":".join(map(str, jars[1])), "--json"))


def test_each_line_means_what_it_should(jars, findings):
    version, _, client_only = jars
    for line, row in lines(findings).items():
        of_server = ".server." in row["class"] or ".qjournal." in row["class"]
        there = expected(line, version) and not (client_only and of_server)
        assert (row["status"] == "woven") == there, row
        assert row["missing"] == [], row


def unloaded(java, path, names, *options):
    """What the JVM says of each class that it cannot load, with all checks on."""
    done = subprocess.run(
        [java, "-Xverify:all", "-XX:TieredStopAtLevel=1", *options, "-cp", path, "Verify"],
        input="\n".join(sorted(names)),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(done.stdout.splitlines())


def test_the_jvm_takes_what_was_woven(jars, findings, verifier, tmp_path):
    """Loaded with the agent, every class of the list links with all checks on, but for those that need jars which this
    Hadoop no longer has (ProtobufRpcEngine the old Protocol Buffers, from 3.4 on), woven or not."""
    home = home_of(java_for(jars[0]))
    java = home / "bin" / "java" if home else "java"
    names = {row["class"] for row in findings if row["status"] == "woven"}
    report = tmp_path / "report"
    path = ":".join(map(str, [verifier, *jars[1]]))
    failed = unloaded(java, path, names, f"-javaagent:{agent_jar()}=report={report}")
    assert failed <= unloaded(java, path, names)
    assert f"classes woven: {len(names)}" in report.read_text().splitlines()
    assert "\nfailed" not in report.read_text()


def test_every_difference_is_of_a_line(findings):
    assert set(DIFFERENCES) | set(NEITHER) <= set(lines(findings))


def test_no_line_is_found_nowhere(findings):
    for line in lines(findings):
        assert any(expected(line, version) for version in VERSIONS), line
