"""What HTrace sends to htraced, over HRPC and REST, against a real plumbd: what its own clients sent, and requests made
by hand.

tests/data/htraced has what the clients of HTrace 4.1.0 and 4.2.0 sent, byte for byte: VERSION.hrpc the requests of
HRPC, VERSION.http those of REST, one after the other. A proxy before a plumbd recorded them in an HDFS of Hadoop
3.1.0 with one DataNode: `fs -put` of a file of 1 kB sent over REST; NameNode, DataNode and a `fs -setfacl`, which was
refused, over HRPC; all every 300 ms. VERSION.spans has the same spans as HTrace's LocalFileSpanReceiver wrote them in
the same processes. No registry has the client: its jar was built from HTrace's sources, which are the same in both
versions, with the htrace-core4 of the version, which was in use, too."""

import http.client
import io
import json
import select
import signal
import socket
import struct
import urllib.parse
from pathlib import Path

import pytest

from tests.hdfs.spans import content, json_values
from tests.receiver.waiting import wait_for

RECORDED = Path(__file__).resolve().parents[1] / "data" / "htraced"
HRPC_HEAD = "<4sIQI"
BEGIN_MS = 1_790_000_000_000


@pytest.fixture
def plumbd(make_plumbd):
    return make_plumbd(listen__hrpc="127.0.0.1:0").start()


# ---- requests of its clients ----


def hrpc_requests(recorded):
    while recorded:
        head_bytes = struct.calcsize(HRPC_HEAD)
        size = head_bytes + struct.unpack_from(HRPC_HEAD, recorded)[3]
        yield recorded[:size]
        recorded = recorded[size:]


def replay_hrpc(plumbd, recorded):
    """As the client does it: a connection for each request, closed when the head of the answer is there. How many."""
    requests = list(hrpc_requests(recorded))
    for sent in requests:
        _, method, sequence, _ = struct.unpack_from(HRPC_HEAD, sent)
        with socket.create_connection(plumbd.hrpc, timeout=30) as peer:
            peer.sendall(sent)
            assert peer.recv(20, socket.MSG_WAITALL) == struct.pack("<QIII", sequence, method, 0, 1)
    return len(requests)


def http_requests(recorded):
    while recorded:
        head, _, rest = recorded.partition(b"\r\n\r\n")
        _, fields = head.split(b"\r\n", 1)
        size = len(head) + 4 + int(http.client.parse_headers(io.BytesIO(fields + b"\r\n\r\n"))["Content-Length"])
        yield recorded[:size]
        recorded = recorded[size:]


def replay_rest(plumbd, recorded):
    """On one connection, which stays. How many requests."""
    host, port = plumbd.http.split(":")
    requests = list(http_requests(recorded))
    with socket.create_connection((host, int(port)), timeout=30) as peer:
        for sent in requests:
            peer.sendall(sent)
            reply = http.client.HTTPResponse(peer, method="POST")
            reply.begin()
            assert (reply.status, reply.read(), reply.will_close) == (200, b"", False)
    return len(requests)


@pytest.mark.parametrize("version", ["4.1.0", "4.2.0"])
def test_htrace_receivers(plumbd, version):
    """NameNode and DataNode send over HRPC, a shell over REST, another over HRPC; all that they wrote to their files is
    here, to the last annotation, and each command is one tree."""
    hrpc, rest, local = (RECORDED / f"{version}.{form}" for form in ("hrpc", "http", "spans"))
    written = {span["a"]: span for span in json_values(local.read_text())}
    roles = {span["r"].split("/")[0] for span in written.values()}
    assert roles == {"NameNode", "DataNode", "FsShell", "FSClient"}

    batches = replay_hrpc(plumbd, hrpc.read_bytes())
    bodies = replay_rest(plumbd, rest.read_bytes())
    plumbd.flush()
    stored = {span["a"]: span for span in plumbd.export()}
    assert stored.keys() == written.keys()
    assert [content(stored[span_id]) for span_id in written] == [content(span) for span in written.values()]
    metrics = plumbd.metrics()
    assert metrics["plumbd_http_bodies_total"] == bodies > 1 and metrics["plumbd_batches_total"] >= batches > 2

    roots = [span for span in written.values() if not span["p"]]
    assert {root["d"] for root in roots} == {"put", "setfacl"}
    for root in roots:
        members = [span for span in written.values() if span["a"][:16] == root["a"][:16]]
        trace = plumbd.ask(f"trace?id={root['a'][:16]}")
        assert (trace["spans_total"], trace["orphans"]) == (len(members), 0)
        servers = {"namenode", "datanode"} if root["d"] == "put" else {"namenode"}
        assert {row["role"] for row in trace["spans"]} == {"client", *servers}


# ---- requests made by hand ----


def packed(value):
    """In msgpack."""
    if isinstance(value, dict):
        entries = b"".join(packed(key) + packed(item) for key, item in value.items())
        return struct.pack(">BH", 0xDE, len(value)) + entries
    if isinstance(value, list):
        return struct.pack(">BI", 0xDD, len(value)) + b"".join(map(packed, value))
    if isinstance(value, bytes):
        return struct.pack(">BB", 0xC4, len(value)) + value
    if isinstance(value, str):
        return struct.pack(">BH", 0xDA, len(value.encode())) + value.encode()
    return struct.pack(">Bq", 0xD3, value)


def a_span(number, parents=(), trace=7, **more):
    span_id = [f"{trace:016x}{span:016x}" for span in (number, *parents)]
    return {
        "a": span_id[0],
        "b": BEGIN_MS,
        "e": BEGIN_MS + 5,
        "d": f"work{number}",
        "r": "App/10.0.0.7",
        "p": span_id[1:],
        "n": {"file": "/ä"},
        "t": [{"t": BEGIN_MS + 1, "m": "wait"}],
        **more,
    }


def as_hrpc(span):
    """With ids in bytes."""
    ids = {"a": bytes.fromhex(span["a"]), "p": [bytes.fromhex(parent) for parent in span["p"]]}
    return packed({**span, **ids})


def hrpc_body(spans, count=None, head=None):
    return packed({"NumSpans": len(spans) if count is None else count, **(head or {})}) + b"".join(map(as_hrpc, spans))


def request(body, method=1, sequence=2**40 + 1):
    return struct.pack(HRPC_HEAD, b"HTRC", method, sequence, len(body)) + body


def answer(stream, method=1, sequence=2**40 + 1):
    """The error in it, or ""."""
    head = stream.read(20)
    assert len(head) == 20, f"the connection was closed: {head}"
    assert struct.unpack("<QII", head[:16])[:2] == (sequence, method)
    error_bytes, result_bytes = struct.unpack("<II", head[12:])
    error, result = stream.read(error_bytes), stream.read(result_bytes)
    assert result == b"\x80"
    return error.decode()


def call(plumbd, body, **options):
    with socket.create_connection(plumbd.hrpc, timeout=30) as peer:
        peer.sendall(request(body, **options))
        with peer.makefile("rb") as stream:
            return answer(stream, **options)


def post(plumbd, body, **headers):
    """(status, body)"""
    connection = http.client.HTTPConnection(plumbd.http, timeout=30)
    content_type = {"Content-Type": "application/json", **headers}
    connection.request("POST", "/writeSpans", body if isinstance(body, bytes) else body.encode(), content_type)
    reply = connection.getresponse()
    return reply.status, reply.read()


def rest_body(spans, count=None, head=None):
    first = {"NumSpans": len(spans) if count is None else count, **(head or {})}
    return "".join(json.dumps(part, ensure_ascii=False) for part in (first, *spans))


SPANS = [a_span(1), a_span(2, [1]), a_span(3, [1, 2], n={})]


def frames_rejected(plumbd):
    return sum(n for name, n in plumbd.metrics().items() if name.startswith("plumbd_frames_rejected_total"))


def exported(plumbd):
    plumbd.flush()
    return sorted(content(span) for span in plumbd.export())


def test_hrpc(plumbd):
    """Many requests on one connection, one in two pieces."""
    with socket.create_connection(plumbd.hrpc, timeout=30) as peer, peer.makefile("rb") as stream:
        for span in SPANS:
            peer.sendall(request(hrpc_body([span]))[:30])
            peer.sendall(request(hrpc_body([span]))[30:])
            assert answer(stream) == ""
    assert exported(plumbd) == sorted(map(content, SPANS))


def test_rest(plumbd):
    assert post(plumbd, rest_body(SPANS)) == (200, b"")
    assert exported(plumbd) == sorted(map(content, SPANS))


def test_rest_without_a_head(plumbd):
    """As HTrace before 4.1 sends them."""
    assert post(plumbd, "\n".join(map(json.dumps, SPANS))) == (200, b"")
    assert exported(plumbd) == sorted(map(content, SPANS))


@pytest.mark.parametrize("form", ["DefaultPid", "DefaultTrid"])
def test_default_tracer(plumbd, form):
    span = a_span(1, r="")
    assert call(plumbd, hrpc_body([span], head={form: "Else/10.0.0.8"})) == ""
    assert [span[5] for span in exported(plumbd)] == ["Else/10.0.0.8"]


def test_default_tracer_of_rest(plumbd):
    assert post(plumbd, rest_body([a_span(1, r="")], head={"DefaultTrid": "Else/10.0.0.8"}))[0] == 200
    assert [span[5] for span in exported(plumbd)] == ["Else/10.0.0.8"]


NO_SPANS = [
    (hrpc_body(SPANS)[:-1], "missing"),
    (hrpc_body(SPANS) + b"\xc0", "left over"),
    (hrpc_body(SPANS, count=2), "left over"),
    (hrpc_body([], count=2**40), "missing"),
    (hrpc_body([], count=-1), "NumSpans"),
    (packed({"NumSpans": 1}) + packed({"a": b"short"}), "16 bytes"),
    (packed({"NumSpans": 1}) + packed({"a": "7" * 32}), "16 bytes"),
    (packed({"NumSpans": 1}) + packed({"a": b"1" * 16, "b": 2**60}), '"b"'),
    (packed({"NumSpans": 1}) + packed({"a": b"1" * 16, "d": 5}), '"d"'),
    (packed({"NumSpans": 1}) + packed({"a": b"1" * 16, "d": "x" * 2000}), "at most"),
    (packed({"NumSpans": 1}) + packed({"a": b"1" * 16, "t": [7]}), '"t"'),
    (packed({"NumSpans": 1}) + b"\xdd\xff\xff\xff\xff", "more than"),
    (packed({"NumSpans": 1}) + b"\x91" * 40, "nested"),
    (b"\xc1", "no msgpack"),
    (b"", "missing"),
]


def test_refused_over_hrpc(plumbd):
    """The answer says why, nothing of the request is stored, and the connection goes on."""
    with socket.create_connection(plumbd.hrpc, timeout=30) as peer, peer.makefile("rb") as stream:
        for body, why in NO_SPANS:
            peer.sendall(request(body))
            assert why in answer(stream), body
        assert plumbd.receiver()["spans_received"] == 0
        peer.sendall(request(hrpc_body(SPANS)))
        assert answer(stream) == ""
    assert frames_rejected(plumbd) == len(NO_SPANS)


def test_other_methods(plumbd):
    assert "HRPC 7" in call(plumbd, hrpc_body(SPANS), method=7)


@pytest.mark.parametrize("bytes_sent", [b"GET / HTTP/1.1\r\n\r\n", struct.pack(HRPC_HEAD, b"HTRC", 1, 1, 2**31)])
def test_what_is_no_hrpc(plumbd, bytes_sent):
    """The connection is closed before anything is allocated, and counted."""
    with socket.create_connection(plumbd.hrpc, timeout=30) as peer:
        peer.sendall(bytes_sent)
        assert peer.recv(1) == b""
    assert frames_rejected(plumbd) == 1


NO_BODIES = [
    (rest_body(SPANS)[:-1], 400, "span 2"),
    (rest_body(SPANS, count=4), 400, "NumSpans"),
    (rest_body(SPANS, count="x"), 400, "NumSpans"),
    (rest_body([a_span(1, d=5)]), 400, "not a string"),
    ("no JSON", 400, "JSON"),
    ('{"b":1}' * 200_001, 413, "spans"),
]


def test_refused_over_rest(plumbd):
    for body, code, why in NO_BODIES:
        status, reply = post(plumbd, body)
        assert status == code and why in json.loads(reply)["error"], body[:100]
    assert plumbd.receiver()["spans_received"] == 0
    assert frames_rejected(plumbd) == len(NO_BODIES)


def test_refused_alone(plumbd):
    """A span without id costs only itself."""
    without = a_span(2)
    del without["a"]
    assert post(plumbd, rest_body([a_span(1), without]))[0] == 200
    assert len(exported(plumbd)) == 1


def test_busy_is_waited_for(make_plumbd):
    """HTrace's client cannot repeat a request that was answered: while nothing can be taken, it waits."""
    plumbd = make_plumbd(listen__hrpc="127.0.0.1:0")
    del plumbd.settings["store.min-free"]
    config = plumbd.folder / "plumbd.conf"
    plumbd.arguments = ["--config", str(config)]
    config.write_text("[store]\nmin-free=1T\n")
    plumbd.start()
    wait_for(lambda: plumbd.fetch("/readyz")[0] == 503)
    with socket.create_connection(plumbd.hrpc, timeout=30) as peer, peer.makefile("rb") as stream:
        peer.sendall(request(hrpc_body(SPANS)))
        assert not select.select([peer], [], [], 1)[0]
        config.write_text("[store]\nmin-free=0\n")
        plumbd.signal(signal.SIGHUP)
        assert answer(stream) == ""
    assert len(exported(plumbd)) == len(SPANS)


def test_killed(plumbd):
    """What was acknowledged comes back from the journal."""
    assert call(plumbd, hrpc_body(SPANS)) == "" and post(plumbd, rest_body([a_span(4, [1])]))[0] == 200
    plumbd.kill()
    plumbd.start()
    assert len(exported(plumbd)) == 4


def test_others_reach_it(make_plumbd):
    """It has neither TLS nor a login: an address of other hosts has to be meant."""
    plumbd = make_plumbd(listen__hrpc="0.0.0.0:0").spawn()
    assert plumbd.wait() == 1
    assert "listen.hrpc" in plumbd.messages() and "neither TLS nor a login" in plumbd.messages()


def test_role_write(make_plumbd):
    """Nobody logs in over HRPC, so access.write has to have 'anonymous'."""
    plumbd = make_plumbd(listen__hrpc="127.0.0.1:0", access__write="token:somebody").start()
    assert "lacks the role 'write'" in call(plumbd, hrpc_body(SPANS))
    assert post(plumbd, rest_body(SPANS))[0] == 401


# ---- queries ----


def ask(plumbd, path):
    """(status, document)"""
    status, body = plumbd.fetch(path)
    return status, json.loads(body)


def found(plumbd, *predicates, **more):
    """Numbers of the spans of an answer."""
    fields = [dict(zip(("op", "field", "val"), predicate, strict=True)) for predicate in predicates]
    query = json.dumps({"pred": fields, "lim": 20, **more})
    status, spans = ask(plumbd, "/query?" + urllib.parse.urlencode({"query": query}))
    assert status == 200, spans
    return [int(span["a"][16:], 16) for span in spans]


def test_one_span_and_its_children(plumbd):
    """Also while the trace is open."""
    assert post(plumbd, rest_body(SPANS))[0] == 200
    ids = [span["a"] for span in SPANS]
    status, span = ask(plumbd, f"/span/{ids[2]}")
    assert (status, content(span)) == (200, content(SPANS[2]))
    assert ask(plumbd, f"/span/{ids[0]}/children?lim=a") == (200, ids[1:])
    assert ask(plumbd, f"/span/{ids[0]}/children?lim=1") == (200, ids[1:2])
    assert ask(plumbd, f"/span/{ids[2]}/children?lim=a") == (200, [])
    assert ask(plumbd, f"/span/{8:032x}/children?lim=a") == (200, [])
    assert ask(plumbd, f"/span/{8:032x}")[0] == 404
    assert ask(plumbd, "/span/xyz")[0] == 400
    assert "hexadecimal" in ask(plumbd, f"/span/{ids[0]}/children")[1]["error"]


def test_spans_by_predicates(plumbd):
    spans = [a_span(n, trace=n, b=BEGIN_MS + 1000 * n, e=BEGIN_MS + 1000 * n + n) for n in range(1, 8)]
    spans[3]["r"] = "Else/10.0.0.9"
    assert post(plumbd, rest_body(spans))[0] == 200
    plumbd.flush()
    at_3 = str(BEGIN_MS + 3000)
    assert found(plumbd) == [1, 2, 3, 4, 5, 6, 7]
    assert found(plumbd, ("ge", "begin", at_3)) == [3, 4, 5, 6, 7]
    assert found(plumbd, ("gt", "begin", at_3), ("cn", "tracerid", "App")) == [5, 6, 7]
    assert found(plumbd, ("le", "begin", at_3)) == [3, 2, 1]
    assert found(plumbd, ("eq", "description", "work5")) == [5]
    assert found(plumbd, ("ge", "description", "work6")) == [6, 7]
    assert found(plumbd, ("le", "duration", "2")) == [2, 1]
    assert found(plumbd, ("eq", "spanid", spans[1]["a"])) == [2]
    assert found(plumbd, ("gt", "end", str(BEGIN_MS + 6006))) == [7]
    assert found(plumbd, ("ge", "begin", at_3), lim=2) == [3, 4]
    assert found(plumbd, ("ge", "begin", at_3), lim=2, prev=spans[3]) == [5, 6]
    assert ask(plumbd, "/server/version")[1]["ReleaseVersion"].startswith("plumbd ")


NO_QUERIES = [
    "",
    "[]",
    '{"lim":"x"}',
    '{"pred":5}',
    '{"pred":[{"op":"lt","field":"begin","val":"1"}]}',
    '{"prev":{"a":"1"}}',
    '{"pred":[{"op":"cn","field":"begin","val":"1"}]}',
    '{"pred":[{"op":"eq","field":"spanid","val":"1"}]}',
]


def test_what_is_no_query(plumbd):
    for query in NO_QUERIES:
        status, document = ask(plumbd, "/query?" + urllib.parse.urlencode({"query": query}))
        assert status == 400 and "query" in document["error"], query
