"""The pictures of README.md and docs/page.md: the real page before a real plumbd, in both themes (script/pictures).

plumbd gets the HDFS of load.py, one of whose twelve DataNodes has a slow disk, and the application of spark.py. With
the address of another plumbd, such as script/server --demo prints, its pictures are made: then look at what is chosen.
"""

import argparse
import json
import shutil
import site
import struct
import subprocess
import tempfile
import urllib.request
import zlib
from base64 import b64decode, b64encode
from pathlib import Path
from urllib.parse import quote

from tests.conftest import ROOT, Plumbd
from tests.ui import load, spark
from tests.ui.wait import wait_until_whole

FOLDER = ROOT / "docs/pictures"
WIDTH = 1280
NARROW = 390
TRACES = 3000
OLDEST_MINUTES = 58
COLOURS = 36
PICTURE_MAX_BYTES = 60_000
ALL_MAX_BYTES = 660_000

# A page has few colours and many shades of text: the most frequent are kept, the others become the nearest of them.
REDUCE = """async ([data, most]) => {
  const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + data)).blob())
  const canvas = new OffscreenCanvas(image.width, image.height)
  const context = canvas.getContext('2d')
  context.drawImage(image, 0, 0)
  const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer)
  const counts = new Map()
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1)
  const parts = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]
  const far = (a, b) => (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
  const palette = []
  for (const [pixel] of [...counts].sort((a, b) => b[1] - a[1])) {
    if (palette.length === most) break
    const colour = parts(pixel)
    if (palette.every((other) => far(colour, other) > 40)) palette.push(colour)
  }
  const nearest = new Map()
  for (const pixel of counts.keys()) {
    const colour = parts(pixel)
    let best = 0
    palette.forEach((other, i) => { if (far(colour, other) < far(colour, palette[best])) best = i })
    nearest.set(pixel, best)
  }
  let text = ''
  for (const pixel of pixels) text += String.fromCharCode(nearest.get(pixel))
  return { width: image.width, height: image.height, palette, indices: btoa(text) }
}"""


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, palette, indices):
    """8 bits a pixel, numbers of colours."""
    rows = b"".join(b"\0" + indices[i : i + width] for i in range(0, width * height, width))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    colours = b"".join(bytes(colour) for colour in palette)
    packer = zlib.compressobj(9, zlib.DEFLATED, 15, 9)
    packed = packer.compress(rows) + packer.flush()
    parts = (chunk(b"IHDR", head), chunk(b"PLTE", colours), chunk(b"IDAT", packed), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


class Chosen:
    """What the pictures show: the slowest there is."""

    def __init__(self, http):
        self.http = http

    def ask(self, question):
        with urllib.request.urlopen(f"http://{self.http}/api/v1/{question}") as reply:
            return json.load(reply)

    def run(self, analysis):
        """The id of a run that plumbd has begun."""
        headers = {"Origin": f"http://{self.http}", "Content-Type": "application/json"}
        body = json.dumps({"analysis": analysis, "columns": 110}).encode()
        asked = urllib.request.Request(f"http://{self.http}/api/v1/shell/run", body, headers)
        with urllib.request.urlopen(asked) as reply:
            return json.load(reply)["id"]

    def series(self):
        function = self.ask("functions?since=1h&role=datanode&sort=self_ns&limit=1")["functions"][0]["function"]
        return function, self.ask(
            f"series?since=1h&by=host&role=datanode&function={quote(function)}&sort=ratio&limit=1"
        )

    def addresses(self):
        function, series = self.series()
        slowest = series["series"][0]
        last = slowest["at"][max(range(len(slowest["at"])), key=lambda i: slowest["values"][i])]
        begin = series["since_time_ns"] + last * series["step_ns"]
        app = self.ask("apps?limit=1")["apps"][0]["app"]
        longest = self.ask(f"traces?since=1h&function={quote(function)}&sort=duration_ns&limit=400")["traces"]
        why = self.ask(f"why?app={app}&limit=1")["stragglers"][0]
        stage = f"{why['stage']}.{why['stage_attempt']}"
        waited = self.ask(f"why?app={app}&stage=0.0&limit=1")["stragglers"]
        task = (waited or [why])[0]
        return {
            "overview": (f"overview?v=1&sel={slowest['host']}@{begin}", 640),
            "host": (f"hosts/{slowest['host']}?v=1", 604),
            "function": (f"functions?v=1&open={quote(function + ' datanode')}", 660),
            "forest": ("forest?v=1", 520),
            "traces": ("traces?v=1", 520),
            "trace": (f"trace/{longest[0]['trace']}?v=1", 620),
            "diff": (f"diff?v=1&kind=trace&a={longest[-1]['trace']}&b={longest[0]['trace']}", 600),
            "stage": (f"stage/{app}?v=1&stage={task['stage']}.{task['stage_attempt']}&sel={task['task']}", 560),
            "shell": (f"shell?v=1&do=slow&run={self.run('slow')}", 560),
            "operations": (f"operations/{app}?v=1&open={stage}", 640),
        }


class Painter:
    def __init__(self, browser, http):
        self.browser, self.base = browser, f"http://{http}/#/"
        self.reducer = browser.new_page()

    def take(self, name, address, height, theme, width=WIDTH):
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            reduced_motion="reduce",
            timezone_id="UTC",
        )
        page = context.new_page()
        page.goto(self.base + address)
        wait_until_whole(page)
        page.locator(".run-running").wait_for(state="detached")
        data = page.screenshot()
        context.close()
        return self.save(f"{name}-{theme}.png", data)

    def save(self, name, data):
        made = self.reducer.evaluate(REDUCE, [b64encode(data).decode(), COLOURS])
        small = png(made["width"], made["height"], made["palette"], b64decode(made["indices"]))
        (FOLDER / name).write_bytes(small)
        print(f"{name}: {len(small)} bytes")
        return len(small)


def browser_of(playwright):
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("script/pictures: Chromium is missing: run script/bootstrap")
    return playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])


def take_all(http):
    folder = subprocess.run([ROOT / "script/playwright"], check=True, capture_output=True, text=True).stdout.strip()
    site.addsitedir(folder)
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        painter = Painter(browser_of(playwright), http)
        addresses = Chosen(http).addresses()
        sizes = []
        for theme in ("light", "dark"):
            sizes += [painter.take(name, address, height, theme) for name, (address, height) in addresses.items()]
            sizes.append(painter.take("narrow", addresses["overview"][0].split("&sel")[0], 760, theme, NARROW))
    if max(sizes) > PICTURE_MAX_BYTES or sum(sizes) > ALL_MAX_BYTES:
        raise SystemExit(
            f"script/pictures: {max(sizes)} bytes the largest, {sum(sizes)} all; {PICTURE_MAX_BYTES} and "
            f"{ALL_MAX_BYTES} are the most: make them lower, or COLOURS fewer"
        )


def main():
    parser = argparse.ArgumentParser(prog="script/pictures", description=__doc__.split("\n\n")[0])
    parser.add_argument("server", nargs="?", help="HOST:PORT of a running plumbd (default: one is started)")
    server = parser.parse_args().server
    if server:
        take_all(server)
        return
    with tempfile.TemporaryDirectory() as folder:
        plumb = ROOT / "build/default/analyzer/plumb"
        plumbd = Plumbd(ROOT / "build/default/receiver/plumbd", Path(folder), shell__program=plumb).start()
        try:
            load.send(plumbd, TRACES, oldest_minutes=OLDEST_MINUTES)
            spark.send(plumbd, plumb, Path(folder))
            plumbd.flush()
            take_all(plumbd.http)
        finally:
            plumbd.clean_up()


if __name__ == "__main__":
    main()
