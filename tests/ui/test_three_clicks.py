"""From a slow application of Spark to the disk that made it slow: three clicks, and what is said at each is plumb's."""

import re

import pytest

from tests.ui import load, spark

SLOW_HOST = load.host_of(load.SLOW)
COUNT_CLICKS = "addEventListener('click', () => (window.clicks = (window.clicks ?? 0) + 1), true)"
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


def ns(text):
    """A duration as the page writes it: three digits."""
    number, unit = re.search(r"([\d.]+) (ns|µs|ms|s)\b", text).groups()
    return float(number) * UNITS[unit]


def size(count):
    return f"{count / 1e6:.2f} MB" if count else "0 B"


def three_digits(value):
    return pytest.approx(value, rel=0.006)


def most_waited(document):
    """(function, host, share) of a trace: what its root waited for longest."""
    sums = {}
    for span in document["spans"]:
        kind = (span["function"], span["host"])
        sums[kind] = sums.get(kind, 0) + span["critical_ns"]
    most = max(sums, key=sums.get)
    return *most, sums[most] / document["duration_ns"]


def test_three_clicks_from_an_application_to_its_disk(busy, ask_plumb, open_page):
    why = ask_plumb(busy, "why", busy.app, "--limit", "50")
    page = open_page(busy)
    page.open(f"app/{busy.app}")
    page.page.evaluate(COUNT_CLICKS)

    # The application: what held it most.
    suspect = why["suspects"][0]
    assert (suspect["host"], suspect["resource"]) == (SLOW_HOST, "disk")
    said = page.text(".sentence")
    held = f"What held it most: disk of {suspect['process']}, for which {suspect['tasks']} tasks waited "
    assert held in said and ns(said.split(held)[1]) == three_digits(suspect["explains_ns"])

    # Its stage with slow tasks: how many, and what they waited for.
    stage = ask_plumb(busy, "why", busy.app, "--stage", "0.0", "--limit", "50")
    page.page.get_by_role("link", name=re.compile(rf"^stage 0\.0 · {stage['stragglers_total']} slow:")).click()
    page.page.locator("h1", has_text="Stage 0.0").wait_for()
    page.settle()
    assert page.text(".sentence").startswith(f"{stage['stragglers_total']} tasks took 1.5 times")
    assert page.text(".suspects").startswith(f"disk of {suspect['process']}: {suspect['tasks']} tasks")

    # Its slowest task: why, and through which calls. It is in sight without scrolling.
    worst = max(stage["stragglers"], key=lambda one: one["scale"])
    page.page.locator(f".lane-bar[aria-label^='task {worst['task']},']").click()
    panel = page.page.locator(".panel")
    panel.get_by_role("link", name="Its slowest call").wait_for()
    assert page.text(".panel h2") == f"Task {worst['task']}"
    cause = panel.locator("p", has_text="explains").inner_text()
    assert cause.startswith(f"disk of {worst['main_cause']['suspect']['process']} (HDFS, explains ")
    assert ns(cause.split("explains")[1]) == three_digits(worst["main_cause"]["explains_ns"])
    path = worst["main_cause"]["suspect"]["path"]
    assert panel.locator(".path bdi").all_inner_texts() == [call["function"] for call in path]
    hdfs = worst["hdfs"]
    assert hdfs["bytes"] == spark.READS_PER_TASK * 1_048_576
    read = panel.locator("p", has_text="from DataNodes").inner_text()
    parts = [size(hdfs[name]) for name in ("bytes", "remote_bytes", "local_bytes")]
    assert read == "It read {} from DataNodes, {} of it from other hosts, and {} from files of its own host.".format(
        *parts
    )
    box = panel.get_by_role("link", name="Its slowest call").bounding_box()
    assert box["y"] + box["height"] < page.page.viewport_size["height"]

    # Its trace, at the slowest call: what it is, where, and that all else waited for it.
    panel.get_by_role("link", name="Its slowest call").click()
    page.page.get_by_role("heading", level=1, name=f"Trace {hdfs['trace']}").wait_for()
    page.settle()
    document = ask_plumb(busy, "trace", hdfs["trace"])
    (call,) = [span for span in document["spans"] if span["span"] == path[-1]["span"]]
    assert (call["function"], call["host"]) == (path[-1]["function"], SLOW_HOST)
    assert page.text("[role=option][aria-selected=true] bdi") == call["function"]
    panel.locator(".annotations").first.wait_for()
    text = page.text(".panel")
    assert call["span"] in text and SLOW_HOST in text
    facts = dict(zip(panel.locator("dt").all_inner_texts(), panel.locator("dd").all_inner_texts(), strict=True))
    assert ns(facts["duration"]) == three_digits(call["duration_ns"])
    function, host, share = most_waited(document)
    said = re.search(r"([\d.]+) % of it was waited for (\S+) on (\S+)\.$", page.text(".sentence"))
    assert said.groups()[1:] == (function, host) == (call["function"], SLOW_HOST)
    assert float(said.group(1)) == pytest.approx(100 * share, abs=0.06)

    assert page.page.evaluate("window.clicks") == 3
    page.page.go_back()
    page.page.locator(".panel h2", has_text=f"Task {worst['task']}").wait_for()
