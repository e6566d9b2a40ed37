"""What a study leaves in a folder of its own: report.md, study.json, tables as TSV, pictures as SVG. Only report.md and
study.json say when and where it was made: tables and pictures of the same data are the same bytes."""

import json
import math
import os
import platform
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from bench.studies.figures import judge

# A machine on which more wants to run than there are processors for disturbs what is measured on it.
BUSY_SHARE = 10.0


def text_of(value):
    """A cell: counts whole, other numbers with four digits, nothing for what is not known."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def pressure():
    """The share of the last ten seconds in which something waited for a processor, in %; None: not told here."""
    try:
        some = Path("/proc/pressure/cpu").read_text().splitlines()[0]
        return float(some.split()[1].split("=")[1])
    except (OSError, IndexError, ValueError):
        return None


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def environment(build):
    version = subprocess.run([build / "analyzer/plumb", "--version"], capture_output=True, text=True, check=False)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "processors": os.cpu_count(),
        "memory_gib": round(memory / 2**30),
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release()["PRETTY_NAME"],
        "plumb": version.stdout.strip(),
        "load": round(os.getloadavg()[0], 1),
        "cpu_pressure": pressure(),
    }


class Report:
    def __init__(self, name, title, about, build):
        self.name, self.title, self.about = name, title, about
        self.build = Path(build)
        self.claims, self.tables, self.pictures, self.notes = [], [], [], []
        self.parameters = {}
        self.begin, self.before = time.monotonic(), environment(self.build)

    def claim(self, claim):
        self.claims.append(claim)

    def table(self, name, title, columns, rows):
        self.tables.append((name, title, columns, [[text_of(cell) for cell in row] for row in rows]))

    def picture(self, name, title, svg):
        self.pictures.append((name, title, svg))

    def note(self, text):
        self.notes.append(text)

    # ---- what is written ----

    def write(self, into):
        """The folder into/NAME is there whole, or as it was."""
        into = Path(into)
        into.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=f".{self.name}-", dir=into))
        new.chmod(0o755)
        for name, _, columns, rows in self.tables:
            lines = ["\t".join(row) for row in [columns, *rows]]
            (new / f"{name}.tsv").write_text("\n".join(lines) + "\n")
        for name, _, svg in self.pictures:
            (new / f"{name}.svg").write_text(svg)
        (new / "report.md").write_text(self.markdown())
        (new / "study.json").write_text(json.dumps(self.document(), indent=1) + "\n")
        folder = into / self.name
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)
        return folder

    def disturbed(self):
        return (self.before["cpu_pressure"] or 0) > BUSY_SHARE or self.before["load"] > self.before["processors"]

    def document(self):
        return {
            "study": self.name,
            "environment": {**self.before, "cpu_pressure_after": pressure(), "disturbed": self.disturbed()},
            "seconds": round(time.monotonic() - self.begin, 1),
            "parameters": self.parameters,
            "claims": [
                {
                    "claim": claim.text,
                    "published": claim.published,
                    "bound": list(claim.bound),
                    "ours": None if math.isnan(claim.ours.value) else claim.ours.value,
                    "low": claim.ours.low,
                    "high": claim.ours.high,
                    "n": claim.ours.n,
                    "verdict": judge(claim),
                }
                for claim in self.claims
            ],
            "tables": [name for name, *_ in self.tables],
            "pictures": [name for name, *_ in self.pictures],
        }

    def markdown(self):
        about = self.before
        lines = [f"# {self.title}", "", self.about, ""]
        lines += [
            f"{about['date']}, {about['processors']} x {about['processor']}, {about['memory_gib']} GiB, "
            f"{about['system']}, Linux {about['kernel']}, {about['plumb']}."
            + (" The machine was busy with other work." if self.disturbed() else ""),
            "",
        ]
        if self.claims:
            columns = ["claim", "published or goal", "ours", "95 % interval", "n", "verdict"]
            lines += ["## Claims", *markdown_table(columns, [claim_row(claim) for claim in self.claims])]
        for name, title, columns, rows in self.tables:
            lines += [f"## {title}", *markdown_table(columns, rows), f"[{name}.tsv]({name}.tsv)", ""]
        for name, title, _ in self.pictures:
            lines += [f"![{title}]({name}.svg)", ""]
        if self.notes:
            lines += ["## Notes", "", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines).rstrip() + "\n"


def markdown_table(columns, rows):
    return (
        ["", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        + ["| " + " | ".join(row) + " |" for row in rows]
        + [""]
    )


def claim_row(claim):
    value, low, high, n = claim.ours
    return [claim.text, claim.published, text_of(value), f"{low:.3g} to {high:.3g}", str(n), f"**{judge(claim)}**"]
