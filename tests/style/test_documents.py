"""What documents point at is there."""

import re

import pytest

from tests.style.test_style import ROOT, name, tracked

DOCUMENTS = tracked("*.md")
FOLDERS = "analyzer|bench|cmake|common|conf|docs|fuzz|idl|receiver|script|tests|tracer-patches"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links(path):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text())
    assert [target for target in targets if not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_paths(path):
    """Names of files in backquotes; NAME in one stands for a name."""
    files = re.findall(rf"`((?:{FOLDERS})/[\w./*-]*)", path.read_text())
    assert [file for file in files if "NAME" not in file and not any(ROOT.glob(file.rstrip("/")))] == []
