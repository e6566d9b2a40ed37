"""perf's samples of a running plumbd, by part of the program. A sample belongs to the part of the innermost of plumbd's
own functions on its stack; told by the source file, so that nothing needs to be kept in step with function names. What
has none of them is RocksDB's background work, or the kernel's on behalf of nobody."""

import re
import shutil
import subprocess
import sys
from collections import Counter

from bench.lib.daemon import BUILD, ROOT

# First that fits the path of the source file, from the top of the tree.
PARTS = [
    (r"receiver/journal/", "journal"),
    (r"receiver/background/recovery|receiver/\w+\.c", "others"),
    (r"receiver/net/intake|common/wire/|common/model/|common/pack/", "decode"),
    (r"receiver/net/|receiver/shared/admission", "network"),
    (r"receiver/shared/(senders|accounts)|analyzer/archive/tables/(account|processes)", "accounting"),
    (r"receiver/(http|state)/|analyzer/query/", "questions"),
    (r"receiver/", "open traces"),
    (
        r"analyzer/calltree/stats/|analyzer/archive/(read/(distinct|period_stats)|tables/row|consolidation/rollup)",
        "statistics",
    ),
    (r"analyzer/calltree/(compressor|shapes|pattern|record)", "compression"),
    (r"analyzer/calltree/", "assembly"),
    (r"analyzer/archive/(index/|read/search|tables/puts)", "search index"),
    (r"analyzer/archive/(late|consolidation/|write/trace_version)", "late spans"),
    (r"analyzer/archive/|common/store/", "store"),
]
ORDER = [
    "network",
    "decode",
    "journal",
    "open traces",
    "assembly",
    "compression",
    "statistics",
    "search index",
    "late spans",
    "accounting",
    "store",
    "questions",
    "others",
]


def needed(program, package):
    if shutil.which(program) is None:
        sys.exit(f"bench: {program} is needed: install the package {package}")


def sources():
    """Function name -> source file below the top of the tree, as the debug information has it."""
    listed = subprocess.run(
        ["nm", "--line-numbers", "--defined-only", str(BUILD / "receiver/plumbd")], capture_output=True, text=True
    ).stdout
    found = re.findall(rf"^[0-9a-f]+ [tTwW] (\S+)\t{re.escape(str(ROOT))}/(\S+):\d+$", listed, re.M)
    return {re.sub(r"\.(constprop|part|isra|cold|lto_priv)\b.*", "", name): path for name, path in found}


def part_of(path):
    return next((part for pattern, part in PARTS if re.match(pattern, path)), "others")


def stacks(script):
    """(thread, [(function, object)] innermost first) of each sample of `perf script`."""
    for block in script.split("\n\n"):
        lines = block.strip("\n").split("\n")
        if len(lines) < 2:
            continue
        frames = re.findall(r"^\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \((.*)\)$", "\n".join(lines[1:]), re.M)
        if frames:
            yield lines[0].strip(), frames


def classify(thread, frames, files):
    if thread.startswith("rocksdb"):
        return "store"
    for function, _ in frames:
        path = files.get(re.sub(r"\.(constprop|part|isra|cold|lto_priv)\b.*", "", function))
        if path is not None:
            return part_of(path)
    return (
        "network"
        if thread.startswith("net-")
        else "store"
        if any("rocksdb" in where for _, where in frames)
        else "others"
    )


def profile(plumbd, seconds, folder):
    needed("perf", "linux-perf")
    needed("nm", "binutils")
    data = folder / "perf.data"
    subprocess.run(
        [
            "perf",
            "record",
            "-q",
            "-F",
            "199",
            "--call-graph",
            "dwarf,8192",
            "-p",
            str(plumbd.process.pid),
            "-o",
            str(data),
            "--",
            "sleep",
            str(int(seconds)),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    script = subprocess.run(
        ["perf", "script", "--no-inline", "-i", str(data), "-F", "comm,ip,sym,dso"],
        check=True,
        capture_output=True,
        text=True,
        errors="replace",
    ).stdout
    data.unlink()
    return summary(script, sources())


def summary(script, files):
    parts, kernel, symbols, folded, total = Counter(), Counter(), Counter(), Counter(), 0
    for thread, frames in stacks(script):
        part = classify(thread, frames, files)
        total += 1
        parts[part] += 1
        kernel[part] += "kernel" in frames[0][1] or frames[0][1].startswith("[")
        symbols[(frames[0][0], part)] += 1
        folded[";".join([part, thread, *(function for function, _ in reversed(frames))])] += 1
    if total == 0:
        sys.exit("bench: perf took no samples")
    rows = [
        {
            "part": p,
            "share of the CPU, %": 100 * parts[p] / total,
            "of that in the kernel, %": 100 * kernel[p] / parts[p],
        }
        for p in ORDER
        if parts[p] > 0
    ]
    top = [{"function": s, "part": p, "share, %": 100 * n / total} for (s, p), n in symbols.most_common(30)]
    return {"samples": total, "parts": rows, "symbols": top, "folded": folded}
