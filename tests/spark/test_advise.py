"""plumb advise on logs that real Sparks wrote, through the real plumb-bridge and plumbd."""

import json
import re
import subprocess

import pytest

from tests.cli.real import Plumbd
from tests.conftest import ROOT, lasting_address

RECORDED = ROOT / "tests/data/spark"
HEALTHY = ["normal", "speculative", "killed", "codec_zstd"]
VERSIONS = ["3.5.6", "4.3.0"]


@pytest.fixture(scope="module")
def filled(tmp_path_factory, build_dir):
    """A plumbd with all recorded logs, and {(version, log): key of its application}."""
    daemon = Plumbd(tmp_path_factory.mktemp("advise"), listen__thrift=lasting_address(), listen__http=lasting_address())
    keys = {}
    try:
        for version in VERSIONS:
            for path in sorted((RECORDED / version).glob("*.zstd")):
                done = subprocess.run(
                    [build_dir / "spark-bridge/plumb-bridge", "--receiver", "{}:{}".format(*daemon.thrift), str(path)],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 0, done.stderr
                lines = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout.splitlines()
                (start,) = [line for line in lines if line.startswith(b'{"Event":"SparkListenerApplicationStart"')]
                keys[version, path.stem] = json.loads(start)["App ID"]
        daemon.flush()
        yield daemon, keys
    finally:
        daemon.clean_up()


def advice(filled, version, log):
    daemon, keys = filled
    done = daemon.plumb("advise", keys[version, log], "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("log", HEALTHY)
def test_healthy(filled, version, log):
    """No finding where nothing is wrong: it says so, gives spark-submit nothing, and fails no build."""
    answer = advice(filled, version, log)
    assert (answer["findings"], answer["conf"], answer["severity"]) == ([], [], "none")
    daemon, keys = filled
    key = keys[version, log]
    assert "Nothing to advise" in daemon.plumb("advise", key).stdout
    assert daemon.plumb("advise", key, "--conf").stdout == ""
    assert daemon.plumb("advise", key, "--fail-on", "low").returncode == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_failures(filled, version):
    (finding,) = [f for f in advice(filled, version, "failed_tasks")["findings"] if f["rule"] == "failures"]
    assert finding["what"] == "2 tasks failed (code)." and finding["certainty"] == "sure"
    assert any(f"task {finding['tasks'][0]} of stage 0" in text for text in finding["evidence"])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_lost_executor_is_not_the_jobs_fault(filled, version):
    answer = advice(filled, version, "executor_lost")
    by_what = {f["what"]: f for f in answer["findings"] if f["rule"] == "failures"}
    assert any("(fetch)" in what for what in by_what)
    assert [f["node"] for what, f in by_what.items() if "executor" in f["advice"] and "(host)" in what] in ([True], [])


def test_fail_on(filled):
    """The exit code follows the worst finding that is the job's doing."""
    daemon, keys = filled
    ranks = ["none", "low", "moderate", "severe", "critical"]
    for key in keys.values():
        worst = ranks.index(json.loads(daemon.plumb("advise", key, "--json").stdout)["severity"])
        for rank, name in enumerate(ranks[1:], 1):
            done = daemon.plumb("advise", key, "--fail-on", name)
            assert done.returncode == (3 if worst >= rank else 0), (key, name)


def test_conf_is_spark_submits(filled):
    """Each line is one --conf and one key=value without blanks, as the shell hands it on."""
    daemon, keys = filled
    for key in keys.values():
        lines = daemon.plumb("advise", key, "--all", "--conf").stdout.splitlines()
        assert all(re.fullmatch(r"--conf spark\.[\w.]+=\S+", line) for line in lines), lines
        assert len({line.split("=")[0] for line in lines}) == len(lines)
