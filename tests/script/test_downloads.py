"""What tests download is there whole or not at all, whoever is killed meanwhile."""

import fcntl
import os
import signal
import subprocess
import sys
import time

import pytest

from script.hdfs.jars import ClusterError, once
from tests.conftest import ROOT

# Gets one thing by a program that writes until it is ended.
GETS = """
import subprocess, sys
from pathlib import Path
from script import downloads
from script.hdfs.jars import once, run
def fill(partial):
    partial.mkdir()
    run(["sh", "-c", f"while sleep 0.05; do date >> {partial}/half; done"], "ended")
def get():
    once(Path(sys.argv[1]), fill)
downloads.by_maven = downloads.by_pip = lambda: iter([(get,), (get,)])
downloads.main()
"""


def test_half_of_it_is_swept(tmp_path):
    """What a killed process left is not mixed with what another gets."""
    folder, partial = tmp_path / "lib", tmp_path / "lib.partial"
    partial.mkdir()
    (partial / "half").touch()

    def fill(into):
        assert into == partial and not into.exists()
        into.mkdir()

    assert once(folder, fill) == folder and list(folder.iterdir()) == [] and not partial.exists()


def test_what_fails_leaves_nothing(tmp_path):
    def fill(into):
        into.mkdir()
        raise ClusterError

    with pytest.raises(ClusterError):
        once(tmp_path / "lib", fill)
    assert [path.name for path in tmp_path.iterdir()] == ["lib.lock"]


def test_who_waits_says_so(tmp_path):
    script = (
        "import sys; from pathlib import Path; from script.hdfs.jars import once; once(Path(sys.argv[1]), Path.mkdir)"
    )
    with open(tmp_path / "lib.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [sys.executable, "-c", script, tmp_path / "lib"]
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as waiting:
            line = waiting.stderr.readline()
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert line == f"waiting for another process, which gets {tmp_path / 'lib'}\n"
            assert waiting.wait(20) == 0
    assert (tmp_path / "lib").is_dir()


def alive(group):
    """Has the group a process? Zombies that nobody reaps do not count."""
    done = subprocess.run(["ps", "-e", "-o", "pgid=,stat="], capture_output=True, text=True, check=True)
    return any(row[0] == str(group) and row[1][0] != "Z" for row in map(str.split, done.stdout.splitlines()))


def until(condition):
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def test_what_is_ended_ends_its_programs(tmp_path):
    """And nothing that waits begins."""
    folder, half = tmp_path / "lib", tmp_path / "lib.partial/half"
    with subprocess.Popen([sys.executable, "-c", GETS, folder], cwd=ROOT) as downloads:
        try:
            until(half.exists)
            os.kill(downloads.pid, signal.SIGTERM)
            assert downloads.wait(20) == -signal.SIGKILL
            until(lambda: not alive(downloads.pid))
        finally:
            downloads.kill()
            if alive(downloads.pid):
                os.killpg(downloads.pid, signal.SIGKILL)
    assert not folder.exists()
