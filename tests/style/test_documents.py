"""What documents point at is there."""

import re

import pytest

from tests.style.test_style import ROOT, name, tracked

DOCUMENTS = tracked("*.md")
FOLDERS = "analyzer|bench|cmake|common|conf|docs|fuzz|idl|receiver|script|tests|tracer-patches|ui"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links(path):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text())
    assert [target for target in targets if not (path.parent / target).exists()] == []


def headings(path):
    """What a link may point at in it, as GitHub makes it of headings."""
    found = re.findall(r"^#+ (.*)", re.sub(r"(?ms)^```.*?^```", "", path.read_text()), re.MULTILINE)
    shown = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in found]
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in shown}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_places_in_documents(path):
    places = re.findall(r"\]\((?!https?:)([^)#]*\.md)?#([^)]+)\)", path.read_text())
    lost = [f"{file}#{place}" for file, place in places if place not in headings(path.parent / file if file else path)]
    assert lost == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_tables_have_a_head(path):
    """Rows behind an empty line are no table: they are shown as they are written."""
    first = re.findall(r"(?m)^(?:[^|\n].*)?\n(\|.*\n.*)", path.read_text())
    assert [rows for rows in first if not re.search(r"\n\|[ :|-]+$", rows)] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_paths(path):
    """Names of files in backquotes; NAME in one stands for a name."""
    files = re.findall(rf"`((?:{FOLDERS})/[\w./*-]*)", path.read_text())
    assert [file for file in files if "NAME" not in file and not any(ROOT.glob(file.rstrip("/")))] == []


SOURCE_NAMES = {path.name for path in tracked("*.c", "*.h", "*.cc", "*.java", "*.py")}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_names_of_files(path):
    """Also without a folder: `spill.h`."""
    files = re.findall(r"`([\w-]+\.(?:c|h|cc|java|py))`", path.read_text())
    assert [file for file in files if "NAME" not in file and file not in SOURCE_NAMES] == []


# Documents wrap here; a line may be longer when it cannot be wrapped: a table's row, code, a link.
MAX_DOCUMENT_CHARACTERS = 100
WRAPPED = tracked("README.md", "CONTRIBUTING.md", "bench/README.md", "docs/*.md")


def prose(text):
    """(line number, line) of what is neither code nor a table."""
    fenced = False
    blank = True  # the line before: only after such a line are four blanks the begin of code
    code = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            code = line.startswith("    ") and (blank or code)
            if not code and not line.lstrip().startswith(("|", "<!--")):
                yield number, line
        blank = not line.strip() or line.startswith("#")


def can_wrap(line):
    """Is there a blank to wrap at, outside of `code` and [links](...)?"""
    return " " in re.sub(r"`[^`]*`|!?\[[^]]*\]\([^)]*\)", "", line.strip().lstrip("-*0123456789. "))


@pytest.mark.parametrize("path", WRAPPED, ids=name)
def test_lines(path):
    long = [
        number
        for number, line in prose(path.read_text())
        if len(line) > MAX_DOCUMENT_CHARACTERS and can_wrap(line) and not line.startswith("#")
    ]
    assert not long, f"{name(path)}: wrap these lines at {MAX_DOCUMENT_CHARACTERS} characters: {long}"
