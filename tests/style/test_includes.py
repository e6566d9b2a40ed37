"""Which folder may include which: the table of docs/ARCHITECTURE.md, the plumb_module() calls of the build, and the
#include lines of the code must agree."""

import re

from tests.style.test_style import ROOT, c_files, name

FOLDER_OF = {
    "plumb_base": "common/base",
    "plumb_model": "common/model",
    "plumb_wire": "common/wire",
    "plumb_store": "common/store",
    "plumb_calltree": "analyzer/calltree",
    "plumb_core": "analyzer/core",
    "plumb_archive": "analyzer/archive",
    "plumb_query": "analyzer/query",
    "plumb_spark": "spark-bridge",
    "plumbd_core": "receiver",
    "plumb_cli": "analyzer",
}


def module_of(path):
    """The module a file belongs to, by its folder: the longest folder that holds it."""
    best = None
    for module, folder in FOLDER_OF.items():
        if path.startswith(folder + "/") and (best is None or len(folder) > len(FOLDER_OF[best])):
            best = module
    return best


def declared_in_build():
    rules = {}
    files = [
        *ROOT.glob("common/**/CMakeLists.txt"),
        *ROOT.glob("analyzer/**/CMakeLists.txt"),
        *ROOT.glob("analyzer/*.cmake"),
        ROOT / "receiver/CMakeLists.txt",
        ROOT / "spark-bridge/CMakeLists.txt",
    ]
    for path in files:
        text = re.sub(r"#[^\n]*", "", path.read_text())
        for match in re.finditer(r"plumb_module\(\s*(\w+)([^)]*)\)", text):
            used = re.search(r"MAY_USE((?:\s+plumb\w+)*)", match.group(2))
            rules[match.group(1)] = set(used.group(1).split()) if used else set()
    return rules


def declared_in_document():
    rules = {}
    text = (ROOT / "docs/ARCHITECTURE.md").read_text()
    for folder, used in re.findall(r"^\| `([\w/-]+)/` \| [^|]*\| ([^|]*)\|$", text, re.M):
        rules[folder] = set(re.findall(r"`([\w/-]+)/`", used))
    return rules


def test_every_module_is_declared():
    assert set(declared_in_build()) == set(FOLDER_OF)


def test_document_and_build_agree():
    document = declared_in_document()
    for module, used in declared_in_build().items():
        assert document.get(FOLDER_OF[module]) == {FOLDER_OF[m] for m in used}, (
            f"docs/ARCHITECTURE.md and the build disagree about {FOLDER_OF[module]}"
        )


def test_code_includes_only_what_it_may():
    rules = declared_in_build()
    bad = []
    for path in c_files("c", "h", "cc"):
        module = module_of(name(path))
        if module is None:
            continue
        for included in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            target = module_of(included)
            if target is not None and target != module and target not in rules[module]:
                bad.append(f"{name(path)} includes {included}")
    assert not bad, bad


def test_no_module_uses_a_program():
    for module, used in declared_in_build().items():
        assert not used & {"plumbd_core", "plumb_cli"}, f"{module} uses a program"
