"""Views that compare: hosts with their prediction, periods, patterns and traces, operations of Spark, open functions,
chosen traces. Their numbers are those of `plumb --json` and of the API."""

import csv
import io
import json
import re
import shlex
import subprocess
from urllib.parse import quote, urlencode

import pytest

from tests.ui import load, spark
from tests.ui.conftest import QUESTIONS
from tests.ui.test_views import digits

SLOW_HOST = load.host_of(load.SLOW)
CREATE = "DistributedFileSystem#create"


def two_traces(busy, ask_plumb):
    rows = ask_plumb(busy, "traces", "--function", CREATE, "--sort", "duration", "--limit", "400")["traces"]
    return rows[-1]["trace"], rows[0]["trace"]


def slow_area(busy, ask_plumb):
    """All time, from 300 ms up."""
    rows = ask_plumb(busy, "traces", "--limit", "0")["traces"]
    begins = [row["begin_time_ns"] for row in rows]
    longest = max(row["duration_ns"] for row in rows)
    return f"{min(begins)},{max(begins) + 1},300000000,{longest + 1}"


def addresses(busy, ask_plumb):
    quick, slow = two_traces(busy, ask_plumb)
    return {
        "hosts": ("hosts", {}),
        "host": (f"hosts/{SLOW_HOST}", {"open": "clock"}),
        "diff": ("diff", {"since": "21m"}),
        "diff-hosts": ("diff", {"since": "21m", "by": "host", "show": "all"}),
        "diff-traces": ("diff", {"kind": "trace", "a": quick, "b": slow}),
        "operations": (f"operations/{busy.app}", {}),
        "function-open": ("functions", {"open": quote("BlockReceiver#receiveBlock datanode")}),
        "overview-marks": ("overview", {}),
        "app-busy": (f"app/{busy.app}", {}),
        "stage-cause": (f"stage/{busy.app}", {"stage": "0.0", "as": "cause", "sel": "12", "lambda_p": "1.7"}),
        "traces-differ": ("traces", {"area": slow_area(busy, ask_plumb), "limit": "20", "tick": quick}),
    }


NAMES = ["hosts", "host", "diff", "diff-hosts", "diff-traces", "operations", "function-open", "traces-differ"]
NAMES += ["overview-marks", "app-busy", "stage-cause"]


MORE_QUESTIONS = {"overview-marks": 8, "app-busy": 9, "function-open": 9, "host": 6, "stage-cause": 6}


@pytest.mark.parametrize("name", NAMES)
def test_every_view_is_accessible(name, busy, ask_plumb, open_page):
    """In both themes, with a picture of each; and nothing of it is wider than a telephone."""
    view, values = addresses(busy, ask_plumb)[name]
    page = open_page(busy, color_scheme="light", reduced_motion="reduce")
    page.open(view, **values)
    page.asks_little(MORE_QUESTIONS.get(name, QUESTIONS))
    assert min(page.look_at_both_themes(name)) > 10
    page.fits_narrow_windows(name)


def test_hosts_agree_with_plumb(busy, ask_plumb, open_page):
    answer = ask_plumb(busy, "nodes", "--since", "1h", "--limit", "60")
    page = open_page(busy)
    page.open("hosts")
    spell = answer["spells"][0]
    assert spell["host"] == SLOW_HOST
    assert page.text(".sentence").startswith(
        f"{SLOW_HOST}: its {spell['layer']} is {spell['slowdown']:.1f} times slower than usual"
    )
    assert [cells[:2] for cells in page.cells("Hosts")] == [[row["host"], row["class"]] for row in answer["nodes"]]
    assert [digits(cells[6]) for cells in page.cells("Hosts")] == [row["calls"] for row in answer["nodes"]]
    waited = ask_plumb(busy, "hosts")["hosts"]
    assert [(cells[0], digits(cells[2])) for cells in page.cells("Tasks waited for")] == [
        (row["host"], row["tasks"]) for row in waited
    ]


def test_one_host_agrees_with_plumb(busy, ask_plumb, open_page):
    answer = ask_plumb(busy, "nodes", SLOW_HOST, "--since", "1h")
    page = open_page(busy)
    page.open("hosts")
    page.page.get_by_role("link", name=SLOW_HOST).first.click()
    page.page.locator("h1", has_text=SLOW_HOST).wait_for()
    page.settle()
    assert [(cells[0].split("\n")[-1], digits(cells[3])) for cells in page.cells("Functions")] == [
        (row["function"], row["calls"]) for row in answer["functions"]
    ]
    points = [point for line in answer["timeline"] for point in line["points"]]
    assert page.page.locator(".bad-point").count() == sum(point.get("bad", False) for point in points) > 0
    tasks = ask_plumb(busy, "hosts", SLOW_HOST)["tasks"]
    assert [int(cells[0].split()[0]) for cells in page.cells("Tasks")] == [row["task"] for row in tasks]
    page.page.get_by_role("button", name="Its processes").click()
    page.page.locator("caption", has_text="Senders").wait_for(state="attached")
    (sender,) = [row for row in ask_plumb(busy, "status", "--senders")["senders"] if SLOW_HOST in row["sender"]]
    assert digits(page.cells("Senders")[0][1]) == sender["received"]


def test_samples_tell_the_busiest_disk(busy):
    """The mean of the samples of each step, as they were sent."""
    made = spark.Application(busy.spark_sent_ns)
    host = load.host_of(3)
    sent = [record for record in made.records if record["spark"] == "sample" and record["host"] == host]
    answer = busy.ask(f"samples?host={host}&step=1m")
    since, step = answer["since_time_ns"], answer["step_ns"]
    assert answer["samples_total"] == len(sent) == sum(answer["samples"])
    for i, at in enumerate(answer["at"]):
        within = [one for one in sent if (int(one["timeNs"]) - since) // step == at]
        assert len(within) == answer["samples"][i]
        for name, values in (
            ("user", [one["user"] for one in within]),
            ("disk", [one["disks"][0]["util"] for one in within]),
            ("rx_bytes_per_s", [one["nets"][0]["rxBytes"] for one in within]),
        ):
            assert answer[name][i] == pytest.approx(sum(values) / len(values), rel=1e-4)
    assert answer["disk_name"] == "sdb"
    assert busy.ask("samples?host=nobody")["at"] == []


@pytest.mark.parametrize("by", [None, "host"])
def test_periods_agree_with_plumb(by, busy, ask_plumb, open_page):
    """The same absolute periods: relative ones move."""
    now = busy.ask("status")["store"]["last_time_ns"] // 60_000_000_000 * 60_000_000_000
    half = now - 20 * 60_000_000_000
    a, b = f"{half - 20 * 60_000_000_000}..{half}", f"{half}..{now}"
    page = open_page(busy)
    page.open("diff", since=half, until=now, show="all", **({"by": by} if by else {}))
    answer = ask_plumb(busy, "diff", a, b, "--limit", "300", *(["--by", by] if by else []))
    shown = page.cells("Changes")
    off = 1 if by else 0
    assert [cells[0].split("\n")[-1] for cells in shown] == [row["function"] for row in answer["rows"]]
    assert [cells[1 + off].split()[-1] for cells in shown] == [row["state"] for row in answer["rows"]]
    if by:
        assert [cells[1] for cells in shown] == [row["host"] for row in answer["rows"]]
        slower = [row["host"] for row in answer["rows"] if row["state"] == "slower"]
        assert SLOW_HOST in slower and SLOW_HOST in page.text(".sentence")


def test_a_period_up_to_now_is_asked_for_once(busy, open_page):
    """One that begins at a time, and one that ends before now: what was "now" does not change with each answer."""
    last = busy.ask("status")["store"]["last_time_ns"]
    page = open_page(busy)
    questions = []
    page.page.on("request", lambda request: questions.append(request.url) if "/api/v1/diff?" in request.url else None)
    for period in ({"since": last - 20 * 60_000_000_000}, {"since": "21m", "until": "1m"}):
        page.open("diff", **period)
        assert page.page.locator(".sentence").count() == 1
    assert len(questions) == 2


def test_two_ticked_traces_are_compared(busy, ask_plumb, open_page):
    page = open_page(busy)
    page.open("traces", function=quote(CREATE), sort="duration_ns", limit=30)
    ticks = page.page.get_by_role("checkbox")
    ids = [page.cells("Traces")[i][6] for i in (2, 0)]
    ticks.nth(2).check()
    ticks.nth(0).check()
    page.page.get_by_role("link", name="Compare the two that are ticked").click()
    page.page.get_by_role("heading", level=1, name="Diff").wait_for()
    page.settle()
    answer = ask_plumb(busy, "diff", *ids, "--limit", "0")
    rows = page.cells("Calls")
    assert [cells[0].split("\n")[-1] for cells in rows] == [row["function"] for row in answer["rows"]]
    assert [digits(cells[6]) for cells in rows] == [row.get("b", {"calls": 0})["calls"] for row in answer["rows"]]
    cells = page.page.locator(".icicle .cell")
    assert cells.count() > 3 and "tone-" in cells.first.get_attribute("class")
    page.page.get_by_role("button", name="swap").click()
    page.page.wait_for_url(re.compile(f"a={ids[1]}&b={ids[0]}"))


def test_patterns_are_picked(busy, ask_plumb, open_page):
    patterns = ask_plumb(busy, "forest", "--since", "1h", "--limit", "50")["patterns"]
    a, b = patterns[0]["pattern"], patterns[1]["pattern"]
    page = open_page(busy)
    page.open("diff", kind="pattern")
    assert page.text(".empty h2") == "Choose two patterns"
    page.page.get_by_label("before").select_option(a)
    page.page.get_by_label("after").select_option(b)
    page.page.locator("table.tree").wait_for()
    page.settle()
    rows = ask_plumb(busy, "diff", a, b, "--limit", "0")["rows"]
    assert [cells[1].split()[-1] for cells in page.cells("Calls")] == [row["state"] for row in rows]


def test_operations_agree_with_plumb(busy, ask_plumb, open_page):
    answer = ask_plumb(busy, "operations", busy.app, "--limit", "40")
    worst = max(answer["stages"], key=lambda stage: stage["top"][0]["is_ms2"])
    key = f"{worst['stage']}.{worst['stage_attempt']}"
    page = open_page(busy)
    page.open(f"app/{busy.app}")
    page.page.get_by_role("link", name="Its operations").click()
    page.page.locator("h1", has_text="Operations of nightly report").wait_for()
    page.settle()
    assert f"pattern {worst['pattern']}" in page.text(".card.open header") and worst["pattern"] == "G"
    assert [digits(cells[9]) for cells in page.cells(f"Operations of stage {key}")] == [
        row["instances"] for row in worst["operations"]
    ]
    assert [int(cells[0]) for cells in page.cells(f"Instances of stage {key}")] == [row["task"] for row in worst["top"]]
    pipelines = busy.ask(f"pipelines?app={busy.app}&stage={key}&limit=30")
    assert pipelines["pipelines_total"] == worst["pipelines"] == spark.JOIN_TASKS
    assert [int(one.inner_text()) for one in page.page.locator(".pipeline-name").all()] == [
        one["task"] for one in pipelines["pipelines"]
    ]
    assert page.page.locator("[aria-label='State of the JVM by group'] path").count() > 2


def test_pipelines_are_what_operations_count(busy, ask_plumb):
    """The extremes of each operation, and their sum over the tasks, are those of the table."""
    for stage in ask_plumb(busy, "operations", busy.app)["stages"]:
        key = f"{stage['stage']}.{stage['stage_attempt']}"
        answer = busy.ask(f"pipelines?app={busy.app}&stage={key}&limit=0")
        longest = [one["duration_ms"] for one in answer["pipelines"]]
        assert longest == sorted(longest, reverse=True)
        for i, row in enumerate(stage["operations"]):
            times = [one["operations_ms"][i] for one in answer["pipelines"]]
            assert min(times) == pytest.approx(row["min_ms"], rel=1e-5)
            assert max(times) == pytest.approx(row["max_ms"], rel=1e-5)
            assert sum(times) / len(times) == pytest.approx(row["mean_ms"], rel=1e-4)
    status, body = busy.fetch(f"/api/v1/pipelines?app={busy.app}&stage=77")
    assert status == 404 and b"no such stage" in body


def test_a_function_opens(busy, open_page):
    page = open_page(busy)
    page.open("functions")
    page.page.get_by_role("button", name="BlockReceiver#flushOrSync").click()
    page.page.locator(".host-list").wait_for()
    page.settle()
    answer = busy.ask("series?since=1h&by=host&role=datanode&function=BlockReceiver%23flushOrSync&sort=ratio&limit=8")
    assert [one.inner_text() for one in page.page.locator(".host-list a").all()] == [
        row["host"] for row in answer["series"]
    ]
    spread = busy.ask("distribution?since=1h&role=datanode&function=BlockReceiver%23flushOrSync")
    calls = spread["columns"][0]["calls"]
    assert page.page.locator(f"canvas[aria-label^='Durations over time of {calls:,} calls:']").count() == 1

    box = page.page.locator(".function-detail canvas").bounding_box()
    page.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 10)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + box["width"] - 30, box["y"] + 60)
    page.page.mouse.up()
    page.page.get_by_role("heading", level=1, name="Traces").wait_for()
    assert "function=BlockReceiver%23flushOrSync" in page.page.url and "call_min_duration=" in page.page.url


def drag(page, canvas, top, bottom):
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 70, box["y"] + top)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 26, box["y"] + bottom)
    page.mouse.up()


def test_what_differs_is_told(busy, ask_plumb, open_page):
    page = open_page(busy)
    page.open("traces", limit=20)
    counted = busy.ask("traces?since=1h&summary=true&limit=1")["counts"]
    assert counted["traces"] == sum(sum(column["counts"]) for column in counted["columns"])
    assert counted["traces"] == len(ask_plumb(busy, "traces", "--since", "1h", "--limit", "0")["traces"])
    assert f"All {counted['traces']:,} traces that match" in page.text(".chart")
    drag(page.page, page.page.locator(".chart canvas"), 8, 60)
    page.page.locator("caption", has_text="Differences").wait_for(state="attached")
    page.settle()
    since, until, least, most = re.search(r"area=(\d+)%2C(\d+)%2C(\d+)%2C(\d+)", page.page.url).groups()
    answer = busy.ask(
        f"contrast?since=1h&a_since={since}&a_until={until}&a_min_duration={least}ns&a_max_duration={most}ns&limit=12"
    )
    assert [cells[1] for cells in page.cells("Differences")] == [row["value"] for row in answer["rows"]]
    hosts = [row for row in answer["rows"] if row["kind"] == "host"]
    assert any(row["value"] == SLOW_HOST and row["a_share"] > row["b_share"] for row in hosts)
    page.page.get_by_role("button", name="Only these traces").click()
    page.page.wait_for_url(re.compile(f"min_duration={least}ns"))
    page.settle()
    assert f"{answer['a_traces']} traces match" in page.text(".sentence") or "that match" in page.text(".sentence")


def test_contrast_counts_each_trace_once(busy, ask_plumb):
    """The shares, counted again from all spans of all traces."""
    answer = busy.ask("contrast?function=DFSInputStream%23read&a_min_duration=8ms&limit=0")
    rows = ask_plumb(busy, "traces", "--function", "DFSInputStream#read", "--limit", "0")["traces"]
    slow = {row["trace"] for row in rows if row["duration_ns"] >= 8_000_000}
    assert (answer["a_traces"], answer["b_traces"]) == (len(slow), len(rows) - len(slow))
    with_host = set()
    for line in busy.export():
        if SLOW_HOST in line.get("r", ""):
            with_host.add(line["a"][:16])
    among = {row["trace"] for row in rows}
    (row,) = [row for row in answer["rows"] if (row["kind"], row["value"]) == ("host", SLOW_HOST)]
    assert row["a_traces"] == len(with_host & slow)
    assert row["b_traces"] == len(with_host & (among - slow))
    status, body = busy.fetch("/api/v1/contrast?function=x")
    assert status == 400 and b"a_min_duration" in body


def test_two_clicks_lead_from_the_map_to_the_host(busy, open_page):
    """The sentence names it, its panel leads on; there it is said what is slow, since when, and what helps."""
    page = open_page(busy)
    page.open("overview")
    page.page.locator(".sentence").get_by_role("link", name=SLOW_HOST).click()
    page.page.get_by_role("link", name="This host").click()
    page.page.locator("h1", has_text=SLOW_HOST).wait_for()
    page.settle()
    assert page.text(".sentence").startswith("Its disk is ") and "since" in page.text(".sentence")
    assert "smartctl" in page.text(".spell")


def test_nothing_stored_nothing_chosen(plumbd, open_page):
    page = open_page(plumbd)
    for view in ("hosts", "diff"):
        page.open(view)
        assert page.text(".empty h2") == "Nothing is stored yet", view
    page.open("diff", since="all")
    assert page.text(".empty h2") == "Nothing is before everything"
    page.open("operations/none")
    refused = plumbd.fetch("/api/v1/operations?app=none&limit=40")[1]
    assert page.text("[role=alert] p") == json.loads(refused)["error"]


def saved(page, exported, kind):
    with page.expect_download() as download:
        exported.get_by_role("button", name=kind).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_tables_and_charts_are_taken_along(busy, ask_plumb, open_page):
    page = open_page(busy)
    page.open("hosts")
    name, data = saved(page.page, page.page.locator(".exported:has(caption:text-is('Hosts'))"), "CSV")
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))
    nodes = ask_plumb(busy, "nodes", "--since", "1h", "--limit", "60")["nodes"]
    assert name == "plumbline-hosts-hosts.csv"
    assert [row[0] for row in rows[1:]] == [node["host"] for node in nodes] and rows[0][0] == "host"

    page.open(f"hosts/{SLOW_HOST}")
    curve = page.page.locator(".exported:has(.bad-point)")
    name, data = saved(page.page, curve, "SVG")
    text = data.decode()
    assert name.endswith(".svg") and text.startswith("<svg") and ">disk-write</text>" in text and "<path" in text
    name, data = saved(page.page, curve, "PNG")
    assert name.endswith(".png") and data.startswith(b"\x89PNG") and len(data) > 3000

    quick, slow = two_traces(busy, ask_plumb)
    page.open("diff", kind="trace", a=quick, b=slow)
    _, data = saved(page.page, page.page.locator(".exported:has(.icicle)"), "SVG")
    assert f">{CREATE}</text>" in data.decode() and data.decode().count("<rect") > 5


def test_the_map_as_a_table(cluster, open_page):
    """It says what the map draws, and its CSV has the numbers of the answer."""
    last_ns = cluster.ask("status")["store"]["last_time_ns"]
    period = {"since": last_ns - 3600 * 10**9, "until": last_ns + 1}
    page = open_page(cluster)
    page.open("overview", **period)
    exported = page.page.locator(".exported:has(canvas)").first
    exported.get_by_role("button", name="as a table").click()
    name = "BlockReceiver%23flushOrSync"
    answer = cluster.ask(f"series?{urlencode(period)}&by=host&role=datanode&function={name}&sort=ratio&limit=60")
    shown = page.page.locator("table:has(caption:text-is('Hosts over time')) > tbody > tr")
    assert shown.locator("th").all_inner_texts() == ["median of hosts", *(row["host"] for row in answer["series"])]
    _, data = saved(page.page, exported, "CSV")
    median, *rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))[1:]
    for row, series in zip(rows, answer["series"], strict=True):
        values = {step: float(cell) for step, cell in enumerate(row[2:]) if cell}
        assert values == dict(zip(series["at"], series["values"], strict=True))
    peers = answer["peers"][0]
    assert {step: float(cell) for step, cell in enumerate(median[2:]) if cell} == dict(
        zip(peers["at"], peers["medians"], strict=True)
    )
    page.page.wait_for_url(re.compile("table="))
    page.look_at_both_themes("overview-table")


def test_a_rectangle_is_chosen_by_keys(busy, open_page):
    """Among all traces: it is told while it grows, and what differs in it is said."""
    page = open_page(busy)
    page.open("traces")
    page.page.locator("canvas.brushed").focus()
    told = page.page.locator("figcaption[aria-live]")
    keys = page.page.keyboard
    keys.press("ArrowLeft")
    one = told.inner_text()
    for key in ("Shift+Home", "Shift+ArrowDown", "Shift+ArrowDown"):
        keys.press(key)
    page.page.wait_for_function("one => document.querySelector('figcaption[aria-live]').innerText !== one", arg=one)
    many = int(re.search(r": ([\d,]+) traces$", told.inner_text()).group(1).replace(",", ""))
    assert many > int(re.search(r": ([\d,]+) traces?$", one).group(1).replace(",", ""))
    keys.press("Enter")
    page.page.wait_for_url(re.compile("area="))
    page.settle()
    region = page.page.get_by_role("region", name="What differs")
    assert region.get_by_role("status").inner_text().startswith(f"{many:,} traces against ")
    keys.press("Escape")
    assert told.inner_text().startswith("Stronger colour: more traces.")


@pytest.mark.parametrize("name", ["host", "operations", "function-open", "traces-differ", "overview"])
def test_what_a_view_asks_has_a_command(name, busy, ask_plumb, open_page, plumb_program):
    """Each address of JSON in a view stands behind a command, which plumb runs."""
    view, values = {**addresses(busy, ask_plumb), "overview": ("overview", {})}[name]
    page = open_page(busy)
    page.open(view, **values)
    commands = page.page.locator(".sames code").all_inner_texts()
    assert len(commands) == page.page.locator(".sames a").count() > 0
    for command in commands:
        words = shlex.split(command)
        done = subprocess.run([plumb_program, *words[1:], "--server", busy.http], capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)


def test_pages_of_traces(busy, open_page):
    """One behind the other, they are the whole list."""
    page = open_page(busy)
    page.open("traces", limit=20, since="all")
    met = []
    for i in range(3):
        page.settle()
        met += page.page.locator("td code").all_inner_texts()
        if i < 2:
            page.page.get_by_role("button", name="The next 20").click()
            page.page.wait_for_function(
                "last => ![...document.querySelectorAll('td code')].some(cell => cell.textContent === last)",
                arg=met[-1],
            )
    assert met == [row["trace"] for row in busy.ask("traces?limit=60")["traces"]]
    # The place is one of this list, and of no other.
    page.page.get_by_role("button", name="spans", exact=True).click()
    page.page.wait_for_url(lambda url: "sort=spans" in url and "after=" not in url)
    page.open("traces", limit=20, since="all", after="b.1.1.0000000000000001")
    page.settle()
    assert page.page.locator(".empty").count() == 1
    page.page.get_by_role("button", name="From the beginning").click()
    page.page.wait_for_url(lambda url: "after=" not in url)


def test_names_are_suggested(busy, open_page):
    page = open_page(busy)
    page.open("traces")
    field = page.page.get_by_label("calls", exact=True)
    field.fill("FLUSH")
    page.page.locator("#names-function option").first.wait_for(state="attached")
    page.settle()
    offered = page.page.locator("#names-function option").evaluate_all("list => list.map(one => one.value)")
    names = busy.ask("names?text=flush&since=1h")["names"]
    assert offered == list(dict.fromkeys(row["name"] for row in names)) and "BlockReceiver#flushOrSync" in offered


def test_the_hosts_of_an_application(busy, open_page):
    """The one whose slow tasks lost most is first, and shown with its samples."""
    page = open_page(busy)
    page.open(f"app/{busy.app}")
    why = busy.ask(f"why?app={busy.app}&limit=50")
    lost = {}
    for row in why["stragglers"]:
        for host in {row.get("host"), row.get("main_cause", {}).get("suspect", {}).get("host")} - {None}:
            lost[host] = lost.get(host, 0) + row["duration_ns"] - row["stage_median_ns"]
    table = page.page.get_by_role("region", name="Hosts", exact=True)
    first = [cell.strip() for cell in table.locator("tbody tr").first.locator("td").all_inner_texts()]
    most = max(sorted(lost), key=lambda host: lost[host])
    assert first[0] == most
    shown = page.page.locator(".host-of-app")
    assert most in shown.locator("h3").inner_text()
    assert shown.locator(".lane-bar").count() > 0
    other = table.locator("tbody tr button").nth(1)
    name = other.inner_text()
    other.click()
    page.settle()
    page.page.wait_for_url(re.compile(f"host={name}"))
    assert name in shown.locator("h3").inner_text()
    assert any(f"plumb samples {name} " in text for text in page.page.locator(".sames code").all_inner_texts())


def test_marks_are_seen_where_they_were_made(busy, ask_plumb, open_page):
    """In the map's words, in the lanes, behind the curves of their host and of no other."""
    marks = ask_plumb(busy, "marks", "--since", "1h")["marks"]
    assert [(mark["kind"], mark.get("host")) for mark in marks] == [("deployment", None), ("fault", SLOW_HOST)]
    page = open_page(busy)
    page.open("overview")
    listed = page.page.locator(".mark-list").first.locator("li").all_inner_texts()
    assert len(listed) == 2 and "Hadoop 3.4.2 on rack 7" in listed[0] and SLOW_HOST in listed[1]
    assert page.page.locator(".lane-bar.mark-bar").count() == 2
    assert page.page.locator(".lane-bar.fine").get_attribute("aria-label").startswith("application nightly report, ")
    page.open(f"hosts/{SLOW_HOST}")
    titles = page.page.locator(".curve").first.locator(".band title").all_text_contents()
    assert [title.split(":")[-1].strip() for title in titles] == [mark["text"] for mark in marks]
    page.open(f"hosts/{load.host_of(load.SLOW + 1)}")
    (title,) = page.page.locator(".curve").first.locator(".band title").all_text_contents()
    assert "Hadoop 3.4.2" in title
    page.open(f"app/{busy.app}", host=SLOW_HOST)
    assert page.page.locator(".host-of-app .mark-bar").count() == 1  # what was deployed later had nothing to do with it
    assert page.page.locator(".host-of-app .curve >> nth=0").locator(".band").count() == 1


# What leads somewhere and is too narrow for keys; of the whole page, where else its links lead.
NARROW = "() => [...document.querySelectorAll('.lane-bar[data-href]')].map(bar => bar.dataset.href)"
LINKS = "() => [...document.querySelectorAll('main a[href]')].map(link => link.getAttribute('href'))"


# Times of an axis that lie over one another.
OVERLAPPING = """() => [...document.querySelectorAll('.axis')].flatMap((axis) => {
  const times = [...axis.querySelectorAll('span')].map((span) => [span.getBoundingClientRect(), span.textContent])
  return times.filter(([box], i) => i > 0 && box.left < times[i - 1][0].right).map(([, text]) => text)
})"""


@pytest.mark.parametrize(
    ("view", "values"), [("overview", {"since": "7d"}), ("app/{}", {}), ("stage/{}", {"stage": "0.0"})]
)
def test_what_is_drawn_too_narrow_for_keys_is_a_link_elsewhere(view, values, busy, open_page):
    page = open_page(busy, color_scheme="light", reduced_motion="reduce")
    page.page.set_viewport_size({"width": 360, "height": 900})
    page.open(view.format(busy.app), **values)
    page.page.locator(".lane-bar").first.wait_for()
    assert page.page.evaluate(OVERLAPPING) == []
    narrow, links = page.page.evaluate(NARROW), page.page.evaluate(LINKS)
    assert narrow != [] and set(narrow) - set(links) == set()
    page.look_at_both_themes(f"{view.split('/')[0]}-narrow")
