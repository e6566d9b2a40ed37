"""The agent's .rpm, which rpm itself reads and installs into an empty root: the files of the .deb, and no needs."""

import filecmp
import os
from pathlib import Path

import pytest

from tests.package.conftest import ROOT, run

CONFIGURATION = "/etc/plumbline/plumb-agent.conf"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    build = Path(os.environ.get("PLUMB_BUILD") or ROOT / "build/default")
    folder = tmp_path_factory.mktemp("rpm")
    run("cpack", "--config", build / "CPackConfig.cmake", "-G", "RPM", "-B", folder, cwd=folder)
    (file,) = folder.glob("*.rpm")  # the agent alone
    return file


@pytest.fixture(scope="module")
def agent(debian_packages, tmp_path_factory):
    """The files of the Debian package."""
    folder = tmp_path_factory.mktemp("deb")
    run("dpkg-deb", "-x", debian_packages["plumbline-agent"], folder)
    return folder


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_what_rpm_is_told(package):
    assert (
        run("rpm", "-qp", "--queryformat", "%{NAME} %{ARCH} %{LICENSE}", package) == "plumbline-agent noarch Apache-2.0"
    )
    needs = run("rpm", "-qp", "--requires", package).split("\n")
    assert all(need.startswith("rpmlib(") for need in needs if need), needs
    assert run("rpm", "-qpc", package).split() == [CONFIGURATION]


def test_installed(package, agent, tmp_path):
    """In the same places as by apt. A changed configuration stays when the package goes."""
    root = ["rpm", "--root", tmp_path, "--dbpath", "/var/lib/rpm"]
    run(*root, "--initdb")
    run(*root, "-i", package)
    listed = [path for path in files(tmp_path) if path.startswith(("etc", "usr"))]  # without rpm's own
    assert listed == files(agent)
    assert filecmp.cmpfiles(tmp_path, agent, listed, shallow=False)[0] == listed

    configuration = tmp_path / CONFIGURATION[1:]
    configuration.write_text("receivers=plumbd:9410\n")
    run(*root, "-e", "plumbline-agent")
    left = [path for path in files(tmp_path) if path.startswith(("etc", "usr"))]
    assert left == [f"{CONFIGURATION[1:]}.rpmsave"]
