"""Tasks and operations of a real Spark on a real HDFS 3.5.0, all in JVMs of their own, against Spark's own event
log."""

import json
import statistics
from collections import defaultdict
from types import SimpleNamespace

import pytest

from script.hdfs.cluster import write_site
from script.hdfs.spark import spark_program
from script.spark.standalone import Standalone
from tests.agent.tours import Cluster, Forest, agent, faults
from tests.conftest import ROOT

VERSIONS = ["3.5.6", "4.3.0"]
WORKS = ["text", "words", "parquet", "footers", "product", "cache", "fail", "long"]
LINES = 40_000
SHELL_SECONDS = 120
MASK = (1 << 64) - 1
ROOT_KEYS = ("application", "stage", "stageAttempt", "partition", "taskAttemptId", "attempt", "executor", "host")
LONG_MS = 300


def trace_id(application, task):
    """As docs/spark.md says it."""
    value = 0xCBF29CE484222325
    for byte in f"{application}/{task}".encode():
        value = (value ^ byte) * 0x100000001B3 & MASK
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return f"{(value ^ value >> 31) or 1:016x}"


def compiled(work, version):
    """A jar of the job."""
    return spark_program([ROOT / "tests/agent/jobs/SparkJob.java"], "SparkJob", work / "program", version)


def caller_contexts(work):
    """A folder for class paths: Spark tells the NameNode who calls only where Hadoop's configuration says so."""
    work.mkdir(parents=True)
    write_site(work / "core-site.xml", {"hadoop.caller.context.enabled": "true"})
    return {f"spark.{process}.extraClassPath": str(work) for process in ("driver", "executor")}


def put_lines(hdfs):
    text = hdfs.work / "lines.txt"
    text.write_text(
        "".join(f"{i % 977} abc {i % 31} the quick brown fox {i} jumps over the lazy dog Ä\n" for i in range(LINES))
    )
    assert (
        hdfs.java("put", "org.apache.hadoop.fs.FsShell", ["-put", str(text), "/lines"], agent=None).wait(SHELL_SECONDS)
        == 0
    )
    return f"hdfs://127.0.0.1:{hdfs.rpc_port}"


def tasks_of(events):
    """Every task attempt that has ended, with the job group that it belongs to."""
    tasks = []
    for log in sorted(events.iterdir()):
        application, groups = None, {}
        for line in log.read_text().splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerApplicationStart":
                application = event["App ID"]
            elif event["Event"] == "SparkListenerJobStart":
                groups.update(dict.fromkeys(event["Stage IDs"], event["Properties"].get("spark.jobGroup.id")))
            elif event["Event"] == "SparkListenerTaskEnd":
                tasks.append(
                    SimpleNamespace(
                        application=application,
                        group=groups[event["Stage ID"]],
                        event=event,
                        info=event["Task Info"],
                        metrics=event.get("Task Metrics") or {},
                    )
                )
    return tasks


@pytest.fixture(scope="module")
def place(tmp_path_factory, plumbds):
    """(plumbd, the tracer of all processes, HDFS with the lines, their URL)"""
    plumbd = plumbds()
    # Executors are told to end with spans in their queues, and all of those are looked for.
    tracer = agent(plumbd, sampling="always", spark_operations="all", shutdown_timeout_ms=60_000)
    del tracer.settings["functions"]
    with Cluster(tmp_path_factory.mktemp("hdfs"), "3.5.0", datanodes=2, agent=tracer) as hdfs:
        yield plumbd, tracer, hdfs, put_lines(hdfs)


@pytest.fixture(scope="module", params=VERSIONS)
def traced(request, tmp_path_factory, place):
    """All works, traced; the tasks of the event log with their traces."""
    plumbd, tracer, hdfs, url = place
    work = tmp_path_factory.mktemp("spark")
    job = [",".join(WORKS), f"{url}/lines", f"{url}/out-{request.param}"]
    with Standalone(
        work / "spark", request.param, workers=2, agent=tracer, conf=caller_contexts(work / "conf")
    ) as spark:
        output = spark.run(str(compiled(work, request.param)), job, name="job")
        python = spark.run("text", [f"{url}/lines", "the"], name="python")
    hdfs.wait_all_sent()
    tasks = tasks_of(spark.events)
    found = Forest(plumbd)
    for task in tasks:
        task.trace = found.traces.get(trace_id(task.application, task.info["Task ID"]))
    return SimpleNamespace(
        version=request.param,
        tasks=tasks,
        forest=found,
        output=output,
        python=python,
        faults=faults(hdfs) + faults(spark),
    )


def root(task):
    return task.trace["spans"][0]


def operations(task):
    return [span for span in task.trace["spans"] if span["function"].startswith("RDD:")]


def of_group(traced, *groups):
    return [task for task in traced.tasks if task.group in groups]


def test_nothing_is_disturbed(traced):
    results = dict(line.split(": ", 1) for line in traced.output.splitlines())
    assert results["text"] == str(LINES) and results["product"] == "16" and results["cache"] == str(2 * LINES)
    assert results["footers"] == "3" and results["fail"] == "2"
    assert json.loads(traced.python.splitlines()[-1]) == {"lines": LINES}
    # What a task threw has come through our iterators.
    assert [line for line in traced.faults if "at io.plumbline.trace.spark.TimedIterator." not in line] == []


def test_every_task_attempt_is_the_trace_that_its_ids_lead_to(traced):
    assert len(traced.tasks) > 50
    for task in traced.tasks:
        assert task.trace, task.info
        assert not task.trace["incomplete"] and task.trace["orphans"] == 0
        found = {key: root(task)["annotations"][key] for key in ROOT_KEYS}
        event, info = task.event, task.info
        assert found == {
            "application": task.application,
            "stage": str(event["Stage ID"]),
            "partition": str(info["Partition ID"]),
            "stageAttempt": str(event["Stage Attempt ID"]),
            "taskAttemptId": str(info["Task ID"]),
            "attempt": str(info["Attempt"]),
            "executor": info["Executor ID"],
            "host": info["Host"],
        }
        assert root(task)["function"] == "SparkTask" and root(task)["parents"] == []
        assert root(task)["duration_ns"] >= task.metrics.get("Executor Run Time", 0) * 1_000_000


def test_what_executors_do_belongs_to_tasks(traced):
    """Footers of Parquet files are read in threads of a pool, lines for Python in a thread of their own."""
    roots = {
        trace["spans"][0]["function"]
        for trace in traced.forest.traces.values()
        if trace["spans"][0]["host"].startswith("worker")
    }
    assert roots == {"SparkTask"}
    functions = {span["function"] for task in of_group(traced, "footers") for span in task.trace["spans"]}
    assert {"ThreadUtils#parmap", "newDFSInputStream", "ClientProtocol#getBlockLocations"} <= functions


def test_bytes_read_are_those_that_spark_counts(traced):
    for task in of_group(traced, "text", "words", None):
        read = sum(
            int(span["annotations"].get("bytes", 0))
            for span in task.trace["spans"]
            if span["function"].startswith("DFSInputStream#b")
        )
        assert read == task.metrics["Input Metrics"]["Bytes Read"]


def test_reads_are_below_the_operation_that_made_them(traced):
    (kinds,) = {tuple(sorted(op["function"] for op in operations(task))) for task in of_group(traced, "text")}
    assert kinds == ("RDD:HadoopRDD", *("RDD:MapPartitionsRDD",) * 4)
    for task in of_group(traced, "text"):
        (hadoop,) = [op for op in operations(task) if op["function"] == "RDD:HadoopRDD"]
        reads = [span for span in task.trace["spans"] if span["function"] == "DFSInputStream#byteArrayRead"]
        assert reads and all(span["parents"] == [hadoop["span"]] for span in reads)
        assert all(op["parents"] == [root(task)["span"]] for op in operations(task))


def test_records_of_operations(traced):
    by_rdd = defaultdict(int)
    for task in of_group(traced, "text"):
        for operation in operations(task):
            by_rdd[operation["annotations"]["rddId"]] += int(operation["annotations"]["records"])
    assert set(by_rdd.values()) == {LINES} and len(by_rdd) == 5


def test_jvm_features(traced):
    for task in of_group(traced, "text"):
        for operation in operations(task):
            for key in ("jvmStart", "jvmEnd"):
                values = [float(value) for value in operation["annotations"][key].split(",")]
                assert len(values) == 19 and values[0] > 1000 and values[2] > 0 and 0 < values[4] <= 1


def test_coverage(traced):
    """Maps and filters over text: nearly all of a task's run time is that of operations. Of short tasks, what Spark
    itself does the first time is a part that counts; of any, what the machine does meanwhile."""
    tasks = of_group(traced, "long")
    own = {task.info["Task ID"]: int(root(task)["annotations"]["operationsNs"]) / 1e6 for task in tasks}
    run_ms = {task.info["Task ID"]: task.metrics["Executor Run Time"] for task in tasks}
    shares = {task: own[task] / run_ms[task] for task in own}
    print(f"coverage of tasks of {sorted(run_ms.values())} ms: {sorted(shares.values())}")
    assert min(run_ms.values()) >= LONG_MS
    assert statistics.median(shares.values()) > 0.9
    assert all(own[task] <= run_ms[task] + 2 for task in own)


def test_writes_belong_to_their_task(traced):
    writers = [
        task
        for task in of_group(traced, "words", "parquet")
        if task.metrics.get("Output Metrics", {}).get("Bytes Written")
    ]
    assert len(writers) >= 6
    for task in writers:
        functions = {(span["role"], span["function"]) for span in task.trace["spans"]}
        assert {
            ("client", "dataStreamer"),
            ("datanode", "OpWriteBlockProto"),
            ("namenode", "ClientProtocol#create"),
            ("namenode", "ClientProtocol#complete"),
        } <= functions


def test_a_failed_attempt(traced):
    failed = [task for task in of_group(traced, "fail") if task.info["Failed"]]
    assert [root(task)["annotations"]["exception"] for task in failed] == ["java.lang.IllegalStateException"]


def test_an_operation_computed_several_times_is_one_span(traced):
    again = [
        op
        for task in of_group(traced, "product")
        for op in operations(task)
        if op["function"] == "RDD:ParallelCollectionRDD" and int(op["annotations"]["iterators"]) == 2
    ]
    assert again and all(op["annotations"]["records"] == "4" for op in again)


def test_caller_contexts_on_both_sides(traced):
    seen = 0
    for task in of_group(traced, "text", "words"):
        expected = f"SPARK_TASK_{task.application}_"
        for span in task.trace["spans"]:
            if span["function"].startswith(("ClientNamenodeProtocol#", "ClientProtocol#")):
                context = span["annotations"].get("callerContext", "")
                # The first calls of a task come before Spark has set it.
                if context:
                    assert context.startswith(expected) and f"_TId_{task.info['Task ID']}_" in context, context
                    seen += 1
    assert seen > 50


def test_a_writer_of_python_reads_for_its_task(traced):
    """Up to Spark 3.5 lines go to Python in a thread of their own."""
    tasks = [
        task for task in of_group(traced, None) if any(op["function"] == "RDD:PythonRDD" for op in operations(task))
    ]
    assert tasks
    for task in tasks:
        (hadoop,) = [op for op in operations(task) if op["function"] == "RDD:HadoopRDD"]
        reads = [span for span in task.trace["spans"] if span["function"] == "DFSInputStream#byteArrayRead"]
        assert reads and all(span["parents"] == [hadoop["span"]] for span in reads)
    if traced.version.startswith("3."):
        assert any("otherThreadsNs" in op["annotations"] for task in tasks for op in operations(task))
