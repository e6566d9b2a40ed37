"""How long the page takes for one large trace, by the browser's own clock.

    bench/ui                    1,000,000 spans: from the click to the first full frame, then 600 pans and zooms; all
                                calls of a function folded, and the pans and zooms again; from keys and clicks to paint,
                                and of each that took more than 0.1 s what held it up
    bench/ui --spans 100000     a smaller one
    bench/ui --watch 8          instead, in five minutes: what so many live pages cost plumbd's processors, and senders
                                that wait for it, at 20,000 spans a second
    bench/ui --overview 3000    instead: the overview of so many hosts over two hours, in a store of --spans
    bench/ui --json FILE        keeps the figures

The spans are the load client's (bench/README.md): 60 hosts, some 50 seconds. They are made one trace, below one root,
and go through a real plumbd with the settings that it has by default. Debian's Chromium shows them, without a GPU, in a
window of 1440 x 900.
"""

import argparse
import contextlib
import json
import re
import shutil
import site
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.lib import ui_inputs, ui_overview, watchers
from bench.lib.daemon import BUILD, MODEL, ROOT, Plumbd
from tests.ui.wait import wait_until_whole

TRACE = "00000000000f4240"
ROOT_ID = f"{TRACE}0000000000000001"
HOSTS = 60
SPANS_PER_SECOND = 20_000  # of the cluster's own time
FRAMES = 600
IDS = re.compile(r'"([0-9a-f]{16})([0-9a-f]{16})"')
TIMES = re.compile(r'"bn":"(\d+)","en":"(\d+)"')

# From a click on a link to the trace, to the end of the frame in which its lanes are first drawn.
OPEN = """address => new Promise(resolve => {
  performance.clearMarks('lanes')
  const begun = performance.now()
  location.hash = address
  const look = () => {
    const drawn = performance.getEntriesByName('lanes')
    if (drawn.length === 0) { requestAnimationFrame(look); return }
    requestAnimationFrame(() => setTimeout(() => {
      const asked = performance.getEntriesByType('resource').filter(e => e.name.includes('trace/columns'))[0]
      resolve({total: performance.now() - begun, fetched: asked.responseEnd - asked.startTime,
               first_byte: asked.responseStart - asked.startTime})
    }))
  }
  look()
})"""

# One key for each frame: in and out and to both sides, from the whole trace to some hundred calls and back.
MOVE = """frames => new Promise(resolve => {
  const lanes = document.querySelector('.lanes')
  const press = key => lanes.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}))
  const gaps = [], works = [], rectangles = []
  const keys = ['w', 'w', 'd', 'w', 'a', 'w', 'd']
  let i = 0, before = 0
  performance.clearMarks('lanes')
  const next = now => {
    if (i > 1) gaps.push(now - before)
    before = now
    if (i === frames) {
      for (const mark of performance.getEntriesByName('lanes')) rectangles.push(mark.detail)
      resolve({gaps, works, rectangles})
      return
    }
    const step = i % 120
    const begun = performance.now()
    press(step === 119 ? '0' : step < 60 ? keys[step % keys.length] : step % 3 === 0 ? 'a' : 's')
    if (step % 10 === 5) lanes.scrollTop = (lanes.scrollTop + 700) % lanes.scrollHeight
    i++
    setTimeout(() => works.push(performance.now() - begun))
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)
})"""


# All calls of the function that the root called first are folded: until the frame after the key, and until the lanes
# are laid out anew.
FOLD = """() => new Promise(resolve => {
  const lanes = document.querySelector('.lanes')
  const press = key => lanes.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}))
  press('0'); press('j')
  requestAnimationFrame(() => setTimeout(() => {
    const begun = performance.now()
    let painted = 0
    press('O')
    requestAnimationFrame(() => setTimeout(() => (painted = performance.now() - begun)))
    const look = () => {
      if (document.querySelector('.folded-note') === null) { requestAnimationFrame(look); return }
      requestAnimationFrame(() => setTimeout(() => resolve({painted, laid: performance.now() - begun})))
    }
    look()
  }))
})"""


def write_trace(path, spans):
    """One trace of the load client's spans; how many."""
    command = [BUILD / "bench/bench_load", "--model", MODEL, "--spans", spans, "--hosts", HOSTS, "--jobs", 200]
    command += ["--cluster-rate", SPANS_PER_SECOND, "--random-ids", "--late", 0, "--repeated", 0, "--withheld", 0]
    made = subprocess.Popen([*map(str, command), "--nanoseconds"], stdout=subprocess.PIPE, text=True)
    begin, end, n = sys.maxsize, 0, 1
    with path.open("w") as out:
        for line in made.stdout:
            from_ns, to_ns = map(int, TIMES.search(line).groups())
            begin, end, n = min(begin, from_ns), max(end, to_ns), n + 1
            line = IDS.sub(rf'"{TRACE}\2"', line)
            out.write(line.replace('"p":[]', f'"p":["{ROOT_ID}"]'))
        times = {"b": begin // 10**6, "e": end // 10**6, "bn": str(begin), "en": str(end)}
        out.write(json.dumps({"a": ROOT_ID, **times, "d": "bench", "r": "FSClient/10.0.0.1/1"}) + "\n")
    if made.wait() != 0:
        sys.exit("bench: the load client failed")
    return n


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


@contextlib.contextmanager
def chromium():
    folder = subprocess.run([ROOT / "script/playwright"], check=True, capture_output=True, text=True).stdout.strip()
    site.addsitedir(folder)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        yield browser
        browser.close()


def measure(plumbd):
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        page.goto(f"http://{plumbd.http}/#/status?v=1")
        page.locator(".sentence").wait_for()
        opened = page.evaluate(OPEN, f"#/trace/{TRACE}?v=1&as=lanes")
        wait_until_whole(page)
        moved = page.evaluate(MOVE, FRAMES)
        folded = page.evaluate(FOLD)
        moved_folded = page.evaluate(MOVE, FRAMES)
        inputs = ui_inputs.press_and_click(browser, page)
        heap = page.evaluate("performance.memory ? performance.memory.usedJSHeapSize : 0")
    rectangles = moved["rectangles"]
    return {
        "click_to_frame_ms": opened["total"],
        "first_byte_ms": opened["first_byte"],
        "fetch_ms": opened["fetched"],
        "frame_median_ms": statistics.median(moved["gaps"]),
        "frame_p95_ms": percentile(moved["gaps"], 0.95),
        "work_median_ms": statistics.median(moved["works"]),
        "work_p95_ms": percentile(moved["works"], 0.95),
        "most_rectangles": max(rectangles),
        "fold_to_frame_ms": folded["painted"],
        "fold_to_lanes_ms": folded["laid"],
        "folded_frame_median_ms": statistics.median(moved_folded["gaps"]),
        "folded_frame_p95_ms": percentile(moved_folded["gaps"], 0.95),
        **ui_inputs.figures(*inputs),
        "heap_mb": heap / 1e6,
    }


def shown(plumbd, work, options):
    lines = Path(work, "trace.jsonl")
    spans = write_trace(lines, options.spans)
    command = [BUILD / "analyzer/plumb", "import", "--thrift", plumbd.thrift, "--server", plumbd.http, lines]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines.unlink()
    plumbd.flush()
    return {"spans": spans, **measure(plumbd), "plumbd_peak_mb": plumbd.memory_bytes() / 1e6}


def main():
    parser = argparse.ArgumentParser(
        prog="bench/ui", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spans", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--watch", type=int, metavar="N")
    parser.add_argument("--overview", type=int, metavar="HOSTS")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="plumb-ui-") as work:
        plumbd = Plumbd(Path(work, "plumbd"))
        try:
            if options.watch:
                figures = watchers.measure(plumbd, options.watch)
            elif options.overview:
                with chromium() as browser:
                    figures = ui_overview.measure(plumbd, browser, options.overview, options.spans)
            else:
                figures = shown(plumbd, work, options)
        except BaseException:
            plumbd.kill()  # it would outlive this program, with its folder gone
            raise
        plumbd.stop()
    for name, value in figures.items():
        if name != "slow_inputs":
            print(f"{name:28} {value:,.2f}")
    for line in ui_inputs.told(figures.get("slow_inputs", [])):
        print(line)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
