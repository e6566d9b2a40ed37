"""A whole Spark from the Python package index, kept in ${PLUMB_CACHE:-~/.cache/plumbline}."""

from pathlib import Path

from script.hdfs.jars import python_package, run


def spark_home(version):
    """The SPARK_HOME of that version; got the first time."""
    return python_package(f"pyspark=={version}", f"pyspark-{version}") / "pyspark"


def spark_program(sources, main, work, version):
    """A jar of these sources with that main class, compiled against a Spark, in a new folder 'work'."""
    classes, jar = Path(work) / "classes", Path(work) / "program.jar"
    classes.mkdir(parents=True)
    java = ["javac", "-nowarn", "--release", "17", "-cp", f"{spark_home(version)}/jars/*", "-d", classes, *sources]
    run(java, "javac failed")
    run(["jar", "--create", "--file", jar, "--main-class", main, "-C", classes, "."], "jar failed")
    return jar
