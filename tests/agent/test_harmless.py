"""Whatever happens to tracing, HDFS goes on as without it, and what was lost is known."""

import contextlib
import os
import socket
import threading
from subprocess import PIPE

import pytest

from script.hdfs.cluster import free_port
from tests.agent.conftest import FS_SHELL, SHELL_SECONDS
from tests.agent.tours import Cluster, agent, faults, start_plumbd, tour
from tests.conftest import lasting_address

VERSION = "3.5.0"


class Garbage:
    """A receiver that answers anything with bytes that mean nothing."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.thrift = self.listener.getsockname()
        self.answered = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(peer,), daemon=True).start()

    def answer(self, peer):
        with peer, contextlib.suppress(OSError):  # the sender hangs up
            while peer.recv(65536):
                self.answered += 1
                peer.sendall(os.urandom(5000))

    def close(self):
        self.listener.close()


class Nobody:
    """An address where nothing listens."""

    def __init__(self):
        self.thrift = ("127.0.0.1", free_port())


@pytest.fixture(scope="module")
def garbage():
    receiver = Garbage()
    yield receiver
    receiver.close()


@pytest.fixture(scope="module")
def broken(tmp_path_factory, garbage):
    """The NameNode's receiver is not there; the DataNodes' answers garbage, and their queues are full at once."""
    full = agent(garbage, queue_spans=1, sampling="always")
    with Cluster(
        tmp_path_factory.mktemp("hdfs"),
        VERSION,
        agent={"namenode": agent(Nobody(), sampling="always"), "datanode": full, "client": None},
    ) as cluster:
        yield cluster


# A few lines of the sender's own are in order: that it cannot send, and later that it can.
def reported(cluster):
    return [line for line in faults(cluster) if "WARNING" not in line and "io.plumbline.send" not in line]


@pytest.mark.parametrize("name", ["nobody", "garbage"])
def test_hdfs_goes_on(broken, tour_program, toured, garbage, name):
    receiver = garbage if name == "garbage" else Nobody()
    settings = {"retry.max.ms": 200, "shutdown.timeout.ms": 0}
    attached = agent(receiver)
    attached.settings.update(settings)
    results, counters = tour(broken, tour_program, name, agent=attached, drain_seconds=1)
    assert results == toured(VERSION).results
    assert counters["SpansAcknowledged"] == 0 and counters["SpansReceived"] > 0 and counters["Failures"] > 0
    assert counters["LastTrouble"] == ""
    assert reported(broken) == []
    for process, bean in broken.senders().items():
        assert bean["SpansAcknowledged"] == 0, process
    assert garbage.answered > 0


def test_a_command_says_that_its_spans_are_lost(broken):
    """A wrong address: the command does what it is to do, and one line on standard error says whose fault it is."""
    attached = agent(Nobody(), sampling="always", shutdown_timeout_ms=500)
    listing = broken.java("wrong", FS_SHELL, ["-ls", "/"], agent=attached, stdout=PIPE, stderr=PIPE)
    _, errors = listing.communicate(timeout=SHELL_SECONDS)
    assert listing.returncode == 0, errors
    (line,) = [line for line in errors.splitlines() if "were lost" in line]
    assert line.startswith("plumb: spans of this process were lost: ") and "refused" in line


def test_what_was_dropped_is_known_afterwards(broken, tour_program, toured, plumbd_program, tmp_path):
    """plumbd is killed in the middle and started again: queues of ten spans lose the rest, and say so."""
    plumbd = start_plumbd(plumbd_program, tmp_path, listen__thrift=lasting_address())
    attached = agent(plumbd, queue_spans=10, retry_max_ms=100)
    plumbd.kill()
    results, _ = tour(broken, tour_program, "late", agent=attached, after={"list": plumbd.start})
    assert results == toured(VERSION).results
    (sender,) = plumbd.receiver()["senders"]
    assert sender["drops"]["queue full"] > 0
    plumbd.clean_up()
