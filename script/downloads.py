"""Gets what the real parts of the tests are made of, before any test asks for it: script/test runs it beside the build.
What cannot be got is said here; the test that needs it tries again, and says it too.

Two at a time: what Maven gets, and what pip gets. The first are those that the first tests need."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from script.hdfs.jars import ROOT, ClusterError, hadoop_jars
from script.hdfs.javas import java_home
from script.hdfs.spark import spark_home
from script.kafka.broker import kafka_jars
from tests.agent.test_spark import VERSIONS as SPARKS
from tests.agent.tours import VERSIONS as HADOOPS


def script(name):
    done = subprocess.run([ROOT / "script" / name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise ClusterError(done.stdout)


def by_maven():
    yield from ((hadoop_jars, version) for version in reversed(HADOOPS))
    yield (kafka_jars,)


def by_pip():
    yield from ((spark_home, version) for version in reversed(SPARKS))
    yield from ((java_home, release) for release in (8, 11))
    yield from ((script, name) for name in ("playwright", "opentelemetry"))


def get_all(parts):
    """What could not be got, as texts."""
    failed = []
    for get, *arguments in parts:
        try:
            get(*arguments)
        except (ClusterError, OSError) as error:
            failed.append(f"{get.__name__} {' '.join(map(str, arguments))}: {error}")
    return failed


def end(*_):
    """With Maven and pip, which would go on writing where another process begins anew. That one sweeps the halves."""
    os.killpg(0, signal.SIGKILL)


def main():
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, end)
    with ThreadPoolExecutor() as pool:
        failed = [text for texts in pool.map(get_all, [by_maven(), by_pip()]) for text in texts]
    sys.exit("\n".join(failed) if failed else 0)


if __name__ == "__main__":
    main()
