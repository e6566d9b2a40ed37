"""An hour of steady load with readers beside it: does plumbd's memory grow, does its cost, and is every span accounted
for?

    bench/soak                          an hour at 200,000 spans a second
    bench/soak --minutes 10 --rate 400000 --folder /data/bench

Traces are kept for ten minutes (--keep), so that what goes with age is soaked, too, and the disk needs some 20 bytes
for each span of that time. The journal, the size of the store and the memory are sampled each second and shown by
tenths of the run. Ends with 1 when memory grew, a span is not accounted for, or plumbd said that something is wrong.
SIGTERM ends it early: the verdict is then about what was done so far."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.lib.daemon import MIB, ROOT, Plumbd, Sampler, ledger_of, load_command
from bench.lib.parts import need_space
from bench.lib.readers import start_readers
from bench.lib.table import pairs, table

TENTHS = 10
# The most of the last third against the most of the third before it: samples hit or miss the peaks of single
# compactions.
GROWN = 1.1


def arguments():
    parser = argparse.ArgumentParser(
        prog="bench/soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60, help="how long (60)")
    parser.add_argument("--rate", type=int, default=200_000, help="spans a second (200000)")
    parser.add_argument("--readers", type=int, default=1, help="who ask without pause (1)")
    parser.add_argument("--keep", default="10m", help="retention.traces (10m)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="another setting of plumbd's")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where the store is made, and removed again")
    return parser.parse_args()


def thirds(values):
    n = len(values) // 3
    return [max(values[i * n : (i + 1) * n]) for i in range(3)]


def by_tenths(samples):
    """What changed from the first to the last sample of each tenth, and the most memory in it."""
    n, rows = len(samples) // TENTHS, []
    for i in range(TENTHS):
        part = samples[i * n : (i + 1) * n + 1]
        first, last, spans = part[0], part[-1], max(part[-1]["spans"] - part[0]["spans"], 1)
        rows.append(
            {
                "minute": (last["time"] - samples[0]["time"]) / 60,
                "spans/s": spans / (last["time"] - first["time"]),
                "us CPU per span": (last["cpu_s"] - first["cpu_s"]) * 1e6 / spans,
                "resident MiB, most": max(s["rss"] for s in part) / MIB,
                "open traces": last["open_traces"],
                "journal MiB": last["journal_bytes"] / MIB,
            }
        )
    return rows


def soak(plumbd, args):
    """The client's ledger, and the samples."""
    spans = int(args.minutes * 60 * args.rate)
    with Sampler(plumbd) as sampler:
        client = subprocess.Popen(
            load_command(plumbd, spans, "--rate", args.rate, "--cluster-rate", args.rate, "--seed", 7),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        signal.signal(signal.SIGTERM, lambda *_: client.terminate())  # and the verdict is about what was done so far
        try:
            while client.poll() is None and plumbd.status()["store"]["traces"] == 0:
                time.sleep(1)  # readers ask for a trace that is there
            reader = start_readers(plumbd, args.readers)
            out, err = client.communicate()
            reader.communicate()
        finally:
            client.kill()  # it would go on asking for ten minutes for a plumbd that is gone
        plumbd.flush()
    if reader.returncode != 0:
        sys.exit("bench: a reader failed")
    return ledger_of(subprocess.CompletedProcess([], client.returncode, out, err)), sampler.rows


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended by a signal"))  # so that all is removed
    subprocess.run([str(ROOT / "script/build"), "default"], check=True, stdout=subprocess.DEVNULL)
    need_space(args.folder, int(min(args.minutes, 30) * 60 * args.rate))
    print(
        f"{time.strftime('%Y-%m-%d %H:%M')}, {os.cpu_count()} cores, {args.minutes:g} minutes at {args.rate:,} spans/s",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="plumb-soak-", dir=args.folder) as folder:
        plumbd = Plumbd(folder, f"retention.traces={args.keep}", *args.set)
        try:
            ledger, samples = soak(plumbd, args)
            receiver, log = plumbd.status()["receiver"], (Path(folder) / "log").read_text()
        finally:
            plumbd.kill()
    table("By tenths of the run", by_tenths(samples))
    _, before, last = thirds([s["rss"] for s in samples])
    books, wrong = receiver["accounting"], [line for line in log.splitlines() if " error " in line]
    taken = ledger["spans"] + ledger["repeated"]
    figures = {
        "resident MiB, most in the second third": before / MIB,
        "in the last": last / MIB,
        "memory does not grow": last <= before * GROWN,
        "spans sent, repeated ones included": taken,
        "received": books["received"],
        "expired": books["expired"],
        "every span accounted for": bool(books["agree"]) and taken <= books["received"] <= taken + ledger["resent"],
        "p99 of acknowledgements, ms": ledger["ack_p99_ms"],
        "plumbd logged no error": not wrong,
    }
    pairs("Soaked", figures)
    for line in wrong[:10]:
        print(line)
    sys.exit(any(value is False for value in figures.values()))


if __name__ == "__main__":
    main()
