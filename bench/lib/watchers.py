"""Readers that do what live pages do: each has a stream of events, and asks the overview's questions each 15 s, when
something changed, beginning at a time of its own. What they cost is measured at a rate of spans that plumbd has time
for, over a minute and in turns with nobody: plumbd's processors, and how long acknowledgements take."""

import contextlib
import http.client
import json
import socket
import statistics
import sys
import threading
import time
from urllib.parse import quote

from bench.lib.daemon import load
from bench.lib.readers import Reader

EVERY_S = 15
TOPICS = "status,stragglers"
RATE = 20_000
RUN_S = 60
ROUNDS = 2


class Watcher(threading.Thread):
    """In each EVERY_S one round of questions; who watches for a minute asks four times, whatever its number is."""

    def __init__(self, address, number, of):
        super().__init__(daemon=True)
        self.address, self.ended = address, threading.Event()
        self.next_s = time.monotonic() + EVERY_S * number / of
        self.events = self.rounds = 0
        self.failure = None
        host, port = address.rsplit(":", 1)
        self.connection = http.client.HTTPConnection(host, int(port), timeout=600)
        self.connection.request("GET", f"/api/v1/events?topics={TOPICS}")
        self.socket = self.connection.sock

    def ask_all(self):
        reader = Reader(self.address)
        with contextlib.closing(reader.connection):
            asked = reader.ask("/api/v1/functions?since=1h&role=datanode&sort=self_ns&limit=12")[1]
            functions = json.loads(asked or "{}").get("functions", [])
            if functions:
                name = quote(functions[0]["function"], safe="")
                reader.ask(f"/api/v1/series/columns?since=1h&by=host&role=datanode&function={name}&sort=ratio&limit=60")
            reader.ask("/api/v1/marks?since=1h")
            reader.ask("/api/v1/apps?limit=20")
        self.rounds += 1

    def follow(self):
        reply = self.connection.getresponse()
        if reply.status != 200:
            raise ConnectionError(f"{reply.status} for a stream of events")
        while line := reply.readline():
            if not line.startswith(b"data"):
                continue
            self.events += 1
            if time.monotonic() >= self.next_s and not self.ended.is_set():
                self.next_s += EVERY_S
                self.ask_all()
        raise ConnectionError("plumbd ended a stream of events")

    def run(self):
        try:
            self.follow()
        except (OSError, http.client.HTTPException, RuntimeError, ValueError) as failure:
            if not self.ended.is_set():
                self.failure = failure

    def end(self):
        """And waits for what it has asked."""
        self.ended.set()
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.join()
        self.connection.close()
        self.socket.close()


@contextlib.contextmanager
def watched(address, n):
    watchers = [Watcher(address, i, n) for i in range(n)]
    for watcher in watchers:
        watcher.start()
    try:
        yield watchers
    finally:
        for watcher in watchers:
            watcher.end()
    failures = [str(watcher.failure) for watcher in watchers if watcher.failure]
    if failures:
        sys.exit(f"bench: a reader gave up: {', '.join(failures)}")


def measure_run(plumbd, n, spans, rate):
    with watched(plumbd.http, n) as watchers:
        begun, cpu = time.monotonic(), plumbd.cpu_seconds()
        ledger = load(plumbd, spans, "--rate", rate)
        seconds, cpu = time.monotonic() - begun, plumbd.cpu_seconds() - cpu
    return {
        "spans_per_s": ledger["spans"] / seconds,
        "cpu_s_per_minute": 60 * cpu / seconds,
        "ack_p99_ms": ledger["ack_p99_ms"],
        "rounds": sum(watcher.rounds for watcher in watchers),
        "events": sum(watcher.events for watcher in watchers),
    }


def measure(plumbd, n, rate=RATE, seconds=RUN_S, rounds=ROUNDS):
    """Alone and watched in turns, so that what else the machine does meets both."""
    load(plumbd, rate * 10)  # what is made once, and hosts to look at
    runs = {"alone": [], "watched": []}
    for _ in range(rounds):
        for name, watchers in (("alone", 0), ("watched", n)):
            plumbd.settle(30)
            runs[name].append(measure_run(plumbd, watchers, int(rate * seconds), rate))
    alone, those = (
        {key: statistics.mean(one[key] for one in runs[name]) for key in runs[name][0]} for name in ("alone", "watched")
    )
    return {
        "watchers": n,
        "rounds_of_questions": those["rounds"],
        "events": those["events"],
        **{f"{key}_{name}": of[key] for key in list(alone)[:3] for name, of in (("alone", alone), ("watched", those))},
        "plumbd_cpu_watched_of_alone": those["cpu_s_per_minute"] / alone["cpu_s_per_minute"],
        "cpu_ms_of_a_round": 1000
        * (those["cpu_s_per_minute"] - alone["cpu_s_per_minute"])
        / max(1, those["rounds"] * 60 / seconds),
    }
