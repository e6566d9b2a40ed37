"""The packages in a Debian 12 of their own: installed, upgraded, removed, purged, as an operator does it.

There is no systemd in it, so plumbd is started by hand with the command of its unit."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.package.conftest import ROOT, run

SPANS = ROOT / "tests/data/wire/htrace-4.1.0-local-file.json"
STORE = "var/lib/private/plumbline"  # where the unit's StateDirectory lies


class Debian:
    """A root folder made by mmdebstrap from this machine's sources, with what our packages say that they need."""

    def __init__(self, root, packages):
        self.root = root
        fields = (run("dpkg-deb", "-f", file, "Depends") for file in packages.values())
        named = {re.split(r"[ (]", one)[0] for field in fields for one in field.strip().split(", ") if one}
        deb822 = Path("/etc/apt/sources.list.d/debian.sources")
        sources = deb822 if deb822.exists() else "/etc/apt/sources.list"
        include = ",".join(sorted(named - set(packages)))
        run("mmdebstrap", "--mode=root", "--variant=minbase", f"--include={include}", "bookworm", root, sources)

    def command(self, *command):
        """With /proc, in which a program finds its own place; it goes with the command."""
        inside = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        return ["unshare", "--mount", "sh", "-c", inside, self.root, *command]

    def __call__(self, *command):
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "DEBIAN_FRONTEND": "noninteractive",
            "LC_ALL": "C.UTF-8",
        }
        return run(*self.command(*command), env=environment)

    def install(self, *files):
        for file in files:
            run("cp", file, self.root / "srv")
        return self("dpkg", "-B", "-i", *(f"/srv/{file.name}" for file in files))

    def has(self, path):
        return os.path.lexists(self.root / path)

    def installed(self):
        listed = self("dpkg-query", "-W", "-f=${Package} ${Version} ${db:Status-Status}\\n", "plumb*").splitlines()
        return {line.split()[0]: line.split()[1] for line in listed if line.endswith(" installed")}


class Daemon:
    """plumbd in there, with its unit's command and this folder for its state."""

    def __init__(self, debian):
        unit = (debian.root / "usr/lib/systemd/system/plumbd.service").read_text()
        command = re.search(r"^ExecStart=(.*)$", unit, re.M).group(1).split()
        (debian.root / STORE).mkdir(parents=True, exist_ok=True)
        paths = [f"--set=store.path=/{STORE}/store", f"--set=journal.path=/{STORE}/journal"]
        self.process = subprocess.Popen(
            debian.command(*command, *paths, "--set=listen.thrift=127.0.0.1:0", "--set=listen.http=127.0.0.1:0"),
            stdout=subprocess.PIPE,
            text=True,
        )
        ready = self.process.stdout.readline()
        self.thrift, self.http = re.findall(r"127\.0\.0\.1:\d+", ready)[:2]

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.process.send_signal(signal.SIGTERM)
        ended = self.process.wait(120)
        assert failure[0] or ended == 0


@pytest.fixture(scope="module")
def debian(tmp_path_factory, debian_packages):
    if os.geteuid() != 0:
        pytest.skip("a Debian of its own needs root")
    return Debian(tmp_path_factory.mktemp("debian"), debian_packages)


class Buildah:
    """Images in a folder of their own, made and run without a daemon."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "BUILDAH_ISOLATION": "chroot"}

    def command(self, *command):
        return ["buildah", "--root", self.folder / "images", "--runroot", self.folder / "state", *command]

    def __call__(self, *command):
        return run(*self.command(*command), env=self.environment)

    def image(self, file, folder, name, *options):
        """Builds the Containerfile with this folder as its context."""
        self("build", "--pull-never", "--tag", name, "--file", file, *options, folder)
        return name

    def start(self, image, *arguments):
        """The image's command, with these arguments behind it, as its user: "podman run". (container, Popen)"""
        container = self("from", image).strip()
        config = json.loads(self("inspect", container))["OCIv1"]["config"]
        command = [*config["Entrypoint"], *config["Cmd"], *arguments]
        process = subprocess.Popen(
            list(map(str, self.command("run", container, "--", *command))),
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        return container, process


def descendants(pid):
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    return children + [further for child in children for further in descendants(child)]


@pytest.fixture
def buildah(tmp_path):
    made = Buildah(tmp_path)
    yield made
    made("rm", "--all")
    made("rmi", "--all", "--force")


def test_container(debian, debian_packages, buildah, tmp_path):
    """conf/Containerfile on an image of that Debian: plumbd runs as a user that is not root, and takes spans."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for file in debian_packages.values():
        run("cp", file, packages)
    (tmp_path / "base").write_text("FROM scratch\nCOPY . /\n")
    base = buildah.image(tmp_path / "base", debian.root, "localhost/base")
    image = buildah.image(ROOT / "conf/Containerfile", packages, "localhost/plumbline", f"--build-arg=base={base}")

    container, process = buildah.start(image, "--set=listen.thrift=127.0.0.1:0", "--set=listen.http=127.0.0.1:0")
    thrift, http = re.findall(r"127\.0\.0\.1:\d+", process.stdout.readline())[:2]
    buildah("copy", container, SPANS, "/srv/spans.json")
    buildah("run", container, "--", "plumb", "--server", http, "import", "--thrift", thrift, "/srv/spans.json")
    status = json.loads(buildah("run", container, "--", "plumb", "--server", http, "--json", "status"))
    assert status["store"]["traces"] > 0
    owner = buildah("run", container, "--", "stat", "-c", "%U", "/var/lib/plumbline/store").strip()
    assert owner == "plumbline"
    (plumbd,) = [pid for pid in descendants(process.pid) if Path(f"/proc/{pid}/comm").read_text() == "plumbd\n"]
    os.kill(plumbd, signal.SIGTERM)
    assert process.wait(120) == 0


def of_version(package, version, folder):
    """The same package under another version: what an upgrade starts from."""
    tree = folder / f"{package.name}.tree"
    run("dpkg-deb", "-R", package, tree)
    control = tree / "DEBIAN/control"
    text = re.sub(r"^Version: .*$", f"Version: {version}", control.read_text(), flags=re.M)
    control.write_text(re.sub(r"plumb \(= [^)]*\)", f"plumb (= {version})", text))
    file = folder / f"{package.name.split('_')[0]}_{version}.deb"
    run("dpkg-deb", "-b", tree, file)
    return file


def traces_stored(debian, daemon):
    return json.loads(debian("plumb", "--server", daemon.http, "--json", "status"))["store"]["traces"]


def test_installed_upgraded_removed_purged(debian, debian_packages, tmp_path):
    old = [of_version(package, "0.0.9", tmp_path) for package in debian_packages.values()]
    debian.install(*old)
    assert debian.installed() == dict.fromkeys(debian_packages, "0.0.9")
    wanted = debian.root / "etc/systemd/system/multi-user.target.wants"
    assert os.path.lexists(wanted / "plumbd.service") and not os.path.lexists(wanted / "plumb-bridge.service")

    run("cp", SPANS, debian.root / "srv/spans.json")
    with Daemon(debian) as daemon:
        debian("plumb", "--server", daemon.http, "import", "--thrift", daemon.thrift, "/srv/spans.json")
        stored = traces_stored(debian, daemon)
    assert stored > 0

    configuration = debian.root / "etc/plumbline/plumbd.conf"
    configuration.write_text(configuration.read_text() + "# of this site\n")
    debian.install(*debian_packages.values())
    version = re.search(r"_([\d.]+)_", debian_packages["plumbd"].name).group(1)
    assert debian.installed() == dict.fromkeys(debian_packages, version)
    assert configuration.read_text().endswith("# of this site\n")
    with Daemon(debian) as daemon:
        assert traces_stored(debian, daemon) == stored
    debian("plumb", "--store", f"/{STORE}/store", "verify")

    debian("dpkg", "--remove", *debian_packages)
    assert debian.installed() == {} and not debian.has("usr/bin/plumbd")
    assert debian.has(f"{STORE}/store") and configuration.exists()
    debian("dpkg", "--purge", *debian_packages)
    left = [path for folder in ("etc", "usr", "var/lib", "var/log") for path in (debian.root / folder).rglob("*plumb*")]
    assert [path for path in left if "/dpkg/" not in str(path)] == []


def test_the_package_of_before_gives_way(debian, debian_packages, tmp_path):
    """Until 0.1 there was one package, plumbline, with all of these files."""
    tree = tmp_path / "plumbline"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/plumbd").write_text("#!/bin/sh\n")
    control = "Package: plumbline\nVersion: 0.0.9\nArchitecture: amd64\nMaintainer: nobody\nDescription: of before\n"
    (tree / "DEBIAN/control").write_text(control)
    run("dpkg-deb", "-b", tree, tmp_path / "plumbline_0.0.9.deb")
    debian.install(tmp_path / "plumbline_0.0.9.deb")
    debian.install(*debian_packages.values())
    assert set(debian.installed()) == set(debian_packages)
    assert "plumbd" in debian("plumbd", "--version")
