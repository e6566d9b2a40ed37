"""The overview of a large cluster, by the browser's own clock: from the begin of the navigation to the first paint, to
the map, and to the page whole."""

import statistics

from bench.lib.daemon import load
from tests.ui.wait import wait_until_whole

STEPS = 120  # minutes
OPENED = 5

# The map is drawn by the time it is in the document: what is noted is the end of its frame.
NOTE = """() => {
  const look = () => {
    if (document.querySelector('.chart canvas') === null) requestAnimationFrame(look)
    else requestAnimationFrame(() => setTimeout(() => (window.mapDrawn = performance.now())))
  }
  requestAnimationFrame(look)
}"""

TAKEN = """() => {
  const answer = performance.getEntriesByType('resource').find((one) => one.name.includes('/series/columns?'))
  return {
    first_paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
    map: window.mapDrawn,
    whole: performance.now(),
    answer: answer.responseEnd - answer.startTime,
  }
}"""


def fill(plumbd, hosts, spans):
    """Two hours of the cluster, that end now."""
    rate = spans / (STEPS * 60)
    load(plumbd, spans, "--hosts", hosts, "--cluster-rate", rate, "--late", 0, "--repeated", 0, "--connections", 64)
    plumbd.flush()


def open_once(browser, plumbd):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(f"({NOTE})()")
    page.goto(f"http://{plumbd.http}/#/overview?v=1&since={STEPS}m&limit=0")
    wait_until_whole(page)
    page.wait_for_function("() => window.mapDrawn !== undefined")
    taken = page.evaluate(TAKEN)
    context.close()
    return taken


def measure(plumbd, browser, hosts, spans):
    fill(plumbd, hosts, spans)
    plumbd.settle(60)  # compaction of what was just loaded is another figure (bench/run)
    taken = [open_once(browser, plumbd) for _ in range(OPENED)]
    return {
        "hosts": hosts,
        "steps": STEPS,
        "spans": spans,
        **{f"{name}_ms": statistics.median(one[name] for one in taken) for name in taken[0]},
    }
