"""The table of functions by version in docs/coverage.md: what spans the runs of the tests really saw."""

import re
from collections import namedtuple

from tests.conftest import ROOT

DOCUMENT = ROOT / "docs" / "coverage.md"
LIST = (
    ROOT / "tracer-patches" / "agent" / "src" / "main" / "resources" / "io" / "plumbline" / "weave" / "functions.conf"
)
SEEN, ABSENT = "●", " "
ROLES = ["client", "namenode", "datanode", "journalnode"]

Function = namedtuple("Function", "name role")


def listed():
    """Every function of the agent's list, in its order; each once."""
    found, role = {}, None
    for line in LIST.read_text().splitlines():
        line = line.strip()
        if line.startswith("["):
            role = line.rstrip("]").split()[-1]
        elif line and not line.startswith("#"):
            found[Function(span_name(line), role)] = None
    return list(found)


def span_name(line):
    """The word after the methods' signatures."""
    signature = r"[\w<>$]+\([^)]*\)"
    kinds = [
        rf"carry {signature} -> (?:{signature}|return)",
        rf"(?:between|across|within) {signature} {signature}",
        signature,
    ]
    match = re.match(rf"(?:{'|'.join(kinds)})\s+(\S+)", line)
    assert match, line
    return match.group(1)


def is_own(row):
    """A function of Hadoop or of the agent, not of the tests' application."""
    return not row["function"].startswith("Tour#") and row["role"] in ROLES


def seen(forest):
    return {Function(row["function"], row["role"]) for row in forest.functions if is_own(row)}


def order(function):
    """As in the list; what Hadoop traces by itself after that, by role and name."""
    functions = listed()
    place = functions.index(function) if function in functions else len(functions)
    return place, ROLES.index(function.role), function.name


def table(by_version):
    """Markdown; by_version: version to the functions seen."""
    versions = list(by_version)
    rows = sorted(set().union(*by_version.values()) | set(listed()), key=order)
    lines = ["| function | process | " + " | ".join(versions) + " |", "|---|---|" + ":-:|" * len(versions)]
    for row in rows:
        cells = [SEEN if row in by_version[version] else ABSENT for version in versions]
        lines.append(f"| `{row.name}` | {row.role} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def read_table():
    """version to the functions that the committed table says were seen."""
    by_version, versions = {}, []
    for line in DOCUMENT.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| function |"):
            versions = cells[2:]
            by_version = {version: set() for version in versions}
        elif line.startswith("| `"):
            for version, cell in zip(versions, cells[2:], strict=True):
                if cell == SEEN:
                    by_version[version].add(Function(cells[0].strip("`"), cells[1]))
    return by_version


def write_table(by_version):
    text = DOCUMENT.read_text()
    before, _, rest = text.partition("<!-- table -->\n")
    _, _, after = rest.partition("<!-- end of table -->")
    DOCUMENT.write_text(f"{before}<!-- table -->\n{table(by_version)}<!-- end of table -->{after}")
