"""A disk that fails below plumbd for three seconds: some time later all is well again, by itself or by the new start
that plumbd asks its service manager for. Nothing that was acknowledged is lost, nothing counts twice.

PLUMB_FAULTS=all (bench/crash) begins at each tenth call of every kind; PLUMB_FAULT_SEED chooses others."""

import os
import random
import time
import urllib.error

import pytest

from tests.receiver.faulty import each_at_once, make_faulty, ready
from tests.receiver.sender import OK, Sender, span

BEGIN = 1_700_000_000_000_000_000
KINDS = ("no-space", "io-error", "short-write", "failed-sync", "dying-disk", "no-rights")
FAILS_MS = 3000
READY_SECONDS = 60
# What plumbd ends with when systemd is to start it anew.
RESTART = 75


class Story:
    """One plumbd after the other over one folder, as a service manager starts them, and a sender that goes on."""

    def __init__(self, make_plumbd, layer, folder, **fault):
        self.make_plumbd, self.layer, self.folder = make_plumbd, layer, folder
        self.trace, self.acknowledged, self.restarts = 0, [], 0
        self.plumbd = make_faulty(make_plumbd, layer, folder, ms=FAILS_MS, **fault)
        if not ready(self.plumbd):
            self.restart()

    def restart(self):
        """Of a process that ended by itself. The disk works again by then."""
        assert self.plumbd.wait() in (1, RESTART), self.plumbd.messages()
        self.restarts += 1
        self.plumbd = make_faulty(self.make_plumbd, self.layer, self.folder).start()

    def send(self):
        """One batch; TRUE when it was taken."""
        self.trace += 1
        numbers = range(1, 26)
        spans = [
            span(self.trace, k, begin=BEGIN + k, parent=None if k == 1 else 1, annotations=[(0, "x" * 2000)])
            for k in numbers
        ]
        try:
            with Sender(self.plumbd) as sender:
                taken = sender.submit(spans).status == OK
        except OSError:
            return False
        if taken:
            self.acknowledged += [f"{self.trace:016x}{k:016x}" for k in numbers]
        return taken

    def is_ready(self):
        try:
            return self.plumbd.fetch("/readyz", timeout=10)[0] == 200
        except (OSError, urllib.error.URLError):
            return False

    def is_well(self):
        """Ready, takes spans, and stores them."""
        return self.is_ready() and self.send() and self.plumbd.fetch("/api/v1/flush", "POST", timeout=20)[0] == 200

    def wait_until_well(self):
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until:
            if self.plumbd.process.poll() is not None:
                self.restart()
            try:
                if self.is_well():
                    return
            except OSError:
                pass
        raise AssertionError(
            f"not ready after {READY_SECONDS} s: {self.plumbd.fetch('/readyz')}\n{self.plumbd.messages()}"
        )


def run(make_plumbd, layer, folder, **fault):
    story = Story(make_plumbd, layer, folder, **fault)
    until = time.monotonic() + FAILS_MS / 1000
    while time.monotonic() < until and story.plumbd.process.poll() is None:
        story.send()
        if story.trace % 7 == 0:
            story.plumbd.fetch("/api/v1/flush", "POST")  # may fail, and say so
    story.wait_until_well()

    exported = [line["a"] for line in story.plumbd.export()]
    assert len(set(exported)) == len(exported)
    assert set(story.acknowledged) <= set(exported), story.plumbd.messages()
    assert story.plumbd.ask("verify")["differences"] == 0
    assert story.plumbd.stop() == 0
    return story


def chosen_calls():
    if os.environ.get("PLUMB_FAULTS") == "all":
        return range(1, 400, 10)
    return random.Random(int(os.environ.get("PLUMB_FAULT_SEED", "1"))).sample(range(1, 250), 3)


@pytest.mark.parametrize("kind", KINDS)
def test_ready_again(make_plumbd, fault_layer, tmp_path, kind):
    def one(at):
        begin = time.monotonic()
        story = run(make_plumbd, fault_layer, tmp_path / f"{kind}-{at}", kind=kind, at=at)
        print(f"{kind} from call {at}: well after {time.monotonic() - begin:.0f} s, {story.restarts} new starts")

    each_at_once(one, chosen_calls())
