"""Version 3 of Jaeger's query API: the requests of its gateway's tests (jaeger 2, apiv3/http_gateway_test.go,
query_parser_test.go), with what they expect, over stored traces."""

import datetime

import pytest

from tests.ecosystem.test_jaeger import BEGIN, HIGH, ask, shop  # noqa: F401
from tests.ecosystem.test_otlp import a_span, post, spans_body

WHOLE = f"{HIGH << 64 | 100:032x}"
FORMS = {
    "camel": [
        "serviceName",
        "operationName",
        "startTimeMin",
        "startTimeMax",
        "durationMin",
        "durationMax",
        "searchDepth",
    ],
    "snake": [
        "service_name",
        "operation_name",
        "start_time_min",
        "start_time_max",
        "duration_min",
        "duration_max",
        "num_traces",
    ],
}
NAMES = FORMS["camel"]


def rfc3339(ns):
    """With nanoseconds."""
    moment = datetime.datetime.fromtimestamp(ns // 10**9, datetime.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ns % 10**9:09d}Z"


PERIOD = {"query.startTimeMin": rfc3339(BEGIN), "query.startTimeMax": rfc3339(BEGIN + 10**11)}


def spans_of(answer):
    """{(service, name): span}, the last of each."""
    found = {}
    for resource in answer["result"]["resourceSpans"]:
        said = {one["key"]: next(iter(one["value"].values())) for one in resource["resource"]["attributes"]}
        for scope in resource["scopeSpans"]:
            found |= {(said["service.name"], span["name"]): span for span in scope["spans"]}
    return found


def attributes(span):
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


def orders(answer):
    return [int(one["traceId"], 16) & 0xFF for one in answer["summaries"]]


def test_services_and_operations(shop):  # noqa: F811
    services = ask(shop, "/api/v3/services")
    assert services == {"services": ["HDFS client", "NameNode", "items", "shop/web"]}
    page = ask(shop, "/api/v3/operations", service="shop/web")
    assert page == {"operations": [{"name": "GET /order", "spanKind": "internal"}]}
    for kind in ("spanKind", "span_kind"):
        names = ask(shop, "/api/v3/operations", service="NameNode", **{kind: "server"})["operations"]
        assert [one["name"] for one in names] == ["getFileInfo"]
    assert ask(shop, "/api/v3/operations", service="nobody") == {"operations": []}


@pytest.mark.parametrize("path", [WHOLE, f"{100:x}", f"{WHOLE}?rawTraces=true&startTime={rfc3339(BEGIN)}"])
def test_trace(shop, path):  # noqa: F811
    spans = spans_of(ask(shop, f"/api/v3/traces/{path}"))
    assert set(spans) == {("shop/web", "GET /order"), ("items", "SELECT"), ("NameNode", "getFileInfo")}
    assert {span["traceId"] for span in spans.values()} == {WHOLE}
    page, query = spans["shop/web", "GET /order"], spans["items", "SELECT"]
    assert (page["startTimeUnixNano"], page["endTimeUnixNano"]) == (str(BEGIN), str(BEGIN + 10**6))
    assert page["spanId"] == query["parentSpanId"] == f"{1:016x}" and "parentSpanId" not in page
    assert attributes(page)["order"] == "0" and page["events"][0]["name"] == "looked up"
    assert page["links"][0]["traceId"] == f"{HIGH << 64 | 7:032x}"


def test_a_role_has_its_service(shop):  # noqa: F811
    """What is found by a service of the list says that service, and which process it was."""
    found = ask(shop, "/api/v3/traces", **{"query.serviceName": "HDFS client", **PERIOD})
    ((service, _), span) = next(iter(spans_of(found).items()))
    assert service == "HDFS client" and attributes(span)["process"] == "FSClient"


@pytest.mark.parametrize("form", FORMS)
def test_search(shop, form):  # noqa: F811
    """Each parameter, by both of its names."""
    service, operation, begin, end, least, most, depth = (f"query.{name}" for name in FORMS[form])
    period = {begin: rfc3339(BEGIN), end: rfc3339(BEGIN + 10**11)}

    def search(**query):
        return orders(ask(shop, "/api/v3/trace-summaries", **period, **query))

    newest = [109 - i for i in range(10)]
    assert search(**{service: "shop/web"}) == newest
    assert search(**{service: "items", operation: "SELECT"}) == newest
    assert search(**{service: "shop/web", depth: 3}) == newest[:3]
    assert search(**{service: "shop/web", least: "4.5ms", most: "8000us"}) == [107, 106, 105, 104]
    assert search(**{service: "shop/web", "query.attributes": '{"order":"4"}'}) == [104]
    assert search(**{service: "nobody"}) == []
    assert set(search()) == {50, *newest}
    period = {begin: rfc3339(BEGIN), end: rfc3339(BEGIN + 1_500_000_000).replace("Z", "+00:00")}
    assert search(**{service: "items"}) == [101, 100]


def test_summaries(shop):  # noqa: F811
    found = ask(shop, "/api/v3/trace-summaries", **{"query.serviceName": "shop/web", **PERIOD})["summaries"]
    by_id = {one["traceId"]: one for one in found}
    assert by_id[WHOLE] == {
        "traceId": WHOLE,
        "rootServiceName": "shop/web",
        "rootOperationName": "GET /order",
        "minStartTimeUnixNano": str(BEGIN),
        "maxEndTimeUnixNano": str(BEGIN + 10**6),
        "spanCount": 3,
        "errorSpanCount": 0,
        "orphanSpanCount": 0,
        "services": [
            {"name": "NameNode", "spanCount": 1, "errorSpanCount": 0},
            {"name": "items", "spanCount": 1, "errorSpanCount": 0},
            {"name": "shop/web", "spanCount": 1, "errorSpanCount": 0},
        ],
    }
    failed = by_id[f"{HIGH << 64 | 103:032x}"]
    assert failed["errorSpanCount"] == 1 and failed["services"][-1]["errorSpanCount"] == 1
    whole = ask(shop, "/api/v3/traces", **{"query.serviceName": "shop/web", **PERIOD})["result"]["resourceSpans"]
    spans = [span for resource in whole for scope in resource["scopeSpans"] for span in scope["spans"]]
    assert len(spans) == sum(one["spanCount"] for one in found)


@pytest.mark.parametrize(
    "path, query, status, said",
    [
        ("traces/xyz", {}, 400, "malformed parameter trace_id"),
        ("traces/1", {"startTime": "abc"}, 400, "malformed parameter startTime"),
        ("traces/1", {"end_time": "xyz"}, 400, "malformed parameter endTime"),
        ("traces/1", {"raw_traces": "foobar"}, 400, "malformed parameter rawTraces"),
        (f"traces/{HIGH + 1 << 64 | 100:032x}", {}, 404, "No traces found"),
        ("traces/12345", {}, 404, "No traces found"),
        ("traces", {"query.serviceName": "nobody", **PERIOD}, 404, "No traces found"),
        ("traces", {}, 400, "query.startTimeMin and query.startTimeMax are required"),
        ("trace-summaries", {"query.startTimeMin": rfc3339(BEGIN)}, 400, "are required"),
        ("traces", {**PERIOD, "query.startTimeMin": "NaN"}, 400, "malformed parameter query.startTimeMin"),
        ("traces", {**PERIOD, "query.startTimeMax": "1h"}, 400, "malformed parameter query.startTimeMax"),
        ("traces", {**PERIOD, "query.startTimeMin": PERIOD["query.startTimeMax"]}, 400, "must be before"),
        ("traces", {**PERIOD, "query.num_traces": "NaN"}, 400, "malformed parameter query.searchDepth"),
        ("traces", {**PERIOD, "query.durationMin": "NaN"}, 400, "query.durationMin"),
        ("traces", {**PERIOD, "query.duration_max": "NaN"}, 400, "query.durationMax"),
        ("traces", {**PERIOD, "query.rawTraces": "foobar"}, 400, "malformed parameter query.rawTraces"),
        ("traces", {**PERIOD, "query.attributes": "[]"}, 400, "query.attributes"),
        ("traces", {**PERIOD, "query.filter": '{"op":"eq"}'}, 400, "query.filter is not supported"),
    ],
)
def test_errors(shop, path, query, status, said):  # noqa: F811
    """In the form of its gateway."""
    answer = ask(shop, f"/api/v3/{path}", status, **query)
    assert answer["error"]["httpCode"] == status and said in answer["error"]["message"]


def test_limit(plumbd):
    """A trace that is larger than an answer says so to Jaeger's page."""
    times = {"startTimeUnixNano": str(BEGIN), "endTimeUnixNano": str(BEGIN + 1000)}
    for part in range(7):
        spans = [a_span(9, part * 3000 + i + 1, name="x", parentSpanId=f"{1:016x}", **times) for i in range(3000)]
        if part == 0:
            spans[0].pop("parentSpanId")
        assert post(plumbd, spans_body(*spans, service="many"))[0] == 200
    plumbd.flush()
    answer = ask(plumbd, "/api/v3/traces/9")
    spans = [span for one in answer["result"]["resourceSpans"] for span in one["scopeSpans"][0]["spans"]]
    assert len(spans) == 20000
    assert attributes(spans[0])["@jaeger@warnings"] == "20000 of 21000 spans: the rest is in plumb trace"
