"""What is installed lies where units, samples and documents say."""
import configparser
import os
import re
import subprocess

import pytest

from tests.cli.conftest import BUILD, ROOT


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """path("/usr/bin/plumb"): where that file was installed."""
    root = tmp_path_factory.mktemp("installed")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", "/usr"], env={**os.environ, "DESTDIR": str(root)}, check=True,
                   capture_output=True)
    return lambda path: root / path.lstrip("/")


def test_programs_run(installed):
    for program in ("plumb", "plumbd"):
        done = subprocess.run([installed(f"/usr/bin/{program}"), "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith(f"{program} ")


def test_unit_finds_its_files(installed):
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str
    unit.read(installed("/usr/lib/systemd/system/plumbd.service"))
    program, option, configuration = unit["Service"]["ExecStart"].split()
    assert option == "--config"
    document = unit["Unit"]["Documentation"].removeprefix("file://")
    for path in (program, configuration, document):
        assert installed(path).is_file(), path


def test_samples_find_the_jar(installed):
    built = list((ROOT / "tracer-patches/span-receiver/target").glob("plumb-span-receiver-*.jar"))
    assert built, "the span receiver is not built: run script/test java"
    for source in ("conf/hadoop-env.sh.sample", "docs/tracing.md", "script/settings"):
        paths = re.findall(r"/usr/share/[\w./-]+\.jar", (ROOT / source).read_text())
        assert paths, source
        for path in paths:
            assert installed(path).read_bytes() in [jar.read_bytes() for jar in built], path


@pytest.mark.parametrize("sample", ["analysis.conf", "core-site.xml.sample", "hadoop-env.sh.sample"])
def test_samples(installed, sample):
    assert installed(f"/usr/share/doc/plumbline/examples/{sample}").read_text() == (ROOT / "conf" / sample).read_text()
