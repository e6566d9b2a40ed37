"""What the processes of a cluster are made of: Hadoop's jars by version, ours, classes of tests. (Java: javas.py.)

Jars come from Maven and are kept in ${PLUMB_CACHE:-~/.cache/plumbline}."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_VERSION = "3.3.1"
# The first without HTrace; its jars leave the versions of what they need to Hadoop's own parent pom.
FIRST_WITHOUT_HTRACE = (3, 3, 2)


class ClusterError(Exception):
    """What went wrong, with the end of the process's log where there is one."""


def version_number(version):
    """(3, 3, 6) of "3.3.6"."""
    return tuple(map(int, version.split(".")))


def has_htrace(version):
    return version_number(version) < FIRST_WITHOUT_HTRACE


def cache_root():
    return Path(os.environ.get("PLUMB_CACHE") or Path.home() / ".cache" / "plumbline")


def run(command, what):
    """Its output; ClusterError with the end of it when the command fails."""
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise ClusterError(f"{what}:\n{done.stdout[-3000:]}")
    return done.stdout


def once(folder, make):
    """The folder, which make(partial folder) fills the first time. Who asks meanwhile waits for it, and says so."""
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name(f"{folder.name}.lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another process, which gets {folder}", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            partial = folder.with_name(f"{folder.name}.partial")
            shutil.rmtree(partial, ignore_errors=True)  # of one that was killed
            try:
                make(partial)
                partial.rename(folder)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    return folder


def python_package(requirement, folder, otherwise=""):
    """The site-packages of a virtual environment in 'folder' with that package alone, or those with a blank between;
    pip gets them the first time. otherwise: what else one can do, for the error."""

    def get(partial):
        run(["/usr/bin/python3", "-m", "venv", partial], "no virtual environment (install python3-venv)")
        install = ["install", "-q", "--no-deps", "--disable-pip-version-check", *requirement.split()]
        run([partial / "bin" / "pip", *install], f"pip could not get {requirement}{otherwise}")

    (packages,) = once(cache_root() / folder, get).glob("lib/python3*/site-packages")
    return packages


def hadoop_jars(version=DEFAULT_VERSION):
    """The folder with the jars of a version; Maven gets them the first time."""

    def get(partial):
        command = [
            "mvn",
            "-q",
            "-B",
            "-f",
            ROOT / "script" / "hdfs" / "pom.xml",
            f"-Dhadoop.version={version}",
            "dependency:copy-dependencies",
            f"-DoutputDirectory={partial}",
        ]
        if not has_htrace(version):
            command.append("-Pproject")
        run(command, f"Maven could not get the jars of Hadoop {version}")
        # Hadoop 2's Jersey works with ASM 3 only, under the names that later ones have too.
        if list(partial.glob("asm-3*.jar")):
            for newer in partial.glob("asm-[4-9]*.jar"):
                newer.unlink()

    return once(cache_root() / f"hadoop-{version}" / "lib", get)


def whole_jar(group, name, version):
    """A jar that needs no others; Maven gets it the first time."""
    artifact = f"{group}:{name}:{version}"

    def get(partial):
        command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={partial}"]
        run(command, f"Maven could not get {artifact}")

    (jar,) = once(cache_root() / f"{name}-{version}", get).glob("*.jar")
    return jar


def htrace_zipkin_jar(version):
    """HTrace's receiver for Zipkin."""
    return whole_jar("org.apache.htrace", "htrace-zipkin", version)


def opentelemetry_agent(version="2.24.0"):
    """OpenTelemetry's agent for Java."""
    return whole_jar("io.opentelemetry.javaagent", "opentelemetry-javaagent", version)


def built_jar(module, pattern):
    folder = ROOT / "tracer-patches" / module / "target"
    jars = [jar for jar in folder.glob(pattern) if "sources" not in jar.name]
    if not jars:
        raise ClusterError(f"no {pattern} in {folder}: run script/build jar")
    return jars[0]


def receiver_jar():
    """The span receiver's jar as the build leaves it."""
    return built_jar("span-receiver", "plumb-span-receiver-*.jar")


def agent_jar():
    """The agent's jar as the build leaves it; PLUMB_JAR names another."""
    named = os.environ.get("PLUMB_JAR")
    return Path(named) if named else built_jar("agent", "plumb-agent-*.jar")


def compile_java(sources, classes, version=DEFAULT_VERSION):
    """Compiles against the jars of a Hadoop version."""
    Path(classes).mkdir(parents=True, exist_ok=True)
    run(
        [
            "javac",
            "-nowarn",
            "-proc:none",
            "--release",
            "8",
            "-Xlint:-options",
            "-cp",
            f"{hadoop_jars(version)}/*",
            "-d",
            classes,
            *sources,
        ],
        "javac failed",
    )
    return Path(classes)


def workload_classes(work, version=DEFAULT_VERSION):
    """The load of tests/hdfs; with its HTrace roots where that version has HTrace."""
    folder = ROOT / "tests" / "hdfs" / "workload"
    sources = [*folder.glob("*.java"), *(folder.glob("htrace/*.java") if has_htrace(version) else [])]
    return compile_java(sources, Path(work) / "classes", version)


def tour_classes(work, version):
    """Of tests/agent, for every version from this one on."""
    tests = ROOT / "tests"
    sources = [*(tests / "agent" / "workload").glob("*.java"), tests / "hdfs" / "workload" / "Counters.java"]
    return compile_java(sources, Path(work) / "classes", version)
