"""Hosts of their own on one machine: what makes one of them slow does, the others stay as they are, and nothing is
left."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from script.hdfs.cluster import wait_for
from script.spark.hosts import Names, Namespaces, why_no_namespaces
from script.spark.samples import Samples, why_no_samples
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(why_no_namespaces() is not None, reason=str(why_no_namespaces()))

HOSTS = ["datanode1", "datanode2"]
MEGABYTE = 1 << 20
# A slow host takes four seconds at least, another one a few milliseconds, or more where the machine has much else to
# do.
SLOW_SECONDS = 3


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    with Namespaces(tmp_path_factory.mktemp("hosts"), HOSTS, disk_mb=30) as made:
        for name in HOSTS:
            (made.disk(name) / "file").write_bytes(os.urandom(MEGABYTE))
        os.sync()
        yield made


def seconds(hosts, name, code):
    """How long a Python program takes there."""
    done = subprocess.run(
        [
            *hosts.inside(name),
            sys.executable,
            "-c",
            f"import time\nbegin = time.monotonic()\n{code}\nprint(time.monotonic() - begin)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def read_file(hosts, name):
    hosts.forget(name)
    return seconds(hosts, name, f"open('{hosts.disk(name)}/file', 'rb').read()")


def test_a_slow_disk(hosts):
    hosts.limit_disk("datanode2", MEGABYTE // 4)
    assert read_file(hosts, "datanode2") > SLOW_SECONDS
    assert read_file(hosts, "datanode1") < SLOW_SECONDS
    hosts.limit_disk("datanode2", None)
    assert read_file(hosts, "datanode2") < SLOW_SECONDS


def fetch(hosts, name):
    """A megabyte from a server in front of all hosts."""
    with socket.create_server((hosts.address("driver"), 0)) as server:

        def serve():
            with server.accept()[0] as connection:
                connection.sendall(b"x" * MEGABYTE)

        thread = threading.Thread(target=serve)
        thread.start()
        address = server.getsockname()
        took = seconds(
            hosts,
            name,
            f"""import socket
with socket.create_connection({address}) as connection:
    while connection.recv(65536):
        pass""",
        )
        thread.join()
    return took


def test_a_slow_network(hosts):
    hosts.limit_network("datanode2", 2 * MEGABYTE)
    assert fetch(hosts, "datanode2") > SLOW_SECONDS
    assert fetch(hosts, "datanode1") < SLOW_SECONDS
    hosts.limit_network("datanode2", None)
    assert fetch(hosts, "datanode2") < SLOW_SECONDS


SEND = f"""
import socket, sys
with socket.create_server((sys.argv[1], 0)) as server:
    print(server.getsockname()[1], flush=True)
    with server.accept()[0] as connection:
        connection.sendall(b"x" * {MEGABYTE})"""


def fetch_from(hosts, sender, receiver):
    """A megabyte, from one host to another."""
    address = hosts.address(sender)
    with subprocess.Popen(
        [*hosts.inside(sender), sys.executable, "-c", SEND, address], stdout=subprocess.PIPE, text=True
    ) as server:
        port = int(server.stdout.readline())
        return seconds(
            hosts,
            receiver,
            f"""import socket
with socket.create_connection(({address!r}, {port})) as connection:
    while connection.recv(65536):
        pass""",
        )


def test_a_slow_link(hosts):
    """Both directions, and neither of the two is slow for others."""
    hosts.limit_link("datanode1", "datanode2", 2 * MEGABYTE)
    assert fetch_from(hosts, "datanode1", "datanode2") > SLOW_SECONDS
    assert fetch_from(hosts, "datanode2", "datanode1") > SLOW_SECONDS
    assert fetch(hosts, "datanode1") < SLOW_SECONDS
    assert fetch(hosts, "datanode2") < SLOW_SECONDS
    hosts.limit_link("datanode1", "datanode2", None)
    assert fetch_from(hosts, "datanode1", "datanode2") < SLOW_SECONDS


def write_file(hosts, name):
    return seconds(hosts, name, f"open('{hosts.disk(name)}/written', 'wb').write(bytes({MEGABYTE}))")


def test_slow_writes(hosts):
    hosts.write_through("datanode2", True)
    hosts.limit_writes("datanode2", MEGABYTE // 4)
    assert write_file(hosts, "datanode2") > SLOW_SECONDS
    assert write_file(hosts, "datanode1") < SLOW_SECONDS
    hosts.limit_writes("datanode2", None)
    hosts.write_through("datanode2", False)
    assert write_file(hosts, "datanode2") < SLOW_SECONDS


# Of a processor, so that it does not matter what else the machine does.
SPIN = """
while time.process_time() < 0.2:
    pass"""


def test_a_starved_processor(hosts):
    hosts.limit_cpu("datanode2", 0.05, 1_000_000)
    starved = seconds(hosts, "datanode2", SPIN)
    hosts.limit_cpu("datanode2", None)
    assert starved > 1.5


@pytest.mark.skipif(why_no_samples() is not None, reason=str(why_no_samples()))
def test_samples_are_of_one_host(hosts, tmp_path):
    """A host that is busy and one that is not, on the same processors at the same time."""
    with Samples(hosts, HOSTS, tmp_path):
        busy = subprocess.Popen([*hosts.inside("datanode2"), sys.executable, "-c", "while True: pass"])
        time.sleep(4)  # of which three seconds are whole
        busy.kill()
        busy.wait()
    used = {}
    for name in HOSTS:
        host = json.loads((tmp_path / f"{name}.json").read_text())["sysstat"]["hosts"][0]
        assert host["nodename"] == name
        used[name] = max(sample["cpu-load"][0]["user"] for sample in host["statistics"])
        assert {sample["disk"][0]["disk-device"] for sample in host["statistics"]} == {hosts.device(name)[0]}
    assert used["datanode2"] > 4 * used["datanode1"] + 1


MAKE_AND_WAIT = """
import sys, time
from script.spark.hosts import Namespaces
import subprocess
hosts = Namespaces(sys.argv[1], ["datanode1", "worker1"], disk_mb=20)
subprocess.Popen([*hosts.inside("worker1"), "sleep", "1000"])
while not hosts.processes("worker1"):
    time.sleep(0.01)
print(hosts.names.number, flush=True)
time.sleep(1000)
"""


def test_nothing_is_left_of_a_killed_test(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", MAKE_AND_WAIT, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as maker:
        names = Names(int(maker.stdout.readline()), tmp_path, ["datanode1", "worker1"])
        sleeper = int((names.group("cpu", "worker1") / "cgroup.procs").read_text().split()[0])
        assert os.path.ismount(names.disk("datanode1"))
        maker.kill()

    def gone():
        return not names.group("cpu", "worker1").parent.exists() and not Path(f"/proc/{sleeper}").exists()

    wait_for(gone, 30, "the hosts of a killed test taken down")
    assert not os.path.ismount(names.disk("datanode1"))
    links = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True).stdout
    assert f"{names.bridge} " not in links and names.cable("worker1") not in links
    assert (
        names.namespace("worker1")
        not in subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
    )
