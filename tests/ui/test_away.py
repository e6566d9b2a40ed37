"""Every view: a copied address shows the same elsewhere, and a plumbd that was killed and is back changes nothing;
meanwhile the old picture stays. All of them are open before one plumbd, which is killed once."""

import pytest

from tests.conftest import Plumbd
from tests.ui import test_comparing, test_views
from tests.ui.conftest import WINDOW, Page, fill_busy
from tests.ui.test_views import seen

MINUTE_NS = 60_000_000_000
# It says how long plumbd has run, what came since it started, and how long ago.
OF_THIS_PLUMBD = "status"
# Of these others are the same view with other parameters.
LEFT_OUT = {"overview", "overview-marks", "functions-hosts", "diff-hosts", "app-busy", "stage"}
NAMES = sorted({*test_views.NAMES, *test_comparing.NAMES, "shell"} - LEFT_OUT)
# What is told of an answer, wherever it stands.
TOLD = """() => [...document.querySelectorAll('main h1, main td, main td *')]
  .filter((one) => one.children.length === 0 && one.closest('.notice') === null).map((one) => one.textContent)"""


@pytest.fixture(scope="module")
def mortal(plumbd_program, plumb_program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mortal")
    plumbd = fill_busy(Plumbd(plumbd_program, folder, shell__program=plumb_program).start(), plumb_program, folder)
    yield plumbd
    plumbd.clean_up()


def addresses(plumbd, ask_plumb):
    """Of every view, for a period that stays."""
    last = plumbd.ask("status")["store"]["last_time_ns"]
    period = {"since": last - 60 * MINUTE_NS, "until": last + 1}
    every = {**test_views.addresses(plumbd, ask_plumb), **test_comparing.addresses(plumbd, ask_plumb)}
    every["diff"] = ("diff", {"since": last - 21 * MINUTE_NS})
    every["shell"] = ("shell", {"do": "functions", "p.sort": "calls"})
    return {name: (view, {**period, **values}) for name, (view, values) in every.items() if name in NAMES}


class Looked:
    """What one view showed at each time."""

    def __init__(self, page):
        self.page, self.before, self.elsewhere = page, seen(page), None
        self.told, self.told_away, self.after = page.page.evaluate(TOLD), None, None


@pytest.fixture(scope="module")
def looked(mortal, ask_plumb, browser):
    """{name: Looked}: each view in a window of its own, again elsewhere, while plumbd is away, and once it is back."""
    contexts = []

    def window():
        contexts.append(browser.new_context(viewport=WINDOW, timezone_id="UTC", reduced_motion="reduce"))
        return Page(contexts[-1].new_page(), mortal)

    other, every = window(), {}
    for name, (view, values) in addresses(mortal, ask_plumb).items():
        page = window()
        page.open(view, **values)
        every[name] = Looked(page)
        other.page.goto(page.page.url)
        other.settle()
        every[name].elsewhere = seen(other)

    mortal.settings["listen.http"] = mortal.http
    mortal.kill()
    for one in every.values():
        one.page.page.keyboard.press("r")
    for one in every.values():
        one.page.page.locator(".notice.warn", has_text="does not answer").first.wait_for()
        one.told_away = one.page.page.evaluate(TOLD)
    mortal.start()
    for one in every.values():
        one.page.page.wait_for_function("() => document.querySelectorAll('.notice.warn, .state.bad').length === 0")
        one.page.settle()
        one.after = seen(one.page)
    yield every
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_copied_address_shows_the_same(name, looked):
    assert name == OF_THIS_PLUMBD or looked[name].elsewhere == looked[name].before


@pytest.mark.parametrize("name", NAMES)
def test_plumbd_killed_and_back(name, looked):
    one = looked[name]
    assert one.told != [] and one.page.errors == []
    if name == OF_THIS_PLUMBD:
        assert len(one.told_away) == len(one.told)
    else:
        assert one.told_away == one.told
        assert one.after == one.before
