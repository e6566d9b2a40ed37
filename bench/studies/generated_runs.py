"""Runs of an application under load generators, drawn from a seed: an event log and samples of hosts, as Spark and
sysstat would leave them, and what is true of each straggler. Five workers and the schedule of table 5.

What a simulation tells is whether the methods do what they are meant to do; its rates are not those of a cluster.
"""

import json
import random
import time
from collections import namedtuple
from statistics import median

from bench.studies import event_log
from script.spark.schedule import TABLE_5, WORKERS

BEGIN_MS = 1_790_000_000_000
HOSTS, SLOTS, STAGES, PER_STAGE = WORKERS, 2, 12, 50
SECONDS = 300
TICK_MS, WORK_MS = 50, 2000
STRAGGLER_RATIO = 1.5
SKEW_SHARE, SKEW_TIMES = 0.025, 2.2
# What the event log says of a task's own use: of processors, and bytes that load a disk entirely, more or less.
PROCESSORS, DISK_BYTES_PER_S = 2, 100e6
OFF_BY = 0.4
FETCH_WAIT_MS = 100
APP = "app-20260101000000-0001"

# usage: of the idle host, of a task (in its units), of a generator; slows: how much longer work takes beside one.
Resource = namedtuple("Resource", "name base task injected slows")
RESOURCES = [
    Resource("cpu", 0.10, 0.09, 0.55, 1.2),
    Resource("disk", 0.05, 0.08, 0.70, 1.6),
    Resource("network", 1e6, 4e6, 60e6, 0.25),
]
Injection = namedtuple("Injection", "host resource begin_ms end_ms")
FAULTS = ["mixed", "cpu", "disk", "network", "none"]
Task = namedtuple("Task", "id stage index host begin_ms end_ms bytes own lost")
Truth = namedtuple("Truth", "excess_ms overlap effect")


def injections_of(fault):
    if fault == "none":
        return []
    return [
        Injection(one.worker, one.resource if fault == "mixed" else fault, 1000 * one.begin_s, 1000 * one.end_s)
        for one in TABLE_5
    ]


class GeneratedRun:
    """tasks, samples, and the truth of one run. healthy: its twin, of the same tasks without any load."""

    def __init__(self, fault, seed, healthy=False):
        self.fault, self.name = fault, f"{fault}-{seed}"
        self.draw = random.Random(f"run {fault} {seed}")
        self.injections = [] if healthy else injections_of(fault)
        self.tasks = self._tasks()

    def _slows(self, host, at_ms):
        """{resource: how much longer} at that time."""
        return {
            resource.name: resource.slows
            for resource in RESOURCES
            if any(
                one.host == host and one.resource == resource.name and one.begin_ms <= at_ms < one.end_ms
                for one in self.injections
            )
        }

    def _run(self, host, begin_ms, work_ms):
        """When it ends, and the ms that each resource cost it."""
        lost, at = dict.fromkeys((resource.name for resource in RESOURCES), 0.0), begin_ms
        while work_ms > 0:
            slows = self._slows(host, at)
            slow = 1 + sum(slows.values())
            for name, times in slows.items():
                lost[name] += TICK_MS * times / slow
            work_ms -= TICK_MS / slow
            at += TICK_MS
        return at, lost

    def _tasks(self):
        free, begin, tasks = [(0, host) for host in range(HOSTS) for _ in range(SLOTS)], 0, []
        for number in range(STAGES * PER_STAGE):
            if number % PER_STAGE == 0:
                begin = max(at for at, _ in free)
            slot = free.index(min(free))
            skew = SKEW_TIMES if self.draw.random() < SKEW_SHARE else 1
            even = self.draw.uniform(0.8, 1.2)
            own = {one.name: 5 if self.draw.random() < 1 / 6 else self.draw.uniform(0, 2) for one in RESOURCES}
            at, host = max(begin, free[slot][0]), free[slot][1]
            end, lost = self._run(host, at, WORK_MS * skew * even)
            lost["data"] = WORK_MS * (skew - 1) * even
            free[slot] = (end, host)
            size = round(64e6 * skew * even)
            tasks.append(Task(number, number // PER_STAGE, number % PER_STAGE, host, at, end, size, own, lost))
        return tasks

    # ---- what is true ----

    def truth(self):
        """{task id: Truth} of the stragglers: topics of the injections that a task's run overlaps on its host, and of
        what cost it at least half of what it took longer than its stage's median."""
        found = {}
        for stage in range(STAGES):
            mine = [task for task in self.tasks if task.stage == stage]
            middle = median(task.end_ms - task.begin_ms for task in mine)
            for task in mine:
                took = task.end_ms - task.begin_ms
                if took < STRAGGLER_RATIO * middle:
                    continue
                overlap = {
                    one.resource
                    for one in self.injections
                    if one.host == task.host and task.begin_ms < one.end_ms and one.begin_ms < task.end_ms
                }
                effect = {name for name, lost in task.lost.items() if lost >= (took - middle) / 2}
                found[task.id] = Truth(took - middle, overlap, effect)
        return found

    # ---- as files ----

    def _metrics(self, task):
        """What Spark measures of it: its own use of the host, undisturbed, and how long it waited for its shuffle."""
        work_s = (task.end_ms - task.begin_ms - sum(task.lost[resource.name] for resource in RESOURCES)) / 1000
        cpu, disk, network = (task.own[one.name] * one.task * work_s for one in RESOURCES)
        draw = random.Random(f"{self.name} {task.id}")
        return {
            "cpu_ms": 1000 * PROCESSORS * cpu,
            "write_bytes": round(DISK_BYTES_PER_S * disk * draw.uniform(1 - OFF_BY, 1 + OFF_BY)),
            "shuffle_bytes": round(network * draw.uniform(1 - OFF_BY, 1 + OFF_BY)),
            "fetch_wait_ms": round(draw.uniform(0, FETCH_WAIT_MS) + task.lost["network"]),
        }

    def write_log(self, folder):
        """The event log, whose name is the application's."""
        body = []
        for task in self.tasks:
            if task.index == 0:
                body.append(event_log.stage_submitted(task.stage, PER_STAGE, BEGIN_MS + task.begin_ms))
            body.append(
                event_log.task_ended(
                    {
                        "stage": task.stage,
                        "task": task.id,
                        "index": task.index,
                        "host": f"worker{task.host}",
                        "executor": str(task.host),
                        "begin_ms": BEGIN_MS + task.begin_ms,
                        "end_ms": BEGIN_MS + task.end_ms,
                        "input_bytes": task.bytes,
                        **self._metrics(task),
                    }
                )
            )
        end = BEGIN_MS + max(task.end_ms for task in self.tasks)
        log = folder / APP
        log.write_text("".join(f"{line}\n" for line in event_log.application(APP, self.name, BEGIN_MS, end, body)))
        return log

    def write_samples(self, folder):
        """Of each host: {host: path}."""
        samples = {}
        for host in range(HOSTS):
            samples[f"worker{host}"] = folder / f"worker{host}.json"
            samples[f"worker{host}"].write_text(json.dumps(self._samples(host)))
        return samples

    def _usage(self, host, second):
        """Of each resource over one second. What is slowed does as much less in it."""
        begin, end, usage = 1000 * second, 1000 * second + 1000, []
        slow = 1 + sum(self._slows(host, begin).values())
        for resource in RESOURCES:
            use = resource.base * self.draw.uniform(0.6, 1.4)
            for task in self.tasks:
                together = min(end, task.end_ms) - max(begin, task.begin_ms)
                if task.host == host and together > 0:
                    use += task.own[resource.name] * resource.task * together / 1000 / slow
            if resource.name in self._slows(host, begin):
                use += resource.injected
            usage.append(use)
        return usage

    def _samples(self, host):
        """As sadf -j says it."""
        statistics = []
        for second in range(SECONDS):
            at = time.gmtime(BEGIN_MS // 1000 + second + 1)
            cpu, disk, network = self._usage(host, second)
            user = 100 * min(cpu, 1)
            statistics.append(
                {
                    "timestamp": {
                        "date": time.strftime("%Y-%m-%d", at),
                        "time": time.strftime("%H:%M:%S", at),
                        "utc": 1,
                        "interval": 1,
                    },
                    "cpu-load": [
                        {"cpu": "all", "user": user, "system": 0, "iowait": 0, "steal": 0, "idle": 100 - user}
                    ],
                    "disk": [{"disk-device": "vda", "util-percent": 100 * min(disk, 1)}],
                    "network": {"net-dev": [{"iface": "eth0", "rxkB": network / 2048, "txkB": network / 2048}]},
                }
            )
        day = time.strftime("%Y-%m-%d", time.gmtime(BEGIN_MS // 1000))
        about = {"nodename": f"worker{host}", "file-date": day, "timezone": "UTC", "statistics": statistics}
        return {"sysstat": {"hosts": [about]}}
