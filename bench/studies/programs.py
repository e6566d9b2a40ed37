"""The programs of this tree on a study's data: a plumbd of its own, and what it answers."""

import json
import shutil
import tempfile
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from script.spark.verdicts import Plumbd

FLUSH_SECONDS = 300


@contextmanager
def plumbd(build, arguments=()):
    """A new one, with an empty store, and a folder for files; both are gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="plumb-study-"))
    try:
        daemon = Plumbd(build, folder, arguments)
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


def import_spans(daemon, lines):
    """Lines of HTrace's JSON; they are stored afterwards."""
    path = write_lines(daemon.folder / "spans", lines)
    daemon.run("analyzer/plumb", "import", "--thrift", daemon.thrift, "--server", daemon.http, path)
    path.unlink()


def exported(daemon):
    """Each span that is stored, as JSON."""
    with urllib.request.urlopen(f"http://{daemon.http}/api/v1/export", timeout=FLUSH_SECONDS) as answer:
        for line in answer:
            span = json.loads(line)
            if "a" in span:
                yield span


def flush(daemon):
    """All that was acknowledged is stored, and seen by questions."""
    request = urllib.request.Request(f"http://{daemon.http}/api/v1/flush", data=b"", method="POST")
    urllib.request.urlopen(request, timeout=FLUSH_SECONDS).close()
