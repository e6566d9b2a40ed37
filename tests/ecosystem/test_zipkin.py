"""Zipkin's spans, version 2: OpenTelemetry's exporter for Zipkin against a real plumbd, and bodies made by hand."""

import json

import pytest

from tests.ecosystem.test_otlp import post

BEGIN_US = 1_790_000_000_000_000


def send(plumbd, spans, **headers):
    status, _, body = post(plumbd, json.dumps(spans).encode(), path="/api/v2/spans", **headers)
    return status, body.decode()


def a_span(number, **more):
    endpoint = {"serviceName": "shop", "ipv4": "10.0.0.1"}
    times = {"timestamp": BEGIN_US, "duration": 1000}
    return {"traceId": "7", "id": f"{number:016x}", "name": "work", "localEndpoint": endpoint, **times, **more}


def test_exporter(plumbd, run_app):
    """Ids, times to the microsecond, kind, tags, annotations, parents."""
    sent = run_app("zipkin_app.py", f"http://{plumbd.http}/api/v2/spans")
    assert sent["good"]
    page, inner = ({span["name"]: span for span in sent["spans"]}[name] for name in ("GET /order", "render"))
    trace = page["trace"][16:]
    rows = {row["span"][16:]: row for row in plumbd.ask(f"trace?id={trace}")["spans"]}
    row = rows[page["span"]]
    assert (row["function"], row["process"], row["host"]) == ("shop∕web: GET /order", "shop∕web", "10.0.0.7")
    assert abs(row["begin_time_ns"] - page["begin"]) < 1000 and row["begin_time_ns"] % 1000 == 0
    assert abs(row["duration_ns"] - (page["end"] - page["begin"])) < 1000
    assert row["annotations"].items() >= {"order": "7", "span.kind": "server"}.items()
    first = rows[inner["span"]]["annotations"]  # ends first, so it is sent first
    assert (first["trace_id.high"], first["resource.service.name"]) == (page["trace"][:16], "shop/web")
    assert len(row["notes"]) == 1 and "looked up" in row["notes"][0]["message"]
    assert rows[inner["span"]]["parents"] == [trace + page["span"]]


def test_shared_ids(plumbd):
    """Client and server of one call have one id in Zipkin: both are kept, the server's below the client's."""
    other = {"serviceName": "items", "ipv6": "2001:db8::1"}
    client = a_span(1, kind="CLIENT", remoteEndpoint=other)
    server = a_span(1, kind="SERVER", shared=True, localEndpoint=other, parentId="f" * 16)
    assert send(plumbd, [client, server]) == (202, "")
    outer, inner = plumbd.ask("trace?id=0000000000000007")["spans"]
    assert (outer["function"], inner["function"]) == ("shop: work", "items: work")
    assert inner["parents"] == [outer["span"]] and inner["host"] == "2001:db8::1"
    assert outer["annotations"]["peer.service"] == "items"


@pytest.mark.parametrize(
    "body, status",
    [({}, 400), ("x", 400), ([a_span(1, timestamp=-1)], 400), ([a_span(1, duration="1")], 400), ([], 202)],
)
def test_bodies(plumbd, body, status):
    assert send(plumbd, body)[0] == status


def test_refused_alone(plumbd):
    """A span without an id costs only itself, and the answer says so."""
    assert send(plumbd, [a_span(1), a_span(2, id="no id"), a_span(3, timestamp=2**62)]) == (
        202,
        "zero id: 1, time out of range: 1",
    )
    assert plumbd.ask("trace?id=0000000000000007")["spans_total"] == 1
    assert send(plumbd, [a_span(1)], kind="application/x-protobuf")[0] == 415
