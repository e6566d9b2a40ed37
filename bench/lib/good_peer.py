"""The peer that behaves, beside hostile ones: what bench/hostile measures."""

import ctypes
import platform
import struct
import threading
import time

from tests.receiver.sender import TRY_LATER, span, submit_frame

GOOD = "127.0.0.2"
PAUSE_S = 0.02  # between two batches or questions


def quantile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] if values else float("nan")


def take_short_turns():
    """As plumbd's network threads do (receiver/net/urgent.h): in life the good peer has a machine of its own, so it
    must not wait here for the turns of attackers and of plumbd's other threads. Elsewhere nothing changes."""
    number = {"x86_64": 314, "aarch64": 274}.get(platform.machine())
    if number:
        ctypes.CDLL(None).syscall(number, 0, struct.pack("=IIQiIQQQ", 48, 0, 0, 0, 0, 100_000, 0, 0), 0)


class GoodPeer:
    """Works in threads of its own, one for each of these, until it is left; then it knows how many of them died."""

    def __init__(self, *works):
        self.acks, self.refused, self.died = [], 0, 0
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(work,)) for work in works]

    def run(self, work):
        take_short_turns()
        work()

    def send_batch(self, connect):
        """connect() gives a context of the sender; its time counts."""
        number = time.time_ns()
        frame = submit_frame([span(number, k, parent=None if k == 1 else 1) for k in range(1, 201)])
        begun = time.monotonic()
        with connect() as sender:
            sender.write(frame)
            while sender.read_reply().status == TRY_LATER:
                sender.write(frame)
        self.acks.append(time.monotonic() - begun)

    def figures(self):
        return {
            "acks": len(self.acks),
            "refused": self.refused,
            "died": self.died,
            "ack p50 ms": 1000 * quantile(self.acks, 0.5),
            "ack p99 ms": 1000 * quantile(self.acks, 0.99),
        }

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.died = sum(not thread.is_alive() for thread in self.threads)
        self.stopped.set()
        for thread in self.threads:
            thread.join()
