"""Records runs of a real Spark on a traced HDFS under each fault of bench/faults, for the study of stragglers: a folder
for each, which is there whole or not at all, so that recording goes on where it stopped. Beside each its twins
(script/spark/twins.py), which tell what the fault did.
"""

import signal
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

from bench.studies.load_runs import write_whole
from bench.studies.report import environment, pressure
from script.hdfs.jars import ClusterError
from script.spark import twins
from script.spark.hosts import why_no_namespaces
from script.spark.runs import HADOOP, JOB_OF, Bed, by_workers

# path: of the run's folder, or of the twin's file.
Step = namedtuple("Step", "fault path twin")


def steps_of(into, fault, number, count):
    """A run and its twins in the order in which they are recorded: the run amid them, so that what the machine does
    meanwhile falls on both alike. Where they cannot be as many before as after, there are more before every second run,
    and more after the others. Without a fault there is nothing that twins could tell."""
    folder = into / f"{fault}-{number}"
    steps = [Step(fault, twins.path_of(folder, one), True) for one in range(1, (0 if fault == "none" else count) + 1)]
    steps.insert((len(steps) + number % 2) // 2, Step(fault, folder, False))
    return steps


def record(build, into, runs, count=twins.TWINS, only=None):
    """So many runs of each fault (only: of this one), each with so many twins, as far as they are not there yet; says
    which were made. One that fails ends it, and is made when it goes on."""
    if only not in (None, *JOB_OF):
        raise ClusterError(f"--only {only}: the faults are {', '.join(JOB_OF)}")
    left = {
        workers: [
            step
            for number in range(1, runs + 1)
            for fault in faults
            for step in steps_of(into, fault, number, count)
            if not step.path.exists()
        ]
        for workers, faults in by_workers([only] if only else JOB_OF).items()
    }
    if any(left.values()) and why_no_namespaces():
        raise ClusterError(f"hosts of their own cannot be made here: {why_no_namespaces()}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # hosts of their own are taken away
    into.mkdir(parents=True, exist_ok=True)
    for workers, steps in left.items():
        if steps:
            record_on(build, workers, steps)


def record_on(build, workers, steps):
    with tempfile.TemporaryDirectory(prefix="plumb-record-") as work, Bed(Path(work), build, workers=workers) as bed:
        for step in steps:
            if step.twin:
                write_whole(step.path, twin_of(build, bed, step.fault))
            else:
                bed.run(step.fault, step.path)
            print(step.path, flush=True)


def twin_of(build, bed, fault):
    about = {**environment(build), "hadoop": HADOOP, "spark": bed.spark_version}
    before = pressure()
    kept = twins.document(bed.twin(fault))
    return {**kept, "pressure_before": before, "pressure_after": pressure(), "environment": about}
