"""A whole Spark from the Python package index, kept in ${PLUMB_CACHE:-~/.cache/plumbline}."""

from script.hdfs.jars import cache_root, once, run


def spark_home(version):
    """The SPARK_HOME of that version; got the first time."""

    def get(partial):
        run(["/usr/bin/python3", "-m", "venv", partial], "no virtual environment (python3-venv)")
        run(
            [
                partial / "bin" / "pip",
                "install",
                "-q",
                "--no-deps",
                "--disable-pip-version-check",
                f"pyspark=={version}",
            ],
            f"Spark {version} could not be got",
        )

    (home,) = once(cache_root() / f"pyspark-{version}", get).glob("lib/python3*/site-packages/pyspark")
    return home
