"""Zipkin's query API: what Zipkin's own library of Java reads of the answers, and the requests that Grafana's Zipkin
data source (12.x) and Zipkin's page (3.4) make."""

import json
import subprocess
import urllib.parse

import pytest

from script.hdfs.jars import whole_jar
from tests.conftest import ROOT, Plumbd
from tests.ecosystem.test_otlp import post
from tests.receiver.sender import OK, Sender, span

VERSION = "3.4.4"
BEGIN_US = 1_790_000_000_000_000
HIGH = 0x5B8EFFF798038103
DAY_MS = 24 * 3600 * 1000


@pytest.fixture(scope="session")
def zipkin_jar():
    return whole_jar("io.zipkin.zipkin2", "zipkin", VERSION)


@pytest.fixture
def read(zipkin_jar):
    """read("spans" or "links", documents): what Zipkin's library makes of each."""

    def run_java(kind, documents):
        lines = "".join(f"{kind} {json.dumps(document)}\n" for document in documents)
        command = ["java", "-XX:TieredStopAtLevel=1", "-cp", zipkin_jar, ROOT / "tests/ecosystem/ReadZipkin.java"]
        done = subprocess.run(command, input=lines, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run_java


def order_spans(order):
    """As a reporter of Zipkin sends them: a web page that asks a shop, which fails once."""
    trace, times = f"{HIGH << 64 | 100 + order:032x}", {"timestamp": BEGIN_US + order * 10**6}
    web, shop = {"serviceName": "web", "ipv4": "10.0.0.1"}, {"serviceName": "shop", "ipv6": "2001:db8::1"}
    failed = {"error": "no such thing"} if order == 3 else {}
    client = {
        **{"traceId": trace, "id": f"{1:016x}", "kind": "CLIENT", "name": "get /order"},
        **{"localEndpoint": web, "remoteEndpoint": {"serviceName": "shop"}, **times, "duration": 1000 * (order + 1)},
        "tags": {"order": str(order), **failed},
        "annotations": [{"timestamp": times["timestamp"] + 5, "value": "looked up"}],
    }
    server = {
        **{"traceId": trace, "parentId": f"{1:016x}", "id": f"{2:016x}", "kind": "SERVER", "name": "order"},
        **{"localEndpoint": shop, **times, "duration": 10},
    }
    return [client, server]


@pytest.fixture(scope="module")
def shop(plumbd_program, tmp_path_factory):
    """Ten orders, the first of which goes on in an HDFS; and one trace of HDFS alone."""
    plumbd = Plumbd(plumbd_program, tmp_path_factory.mktemp("shop")).start()
    for order in range(10):
        assert post(plumbd, json.dumps(order_spans(order)).encode(), path="/api/v2/spans")[0] == 202
    strings = ["getFileInfo", "NameNode/10.0.0.9/77", "read", "FSClient/nn.example.org/42"]
    begin = BEGIN_US * 1000
    with Sender(plumbd) as sender:
        ours = [span(100, 3, 0, begin, 1000, parent=2), span(50, 1, 2, begin, 999, tracer=3)]
        assert sender.deliver(ours, strings=strings).status == OK
    plumbd.flush()
    yield plumbd
    plumbd.clean_up()


def ask(plumbd, path, status=200, **query):
    code, body = plumbd.fetch(f"/api/v2/{path}?{urllib.parse.urlencode(query)}" if query else f"/api/v2/{path}")
    assert code == status, body
    return json.loads(body)


def search(plumbd, **query):
    """As Zipkin's page asks; the orders that were found."""
    period = {"endTs": BEGIN_US // 1000 + DAY_MS // 2, "lookback": DAY_MS}
    traces = ask(plumbd, "traces", **{**period, **query})
    return [int(trace[0]["traceId"], 16) & 0xFF for trace in traces]


def by_name(spans):
    return {span["name"]: span for span in spans}


def test_library_reads_a_trace(shop, read):
    """All that a reporter sent is there again."""
    answers = [ask(shop, f"trace/{HIGH << 64 | 100 + order:032x}") for order in range(10)]
    for order, spans in enumerate(read("spans", answers)):
        got = by_name(spans)
        for sent in order_spans(order):
            span_read = got[sent["name"]]
            tags = span_read.pop("tags")
            assert span_read == {name: value for name, value in sent.items() if name != "tags"}
            assert tags.items() >= sent.get("tags", {}).items()
    (inner,) = [
        one for one in read("spans", answers[:1])[0] if one["name"] == "getfileinfo"
    ]  # it takes them in lower case
    assert (inner["parentId"], inner["duration"]) == (f"{2:016x}", 1)
    assert inner["localEndpoint"] == {"serviceName": "namenode", "ipv4": "10.0.0.9"}
    assert inner["tags"] == {"process": "NameNode", "hostname": "10.0.0.9", "pid": "77"}


def test_short_ids(shop):
    """A trace of 64 bits, less than a microsecond long, of a host with a name."""
    (one,) = ask(shop, f"trace/{50:x}")
    assert (one["traceId"], one["duration"]) == (f"{50:016x}", 1)
    assert one["localEndpoint"] == {"serviceName": "HDFS client"}
    assert one["tags"]["hostname"] == "nn.example.org" and "parentId" not in one


def test_names(shop):
    """As Grafana's query editor asks for its lists, and Zipkin's page."""
    assert ask(shop, "services") == ["HDFS client", "NameNode", "shop", "web"]
    assert ask(shop, "spans", serviceName="web") == ["get /order"]
    assert ask(shop, "spans", serviceName="HDFS client") == ["read"]
    assert ask(shop, "spans", serviceName="nobody") == []
    assert ask(shop, "remoteServices", serviceName="web", endTs=BEGIN_US // 1000 + 1000, lookback=DAY_MS) == ["shop"]
    assert ask(shop, "autocompleteKeys") == [] == ask(shop, "autocompleteValues", key="order")


def test_search(shop):
    newest = [109 - i for i in range(10)]
    assert search(shop, serviceName="web") == newest
    assert search(shop, serviceName="shop", spanName="order", limit=2) == newest[:2]
    assert search(shop, serviceName="web", minDuration=4500, maxDuration=8000) == [107, 106, 105, 104]
    assert search(shop, minDuration=9000) == [109, 108]
    assert sorted(search(shop, limit=100)) == [50, *reversed(newest)]
    assert search(shop, serviceName="web", annotationQuery="order=4") == [104]
    assert search(shop, serviceName="web", annotationQuery="order=3 and error") == [103]
    assert search(shop, annotationQuery="error") == [103]
    assert search(shop, serviceName="NameNode") == [100]
    assert search(shop, serviceName="nobody") == []
    assert search(shop, serviceName="web", endTs=BEGIN_US // 1000 + 1500, lookback=2000) == [101, 100]
    assert len(ask(shop, "traces", serviceName="web", endTs=BEGIN_US // 1000 + 20_000, lookback=30_000)) == 10


def test_many(shop):
    """Those that are there, in the order of the question."""
    ids = [f"{HIGH << 64 | 101:032x}", f"{12345:016x}", f"{50:016x}"]
    traces = ask(shop, "traceMany", traceIds=",".join(ids))
    assert [trace[0]["traceId"] for trace in traces] == [ids[0], ids[2]]


def test_dependencies(shop, read):
    found = ask(shop, "dependencies", endTs=BEGIN_US // 1000 + DAY_MS // 2, lookback=DAY_MS)
    assert read("links", [found]) == [
        [
            {"parent": "shop", "child": "namenode", "callCount": 1},
            {"parent": "web", "child": "shop", "callCount": 10},
        ]
    ]


def test_grafana(shop):
    """The data source's requests: its test, a trace, and the list of traces of its old explorer."""
    assert "web" in ask(shop, "services")
    whole = f"{HIGH << 64 | 100:032x}"
    spans = ask(shop, f"trace/{urllib.parse.quote(whole)}")
    # What its transformation reads of each.
    for one in spans:
        assert one["traceId"] == whole and one["id"] and one["name"] and one["timestamp"] and one["duration"]
        assert one["localEndpoint"]["serviceName"]
        assert all(isinstance(value, str) for value in one.get("tags", {}).values())
    traces = ask(
        shop, "traces", serviceName="web", spanName="get /order", endTs=BEGIN_US // 1000 + 60_000, lookback=3_600_000
    )
    assert [trace[0]["name"] for trace in traces] == ["get /order"] * 10


@pytest.mark.parametrize(
    "path, query, status",
    [
        ("trace/xyz", {}, 400),
        (f"trace/{12345:032x}", {}, 404),
        (f"trace/{HIGH + 1 << 64 | 100:032x}", {}, 404),
        ("spans", {}, 400),
        ("remoteServices", {}, 400),
        ("traceMany", {}, 400),
        ("traceMany", {"traceIds": "x,y"}, 400),
        ("traceMany", {"traceIds": ",".join(["1"] * 101)}, 400),
        ("traces", {"endTs": "yesterday"}, 400),
        ("traces", {"minDuration": "1ms"}, 400),
        ("nothing", {}, 404),
    ],
)
def test_errors(shop, path, query, status):
    assert ask(shop, path, status, **query)["error"]


def test_spans_are_sent_and_asked_for_on_one_path(shop):
    assert shop.fetch("/api/v2/spans", "GET")[0] == 400  # which service?
    assert post(shop, b"[]", path="/api/v2/spans")[0] == 202
    assert shop.fetch("/api/v2/services", "POST")[0] == 405
