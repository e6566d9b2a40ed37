"""Jaeger's query API: the requests that Grafana's Jaeger data source (12.x) and Jaeger's own page (1.76) make, and what
both read of the answers."""

import json
import urllib.parse

import pytest

from tests.ecosystem.test_otlp import BEGIN, a_span, attribute, post, spans_body
from tests.receiver.sender import OK, Sender, span

HIGH = 0x5B8EFFF798038103


@pytest.fixture(scope="module")
def shop(plumbd_program, tmp_path_factory):
    """Ten orders of a web shop under OpenTelemetry, whose spans go on in an HDFS; and one trace of HDFS alone."""
    from tests.conftest import Plumbd

    plumbd = Plumbd(plumbd_program, tmp_path_factory.mktemp("shop")).start()
    for order in range(10):
        trace = HIGH << 64 | 100 + order
        link = {"traceId": f"{HIGH << 64 | 7:032x}", "spanId": f"{9:016x}"}
        page = a_span(
            trace,
            1,
            name="GET /order",
            startTimeUnixNano=str(BEGIN + order * 10**9),
            endTimeUnixNano=str(BEGIN + order * 10**9 + (order + 1) * 10**6),
            attributes=[attribute("order", str(order))],
            events=[{"timeUnixNano": str(BEGIN + 5000), "name": "looked up"}],
            links=[link],
            status={"code": 2 if order == 3 else 0},
        )
        assert post(plumbd, spans_body(page, service="shop/web", **{"host.name": "web-1"}))[0] == 200
        times = {"startTimeUnixNano": str(BEGIN + order * 10**9), "endTimeUnixNano": str(BEGIN + order * 10**9 + 1000)}
        query = a_span(trace, 2, name="SELECT", parentSpanId=f"{1:016x}", **times)
        assert post(plumbd, spans_body(query, service="items"))[0] == 200
    strings = ["getFileInfo", "NameNode/10.0.0.1/77", "read", "FSClient/10.0.0.5/42"]
    with Sender(plumbd) as sender:
        ours = [span(100, 3, 0, BEGIN, 1000, parent=2), span(50, 1, 2, BEGIN, 5000, tracer=3)]
        assert sender.deliver(ours, strings=strings).status == OK
    plumbd.flush()
    yield plumbd
    plumbd.clean_up()


def ask(plumbd, path, status=200, **query):
    code, body = plumbd.fetch(f"{path}?{urllib.parse.urlencode(query, doseq=True)}" if query else path)
    assert code == status, body
    return json.loads(body)


def search(plumbd, **query):
    """As Jaeger's page asks: both ends of the period in microseconds, and words for itself."""
    period = {"start": BEGIN // 1000, "end": (BEGIN + 10**11) // 1000, "lookback": "custom"}
    return ask(plumbd, "/api/traces", **{**period, **query})["data"]


def test_services_and_operations(shop):
    """/api/services of both; operations as Grafana asks for them, and as Jaeger's page does."""
    answer = ask(shop, "/api/services")
    assert answer["data"] == ["HDFS client", "NameNode", "items", "shop∕web"]
    assert (answer["total"], answer["errors"]) == (4, None)
    service = urllib.parse.quote("shop∕web", safe="")
    assert ask(shop, f"/api/services/{service}/operations")["data"] == ["GET /order"]
    assert ask(shop, "/api/services/HDFS%20client/operations")["data"] == ["read"]
    kinds = ask(shop, "/api/operations", service="NameNode", spanKind="server")["data"]
    assert kinds == [{"name": "getFileInfo", "spanKind": ""}]


def test_trace(shop):
    """What Grafana's types and Jaeger's page read of a trace, by its whole id and by ours."""
    whole = f"{HIGH << 64 | 100:032x}"
    answer = ask(shop, f"/api/traces/{whole}")
    (trace,) = answer["data"]
    assert ask(shop, f"/api/traces/{100:x}")["data"] == [trace]
    assert trace["traceID"] == whole and trace["warnings"] is None and len(trace["spans"]) == 3
    spans = {span["operationName"]: span for span in trace["spans"]}
    services = {name: trace["processes"][span["processID"]]["serviceName"] for name, span in spans.items()}
    assert services == {"GET /order": "shop∕web", "SELECT": "items", "getFileInfo": "NameNode"}

    page = spans["GET /order"]
    assert (page["traceID"], page["spanID"]) == (whole, f"{1:016x}")
    assert (page["startTime"], page["duration"]) == (BEGIN // 1000, 1000)
    assert {"key": "order", "type": "string", "value": "0"} in page["tags"]
    assert page["logs"] == [
        {
            "timestamp": BEGIN // 1000 + 5,
            "fields": [{"key": "event", "type": "string", "value": "looked up"}],
        }
    ]
    follows = {"refType": "FOLLOWS_FROM", "traceID": f"{HIGH << 64 | 7:032x}", "spanID": f"{9:016x}"}
    assert page["references"] == [follows]
    child = {"refType": "CHILD_OF", "traceID": whole, "spanID": f"{1:016x}"}
    assert spans["SELECT"]["references"] == [child]
    tags = {tag["key"]: tag["value"] for tag in trace["processes"][page["processID"]]["tags"]}
    assert tags.items() >= {"hostname": "web-1", "host.name": "web-1", "service.name": "shop/web"}.items()
    tags = {tag["key"]: tag["value"] for tag in trace["processes"][spans["getFileInfo"]["processID"]]["tags"]}
    assert tags == {"process": "NameNode", "hostname": "10.0.0.1", "pid": 77}


def orders(traces):
    return [int(trace["traceID"], 16) & 0xFF for trace in traces]


def test_search(shop):
    """Each parameter of the forms of both, alone and together; newest first."""
    newest = [109 - i for i in range(10)]
    assert orders(search(shop, service="shop∕web")) == newest
    assert orders(search(shop, service="items", operation="SELECT")) == newest
    assert orders(search(shop, service="shop∕web", limit=3)) == newest[:3]
    assert orders(search(shop, service="shop∕web", minDuration="4.5ms", maxDuration="8000us")) == [107, 106, 105, 104]
    assert orders(search(shop, service="shop∕web", tags='{"order":"4"}')) == [104]
    assert orders(search(shop, service="shop∕web", tag="order:5")) == [105]
    assert orders(search(shop, service="shop∕web", tags='{"error":"true"}')) == [103]
    (failed,) = search(shop, service="shop∕web", tags='{"error":"true"}')
    assert {"key": "error", "type": "bool", "value": True} in failed["spans"][0]["tags"]
    assert orders(search(shop, service="NameNode")) == [100]
    assert orders(search(shop, service="HDFS client")) == [50]
    assert search(shop, service="HDFS client", operation="write") == []
    assert search(shop, service="nobody") == []
    first_two = {"start": BEGIN // 1000, "end": BEGIN // 1000 + 1_500_000}
    assert orders(search(shop, service="items", **first_two)) == [101, 100]
    assert orders(ask(shop, "/api/traces", traceID=[f"{50:016x}", f"{HIGH << 64 | 101:032x}"])["data"]) == [50, 101]


def test_duration_of_a_call(plumbd):
    """The oldest of many traces has the one call of its operation that is short enough: it is found by that."""
    for number in range(1, 60):
        at = BEGIN + number * 10**9
        times = {"startTimeUnixNano": str(at), "endTimeUnixNano": str(at + (1000 if number == 1 else 10**6))}
        outer = a_span(number, 1, startTimeUnixNano=str(at), endTimeUnixNano=str(at + 2 * 10**6))
        inner = a_span(number, 2, name="SELECT", parentSpanId=f"{1:016x}", **times)
        assert post(plumbd, spans_body(outer, inner, service="items"))[0] == 200
    plumbd.flush()
    assert orders(search(plumbd, service="items", operation="SELECT", maxDuration="10us", limit=1)) == [1]
    assert orders(search(plumbd, service="items", operation="SELECT", minDuration="1ms", limit=1)) == [59]
    assert search(plumbd, service="items", operation="SELECT", minDuration="1.1ms", limit=1) == []


def test_dependencies(shop):
    """As Jaeger's page asks for its graph: who calls whom, how often."""
    found = ask(shop, "/api/dependencies", endTs=(BEGIN + 10**12) // 10**6, lookback=604_800_000)["data"]
    assert found == [
        {"parent": "items", "child": "NameNode", "callCount": 1},
        {"parent": "shop∕web", "child": "items", "callCount": 10},
    ]
    assert ask(shop, "/api/dependencies", endTs=1000, lookback=1000)["data"] == []


@pytest.mark.parametrize(
    "path, query, status",
    [
        ("/api/traces/xyz", {}, 400),
        (f"/api/traces/{12345:032x}", {}, 404),
        (f"/api/traces/{HIGH + 1 << 64 | 100:032x}", {}, 404),
        ("/api/traces", {}, 400),
        ("/api/traces", {"service": "items", "minDuration": "long"}, 400),
        ("/api/traces", {"service": "items", "tags": "[]"}, 400),
        ("/api/traces", {"service": "items", "start": "yesterday"}, 400),
        ("/api/operations", {}, 400),
        ("/api/services/items/nothing", {}, 404),
    ],
)
def test_errors(shop, path, query, status):
    """As both read them: {"errors": [{"code", "msg"}]}."""
    answer = ask(shop, path, status, **query)
    if path != "/api/services/items/nothing":
        (error,) = answer["errors"]
        assert error["code"] == status and error["msg"]
