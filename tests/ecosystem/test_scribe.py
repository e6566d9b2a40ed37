"""Zipkin's spans of version 1 in Scribe's Log, against a real plumbd: HTrace's own receiver for Zipkin, in a real HDFS
of Hadoop 3.1, and calls made by hand."""

import base64
import socket
import struct

import pytest

from script.hdfs.cluster import Cluster
from script.hdfs.jars import htrace_zipkin_jar
from tests.hdfs.spans import json_values

HADOOP = "3.1.0"
SERVERS, CLIENTS = "4.1.0-incubating", "4.2.0-incubating"
BEGIN_US = 1_790_000_000_000_000


def tracing(port):
    """Every call is traced, and written to a file of the process besides."""
    receivers = "org.apache.htrace.impl.ZipkinSpanReceiver;org.apache.htrace.core.LocalFileSpanReceiver"
    return {
        "hadoop.htrace.span.receiver.classes": receivers,
        "hadoop.htrace.local.file.span.receiver.path": "${plumb.local.spans}",
        "hadoop.htrace.zipkin.scribe.hostname": "127.0.0.1",
        "hadoop.htrace.zipkin.scribe.port": port,
        "hadoop.htrace.tracer.id": "%{tname}/${plumb.host}",
        "fs.shell.htrace.sampler.classes": "AlwaysSampler",
    }


def said(span, parents, notes):
    """Zipkin has one parent of a span, and HTrace's receiver makes the process lower case."""
    annotations = {key: value for key, value in span.get("n", {}).items() if not key.startswith("resource.")}
    return (parents[:1], span["b"], span["e"], span["d"], span["r"].lower(), annotations, notes)


def notes_of(span):
    return sorted((note["t"], note["m"]) for note in span.get("t", []))


def test_htrace_receivers(tmp_path, plumbd):
    """A put by the shell: NameNode, DataNode and shell send by two versions of the receiver; all that they wrote to
    their files is one tree here."""
    port = plumbd.thrift[1]
    source = tmp_path / "file"
    source.write_bytes(b"x" * 100_000)
    jars = [str(htrace_zipkin_jar(version)) for version in (SERVERS, CLIENTS)]
    with Cluster(tmp_path / "hdfs", HADOOP, datanodes=1, core=tracing(port), class_path=jars[0]) as cluster:
        put = ("-put", str(source), "/file")
        assert cluster.java("shell", "org.apache.hadoop.fs.FsShell", put, class_path=jars[1]).wait(60) == 0
        cluster.stop()  # in order: receivers send what they have
        files = [cluster.local_spans(name) for name in ("namenode", "datanode1", "shell")]
        written = {span["a"]: span for file in files for span in json_values(file.read_text())}
    roles = {span["r"].split("/")[0] for span in written.values()}
    assert roles == {"NameNode", "DataNode", "FsShell", "FSClient"}

    plumbd.flush()
    stored = {span["a"]: span for span in plumbd.export()}
    assert stored.keys() == written.keys()
    for span_id, span in written.items():
        here = stored[span_id]
        assert said(here, here["p"], notes_of(here)) == said(span, span["p"], notes_of(span))

    (root,) = [span for span in written.values() if not span["p"]]
    trace = plumbd.ask(f"trace?id={root['a'][:16]}")
    assert (trace["spans_total"], trace["orphans"]) == (len(written), 0)
    assert {row["role"] for row in trace["spans"]} == {"client", "namenode", "datanode"}


# ---- calls made by hand ----


def field(kind, number, value):
    return struct.pack(">bh", kind, number) + value


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack(">i", len(data)) + data


def i32(number, value):
    return field(8, number, struct.pack(">i", value))


def i64(number, value):
    return field(10, number, struct.pack(">q", value))


def structs(number, items):
    return field(15, number, struct.pack(">bi", 12, len(items)) + b"".join(item + b"\0" for item in items))


def endpoint(number, service, ipv4="10.0.0.7"):
    inside = i32(1, int.from_bytes(socket.inet_aton(ipv4), "big", signed=True)) + field(11, 3, text(service)) + b"\0"
    return field(12, number, inside)


def annotation(value, time_us, service="shop"):
    return i64(1, time_us) + field(11, 2, text(value)) + endpoint(3, service)


def binary(key, value, kind=6, service="shop"):
    return field(11, 1, text(key)) + field(11, 2, text(value)) + i32(3, kind) + endpoint(4, service)


def v1_span(number, annotations, binaries=(), more=b"", trace=7):
    ids = i64(1, trace) + field(11, 3, text("work")) + i64(4, number)
    return ids + structs(6, annotations) + structs(8, list(binaries)) + more + b"\0"


def log_call(entries, category="zipkin"):
    arguments = structs(1, [field(11, 1, text(category)) + field(11, 2, text(span)) for span in entries]) + b"\0"
    return struct.pack(">I", 0x80010001) + text("Log") + struct.pack(">i", 5) + arguments


def send(plumbd, spans, category="zipkin", packed=base64.encodebytes):
    """The answer to a call: (1: a reply, 3: an exception; what follows the head)."""
    frame = log_call([packed(span) for span in spans], category)
    with socket.create_connection(plumbd.thrift, timeout=30) as peer:
        peer.sendall(struct.pack(">i", len(frame)) + frame)
        with peer.makefile("rb") as stream:
            answer = stream.read(struct.unpack(">i", stream.read(4))[0])
    mark, name_length = struct.unpack(">Ii", answer[:8])
    assert answer[8 : 8 + name_length] == b"Log"
    sequence = struct.unpack(">i", answer[8 + name_length : 12 + name_length])
    assert (mark & 0xFFFFFF00, sequence) == (0x80010000, (5,))
    return mark & 0xFF, answer[12 + name_length :]


TAKEN = (2, b"\x08\x00\x00" + b"\0" * 4 + b"\0")


def rows(plumbd):
    plumbd.flush()
    return plumbd.ask("trace?id=0000000000000007")["spans"]


def test_client_and_server_of_one_call(plumbd):
    """Two spans have one id: the server's, which has no time stamp, goes below the client's."""
    client = v1_span(
        1, [annotation("cs", BEGIN_US), annotation("cr", BEGIN_US + 90)], [binary("sa", b"\1", 0, "items")]
    )
    server = v1_span(1, [annotation("sr", BEGIN_US + 20, "items"), annotation("ss", BEGIN_US + 70, "items")])
    assert send(plumbd, [client, server]) == TAKEN
    outer, inner = rows(plumbd)
    assert (outer["function"], inner["function"]) == ("shop: work", "items: work")
    assert inner["parents"] == [outer["span"]]
    assert (outer["duration_ns"], inner["duration_ns"]) == (90_000, 50_000)
    assert outer["annotations"].items() >= {"span.kind": "client", "peer.service": "items"}.items()
    assert (outer["host"], inner["annotations"]["span.kind"]) == ("10.0.0.7", "server")


def test_values_and_times(plumbd):
    """A span with a time stamp; values of each type; what is no moment is a note."""
    values = {
        "text": ("x", 6, "x"),
        "yes": (b"\1", 0, "true"),
        "short": (struct.pack(">h", -7), 2, "-7"),
        "long": (struct.pack(">q", -(2**40)), 4, str(-(2**40))),
        "real": (struct.pack(">d", 0.5), 5, "0.5"),
        "bytes": (b"\0\xff", 1, "AP8="),
        "odd": ("seven", 3, "seven"),
    }
    binaries = [binary(key, value, kind) for key, (value, kind, _) in values.items()]
    stamp = i64(10, BEGIN_US) + i64(11, 1000)
    assert send(plumbd, [v1_span(1, [annotation("wait", BEGIN_US + 5)], binaries, stamp)]) == TAKEN
    (row,) = rows(plumbd)
    assert (row["begin_time_ns"], row["duration_ns"]) == (BEGIN_US * 1000, 1_000_000)
    assert row["annotations"].items() >= {key: shown for key, (_, _, shown) in values.items()}.items()
    assert [note["message"] for note in row["notes"]] == ["wait"]


@pytest.mark.parametrize(
    "what",
    [
        {"category": "default"},
        {"packed": lambda span: b"no base64"},
        {"packed": lambda span: base64.b64encode(span[:-9])},
    ],
)
def test_what_is_no_span(plumbd, what):
    """An exception, which all clients know, and nothing of the call is stored."""
    span = v1_span(1, [annotation("cs", BEGIN_US)])
    kind, answer = send(plumbd, [span], **what)
    assert kind == 3 and b"Log" in answer
    assert plumbd.receiver()["spans_received"] == 0
    assert send(plumbd, [span]) == TAKEN


def test_refused_alone(plumbd):
    """A time before 1970 costs only its own span."""
    spans = [v1_span(1, [annotation("cs", BEGIN_US)]), v1_span(2, [annotation("cs", -1)])]
    assert send(plumbd, spans) == TAKEN
    assert len(rows(plumbd)) == 1


def test_killed(make_plumbd):
    """What was acknowledged comes back from the journal."""
    plumbd = make_plumbd().start()
    assert send(plumbd, [v1_span(n, [annotation("cs", BEGIN_US)]) for n in range(1, 8)]) == TAKEN
    plumbd.kill()
    plumbd.start()
    assert len(rows(plumbd)) == 7
