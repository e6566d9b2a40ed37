"""Files that fail below a whole plumbd: whatever call on journal or store fails, nothing that was acknowledged is lost,
nothing counts twice, and plumbd goes on, or says why it cannot.

PLUMB_FAULTS=all (bench/crash) lets every call fail in turn; without it a few of each kind do, the same in each run, so
that a red one is the change's doing (PLUMB_FAULT_SEED chooses others)."""

import os
import random

import pytest

from tests.receiver.faulty import each_at_once, make_faulty, ready
from tests.receiver.sender import OK, Sender, span

BEGIN = 1_700_000_000_000_000_000
BATCHES, BATCH_SPANS = 40, 25
KINDS = ("no-space", "io-error", "short-write", "failed-sync")
# Of each kind, in a run of the suite.
SAMPLES = 4


def send_all(plumbd):
    """What was acknowledged, as texts of ids. A batch that is not taken is left: senders have limits too."""
    acknowledged = []
    for number in range(BATCHES):
        # Five batches make a trace.
        trace, first = number // 5 + 1, number % 5 * BATCH_SPANS + 1
        spans = [
            span(trace, k, begin=BEGIN + k, parent=None if k == 1 else 1, annotations=[(0, "x" * 2000)])
            for k in range(first, first + BATCH_SPANS)
        ]
        try:
            with Sender(plumbd) as sender:
                reply = sender.submit(spans)
        except OSError:
            continue
        if reply.status == OK:
            acknowledged += [f"{trace:016x}{k:016x}" for k in range(first, first + BATCH_SPANS)]
    return acknowledged


def run(make_plumbd, layer, folder, **fault):
    """The whole story with one fault; how many calls were counted, where the process could say so."""
    count = folder.parent / f"{folder.name}.count"
    plumbd = make_faulty(make_plumbd, layer, folder, count=count, **fault)
    acknowledged = []
    if ready(plumbd):
        acknowledged = send_all(plumbd)
        plumbd.fetch("/api/v1/flush", "POST")  # may fail, and say so
        assert plumbd.process.poll() is None, plumbd.messages()
        if fault["at"] % 2:
            plumbd.kill()
        else:
            plumbd.stop()
    again = make_faulty(make_plumbd, layer, folder)
    again.start()
    again.flush()
    exported = [line["a"] for line in again.export()]
    assert len(set(exported)) == len(exported)
    assert set(acknowledged) <= set(exported), again.messages()
    assert again.ask("verify")["differences"] == 0
    assert again.stop() == 0
    return int(count.read_text()) if count.exists() else 0


@pytest.mark.parametrize("lasts", [1, 0], ids=["once", "for-good"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_call_fails(make_plumbd, fault_layer, tmp_path, kind, lasts):
    calls = run(make_plumbd, fault_layer, tmp_path / "none", kind=kind, at=0, lasts=1)
    assert calls > 20  # the layer is there
    seed = int(os.environ.get("PLUMB_FAULT_SEED", "1"))
    print("seed", seed, "calls", calls)
    everything = range(1, calls + 1)
    chosen = (
        everything
        if os.environ.get("PLUMB_FAULTS") == "all"
        else sorted(random.Random(seed).sample(everything, SAMPLES))
    )
    print("chosen", chosen)
    each_at_once(
        lambda at: run(make_plumbd, fault_layer, tmp_path / f"call-{at}", kind=kind, at=at, lasts=lasts), chosen
    )
