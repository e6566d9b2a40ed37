"""What plumbd tells those who watch: when something changed, once, and whoever comes back goes on."""

import contextlib
import http.client
import json

from tests.receiver.sender import OK, Sender, span

TOPICS = "status,stragglers,runs"


class Watcher:
    """A reader of events: read() gives (topic, number, document)."""

    def __init__(self, plumbd, topics=TOPICS, last=None):
        self.connection = http.client.HTTPConnection(*plumbd.http.rsplit(":", 1), timeout=60)
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        self.connection.request("GET", f"/api/v1/events?topics={topics}", headers=headers)
        self.reply = self.connection.getresponse()

    def read(self):
        found = {}
        while True:
            line = self.reply.readline().decode().rstrip("\n")
            if line == "" and "data" in found:
                return found["event"], int(found["id"]), json.loads(found["data"])
            name, _, text = line.partition(": ")
            found[name] = text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()


def send(plumbd, trace):
    with Sender(plumbd) as sender:
        assert sender.deliver([span(trace, 1)]).status == OK


def test_changes_are_told_and_resumed(plumbd):
    with Watcher(plumbd) as watcher:
        assert watcher.reply.getheader("Content-Type") == "text/event-stream"
        first = [watcher.read() for _ in range(3)]
        assert [topic for topic, _, _ in first] == TOPICS.split(",")
        assert first[0][2]["spans_received"] == 0 and first[0][2]["ready"] is True
        assert first[2][2] == {"runs": plumbd.ask("shell/runs")["runs"]}
        numbers = [number for _, number, _ in first]
        assert numbers == sorted(set(numbers))
        send(plumbd, 1)
        topic, number, now = watcher.read()
        assert (topic, now["spans_received"]) == ("status", 1) and number > numbers[-1]
        plumbd.flush()
        while now["stored_spans"] < 1:
            topic, number, now = watcher.read()
        assert topic == "status"
    send(plumbd, 2)
    with Watcher(plumbd, last=number) as again:  # the other topics have not changed
        topic, later, now = again.read()
        assert (topic, now["spans_received"]) == ("status", 2) and later > number
    with Watcher(plumbd, last=2**60) as other:  # a number of another plumbd
        assert [other.read()[0] for _ in range(3)] != []
    with Watcher(plumbd, "runs") as only:
        assert only.read()[0] == "runs"


def test_what_is_no_topic_is_refused_and_readers_are_limited(plumbd):
    for query in ("", "?topics=", "?topics=status,none", "?topics=status,status,runs,runs,runs", "?topics=%"):
        assert plumbd.fetch(f"/api/v1/events{query}")[0] == 400, query
    assert plumbd.fetch("/api/v1/events?topics=status", method="POST")[0] == 405
    with contextlib.ExitStack() as stack:
        for _ in range(16):
            assert stack.enter_context(Watcher(plumbd, "runs")).read()[0] == "runs"
        assert plumbd.fetch("/api/v1/events?topics=runs")[0] == 429
        assert plumbd.stop() == 0  # readers are no reason to wait
