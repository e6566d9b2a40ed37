"""Which folder may include which: the plumb_module() calls of the build, the #include lines of the code and the table
of folders in docs/ARCHITECTURE.md must agree."""

import re

from tests.style.test_style import ROOT, c_files, name

# Where the programs' code is; each folder of it that holds code is a module.
PROGRAM_FOLDERS = {"common", "spark-bridge", "analyzer", "receiver"}
# Thrift's own library as the reference of tests: no module, since no program has it.
REFERENCE = "common/wire/reference"
MODULE_CALL = re.compile(r"plumb_module\(\s*(\w+)([^)]*)\)")


def modules():
    """(name, folder, the modules that it may use) of each plumb_module() of the build; a module is one folder."""
    for path in sorted(ROOT.glob("**/CMakeLists.txt")):
        folder = name(path.parent)
        if folder.split("/")[0] not in PROGRAM_FOLDERS:
            continue
        for module, rest in MODULE_CALL.findall(re.sub(r"#[^\n]*", "", path.read_text())):
            used = re.search(r"MAY_USE((?:\s+plumb\w+)*)", rest)
            yield module, folder, set(used.group(1).split()) if used else set()


FOLDER_OF = {module: folder for module, folder, _ in modules()}
RULES = {module: used for module, _, used in modules()}


def module_of(path):
    """The module a file belongs to, by its folder."""
    folder = path.rpartition("/")[0]
    return next((module for module, own in FOLDER_OF.items() if own == folder), None)


def test_every_folder_with_code_is_a_module():
    folders = {name(path.parent) for path in c_files("c", "h", "cc") if name(path).split("/")[0] in PROGRAM_FOLDERS}
    assert folders - {REFERENCE} == set(FOLDER_OF.values())


def test_the_document_has_every_module():
    """docs/ARCHITECTURE.md says what lives in each folder; what each may use is said once, in its CMakeLists.txt."""
    text = (ROOT / "docs/ARCHITECTURE.md").read_text()
    assert set(re.findall(r"^\| `([\w/-]+)/` \|", text, re.M)) == set(FOLDER_OF.values())


def test_code_includes_only_what_it_may():
    bad = []
    for path in c_files("c", "h", "cc"):
        module = module_of(name(path))
        if module is None:
            continue
        for included in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            target = module_of(included)
            if target is not None and target != module and target not in RULES[module]:
                bad.append(f"{name(path)} includes {included}")
    assert not bad, bad


def test_no_module_uses_a_program():
    for module, used in RULES.items():
        assert not used & {"plumbd_core", "plumb_cli"}, f"{module} uses a program"
