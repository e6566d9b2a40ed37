"""What peers can do wrong on the span port: each is refused and counted, and harms nobody else."""

import os
import socket
import struct
import threading

import pytest

from tests.receiver.sender import (
    LIST,
    OK,
    REFUSED,
    STRING,
    STRINGS,
    STRUCT,
    VERSION,
    Sender,
    batch,
    field,
    framed,
    message,
    plain_span,
    span,
    submit_frame,
    text,
)
from tests.receiver.waiting import wait_for

BEGIN = 1_700_000_000_000_000_000


def still_works(plumbd, trace=0xFEED):
    with Sender(plumbd) as sender:
        reply = sender.deliver([span(trace, 1)])
        assert (reply.status, reply.accepted) == (OK, 1)


def reason(name, label):
    return f'plumbd_{name}_total{{reason="{label}"}}'


def resident_bytes(plumbd):
    with open(f"/proc/{plumbd.process.pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


GARBAGE = {
    "text": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "garbage"),
    "2 GB": (struct.pack(">I", 2**31 - 1) + b"\x80\x01", "too large"),
    "4 GB": (struct.pack(">I", 2**32 - 1) + b"\x80\x01", "too large"),
    "over the limit": (struct.pack(">I", 32 * 2**20 + 1) + b"\x80\x01", "too large"),
    "zero length": (b"\0\0\0\0\0\0\0\0", "garbage"),
    "no Thrift": (struct.pack(">I", 100) + b"\x01" * 100, "garbage"),
    "header cut by its own frame": (struct.pack(">I", 6) + b"\x80\x01\x00\x01\x00\x00", "garbage"),
    "method longer than the frame": (framed(b"\x80\x01\x00\x01" + struct.pack(">i", 1 << 30) + b"submit"), "garbage"),
}


@pytest.mark.parametrize("data, label", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_closes_that_connection_only(plumbd, data, label):
    with Sender(plumbd) as good:
        assert good.submit([span(1, 1)]).status == OK
        before = resident_bytes(plumbd)
        with Sender(plumbd) as bad:
            bad.write(data)
            assert bad.closed_by_peer()
        assert good.submit([span(1, 2)]).status == OK
        assert resident_bytes(plumbd) - before < 8 * 2**20
    assert plumbd.metrics()[reason("frames_rejected", label)] == 1


def test_random_bytes(plumbd):
    """Whatever comes, plumbd goes on."""
    for _ in range(200):
        with Sender(plumbd) as bad:
            size = int.from_bytes(os.urandom(1), "big") + 1
            payload = bytes([0x80, 0x01, 0x00, 0x01]) + os.urandom(size)
            bad.write(framed(payload) + os.urandom(size))
            bad.socket.shutdown(socket.SHUT_WR)
            bad.closed_by_peer()
    still_works(plumbd)


def test_flipped_bytes_of_a_good_frame(plumbd):
    good = submit_frame([span(5, n, annotations=[(0, "v")]) for n in range(1, 20)])
    for at in range(4, len(good), 7):
        with Sender(plumbd) as bad:
            bad.write(good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1 :])
            bad.socket.shutdown(socket.SHUT_WR)
            bad.closed_by_peer()
    still_works(plumbd)


def test_frame_cut_by_a_dying_sender(plumbd):
    whole = submit_frame([span(9, n) for n in range(1, 101)])
    for size in (1, 3, 4, 5, 40, len(whole) - 1):
        with Sender(plumbd) as sender:
            sender.write(whole[:size])
    still_works(plumbd)
    plumbd.flush()
    assert plumbd.stored()["spans"] == 1
    wait_for(
        lambda: plumbd.receiver()["rejected_frames"].get("cut") == 6
    )  # each thread sees the ends of its own connections


def test_frame_in_single_bytes_arrives(plumbd):
    with Sender(plumbd) as sender:
        for byte in submit_frame([span(3, 1), span(3, 2, parent=1)]):
            sender.write(bytes([byte]))
        assert sender.read_reply().accepted == 2


def test_slow_peer_is_cut_off_and_harms_nobody(make_plumbd):
    plumbd = make_plumbd(listen__frame_timeout="300ms").start()
    stop = threading.Event()
    slow = Sender(plumbd)
    data = submit_frame([span(3, n) for n in range(1, 1000)])

    def trickle():
        try:
            for byte in data:
                if stop.wait(0.01):
                    return
                slow.write(bytes([byte]))
        except OSError:
            pass

    thread = threading.Thread(target=trickle)
    thread.start()
    with Sender(plumbd) as good:
        for n in range(1, 50):
            assert good.submit([span(4, n)]).status == OK
        assert slow.closed_by_peer()
        stop.set()
        thread.join()
        assert good.submit([span(4, 50)]).status == OK
    assert plumbd.receiver()["refused_connections"] == {"frame took too long": 1}


def test_idle_connection_is_closed(make_plumbd):
    plumbd = make_plumbd(listen__idle_timeout="1s").start()
    with Sender(plumbd) as sender:
        assert sender.submit([span(1, 1)]).status == OK
        assert sender.closed_by_peer()
    assert plumbd.receiver()["refused_connections"] == {"idle": 1}


def test_peer_that_reads_no_replies(make_plumbd):
    plumbd = make_plumbd(listen__frame_timeout="500ms").start()
    with Sender(plumbd) as bad:
        bad.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ping = framed(message("noSuchMethod" * 4, b"\0"))
        try:
            while True:
                bad.write(ping * 1000)
        except OSError:
            pass  # closed, as it must be: the loop ends no other way
    assert plumbd.receiver()["refused_connections"] == {"replies not read": 1}
    still_works(plumbd)


def test_too_many_connections(make_plumbd):
    plumbd = make_plumbd(listen__max_connections="20").start()
    with Sender(plumbd) as first:
        assert first.submit([span(1, 1)]).status == OK
        others = [Sender(plumbd) for _ in range(100)]
        refused = 0
        for other in others:
            try:
                other.submit([span(2, 1)])
            except ConnectionError:
                refused += 1
        assert refused == 81
        assert first.submit([span(1, 2)]).status == OK
        receiver = plumbd.receiver()
        assert receiver["refused_connections"] == {"too many connections": 81}
        assert receiver["connections"] == 20
        for other in others:
            other.socket.close()
        # Room again, as soon as plumbd has seen the ends.
        while plumbd.receiver()["connections"] > 1:
            pass
        still_works(plumbd)


def test_out_of_file_descriptors(make_plumbd):
    import resource

    plumbd = make_plumbd(listen__max_connections="100000")
    plumbd.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))
    assert "at most 124 connections" in plumbd.messages()
    others = [Sender(plumbd) for _ in range(200)]
    assert sum(1 for other in others[124:] if other.closed_by_peer()) == 76
    assert others[0].submit([span(1, 1)]).status == OK
    plumbd.flush()
    assert plumbd.stored()["spans"] == 1
    for other in others:
        other.socket.close()


def test_buffers_of_all_connections_are_bounded(make_plumbd):
    plumbd = make_plumbd(listen__buffer_limit="4M").start()
    part = struct.pack(">I", 2 * 2**20) + b"\x80\x01" + b"\0" * 2**20
    senders = [Sender(plumbd) for _ in range(8)]
    for sender in senders:
        try:
            sender.write(part)
        except ConnectionError:
            pass  # cut off while it was writing
    while plumbd.receiver()["refused_connections"].get("buffers full", 0) == 0:
        pass
    assert plumbd.metrics()["plumbd_buffered_bytes"] <= 4 * 2**20
    still_works(plumbd)
    for sender in senders:
        sender.socket.close()


ODD_SPANS = {
    "zero id": (span(0, 0), "zero id"),
    "begin far away": (span(7, 1, begin=2**63 - 1), "time out of range"),
    "duration far away": (span(7, 1, duration=-(2**63)), "time out of range"),
}


@pytest.mark.parametrize("odd, label", ODD_SPANS.values(), ids=ODD_SPANS.keys())
def test_spans_are_refused_one_by_one(plumbd, odd, label):
    with Sender(plumbd) as sender:
        reply = sender.submit([span(7, 100), odd, span(7, 101)])
    assert (reply.status, reply.accepted, reply.refused) == (OK, 2, 1)
    assert label in reply.message
    plumbd.flush()
    assert plumbd.stored()["spans"] == 2
    assert plumbd.receiver()["refused"] == {label: 1}
    assert plumbd.metrics()[reason("spans_refused", label)] == 1


OVERSIZED = {
    "name": ([span(7, 1)], ("n" * 1025, "Client/h")),
    "value": ([span(7, 1, annotations=[(0, "v" * 65537)])], STRINGS),
    "note": ([span(7, 1, notes=[(BEGIN, "m" * 65537)])], STRINGS),
    "parents": ([span(7, 1, parents=[(7, n) for n in range(2, 4099)])], STRINGS),
    "annotations": ([span(7, 1, annotations=[(0, "v")] * 4097)], STRINGS),
    "spans": ([span(7, 1)] * 200_001, STRINGS),
}


@pytest.mark.parametrize("spans, strings", OVERSIZED.values(), ids=OVERSIZED.keys())
def test_what_no_sender_should_send_is_refused_whole(plumbd, spans, strings):
    with Sender(plumbd) as sender:
        reply = sender.submit(spans, strings=strings)
        assert reply.status == REFUSED
        assert reply.message
        assert sender.submit([span(2, 1)]).status == OK
    assert plumbd.receiver()["rejected_frames"] == {"over a limit": 1}


BAD_BATCHES = {
    "bytes left over": field(STRUCT, 1, batch([span(1, 1)])) + b"\0extra",
    "bytes missing": field(STRUCT, 1, batch([span(1, 1)]))[:-9],
    "name outside the table": field(STRUCT, 1, batch([span(1, 1, name=2)])) + b"\0",
    "negative index": field(STRUCT, 1, batch([span(1, 1, name=-1)])) + b"\0",
    "not UTF-8": field(STRUCT, 1, batch([span(1, 1)], strings=(b"\xff\xfe", "t"))) + b"\0",
    "value not UTF-8": field(STRUCT, 1, batch([span(1, 1, annotations=[(0, b"\xc0\xaf")])])) + b"\0",
    "zero byte in a name": field(STRUCT, 1, batch([span(1, 1)], strings=(b"a\0b", "t"))) + b"\0",
    "more spans than bytes": field(STRUCT, 1, field(LIST, 4, struct.pack(">bi", STRUCT, 2**31 - 1)) + b"\0") + b"\0",
    "negative count": field(STRUCT, 1, field(LIST, 4, struct.pack(">bi", STRUCT, -5)) + b"\0") + b"\0",
    "endless nesting": field(STRUCT, 1, field(STRUCT, 77, field(STRUCT, 1, b"") * 1000) + b"\0") + b"\0",
}


@pytest.mark.parametrize("arguments", BAD_BATCHES.values(), ids=BAD_BATCHES.keys())
def test_malformed_batch_is_refused_whole(plumbd, arguments):
    with Sender(plumbd) as sender:
        reply = sender.call("submit", arguments)
        assert reply.status == REFUSED, reply.exception
        assert reply.message
        assert sender.submit([span(2, 1)]).status == OK  # the connection goes on
    plumbd.flush()
    assert plumbd.stored()["spans"] == 1
    assert sum(plumbd.receiver()["rejected_frames"].values()) == 1


def test_batch_of_a_newer_sender(plumbd):
    with Sender(plumbd) as sender:
        reply = sender.submit([span(2, 1)], version=9, needs=4)
        assert (reply.status, reply.version) == (VERSION, 3)
        # Newer, but understood by us: taken.
        assert sender.submit([span(2, 1)], version=9, needs=1).status == OK
        # A field that we do not know is skipped.
        newer = field(STRUCT, 1, field(STRING, 99, text("new")) + batch([span(2, 2)])) + b"\0"
        assert sender.call("submit", newer).accepted == 1
    assert plumbd.receiver()["rejected_frames"] == {"needs a newer receiver": 1}


def test_unknown_method_is_an_exception(plumbd):
    with Sender(plumbd) as sender:
        assert "frobnicate" in sender.call("frobnicate", b"\0").exception
        assert sender.submit([span(2, 1)]).status == OK


def test_plain_spans(plumbd):
    with Sender(plumbd) as sender:
        reply = sender.submit_plain(
            [
                plain_span("0" * 15 + "a" + "0" * 15 + "1", "root"),
                plain_span("0" * 15 + "a" + "0" * 15 + "2", "child", parents=["0" * 15 + "a" + "0" * 15 + "1"]),
            ]
        )
        assert (reply.status, reply.accepted) == (OK, 2)
        assert sender.submit_plain([plain_span("xyz", "bad id")]).status in (OK, REFUSED)
    plumbd.flush()
    assert {s["d"] for s in plumbd.export()} == {"root", "child"}


def test_what_senders_dropped_is_seen(plumbd):
    with Sender(plumbd) as sender:
        sender.submit([span(2, 1)], sender=("DataNode/h/1@5", 1, 10, 3, {"queue full": 7}))
        sender.submit([span(2, 2)], sender=("DataNode/h/1@5", 2, 11, 0, {"queue full": 9, "no receiver": 1}))
    (seen,) = plumbd.receiver()["senders"]
    assert (seen["sender"], seen["spans_sent"], seen["spans_queued"]) == ("DataNode/h/1@5", 11, 0)
    assert seen["drops"] == {"queue full": 9, "no receiver": 1}
    assert plumbd.metrics()['plumbd_sender_dropped_spans{sender="DataNode/h/1@5",reason="queue full"}'] == 9


def test_senders_are_bounded(plumbd):
    with Sender(plumbd) as sender:
        for n in range(1100):
            sender.submit([span(2, n + 1)], sender=(f"s{n}", 1, 1, 0, {"r" * 300: 1}))
    senders = plumbd.receiver()["senders"]
    assert len(senders) == 1024
    assert all(len(r) == 255 for s in senders for r in s["drops"])


def test_begin_after_end_is_kept_and_flagged(plumbd):
    with Sender(plumbd) as sender:
        assert sender.submit([span(0x33, 1, duration=-5000)]).accepted == 1
    plumbd.flush()
    (shown,) = plumbd.ask("trace?id=0000000000000033")["spans"]
    assert "reversed" in shown["flags"]


def test_hundred_thousand_levels(plumbd):
    with Sender(plumbd) as sender:
        spans = [span(0x44, n, parent=n - 1 if n > 1 else None, duration=200_000 - n) for n in range(1, 100_001)]
        for at in range(0, len(spans), 20_000):
            assert sender.deliver(spans[at : at + 20_000]).status == OK
    plumbd.flush()
    stored = plumbd.stored()
    assert (stored["traces"], stored["spans"], stored["incomplete_traces"]) == (1, 100_000, 0)
    assert plumbd.ask("verify")["differences"] == 0


def test_million_children(make_plumbd):
    plumbd = make_plumbd(trace__max_spans="2000000", memory__limit="1G").start()
    with Sender(plumbd) as sender:
        prefix, suffix = span(0x55, 2, parent=1)[:14], span(0x55, 2, parent=1)[22:]
        sender.deliver([span(0x55, 1, duration=10**9)])
        for at in range(2, 1_000_002, 100_000):
            children = [prefix + struct.pack(">q", n) + suffix for n in range(at, at + 100_000)]
            assert sender.deliver(children).status == OK
    plumbd.flush()
    stored = plumbd.stored()
    assert (stored["traces"], stored["spans"]) == (1, 1_000_001)


def test_cycle_and_self_parent(plumbd):
    with Sender(plumbd) as sender:
        assert sender.submit([span(0x66, 1, parent=2), span(0x66, 2, parent=1), span(0x67, 1, parent=1)]).accepted == 3
    plumbd.flush()
    assert plumbd.stored()["spans"] == 3
    assert plumbd.ask("verify")["differences"] == 0


def test_empty_batch(plumbd):
    with Sender(plumbd) as sender:
        reply = sender.submit([])
        assert (reply.status, reply.accepted, reply.refused) == (OK, 0, 0)
        assert sender.call("submit", b"\0").status in (OK, REFUSED)
