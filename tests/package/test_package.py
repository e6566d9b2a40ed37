"""The Debian packages that cpack makes of a build, and what script/settings says about the span receiver."""

import configparser
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from script.man_pages import page_name
from tests.package.conftest import ROOT, run

DOCUMENTS = "usr/share/doc/plumbline"
COMMANDS = "apps diff export forest functions hosts import stages status tasks trace traces verify why".split()
EXAMPLES = ["core-site.xml", "hadoop-env.sh", "hadoop-env-agent.sh", "hadoop-tracing.systemd", "spark-defaults.conf"]
MUST_HAVE = {
    "plumb": [
        "usr/bin/plumb",
        "usr/share/bash-completion/completions/plumb",
        "usr/share/fish/vendor_completions.d/plumb.fish",
        "usr/share/zsh/vendor-completions/_plumb",
        "usr/share/man/man8/plumbd.8",
        "usr/share/man/man5/plumbd.conf.5",
        "usr/share/man/man1/plumb.1",
        "usr/share/man/man1/plumb-bridge.1",
        *(f"usr/share/man/man1/plumb-{command}.1" for command in COMMANDS),
        f"{DOCUMENTS}/plumbd.md",
        f"{DOCUMENTS}/examples/analysis.conf",
        f"{DOCUMENTS}/examples/prometheus-rules.yml",
        f"{DOCUMENTS}/examples/grafana-cluster.json",
        f"{DOCUMENTS}/examples/grafana-datanode.json",
        f"{DOCUMENTS}/examples/grafana-plumbd.json",
    ],
    "plumbd": [
        "usr/bin/plumbd",
        "etc/plumbline/plumbd.conf",
        "etc/logrotate.d/plumbd",
        "usr/lib/systemd/system/plumbd.service",
    ],
    "plumb-bridge": ["usr/bin/plumb-bridge", "usr/lib/systemd/system/plumb-bridge.service"],
    "plumbline-agent": [
        "etc/plumbline/plumb-agent.conf",
        "usr/share/plumbline/spark-operations.btm",
        *(f"{DOCUMENTS}/examples/{name}.sample" for name in EXAMPLES),
    ],
}
PACKAGED_JAR = "usr/share/plumbline/plumb-span-receiver.jar"
PACKAGED_AGENT = "usr/share/plumbline/plumb-agent.jar"
PACKAGED_PLUGIN = "usr/share/plumbline/plumb-spark-plugin.jar"
PACKAGED_LOAD = "usr/share/plumbline/plumb-load.jar"
AGENT_OPTION = f"-javaagent:/{PACKAGED_AGENT}=conf=/etc/plumbline/plumb-agent.conf"


@pytest.fixture(scope="module")
def packages(debian_packages, tmp_path_factory):
    """{package: the folder with its files and, under DEBIAN, what dpkg is told of it}."""
    folder = tmp_path_factory.mktemp("unpacked")
    for name, file in debian_packages.items():
        run("dpkg-deb", "-R", file, folder / name)
    return {name: folder / name for name in debian_packages}


@pytest.fixture(scope="module")
def installed(packages, tmp_path_factory):
    """All of them in one tree."""
    tree = tmp_path_factory.mktemp("installed")
    for package in packages.values():
        run("cp", "-a", f"{package}/.", tree)
    return tree


def files_of(package):
    names = (str(path.relative_to(package)) for path in package.rglob("*") if path.is_file())
    return {name for name in names if not name.startswith("DEBIAN/")}


def test_each_package_has_its_files_and_no_other_has_them(packages):
    assert set(packages) == set(MUST_HAVE)
    owners = {}
    for name, package in packages.items():
        assert {*MUST_HAVE[name], f"usr/share/doc/{name}/copyright"} <= files_of(package)
        for file in files_of(package):
            assert owners.setdefault(file, name) == name, file


def test_jars_that_were_built_are_in_the_agents_package(packages):
    for jar, built in (
        (PACKAGED_JAR, "span-receiver/target/plumb-span-receiver-*.jar"),
        (PACKAGED_AGENT, "agent/target/plumb-agent-*.jar"),
        (PACKAGED_PLUGIN, "spark-plugin/target/plumb-spark-plugin-*.jar"),
        (PACKAGED_LOAD, "load/target/plumb-load-*.jar"),
    ):
        if list((ROOT / "tracer-patches").glob(built)):
            assert jar in files_of(packages["plumbline-agent"])


def test_the_page_is_inside_plumbd(packages):
    listed = run("gresource", "list", packages["plumbd"] / "usr/bin/plumbd").split()
    assert "/io/plumbline/page/index.html" in listed
    assert any(name.startswith("/io/plumbline/page/assets/") and name.endswith(".js") for name in listed)


def test_what_refers_to_installed_files(packages, installed):
    """Units, samples and documents name files that the packages have; /etc/default is the operator's."""
    for unit in ("plumbd", "plumb-bridge"):
        named = (packages[unit] / f"usr/lib/systemd/system/{unit}.service").read_text()
        for path in re.findall(r"(?:=|\s)(/(?:usr|etc/plumbline)/\S+)", named):
            assert (packages[unit] / path.lstrip("/")).is_file(), path
        for path in re.findall(r"file://(/\S+)", named):
            assert (installed / path.lstrip("/")).is_file(), path
    assert f"/{PACKAGED_JAR}" in (installed / DOCUMENTS / "examples/hadoop-env.sh.sample").read_text()
    for sample in ("hadoop-env-agent.sh.sample", "hadoop-tracing.systemd.sample", "spark-defaults.conf.sample"):
        assert AGENT_OPTION in (installed / DOCUMENTS / "examples" / sample).read_text(), sample


def test_programs_run(installed):
    for program in ("plumb", "plumb-bridge", "plumbd"):
        assert program in run(installed / "usr/bin" / program, "--version")


def test_what_they_need(packages):
    needed = {
        name: re.findall(r"^Depends: (.*)$", (package / "DEBIAN/control").read_text(), re.M)
        for name, package in packages.items()
    }
    assert "libevent" in needed["plumbd"][0] and "plumb (= " in needed["plumbd"][0]
    assert "plumb (" not in needed["plumb-bridge"][0] and needed["plumbline-agent"] == []
    assert list((packages["plumb"] / "usr/lib").rglob("librocksdbjni*.so")) or "librocksdb" in needed["plumb"][0]


def options_in_help(program, *command):
    return set(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", run(program, *command, "--help"), re.M))


def test_man_pages_say_what_help_says(installed):
    """Each page formats without a warning and has every option and the summary that the list of commands gives."""
    programs = installed / "usr/bin"
    pages = {"plumbd.8": [programs / "plumbd"], "plumb-bridge.1": [programs / "plumb-bridge"]}
    listed = run(programs / "plumb", "--help").split("Commands:\n")[1].split("\n\n")[0]
    summaries = dict(re.findall(r"^  (\S+(?: \S+)?)  +(.*)$", listed, re.M))
    assert set(COMMANDS) <= set(summaries)
    pages.update({f"{page_name(name)}.1": [programs / "plumb", *name.split()] for name in summaries})
    for page, command in pages.items():
        file = installed / f"usr/share/man/man{page[-1]}/{page}"
        done = subprocess.run(
            ["man", "--warnings", "-l", file],
            capture_output=True,
            text=True,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "1000"},
        )
        assert done.returncode == 0 and done.stderr == "", page
        assert options_in_help(*command) <= set(re.findall(r"--[\w-]+", done.stdout)), page
        if len(command) > 1:
            name = " ".join(command[1:])
            assert f"{page_name(name)} - {summaries[name]}" in done.stdout


def test_the_configuration_has_a_page_with_every_option(installed):
    page = run("man", "-l", installed / "usr/share/man/man5/plumbd.conf.5")
    written = run(installed / "usr/bin/plumbd", "--help-config")
    for option in re.findall(r"^#([\w-]+=)", written, re.M):
        assert f"#{option}" in page


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
    (lines,) = re.findall(r"^ *case .*?^ *esac$", text, re.M | re.S)
    environment = {"PATH": os.environ["PATH"], **({"HADOOP_OPTS": before} if before else {})}
    # Hadoop's scripts read it again in what they start.
    twice = f'{lines}\n{lines}\nprintf %s "$HADOOP_OPTS"'
    *others, option = run("bash", "-uc", twice, env=environment).split()
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
