"""Spark without -javaagent: the plugin's traces of tasks, and operation logs by rules of Byteman, on a real Spark in
one JVM."""

import re
import subprocess
from types import SimpleNamespace

import pytest

from script.hdfs.jars import agent_jar, built_jar, run, whole_jar
from script.hdfs.spark import spark_home
from tests.agent.test_spark import VERSIONS, compiled, tasks_of, trace_id
from tests.agent.tours import Forest
from tests.conftest import ROOT

RULES = ROOT / "tracer-patches" / "byteman" / "spark-operations.btm"
BYTEMAN = "4.0.25"
LINES = 5000
SUBMIT_SECONDS = 300
FEATURES = (
    "LoadedClassCount ObjectPendingFinalizationCount HeapUsed HeapCommitted HeapOccupationRate NonHeapUsed "
    "NonHeapCommitted NonHeapOccupationRate ThreadNum DeadLockedNum CurrentThreadCPUTime CurrentThreadUserTime "
    "UserCPURate DaemonThreadCount CompilationTime GCCount GCTime BufferPoolCount BufferMemory"
).split()


SERIAL = [
    "org.apache.spark.rdd.RDD",
    "org.apache.spark.rdd.HadoopRDD",
    "org.apache.spark.rdd.MapPartitionsRDD",
    "org.apache.spark.scheduler.Task",
    "org.apache.spark.scheduler.ResultTask",
    "org.apache.spark.scheduler.ShuffleMapTask",
]


def plugin_jar():
    return built_jar("spark-plugin", "plumb-spark-plugin-*.jar")


def submit(work, version, works, java="", **conf):
    """Runs the job in one JVM over a local file; its output, its log, and the tasks of its event log."""
    home, events = spark_home(version), work / "events"
    events.mkdir(parents=True)
    (work / "lines").write_text("".join(f"{i} abc\n" for i in range(LINES)))
    given = {
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": f"file://{events}",
        **conf,
    }
    command = [
        home / "bin" / "spark-submit",
        "--master",
        "local[2,4]",
        "--driver-memory",
        "512m",
        "--driver-java-options",
        java,
    ]
    command += [part for key, value in given.items() for part in ("--conf", f"{key}={value}")]
    done = subprocess.run(
        [*map(str, command), str(compiled(work, version)), works, f"file://{work}/lines", f"file://{work}/out"],
        capture_output=True,
        text=True,
        cwd=work,
        timeout=SUBMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return SimpleNamespace(output=done.stdout, log=done.stderr, tasks=tasks_of(events))


@pytest.fixture(scope="module", params=VERSIONS)
def version(request):
    return request.param


def test_the_plugin_makes_each_task_a_trace(version, plumbds, tmp_path):
    plumbd = plumbds()
    receivers = "{}:{}".format(*plumbd.thrift)
    done = submit(
        tmp_path,
        version,
        "text,fail",
        **{
            "spark.plugins": "io.plumbline.spark.PlumbPlugin",
            "spark.jars": str(plugin_jar()),
            "spark.hadoop.fs.client.htrace.plumb.receiver.addresses": receivers,
            "spark.hadoop.fs.client.htrace.plumb.shutdown.timeout.ms": "60000",
            "spark.hadoop.fs.client.htrace.sampler.classes": "AlwaysSampler",
        },
    )
    assert f"text: {LINES}" in done.output and "fail: 2" in done.output
    found = Forest(plumbd)
    assert len(done.tasks) >= 5
    for task in done.tasks:
        trace = found.traces[trace_id(task.application, task.info["Task ID"])]
        values = trace["spans"][0]["annotations"]
        assert trace["spans"][0]["function"] == "SparkTask" and values["partition"] == str(task.info["Partition ID"])
        assert values["stage"] == str(task.event["Stage ID"]) and values["attempt"] == str(task.info["Attempt"])
        assert ("exception" in values) == task.info["Failed"]
    assert "this Hadoop's tracing is empty" in done.log and "operations are not: that needs" in done.log


def serial_forms(home, classes, *options):
    done = subprocess.run(
        ["java", *options, "-cp", f"{classes}:{home}/jars/*", "SerialForm", *SERIAL],
        capture_output=True,
        text=True,
        timeout=SUBMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_traced_and_untraced_processes_understand_each_other(version, tmp_path):
    home = spark_home(version)
    run(["javac", "-d", tmp_path, ROOT / "tests" / "agent" / "jobs" / "SerialForm.java"], "javac failed")
    report = tmp_path / "report"
    plain = serial_forms(home, tmp_path)
    assert serial_forms(home, tmp_path, f"-javaagent:{agent_jar()}=report={report},receivers=127.0.0.1:1") == plain
    woven = report.read_text().split("not for this version")[0]
    assert all(f"patch {patch}" in woven for patch in ("RddPatch", "TaskPatch"))


def pairs(line):
    return dict(pair.split("=", 1) for pair in line.split(";"))


def test_rules_of_byteman_write_operation_logs(version, tmp_path):
    log = tmp_path / "operations.log"
    byteman = whole_jar("org.jboss.byteman", "byteman", BYTEMAN)
    agent = f"-javaagent:{byteman}=script:{RULES},sys:{plugin_jar()} -Dplumb.operations.log={log}"
    done = submit(tmp_path, version, "text,product", agent)
    assert f"text: {LINES}" in done.output
    lines = log.read_text().splitlines()
    assert all(
        re.match(
            r"tag=\[RDD\][\w.$]+;flag=(start|end);timestamp=\d{13};stage=\d+;thread=\d+;this=\w+\[\d+\] at;"
            r"partitionId=\d+;LoadedClassCount=",
            line,
        )
        for line in lines
    ), lines[:2]
    read = [pairs(line) for line in lines]
    assert all(set(FEATURES) <= set(line) for line in read)
    tasks = {str(task.info["Task ID"]) for task in done.tasks}
    assert {line["taskAttemptId"] for line in read} == tasks
    assert {line["application"] for line in read} == {done.tasks[0].application}
    ends = sum(line["flag"] == "end" for line in read)
    assert ends * 2 == len(lines) >= 20
    kinds = {line["tag"] for line in read}
    assert {f"[RDD]org.apache.spark.rdd.{name}" for name in ("HadoopRDD", "MapPartitionsRDD", "CartesianRDD")} <= kinds
