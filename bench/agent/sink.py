"""A receiver that takes every batch and forgets it, for a few microseconds each: on the processors of an HDFS that is
measured, plumbd would be measured too (its caches, its turns). Understands just enough of Thrift's compact protocol to
answer and to know how many spans each sender has sent."""

import socketserver
import struct
import threading

# Thrift's compact protocol.
CALL, REPLY = 1, 2
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
OK = 0
# Of the structures of idl/plumb.thrift.
SENDER = 5
SPANS_SENT = 3
# Senders take it as "all of them".
ALL = (1 << 31) - 1


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def zigzag(number):
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


class Reader:
    def __init__(self, frame):
        self.frame, self.at = frame, 0

    def byte(self):
        self.at += 1
        return self.frame[self.at - 1]

    def varint(self):
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    def signed(self):
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def binary(self):
        length = self.varint()
        self.at += length
        return self.frame[self.at - length : self.at]

    def fields(self):
        """(number, type) of each field; its value is the caller's to read."""
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.signed()
            yield number, head & 15

    def skip(self, kind):
        if kind in (I32, I64):
            self.varint()
        elif kind == BINARY:
            self.binary()
        elif kind == LIST:
            head = self.byte()
            for _ in range(head >> 4 if head >> 4 < 15 else self.varint()):
                self.skip(head & 15)
        elif kind == STRUCT:
            for _, inner in self.fields():
                self.skip(inner)
        else:
            raise ValueError(f"type {kind} is not in a batch")


def spans_sent(reader):
    """(sender, spans it has sent) of a batch, as far as that."""
    sender = b""
    for number, kind in reader.fields():
        if (number, kind) != (SENDER, STRUCT):
            reader.skip(kind)
            continue
        for inner, inner_kind in reader.fields():
            if inner == 1:
                sender = reader.binary()
            elif inner == SPANS_SENT:
                return sender, reader.signed()
            else:
                reader.skip(inner_kind)
    raise ValueError("a batch without a sender")


def answer(sequence, name):
    """Reply(OK, all taken, none refused, no wait, version 2) in the result of the call."""
    reply = bytes([1 << 4 | I32]) + zigzag(OK)
    for number in (ALL, 0, 0, 2):
        reply += bytes([1 << 4 | I32]) + zigzag(number)
    result = bytes([STRUCT]) + zigzag(0) + reply + b"\0\0"  # field 0 is what the call returns
    message = bytes([0x82, REPLY << 5 | 1]) + varint(sequence) + varint(len(name)) + name + result
    return struct.pack(">I", len(message)) + message


class Handler(socketserver.StreamRequestHandler):
    rbufsize = 1 << 20

    def handle(self):
        while len(head := self.rfile.read(4)) == 4:
            frame = self.rfile.read(struct.unpack(">I", head)[0])
            reader = Reader(frame)
            if reader.byte() != 0x82 or reader.byte() >> 5 != CALL:
                raise ValueError("not a call in the compact protocol")
            sequence, name = reader.varint(), reader.binary()
            next(reader.fields())  # the one argument
            sender, spans = spans_sent(reader)
            self.server.sent[sender] = spans
            self.wfile.write(answer(sequence, name))


class Sink(socketserver.ThreadingTCPServer):
    """with Sink() as sink: ... sink.address ... sink.spans()"""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.sent = {}
        self.address = f"127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def spans(self):
        """That all senders have sent."""
        return sum(self.sent.values())

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()
