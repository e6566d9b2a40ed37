"""Twins of a recorded run: the same application on the same data and bed, without the fault. How long each partition
took there says what the fault did. Of a twin little is kept, beside the folder of its run:

    slow-disk-1.twin-2.json.gz    {"seconds": 61.5, "stages": {"0": [812, null, ...], ...}, ...}: ms by partition
"""

import gzip
import json
from statistics import median

TWINS = 3  # with fewer the median says too little


def path_of(folder, number):
    return folder.with_name(f"{folder.name}.twin-{number}.json.gz")


def paths_of(folder):
    """Of those that are recorded."""
    return sorted(folder.parent.glob(f"{folder.name}.twin-*.json.gz"))


def stages_of(tasks):
    """{stage: [ms by partition; None: it did not end well]}; of several attempts the first that did."""
    stages = {}
    for task in tasks:
        stage = stages.setdefault(str(task.stage), {})
        stage.setdefault(task.index, None)
        if task.good and stage[task.index] is None:
            stage[task.index] = task.end_ms - task.begin_ms
    return {number: [stage.get(index) for index in range(max(stage) + 1)] for number, stage in sorted(stages.items())}


def seconds_of(tasks):
    """From the begin of the first task to the end of the last, of those that worked: as of the run itself."""
    good = [task for task in tasks if task.good]
    return (max(task.end_ms for task in good) - min(task.begin_ms for task in good)) / 1000


def document(tasks):
    return {"seconds": seconds_of(tasks), "stages": stages_of(tasks)}


class Twins:
    """folder: of the run; tasks: its own."""

    def __init__(self, folder, tasks):
        self.documents = [json.loads(gzip.decompress(path.read_bytes())) for path in paths_of(folder)]
        self.partitions = {stage: len(times) for stage, times in stages_of(tasks).items()}

    def usual_ms(self, task):
        """The median of the twins' times of the task's partition. None: fewer than TWINS have it, in a stage of as many
        partitions."""
        stage = str(task.stage)
        stages = [one["stages"][stage] for one in self.documents if stage in one["stages"]]
        times = [times[task.index] for times in stages if len(times) == self.partitions[stage]]
        known = [ms for ms in times if ms is not None]
        return median(known) if len(known) >= TWINS else None
