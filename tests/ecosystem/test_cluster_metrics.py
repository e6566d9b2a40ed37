"""What /metrics says of functions and hosts: it is what the store says, whatever came late; and Prometheus takes it."""

import json
import re
import subprocess
import urllib.request
from collections import Counter

import pytest

from tests.conftest import ROOT
from tests.ecosystem.prometheus import tool
from tests.ecosystem.test_otlp import BEGIN, a_span, attribute, post, spans_body
from tests.receiver.waiting import wait_for

SAMPLE = re.compile(r"(?P<name>plumbd_\w+)\{(?P<labels>.*)\} (?P<value>\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def samples(plumbd, metric):
    """{values of the labels, in their order: value}"""
    _, body = plumbd.fetch("/metrics")
    found = (SAMPLE.fullmatch(line) for line in body.decode().splitlines())
    rows = [match for match in found if match and match["name"] == metric]
    return {tuple(value for _, value in LABEL.findall(row["labels"])): float(row["value"]) for row in rows}


def error_span(number, value, key="error", **more):
    return a_span(1, number, name=f"work {value}", attributes=[attribute(key, value)], **more)


def test_figures_are_those_of_the_store(make_plumbd, build_dir):
    """Of a load with spans that come late, twice and never, in hundreds of groups."""
    plumbd = make_plumbd(trace__idle="5ms").start()
    thrift = f"{plumbd.thrift[0]}:{plumbd.thrift[1]}"
    load = [build_dir / "bench/bench_load", "--model", ROOT / "bench/model/hdfs-3.3.1.jsonl", "--thrift", thrift]
    sizes = ["--spans", "60000", "--hosts", "40", "--nanoseconds", "--late", "0.05", "--repeated", "0.05"]
    subprocess.run([*load, *sizes], check=True, capture_output=True)
    plumbd.flush()
    assert plumbd.stored()["late_spans"] > 0

    rows = plumbd.ask("functions?limit=0")["functions"]
    stored = {(row["function"], row["role"]): row for row in rows}
    calls = samples(plumbd, "plumbd_function_seconds_count")
    seconds = samples(plumbd, "plumbd_function_seconds_sum")
    own = samples(plumbd, "plumbd_function_self_seconds_total")
    shown = {key for key in calls if key[0] != "(other)"}
    assert len(stored) > len(shown) == 100
    for key in shown:
        assert calls[key] == stored[key]["calls"]
        assert seconds[key] == pytest.approx(stored[key]["total_ns"] / 1e9, rel=1e-9)
        # A call's own time was more before spans below it came.
        assert own[key] >= stored[key]["self_ns"] / 1e9 * 0.999999
    assert sum(calls.values()) == sum(row["calls"] for row in rows)
    assert sum(samples(plumbd, "plumbd_host_calls_total").values()) == sum(row["calls"] for row in rows)


def test_steps(plumbd):
    """A duration that is a bound itself counts below it."""
    durations = [0, 100_000, 100_001, 999_999, 1_000_000, 1_000_001, 60_000_000_000, 60_000_000_001]
    spans = [a_span(n + 1, 1, endTimeUnixNano=str(BEGIN + ns)) for n, ns in enumerate(durations)]
    assert post(plumbd, spans_body(*spans))[0] == 200
    plumbd.flush()
    steps = samples(plumbd, "plumbd_function_seconds_bucket")
    for (_, _, le), calls in steps.items():
        assert calls == sum(ns <= float(le) * 1e9 for ns in durations), le
    assert len(steps) == 13


def test_errors(plumbd):
    """By OpenTelemetry's, Zipkin's and our agent's annotations, of a host; each call once, though its trace is stored
    again when late spans come, and its begin moves."""
    spans = [error_span(1, "true"), error_span(2, ""), error_span(3, "java.io.IOException", "exception")]
    both = [attribute("error", "true"), attribute("exception", "java.io.IOException")]
    spans += [error_span(4, "false"), a_span(1, 5, name="work twice", attributes=both), a_span(1, 6, name="work well")]
    moved = str(BEGIN - 5_000_000_000)
    late = [error_span(7, "late"), a_span(1, 8, name="work early", startTimeUnixNano=moved, endTimeUnixNano=moved)]
    for group in (spans, late):
        assert post(plumbd, spans_body(*group, **{"host.name": "web-1"}))[0] == 200
        plumbd.flush()
    assert plumbd.stored()["late_spans"] == 2

    errors = samples(plumbd, "plumbd_function_errors_total")
    failed = {function for (function, _), n in errors.items() if n > 0}
    assert failed == {f"shop: work {what}" for what in ("true", "", "java.io.IOException", "twice", "late")}
    assert sum(errors.values()) == 5
    assert samples(plumbd, "plumbd_host_errors_total") == {("web-1", "client", "other"): 5}
    assert samples(plumbd, "plumbd_host_calls_total") == {("web-1", "client", "other"): 8}


def test_text_is_as_prometheus_wants_it(plumbd):
    names = ['say "no"', "back\\slash", "two\nlines", "umläut"]
    assert post(plumbd, spans_body(*[a_span(n + 1, 1, name=name) for n, name in enumerate(names)]))[0] == 200
    plumbd.flush()
    _, body = plumbd.fetch("/metrics")
    done = subprocess.run([tool("promtool"), "check", "metrics"], input=body, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(samples(plumbd, "plumbd_function_seconds_count")) == len(names)


@pytest.mark.parametrize(
    "accept, open_metrics",
    [
        (None, False),
        ("*/*", False),
        ("text/plain", False),
        ("application/openmetrics-text; version=1.0.0", True),
        ("application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", True),
        ("application/openmetrics-text;q=0.2,text/plain;version=0.0.4;q=0.5", False),
        ("application/openmetrics-text;q=0", False),
    ],
)
def test_form_is_what_the_reader_wants_most(plumbd, accept, open_metrics):
    request = urllib.request.Request(f"http://{plumbd.http}/metrics", headers={"Accept": accept} if accept else {})
    with urllib.request.urlopen(request) as reply:
        kind, body = reply.headers["Content-Type"], reply.read().decode()
    assert kind.startswith(
        "application/openmetrics-text; version=1.0.0" if open_metrics else "text/plain; version=0.0.4"
    )
    assert body.endswith("# EOF\n") is open_metrics
    assert ("# TYPE plumbd_spans counter" in body) is open_metrics
    assert ("# TYPE plumbd_spans_total counter" in body) is not open_metrics


def test_exemplars_lead_to_traces(scraped):
    """Prometheus asks for OpenMetrics by itself; what it keeps of exemplars are traces that plumbd has."""
    plumbd, prometheus = scraped
    found = prometheus.ask("query_exemplars", query="plumbd_function_seconds_bucket", start=0, end=4e9)
    exemplars = [one for series in found for one in series["exemplars"]]
    assert exemplars
    for exemplar in exemplars:
        trace = plumbd.ask(f"trace?id={exemplar['labels']['trace_id']}")
        assert float(exemplar["value"]) in [span["duration_ns"] / 1e9 for span in trace["spans"]]
    assert json.dumps(found).count("trace_id") == len(exemplars)


def test_stragglers_of_spark(make_plumbd, plumb_program):
    """Of recorded event logs: as many, and for the same causes, as `why` says of each application."""
    plumbd = make_plumbd().start()
    assert plumbd.stop() == 0
    logs = [ROOT / f"tests/data/spark/4.3.0/{name}.zstd" for name in ("normal", "killed", "codec_zstd")]
    subprocess.run([plumb_program, "import", "--store", plumbd.store, *logs], check=True, capture_output=True)
    plumbd.start()
    wait_for(lambda: samples(plumbd, "plumbd_spark_applications")[("counted",)] == 3)

    causes = {cause: n for (cause,), n in samples(plumbd, "plumbd_spark_stragglers").items() if n > 0}
    expected = Counter()
    for app in plumbd.ask("apps")["apps"]:
        for straggler in plumbd.ask(f"why?app={app['app']}&limit=0")["stragglers"]:
            expected[straggler.get("main_cause", {}).get("topic", "unknown")] += 1
    assert causes == dict(expected) and sum(causes.values()) == 4
    tasks = sum(plumbd.ask(f"why?app={app['app']}")["tasks"] for app in plumbd.ask("apps")["apps"])
    assert plumbd.metrics()["plumbd_spark_tasks"] == tasks
