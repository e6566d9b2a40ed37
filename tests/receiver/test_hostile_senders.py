"""One peer that takes all it can get of the span port, and a good one beside it, which is always served. Peers are told
apart by their address: all of 127.0.0.0/8 is this machine."""

import contextlib
import resource
import struct

import pytest

from tests.receiver.sender import OK, Sender, span, submit_frame
from tests.receiver.waiting import wait_for

HOSTILE, GOOD, OTHER = "127.0.0.66", "127.0.0.1", "127.0.0.2"
MIB = 2**20


@contextlib.contextmanager
def hostile_connections(plumbd, n, first_bytes=b"", source=HOSTILE):
    """So many connections, of which each has sent this much and then nothing more."""
    with contextlib.ExitStack() as stack:
        senders = [stack.enter_context(Sender(plumbd, source=source)) for _ in range(n)]
        for sender in senders:
            with contextlib.suppress(ConnectionError):  # refused, or cut off while it was writing
                sender.write(first_bytes)
        yield senders


def refused_connections(plumbd):
    return plumbd.receiver()["refused_connections"]


def large_batch(trace):
    """Larger than what is read at once: the memory for unfinished frames is needed."""
    return [span(trace, k, annotations=[(0, "v" * 60_000)]) for k in range(1, 11)]


def test_idle_connections_give_way(make_plumbd):
    plumbd = make_plumbd(listen__max_connections="64").start()
    with hostile_connections(plumbd, 64):
        wait_for(lambda: plumbd.receiver()["connections"] == 64)
        for n in range(1, 31):
            with Sender(plumbd, source=GOOD) as sender:
                assert sender.submit([span(n, 1)]).status == OK
        counts = refused_connections(plumbd)
        assert set(counts) == {"gave way to another peer"} and 1 <= counts["gave way to another peer"] <= 30
        assert plumbd.metrics()["plumbd_connections"] <= 64


def test_many_connections_of_a_good_peer_have_room(make_plumbd):
    """It may have as many as the other, which gives way one after the other, those idle for longest first."""
    plumbd = make_plumbd(listen__max_connections="20").start()
    with hostile_connections(plumbd, 20) as hostile, contextlib.ExitStack() as stack:
        good = [stack.enter_context(Sender(plumbd, source=GOOD)) for _ in range(10)]
        for n, sender in enumerate(good, 1):
            assert sender.submit([span(n, 1)]).status == OK
        for sender in hostile[:10]:
            assert sender.closed_by_peer()
        assert hostile[-1].submit([span(99, 1)]).status == OK
        assert Sender(plumbd, source=HOSTILE).closed_by_peer()
        assert Sender(plumbd, source=GOOD).closed_by_peer()
        assert refused_connections(plumbd) == {"gave way to another peer": 10, "too many connections": 2}


def test_unfinished_frames_leave_memory_for_others(make_plumbd):
    plumbd = make_plumbd(listen__buffer_limit="16M").start()
    part = struct.pack(">I", 30 * MIB) + b"\x80\x01" + b"\0" * MIB
    with hostile_connections(plumbd, 50, part), Sender(plumbd, source=GOOD) as sender:
        wait_for(lambda: refused_connections(plumbd).get("buffers full", 0) > 30)
        for n in range(1, 51):
            assert sender.submit(large_batch(n)).status == OK
        assert plumbd.metrics()["plumbd_buffered_bytes"] <= 16 * MIB
    plumbd.flush()
    assert plumbd.stored()["spans"] == 500


def test_slow_frames_give_way_when_others_need_memory(make_plumbd):
    """Those of a peer that has more than its share, long before listen.frame-timeout; those of others stay."""
    plumbd = make_plumbd(listen__buffer_limit="16M", listen__frame_timeout="1h").start()
    part = struct.pack(">I", 30 * MIB) + b"\x80\x01" + b"\0" * 120_000
    frame = submit_frame(large_batch(1) * 3)
    with hostile_connections(plumbd, 150, part), Sender(plumbd, source=OTHER) as slow:
        wait_for(lambda: refused_connections(plumbd).get("buffers full", 0) > 0)
        slow.write(frame[:-1])
        wait_for(lambda: refused_connections(plumbd).get("gave way to another peer", 0) > 0)
        slow.write(frame[-1:])
        assert slow.read_reply().status == OK


@pytest.mark.parametrize("files", [16, 64, 255])
def test_too_few_files_are_said_at_the_start(make_plumbd, files):
    plumbd = make_plumbd().spawn(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
    assert plumbd.wait() == 1
    assert f"only {files} files may be open" in plumbd.messages()
    assert "ulimit -n" in plumbd.messages() and "LimitNOFILE" in plumbd.messages()


@pytest.mark.parametrize("files", [256, 400])
def test_few_files_are_enough_for_a_start(make_plumbd, files):
    """And connections cannot use up what the store needs."""
    plumbd = make_plumbd().start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
    assert "raise `ulimit -n`" in plumbd.messages()
    with hostile_connections(plumbd, 2 * files), Sender(plumbd, source=GOOD) as sender:
        for n in range(1, 21):
            assert sender.deliver([span(n, 1)]).status == OK
            plumbd.flush()
        assert plumbd.stored()["spans"] == 20
    assert plumbd.stop() == 0
