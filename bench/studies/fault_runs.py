"""Records runs of a real Spark on a traced HDFS under each fault of bench/faults, for the study of stragglers: a folder
for each, which is there whole or not at all, so that recording goes on where it stopped."""

import signal
import sys
import tempfile
from pathlib import Path

from script.hdfs.jars import ClusterError
from script.spark.hosts import why_no_namespaces
from script.spark.runs import JOB_OF, Bed, by_workers


def record(build, into, runs):
    """So many runs of each fault; says which were made. One that fails ends it, and is made when it goes on."""
    missing = {
        workers: [
            into / f"{fault}-{number}"
            for number in range(1, runs + 1)
            for fault in faults
            if not (into / f"{fault}-{number}").exists()
        ]
        for workers, faults in by_workers(JOB_OF).items()
    }
    if any(missing.values()) and why_no_namespaces():
        raise ClusterError(f"hosts of their own cannot be made here: {why_no_namespaces()}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # hosts of their own are taken away
    into.mkdir(parents=True, exist_ok=True)
    for workers, folders in missing.items():
        if folders:
            record_on(build, workers, folders)


def record_on(build, workers, folders):
    with tempfile.TemporaryDirectory(prefix="plumb-record-") as work, Bed(Path(work), build, workers=workers) as bed:
        for folder in folders:
            bed.run(folder.name.rsplit("-", 1)[0], folder)
            print(folder, flush=True)
