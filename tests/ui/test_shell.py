"""The view of analyses in Debian's Chromium, before a real plumbd that runs the real plumb."""

import re

import pytest

from tests.conftest import Plumbd
from tests.receiver.test_http import readers_that_stop
from tests.receiver.test_shell import children_of, post, runs, typed
from tests.receiver.waiting import wait_for
from tests.ui import load


@pytest.fixture(scope="module")
def shell(plumbd_program, plumb_program, tmp_path_factory):
    """A plumbd with the load of tests/ui/load.py, that knows its plumb."""
    plumbd = Plumbd(plumbd_program, tmp_path_factory.mktemp("shell"), shell__program=plumb_program).start()
    load.send(plumbd)
    plumbd.flush()
    yield plumbd
    plumbd.clean_up()


def shown(page):
    """The lines of the output."""
    return "\n".join(page.page.locator(".lines pre").all_inner_texts()).split("\n")


def columns_of(page):
    """As wide as the page asks for."""
    return int((page.page.locator(".shell > div").nth(1).evaluate("place => place.clientWidth") - 64) / 7.3)


def run_it(page, state="done"):
    page.page.get_by_role("button", name="Run", exact=True).click()
    page.page.locator(f".shell-output .run-{state}").wait_for()


def test_a_run_shows_the_lines_of_plumb(shell, plumb_program, open_page):
    page = open_page(shell)
    page.open("shell", **{"do": "functions", "p.sort": "calls", "p.limit": "7"})
    assert page.page.locator("#prompt").input_value() == "functions --sort=calls --limit=7"
    run_it(page)
    lines = typed(shell, plumb_program, "functions", "--sort=calls", "--limit=7", columns=columns_of(page))
    assert len(lines) > 7 and shown(page) == lines
    box = page.page.locator(".lines").evaluate("box => [box.scrollWidth, box.clientWidth]")
    assert box[0] <= box[1]  # the lines are as wide as the page has room
    assert page.text(".sentence") == f"It is done, with {len(lines)} lines."
    page.settle()
    assert page.cells("Runs")[0][0].strip() == "plumb functions --sort=calls --limit=7"
    # The address has it all: elsewhere it shows the same.
    other = open_page(shell)
    other.page.goto(page.page.url)
    other.page.locator(".shell-output .run-done").wait_for()
    assert shown(other) == lines


def test_values_are_chosen_by_keys_alone(shell, plumb_program, open_page):
    """From the menu's key to the output, without a mouse; names are suggested."""
    page = open_page(shell)
    page.open("status")
    page.page.keyboard.press("g")
    page.page.keyboard.press("x")
    page.page.locator("h1", has_text="Shell").wait_for()
    page.settle()
    page.page.get_by_role("combobox", name="analysis").focus()
    page.page.keyboard.type("traces")
    page.page.get_by_label("path", exact=True).wait_for()
    page.settle()
    field = page.page.get_by_label("function", exact=True)
    suggested = page.page.locator(f"#{field.get_attribute('list')} option").evaluate_all("all => all.map(o => o.value)")
    assert set(suggested) == {row["function"] for row in shell.ask("functions")["functions"]}
    field.focus()
    page.page.keyboard.type("BlockReceiver#flushOrSync")
    page.page.get_by_label("limit", exact=True).focus()
    page.page.keyboard.type("3")
    page.page.keyboard.press("Enter")
    page.page.locator(".shell-output .run-done").wait_for()
    asked = ("traces", "--function=BlockReceiver#flushOrSync", "--limit=3")
    assert shown(page) == typed(shell, plumb_program, *asked, columns=columns_of(page))


def test_a_line_is_typed_completed_and_run(shell, plumb_program, open_page):
    """By keys alone; what is wrong with it is said, and nothing is run."""
    page = open_page(shell)
    page.open("shell")
    line, keys = page.page.locator("#prompt"), page.page.keyboard
    line.fill("")
    keys.type("func")
    assert page.page.locator(".offers li").all_inner_texts() == ["functions"]
    keys.press("Tab")
    page.settle()  # names that are stored have come
    keys.type("--function=FLUSH")
    keys.press("ArrowDown")
    keys.press("Enter")
    assert line.input_value() == "functions --function=BlockReceiver#flushOrSync "
    keys.type("--by hots")
    before = len(runs(shell))
    keys.press("Enter")
    assert page.text(".shell [role=alert]").startswith("--by=hots: did you mean host?")
    keys.press("Backspace")
    keys.press("Backspace")
    keys.type("st; ls")
    keys.press("Enter")
    page.page.locator(".shell [role=alert]", has_text="this is no shell").wait_for()
    assert len(runs(shell)) == before
    for _ in "; ls":
        keys.press("Backspace")
    keys.press("Enter")
    page.page.locator(".shell-output .run-done").wait_for()
    asked = ("functions", "--function=BlockReceiver#flushOrSync", "--by=host")
    assert shown(page) == typed(shell, plumb_program, *asked, columns=columns_of(page))
    page.settle()
    field = page.page.locator("label:has(> .label:text-is('by')) select")
    assert field.input_value() == "host"  # the fields say the same
    line.fill("status")
    keys.press("Escape")
    assert line.input_value() == " ".join(asked)
    keys.press("ArrowUp")
    assert line.input_value() == " ".join(asked)


def test_what_is_lacking_or_refused_is_said(shell, open_page):
    page = open_page(shell)
    page.open("shell", do="why")
    before = len(runs(shell))
    page.page.get_by_role("button", name="Run", exact=True).click()  # the browser says that a field is needed
    assert page.page.locator("input:invalid").count() == 1 and len(runs(shell)) == before
    page.open("shell", **{"do": "functions", "p.limit": "x"})
    page.page.locator("form.shell-form").evaluate("form => (form.noValidate = true)")
    page.page.get_by_role("button", name="Run", exact=True).click()
    assert "limit: must be a whole number" in page.text(".shell .notice.bad")
    page.open("shell", **{"do": "why", "p.what": "%3Cimg+src%3Dx+onerror%3Dalert(1)%3E"})
    run_it(page, "failed")
    assert page.text(".shell-output h2") == "plumb why '<img src=x onerror=alert(1)>'"
    assert page.text(".lines").startswith("plumb why: no application")


def test_stop_and_reconnect(plumbd_program, plumb_program, tmp_path, open_page):
    """A run that waits is stopped; a connection that breaks is made again; a plumbd that is gone has lost it."""
    plumbd = Plumbd(plumbd_program, tmp_path / "d", shell__program=plumb_program, http__query_threads="1").start()
    try:
        page = open_page(plumbd)
        with readers_that_stop(plumbd, ["127.0.0.1"]):
            _, run = post(plumbd, "run", {"analysis": "status"})
            page.page.goto(f"{page.base}#/shell/?v=1&run={run['id']}")
            page.page.locator(".shell-output .run-running").wait_for()
            page.page.context.set_offline(True)
            page.page.context.set_offline(False)
            assert children_of(plumbd.process.pid)
            page.page.get_by_role("button", name="Stop").click()
            page.page.locator(".shell-output .run-stopped").wait_for()
            wait_for(lambda: not children_of(plumbd.process.pid))
            assert page.text(".sentence") == "It was stopped."
        plumbd.settings["listen.http"] = plumbd.http
        plumbd.kill()
        plumbd.start()
        page.page.reload()
        page.page.locator(".shell-output .notice.bad").wait_for()
        assert "does not know this run" in page.text(".shell-output .notice.bad")
    finally:
        plumbd.clean_up()


def test_without_a_shell(plumbd_program, tmp_path, open_page):
    plumbd = Plumbd(plumbd_program, tmp_path / "d", shell__enabled="no").start()
    try:
        page = open_page(plumbd, color_scheme="light")
        page.open("shell")
        assert "shell.enabled" in page.text(".empty")
        assert min(page.look_at_both_themes("shell-off")) > 10
    finally:
        plumbd.clean_up()


def test_it_is_accessible(shell, open_page):
    """In both themes: before a run, and with its lines."""
    page = open_page(shell, color_scheme="light", reduced_motion="reduce")
    page.open("shell", **{"do": "forest"})
    assert min(page.look_at_both_themes("shell-form")) > 10
    page.open("shell", **{"do": "slow"})
    run_it(page)
    page.settle()
    assert min(page.look_at_both_themes("shell")) > 10
    assert re.search(r"run=[0-9a-f]{16}", page.page.url)
