"""What bench/hostile takes for a failure, and that its good sender counts what is refused it."""

import time
from types import SimpleNamespace

import pytest

from bench.lib.hostile import is_bad, measure_secure

GOOD = {"acks": 900, "refused": 0, "died": 0, "ack p99 ms": 4.0, "ack p99 x alone": 1.5, "within memory.limit": True}
NONE = float("nan")


def test_who_waits_no_longer_is_well():
    assert not is_bad(GOOD, 2)


@pytest.mark.parametrize(
    "what",
    [
        {"refused": 1},
        {"died": 1},
        {"ack p99 x alone": 2.1},
        {"ack p99 x alone": NONE},
        {"login p99 ms": NONE},
        {"within memory.limit": False},
    ],
)
def test_what_is_bad(what):
    assert is_bad(GOOD | what, 2)


class Closed:
    """A site where nobody gets in."""

    def __init__(self, error):
        self.error = error
        self.plumbd = SimpleNamespace(memory_bytes=lambda _: 1)

    def context(self):
        return None

    def login(self, *_):
        raise self.error


def test_a_sender_that_never_gets_in_is_refused_and_goes_on():
    found = measure_secure(Closed(ConnectionRefusedError("the login is refused")), 1.3)
    assert found["acks"] == 0 and found["refused"] > 2 and found["died"] == 0
    assert is_bad({**found, "ack p99 x alone": found["ack p99 ms"] / 1.0}, 2)


def test_a_thread_that_died_is_told(monkeypatch):
    monkeypatch.setattr("threading.excepthook", lambda _: None)
    begun = time.monotonic()
    assert measure_secure(Closed(ValueError("no such reply")), 1.3)["died"] == 2 and time.monotonic() - begun < 10
