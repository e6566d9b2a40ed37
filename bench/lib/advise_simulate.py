"""Is plumb advise --simulate right? Holds what it says of other numbers of executors against runs with as many."""

import json
import subprocess
import tempfile
from pathlib import Path

EXECUTORS = (1, 2, 3)
COLUMNS = ["Spark", "log of", "scheduled again with", "time in rounds s", "a run with as many s", "of it"]
COLUMNS += ["by that run's start s", "of it", "knee"]
# Tasks begin once all executors are there.
CONF = {
    "spark.scheduler.minRegisteredResourcesRatio": "1",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
}
NS = 1e9


def simulated(plumb, log):
    """The answer on a log, from a store of its own."""
    with tempfile.TemporaryDirectory(prefix="bench-simulate-") as store:
        subprocess.run([plumb, "import", "--store", store, log], capture_output=True, check=True)
        done = subprocess.run(
            [plumb, "advise", "latest", "--simulate", "--store", store, "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(done.stdout)["simulation"]


def rounds(answer, executors):
    """Seconds that its rounds of jobs take with so many executors: without the driver's time between them, which is
    another in each run."""
    (time_ns,) = [row["time_ns"] for row in answer["rows"] if row["executors"] == executors] or [None]
    return None if time_ns is None else (time_ns - answer["driver_ns"]) / NS


def print_table(plumb, version, logs):
    """logs: {executors: its log}. The log of one run cannot say how long executors take to start in another: three JVMs
    that start at once on two processors take longer than one. So each time stands there with the start of the other
    run, too."""
    answers = {executors: simulated(plumb, log) for executors, log in logs.items()}
    ran = {executors: (answer["measured_ns"] - answer["driver_ns"]) / NS for executors, answer in answers.items()}
    for executors, answer in answers.items():
        for other in logs:
            said = rounds(answer, other)
            if said is None:
                continue
            by_start = said + (answers[other]["start_ns"] - answer["start_ns"]) / NS
            cells = [version, executors, other, f"{said:.1f}", f"{ran[other]:.1f}", f"{100 * said / ran[other]:.0f} %"]
            cells += [f"{by_start:.1f}", f"{100 * by_start / ran[other]:.0f} %", answer["knee"]]
            print(f"| {' | '.join(str(cell) for cell in cells)} |", flush=True)


def recorded(folder):
    """The logs that the tests have: 24 tasks of one core that wait, in three stages."""
    return {executors: Path(folder) / f"waiting_{executors}.zstd" for executors in EXECUTORS}


def print_head():
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
