"""plumb load run --hdr-log: HdrHistogram's own tools read what is written."""

import re
import subprocess

import pytest

from script.hdfs.jars import ROOT, whole_jar
from tests.load.conftest import plan, records

MIX = "stat=2,list=1,write=1"


@pytest.fixture(scope="session")
def histogram_jar():
    version = re.search(r"<hdrhistogram.version>(.*?)<", (ROOT / "tracer-patches/pom.xml").read_text())[1]
    return whole_jar("org.hdrhistogram", "HdrHistogram", version)


def process(jar, log, tag):
    """(Operations, the greatest latency in ns) of a tag."""
    command = ["java", "-cp", jar, "org.HdrHistogram.HistogramLogProcessor", "-i", log, "-tag", tag]
    done = subprocess.run(
        [*command, "-outputValueUnitRatio", "1"], capture_output=True, text=True, timeout=60, check=True
    )
    max_ns, total = re.search(r"\[Max\s*=\s*([\d.]+), Total count\s*=\s*(\d+)\]", done.stdout).groups()
    return int(total), float(max_ns)


def test_its_tools_read_it(hdfs, histogram_jar, tmp_path):
    path, log = tmp_path / "a.plan", tmp_path / "a.hlog"
    plan(path, "--files", 5, "--max-file", "4K", "--rate", 40, "--duration", "3s", "--warm-up", "1s", "--mix", MIX)
    done = hdfs.run(path, "--hdr-log", log, folder="/hdr")
    assert done.returncode == 0, done.stderr
    found = [operation for operation in records(tmp_path / "a.plan.result") if operation.due >= 1]
    assert {operation.error for operation in found} == {0}
    for kind in ("stat", "list", "write"):
        of_kind = [operation.latency * 1e9 for operation in found if operation.kind == kind]
        total, max_ns = process(histogram_jar, log, kind)
        assert total == len(of_kind) > 0
        assert max_ns == pytest.approx(max(of_kind), rel=2e-3)

    lines = log.read_text().splitlines()
    assert "#[Histogram log format version 1.3]" in lines
    assert len([line for line in lines if line.startswith("Tag=stat,")]) >= 3  # a line a second

    again = hdfs.run(path, "--hdr-log", log, "--result", tmp_path / "other", folder="/hdr")
    assert again.returncode == 2 and "a.hlog is there already" in again.stderr
