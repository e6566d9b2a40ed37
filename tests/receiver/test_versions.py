"""Senders of every version of the wire, beside each other: the same spans come out of what each of them says."""

import struct

from tests.receiver.sender import OK, Sender, span

BEGIN = 1_700_000_000_000_000_000
BITS = 64
MASK = 2**BITS - 1


def id_at(place):
    """As idl/plumb.thrift has it."""
    z = place * 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def signed(number):
    return varint(number << 1 if number >= 0 else -number * 2 - 1)


def varint(number):
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(data) + bytes([number])


# Three spans: a call, what it calls, and what that calls; they end in the other order. Places of trace and spans:
TRACE, CALL, INNER, INNERMOST = 100, 101, 102, 103
EXPECTED = {(CALL, None), (INNER, CALL), (INNERMOST, INNER)}

HEAD = b"\3\2\0\1"  # three spans, both strings
SHAPE = b"\1\1\2\0"  # the first one; function and process, no annotations
TIMES = signed(0) + signed(1000)


def whole(place):
    return struct.pack("<Q", id_at(place))


def structs():
    return [span(id_at(TRACE), id_at(own), parent=id_at(parent) if parent else None) for own, parent in EXPECTED]


def pack_of_version_2():
    return (
        HEAD
        + SHAPE
        + b"\4"
        + whole(TRACE)
        + whole(INNERMOST)
        + whole(INNER)
        + signed(BEGIN)
        + signed(1000)
        + b"\1\5"
        + whole(INNER)
        + whole(CALL)
        + TIMES
        + b"\1\1"
        + whole(CALL)
        + TIMES
    )


def pack_of_version_3():
    return (
        HEAD
        + SHAPE
        + b"\x06"
        + whole(TRACE)
        + whole(INNERMOST)
        + signed(-1)
        + signed(BEGIN)
        + signed(1000)
        + b"\1\x27"
        + signed(-1)
        + signed(-1)
        + TIMES
        + b"\1\x60"
        + signed(TRACE - INNER)
        + signed(-1)
        + TIMES
    )


def spans_of(plumbd):
    """Of the one trace that there is."""
    plumbd.flush()
    found = {}
    for line in plumbd.export():
        assert line["a"][:16] == f"{id_at(TRACE):016x}"
        found[line["a"][16:]] = [parent[16:] for parent in line.get("p", [])]
    return found


def expected():
    return {f"{id_at(own):016x}": [f"{id_at(parent):016x}"] if parent else [] for own, parent in EXPECTED}


def test_spans_of_each_version_are_the_same(plumbd):
    """What one said first is repeated by the others: were an id another one, there would be more spans."""
    with Sender(plumbd) as sender:
        for spans, options in (
            ((), {"version": 3, "needs": 3, "packs": [pack_of_version_3()]}),
            ((), {"version": 2, "needs": 2, "packs": [pack_of_version_2()]}),
            (structs(), {"version": 1}),
        ):
            reply = sender.submit(spans, **options)
            assert (reply.status, reply.accepted, reply.version) == (OK, 3, 3)
            assert spans_of(plumbd) == expected()
