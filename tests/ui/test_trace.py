"""A trace of thousands of calls: its lanes, what keys and the pointer do there, find, critical path."""

import json
import re
import subprocess

import pytest

from tests.ui import load

TRACE = f"{load.LARGE:016x}"
ADDRESS = f"trace/{TRACE}"


@pytest.fixture(scope="module")
def large(module_plumbd):
    spans = load.send_large(module_plumbd)
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
    opened.page.wait_for_url(lambda url: f"w={begin}" not in url)
    moved, _ = zoom_of(opened)
    assert begin - moved == pytest.approx((end - begin) / 2, rel=0.02)


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
