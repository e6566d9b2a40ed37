"""A disk that fails below a plumbd that promises to survive a power cut (journal.ack = fsync): after a sync that failed
the system may call the lost pages clean, so that all later syncs succeed. Then the power goes. What was acknowledged is
there, once.

bench/crash sets PLUMB_DYING_DISKS to 100; PLUMB_FAULT_SEED chooses other moments."""

import os
import random
import shutil
import threading
import time

from tests.receiver.faulty import make_faulty, ready
from tests.receiver.sender import OK, Sender, span

BEGIN = 1_700_000_000_000_000_000
RUNS = int(os.environ.get("PLUMB_DYING_DISKS", "6"))
SENDERS, BATCHES, BATCH_SPANS = 8, 30, 20
PATIENCE_SECONDS = 20


def cut_power(folder, disk, into):
    """Makes 'into' what is left of 'folder' after a power cut: tests/faults/fault_disk.h says how it is told."""
    for names in (disk / "names").iterdir():
        below = names.name.replace("%", "/").strip("/")
        (into / below).mkdir(parents=True, exist_ok=True)
        for line in names.read_text().splitlines():
            file, name = line.split(" ", 1)
            if name.startswith("plumbd.log"):
                continue
            safe = disk / "files" / file
            if safe.exists():
                shutil.copy(safe, into / below / name)
            else:
                (into / below / name).write_bytes(b"")
    for path in folder.rglob("*"):
        if path.is_dir():
            (into / path.relative_to(folder)).mkdir(parents=True, exist_ok=True)


class Insister(threading.Thread):
    """Sends its batches, each until it is taken, as long as plumbd is there."""

    def __init__(self, plumbd, number):
        super().__init__(daemon=True)
        self.plumbd, self.number, self.acknowledged = plumbd, number, []

    def may_go_on(self):
        """Waits until plumbd takes spans again; FALSE: it has ended, or takes its time."""
        until = time.monotonic() + PATIENCE_SECONDS
        while self.plumbd.process.poll() is None and time.monotonic() < until:
            try:
                if self.plumbd.fetch("/readyz", timeout=5)[0] == 200:
                    return True
            except OSError:
                pass
        return False

    def run(self):
        for batch in range(BATCHES):
            trace, first = self.number << 32 | batch // 3 + 1, batch % 3 * BATCH_SPANS + 1
            numbers = range(first, first + BATCH_SPANS)
            spans = [
                span(trace, k, begin=BEGIN + k, parent=None if k == 1 else 1, annotations=[(0, "x" * 2000)])
                for k in numbers
            ]
            while not self.taken(spans):
                if not self.may_go_on():
                    return
            self.acknowledged += [f"{trace:016x}{k:016x}" for k in numbers]

    def taken(self, spans):
        try:
            with Sender(self.plumbd) as sender:
                return sender.submit(spans).status == OK
        except OSError:
            return False


def run(make_plumbd, layer, folder, chance):
    """One disk that fails at a random call, once or for a while; how many spans were acknowledged."""
    disk, left = folder.parent / f"{folder.name}.disk", folder.parent / f"{folder.name}.left"
    lasting = chance.choice([{"lasts": 1}, {"lasts": 2}, {"ms": 50}, {"ms": 500}])
    kind, at = chance.choice(["failed-sync", "dying-disk"]), chance.randint(8, 150)
    # What the store has is safe there: mostly, only the journal has it.
    idle = chance.choice(["1h", "1h", "5ms"])
    print("fault", kind, "at", at, lasting, "idle", idle)
    plumbd = make_faulty(make_plumbd, layer, folder, kind=kind, at=at, disk=disk, sync_ms=4, **lasting)
    plumbd.settings |= {"trace.idle": idle, "receiver.net-threads": "4"}
    senders = [Insister(plumbd, number + 1) for number in range(SENDERS)] if ready(plumbd) else []
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    if plumbd.process.poll() is None:
        plumbd.kill()
    acknowledged = [span for sender in senders for span in sender.acknowledged]

    cut_power(folder, disk, left)
    again = make_faulty(make_plumbd, layer, left)
    again.start()
    again.flush()
    exported = [line["a"] for line in again.export()]
    lost, repeated = set(acknowledged) - set(exported), len(exported) - len(set(exported))
    assert (len(lost), repeated) == (0, 0), f"of {len(acknowledged)}\n{plumbd.messages()}\n{again.messages()}"
    assert again.ask("verify")["differences"] == 0
    assert again.stop() == 0
    return len(acknowledged)


def test_nothing_acknowledged_is_lost(make_plumbd, fault_layer, tmp_path):
    chance = random.Random(int(os.environ.get("PLUMB_FAULT_SEED", "1")))
    total = 0
    for number in range(RUNS):
        total += run(make_plumbd, fault_layer, tmp_path / f"run-{number}", chance)
        for folder in tmp_path.glob(f"run-{number}*"):
            shutil.rmtree(folder)
    print(f"{RUNS} disks, {total} spans acknowledged, 0 lost, 0 double")
    assert total > 100 * RUNS  # it got somewhere
