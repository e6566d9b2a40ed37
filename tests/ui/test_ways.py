"""Ways in and out: the search, unknown names, keys, where a new view begins, a plumbd that is busy, live rows."""

import json
import re

import pytest

from tests.ui import load
from tests.ui.test_views import longest_trace

SLOW_HOST = load.host_of(load.SLOW)


def search(page, text):
    page.page.locator("#search").fill(text)
    page.page.keyboard.press("Enter")


def test_the_search_knows_hosts_and_applications(busy, open_page):
    page = open_page(busy)
    page.open("status")
    search(page, SLOW_HOST.upper())
    page.page.locator("h1", has_text=SLOW_HOST).wait_for()
    search(page, "nightly report")
    page.page.locator("h1", has_text=f"Application {busy.app}").wait_for()
    search(page, "flushOrS")
    page.page.wait_for_url(re.compile("functions.*find=flushOrS"))
    page.settle()
    assert len(page.cells("Functions")) == 1
    search(page, "nothing-has-this")
    page.page.locator(".empty h2", has_text="No calls with “nothing-has-this” in their name").wait_for()


@pytest.mark.parametrize("view", ["functions", "forest", "traces", "diff"])
def test_an_unknown_host_is_said_with_a_way_out(view, cluster, open_page):
    page = open_page(cluster)
    page.open(view, host=f"{SLOW_HOST}x", since="21m")
    assert page.text("[role=alert] p") == f'no call of a host "{SLOW_HOST}x" is stored: did you mean "{SLOW_HOST}"?'
    page.page.get_by_role("button", name="Without the filters").click()
    page.page.wait_for_url(lambda url: "host=" not in url)
    page.settle()
    assert page.page.locator("[role=alert], .empty").count() == 0


def test_a_new_view_begins_at_its_top_and_has_the_focus(cluster, open_page):
    page = open_page(cluster)
    page.page.set_viewport_size({"width": 1000, "height": 300})
    page.open("traces", limit=30)
    link = page.page.locator("td a code").last
    link.scroll_into_view_if_needed()
    assert page.page.evaluate("scrollY") > 300
    link.click()
    page.page.locator("h1", has_text="Trace ").wait_for()
    page.settle()
    assert page.page.evaluate("[scrollY, document.activeElement.id]") == [0, "view"]
    page.page.locator("nav a", has_text="Status").click()
    page.page.locator("h1", has_text="Status").wait_for()
    assert page.page.evaluate("document.activeElement.textContent") == "Status", "the menu keeps the focus"


def test_the_help_has_the_keys_of_charts_and_traces(cluster, open_page):
    page = open_page(cluster, color_scheme="light", reduced_motion="reduce")
    page.open("status")
    page.page.keyboard.press("?")
    page.page.locator("dialog[open]").wait_for()
    shown = page.page.locator("dialog kbd").all_inner_texts()
    assert {"g", "[", "Enter", "j", "w", "o", "O", "e", "n", "N", "m", "*", "_", "x"} <= set(shown)
    page.look_at_both_themes("help")
    page.page.set_viewport_size({"width": 360, "height": 600})
    box = page.page.locator("dialog").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 360


def test_a_busy_plumbd_is_asked_again(cluster, open_page):
    """503 is no answer: the reader sees that it is waited for, and then what was asked for."""
    page, seen, free = open_page(cluster), [], False

    def busy(route):
        if free:
            route.continue_()
        else:
            seen.append(route.request.url)
            route.fulfill(status=503, json={"error": "too many questions wait"})

    page.page.route("**/api/v1/functions?*", busy)
    page.page.goto(f"{page.base}#/functions?v=1")
    page.page.locator(".skeleton").wait_for()
    free = True
    page.settle()
    assert seen and page.cells("Functions") and page.page.locator("[role=alert]").count() == 0


def test_a_call_of_the_forest_is_spread(cluster, ask_plumb, open_page):
    """Its calls, as the statistics of its pattern count them; and a call with bytes has three spreads."""
    pattern = ask_plumb(cluster, "forest", "--since", "1h", "--limit", "1")["patterns"][0]
    node = next(i for i, node in enumerate(pattern["nodes"]) if "rate" in node)
    page = open_page(cluster)
    page.open("forest", sel=str(node))
    spreads = page.page.locator(".panel .histogram")
    assert spreads.count() == 3
    command = page.page.locator(".panel .sames code").inner_text()
    assert command == f"plumb distribution --since 1h --pattern {pattern['pattern']} --node {node}"
    answer = ask_plumb(cluster, *command.split()[1:])
    assert sum(column["calls"] for column in answer["columns"]) == pattern["nodes"][node]["calls"]
    page.open("forest", sel=str(node), host=SLOW_HOST)
    assert spreads.count() == 0, "of one host there are sums only"


def test_a_trace_leads_to_all_such_traces(cluster, ask_plumb, open_page):
    trace = longest_trace(cluster, ask_plumb)
    page = open_page(cluster)
    page.open(f"trace/{trace['trace']}")
    page.page.get_by_role("link", name="All such traces").click()
    page.page.locator("h1", has_text="Forest").wait_for()
    page.settle()
    assert f"pattern={trace['pattern']}" in page.page.url
    assert page.page.locator(".card h2").all_inner_texts()[0].split("\n")[-1] == trace["root"]


def test_a_trace_leads_up_to_its_task(busy, ask_plumb, open_page):
    worst = ask_plumb(busy, "why", busy.app, "--stage", "0.0", "--limit", "1")["stragglers"][0]
    page = open_page(busy)
    page.open(f"trace/{worst['hdfs']['trace']}")
    page.page.get_by_role("link", name=f"task {worst['task']}", exact=True).click()
    page.page.locator(".panel h2", has_text=f"Task {worst['task']}").wait_for()
    assert page.text("h1") == "Stage 0.0"


def test_live_rows_stay_where_the_pointer_is(cluster, open_page):
    """New numbers come in, in another order. Rows move once the pointer has left them."""
    page = open_page(cluster)

    def turn(route):
        answer = route.fetch()
        document = json.loads(answer.text())
        document["functions"].reverse()
        route.fulfill(response=answer, json=document)

    page.page.clock.install()
    page.open("functions")
    names = page.page.locator("table bdi")
    before = names.all_inner_texts()
    assert len(before) > 3
    page.page.route("**/api/v1/functions?*", turn)
    page.page.keyboard.press("l")
    names.nth(2).hover()
    for order in (before, before[::-1]):
        with page.page.expect_response("**/api/v1/functions?*"):
            page.page.clock.fast_forward("01:16")
        page.settle()
        assert names.all_inner_texts() == order
        page.page.mouse.move(5, 5)
