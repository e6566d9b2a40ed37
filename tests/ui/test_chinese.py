"""The page in Chinese: its texts, its widths, the switch, and what is loaded for it."""

import json
import re

import pytest

from tests.conftest import ROOT
from tests.ui import load
from tests.ui.test_comparing import two_traces
from tests.ui.test_serving import get
from tests.ui.test_views import slow_cell

CHINESE = json.loads((ROOT / "ui/src/text/zh.json").read_text())
SLOW_HOST = load.host_of(load.SLOW)
# Also names that plumbd gives: roles, and classes of work.
NAMES_TOO = {"client", "network", "processor", "queue", "silent"}
WIDTHS = (1280, 390)
READABLE = ("overview", "traces", "status")

# Every text and label, but what is typed or named: commands, paths, functions, what plumb writes.
TEXTS = """() => {
  const texts = new Set()
  const named = 'code, kbd, pre, bdi, .annotations, .role, .lines, datalist, script, style'
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement.closest(named)) texts.add(walker.currentNode.data.trim())
  }
  for (const element of document.querySelectorAll('[aria-label], [title], [placeholder]')) {
    if (element.closest(named)) continue
    for (const name of ['aria-label', 'title', 'placeholder']) texts.add(element.getAttribute(name) ?? '')
  }
  texts.add(document.title)
  return [...texts]
}"""


def addresses(busy, ask_plumb):
    quick, slow = two_traces(busy, ask_plumb)
    stage = ask_plumb(busy, "stages", busy.app)["stages"][0]
    return {
        "overview": ("overview", {"sel": slow_cell(busy)}),
        "hosts": ("hosts", {}),
        "host": (f"hosts/{SLOW_HOST}", {"open": "clock"}),
        "functions": ("functions", {"by": "host", "show": "rate"}),
        "forest": ("forest", {}),
        "traces": ("traces", {"limit": "30", "tick": quick}),
        "trace": (f"trace/{slow}", {"sel": "7"}),
        "lanes": (f"trace/{slow}", {"sel": "7", "as": "lanes"}),
        "diff": ("diff", {"since": "21m"}),
        "diff-traces": ("diff", {"kind": "trace", "a": quick, "b": slow}),
        "apps": ("apps", {}),
        "app": (f"app/{busy.app}", {}),
        "stage": (f"stage/{busy.app}", {"stage": f"{stage['stage']}.{stage['attempt']}", "sel": "1"}),
        "operations": (f"operations/{busy.app}", {}),
        "shell": ("shell", {}),
        "status": ("status", {}),
        "nothing": ("functions", {"since": "2001-01-01", "until": "2001-01-02"}),
    }


def english(texts):
    """What is still English: whole texts of the table, and long pieces of those in which something stands."""
    whole = [text for text in texts if text in CHINESE and text not in NAMES_TOO]
    pieces = {piece.strip() for key in CHINESE if "{" in key for piece in re.split(r"\{\w+\}", key)}
    long = [piece for piece in pieces if len(piece) >= 10 and " " in piece]
    return whole + [text for text in texts if any(piece in text for piece in long)]


def test_every_view_is_chinese_and_as_wide_as_the_window(busy, ask_plumb, open_page):
    page = open_page(busy, locale="zh-CN", color_scheme="light", reduced_motion="reduce")
    left = {}
    for name, (view, values) in addresses(busy, ask_plumb).items():
        page.open(view, **values)
        left[name] = english(page.page.evaluate(TEXTS))
        assert re.search(r"[\u4e00-\u9fff]", page.text("main")), name
        for width in WIDTHS:
            page.page.set_viewport_size({"width": width, "height": 800})
            page.settle()
            for theme in ("light", "dark"):
                page.page.emulate_media(color_scheme=theme)
                assert page.page.evaluate("document.documentElement.scrollWidth") <= width, (name, width, theme)
        page.page.set_viewport_size({"width": WIDTHS[0], "height": 800})
        if name in READABLE:
            assert min(page.look_at_both_themes(f"{name}-chinese")) > 10
        page.page.emulate_media(color_scheme="light")
    assert left == dict.fromkeys(left, [])


def focus_by_tab(page, name):
    button = page.get_by_role("button", name=name, exact=True)
    for _ in range(40):
        page.keyboard.press("Tab")
        if button.evaluate("element => element === document.activeElement"):
            return
    pytest.fail(f"Tab does not lead to “{name}”")


def test_the_switch_is_reached_by_keys_and_remembered(busy, open_page):
    page = open_page(busy, locale="en-US")
    asked = []
    page.page.on("request", lambda request: asked.append(request.url))
    page.open("functions", since="6h")
    assert page.page.locator("html").get_attribute("lang") == "en"
    assert not [url for url in asked if "/zh-" in url], "Chinese is loaded by whom it is shown to only"
    focus_by_tab(page.page, "中文")
    page.page.keyboard.press("Enter")
    page.page.locator("html[lang=zh-CN]").wait_for()
    page.settle()
    assert page.text("h1") == CHINESE["Functions"]
    assert "since=6h" in page.page.url, "the view stays"
    page.page.reload()
    page.settle()
    assert page.text("h1") == CHINESE["Functions"]
    page.page.get_by_role("button", name="English", exact=True).click()
    page.page.locator("html[lang=en]").wait_for()
    page.settle()
    assert page.text("h1") == "Functions"

    (address,) = {url for url in asked if "/zh-" in url}
    status, headers, _ = get(busy, address[len(page.base) - 1 :])
    assert status == 200 and "immutable" in headers["Cache-Control"]


def test_without_its_table_the_page_is_english(busy, open_page):
    page = open_page(busy, locale="zh-CN")
    page.page.route("**/assets/zh-*.js", lambda route: route.abort())
    page.open("status")
    assert page.page.locator("html").get_attribute("lang") == "en"
    assert page.text("h1") == "Status"
