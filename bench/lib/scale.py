"""What a larger site needs, from the unit costs that `bench/run --json FILE` measured: the tables of docs/scale.md.

bench/scale FILE                          3,000 nodes, 10^9 spans an hour, kept for 30 days
bench/scale FILE --nodes 500 --spans-per-hour 5e7 --days 7"""

import argparse
import json
import sys
from math import ceil
from pathlib import Path

from bench.lib.table import table

PEAK = 3  # of the busiest minutes against the mean of the day
FLUSH_S = 0.5
REPLY_BYTES = 100  # with TCP's and IP's heads
FILE_BYTES = 64 << 20


def amount(value, unit, factor=1000):
    for prefix in ("", "k", "M", "G", "T"):
        if value < factor:
            break
        value /= factor
        prefix = {"": "k", "k": "M", "M": "G", "G": "T", "T": "P"}[prefix]
    return f"{value:.3g} {prefix}{unit}"


def unit_costs(run):
    sustained, settled = run["sustained"], run.get("settled", {})
    figures = sustained["figures"]
    families = settled.get("families") or sustained["families"]
    return {
        "cpu_us": figures["us CPU of plumbd per span"] + settled.get("figures", {}).get("us CPU per span", 0),
        "wire": figures["wire bytes per span"],
        "journal": figures["journal bytes per span"],
        "written": figures["written to disk, bytes per span"],
        "stored": sum(families.values()),
        "families": families,
        "rss_mib": figures["resident MiB, most"],
        "batch": figures["spans of a batch"],
        "verify_us": next(
            (row["verify: us per span"] for row in run.get("space", []) if "verify: us per span" in row), None
        ),
        "patterns": sustained["store"]["patterns"],
        "spans": sustained["store"]["spans"],
    }


def needs(cost, site):
    rate = site.spans_per_hour / 3600
    kept = site.spans_per_hour * 24 * site.days
    batches = 2 * site.nodes / FLUSH_S
    rows = [
        ("spans a second", f"{rate:,.0f}", f"{rate * PEAK:,.0f}"),
        ("spans a second and node", f"{rate / site.nodes:.0f}", f"{rate * PEAK / site.nodes:.0f}"),
        ("processors busy", f"{rate * cost['cpu_us'] / 1e6:.2f}", f"{rate * PEAK * cost['cpu_us'] / 1e6:.2f}"),
        (
            "network in, all nodes",
            amount(rate * cost["wire"] * 8, "bit/s"),
            amount(rate * PEAK * cost["wire"] * 8, "bit/s"),
        ),
        (
            "network out of a node",
            amount(rate / site.nodes * cost["wire"], "B/s"),
            amount(rate * PEAK / site.nodes * cost["wire"], "B/s"),
        ),
        ("batches a second (client and DataNode of each node)", f"{batches:,.0f}", f"{batches:,.0f}"),
        ("spans of a batch", f"{rate / batches:.0f}", f"{rate * PEAK / batches:.0f}"),
        ("replies", amount(batches * REPLY_BYTES * 8, "bit/s"), amount(batches * REPLY_BYTES * 8, "bit/s")),
        ("journal", amount(rate * cost["journal"], "B/s"), amount(rate * PEAK * cost["journal"], "B/s")),
        (
            "written to disk, compaction included",
            amount(rate * cost["written"], "B/s"),
            amount(rate * PEAK * cost["written"], "B/s"),
        ),
    ]
    table("A second", [{"what": w, "mean": m, f"peak ({PEAK} times)": p} for w, m, p in rows])
    kept_rows = [{"what": "spans", "a day": f"{site.spans_per_hour * 24:.3g}", f"{site.days} days": f"{kept:.3g}"}]
    for name, size in [*cost["families"].items(), ("all families", cost["stored"])]:
        kept_rows.append(
            {"what": name, "a day": amount(size * kept / site.days, "B"), f"{site.days} days": amount(size * kept, "B")}
        )
    kept_rows.append(
        {
            "what": f"files of {FILE_BYTES >> 20} MiB",
            "a day": f"{cost['stored'] * kept / site.days / FILE_BYTES:,.0f}",
            f"{site.days} days": f"{cost['stored'] * kept / FILE_BYTES:,.0f}",
        }
    )
    kept_rows.append(
        {
            "what": "written to disk",
            "a day": amount(cost["written"] * kept / site.days, "B"),
            f"{site.days} days": amount(cost["written"] * kept, "B"),
        }
    )
    table("Kept", kept_rows)


def machines(cost, site):
    """By what each machine of a kind can take: a third of its processors at peak, 80 % of its disk, half of its
    network."""
    rate, kept = site.spans_per_hour / 3600 * PEAK, site.spans_per_hour * 24 * site.days
    rows = []
    for cores, disk_tb, gbit in ((8, 2, 10), (16, 8, 10), (32, 15, 25), (32, 30, 25)):
        by = {
            "processors": rate * cost["cpu_us"] / 1e6 / (cores / 3),
            "disk": kept * cost["stored"] / (disk_tb * 1e12 * 0.8),
            "network": rate * cost["wire"] * 8 / (gbit * 1e9 / 2),
        }
        binding = max(by, key=by.get)
        rows.append(
            {
                "machine": f"{cores} processors, {disk_tb} TB, {gbit} Gbit/s",
                **{k: f"{v:.2f}" for k, v in by.items()},
                "machines": ceil(by[binding]),
                "bound by": binding,
            }
        )
    table("Machines", rows)


def main():
    parser = argparse.ArgumentParser(
        prog="bench/scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file")
    parser.add_argument("--nodes", type=int, default=3000)
    parser.add_argument("--spans-per-hour", type=float, default=1e9)
    parser.add_argument("--days", type=int, default=30)
    site = parser.parse_args()
    run = json.loads(Path(site.file).read_text())
    if "sustained" not in run:
        sys.exit(f"bench: {site.file} lacks the part 'sustained'")
    cost = unit_costs(run)
    table("Unit costs", [{"what": k, "figure": v} for k, v in cost.items() if k != "families" and v is not None])
    needs(cost, site)
    machines(cost, site)


if __name__ == "__main__":
    main()
