"""The recipe of docs/security.md, as it stands there."""

import json
import os
import re
import shutil
import subprocess

from script.hdfs.cluster import free_port
from tests.conftest import ROOT

LOG = ROOT / "tests/data/spark/4.3.0/executor_lost.zstd"


def commands():
    """Of the recipe, in order; those over several lines are one."""
    recipe = (ROOT / "docs/security.md").read_text().split("## Recipe: TLS and tokens")[1].split("\n## ")[0]
    lines = re.findall(r"^    (.*)$", recipe.replace("\\\n", ""), re.M)
    assert len(lines) == 11, lines
    return lines


def test_recipe(build_dir, tmp_path):
    thrift, http = free_port(), free_port()
    logs = tmp_path / "logs"
    logs.mkdir()
    shutil.copy(LOG, logs / LOG.name)
    path = ":".join(str(build_dir / folder) for folder in ("receiver", "analyzer", "spark-bridge"))
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"}
    daemon = None
    try:
        for command in commands():
            command = command.replace(":9410", f":{thrift}").replace(":9096", f":{http}")
            command = command.replace("/var/spark-history", str(logs))
            if command.startswith("plumbd "):
                command += " --set store.path=store --set journal.path=journal --set store.min-free=0"
                daemon = subprocess.Popen(
                    f"exec {command}", shell=True, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
                )
                assert daemon.stdout.readline().startswith("plumbd ready ")
                continue
            done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, (command, done.stderr)
            if command.startswith("curl "):
                ports = json.loads(done.stdout)["receiver"]["ports"]
                assert all(port["tls"] and port["logins"] == ["token"] and not port["insecure"] for port in ports)
    finally:
        if daemon:
            daemon.kill()
            daemon.wait()
            daemon.stdout.close()
