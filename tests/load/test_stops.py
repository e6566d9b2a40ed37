"""A load stops by itself before it takes what others need, and its report is whole."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.load.conftest import plan, records, report, run_load

SHM = Path("/dev/shm")  # whose free bytes others change less than those of a disk
WRITES = ["--files", 1, "--max-file", "256K", "--warm-up", "0s", "--duration", "30s", "--mix", "write=1"]
SPARE_BYTES = 24 << 20


def test_bytes(hdfs, tmp_path):
    """No operation is begun once so many are read and written; those under way end."""
    path, result = tmp_path / "b.plan", tmp_path / "b.plan.result"
    planned = plan(path, *WRITES, "--rate", 400, "--size-unit", "KiB")
    done = run_load(
        *hdfs.command("run", path, "--max-bytes", "5M", "--quiet", "--threads", 4, folder=f"file://{tmp_path}/load")
    )
    assert done.returncode == 1
    assert "stopped: --max-bytes are read and written" in done.stderr
    assert "It was stopped, for it had read and written --max-bytes." in " ".join(done.stdout.split())
    found, said = records(result), report(result)
    assert said["end"] == "bytes" and said["missing"] == 0 and said["due"] == len(found) < planned["operations"] / 2
    assert 5 << 20 < sum(operation.bytes for operation in found) < 7 << 20


@pytest.mark.skipif(not os.access(SHM, os.W_OK), reason="there is no /dev/shm")
def test_space(hdfs, tmp_path):
    """So much has to stay free: it stops while it runs, and is not begun when there is too little."""
    path, result = tmp_path / "s.plan", tmp_path / "s.plan.result"
    planned = plan(path, *WRITES, "--rate", 500, "--size-unit", "10KB")
    with TemporaryDirectory(dir=SHM) as folder:
        at = os.statvfs(folder)
        command = hdfs.command("run", path, "--quiet", folder=f"file://{folder}/load")
        done = run_load(*command, "--min-free", at.f_bavail * at.f_frsize - SPARE_BYTES)
        assert done.returncode == 1
        assert "--min-free leaves" in done.stderr and "stopped: HDFS has less than --min-free left" in done.stderr
        found, said = records(result), report(result)
        assert said["end"] == "space" and said["missing"] == 0 and 0 < said["due"] < planned["operations"]
        assert sum(operation.bytes for operation in found) > 0

        refused = run_load(*command, "--overwrite", "--json", "--min-free", "100%")
        assert refused.returncode == 2 and "that --min-free leaves to others" in refused.stderr
        assert json.loads(run_load("report", result, "--json", "--untraced").stdout)["end"] == "space"
