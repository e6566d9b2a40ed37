"""Keys and clicks in the lanes of a trace, and what held up those that were slow: what the browser tells of each (Event
Timing, long tasks, long animation frames), beside how long the page's thread waited for a processor that others had."""

import statistics
from collections import defaultdict
from pathlib import Path

from tests.ui.wait import wait_until_whole

KEYS = "wdswaOjoOnk0"
INPUTS = 48
SLOW_MS = 100
FRAME_MS = 16

# Times are milliseconds of one clock. Events that took no more than a frame are not told.
WATCH = """frame => {
  const watched = window.watched = {inputs: [], events: [], tasks: [], frames: []}
  for (const type of ['keydown', 'pointerdown'])
    addEventListener(type, e => watched.inputs.push({at: e.timeStamp, what: e.key ? `key ${e.key}` : 'click'}), true)
  const times = e => ({name: e.name, start: e.startTime, end: e.startTime + e.duration})
  const watch = (type, to, of, options) => {
    if (!PerformanceObserver.supportedEntryTypes.includes(type)) return
    new PerformanceObserver(list => to.push(...list.getEntries().map(of))).observe({type, ...options})
  }
  watch('event', watched.events, e => ({...times(e), begun: e.processingStart, handled: e.processingEnd}),
        {durationThreshold: frame})
  watch('longtask', watched.tasks, times)
  watch('long-animation-frame', watched.frames, e => ({...times(e), layout: e.styleAndLayoutStart, scripts:
    e.scripts.map(s => ({name: s.invoker, ms: s.duration, layout: s.forcedStyleAndLayoutDuration}))}))
}"""


class Waits:
    """How long the threads that run pages were ready to run, and had no processor."""

    def __init__(self, browser):
        processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        self.pids = [one["id"] for one in processes if one["type"] == "renderer"]

    def ms(self):
        files = [Path(f"/proc/{pid}/schedstat") for pid in self.pids]
        return sum(int(file.read_text().split()[1]) for file in files if file.exists()) / 1e6


def press_and_click(browser, page):
    """What was watched, as WATCH has it, and the waits before each input and after the last."""
    waits = Waits(browser)
    page.evaluate(WATCH, FRAME_MS)
    page.locator(".lanes").focus()
    box = page.locator(".lanes canvas").bounding_box()
    before = []
    for i in range(INPUTS):
        before.append(waits.ms())
        page.keyboard.press(KEYS[i % len(KEYS)])
        before.append(waits.ms())
        page.mouse.click(box["x"] + 200 + 17 * i, box["y"] + 20 + 9 * i)
    wait_until_whole(page)
    before.append(waits.ms())
    page.evaluate("() => new Promise(resolve => setTimeout(resolve, 500))")  # entries come after their frames
    return page.evaluate("() => window.watched"), before


def longest_events(watched):
    """Of each input, by its number, the event that took longest to its paint."""
    longest = {}
    for event in watched["events"]:
        number = sum(one["at"] <= event["start"] + 1 for one in watched["inputs"]) - 1
        took = event["end"] - event["start"]
        if number >= 0 and took > longest.get(number, {}).get("ms", 0):
            longest[number] = {**event, "ms": took}
    return longest


def slow_inputs(watched, waits):
    """Those above SLOW_MS: what was pressed, where its time went, and what ran meanwhile."""
    longest = longest_events(watched)
    usual = defaultdict(list)
    for number, one in enumerate(watched["inputs"]):
        usual[one["what"]].append(longest.get(number, {"ms": FRAME_MS})["ms"])
    return [
        {"input": number + 1, "what": watched["inputs"][number]["what"], "event": event["name"], "ms": event["ms"]}
        | {"usually_ms": statistics.median(usual[watched["inputs"][number]["what"]])}
        | {"before_handlers_ms": event["begun"] - event["start"], "handlers_ms": event["handled"] - event["begun"]}
        | {"after_handlers_ms": event["end"] - event["handled"], "no_processor_ms": waits[number + 1] - waits[number]}
        | meanwhile(watched, event)
        for number, event in sorted(longest.items())
        if event["ms"] > SLOW_MS
    ]


def meanwhile(watched, event):
    def within(entries):
        return [one for one in entries if one["start"] < event["end"] and one["end"] > event["start"]]

    frames = within(watched["frames"])
    scripts = defaultdict(float)
    for script in (script for frame in frames for script in frame["scripts"]):
        scripts[script["name"]] += script["ms"]
    return {
        "long_tasks_ms": [task["end"] - task["start"] for task in within(watched["tasks"])],
        "scripts_ms": dict(scripts),
        "layout_ms": sum(frame["end"] - frame["layout"] for frame in frames if frame["layout"] > 0)
        + sum(script["layout"] for frame in frames for script in frame["scripts"]),
    }


def told(slow):
    """Lines for a reader."""
    for one in slow:
        yield (
            f"{one['what']} (input {one['input']}, {one['event']}): {one['ms']:.0f} ms, "
            f"usually {one['usually_ms']:.0f}; "
            f"{one['before_handlers_ms']:.0f} until its handlers, {one['handlers_ms']:.0f} in them, "
            f"{one['after_handlers_ms']:.0f} until the paint"
        )
        tasks = ", ".join(f"{ms:.0f}" for ms in one["long_tasks_ms"]) or "none"
        scripts = ", ".join(f"{name} {ms:.0f}" for name, ms in one["scripts_ms"].items()) or "none"
        yield (
            f"    meanwhile: long tasks {tasks}; scripts {scripts}; layout and paint {one['layout_ms']:.0f}; "
            f"ready, but without a processor {one['no_processor_ms']:.0f} until the next input"
        )


def figures(watched, waits):
    events = [event["end"] - event["start"] for event in watched["events"]]
    slow = slow_inputs(watched, waits)
    return {
        "input_to_paint_most_ms": max(events, default=FRAME_MS),
        "events_over_100_ms": sum(ms > SLOW_MS for ms in events),
        "inputs_over_100_ms": len(slow),
        "inputs_without_processor_ms": waits[-1] - waits[0],
        "slow_inputs": slow,
    }
