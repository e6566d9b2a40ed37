"""Writes the man pages of the programs: what they print with --help, as help2man makes pages of it.

    python3 -m script.man_pages BUILD FOLDER

BUILD is a build tree with the three programs. FOLDER gets man1, man5 and man8. The pages are made when the packages
are, so they say what the packaged programs say.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

SUMMARIES = {
    "plumbd": "takes in spans of HDFS and Spark, keeps them as compressed call trees, answers questions",
    "plumb": "shows what HDFS, its clients and Spark did",
    "plumb-bridge": "sends what Spark's event logs say to plumbd",
}
SEE_ALSO = {
    "plumbd": "plumbd.conf(5), plumb(1), plumb-bridge(1)",
    "plumbd.conf": "plumbd(8)",
    "plumb-bridge": "plumb(1), plumbd(8)",
}
DOCUMENTS = "The documents in /usr/share/doc/plumbline say more."


def output(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def commands_of(plumb):
    """[(command of plumb, its summary)], as plumb --help lists them."""
    listed = output(plumb, "--help").split("Commands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+(?: \S+)?)  +(.*)$", listed, re.M)


def page_name(command):
    """Of "load plan": plumb-load-plan."""
    return "plumb-" + command.replace(" ", "-")


def see_also(name):
    return f"[SEE ALSO]\n{SEE_ALSO.get(name, 'plumb(1), plumbd(8)')}\n.PP\n{DOCUMENTS}\n"


class Pages:
    def __init__(self, build, folder):
        self.programs = {
            "plumbd": build / "receiver/plumbd",
            "plumb": build / "analyzer/plumb",
            "plumb-bridge": build / "spark-bridge/plumb-bridge",
        }
        self.folder = folder
        self.version = output(self.programs["plumbd"], "--version").split()[-1]

    def place(self, name, section):
        place = self.folder / f"man{section}" / f"{name}.{section}"
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def of_program(self, name, section, more=""):
        self.of_help(name, section, SUMMARIES[name], self.programs[name], more)

    def of_command(self, command, summary):
        """plumb-COMMAND(1): help2man asks a program, so one is made that adds the command."""
        name = page_name(command)
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, name)
            program.write_text(f'#!/bin/sh\nexec "{self.programs["plumb"]}" {command} "$@"\n')
            program.chmod(0o755)
            self.of_help(name, 1, summary, program)

    def of_help(self, name, section, summary, program, more=""):
        with tempfile.NamedTemporaryFile("w", suffix=".h2m") as included:
            included.write(more + see_also(name))
            included.flush()
            options = [f"--name={summary}", f"--section={section}", f"--version-string={self.version}"]
            page = output(
                "help2man", "--no-info", "--locale=C.UTF-8", "--source=Plumbline", f"--include={included.name}",
                *options, program,
            )  # fmt: skip
        self.place(name, section).write_text(page)

    def of_configuration(self):
        """plumbd.conf(5): the file that plumbd --help-config prints, which says everything, as it is."""
        text = output(self.programs["plumbd"], "--help-config").replace("\\", "\\e").replace("-", "\\-")
        # A line that begins with a dot or an apostrophe would be a request.
        lines = ["\\&" + line if line.startswith((".", "'")) else line for line in text.splitlines()]
        head = f'.TH PLUMBD.CONF 5 "" "Plumbline {self.version}" "File Formats"\n'
        body = (
            ".SH NAME\nplumbd.conf \\- configuration of plumbd\n.SH DESCRIPTION\n"
            "plumbd reads /etc/plumbline/plumbd.conf, or the file that \\fB\\-\\-config\\fR names.\n"
            "This is the whole file; each value in it is the one that is in force when the option is absent.\n"
            "\\fBplumbd \\-\\-check\\-config\\fR says whether a file is good.\n"
            ".SH OPTIONS\n.nf\n"
        )
        foot = f".fi\n.SH SEE ALSO\n{SEE_ALSO['plumbd.conf']}\n.PP\n{DOCUMENTS}\n"
        self.place("plumbd.conf", 5).write_text(head + body + "\n".join(lines) + "\n" + foot)


def main():
    build, folder = map(Path, sys.argv[1:])
    pages = Pages(build.resolve(), folder)
    commands = commands_of(pages.programs["plumb"])
    named = ", ".join(f"{page_name(command)}(1)" for command, _ in commands)
    pages.of_program("plumbd", 8)
    pages.of_program("plumb-bridge", 1)
    pages.of_program("plumb", 1, f"[COMMANDS]\nEach command has a page of its own: {named}.\n")
    pages.of_configuration()
    for command, summary in commands:
        pages.of_command(command, summary)


if __name__ == "__main__":
    main()
