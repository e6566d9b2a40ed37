"""The page in Debian's Chromium, before a real plumbd. Playwright is got by script/playwright."""

import json
import os
import shutil
import site
import subprocess
import time

import pytest

from tests.conftest import ROOT, Plumbd
from tests.ui import load, spark
from tests.ui.wait import wait_until_whole

SPARK_LOG = ROOT / "tests/data/spark/4.3.0/normal.zstd"
SCREENSHOTS = ROOT / "build/screenshots"
AXE = ROOT / "ui/node_modules/axe-core/axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
WINDOW = {"width": 1440, "height": 900}
ASKED = """() => performance.getEntriesByType('resource').filter((one) => one.name.includes('/api/v1/'))
  .map((one) => [one.name.split('/api/v1/')[1], one.decodedBodySize])"""
# Of a view at once, with what the frame asks (ui/DESIGN.md); one with an open row and the like asks more.
QUESTIONS, ANSWER_BYTES = 5, 1_000_000
# PLUMB_UI_LATE_S=0.3 makes each answer late: a test that reads the page before it is whole then fails every time.
LATE_S = float(os.environ.get("PLUMB_UI_LATE_S", "0"))


@pytest.fixture(scope="session")
def browser():
    chromium = shutil.which("chromium")
    assert chromium, "Chromium is missing: run script/bootstrap"
    folder = subprocess.run([ROOT / "script/playwright"], check=True, capture_output=True, text=True).stdout.strip()
    site.addsitedir(folder)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def cluster(plumbd_program, build_dir, tmp_path_factory):
    """A plumbd that has the load of tests/ui/load.py, and an application of Spark."""
    plumbd = Plumbd(plumbd_program, tmp_path_factory.mktemp("cluster")).start()
    load.send(plumbd)
    receiver = ":".join(map(str, plumbd.thrift))
    subprocess.run([build_dir / "spark-bridge/plumb-bridge", "--receiver", receiver, SPARK_LOG], check=True)
    plumbd.flush()
    yield plumbd
    plumbd.clean_up()


def fill_busy(plumbd, plumb_program, folder):
    """The same load, and the application of tests/ui/spark.py, whose id is plumbd.app; the plumbd."""
    load.send(plumbd)
    plumbd.spark_sent_ns = time.time_ns()
    plumbd.app = spark.send(plumbd, plumb_program, folder, plumbd.spark_sent_ns)
    for options in spark.MARKS:
        subprocess.run([plumb_program, "mark", *options, "--server", plumbd.http], check=True, capture_output=True)
    plumbd.flush()
    return plumbd


@pytest.fixture(scope="session")
def busy(plumbd_program, plumb_program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("busy")
    plumbd = fill_busy(Plumbd(plumbd_program, folder).start(), plumb_program, folder)
    yield plumbd
    plumbd.clean_up()


@pytest.fixture(scope="session")
def ask_plumb(plumb_program):
    """ask_plumb(plumbd, "functions", "--since", "1h"): the document that `plumb --json` prints."""

    def ask(plumbd, *question):
        command = [plumb_program, *question, "--json", "--server", plumbd.http]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    return ask


class Page:
    """A page of the browser before one plumbd. What went wrong in it fails the test."""

    def __init__(self, page, plumbd):
        self.page, self.base = page, f"http://{plumbd.http}/"
        self.errors = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self.hear)
        page.set_default_timeout(30_000)

    def hear(self, message):
        # A refused question is no fault of the page; what its policy forbids is.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def open(self, view, **values):
        query = "&".join(f"{name}={value}" for name, value in {"v": 1, **values}.items())
        self.page.goto(f"{self.base}#/{view}?{query}")
        self.settle()
        return self.page

    def settle(self):
        """Until the page shows the address it is at, and every question is answered."""
        wait_until_whole(self.page)

    def look_at_both_themes(self, name):
        """A picture of each in build/screenshots, and nothing that hinders a reader; how many rules each passed."""
        passed = []
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.evaluate(AXE.read_text())
        for theme in ("light", "dark"):
            self.page.emulate_media(color_scheme=theme)
            self.page.locator(f"html[data-theme={theme}]").wait_for()
            self.page.screenshot(path=SCREENSHOTS / f"{name}-{theme}.png", full_page=True)
            found = self.page.evaluate("tags => axe.run({runOnly: {type: 'tag', values: tags}})", TAGS)
            assert [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found["violations"]] == []
            passed.append(len(found["passes"]))
        return passed

    def fits_narrow_windows(self, name):
        """Nothing of it is wider than half a screen, or a telephone; with a picture of each."""
        for width in (800, 360):
            self.page.set_viewport_size({"width": width, "height": 800})
            self.settle()
            self.page.screenshot(path=SCREENSHOTS / f"{name}-{width}.png", full_page=True)
            assert self.page.evaluate("document.documentElement.scrollWidth") <= width

    def asks_little(self, questions):
        """Of the page that was opened: few questions, with answers of one megabyte at most."""
        asked = self.page.evaluate(ASKED)
        assert len(asked) <= questions and all(size <= ANSWER_BYTES for _, size in asked), asked

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def cells(self, label):
        """The texts of a table's rows."""
        rows = self.page.locator(f"table:has(caption:text-is('{label}')) > tbody > tr")
        return [row.locator("td").all_inner_texts() for row in rows.all()]


@pytest.fixture
def open_page(browser, request):
    """open_page(plumbd, **options of the context) gives a Page."""
    opened = []

    def make(plumbd, **options):
        context = browser.new_context(viewport=WINDOW, timezone_id="UTC", **options)
        if LATE_S:
            context.route("**/api/**", lambda route: (time.sleep(LATE_S), route.continue_()))
        opened.append((context, Page(context.new_page(), plumbd)))
        return opened[-1][1]

    yield make
    for context, page in opened:
        context.close()
        assert page.errors == []
