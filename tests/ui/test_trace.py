"""A trace of thousands of calls: its lanes, what keys and the pointer do there, find, critical path."""

import json
import re
import subprocess

import pytest

from tests.ui import load
from tests.ui.test_views import seen

TRACE = f"{load.LARGE:016x}"
ADDRESS = f"trace/{TRACE}"


@pytest.fixture(scope="module")
def large(module_plumbd):
    spans = load.send_large(module_plumbd)
    load.send_skewed(module_plumbd)
    module_plumbd.flush()
    return module_plumbd, spans


@pytest.fixture(scope="module")
def module_plumbd(plumbd_program, tmp_path_factory):
    from tests.conftest import Plumbd

    plumbd = Plumbd(plumbd_program, tmp_path_factory.mktemp("large")).start()
    yield plumbd
    plumbd.clean_up()


@pytest.fixture
def opened(large, open_page):
    page = open_page(large[0])
    page.open(ADDRESS)
    page.page.locator(".lanes").focus()
    return page


@pytest.fixture(scope="module")
def rows(large):
    return large[0].ask(f"trace?id={TRACE}")["spans"]


def chosen(page):
    return int(re.search(r"sel=(\d+)", page.page.url).group(1))


def wait_chosen(page, row):
    page.page.wait_for_url(re.compile(rf"sel={row}(&|$)"))


def panel(page):
    page.settle()
    page.page.locator(".panel .annotations, .panel code").first.wait_for()
    return page.text(".panel")


def test_more_calls_than_rows_come_as_lanes(large, opened):
    plumbd, spans = large
    assert f"in {spans:,} calls" in opened.text(".sentence")
    assert opened.page.locator("[role=listbox]").count() == 0
    opened.page.get_by_role("button", name="tree").click()
    opened.page.get_by_role("listbox").wait_for()
    first = opened.page.locator("[role=option]").all_inner_texts()
    assert f"+{spans - 1}" in first[0]


def test_keys_go_through_the_calls(opened, rows):
    """Down to what a call calls, up to who called it, and along a line."""
    keys = opened.page.keyboard
    for key, row in (("j", 1), ("ArrowDown", 2), ("ArrowDown", 3), ("ArrowUp", 2), ("ArrowUp", 1), ("ArrowRight", 4)):
        keys.press(key)
        wait_chosen(opened, row)
    assert rows[4]["function"] in panel(opened)
    assert str(4096 + 1) in panel(opened)
    keys.press("f")
    begin = rows[4]["begin_time_ns"] - rows[0]["begin_time_ns"]
    opened.page.wait_for_url(re.compile(f"w={begin}%2C{begin + rows[4]['duration_ns']}"))
    keys.press("0")
    opened.page.wait_for_url(lambda url: "w=" not in url)
    keys.press("g")
    keys.press("o")  # with g before it, it does not fold
    opened.page.get_by_role("heading", level=1, name="Overview").wait_for()


def box_of(page):
    return page.page.locator(".lanes canvas").bounding_box()


def test_a_click_chooses_what_is_drawn_there(opened, rows):
    opened.page.keyboard.press("j")
    opened.page.keyboard.press("f")
    opened.page.wait_for_url(re.compile("w="))
    box = box_of(opened)
    # The first read fills the second line of the first process: its middle.
    opened.page.mouse.click(box["x"] + 170 + (box["width"] - 170) / 2, box["y"] + 7)
    wait_chosen(opened, 0)
    opened.page.mouse.click(box["x"] + 170 + (box["width"] - 170) / 2, box["y"] + 15 + 7)
    wait_chosen(opened, 1)
    assert rows[1]["function"] in panel(opened)


def zoom_of(page):
    found = re.search(r"w=(\d+)%2C(\d+)", page.page.url)
    return found and tuple(map(int, found.groups()))


def test_wheel_and_drag_zoom_and_move(opened, rows):
    box = box_of(opened)
    middle = box["x"] + 170 + (box["width"] - 170) / 2
    opened.page.mouse.move(middle, box["y"] + 100)
    opened.page.keyboard.down("Control")
    opened.page.mouse.wheel(0, -480)
    opened.page.keyboard.up("Control")
    opened.page.wait_for_url(re.compile("w="))
    begin, end = zoom_of(opened)
    whole = max(row["begin_time_ns"] + row["duration_ns"] for row in rows) - rows[0]["begin_time_ns"]
    assert end - begin == pytest.approx(whole / 4, rel=0.01)
    assert (begin + end) / 2 == pytest.approx(whole / 2, rel=0.01)
    opened.page.mouse.down()
    opened.page.mouse.move(middle + (box["width"] - 170) / 2, box["y"] + 100, steps=4)
    opened.page.mouse.up()
    half = pytest.approx((end - begin) / 2, rel=0.02)
    opened.page.wait_for_url(lambda _: begin - zoom_of(opened)[0] == half)


TONE = """([x, y]) => {
  const canvas = document.querySelector('.lanes canvas')
  const ratio = canvas.width / canvas.clientWidth
  const pixel = canvas.getContext('2d').getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data
  return `rgb(${pixel[0]}, ${pixel[1]}, ${pixel[2]})`
}"""
NAMED = """name => {
  const probe = document.createElement('i')
  probe.style.color = `var(--${name})`
  document.body.append(probe)
  const said = getComputedStyle(probe).color
  probe.remove()
  return said
}"""


def test_an_arrow_leads_to_the_call_on_another_host(opened, rows):
    """From the second read down to what it calls on the second DataNode, over the lines of the first; the panel names
    both ends, and leads there."""
    for _ in range(4):
        opened.page.keyboard.press("j")
    wait_chosen(opened, 4)
    opened.page.keyboard.press("f")
    opened.page.wait_for_url(re.compile("w="))
    opened.settle()
    begin = (rows[5]["begin_time_ns"] - rows[4]["begin_time_ns"]) / rows[4]["duration_ns"]
    x = 170 + begin * (box_of(opened)["width"] - 170)
    free = 2.5 * 15  # a line of the first DataNode, which has nothing to do then
    assert opened.page.evaluate(TONE, [x, free]) == opened.page.evaluate(NAMED, "text-soft")
    assert opened.page.evaluate(TONE, [x + 20, free]) != opened.page.evaluate(NAMED, "text-soft")
    opened.page.locator(".panel").get_by_role("button", name=rows[5]["function"]).click()
    wait_chosen(opened, 5)
    assert "Called from another process" in panel(opened)
    opened.page.wait_for_function(f"at => ({TONE})(at) === ({NAMED})('text')", arg=[x, free])
    opened.page.locator(".panel").get_by_role("button", name=rows[4]["function"]).click()
    wait_chosen(opened, 4)


def test_find_marks_and_steps(opened, rows):
    field = opened.page.get_by_label("find")
    field.fill("bytes=4500")
    field.press("Enter")
    opened.page.get_by_role("status").filter(has_text="1 calls have").wait_for()
    opened.page.locator(".lanes").focus()
    opened.page.keyboard.press("n")
    (row,) = [i for i, span in enumerate(rows) if span.get("annotations", {}).get("bytes") == "4500"]
    wait_chosen(opened, row)
    assert "4500" in panel(opened)


def test_the_critical_path_is_plumbs(opened, rows, plumb_program, large):
    shown = re.search(r"([\d.]+) % of it was waited for (\S+) on (\S+)\.", opened.text(".sentence"))
    document = json.loads(
        subprocess.run(
            [plumb_program, "trace", TRACE, "--json", "--server", large[0].http], check=True, capture_output=True
        ).stdout
    )
    sums = {}
    for span in document["spans"]:
        kind = (span["function"], span["host"])
        sums[kind] = sums.get(kind, 0) + span["critical_ns"]
    most = max(sums, key=sums.get)
    assert shown.groups()[1:] == most
    assert float(shown.group(1)) == pytest.approx(100 * sums[most] / document["duration_ns"], abs=0.5)


def test_of_no_more_than_it_draws(opened):
    drawn = opened.page.evaluate("performance.getEntriesByName('lanes').map(mark => mark.detail)")
    assert drawn and 0 < max(drawn) <= 20_000


def self_within(rows, begin, end):
    """{(function, host): self time}: what of each call between two moments none of those covers that it calls."""
    first = rows[0]["begin_time_ns"]
    covered = {}
    sums = {}
    number = {row["span"]: i for i, row in enumerate(rows)}

    def within(a, b):
        return max(0, min(b, end) - max(a, begin))

    for i, row in enumerate(rows):
        start = row["begin_time_ns"] - first
        stop = start + row["duration_ns"]
        covered[i] = start
        kind = (row["function"], row["host"])
        sums[kind] = sums.get(kind, 0) + within(start, stop)
        if not row["parents"]:
            continue
        parent = number[row["parents"][0]]
        above = rows[parent]
        a = max(start, covered[parent])
        b = min(stop, above["begin_time_ns"] - first + above["duration_ns"])
        if b > a:
            covered[parent] = b
            kind = (above["function"], above["host"])
            sums[kind] -= within(a, b)
    return sums


def test_a_part_of_the_time_is_summed(opened, rows):
    axis = opened.page.locator(".axis").bounding_box()
    opened.page.mouse.move(axis["x"] + axis["width"] * 0.25, axis["y"] + 8)
    opened.page.mouse.down()
    opened.page.mouse.move(axis["x"] + axis["width"] * 0.5, axis["y"] + 8, steps=3)
    opened.page.mouse.up()
    opened.page.wait_for_url(re.compile("area="))
    begin, end = map(int, re.search(r"area=(\d+)%2C(\d+)", opened.page.url).groups())
    whole = max(row["begin_time_ns"] + row["duration_ns"] for row in rows) - rows[0]["begin_time_ns"]
    assert end - begin == pytest.approx(whole / 4, rel=0.02)
    sums = self_within(rows, begin, end)
    total = sum(sums.values())
    table = opened.page.get_by_role("region", name="Self time in the part that is chosen")
    lines = [line.split("\t") for line in table.locator("tbody tr").all_inner_texts()]
    most = max(sums, key=sums.get)
    assert lines[0][0].split()[-1] == most[0] and lines[0][1].strip() == most[1]
    assert float(lines[0][3].split()[0]) == pytest.approx(100 * sums[most] / total, abs=0.06)
    opened.page.get_by_role("button", name="Choose none").click()
    opened.page.wait_for_url(lambda url: "area=" not in url)
    opened.page.get_by_role("button", name="Sum what is shown").click()
    opened.page.wait_for_url(re.compile(rf"area=0%2C{whole}"))


def test_rows_fold_with_all_below(large, opened):
    opened.page.get_by_role("button", name="tree").click()
    tree = opened.page.get_by_role("listbox")
    tree.focus()
    shown = opened.page.get_by_role("option")
    assert shown.count() == 1
    opened.page.keyboard.press("ArrowRight")
    opened.page.wait_for_url(re.compile("rows=0"))
    shown.nth(1).filter(has_text="×1,000").wait_for()
    opened.page.keyboard.press("ArrowRight")  # to what it calls: equal siblings, in one row
    wait_chosen(opened, 1)
    assert shown.count() == 2 and re.search(r"2\.00 s in all, at most 6\.00 ms", shown.nth(1).inner_text())
    opened.page.keyboard.press("ArrowRight")  # a row each
    opened.page.wait_for_url(re.compile("runs=1(&|$)"))
    shown.nth(2).wait_for()
    opened.page.keyboard.press("*")
    opened.page.locator("#span-3").wait_for()
    opened.page.keyboard.press("_")
    opened.page.locator("#span-2").wait_for(state="detached")
    opened.page.keyboard.press("j")
    wait_chosen(opened, 4)
    opened.page.keyboard.press("e")  # one row again
    shown.nth(2).wait_for(state="detached")
    wait_chosen(opened, 1)
    opened.page.keyboard.press("ArrowUp")
    wait_chosen(opened, 0)
    opened.page.get_by_role("button", name="Fold it and all below", exact=True).click()
    opened.page.locator("#span-1").wait_for(state="detached")


def test_lanes_leave_the_rows_of_a_tree_alone(opened):
    opened.page.goto(f"{opened.base}#/{ADDRESS}?v=1&rows=0,1")
    opened.settle()
    opened.page.locator(".lanes").focus()
    opened.page.keyboard.press("o")
    opened.page.wait_for_url(re.compile("fold=0(&|$)"))
    opened.settle()
    opened.page.keyboard.press("j")  # there is nothing else that is seen
    opened.page.get_by_role("button", name="Unfold all", exact=True).click()
    opened.page.wait_for_url(lambda url: "fold=" not in url)
    assert chosen(opened) == 0
    assert "rows=0%2C1" in opened.page.url


def digits(text):
    return int(text.replace(",", ""))


def folded_note(page):
    """(calls, ms of their own, into how many) that are folded, once they are laid out."""
    page.settle()
    said = re.match(
        r"([\d,]+) calls with ~?([\d.]+) (ms|s) of their own are folded into ([\d,]+)\.", page.text(".folded-note")
    )
    calls, own, unit, into = said.groups()
    return digits(calls), float(own) * (1000 if unit == "s" else 1), digits(into)


def lines_of(page):
    return page.page.locator(".lanes > div").evaluate("box => box.clientHeight / 15")


def own_ms(rows):
    return pytest.approx(sum(row["self_ns"] for row in rows) / 1e6, rel=0.006)


def test_lanes_fold(large, opened, rows, open_page):
    """A call, all calls of its function, and by its sign: counted, in the address, and without lines of their own."""
    keys = opened.page.keyboard
    before = lines_of(opened)
    keys.press("j")
    keys.press("o")
    opened.page.wait_for_url(re.compile("fold=1(&|$)"))
    assert folded_note(opened) == (2, own_ms(rows[2:4]), 1)
    assert lines_of(opened) == before  # other reads have lines on the same DataNodes
    keys.press("j")  # not to what is folded
    wait_chosen(opened, 4)
    keys.press("O")
    opened.page.wait_for_url(re.compile("folded=DFSInputStream%23read"))
    below = [row for row in rows if row["function"] in ("BlockSender#sendBlock", "BlockReceiver#flushOrSync")]
    assert folded_note(opened) == (len(below), own_ms(below), len(below) // 2)
    assert lines_of(opened) == 2  # of the client: its call, and the reads
    other = open_page(large[0])
    other.page.goto(opened.page.url)
    other.settle()
    assert seen(other) == seen(opened)

    # One of them is unfolded by its sign: it has what it calls below it again.
    keys.press("f")
    opened.page.wait_for_url(re.compile("w="))
    box = box_of(opened)
    opened.page.mouse.click(box["x"] + 170 + 5, box["y"] + 15 + 7)
    opened.page.wait_for_url(re.compile("open=4(&|$)"))
    assert folded_note(opened)[::2] == (len(below) - 2, len(below) // 2 - 1)
    keys.press("ArrowDown")
    wait_chosen(opened, 5)
    opened.page.get_by_role("button", name="Unfold all", exact=True).click()
    opened.page.locator(".folded-note").wait_for(state="detached")
    assert lines_of(opened) == before


def test_what_is_folded_stays_with_what_is_looked_for(opened, rows):
    """A call is not dim while a match or the critical path is folded into it; a match in it is framed there."""
    keys = opened.page.keyboard
    opened.page.goto(f"{opened.base}#/{ADDRESS}?v=1&folded=DFSInputStream%23read&find=flushOrSync")
    opened.settle()
    opened.page.locator(".lanes").focus()
    keys.press("n")
    wait_chosen(opened, 3)
    assert "It is folded into DFSInputStream#read." in panel(opened)
    keys.press("o")
    opened.page.wait_for_url(re.compile("open=1(&|$)"))
    assert folded_note(opened)[0] == 2 * (len(rows) // 3) - 2
    assert "It is folded into" not in panel(opened)


def test_calls_slower_than_usual_are_told_and_stand_alone(large, opened, rows, ask_plumb):
    """By the hour's statistics; n steps through them, and lanes and tree can leave the others out."""
    hour = 3600 * 10**9
    since = rows[0]["begin_time_ns"] // hour * hour
    period = ("--since", str(since), "--until", str(since + hour), "--limit", "2000")
    limits = {
        (row["function"], row["role"]): row["q95_ns"]
        for row in ask_plumb(large[0], "functions", *period)["functions"]
        if row["calls"] >= 20
    }
    inexact = 1 + 1 / 128  # of many calls q95_ns is the middle of a range
    slow = [
        i
        for i, row in enumerate(rows)
        if row["duration_ns"] > limits.get((row["function"], row["role"]), 2**63) * inexact
    ]
    assert 0 < len(slow) < 5
    assert opened.text("main").count(f"{len(slow)} of {len(rows):,} calls took longer than 95 of 100") == 1
    keys = opened.page.keyboard
    keys.press("x")
    opened.page.wait_for_url(re.compile("path=slow"))
    for row in slow:
        keys.press("n")
        wait_chosen(opened, row)
    assert "slowest 5 %" in panel(opened)
    opened.page.get_by_role("button", name="left out").click()
    opened.settle()
    assert lines_of(opened) == 4  # the call of all, one read, what it calls on one DataNode, and its disk
    opened.page.get_by_role("button", name="tree").click()
    opened.page.get_by_role("listbox").wait_for()
    above = {slow[0]}
    above |= {i for i in range(slow[0]) if rows[i]["span"] in rows[slow[0]]["parents"]} | {0}
    opened.page.locator(f"#span-{slow[0]}").wait_for()
    shown = {int(row.get_attribute("id").split("-")[1]) for row in opened.page.get_by_role("option").all()}
    assert above <= shown <= above | set(slow)
    assert f"plumb functions {' '.join(period)}" in opened.text(".view > .sames")


BARS = """rows => rows.map(row => row.querySelector('.bar')).filter(bar => bar !== null).map(bar => {
  const box = bar.getBoundingClientRect()
  return [box.left, box.right]
})"""


def bars(page):
    return page.page.locator("[role=option]").evaluate_all(BARS)


def begins_after(page, number):
    page.page.locator(f"#span-{number}").click()
    wait_chosen(page, number)
    return re.search(r"begins after\s+([\d.]+) ms", panel(page)).group(1)


def test_clocks_are_told_and_aligned(large, open_page, ask_plumb):
    """As plumb says it of the trace. Aligned, calls stand within those that made them, and say when they were
    recorded."""
    trace = f"{load.SKEWED:016x}"
    said = {(one["from"], one["to"]): one for one in ask_plumb(large[0], "trace", trace)["skew"]}
    page = open_page(large[0])
    page.open(f"trace/{trace}")
    client, fine, off = "edge1.example.org", load.host_of(1), load.host_of(2)
    assert page.text(".notice > span") == (
        f"If calls end within their callers, the clock of {off} is {load.AHEAD_MS}.0 ms ahead of that of {client}."
    )
    cells = {cells[0].strip(): [text.strip() for text in cells[1:]] for cells in page.cells("Clocks")}
    assert cells == {
        off: ["20.0 ms ahead", "± 500 µs", "3"],
        fine: ["the same, as far as is known", "± 500 µs", "3"],
    }
    assert {host: (-said[host, client]["offset_ns"], said[host, client]["samples"]) for host in cells} == {
        off: (-load.AHEAD_MS * 10**6, 3),
        fine: (0, 3),
    }
    before = bars(page)
    assert before[4][0] > before[3][1]  # the second read has ended when what it calls begins
    page.page.get_by_role("button", name="Align the clocks").click()
    page.page.wait_for_url(re.compile("clocks=aligned"))
    page.settle()
    after = bars(page)
    assert after[3][0] < after[4][0] < after[4][1] < after[3][1]
    assert begins_after(page, 4) == "25.5"
    page.page.get_by_role("button", name="As recorded").wait_for()
    assert "moved by" in page.text(".panel") and "-20.0 ms" in page.text(".panel")
    page.look_at_both_themes("trace-clocks")


def test_notes_are_ticks(large, open_page):
    """At their times: in the row of the chosen call and in its bar, with what they say; of others without."""
    page = open_page(large[0])
    page.open(f"trace/{load.SKEWED:016x}", w=f"0,{30 * load.MS}")
    ticks = page.page.locator(".note-tick")
    assert [tick.get_attribute("title") for tick in ticks.all()] == [f"block {at}" for at in load.NOTES_MS]
    left, right = bars(page)[0]
    places = [tick.bounding_box()["x"] + 1 - left for tick in ticks.all()]
    assert places == [pytest.approx(at / 30 * (right - left), abs=1.5) for at in load.NOTES_MS]
    page.page.get_by_role("button", name="lanes").click()
    page.page.locator(".lanes").focus()
    page.settle()
    x = round(170 + load.NOTES_MS[0] / 30 * (box_of(page)["width"] - 170))
    assert page.page.evaluate(TONE, [x, 9]) == page.page.evaluate(NAMED, "mark")
    page.page.keyboard.press("j")
    wait_chosen(page, 1)
    page.settle()
    tones = [page.page.evaluate(TONE, [x, y]) == page.page.evaluate(NAMED, "mark") for y in (3, 9)]
    assert tones == [True, False]  # a notch
    page.page.get_by_role("button", name="tree").click()
    page.settle()
    assert [tick.get_attribute("title") for tick in ticks.all()] == ["A note: choose the call to read it"] * 2
    assert [tick.bounding_box()["x"] + 1 - left for tick in ticks.all()] == pytest.approx(places, abs=1.5)


def test_perfetto_takes_it(opened, rows):
    with opened.page.expect_download() as download:
        opened.page.get_by_role("button", name="Perfetto", exact=True).click()
    events = json.loads(download.value.path().read_bytes())
    calls = [event for event in events if event["ph"] == "X"]
    first = rows[0]["begin_time_ns"]
    assert [(one["name"], one["args"]["span"], one["ts"], one["dur"]) for one in calls] == [
        (row["function"], row["span"], (row["begin_time_ns"] - first) / 1000, row["duration_ns"] / 1000) for row in rows
    ]
    names = {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert all(row["host"] in names[one["pid"]] for one, row in zip(calls, rows, strict=True))
