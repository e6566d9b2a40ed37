"""Logs beside the event log: what plumb-bridge reads in operation logs and executors' logs, and sends."""

import subprocess

import pytest

EXECUTOR = """26/11/21 20:53:49 INFO CoarseGrainedExecutorBackend: Got assigned task 44
26/11/21 20:53:49 INFO Executor: Running task 44.0 in stage 0.0 (TID 44)
26/11/21 20:53:49 INFO FileScanRDD: Reading File path: hdfs://nn1:8020/text, range: 46137344-47185920, partition values: [empty row]
26/11/21 20:53:55 INFO Executor: Finished task 44.0 in stage 0.0 (TID 44). 2002 bytes result sent to driver
"""  # noqa: E501
OPERATIONS = """tag=[RDD]org.apache.spark.rdd.HadoopRDD;flag=start;timestamp=1537215237040;stage=0;thread=59;this=HadoopRDD[0] at;partitionId=6;HeapUsed=1;
tag=[RDD]org.apache.spark.rdd.HadoopRDD;flag=end;timestamp=1537215240323;stage=0;thread=59;this=HadoopRDD[0] at;partitionId=6;HeapUsed=2;
"""  # noqa: E501


@pytest.fixture
def bridge(build_dir):
    def run(*arguments):
        return subprocess.run(
            [build_dir / "spark-bridge/plumb-bridge", *map(str, arguments)], capture_output=True, text=True, check=False
        )

    return run


def address(plumbd):
    return "{}:{}".format(*plumbd.thrift)


def test_an_executors_log(bridge, plumbd, tmp_path):
    log = tmp_path / "stderr"
    log.write_text(EXECUTOR)
    for _ in range(2):
        done = bridge("--receiver", address(plumbd), "--app", "app-1", "--executor", "3", "--executor-log", log)
        assert done.returncode == 0, done.stderr
        assert "1 splits; 0 without a task, 0 without a time, 0 lines not understood" in done.stderr
        assert "1 accepted, 0 refused" in done.stdout


def test_an_operation_log(bridge, plumbd, tmp_path):
    log = tmp_path / "operations"
    log.write_text(OPERATIONS + "tag=[RDD]org.apache.spark.rdd.HadoopRDD;flag=start;nonsense\n")
    done = bridge("--receiver", address(plumbd), "--app", "app-1", "--operations", log)
    assert done.returncode == 0, done.stderr
    assert f"{log}: 1 operations in 3 lines" in done.stderr and "the first in line 3" in done.stderr
    assert "1 accepted, 0 refused" in done.stdout


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--executor-log", "LOG"], "does not say which application it is of: add --app APP"),
        (["--operations", "LOG"], "does not say which application it is of: add --app APP"),
        (["--app", "a", "--operations", "NOWHERE"], "no such file or folder"),
        (["--zone", "Middle/Earth", "--app", "a", "--executor-log", "LOG"], 'zone "Middle/Earth" is none'),
    ],
)
def test_what_cannot_be_read(bridge, tmp_path, arguments, said):
    (tmp_path / "LOG").write_text(EXECUTOR)
    named = [str(tmp_path / word) if word.isupper() else word for word in arguments]
    done = bridge("--check", *named)
    assert done.returncode == 1 and said in done.stderr, (done.returncode, done.stderr)
