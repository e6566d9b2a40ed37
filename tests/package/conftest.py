"""What the tests of the packages share: the packages."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command, **options):
    return subprocess.run(
        list(map(str, command)), check=True, capture_output=True, text=True, timeout=600, **options
    ).stdout


@pytest.fixture(scope="session")
def debian_packages(tmp_path_factory):
    """{name: its .deb}, made by cpack of the build that is tested."""
    build = Path(os.environ.get("PLUMB_BUILD") or ROOT / "build/default")
    folder = tmp_path_factory.mktemp("packages")
    run("cpack", "--config", build / "CPackConfig.cmake", "-G", "DEB", "-B", folder, cwd=folder)
    return {re.match(r"[a-z-]+", file.name).group(): file for file in folder.glob("*.deb")}
