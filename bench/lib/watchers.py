"""Readers that do what live pages do: each has a stream of events, and when it is told that something changed it asks
the overview's questions, every 15 s at most, beginning at a time of its own."""

import http.client
import json
import threading
import time
from contextlib import contextmanager
from urllib.parse import quote

from bench.lib.daemon import load
from bench.lib.readers import Reader

EVERY_S = 15
TOPICS = "status,stragglers"


class Watcher(threading.Thread):
    def __init__(self, address, number, of):
        super().__init__(daemon=True)
        self.address, self.ended = address, threading.Event()
        self.next_s = time.monotonic() + EVERY_S * number / of
        self.events = self.rounds = 0

    def ask_all(self):
        reader = Reader(self.address)
        asked = reader.ask("/api/v1/functions?since=1h&role=datanode&sort=self_ns&limit=12")[1]
        functions = json.loads(asked or "{}").get("functions", [])
        if functions:
            name = quote(functions[0]["function"], safe="")
            reader.ask(f"/api/v1/series?since=1h&by=host&role=datanode&function={name}&sort=ratio&limit=60")
        reader.ask("/api/v1/marks?since=1h")
        reader.ask("/api/v1/apps?limit=20")
        self.rounds += 1

    def run(self):
        host, port = self.address.rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=600)
        connection.request("GET", f"/api/v1/events?topics={TOPICS}")
        reply = connection.getresponse()
        while not self.ended.is_set():
            if not reply.readline().startswith(b"data"):
                continue
            self.events += 1
            if time.monotonic() >= self.next_s:
                self.next_s = time.monotonic() + EVERY_S
                self.ask_all()
        connection.close()


@contextmanager
def watched(plumbd, n):
    watchers = [Watcher(plumbd.http, i, n) for i in range(n)]
    for watcher in watchers:
        watcher.start()
    yield watchers
    for watcher in watchers:
        watcher.ended.set()


def measure(plumbd, n, spans, rounds=2):
    """The same load with and without watchers, in turns: rates as spans a second, and plumbd's own seconds."""
    found = {"alone": [], "watched": []}
    told = 0
    load(plumbd, spans)  # what is made once, and hosts to look at
    for _ in range(rounds):
        for name, watchers in (("alone", 0), ("watched", n)):
            with watched(plumbd, watchers) as those:
                begun, cpu = time.monotonic(), plumbd.cpu_seconds()
                load(plumbd, spans)
                found[name].append((time.monotonic() - begun, plumbd.cpu_seconds() - cpu))
            told += sum(watcher.rounds for watcher in those)
    seconds = {name: sum(one for one, _ in runs) for name, runs in found.items()}
    cpu = {name: sum(one for _, one in runs) for name, runs in found.items()}
    return {
        "watchers": n,
        "rounds_asked": told,
        "spans_per_s_alone": rounds * spans / seconds["alone"],
        "spans_per_s_watched": rounds * spans / seconds["watched"],
        "rate_watched_of_alone": seconds["alone"] / seconds["watched"],
        "plumbd_cpu_watched_of_alone": cpu["watched"] / cpu["alone"],
    }
