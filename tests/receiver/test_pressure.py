"""Memory and disk at their ends: senders wait, nothing acknowledged is lost, and all goes on by itself afterwards."""

import os
import re
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.receiver import waiting
from tests.receiver.sender import OK, TRY_LATER, Sender, span, submit_frame

BEGIN = 1_700_000_000_000_000_000
MIB = 2**20


def wait_for(condition):
    """Disks that fill up take longer."""
    waiting.wait_for(condition, seconds=120)


def trace_spans(trace, n, value=""):
    """Each value is another: what spans repeat takes hardly any memory."""
    values = [{"annotations": [(0, f"{k} {value}")]} if value else {} for k in range(1, n + 1)]
    return [span(trace, k, parent=None if k == 1 else 1, **values[k - 1]) for k in range(1, n + 1)]


@pytest.fixture
def small_disk(tmp_path):
    """make(name, size): a file system of its own, so that it can be full."""
    mounted = []

    def make(name, size):
        folder = tmp_path / name
        folder.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, text=True
        )
        if done.returncode != 0:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield make
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder):
    """Takes all space; removing the file that it returns gives it back."""
    ballast = folder / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * MIB)
        except OSError:
            pass
        try:
            while True:
                file.write(b"\0" * 512)
        except OSError:
            pass
    return ballast


def make_names_known(plumbd):
    """Ten stored traces: the dictionary knows the names now. How many spans that were."""
    with Sender(plumbd) as sender:
        accepted = sum(sender.submit(trace_spans(trace, 20)).accepted for trace in range(1, 11))
    plumbd.flush()
    return accepted


def noise(trace):
    """Text that does not compress."""
    return os.urandom(400).hex() + str(trace)


def send_until(plumbd, status, first=1, most=20_000):
    """Sends traces of 20 spans until a reply has this status; how many were acknowledged."""
    acknowledged = 0
    with Sender(plumbd) as sender:
        for trace in range(first, first + most):
            reply = sender.submit(trace_spans(trace, 20, noise(trace)))
            if reply.status == status:
                return acknowledged, reply
            assert reply.status in (OK, TRY_LATER)
            acknowledged += reply.accepted
    raise AssertionError(f"no reply {status} in {most} batches")


def test_open_traces_are_bounded(make_plumbd):
    """Large ones go on on the disk: nothing has to be stored before it is complete."""
    plumbd = make_plumbd(memory__limit="8M", trace__idle="1h", trace__max_age="1h", receiver__shards="2").start()
    spans = 0
    with Sender(plumbd) as sender:
        for trace in range(1, 401):
            spans += sender.deliver(trace_spans(trace, 100, "v" * 500)).accepted
            # What waits in mailboxes and in the group that is being written comes on top.
            assert plumbd.metrics()["plumbd_open_bytes"] < 32 * MIB
    metrics, receiver = plumbd.metrics(), plumbd.receiver()
    assert metrics["plumbd_open_spilled_bytes"] > 10 * MIB
    # A MiB for each shard on top, for what is being filled and what is kept free.
    beside = 2 * MIB
    assert 0 <= metrics["plumbd_open_spill_file_bytes"] - metrics["plumbd_open_spilled_bytes"] <= beside
    assert receiver["open_spilled_spans"] == metrics["plumbd_open_spilled_spans"] > 20_000
    assert (receiver["open_traces"], receiver["closed_early"]) == (400, 0)
    plumbd.flush()
    assert plumbd.stored()["spans"] == spans == 40_000
    metrics = plumbd.metrics()
    assert metrics["plumbd_open_spilled_bytes"] == 0
    assert metrics["plumbd_open_spill_file_bytes"] <= beside
    assert plumbd.ask("verify")["differences"] == 0


def test_early_closed_traces_are_whole_in_the_end(make_plumbd):
    """Of small ones the coldest are stored early; what comes for them later joins."""
    plumbd = make_plumbd(memory__limit="4M", trace__idle="1h", trace__max_age="1h").start()
    with Sender(plumbd) as sender:
        for first in (1, 6, 11):
            for begin in range(1, 12_001, 200):
                spans = [
                    span(trace, k, parent=None if k == 1 else 1)
                    for trace in range(begin, begin + 200)
                    for k in range(first, first + 5)
                ]
                assert sender.deliver(spans).accepted == 1000
    receiver = plumbd.receiver()
    assert receiver["closed_traces"]["memory"] > 0
    assert receiver["closed_early"] == receiver["closed_traces"]["memory"]
    plumbd.flush()
    stored = plumbd.stored()
    assert (stored["traces"], stored["spans"], stored["incomplete_traces"]) == (12_000, 180_000, 0)
    assert plumbd.ask("verify")["differences"] == 0


def test_large_traces_wait_under_load(make_plumbd):
    """What is joined late costs as much as the trace is large, so those wait while many spans come, and no longer."""
    plumbd = make_plumbd(trace__idle="2s", trace__max_age="1h", trace__max_spans="4000000").start()
    # Rootless, so that nothing of it closes; a twentieth of a second of the load, again and again.
    busy = submit_frame([span(trace, k, parent=1) for trace in range(1000, 1200) for k in range(2, 102)])

    def large_wait():
        return plumbd.metrics()["plumbd_large_trace_wait_seconds"]

    def closed():
        return plumbd.receiver()["closed_traces"].get("idle", 0)

    with Sender(plumbd) as sender:

        def load_until(condition):
            def send():
                sender.write(busy)
                sender.read_reply()
                return condition()

            wait_for(send)

        assert large_wait() == 2
        load_until(lambda: large_wait() >= 8)
        assert sender.deliver(trace_spans(1, 1000)).accepted == 1000
        assert sender.deliver(trace_spans(2, 999)).accepted == 999
        load_until(lambda: closed() > 0)
        assert (closed(), plumbd.metrics()["plumbd_open_large_traces"]) == (1, 1)
        wait_for(lambda: closed() == 2)
        wait_for(lambda: large_wait() == 2)
        assert sender.deliver(trace_spans(3, 1000)).accepted == 1000
        wait_for(lambda: closed() == 3)
    assert plumbd.metrics()["plumbd_open_large_traces"] == 0


def peak_mib(plumbd):
    status = Path(f"/proc/{plumbd.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) / 1024


def test_one_trace_does_not_fill_the_memory(make_plumbd):
    """180 MB in one trace, of few spans: taken in, killed and replayed, joined and asked for, a part at a time."""
    plumbd = make_plumbd(memory__limit="64M", trace__idle="1h", journal__segment="8M").start()
    n, at_once = 6000, 200
    with Sender(plumbd) as sender:
        for first in range(1, n, at_once):
            spans = [
                span(1, k, parent=None if k == 1 else 1, annotations=[(0, str(k) * 6000)])
                for k in range(first, first + at_once)
            ]
            assert sender.deliver(spans).accepted == at_once
    assert plumbd.receiver()["closed_traces"]["max-spans"] > 10
    assert peak_mib(plumbd) < 200
    plumbd.kill()
    plumbd.start()
    wait_for(lambda: "recovering" not in plumbd.receiver())
    assert peak_mib(plumbd) < 200
    plumbd.flush()
    assert plumbd.stored()["spans"] == n
    whole, parts, seen = {"parts": 2}, 0, 0
    while parts < whole["parts"]:
        whole = plumbd.ask(f"trace?id=0000000000000001&limit=10&part={parts + 1}")
        parts, seen = parts + whole["parts_shown"], seen + whole["spans_total"]
    assert (parts > 10, seen) == (True, n)
    status, why = plumbd.fetch("/api/v1/trace?id=0000000000000001&limit=0")
    assert status == 200 or (status == 400 and b"a lower limit" in why)
    assert peak_mib(plumbd) < 250


def test_small_disk_bounds_the_journal(make_plumbd, small_disk):
    """It takes no room for which traces would be thinned out, whatever journal.limit says."""
    disk = small_disk("both", "300m")
    plumbd = make_plumbd(
        store__path=disk / "store",
        journal__path=disk / "journal",
        store__write_buffer="1M",
        store__thin_free="100M",
        store__min_free="20M",
        journal__segment="1M",
        trace__idle="1h",
    ).start()
    limit = plumbd.metrics()["plumbd_journal_limit_bytes"]
    assert 20 * MIB < limit < 50 * MIB
    with Sender(plumbd) as sender:
        for trace in range(1, 41):
            assert sender.deliver(trace_spans(trace, 500, "x" * 4000)).accepted == 500
        metrics = plumbd.metrics()
        assert metrics["plumbd_space_thinning"] == 0
        wait_for(lambda: plumbd.metrics()["plumbd_journal_bytes"] <= plumbd.metrics()["plumbd_journal_limit_bytes"])
        # Others fill the disk: the journal may have less, but never nothing.
        (disk / "other").write_bytes(bytes(100 * MIB))
        wait_for(lambda: plumbd.metrics()["plumbd_journal_limit_bytes"] < limit / 2)
        assert plumbd.metrics()["plumbd_journal_limit_bytes"] >= 4 * MIB
        (disk / "other").unlink()
        wait_for(lambda: plumbd.metrics()["plumbd_journal_limit_bytes"] > limit / 2)
    plumbd.flush()
    assert plumbd.stored()["spans"] == 40 * 500


def test_full_queues_hold_senders_back(make_plumbd):
    """Senders faster than the store: memory stays bounded, nothing is lost."""
    plumbd = make_plumbd(
        receiver__queue_limit="64K", receiver__shards="1", memory__limit="4M", trace__idle="10ms"
    ).start()
    accepted = []

    def send(number):
        with Sender(plumbd) as sender:
            for n in range(100):
                accepted.append(sender.deliver(trace_spans(number << 32 | n, 200, "v" * 200)).accepted)

    threads = [threading.Thread(target=send, args=(n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    peak = 0
    while any(thread.is_alive() for thread in threads):
        metrics = plumbd.metrics()
        peak = max(peak, metrics["plumbd_queued_bytes"] + metrics["plumbd_open_bytes"])
    for thread in threads:
        thread.join()
    assert peak < 40 * MIB
    assert sum(accepted) == 80_000
    plumbd.flush()
    assert plumbd.stored()["spans"] == 80_000


def test_store_without_space(make_plumbd, small_disk):
    """The disk fills up while plumbd writes; later somebody makes room."""
    disk = small_disk("small", "96M")
    plumbd = make_plumbd(store__path=disk / "store", trace__idle="10ms", store__write_buffer="1M").start()
    before = make_names_known(plumbd)
    ballast = fill(disk)
    acknowledged, reply = send_until(plumbd, TRY_LATER, first=1000)
    assert reply.wait_ms > 0 and reply.message
    wait_for(lambda: plumbd.fetch("/readyz")[0] == 503)
    status, why = plumbd.fetch("/readyz")
    assert b"space" in why or b"store" in why
    assert plumbd.fetch("/healthz")[0] == 200
    assert plumbd.receiver()["ready"] is False
    assert plumbd.fetch("/api/v1/flush", "POST")[0] == 503
    ballast.unlink()
    wait_for(lambda: plumbd.fetch("/readyz")[0] == 200)
    with Sender(plumbd) as sender:
        assert sender.deliver(trace_spans(1, 30)).accepted == 30  # 20 of them again
    plumbd.flush()
    assert plumbd.stored()["spans"] == before + acknowledged + 10
    assert plumbd.ask("verify")["differences"] == 0
    assert plumbd.stop() == 0
    plumbd.start()
    assert plumbd.stored()["spans"] == before + acknowledged + 10


def test_killed_while_the_store_has_no_space(make_plumbd, small_disk):
    disk = small_disk("small", "96M")
    plumbd = make_plumbd(store__path=disk / "store", trace__idle="10ms", store__write_buffer="1M").start()
    before = make_names_known(plumbd)
    ballast = fill(disk)
    acknowledged, _ = send_until(plumbd, TRY_LATER, first=1000)
    assert acknowledged > 0
    plumbd.kill()
    ballast.unlink()
    plumbd.start()
    plumbd.flush()
    assert plumbd.stored()["spans"] == before + acknowledged
    assert plumbd.ask("verify")["differences"] == 0


def test_stopped_while_the_store_has_no_space(make_plumbd, small_disk):
    """The stop gives up after stop.timeout, says so, and the journal keeps what was acknowledged."""
    disk = small_disk("small", "96M")
    plumbd = make_plumbd(
        store__path=disk / "store", trace__idle="10ms", store__write_buffer="1M", stop__timeout="300ms"
    ).start()
    before = make_names_known(plumbd)
    ballast = fill(disk)
    acknowledged, _ = send_until(plumbd, TRY_LATER, first=1000)
    assert acknowledged > 0
    assert plumbd.stop() == 1
    assert "journal" in plumbd.messages().splitlines()[-1]
    assert list(plumbd.journal.glob("*.journal"))
    ballast.unlink()
    plumbd.start()
    plumbd.flush()
    assert plumbd.stored()["spans"] == before + acknowledged


def test_new_names_without_space(make_plumbd, small_disk):
    """A batch whose names cannot be written to the dictionary is not taken."""
    disk = small_disk("small", "96M")
    plumbd = make_plumbd(store__path=disk / "store", trace__idle="1h", store__write_buffer="1M").start()
    before = make_names_known(plumbd)
    ballast = fill(disk)
    with Sender(plumbd) as sender:
        accepted, number = 0, 0
        while (
            reply := sender.submit([span(0x5555, number + 1)], strings=(f"name {number} " + "n" * 900, "Client/h"))
        ).status == OK:
            accepted, number = accepted + 1, number + 1
            assert number < 100_000
        assert (reply.status, reply.accepted) == (TRY_LATER, 0)
        ballast.unlink()
        assert sender.deliver([span(0x5555, number + 1)], strings=("another name", "Client/h")).accepted == 1
    plumbd.flush()
    assert plumbd.stored()["spans"] == before + accepted + 1


def test_journal_without_space(make_plumbd, small_disk):
    disk = small_disk("small", "8M")
    plumbd = make_plumbd(journal__path=disk / "journal", trace__idle="1h", store__min_free="0").start()
    ballast = fill(disk)
    acknowledged, reply = send_until(plumbd, TRY_LATER)
    assert "journal" in reply.message
    status, why = plumbd.fetch("/readyz")
    assert status == 503 and b"journal" in why
    ballast.unlink()
    wait_for(lambda: plumbd.fetch("/readyz")[0] == 200)
    with Sender(plumbd) as sender:
        acknowledged += sender.submit(trace_spans(99999, 20)).accepted
    # What was not acknowledged is in neither; what was survives a crash.
    plumbd.kill()
    plumbd.start()
    plumbd.flush()
    assert plumbd.stored()["spans"] == acknowledged
    assert plumbd.receiver()["journal_damages"] == 0


def test_min_free(make_plumbd, small_disk):
    disk = small_disk("small", "64M")
    plumbd = make_plumbd(store__path=disk / "store", store__min_free="20M", store__write_buffer="1M").start()
    with Sender(plumbd) as sender:
        assert sender.submit(trace_spans(1, 10)).status == OK
    ballast = disk / "ballast"
    ballast.write_bytes(b"\0" * (45 * MIB))
    wait_for(lambda: plumbd.fetch("/readyz")[0] == 503)
    status, why = plumbd.fetch("/readyz")
    assert b"store.min-free" in why and str(disk).encode() in why
    with Sender(plumbd) as sender:
        reply = sender.submit(trace_spans(2, 10))
        assert (reply.status, reply.accepted) == (TRY_LATER, 0)
        assert "store.min-free" in reply.message
        assert reply.wait_ms >= 100
    plumbd.flush()  # what is there can still be stored and asked for
    assert plumbd.stored()["spans"] == 10
    ballast.unlink()
    wait_for(lambda: plumbd.fetch("/readyz")[0] == 200)
    with Sender(plumbd) as sender:
        assert sender.submit(trace_spans(2, 10)).status == OK


def test_sender_that_does_not_wait_is_slowed_down(make_plumbd):
    plumbd = make_plumbd(store__min_free="1000G").start()
    begun = time.monotonic()
    with Sender(plumbd) as sender:
        for _ in range(5):
            assert sender.submit(trace_spans(1, 10)).status == TRY_LATER
    assert time.monotonic() - begun > 1  # four pauses of half a second lie between
    assert plumbd.receiver()["try_later"] == 5
