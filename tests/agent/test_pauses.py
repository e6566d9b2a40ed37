"""Pauses before a call is tried again have names of their own: they are nobody's network."""

import subprocess

from script.hdfs.attach import Agent
from script.hdfs.cluster import Cluster, free_port, write_site
from tests.agent.conftest import FS_SHELL, SHELL_SECONDS
from tests.agent.tours import Forest, spans

# Of one pause, in the mean: Hadoop draws half as much to one and a half times as much.
PAUSE_MS = 200


def test_nobody_takes_the_connection(plumbds, tmp_path):
    plumbd = plumbds()
    agent = Agent({"receivers": "{}:{}".format(*plumbd.thrift), "sampling": "always"})
    cluster = Cluster(tmp_path, "3.5.0", datanodes=0, agent=agent)
    retries = {"dfs.client.retry.policy.enabled": "true", "dfs.client.retry.policy.spec": f"{PAUSE_MS},1"}
    cluster.conf.mkdir()
    write_site(cluster.conf / "core-site.xml", {})
    write_site(cluster.conf / "hdfs-site.xml", retries)
    address = f"hdfs://127.0.0.1:{free_port()}/"
    process = cluster.java("client", FS_SHELL, ["-ls", address], stdout=subprocess.DEVNULL)
    assert process.wait(SHELL_SECONDS) == 1

    (trace,) = Forest(plumbd).traces.values()
    pauses = {name: spans(trace, name, "client") for name in ("RPC#sleep", "RetryInvocationHandler#sleep")}
    for name, found in pauses.items():
        assert found and all(pause["duration_ns"] >= PAUSE_MS / 2 * 1_000_000 for pause in found), name

    (wait,) = [
        wait for wait in plumbd.ask(f"why?trace={trace['trace']}&limit=0")["waits"] if wait.get("role") == "client"
    ]
    assert wait["resource"] == "client" and wait["function"] in pauses, "that with the largest share, of two alike"
    assert wait["time_ns"] >= sum(pause["duration_ns"] for found in pauses.values() for pause in found)
