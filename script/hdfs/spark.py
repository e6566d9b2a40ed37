"""A whole Spark from the Python package index, kept in ${PLUMB_CACHE:-~/.cache/plumbline}."""

from script.hdfs.jars import python_package


def spark_home(version):
    """The SPARK_HOME of that version; got the first time."""
    return python_package(f"pyspark=={version}", f"pyspark-{version}") / "pyspark"
