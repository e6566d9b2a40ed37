"""Pictures of tables, as SVG: the same data give the same bytes.

matplotlib draws them. It is well kept, is in Debian, and knows axes, ticks and legends better than a writer of our own
would. Its ids come from a salt that we set, its date is left out, and texts stay texts: so its SVG can be compared, and
read by a screen reader.
"""

import io

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "plumbline", "svg.fonttype": "none", "font.family": "sans-serif"})

import matplotlib.pyplot as plt  # noqa: E402

RESOURCE_COLORS = {
    "cpu": "tab:orange", "disk": "tab:blue", "network": "tab:green", "hdfs": "tab:red", "data": "tab:purple",
    "jvm": "tab:brown",
}  # fmt: skip


def svg_of(figure):
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    return out.getvalue()


def axes_of(title, x, y, size=(7, 4)):
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    return figure, axes


def stacked(title, names, rows):
    """A bar for each row (a pipeline, shortest first), stacked by name: times in ms. Figures 21 to 27."""
    figure, axes = axes_of(title, "tasks, by duration", "ms")
    rows, bottom = sorted(rows, key=sum), [0.0] * len(rows)
    for i, name in enumerate(names):
        values = [row[i] for row in rows]
        axes.bar(range(len(rows)), values, 1.0, bottom=bottom, label=name)
        bottom = [low + value for low, value in zip(bottom, values, strict=True)]
    axes.legend(fontsize="small")
    return svg_of(figure)


def bars(title, x, names, rows):
    """A bar for each (label, values by name), the first on top, stacked from the left."""
    figure, axes = axes_of(title, x, "", (7, 0.9 + 0.35 * len(rows)))
    left = [0.0] * len(rows)
    for i, name in enumerate(names):
        values = [row[i] for _, row in rows]
        axes.barh(range(len(rows)), values, 0.8, left=left, label=name)
        left = [begin + value for begin, value in zip(left, values, strict=True)]
    axes.set_yticks(range(len(rows)), [label for label, _ in rows])
    axes.invert_yaxis()
    if len(names) > 1:
        axes.legend(fontsize="small", bbox_to_anchor=(1, 1), loc="upper left")
    return svg_of(figure)


def matrix(title, rows, columns, counts):
    """Counts of rows (what is true) by columns (what is said), each row's shares as shades."""
    figure, axes = axes_of(title, "said", "true", (6, 5))
    shares = [[count / max(1, sum(row)) for count in row] for row in counts]
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.grid(False)
    for i, row in enumerate(counts):
        for j, count in enumerate(row):
            if count:
                axes.text(j, i, str(count), ha="center", va="center", color="white" if shares[i][j] > 0.5 else "black")
    return svg_of(figure)


def lines(title, x, y, series, *, log_x=False, diagonal=False):
    """series: {name: [(x, y)]}."""
    figure, axes = axes_of(title, x, y)
    for name, points in series.items():
        axes.plot([a for a, _ in points], [b for _, b in points], marker="o", markersize=3, label=name)
    if log_x:
        axes.set_xscale("log")
    if diagonal:
        axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle="--")
    axes.legend(fontsize="small")
    return svg_of(figure)


def over_time(title, timeline, color_of):
    """What hosts had to do, what was done to them, and which tasks were stragglers (figures 7 to 10): of a timeline of
    cases.py. color_of: of a straggler's cause, by task."""
    hosts = timeline["loads"]
    figure, rows = plt.subplots(len(hosts), 1, figsize=(8, 1 + 1.3 * len(hosts)), sharex=True, layout="constrained")
    figure.suptitle(title)
    for axes, (host, load) in zip(rows if len(hosts) > 1 else [rows], hosts.items(), strict=True):
        most = max([*load["network"], 1e-9])
        axes.plot(load["at_s"], load["cpu"], color=RESOURCE_COLORS["cpu"], linewidth=0.8, label="cpu")
        axes.plot(load["at_s"], load["disk"], color=RESOURCE_COLORS["disk"], linewidth=0.8, label="disk")
        scaled = [value / most for value in load["network"]]
        axes.plot(load["at_s"], scaled, color=RESOURCE_COLORS["network"], linewidth=0.8, label="network, of its most")
        for name, topic, begin, end in timeline["injections"]:
            if name == host or name not in hosts:
                axes.axvspan(begin, end, color=RESOURCE_COLORS.get(topic, "grey"), alpha=0.15, linewidth=0)
        beside = axes.twinx()
        for task, name, begin, end, times in timeline["stragglers"]:
            if name == host:
                beside.plot([begin, end], [times, times], color=color_of(task), linewidth=2)
        beside.set_ylim(1, 1.1 * max([2, *(times for *_, times in timeline["stragglers"])]))
        beside.set_ylabel("times median", fontsize="x-small")
        axes.set_ylim(0, 1.05)
        axes.set_ylabel(host)
    axes.set_xlabel("s")
    axes.legend(fontsize="x-small", loc="upper right", ncols=3)
    return svg_of(figure)


def intervals(title, x, rows, goal=None):
    """rows: [(name, value, low, high)], one below the other."""
    figure, axes = axes_of(title, x, "", (7, 0.5 + 0.4 * len(rows)))
    for i, (_, value, low, high) in enumerate(rows):
        axes.plot([low, high], [i, i], color="tab:blue")
        axes.plot([value], [i], marker="o", color="tab:blue")
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
    axes.invert_yaxis()
    for bound in goal or ():
        axes.axvline(bound, color="tab:red", linewidth=0.8, linestyle="--")
    return svg_of(figure)
