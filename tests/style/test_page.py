"""How the page's code reads: laid out by prettier, checked by eslint and by the types; ui/eslint.config.mjs has the
limits. script/page gets the tools."""

import json
import subprocess

from tests.style.test_style import ROOT


def test_layout_types_and_faults():
    done = subprocess.run([ROOT / "script/page", "check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"script/page format mends the layout\n{done.stdout}{done.stderr}"


def test_the_lock_names_no_registry():
    packages = json.loads((ROOT / "ui/package-lock.json").read_text())["packages"]
    assert len(packages) > 50
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [name for name, package in packages.items() if name and "integrity" not in package] == []
