"""What is true of a recorded run, whoever analyses it: its stragglers, and which of them were affected by which
injection.

A fault of a DataNode affects a task that read its part of the file (which its executor's log names) from that DataNode
while the fault was there. It *touches* one that read the last line of its part from it, which lies in the next block:
that costs less, and such tasks count neither way. One of the NameNode affects the tasks that opened a file
meanwhile; one of a worker its tasks that ran meanwhile; a skewed key the task of its partition.

An affected straggler was *slowed* when fault and task were together for at least half of what it lost and, where the
run has twins (twins.py), when its partition was faster by at least that half in their median. One that was not is
*acquitted* of the fault.
"""

import json
import re
from collections import namedtuple
from pathlib import Path
from statistics import median

from script.spark.twins import Twins

STRAGGLER_RATIO = 1.5
READ = re.compile(r"File path: \S+, range: (\d+)-(\d+)|Input split: \S+:(\d+)\+(\d+)|input split: \S+:(\d+)\+(\d+)")
TASK = re.compile(r"Running task \S+ in stage \S+ \(TID (\d+)\)")

# index: of the partition; a stage that is tried again may have a part of them.
Task = namedtuple("Task", "id stage attempt index host begin_ms end_ms good metrics")
# injections: that slowed it; acquitted: that twins say did not; twin_ms: how long its partition takes without; faster:
# is that by half of what it lost? None: not known.
Straggler = namedtuple("Straggler", "task ratio injections acquitted twin_ms faster")


def tasks_of(log):
    """Every task that the event log has an end of."""
    tasks = []
    for line in Path(log).read_text().splitlines():
        if not line.startswith('{"Event":"SparkListenerTaskEnd"'):
            continue
        event = json.loads(line)
        info, good = event["Task Info"], event["Task End Reason"]["Reason"] == "Success"
        tasks.append(
            Task(
                info["Task ID"],
                event["Stage ID"],
                event["Stage Attempt ID"],
                info.get("Partition ID", info["Index"]),
                info["Host"],
                info["Launch Time"],
                info["Finish Time"],
                good,
                event.get("Task Metrics") or {},
            )
        )
    return tasks


def stragglers_of(tasks):
    """[(task, its duration by its stage's median)] of tasks that worked."""
    by_stage = {}
    for task in tasks:
        if task.good:
            by_stage.setdefault((task.stage, task.attempt), []).append(task)
    found = []
    for members in by_stage.values():
        middle = median(task.end_ms - task.begin_ms for task in members)
        found += [
            (task, (task.end_ms - task.begin_ms) / middle)
            for task in members
            if middle > 0 and task.end_ms - task.begin_ms >= STRAGGLER_RATIO * middle
        ]
    return found


def parts_read(folder):
    """{task id: [(first, end)]}, from the executors' logs: an executor has one processor, so one task at a time."""
    parts = {}
    for log in sorted(Path(folder, "executors").glob("*.log")):
        current = None
        for line in log.read_text(errors="replace").splitlines():
            if TASK.search(line):
                current = int(TASK.search(line).group(1))
            elif READ.search(line) and current is not None:
                numbers = [int(number) for number in READ.search(line).groups() if number is not None]
                end = numbers[1] if "range:" in line else numbers[0] + numbers[1]
                parts.setdefault(current, []).append((numbers[0], end))
    return parts


def lost_ms(task, ratio):
    """By its stage's median."""
    return (task.end_ms - task.begin_ms) * (1 - 1 / ratio)


def enough(task, ratio, injection):
    """Can it have cost the task what it lost, or half of it? No more than the time that they were there together."""
    together = min(task.end_ms, injection["end_ms"]) - max(task.begin_ms, injection["begin_ms"])
    return together >= lost_ms(task, ratio) / 2


def slower_than(twin_ms, task, ratio):
    """Did it lose half of what it lost, or more, against the same partition without the fault?"""
    return (task.end_ms - task.begin_ms) - twin_ms >= lost_ms(task, ratio) / 2


class Run:
    """A folder of runs.py."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.about = json.loads((self.folder / "run.json").read_text())
        self.fault = self.about["fault"]
        self.tasks = tasks_of(self.folder / "events")
        lines = map(json.loads, (self.folder / "injections.jsonl").read_text().splitlines())
        self.injections = [line for line in lines if "kind" in line]
        self.blocks = json.loads((self.folder / "blocks.json").read_text())
        self.parts = parts_read(self.folder)
        self.twins = Twins(self.folder, self.tasks)

    def hosts_read(self, task):
        """Of the blocks that a task's part lies in, and of those with its last line besides."""
        own, last = set(), set()
        for first, end in self.parts.get(task.id, []):
            for offset, length, hosts in self.blocks:
                if offset < end and first < offset + length:
                    own.update(hosts)
                elif offset == end:
                    last.update(hosts)
        return own, last - own

    def touched_by(self, task, injection):
        """Too little to count as affected."""
        return (
            injection["host"] in self.hosts_read(task)[1]
            and task.end_ms >= injection["begin_ms"]
            and task.begin_ms <= injection["end_ms"]
        )

    def affected_by(self, task, injection):
        if task.end_ms < injection["begin_ms"] or task.begin_ms > injection["end_ms"]:
            return False
        host = injection["host"]
        if host.startswith("datanode"):
            return host in self.hosts_read(task)[0]
        if host == "namenode":
            return task.id in self.parts
        return task.host == host

    def stragglers(self):
        hot = next((said["partition"] for said in self.about["said"] if "partition" in said), None)
        found = []
        for task, ratio in stragglers_of(self.tasks):
            causes = [
                injection
                for injection in self.injections
                if self.affected_by(task, injection) and enough(task, ratio, injection)
            ]
            if hot is not None and task.index == hot and task.id not in self.parts:
                causes.append({"kind": "skew", "host": task.host, "partition": hot})
            twin_ms = self.twins.usual_ms(task)
            faster = None if twin_ms is None else slower_than(twin_ms, task, ratio)
            slowed = faster is not False
            found.append(Straggler(task, ratio, causes if slowed else [], [] if slowed else causes, twin_ms, faster))
        return found


def main():
    import sys

    for folder in sys.argv[1:]:
        run = Run(folder)
        stragglers = run.stragglers()
        affected = [straggler for straggler in stragglers if straggler.injections]
        print(
            f"{folder}: {len(run.tasks)} tasks, {len(stragglers)} stragglers, {len(affected)} of them affected by "
            f"{len(run.injections)} injections of {run.fault}"
        )


if __name__ == "__main__":
    main()
