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
