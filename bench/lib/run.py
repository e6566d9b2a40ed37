"""Measures plumbd on this machine, with the load client on the same cores, and prints figures as Markdown (and JSON
with --json).

    bench/run                         everything, in about ten minutes
    bench/run --minutes 60            the same with longer loads and larger stores
    bench/run --only acks,restart     parts: see --help
    bench/run --only sustained --spans 500000000 --folder /data/bench
    bench/run --flame                 only where the CPU goes (needs perf: package linux-perf)
    bench/run --flame --stacks FILE   and a file to draw a flame graph of: speedscope and flamegraph.pl read it

What is measured, and how far to trust it, is in bench/README.md."""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.lib.daemon import ROOT
from bench.lib.parts import PARTS, Bench


def arguments():
    parser = argparse.ArgumentParser(
        prog="bench/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10, help="for all parts together, about (10)")
    parser.add_argument("--spans", type=int, help="of the parts sustained and day, instead of what the time allows")
    parser.add_argument(
        "--only", metavar="PART,...", help=", ".join(f"{name}: {part.__doc__}" for name, part in PARTS.items())
    )
    parser.add_argument("--flame", action="store_true", help="the same as --only flame")
    parser.add_argument("--stacks", metavar="FILE", help="of the part flame: collapsed stacks, part and thread first")
    parser.add_argument(
        "--folder",
        default=tempfile.gettempdir(),
        help="where stores are made, and removed again (the folder for temporary files)",
    )
    parser.add_argument("--json", metavar="FILE", help="all figures, samples included; written after each part")
    args = parser.parse_args()
    names = ["flame"] if args.flame else args.only.split(",") if args.only else list(PARTS)
    for name in names:
        if name not in PARTS:
            parser.error(f"there is no part '{name}'; parts are {', '.join(PARTS)}")
    return args, names


def main():
    args, names = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended by a signal"))  # so that all is removed
    subprocess.run([str(ROOT / "script/build"), "default"], check=True, stdout=subprocess.DEVNULL)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    print(
        f"{time.strftime('%Y-%m-%d %H:%M')}, {commit}, {os.cpu_count()} cores ({platform.machine()}), "
        f"Linux {platform.release()}, load average {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    figures = {}
    with tempfile.TemporaryDirectory(prefix="plumb-bench-", dir=args.folder) as folder:
        bench = Bench(folder, args)
        try:
            bench.calibrate()
            for name in names:
                begun = time.monotonic()
                figures[name] = PARTS[name](bench)
                print(f"({name}: {time.monotonic() - begun:.0f} s)", flush=True)
                if args.json:
                    Path(args.json).write_text(json.dumps(figures, indent=1))
        finally:
            for plumbd in list(bench.running.values()):
                bench.drop(plumbd)


if __name__ == "__main__":
    main()
