"""kill -9, damaged journals, repeated batches: nothing lost that was acknowledged, nothing counted twice."""

import collections
import http.client
import os
import random
import re
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path

import pytest

from tests.receiver.sender import OK, TRY_LATER, Sender, span

BEGIN = 1_700_000_000_000_000_000
# bench/crash asks for 200.
KILLS = int(os.environ.get("PLUMB_KILLS", "20"))


def trace_spans(trace, n, first=1):
    """A root and its children."""
    return [span(trace, k, name=0, begin=BEGIN + k, parent=None if k == 1 else 1) for k in range(first, first + n)]


def ids_of(exported):
    return collections.Counter(line["a"] for line in exported)


def id_text(trace, number):
    return f"{trace:016x}{number:016x}"


class Resender(threading.Thread):
    """Sends numbered batches over and over until each is acknowledged, whatever happens to the connection. One plumbd
    after the other is behind the address."""

    def __init__(self, number, batches, batch_spans):
        super().__init__(daemon=True)
        self.number, self.batches, self.batch_spans = number, batches, batch_spans
        self.address, self.changes = None, 0  # the next one may happen to get the port of the last
        self.changed = threading.Condition()
        self.acknowledged = set()

    def now_at(self, address):
        with self.changed:
            self.address, self.changes = address, self.changes + 1
            self.changed.notify_all()

    def current(self):
        with self.changed:
            return self.address, self.changes

    def lost(self, changes):
        with self.changed:
            while self.changes == changes:
                self.changed.wait()

    def run(self):
        sequence = 0
        while sequence < self.batches:
            address, changes = self.current()
            try:
                with Sender(address) as sender:
                    while sequence < self.batches:
                        # Traces that go on over several batches, and a new one every few.
                        trace = self.number << 32 | sequence // 4 + 1
                        first = sequence % 4 * self.batch_spans + 1
                        reply = sender.deliver(trace_spans(trace, self.batch_spans, first))
                        assert (reply.status, reply.accepted) == (OK, self.batch_spans)
                        self.acknowledged |= {id_text(trace, k) for k in range(first, first + self.batch_spans)}
                        sequence += 1
            except OSError:
                self.lost(changes)


@pytest.mark.parametrize("ack", ["journal", "fsync"])
def test_kill_at_any_moment(make_plumbd, ack):
    """Random kills while senders resend what was not acknowledged: every acknowledged span is stored exactly once."""
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    batches = 35 * KILLS
    plumbd = make_plumbd(
        journal__ack=ack, journal__segment="64K", trace__idle="20ms", receiver__shards="2", store__write_buffer="1M"
    ).start()
    senders = [Resender(n + 1, batches, 50) for n in range(3)]
    for sender in senders:
        sender.now_at(plumbd.thrift)
        sender.start()
    kills = 0
    while any(sender.is_alive() for sender in senders):
        # The moment is what is random here; nothing is waited for.
        senders[0].join(chance.uniform(0.01, 0.25))
        plumbd.kill()
        plumbd.spawn()
        kills += 1
        if chance.random() < 0.3:
            senders[0].join(chance.uniform(0, 0.05))
            plumbd.kill()  # in the middle of the start or of the recovery
            plumbd.spawn()
        plumbd.wait_ready()
        for sender in senders:
            sender.now_at(plumbd.thrift)
        if kills >= KILLS:
            for sender in senders:
                sender.join()
    plumbd.flush()
    acknowledged = set().union(*(sender.acknowledged for sender in senders))
    assert len(acknowledged) == 3 * batches * 50
    exported = ids_of(plumbd.export())
    assert set(exported) == acknowledged
    assert set(exported.values()) == {1}
    assert plumbd.stored()["spans"] == len(acknowledged)
    assert plumbd.ask("verify")["differences"] == 0
    assert plumbd.stop() == 0


def test_killed_before_anything_was_stored(make_plumbd):
    plumbd = make_plumbd(trace__idle="1h", trace__max_age="1h").start()
    with Sender(plumbd) as sender:
        assert sender.submit(trace_spans(7, 1000)).accepted == 1000
    plumbd.kill()
    plumbd.start().wait_recovered()
    assert plumbd.receiver()["recovered_spans"] == 1000
    assert "recovered 1000 spans of 1 batches" in plumbd.messages()
    # Replayed, but still open: and what comes now joins it.
    with Sender(plumbd) as sender:
        assert sender.submit(trace_spans(7, 500, 1001)).accepted == 500
    plumbd.kill()
    plumbd.start()
    plumbd.flush()
    stored = plumbd.stored()
    assert (stored["traces"], stored["spans"]) == (1, 1500)
    assert plumbd.ask("verify")["differences"] == 0


def test_crashes_during_recovery_lose_nothing(make_plumbd):
    plumbd = make_plumbd(trace__idle="1h", journal__segment="64K").start()
    with Sender(plumbd) as sender:
        for trace in range(1, 201):
            assert sender.submit(trace_spans(trace, 100)).accepted == 100
    plumbd.kill()
    for _ in range(5):
        plumbd.spawn()
        while "recovering from the journal" not in plumbd.messages() and plumbd.process.poll() is None:
            pass
        plumbd.kill()
        plumbd.log.unlink()
    plumbd.start()
    plumbd.flush()
    assert set(ids_of(plumbd.export()).values()) == {1}
    assert plumbd.stored()["spans"] == 20_000


def test_memory_mode_writes_no_journal(make_plumbd):
    plumbd = make_plumbd(journal__ack="memory", trace__idle="1h").start()
    with Sender(plumbd) as sender:
        assert sender.submit(trace_spans(7, 1000)).accepted == 1000
    assert not list(plumbd.journal.glob("*.journal"))
    assert plumbd.stop() == 0
    plumbd.start()
    assert plumbd.stored()["spans"] == 1000


def test_repeated_batch_is_counted_once(plumbd):
    spans = trace_spans(0x77, 100)
    said = ("Client/h/1@1", 1, 100, 0, {})
    with Sender(plumbd) as sender:
        for _ in range(3):
            assert sender.submit(spans, sender=said).accepted == 100
        plumbd.flush()
        assert sender.submit(spans, sender=said).accepted == 100  # after it was stored, too
        plumbd.flush()
    stored = plumbd.stored()
    assert (stored["traces"], stored["spans"], stored["duplicates"]) == (1, 100, 300)
    assert plumbd.receiver()["senders"][0]["repeated_batches"] == 3
    (calls,) = (f["calls"] for f in plumbd.ask("functions")["functions"])
    assert calls == 100
    assert plumbd.ask("verify")["differences"] == 0


def killed_with_segments(plumbd, batches=60):
    """Fills several journal segments and kills; the segments, oldest first."""
    plumbd.start()
    with Sender(plumbd) as sender:
        for trace in range(1, batches + 1):
            assert sender.submit(trace_spans(trace, 100)).accepted == 100
    plumbd.kill()
    segments = sorted(plumbd.journal.glob("*.journal"))
    assert len(segments) >= 3
    return segments


HEADER = 64


def cut(data):
    return data[: len(data) - 1000]


def zero(data):
    """As a file system does that had the length of a file, and not its bytes, on the disk."""
    return data[: len(data) - 3000] + bytes(3000)


def last_record_begins(data):
    begin, at = HEADER, HEADER
    while data[at : at + 4] != b"\xff\xff\xff\xff":  # the end mark
        begin, at = at, at + 24 + int.from_bytes(data[at : at + 4], "little")
        assert at < len(data)
    return begin


def flip(at):
    def damage(data):
        place = at if at >= 0 else len(data) + at
        return data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]

    return damage


# what happens to the segment (None: it is gone), how many batches of 100 spans may go
DAMAGES = {
    "cut at its end": (cut, range(1, 2)),
    "cut between two records": (lambda data: data[: last_record_begins(data)], range(1, 2)),  # the next one knows
    "zeros at its end": (zero, range(1, 3)),
    "payload of the first record": (flip(200), range(1, 2)),
    "head of the first record": (flip(68), range(1, 2)),
    "last byte of the last record": (flip(-25), range(1, 2)),
    "header": (flip(3), range(0, 1)),  # the next one has what is needed to read the records
    "header's check": (flip(60), range(0, 1)),
    "a disk's sector of zeros": (lambda data: bytes(4096) + data[4096:], range(1, 4)),
    "empty": (lambda data: b"", range(1, 99)),
    "missing": (None, range(1, 99)),
}


@pytest.mark.parametrize("damage, lost", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_journal_is_reported_and_the_rest_taken(make_plumbd, damage, lost):
    """Of a segment that has others before and behind it."""
    plumbd = make_plumbd(trace__idle="1h", journal__segment="64K")
    before, victim = killed_with_segments(plumbd)[:2]
    if damage:
        victim.write_bytes(damage(victim.read_bytes()))
    else:
        victim.unlink()
    plumbd.start()
    plumbd.flush()
    assert plumbd.stored()["spans"] % 100 == 0
    assert 60 - plumbd.stored()["spans"] // 100 in lost
    if damage:
        assert victim.name in plumbd.messages() and "damaged" in plumbd.messages()
    else:
        assert f"lacks 1 files after {before}" in plumbd.messages()
    assert "being written when plumbd was ended" not in plumbd.messages()
    assert plumbd.receiver()["journal_damages"] >= 1
    assert plumbd.metrics()["plumbd_journal_damages_total"] >= 1
    # All that is stored; the damaged file is kept beside.
    assert plumbd.stop() == 0
    assert victim.with_name(victim.name + ".damaged").exists() == (damage is not None)
    assert not list(plumbd.journal.glob("*.journal"))
    # And is not read again.
    plumbd.start()
    assert plumbd.receiver()["journal_damages"] == 0


@pytest.mark.parametrize("page, lost", [(0, range(1, 4)), (5, range(1, 4)), (12, range(1, 4))])
def test_unreadable_sector_of_the_journal(make_plumbd, fault_layer, page, lost):
    """Of one segment, 4 KiB: all else is taken."""
    plumbd = make_plumbd(trace__idle="1h", journal__segment="64K")
    victim = killed_with_segments(plumbd)[1]
    assert victim.stat().st_size > 4096 * (page + 1)
    fault = {"FOLDER": victim, "KIND": "bad-sector", "AT": page + 1, "LASTS": 1}
    plumbd.environment |= {"LD_PRELOAD": str(fault_layer), **{f"PLUMB_FAULT_{k}": str(v) for k, v in fault.items()}}
    plumbd.start()
    plumbd.flush()
    assert 60 - plumbd.stored()["spans"] // 100 in lost
    assert f"bytes of {victim} cannot be read (Input/output error)" in plumbd.messages()
    assert plumbd.receiver()["journal_damages"] >= 1
    assert plumbd.stop() == 0
    assert victim.with_name(victim.name + ".damaged").exists()


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a file system whose files are mapped")
def test_unreadable_page_of_a_mapped_table(make_plumbd):
    """A file that is cut under its mapping is one whose pages cannot be read."""
    folder = Path(tempfile.mkdtemp(prefix="plumb-mapped-", dir="/dev/shm"))
    try:
        plumbd = make_plumbd(folder=folder).start()
        with Sender(plumbd) as sender:
            assert sender.submit(trace_spans(7, 100)).accepted == 100
            tables = [fd for fd in Path(f"/proc/{plumbd.process.pid}/fd").iterdir() if "(deleted)" in os.readlink(fd)]
            assert tables
            for fd in tables:
                os.truncate(fd, 0)
            with pytest.raises(ConnectionError):
                sender.submit(trace_spans(8, 100))
        assert plumbd.wait() == -signal.SIGBUS
        assert "see to the disk" in plumbd.messages()
        plumbd.start()
        plumbd.flush()
        assert plumbd.stored()["spans"] in (100, 200)
        assert plumbd.stop() == 0
    finally:
        shutil.rmtree(folder)


def test_unreadable_end_of_the_newest_file(make_plumbd, fault_layer):
    """No file behind it tells that it went on: what cannot be read counts as damage all the same."""
    plumbd = make_plumbd(trace__idle="1h", journal__segment="1M")
    plumbd.start()
    with Sender(plumbd) as sender:
        for trace in range(1, 21):
            assert sender.submit(trace_spans(trace, 100)).accepted == 100
    plumbd.kill()
    (victim,) = plumbd.journal.glob("plumb-*.journal")
    page = last_record_begins(victim.read_bytes()) // 4096
    fault = {"FOLDER": victim, "KIND": "bad-sector", "AT": page + 1, "LASTS": 9}
    plumbd.environment |= {"LD_PRELOAD": str(fault_layer), **{f"PLUMB_FAULT_{k}": str(v) for k, v in fault.items()}}
    plumbd.start()
    plumbd.flush()
    assert 17 <= plumbd.stored()["spans"] // 100 <= 19
    assert plumbd.receiver()["journal_damages"] >= 1


@pytest.mark.parametrize("left", [1, 23, 24, 25, 1000])
def test_unfinished_record_at_the_end_is_no_damage(make_plumbd, left):
    """What a kill in the middle of a write leaves: its sender had no reply."""
    plumbd = make_plumbd(trace__idle="1h", journal__segment="64K")
    victim = killed_with_segments(plumbd)[-1]
    data = victim.read_bytes()
    victim.write_bytes(data[: last_record_begins(data) + left])
    for _ in range(2):  # the second time, there is a segment after it
        plumbd.start().wait_recovered()
        assert plumbd.receiver()["journal_damages"] == 0
        assert f"{victim.name} ends in a batch that was being written" in plumbd.messages()
        with Sender(plumbd) as sender:
            assert sender.submit(trace_spans(60, 100)).accepted == 100
        plumbd.kill()
        plumbd.log.unlink()
    plumbd.start()
    plumbd.flush()
    assert plumbd.stored()["spans"] == 6000
    assert plumbd.stop() == 0
    assert not [path.name for path in plumbd.journal.iterdir() if path.name != "LOCK"]


def test_segment_that_a_crash_left_empty_is_no_damage(make_plumbd):
    plumbd = make_plumbd(trace__idle="1h", journal__segment="64K")
    last = killed_with_segments(plumbd)[-1]
    number = int(last.name[len("plumb-") : -len(".journal")], 16)
    (plumbd.journal / f"plumb-{number + 1:016x}.journal").write_bytes(b"")
    plumbd.start().wait_recovered()
    assert plumbd.receiver()["journal_damages"] == 0
    plumbd.flush()
    assert plumbd.stored()["spans"] == 6000


def test_journal_goes_away_by_itself(make_plumbd):
    plumbd = make_plumbd(trace__idle="10ms", journal__segment="64K").start()
    with Sender(plumbd) as sender:
        for trace in range(1, 101):
            assert sender.submit(trace_spans(trace, 100)).accepted == 100
    until = time.monotonic() + 60
    while plumbd.receiver()["journal_bytes"] > 0:
        assert time.monotonic() < until
    assert plumbd.stored()["spans"] == 10_000


def test_journal_limit_closes_what_keeps_it(make_plumbd):
    """One trace that never ends must not keep the journal of all others."""
    plumbd = make_plumbd(trace__idle="10ms", trace__max_age="1h", journal__segment="64K", journal__limit="1M").start()
    with Sender(plumbd) as sender:
        # No root: stays open.
        sender.submit([span(0x999, 2, parent=1)])
        for trace in range(1, 400):
            assert sender.deliver(trace_spans(trace, 100)).accepted == 100
        until = time.monotonic() + 60
        while plumbd.receiver()["closed_traces"].get("journal", 0) == 0:
            assert time.monotonic() < until
        while plumbd.receiver()["journal_bytes"] > 2**20:
            assert time.monotonic() < until
        assert sender.deliver([span(0x999, 1)]).accepted == 1  # its root, late
    plumbd.flush()
    stored = plumbd.stored()
    assert (stored["traces"], stored["spans"], stored["incomplete_traces"]) == (400, 39902, 0)


def test_try_later_is_not_taken(make_plumbd):
    """What was answered TRY_LATER is not stored by the receiver that said so."""
    plumbd = make_plumbd(store__min_free="1000G").start()
    with Sender(plumbd) as sender:
        assert sender.submit(trace_spans(5, 10)).status == TRY_LATER
    plumbd.stop()
    plumbd.settings["store.min-free"] = "0"
    plumbd.start()
    assert plumbd.stored()["spans"] == 0


def copy_of(folder, target):
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(folder, target)


def test_flipped_bits_in_the_store(make_plumbd, tmp_path):
    """Damage in any file of the store is said, by a start that is refused or by an answer that is an error; nothing
    crashes, and no wrong number is given as a right one."""
    plumbd = make_plumbd(store__write_buffer="1M").start()
    with Sender(plumbd) as sender:
        for trace in range(1, 301):
            assert sender.deliver(trace_spans(trace, 50)).accepted == 50
    assert plumbd.stop() == 0
    copy_of(plumbd.store, tmp_path / "good")
    tried = 0
    for name in sorted(path.name for path in (tmp_path / "good").iterdir()):
        good = (tmp_path / "good" / name).read_bytes()
        if not re.fullmatch(r"\d+\.(sst|log)|MANIFEST-\d+|CURRENT", name) or not good:
            continue
        for at in {len(good) // 3, len(good) // 2, len(good) - 5}:
            copy_of(tmp_path / "good", plumbd.store)
            (plumbd.store / name).write_bytes(good[:at] + bytes([good[at] ^ 0x40]) + good[at + 1 :])
            tried += 1
            plumbd.log.unlink(missing_ok=True)
            plumbd.spawn()
            line = plumbd.process.stdout.readline()
            if not line:
                assert plumbd.wait() == 1, f"{name} at {at}"
                assert str(plumbd.store) in plumbd.messages()
                continue
            plumbd.http = re.search(r" http=(\S+)", line).group(1)
            try:
                status, body = plumbd.fetch("/api/v1/export")
            except http.client.IncompleteRead:  # an export that lacks something ends without its last chunk
                status, body = 200, b"error"
                assert plumbd.stored()["unreadable"], f"{name} at {at}: cut off, and nobody said why"
            assert plumbd.process.poll() is None
            if status == 200 and b"error" not in body[-200:]:
                assert len(body.splitlines()) == 15_000, f"{name} at {at}: spans are missing and nobody said so"
            assert plumbd.fetch("/healthz")[0] == 200
            assert plumbd.stop() in (0, 1)
    assert tried >= 6
