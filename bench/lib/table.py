"""Figures as Markdown."""

import statistics


def number(value):
    if isinstance(value, bool):
        return "yes" if value else "**no**"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def table(title, rows, columns=None):
    """rows: dicts of the same keys."""
    columns = columns or list(rows[0])
    print(f"\n### {title}\n\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(number(row.get(c, "")) for c in columns) + " |")
    print(flush=True)


def pairs(title, values):
    table(title, [{"what": key, "figure": value} for key, value in values.items()])


def spread(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"
