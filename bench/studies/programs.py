"""The programs of this tree on a study's data: a plumbd of its own, and what it answers."""

import shutil
import tempfile
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from script.spark.verdicts import Plumbd

FLUSH_SECONDS = 300


@contextmanager
def plumbd(build):
    """A new one, with an empty store, and a folder for files; both are gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="plumb-study-"))
    try:
        daemon = Plumbd(build, folder)
        try:
            yield daemon
        finally:
            daemon.stop()
    finally:
        shutil.rmtree(folder)


def write_lines(path, lines):
    with open(path, "w") as out:
        out.writelines(f"{line}\n" for line in lines)
    return path


def flush(daemon):
    """All that was acknowledged is stored, and seen by questions."""
    request = urllib.request.Request(f"http://{daemon.http}/api/v1/flush", data=b"", method="POST")
    urllib.request.urlopen(request, timeout=FLUSH_SECONDS).close()
