"""The workloads' program: compiled by the compiler that PySpark's jars contain, and the data of TPC-H."""

import hashlib
import subprocess
from pathlib import Path

from script.hdfs.jars import ROOT, ClusterError, cache_root, once, python_package, run
from script.hdfs.spark import spark_home

SOURCES = ROOT / "bench/workloads/scala"
MAIN = "io.plumbline.workloads.Main"
TPCH = "4.0.0"


def jar(spark):
    """Of that version of Spark; compiled the first time."""
    sources = sorted(SOURCES.glob("*.scala"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]

    def build(partial):
        partial.mkdir(parents=True)
        command = ["java", "-cp", f"{spark_home(spark)}/jars/*", "scala.tools.nsc.Main", "-usejavacp", "-deprecation"]
        run([*command, "-d", partial / "workloads.jar", *sources], "the workloads could not be compiled")

    return once(cache_root() / f"workloads-{spark}-{digest}", build) / "workloads.jar"


def tpch_tables(scale, folder):
    """Parquet files of all tables below the folder."""
    packages = python_package(f"tpchgen-cli=={TPCH}", f"tpchgen-cli-{TPCH}")
    program = packages.parents[2] / "bin/tpchgen-cli"
    folder.mkdir(parents=True, exist_ok=True)
    command = [program, "parquet", f"--scale-factor={scale}", f"--output-dir={folder}"]
    run(command, "tpchgen-cli could not make its tables")


def submit(spark, master, arguments, *, options=(), properties=None, environment=None, log):
    """Runs the program to its end; the lines of JSON that it printed."""
    command = [spark_home(spark) / "bin/spark-submit", "--master", master, *options, "--class", MAIN]
    for key, value in (properties or {}).items():
        command += ["--conf", f"{key}={value}"]
    with open(log, "ab") as errors:
        done = subprocess.run(
            [*map(str, command), str(jar(spark)), *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
            check=False,
        )
    if done.returncode != 0:
        end = "\n".join(Path(log).read_text(errors="replace").splitlines()[-40:])
        raise ClusterError(f"{arguments[0]} ended with {done.returncode}:\n{end}")
    return [line for line in done.stdout.splitlines() if line.startswith("{")]
