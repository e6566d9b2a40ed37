"""The Debian package that cpack makes of a build, and what script/settings says about the span receiver."""

import configparser
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("PLUMB_BUILD") or ROOT / "build/default")
DOCUMENTS = "usr/share/doc/plumbline"
MUST_HAVE = [
    "usr/bin/plumb",
    "usr/bin/plumb-bridge",
    "usr/bin/plumbd",
    "etc/plumbline/plumbd.conf",
    "etc/plumbline/plumb-agent.conf",
    "usr/lib/systemd/system/plumbd.service",
    "usr/lib/systemd/system/plumb-bridge.service",
    "usr/share/bash-completion/completions/plumb",
    "usr/share/plumbline/spark-operations.btm",
    f"{DOCUMENTS}/copyright",
    f"{DOCUMENTS}/plumbd.md",
    *(
        f"{DOCUMENTS}/examples/{name}"
        for name in (
            "core-site.xml.sample",
            "hadoop-env.sh.sample",
            "hadoop-env-agent.sh.sample",
            "hadoop-tracing.systemd.sample",
            "spark-defaults.conf.sample",
            "analysis.conf",
        )
    ),
]
PACKAGED_JAR = "usr/share/plumbline/plumb-span-receiver.jar"
PACKAGED_AGENT = "usr/share/plumbline/plumb-agent.jar"
PACKAGED_PLUGIN = "usr/share/plumbline/plumb-spark-plugin.jar"
AGENT_OPTION = f"-javaagent:/{PACKAGED_AGENT}=conf=/etc/plumbline/plumb-agent.conf"


def run(*command, **options):
    return subprocess.run(
        list(map(str, command)), check=True, capture_output=True, text=True, timeout=120, **options
    ).stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder with the package's files and, under DEBIAN, what dpkg is told of it."""
    folder = tmp_path_factory.mktemp("package")
    run("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", folder, cwd=folder)
    (file,) = folder.glob("plumbline_*.deb")
    unpacked = folder / "unpacked"
    run("dpkg-deb", "-R", file, unpacked)
    return unpacked


def test_layout(package):
    files = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
    files = {name for name in files if not name.startswith("DEBIAN/")}
    assert set(MUST_HAVE) <= files
    others = {
        name for name in files if not name.startswith((DOCUMENTS, "usr/lib/")) or name.endswith(".service")
    } - set(MUST_HAVE)
    assert others <= {PACKAGED_JAR, PACKAGED_AGENT, PACKAGED_PLUGIN}
    for jar, built in (
        (PACKAGED_JAR, "span-receiver/target/plumb-span-receiver-*.jar"),
        (PACKAGED_AGENT, "agent/target/plumb-agent-*.jar"),
        (PACKAGED_PLUGIN, "spark-plugin/target/plumb-spark-plugin-*.jar"),
    ):
        if list((ROOT / "tracer-patches").glob(built)):
            assert jar in files


def test_what_refers_to_installed_files(package):
    """Units, samples and documents name files that the package has; /etc/default is the operator's."""
    for unit in ("plumbd", "plumb-bridge"):
        named = (package / f"usr/lib/systemd/system/{unit}.service").read_text()
        for path in re.findall(r"(?:file://|=|\s)(/(?:usr|etc/plumbline)/\S+)", named):
            assert (package / path.lstrip("/")).is_file(), path
    assert f"/{PACKAGED_JAR}" in (package / DOCUMENTS / "examples/hadoop-env.sh.sample").read_text()
    for sample in ("hadoop-env-agent.sh.sample", "hadoop-tracing.systemd.sample", "spark-defaults.conf.sample"):
        assert AGENT_OPTION in (package / DOCUMENTS / "examples" / sample).read_text(), sample


def test_an_upgrade_keeps_the_configuration(package):
    assert (package / "DEBIAN/conffiles").read_text() == "/etc/plumbline/plumbd.conf\n/etc/plumbline/plumb-agent.conf\n"


def test_programs_run(package):
    for program in ("plumb", "plumb-bridge", "plumbd"):
        assert program in run(package / "usr/bin" / program, "--version")
    depends = re.search(r"^Depends: (.*)$", (package / "DEBIAN/control").read_text(), re.M).group(1)
    assert "libevent" in depends
    assert list((package / "usr/lib").rglob("librocksdbjni*.so")) or "librocksdb" in depends


def settings(root, *arguments):
    return run(root / "script/settings", *arguments)


@pytest.fixture
def clone(tmp_path):
    """A tree with the script alone, and the jars."""
    (tmp_path / "script").mkdir()
    shutil.copy(ROOT / "script/settings", tmp_path / "script/settings")
    target = tmp_path / "tracer-patches/span-receiver/target"
    target.mkdir(parents=True)
    (target / "plumb-span-receiver-1.2.3-sources.jar").touch()
    (target / "plumb-span-receiver-1.2.3.jar").touch()
    (tmp_path / "tracer-patches/agent/target").mkdir(parents=True)
    (tmp_path / "tracer-patches/agent/target/plumb-agent-1.2.3.jar").touch()
    return tmp_path


def class_path(text, before):
    (line,) = re.findall(r"^ *(export HADOOP_CLASSPATH=.*)$", text, re.M)
    environment = {"PATH": os.environ["PATH"], **({"HADOOP_CLASSPATH": before} if before else {})}
    return run("bash", "-uc" if before else "-c", line + '; printf %s "$HADOOP_CLASSPATH"', env=environment).split(":")


@pytest.mark.parametrize("before", [None, "/a.jar:/b.jar"])
def test_the_class_path_has_the_jar_and_nothing_empty(clone, before):
    jar, *rest = class_path(settings(clone), before)
    assert Path(jar).name == "plumb-span-receiver-1.2.3.jar" and Path(jar).is_file()
    assert rest == (before.split(":") if before else [])  # an empty entry would be the working directory


def test_settings_name_no_jar_that_does_not_exist(clone):
    for jar in (clone / "tracer-patches").glob("*/target/*.jar"):
        jar.unlink()
    text = settings(clone)
    packaged = [Path("/", jar).is_file() for jar in (PACKAGED_JAR, PACKAGED_AGENT)]
    assert ("script/build jar" in text) != all(packaged)
    assert [f"/{jar}" in text for jar in (PACKAGED_JAR, PACKAGED_AGENT)] == packaged


@pytest.mark.parametrize("before", [None, "-Xmx1g"])
def test_the_agents_option(clone, before):
    """The same for Hadoop and for Spark, added to what is there."""
    text = settings(clone, "127.0.0.1:9411")
    (line,) = re.findall(r"^ *(export HADOOP_OPTS=.*)$", text, re.M)
    environment = {"PATH": os.environ["PATH"], **({"HADOOP_OPTS": before} if before else {})}
    *others, option = run("bash", "-uc", line + '; printf %s "$HADOOP_OPTS"', env=environment).split()
    assert others == ([before] if before else [])
    jar, arguments = re.fullmatch(r"-javaagent:([^=]*)=(.*)", option).groups()
    assert Path(jar).is_file() and arguments == "receivers=127.0.0.1:9411,sampling=always"
    assert re.findall(r"^ *spark\.(?:driver|executor)\.extraJavaOptions +(.*)$", text, re.M) == [option, option]


@pytest.mark.parametrize("before", [None, "-Xmx1g"])
def test_hadoop_env_twice(before):
    """Hadoop's scripts read it again in what they start: one option all the same."""
    sample = ROOT / "conf/hadoop-env-agent.sh.sample"
    environment = {"PATH": os.environ["PATH"], **({"HADOOP_OPTS": before} if before else {})}
    options = run("bash", "-uc", f'. {sample}; . {sample}; printf %s "$HADOOP_OPTS"', env=environment).split()
    assert options == ([before] if before else []) + [AGENT_OPTION]


def test_a_drop_in_is_a_unit_file():
    parser = configparser.ConfigParser()
    parser.read_string((ROOT / "conf/hadoop-tracing.systemd.sample").read_text())
    assert {name: dict(parser[name]) for name in parser.sections()} == {
        "Service": {"environment": f'"JAVA_TOOL_OPTIONS={AGENT_OPTION}"'}
    }


@pytest.mark.parametrize(
    "listening, told", [("127.0.0.1:9411", "127.0.0.1:9411"), ("0.0.0.0:9410", None), ("[::]:9410", None)]
)
def test_properties_are_those_of_the_sample(clone, listening, told):
    text = settings(clone, listening)
    properties = ElementTree.fromstring("<c>" + "".join(re.findall(r"<property>.*</property>", text)) + "</c>")
    printed = {entry.findtext("name"): entry.findtext("value") for entry in properties}
    sample = {
        entry.findtext("name") for entry in ElementTree.parse(ROOT / "conf/core-site.xml.sample").iter("property")
    }
    assert set(printed) == {name for name in sample if not name.endswith(".fraction")}
    address = printed["hadoop.htrace.plumb.receiver.addresses"]
    assert address == told if told else re.fullmatch(r"[\w.-]*[a-zA-Z][\w.-]*:9410", address)
