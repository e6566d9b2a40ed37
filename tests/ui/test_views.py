"""What the page shows: the numbers of `plumb --json`, in every state, for every reader."""

import json
import re
from urllib.parse import urlencode

import pytest

from tests.receiver.sender import OK, Sender, span
from tests.ui import load
from tests.ui.conftest import QUESTIONS

SLOW_HOST = load.host_of(load.SLOW)


def digits(text):
    """A number as the page writes it: what is before the unit."""
    return float(re.sub(r"[~,]", "", text).split()[0])


def longest_trace(cluster, ask_plumb):
    return ask_plumb(cluster, "traces", "--sort", "duration", "--limit", "1")["traces"][0]


def slow_cell(plumbd):
    """A cell of the map by the time of its step, some minutes before the last call."""
    return f"{SLOW_HOST}@{plumbd.ask('status')['store']['last_time_ns'] - 5 * load.MINUTE}"


def addresses(cluster, ask_plumb):
    """Every view, as a reader comes to it."""
    app = ask_plumb(cluster, "apps")["apps"][0]["app"]
    return {
        "overview": ("overview", {}),
        "overview-cell": ("overview", {"sel": slow_cell(cluster)}),
        "apps": ("apps", {}),
        "app": (f"app/{app}", {}),
        "stage": (f"stage/{app}", {"stage": "0.0", "sel": "1"}),
        "functions": ("functions", {}),
        "functions-hosts": ("functions", {"by": "host", "show": "rate", "role": "datanode"}),
        "forest": ("forest", {}),
        "traces": ("traces", {"limit": "30"}),
        "trace": (f"trace/{longest_trace(cluster, ask_plumb)['trace']}", {"sel": "7"}),
        "trace-lanes": (f"trace/{longest_trace(cluster, ask_plumb)['trace']}", {"sel": "7", "as": "lanes"}),
        "status": ("status", {}),
    }


NAMES = [
    "overview",
    "overview-cell",
    "functions",
    "functions-hosts",
    "forest",
    "traces",
    "trace",
    "trace-lanes",
    "apps",
    "app",
    "stage",
    "status",
]


WITH_PANEL = {"overview-cell", "forest", "trace", "trace-lanes", "stage"}
MORE_QUESTIONS = {"overview": 8, "overview-cell": 11, "trace": 7, "trace-lanes": 7, "app": 8}


@pytest.mark.parametrize("name", NAMES)
def test_every_view_is_accessible(name, cluster, ask_plumb, open_page):
    """In both themes and in narrow windows, and leaves pictures of itself in build/screenshots."""
    view, values = addresses(cluster, ask_plumb)[name]
    page = open_page(cluster, color_scheme="light", reduced_motion="reduce")
    page.open(view, **values)
    page.asks_little(MORE_QUESTIONS.get(name, QUESTIONS))
    assert page.page.locator(".panel").count() == (name in WITH_PANEL)
    assert min(page.look_at_both_themes(name)) > 10
    page.fits_narrow_windows(name)


def test_the_overview_names_the_slow_host(cluster, open_page):
    last_ns = cluster.ask("status")["store"]["last_time_ns"]
    period = {"since": last_ns - 3600 * 10**9, "until": last_ns + 1}  # one that stays, though a minute ends meanwhile
    page = open_page(cluster)
    page.open("overview", **period)
    said = page.text(".sentence")
    assert said.startswith(f"{SLOW_HOST} is slow at BlockReceiver#flushOrSync")
    answer = cluster.ask(
        f"series?{urlencode(period)}&by=host&role=datanode&function=BlockReceiver%23flushOrSync&sort=ratio"
    )
    assert answer["series"][0]["host"] == SLOW_HOST
    page.page.locator(".sentence").get_by_role("link", name=SLOW_HOST).click()
    page.page.locator(".histogram").wait_for()
    assert page.text(".panel h2") == SLOW_HOST
    begin_ns = int(re.search(r"sel=[^&]*?(?:%40|@)(\d+)", page.page.url).group(1))
    at = (begin_ns - answer["since_time_ns"]) // answer["step_ns"]
    calls = answer["series"][0]["calls"][answer["series"][0]["at"].index(at)]
    assert f"{SLOW_HOST} ({calls})" in page.text(".histogram figcaption")


def test_thin_lines_are_of_their_hosts(plumbd, open_page):
    """Of more than 60 hosts each is a line of three pixels; each of these had calls in one step."""
    begin, steps, hosts, row = 1_700_000_100 * 10**9, 10, 70, 41
    numbers = range(1, hosts + 1)
    strings = (load.FUNCTIONS[0], *(f"DataNode/{load.host_of(i)}/{i}" for i in numbers))
    spans = [span(i, 1, name=0, begin=begin + i % steps * load.MINUTE, duration=i * load.MS, tracer=i) for i in numbers]
    with Sender(plumbd) as sender:
        assert sender.deliver(spans, strings=strings).status == OK
    plumbd.flush()
    asked = {"since": begin, "until": begin + steps * load.MINUTE, "step": "1m", "limit": 0}
    document = plumbd.ask(f"series?{urlencode(asked)}&by=host&role=datanode&sort=ratio")
    series = document["series"][row]
    [step] = series["at"]
    page = open_page(plumbd)
    page.open("overview", **asked)
    drawn = page.page.locator("figure canvas").evaluate(
        "(canvas, row) => [...canvas.getContext('2d').getImageData(0, row, canvas.width, 1).data]", row
    )
    assert drawn[3::4] == [255 if i == step else 0 for i in range(steps)]

    shown = page.page.get_by_role("application", name="Map of hosts and time")
    left, right = 190, 70
    x = left + (step + 0.5) * (shown.bounding_box()["width"] - left - right) / steps
    shown.click(position={"x": x, "y": 3 * row + 1})
    page.page.locator(".panel h2", has_text=series["host"]).wait_for()
    page.page.wait_for_url(re.compile(rf"sel={series['host']}(%40|@){begin + step * load.MINUTE}\b"))


def test_three_clicks_from_the_map_to_the_call(cluster, open_page):
    """Slow host, its slowest traces, one of them: the call that held it is named."""
    page = open_page(cluster)
    page.open("overview")
    page.page.locator(".sentence").get_by_role("link", name=SLOW_HOST).click()
    page.page.get_by_role("link", name="Slowest traces here").click()
    page.settle()
    page.page.locator("tbody a").first.click()
    page.settle()
    assert f"BlockReceiver#flushOrSync on {SLOW_HOST}" in page.text(".sentence")


def test_spark_agrees_with_plumb(cluster, ask_plumb, open_page):
    app = ask_plumb(cluster, "apps")["apps"][0]
    stages = ask_plumb(cluster, "stages", app["app"])["stages"]
    page = open_page(cluster)
    page.open("apps")
    page.settle()
    advice = ask_plumb(cluster, "advise", app["app"], "--all")
    judged = ask_plumb(cluster, "apps", "--advice")["apps"][0]["advice"]
    said = [judged["severity"], *([judged["rule"]] if "rule" in judged else [])]
    assert page.cells("Applications")[0][-1] == ", ".join(said)
    page.page.locator("tbody").get_by_role("link", name=app["name"]).click()
    page.page.locator("h1", has_text=app["app"]).wait_for()
    page.settle()
    found = page.page.locator(".findings > li > b").all_inner_texts()
    assert found == [one["what"] for one in advice["findings"] if one["what"] in found]
    assert len(found) == judged["findings"] and ("Nothing: no rule" in page.text("main")) == (found == [])
    shown = page.cells("Stages")
    assert [cells[0].split()[0] for cells in shown] == [f"{row['stage']}.{row['attempt']}" for row in stages]
    assert [digits(cells[3]) for cells in shown] == [row["tasks"] for row in stages]

    jobs = ask_plumb(cluster, "jobs", app["app"])["jobs"]
    assert [cells[0].split()[0] for cells in page.cells("Jobs")] == [str(row["job"]) for row in jobs] != []
    assert [(digits(cells[4]), digits(cells[5])) for cells in page.cells("Jobs")] == [
        (row["tasks"], row["failed_tasks"]) for row in jobs
    ]
    executors = ask_plumb(cluster, "executors", app["app"])["executors"]
    shown = page.cells("Executors")
    assert [cells[0].split() for cells in shown] == [[row["executor"], row["host"]] for row in executors] != []
    assert [digits(cells[4]) for cells in shown] == [row["tasks"] for row in executors]

    page.page.locator(".lane-bar").first.click()
    page.page.locator("h1", has_text="Stage").wait_for()
    page.settle()
    tasks = ask_plumb(cluster, "tasks", app["app"], "--stage", f"{stages[0]['stage']}.{stages[0]['attempt']}")["tasks"]
    assert [int(cells[0]) for cells in page.cells("Tasks")] == [task["task"] for task in tasks]
    page.page.locator(".lane-bar").first.click()
    assert page.text(".panel h2").startswith("Task ")


def test_functions_agree_with_plumb(cluster, ask_plumb, open_page):
    rows = ask_plumb(cluster, "functions", "--since", "1h", "--limit", "200")["functions"]
    page = open_page(cluster)
    page.open("functions")
    shown = page.cells("Functions")
    assert [cells[0].split("\n")[-1] for cells in shown] == [row["function"] for row in rows]
    assert [digits(cells[1]) for cells in shown] == [row["calls"] for row in rows]
    page.page.get_by_role("button", name="calls", exact=True).click()
    page.settle()
    assert [digits(cells[1]) for cells in page.cells("Functions")] == sorted(
        (row["calls"] for row in rows), reverse=True
    )


def test_functions_and_nodes_lead_to_their_slowest_calls(cluster, ask_plumb, open_page):
    """To the traces with calls above the 95th of 100 that is shown; of a node, to those of its pattern."""
    name = "BlockReceiver#flushOrSync"
    (row,) = (one for one in ask_plumb(cluster, "functions", "--since", "1h")["functions"] if one["function"] == name)
    page = open_page(cluster)
    page.open("functions", open="BlockReceiver%23flushOrSync%20datanode")
    page.page.get_by_role("link", name="Its slowest 5 %").click()
    page.settle()
    assert f"call_min_duration={int(row['q95_ns'])}ns" in page.page.url
    slow = ("--function", name, "--role", "datanode", "--call-min-duration", f"{int(row['q95_ns'])}ns")
    traces = ask_plumb(cluster, "traces", "--since", "1h", "--sort", "duration", "--limit", "200", *slow)["traces"]
    assert [cells[6].strip() for cells in page.cells("Traces")] == [one["trace"] for one in traces] != []

    pattern = ask_plumb(cluster, "forest", "--since", "1h", "--limit", "1")["patterns"][0]
    page.open("forest", sel=str(len(pattern["nodes"]) - 1))
    link = page.page.get_by_role("link", name="Its slowest 5 %").get_attribute("href")
    assert f"pattern={pattern['pattern']}" in link
    assert f"call_min_duration={int(pattern['nodes'][-1]['q95_ns'])}ns" in link


def test_forest_agrees_with_plumb(cluster, ask_plumb, open_page):
    answer = ask_plumb(cluster, "forest", "--since", "1h", "--limit", "20")
    page = open_page(cluster)
    page.open("forest")
    cards = page.page.locator(".card").all()
    assert len(cards) == len(answer["patterns"])
    heaviest = answer["patterns"][0]
    rows = page.page.locator("table.tree > tbody > tr").all()
    assert [row.locator("bdi").inner_text() for row in rows] == [node["function"] for node in heaviest["nodes"]]
    assert [digits(row.locator("td").nth(1).inner_text()) for row in rows] == [
        node["calls"] for node in heaviest["nodes"]
    ]


def test_the_icicle_by_keys(cluster, open_page):
    page = open_page(cluster)
    page.open("forest")
    page.page.locator(".icicle .cell").first.focus()
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("ArrowRight")
    chosen = page.page.locator(".icicle .chosen").get_attribute("aria-label").split(" ")[0]
    assert page.text(".panel h3 bdi") == chosen
    page.page.keyboard.press("Enter")
    page.settle()
    assert page.text(".icicle .cell >> nth=0") == chosen


def test_a_trace_agrees_with_plumb(cluster, ask_plumb, open_page):
    longest = longest_trace(cluster, ask_plumb)
    answer = ask_plumb(cluster, "trace", longest["trace"])
    page = open_page(cluster)
    page.open("traces", sort="duration_ns")
    page.page.locator("tbody a").first.click()
    page.settle()
    assert page.text("h1") == f"Trace {longest['trace']}"
    rows = page.page.locator("[role=option]").all()
    assert [row.locator("bdi").inner_text() for row in rows] == [row["function"] for row in answer["spans"]][
        : len(rows)
    ]

    page.page.get_by_role("listbox").focus()
    for _ in range(5):
        page.page.keyboard.press("j")
    assert page.text(".panel h3 bdi") == answer["spans"][5]["function"]
    page.page.keyboard.press("f")
    span_5 = answer["spans"][5]
    begin = span_5["begin_time_ns"] - answer["begin_time_ns"]
    page.page.wait_for_url(re.compile("w="))
    assert f"w={begin}%2C{begin + span_5['duration_ns']}" in page.page.url


SEEN = """() => [...document.querySelectorAll('main, main *:not(wbr)')].map((element) => {
  const box = element.getBoundingClientRect()
  const own = element.children.length === 0 ? element.textContent : ''
  const drawn = element instanceof HTMLCanvasElement ? element.toDataURL() : ''
  return [element.tagName, element.className, own, drawn, box.x, box.y + scrollY, box.width, box.height].join(' ')
})"""


def seen(page):
    """What stands where in the view, and what its canvases have drawn. A place to break a line has none of its own."""
    return page.page.evaluate(SEEN)


def test_a_copied_address_shows_the_same(cluster, ask_plumb, open_page):
    trace = longest_trace(cluster, ask_plumb)
    page = open_page(cluster)
    page.open(f"trace/{trace['trace']}", find="flush")
    page.page.get_by_role("listbox").focus()
    for key in ("j", "j", "j", "w", "w", "d"):
        page.page.keyboard.press(key)
    # The address follows within a quarter of a second: 0.7 x 0.7 of the trace around its middle, and a fifth of it on.
    at = round((0.5 - 0.49 / 2 + 0.2 * 0.49) * trace["duration_ns"])
    page.page.wait_for_url(lambda url: any(f"w={at + off}%2C" in url for off in (-1, 0, 1)) and "sel=3" in url)
    here = seen(page)
    other = open_page(cluster)
    other.page.goto(page.page.url)
    other.settle()
    assert seen(other) == here


FOCUSED = "() => (document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()"


def test_keys_alone_lead_from_the_map_to_the_call(cluster, open_page):
    def tab_to(text):
        for _ in range(120):
            page.page.keyboard.press("Tab")
            if text in page.page.evaluate(FOCUSED):
                return
        raise AssertionError(f"Tab does not reach {text}")

    page = open_page(cluster)
    page.open("overview")
    tab_to("Map of hosts and time")
    page.page.keyboard.press("ArrowLeft")
    page.page.locator(".panel h2", has_text=SLOW_HOST).wait_for()
    page.settle()
    tab_to("Slowest traces here")
    page.page.keyboard.press("Enter")
    page.page.get_by_role("heading", level=1, name="Traces").wait_for()
    page.settle()
    first = page.page.locator("tbody a").first.inner_text().split("\n")[-1]
    tab_to(first)
    page.page.keyboard.press("Enter")
    page.page.get_by_role("heading", level=1, name="Trace ").wait_for()
    page.settle()
    assert f"on {SLOW_HOST}" in page.text(".sentence")


def test_keys_lead_everywhere(cluster, open_page):
    page = open_page(cluster)
    page.open("functions")
    for keys, title in (
        ("go", "Overview"),
        ("gc", "Forest"),
        ("ga", "Applications"),
        ("gs", "Status"),
        ("gf", "Functions"),
    ):
        for key in keys:
            page.page.keyboard.press(key)
        page.page.get_by_role("heading", level=1, name=title).wait_for()
    page.page.keyboard.press("?")
    page.page.get_by_role("heading", name="Keys").wait_for()
    page.page.keyboard.press("Escape")
    page.page.get_by_role("heading", name="Keys").wait_for(state="detached")
    page.page.keyboard.press("/")
    page.page.locator("#search:focus").wait_for()
    page.page.keyboard.type("flushOrSync")
    page.page.keyboard.press("Enter")
    page.page.wait_for_url(re.compile("find=flushOrSync"))
    page.settle()
    assert len(page.cells("Functions")) == 1


def test_an_empty_store_says_what_helps(plumbd, open_page):
    page = open_page(plumbd)
    for view in ("overview", "functions", "forest", "traces"):
        page.open(view)
        assert page.text(".empty h2") == "Nothing is stored yet"
    page.open("apps")
    assert page.text(".empty h2") == "No application of Spark is stored"
    page.open("status")
    assert "Nothing is lost" in page.text(".sentence")


def test_an_empty_period_leads_to_what_is_stored(cluster, open_page):
    page = open_page(cluster)
    page.open("functions", since="2001-01-01", until="2001-01-02")
    assert page.text(".empty h2") == "No calls"
    page.page.get_by_role("button", name="Everything that is stored").click()
    page.settle()
    assert len(page.cells("Functions")) == len(load.FUNCTIONS)


def test_errors_are_plumbds_own(cluster, open_page):
    page = open_page(cluster)
    page.open("functions", since="yesterday")
    refused = cluster.fetch("/api/v1/functions?since=yesterday&limit=200")[1]
    assert page.text("[role=alert] p") == json.loads(refused)["error"]


HOSTILE = "<img src=x onerror=alert(1)>\u202e\u0007&amp;<script>alert(2)</script>"


def test_hostile_names_are_text(plumbd, open_page):
    strings = (HOSTILE, f"Client/{HOSTILE.replace('/', '|')}/7", "key")
    with Sender(plumbd) as sender:
        spans = [span(1, 1, begin=1_700_000_000_000_000_000, annotations=[(2, HOSTILE.encode())], tracer=1)]
        assert sender.deliver(spans, strings=strings).status == OK
    plumbd.flush()
    text = HOSTILE.replace("\u202e", "\\u202e").replace("\u0007", "\\x07")
    page = open_page(plumbd)
    page.page.on("dialog", lambda dialog: page.errors.append(dialog.message))
    for view in ("functions", "forest", "traces", "trace/0000000000000001"):
        page.open(view, since="all", by="host")
        assert text in page.text("main"), view
        assert page.page.locator("main img, main script").count() == 0
