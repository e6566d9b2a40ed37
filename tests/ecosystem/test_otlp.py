"""OTLP over HTTP: OpenTelemetry's own SDK of Python against a real plumbd, and bodies that no SDK sends."""

import gzip
import http.client
import json
import subprocess

import pytest

from tests.receiver.waiting import wait_for

BEGIN = 1_790_000_000_000_000_000


def attribute(key, value):
    return {"key": key, "value": {"stringValue": value}}


def spans_body(*spans, service="shop", **resource):
    attributes = [attribute("service.name", service), *(attribute(key, value) for key, value in resource.items())]
    scoped = [{"scope": {"name": "lib"}, "spans": list(spans)}]
    return json.dumps({"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": scoped}]}).encode()


def a_span(trace, number, **more):
    span = {"traceId": f"{trace:032x}", "spanId": f"{number:016x}", "name": "work"}
    return {**span, "startTimeUnixNano": str(BEGIN), "endTimeUnixNano": str(BEGIN + 1000), **more}


def post(plumbd, body, kind="application/json", path="/v1/traces", **headers):
    """(status, answer's headers, body)"""
    connection = http.client.HTTPConnection(plumbd.http)
    sent = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request("POST", path, body, sent)
    reply = connection.getresponse()
    answer = reply.status, dict(reply.getheaders()), reply.read()
    connection.close()
    return answer


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_sdk_of_python(plumbd, otel_app, plumb_program, compression):
    """Two services, their parents, times to the nanosecond, attributes of all types, events, links, status."""
    sent = otel_app(plumbd, compression)
    assert sent["good"]
    pages = [span for span in sent["spans"] if span["name"] == "GET /order"]
    queries = [span for span in sent["spans"] if span["name"] == "SELECT items"]
    page, query = pages[0], queries[0]
    trace = page["trace"][16:]

    rows = {row["span"][16:]: row for row in plumbd.ask(f"trace?id={trace}")["spans"]}
    assert set(rows) == {page["span"], query["span"]}
    row = rows[page["span"]]
    assert (row["function"], row["process"], row["host"], row["pid"]) == (
        "shop∕web: GET /order",
        "shop∕web",
        "web-1",
        4711,
    )
    assert (row["begin_time_ns"], row["duration_ns"]) == (page["begin"], page["end"] - page["begin"])
    expected = {
        "order": "0",
        "big": str(2**53 + 1),
        "share": "0.25",
        "good": "true",
        "list": '["a","b\\"c"]',
        "café": "naïve ☕",
        "span.kind": "server",
        "otel.scope.name": "shop.pages",
        "otel.scope.version": "1.2",
        "link": '5b8efff798038103d269b633813fc60c eee19b7ec3c1b174 {"why":"asked"}',
        "resource.deployment.environment": "testing",
        "trace_id.high": page["trace"][:16],
    }
    assert row["annotations"].items() >= expected.items()
    assert row["notes"] == [{"time_ns": page["event_times"][0], "message": 'looked up {"rows":3}'}]

    row = rows[query["span"]]
    assert row["parents"] == [trace + page["span"]]
    assert row["function"] == "items: SELECT items" and row["role"] == "local" and "host" not in row
    assert row["annotations"]["error"] == "true" and row["annotations"]["otel.status_code"] == "ERROR"
    assert row["annotations"]["otel.status_description"] == "no such item"
    assert [note["time_ns"] for note in row["notes"]] == query["event_times"]
    assert '"exception.message":"no such item"' in row["notes"][0]["message"]

    shown = subprocess.run([plumb_program, "trace", trace, "--server", plumbd.http], capture_output=True, text=True)
    assert "└─ items: SELECT items" in shown.stdout, shown


def test_statistics_and_search(plumbd, otel_app):
    """Functions of services have statistics and trees of their own, and traces are found by what a resource says."""
    sent = otel_app(plumbd, orders=1500)
    assert sent["good"] and len(sent["spans"]) == 3000
    plumbd.flush()
    functions = {row["function"]: row for row in plumbd.ask("functions")["functions"]}
    assert {name: row["calls"] for name, row in functions.items()} == {
        "shop∕web: GET /order": 1500,
        "items: SELECT items": 1500,
    }
    assert functions["items: SELECT items"]["bytes"]["total_bytes"] == 1500 * 4096
    # One trace has an exception, which changes no shape: one pattern of all.
    assert [pattern["traces"] for pattern in plumbd.ask("forest")["patterns"]] == [1500]
    found = plumbd.ask("traces?annotation=resource.deployment.environment%3Dtesting&limit=2000")
    assert len(found["traces"]) == 1500
    assert len(plumbd.ask("traces?annotation=error%3Dtrue")["traces"]) == 1
    assert len(plumbd.ask("traces?annotation=order%3D77")["traces"]) == 1


def test_a_trace_by_all_its_digits(make_plumbd, plumb_program):
    """As OpenTelemetry writes its id, at once after it came, and when it is stored."""
    plumbd = make_plumbd(trace__idle="1h").start()
    trace = 0xF2F5778A0CE60791_C231DE02FF4104D7
    assert post(plumbd, spans_body(a_span(trace, 1), a_span(trace, 2, parentSpanId=f"{1:016x}")))[0] == 200
    for _ in range(2):
        command = [plumb_program, "trace", f"{trace:032x}", "--server", plumbd.http]
        shown = subprocess.run(command, capture_output=True, text=True)
        assert shown.returncode == 0 and shown.stdout.startswith("trace c231de02ff4104d7,"), shown.stderr
        assert plumbd.ask(f"trace?id={trace:032x}")["spans_total"] == 2
    one_span = plumbd.ask(f"trace?id=c231de02ff4104d7{2:016x}")
    assert one_span["trace"] == "c231de02ff4104d7"
    assert plumbd.fetch(f"/api/v1/trace?id={trace ^ 1:032x}")[0] == 404


def test_acknowledged_is_kept(make_plumbd, otel_app):
    """Killed at once after the acknowledgement: the journal has the spans, and the next start stores them."""
    plumbd = make_plumbd().start()
    sent = otel_app(plumbd, "gzip", 100)
    assert sent["good"]
    plumbd.kill()
    plumbd.start().wait_recovered()
    plumbd.flush()
    lines = {line["a"]: line for line in plumbd.export()}
    assert set(lines) == {span["trace"][16:] + span["span"] for span in sent["spans"]}
    for span in sent["spans"]:
        line = lines[span["trace"][16:] + span["span"]]
        assert (int(line["bn"]), int(line["en"])) == (span["begin"], span["end"])


def test_partial_success(plumbd):
    """Spans that cannot be taken are refused alone, and the answer says how many and why."""
    good, bad = a_span(1, 1), a_span(1, 2, spanId="0" * 16)
    assert post(plumbd, spans_body(good))[2] == b"{}"
    status, _, body = post(plumbd, spans_body(good, bad, a_span(1, 3, startTimeUnixNano=str(2**64 - 1))))
    assert status == 200
    partial = json.loads(body)["partialSuccess"]
    assert partial["rejectedSpans"] == "2"
    assert "zero id: 1" in partial["errorMessage"] and "time" in partial["errorMessage"]


def field(number, content):
    """A field of protobuf: of bytes, or a number as its varint."""
    kind = 0 if isinstance(content, int) else 2
    return bytes([number << 3 | kind]) + (varint(content) if kind == 0 else varint(len(content)) + content)


def varint(number):
    number %= 2**64
    return bytes([number]) if number < 128 else bytes([number % 128 + 128]) + varint(number // 128)


# An AnyValue: the text that it becomes; None: it is none, and the body is refused.
VALUES = {
    "text": (field(1, b"GET"), "GET"),
    "number": (field(3, 443), "443"),
    "negative": (field(3, -(2**63)), str(-(2**63))),
    "the last of two counts": (field(3, 443) + field(1, b"https"), "https"),
    "a later number counts": (field(1, b"https") + field(3, 443), "443"),
    "truth": (field(2, 1), "true"),
    "unknown and a number": (field(9, 7) + field(3, 1), "1"),
    "bytes": (field(7, b"ab"), "YWI="),
    "a number that is cut": (field(3, 443)[:-1], None),
    "more than 64 bits": (b"\x18" + b"\xff" * 9 + b"\x7f", None),
}


def test_values_of_protobuf(plumbd):
    for i, (name, (value, text)) in enumerate(VALUES.items(), 1):
        key = field(9, field(1, b"k") + field(2, value))
        span = field(1, i.to_bytes(16, "big")) + field(2, i.to_bytes(8, "big")) + field(5, b"work") + key
        body = field(1, field(2, field(2, span)))
        assert post(plumbd, body, "application/x-protobuf")[0] == (400 if text is None else 200), name
        if text is not None:
            assert plumbd.ask(f"trace?id={i:016x}")["spans"][0]["annotations"]["k"] == text, name


def test_long_texts_are_cut(plumbd):
    """One text that is too long costs no span."""
    long_value, long_name = "ä" * 40_000, "n" * 3_000
    body = spans_body(a_span(1, 1, name=long_name, attributes=[attribute("v", long_value)]))
    status, _, answer = post(plumbd, body)
    assert status == 200 and "2 texts were cut" in json.loads(answer)["partialSuccess"]["errorMessage"]
    row = plumbd.ask("trace?id=0000000000000001")["spans"][0]
    assert row["annotations"]["v"] == "ä" * 32_768
    assert row["function"].startswith("shop: nnn") and len(row["function"]) == 1_024
    assert plumbd.metrics()["plumbd_texts_cut_total"] == 2


def nested(depth):
    value = {"stringValue": "x"}
    for _ in range(depth):
        value = {"arrayValue": {"values": [value]}}
    return [{"key": "deep", "value": value}]


REFUSED = {
    "no protobuf": (b"\xff\xff", "application/x-protobuf", {}, 400),
    "no JSON": (b"{", "application/json", {}, 400),
    "a list": (b"[]", "application/json", {}, 400),
    "no gzip": (b"{}", "application/json", {"Content_Encoding": "gzip"}, 400),
    "gzip cut": (gzip.compress(b"{}" * 999)[:-4], "application/json", {"Content_Encoding": "gzip"}, 400),
    "a bomb": (gzip.compress(bytes(33 << 20)), "application/x-protobuf", {"Content_Encoding": "gzip"}, 413),
    "too deep": (spans_body(a_span(1, 1, attributes=nested(40))), "application/json", {}, 413),
    "much JSON": (b" " * (9 << 20), "application/json", {}, 413),
    "no such form": (b"{}", "text/plain", {}, 415),
    "no such packing": (b"{}", "application/json", {"Content_Encoding": "br"}, 415),
    "a foreign page": (b"{}", "application/json", {"Origin": "http://elsewhere.example"}, 403),
}


def test_refused_bodies(plumbd):
    """Each is answered as OTLP says (400 and 413 are not sent again), counted, and harms nothing."""
    for name, (body, kind, headers, wanted) in REFUSED.items():
        status, _, answer = post(plumbd, body, kind, **headers)
        assert status == wanted, (name, status, answer)
        assert len(answer) > 2, name
    metrics = plumbd.metrics()
    assert metrics['plumbd_frames_rejected_total{reason="malformed"}'] == 5
    assert metrics['plumbd_frames_rejected_total{reason="over a limit"}'] == 3
    assert metrics['plumbd_http_rejected_total{reason="foreign Origin"}'] == 1
    assert post(plumbd, spans_body(a_span(1, 1)))[0] == 200


def test_chunks(plumbd):
    """SDKs of Java pack while they send, so they do not know the length."""
    packed = gzip.compress(spans_body(a_span(1, 1), a_span(1, 2, parentSpanId=f"{1:016x}")))
    status, _, _ = post(plumbd, iter([packed[:50], packed[50:]]), Content_Encoding="gzip")
    assert status == 200
    assert plumbd.ask("trace?id=0000000000000001")["spans_total"] == 2


def test_asked_to_wait(make_plumbd):
    """While the store has no room, nothing is taken; senders hear when to come again, and are taken then."""
    plumbd = make_plumbd(store__min_free="1000G").start()
    wait_for(lambda: plumbd.fetch("/readyz")[0] == 503)
    status, headers, body = post(plumbd, spans_body(a_span(1, 1)))
    assert status == 503 and int(headers["Retry-After"]) > 0
    assert json.loads(body)["code"] == 14 and "free" in json.loads(body)["message"]
    assert plumbd.metrics()["plumbd_try_later_total"] == 1


def test_bodies_have_a_share(make_plumbd):
    """Bodies that do not end take no more memory than their peer's share of listen.buffer-limit."""
    plumbd = make_plumbd(listen__buffer_limit="4M").start()
    status, headers, _ = post(plumbd, b"x" * (8 << 20), "application/x-protobuf")
    assert status == 503 and headers["Retry-After"] == "1"
    assert plumbd.metrics()['plumbd_http_rejected_total{reason="buffers full"}'] == 1
    assert post(plumbd, spans_body(a_span(1, 1)))[0] == 200


def test_memory_that_is_used_again_counts(make_plumbd):
    """One who has said a byte of a body, and no more, may have the memory of the one before it."""
    plumbd = make_plumbd(listen__buffer_limit="4M").start()

    def buffered():
        return plumbd.metrics()["plumbd_buffered_bytes"]

    assert post(plumbd, b"x" * (900 << 10), "application/x-protobuf")[0] == 200
    assert buffered() == 0
    stalled = http.client.HTTPConnection(plumbd.http)
    stalled.putrequest("POST", "/v1/traces")
    stalled.putheader("Content-Type", "application/x-protobuf")
    stalled.putheader("Content-Length", "1000")
    stalled.endheaders(b"x")
    wait_for(lambda: buffered() > 0)
    assert buffered() == 1 << 20
    stalled.close()
    wait_for(lambda: buffered() == 0)
    assert post(plumbd, spans_body(a_span(1, 1)))[0] == 200
