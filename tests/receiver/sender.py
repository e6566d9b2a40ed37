"""A sender of spans written from the Thrift specification alone (binary protocol, framed), so that the tests can also
send what no sender would."""

import socket
import struct
import time

BOOL, BYTE, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, SET, LIST = 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15
OK, TRY_LATER, REFUSED, VERSION = range(4)


def field(kind, number, data):
    return struct.pack(">bh", kind, number) + data


def i32(value):
    return struct.pack(">i", value)


def i64(value):
    return struct.pack(">q", value - (1 << 64) if value >= 1 << 63 else value)


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return i32(len(data)) + data


def items(kind, values):
    return struct.pack(">bi", kind, len(values)) + b"".join(values)


def span(trace, number, name=0, begin=1_700_000_000_000_000_000, duration=1000, parent=None, **more):
    """A span as a Thrift struct. more: tracer, parents=[(trace, span)], annotations=[(key, value)], notes=[(time,
    text)], flags."""
    data = [
        field(I64, 1, i64(trace)),
        field(I64, 2, i64(number)),
        field(I64, 3, i64(begin)),
        field(I64, 4, i64(duration)),
        field(I32, 5, i32(name)),
        field(I32, 6, i32(more.get("tracer", 1))),
    ]
    if parent is not None:
        data.append(field(I64, 7, i64(parent)))
    if "parents" in more:
        data.append(
            field(
                LIST,
                8,
                items(STRUCT, [field(I64, 1, i64(t)) + field(I64, 2, i64(s)) + b"\0" for t, s in more["parents"]]),
            )
        )
    if "annotations" in more:
        data.append(
            field(
                LIST,
                9,
                items(
                    STRUCT, [field(I32, 1, i32(k)) + field(STRING, 2, text(v)) + b"\0" for k, v in more["annotations"]]
                ),
            )
        )
    if "notes" in more:
        data.append(
            field(
                LIST,
                10,
                items(STRUCT, [field(I64, 1, i64(t)) + field(STRING, 2, text(m)) + b"\0" for t, m in more["notes"]]),
            )
        )
    if "flags" in more:
        data.append(field(I32, 11, i32(more["flags"])))
    return b"".join(data) + b"\0"


STRINGS = ("op", "Client/10.0.0.1/7")


def batch(spans, strings=STRINGS, version=1, needs=None, sender=None, packs=()):
    """sender: (id, sequence, sent, queued, {reason: spans}); packs: bytes"""
    data = [field(I32, 1, i32(version))]
    if needs is not None:
        data.append(field(I32, 2, i32(needs)))
    data.append(field(LIST, 3, items(STRING, [text(s) for s in strings])))
    data.append(field(LIST, 4, items(STRUCT, spans)))
    if sender:
        name, sequence, sent, queued, drops = sender
        data.append(
            field(
                STRUCT,
                5,
                field(STRING, 1, text(name))
                + field(I64, 2, i64(sequence))
                + field(I64, 3, i64(sent))
                + field(I64, 4, i64(queued))
                + field(
                    LIST,
                    5,
                    items(
                        STRUCT, [field(STRING, 1, text(r)) + field(I64, 2, i64(n)) + b"\0" for r, n in drops.items()]
                    ),
                )
                + b"\0",
            )
        )
    if packs:
        data.append(field(LIST, 6, items(STRING, [text(pack) for pack in packs])))
    return b"".join(data) + b"\0"


def plain_span(number, name, tracer="Client/10.0.0.1/7", parents=(), begin=1_700_000_000_000_000_000, duration=1000):
    return (
        field(STRING, 1, text(number))
        + field(LIST, 2, items(STRING, [text(p) for p in parents]))
        + field(I64, 3, i64(begin))
        + field(I64, 4, i64(duration))
        + field(STRING, 5, text(name))
        + field(STRING, 6, text(tracer))
        + b"\0"
    )


def message(method, arguments, sequence=1, kind=1):
    return i32(0x80010000 - (1 << 32) | kind) + text(method) + i32(sequence) + arguments


def framed(payload):
    return i32(len(payload)) + payload


def submit_frame(spans, sequence=1, **options):
    return framed(message("submit", field(STRUCT, 1, batch(spans, **options)) + b"\0", sequence))


class Reader:
    """Any Thrift value in the binary protocol; structs become {field number: value}."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return value[0]

    def bytes(self):
        length = self.take("i")
        self.at += length
        return self.data[self.at - length : self.at]

    def value(self, kind):
        if kind == STRING:
            return self.bytes()
        if kind == STRUCT:
            return self.struct()
        return self.take({BOOL: "b", BYTE: "b", I16: "h", I32: "i", I64: "q", DOUBLE: "d"}[kind])

    def struct(self):
        fields = {}
        while (kind := self.take("b")) != 0:
            number = self.take("h")
            fields[number] = self.value(kind)
        return fields


class Reply:
    def __init__(self, payload):
        reader = Reader(payload)
        self.kind = reader.take("i") & 0xFF
        self.method = reader.bytes().decode()
        self.sequence = reader.take("i")
        result = reader.struct()
        self.exception = result.get(1, b"").decode() if self.kind == 3 else None
        fields = {} if self.exception is not None else result[0]
        self.status, self.accepted, self.refused = fields.get(1), fields.get(2), fields.get(3)
        self.wait_ms, self.version = fields.get(4), fields.get(5)
        self.message = fields.get(6, b"").decode()
        self.sampling = fields[7].decode() if 7 in fields else None


class Sender:
    """A connection; source: the address it comes from, which tells peers apart. Lost ones raise ConnectionError."""

    def __init__(self, plumbd, timeout=60, source="127.0.0.1"):
        self.socket = socket.create_connection(
            plumbd.thrift if hasattr(plumbd, "thrift") else plumbd, timeout=timeout, source_address=(source, 0)
        )
        self.sequence = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def write(self, data):
        self.socket.sendall(data)

    def read_exactly(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("closed by plumbd")
            data += piece
        return data

    def read_reply(self):
        return Reply(self.read_exactly(struct.unpack(">i", self.read_exactly(4))[0]))

    def call(self, method, arguments):
        self.sequence += 1
        self.write(framed(message(method, arguments, self.sequence)))
        reply = self.read_reply()
        assert reply.sequence == self.sequence
        return reply

    def submit(self, spans, **options):
        return self.call("submit", field(STRUCT, 1, batch(spans, **options)) + b"\0")

    def submit_plain(self, spans):
        return self.call("submitPlain", field(LIST, 1, items(STRUCT, spans)) + b"\0")

    def deliver(self, spans, **options):
        """Sends again while plumbd says so."""
        while (reply := self.submit(spans, **options)).status == TRY_LATER:
            time.sleep(reply.wait_ms / 1000)
        return reply

    def closed_by_peer(self):
        """Waits for the end of the connection; what came before it is dropped."""
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionError:
            pass
        return True
