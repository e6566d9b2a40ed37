"""An application of Spark over the HDFS of tests/ui/load.py: it reads from twelve DataNodes, the disk of one is slow,
and one of its hosts has much else to do. Tasks are traced, operations and samples of hosts are recorded. The same for
the same seed, but for the time."""

import json
import random
import subprocess
import time

from tests.receiver.sender import OK, Sender, span
from tests.ui import load

MS = 1_000_000
SECOND = 1000 * MS
BEGAN_MINUTES_AGO = 12
WORKERS = 4
SLOTS = 2
BUSY_WORKER = 3
READS_PER_TASK = 3
SAMPLE_SECONDS = 5
SCAN, JOIN = 0, 1
SCAN_TASKS, JOIN_TASKS = 64, 40

FUNCTIONS = (
    "SparkTask",
    "RDD:org.apache.spark.sql.execution.datasources.FileScanRDD",
    "DFSInputStream#byteArrayRead",
    "BlockReaderRemote2#readNextPacket",
    "OpReadBlockProto",
    "BlockSender#new",
    "BlockSender#readLocal",
)
SPARK = "org.apache.spark"
RDDS = {
    SCAN: (
        (2, f"{SPARK}.sql.execution.datasources.FileScanRDD", "FileScanRDD", "parquet at Report.scala:18"),
        (3, f"{SPARK}.rdd.MapPartitionsRDD", "MapPartitionsRDD", "filter at Report.scala:21"),
        (4, f"{SPARK}.rdd.MapPartitionsRDD", "MapPartitionsRDD", "map at Report.scala:22"),
    ),
    JOIN: (
        (6, f"{SPARK}.sql.execution.ShuffledRowRDD", "ShuffledRowRDD", "groupBy at Report.scala:24"),
        (8, f"{SPARK}.rdd.ZippedPartitionsRDD2", "ZippedPartitionsRDD2", "join at Report.scala:27"),
        (9, f"{SPARK}.rdd.MapPartitionsRDD", "MapPartitionsRDD", "map at Report.scala:30"),
    ),
}
JVM_FEATURES = 19
HEAP_USED, HEAP_RATE, THREADS, CPU_RATE, GC_COUNT, GC_MS = 2, 4, 8, 12, 15, 16
METRICS = 31
# As `plumb mark` is told.
MARKS = (
    (
        "--kind",
        "fault",
        "--host",
        load.host_of(load.SLOW),
        "--begin",
        "20m",
        "disk throttled to 20 MB/s",
        "--end",
        "3m",
    ),
    ("--kind", "deployment", "--begin", "9m", "Hadoop 3.4.2 on rack 7"),
)
RUN_MS, CPU_NS, METRIC_GC_MS, INPUT_BYTES, SHUFFLE_BYTES = 2, 3, 5, 10, 16
SUCCESS, NODE_LOCAL, RULES = 1, 2, 1


def worker_of(number):
    return f"worker{number}.example.org"


def id_of(now_ns):
    return f"app-{time.strftime('%Y%m%d%H%M%S', time.gmtime(now_ns / 1e9))}-0042"


def trace_of(app, task):
    """As task_trace_id() of common/model/spark.h."""
    whole = (1 << 64) - 1
    value = 0xCBF29CE484222325
    for byte in f"{app}/{task}".encode():
        value = (value ^ byte) * 0x100000001B3 & whole
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & whole
    value = (value ^ value >> 27) * 0x94D049BB133111EB & whole
    return value ^ value >> 31 or 1


class Application:
    """Its records, as `plumb export` writes them, and the spans of its tasks."""

    def __init__(self, now_ns, seed=2):
        self.chance = random.Random(seed)
        self.begin = now_ns - BEGAN_MINUTES_AGO * load.MINUTE
        self.app = id_of(self.begin)
        self.records, self.spans = [], []
        self.slots = [[self.begin + 2 * SECOND] * SLOTS for _ in range(WORKERS)]
        ends = [self.stage(SCAN, SCAN_TASKS, "parquet at Report.scala:18")]
        self.slots = [[ends[0]] * SLOTS for _ in range(WORKERS)]
        ends.append(self.stage(JOIN, JOIN_TASKS, "join at Report.scala:27"))
        self.end = ends[-1] + SECOND
        self.about(ends)
        self.samples()

    def record(self, kind, **fields):
        self.records.append({"spark": kind, **fields})

    def about(self, ends):
        ms = [self.begin // MS, *(end // MS for end in ends)]
        self.record(
            "app",
            app=self.app,
            id=self.app,
            name="nightly report",
            user="etl",
            version="4.3.0",
            driverHost="edge1.example.org",
            startMs=ms[0],
            endMs=self.end // MS,
            lastEventMs=self.end // MS,
            logComplete=1,
        )
        for worker in range(WORKERS):
            host = worker_of(worker + 1)
            self.record("executor", app=self.app, id=str(worker), host=host, cores=SLOTS, addedMs=ms[0] + 900)
        self.record("job", app=self.app, job=0, submittedMs=ms[0], completedMs=ms[2], result=1, stages=[SCAN, JOIN])
        for stage, (tasks, name) in enumerate(((SCAN_TASKS, "parquet"), (JOIN_TASKS, "join"))):
            rdds = [{"id": rdd, "name": text, "callSite": site} for rdd, _, text, site in RDDS[stage]]
            self.record(
                "stage",
                app=self.app,
                stage=stage,
                attempt=0,
                tasks=tasks,
                name=f"{name} at Report.scala:{18 if stage == SCAN else 27}",
                submittedMs=ms[stage],
                completedMs=ms[stage + 1],
                rdds=rdds,
            )

    def stage(self, stage, tasks, _name):
        for partition in range(tasks):
            worker = min(range(WORKERS), key=lambda one: min(self.slots[one]))
            slot = self.slots[worker].index(min(self.slots[worker]))
            begin = self.slots[worker][slot]
            task = (0 if stage == SCAN else SCAN_TASKS) + partition
            end = (self.scan if stage == SCAN else self.join)(task, partition, worker, begin)
            self.slots[worker][slot] = end + 30 * MS
        return max(max(slots) for slots in self.slots)

    def scan(self, task, partition, worker, begin):
        """Reads blocks, each from one DataNode, and computes."""
        nodes = [self.chance.randint(1, load.DATANODES) for _ in range(READS_PER_TASK)]
        disks = [int(self.chance.lognormvariate(0, 0.3) * 40 * MS) * (12 if node == load.SLOW else 1) for node in nodes]
        rest = int(self.chance.uniform(380, 460) * MS)
        length = sum(disks) + rest
        self.trace(task, worker, begin, length, list(zip(nodes, disks, strict=True)))
        times = (sum(disks) + 60 * MS, int(rest * 0.5), int(rest * 0.3))
        self.task(SCAN, task, partition, worker, begin, length, {INPUT_BYTES: READS_PER_TASK * 1_048_576})
        self.operations(SCAN, task, partition, worker, begin, times, heap=0.4)
        return begin + length

    def join(self, task, partition, worker, begin):
        """One partition has much more than the others; a host has little processor to give."""
        share = 6 if partition == 17 else self.chance.uniform(0.8, 1.2)
        slowed = 1.9 if worker + 1 == BUSY_WORKER else 1
        times = [int(part * share * slowed * MS) for part in (120, 420, 60)]
        length = sum(times) + 40 * MS
        gc = 260 if partition == 17 else 14
        more = {SHUFFLE_BYTES: int(share * 9_000_000), METRIC_GC_MS: gc}
        self.task(JOIN, task, partition, worker, begin, length, more)
        self.operations(JOIN, task, partition, worker, begin, times, heap=0.93 if partition == 17 else 0.5, gc=gc)
        return begin + length

    def task(self, stage, task, partition, worker, begin, length, more):
        numbers = {RUN_MS: length // MS - 8, CPU_NS: int(length * 0.6), METRIC_GC_MS: 9, **more}
        self.record(
            "task",
            app=self.app,
            stage=stage,
            stageAttempt=0,
            task=task,
            partition=partition,
            attempt=0,
            executor=str(worker),
            host=worker_of(worker + 1),
            launchMs=begin // MS,
            finishMs=(begin + length) // MS,
            locality=NODE_LOCAL,
            status=SUCCESS,
            metrics=[int(numbers.get(i, -1)) for i in range(METRICS)],
        )

    def operations(self, stage, task, partition, worker, begin, times, heap, gc=4):
        at = begin + 6 * MS
        for i, ((rdd, name, _, _), length) in enumerate(zip(RDDS[stage], times, strict=True)):
            features = [-1.0] * JVM_FEATURES
            features[HEAP_USED], features[HEAP_RATE] = heap * 8e9, heap + self.chance.uniform(-0.05, 0.05)
            features[THREADS] = 60 + self.chance.randint(0, 12)
            features[CPU_RATE] = (0.35 if worker + 1 == BUSY_WORKER else 0.8) + self.chance.uniform(-0.1, 0.1)
            features[GC_COUNT], features[GC_MS] = gc / 7, gc + self.chance.uniform(0, 5)
            self.record(
                "operation",
                app=self.app,
                stage=stage,
                stageAttempt=0,
                task=task,
                partition=partition,
                rdd=rdd,
                instance=i,
                source=RULES,
                thread=40 + worker,
                **{"class": name},
                executor=str(worker),
                host=worker_of(worker + 1),
                beginNs=str(at),
                endNs=str(at + length),
                exclusiveNs=str(length),
                records=1000,
                atEnd=features,
            )
            at += length

    def trace(self, task, worker, begin, length, reads):
        trace = trace_of(self.app, task)
        client = len(FUNCTIONS) + worker
        calls = []

        def call(name, tracer, at, took, parent=None, **more):
            number = len(calls) + 1
            calls.append(number)
            self.spans.append(
                span(
                    trace,
                    number,
                    name=next(i for i, one in enumerate(FUNCTIONS) if one.startswith(name)),
                    begin=at,
                    duration=int(took),
                    parent=parent,
                    tracer=tracer,
                    **more,
                )
            )
            return number

        key = len(FUNCTIONS) + WORKERS + load.DATANODES
        who = [(key + 1, self.app), (key + 2, str(task))]
        root = call("SparkTask", client, begin, length, annotations=who)
        scan = call("RDD:", client, begin + 5 * MS, sum(took for _, took in reads) + 60 * MS, root)
        at = begin + 10 * MS
        size = [(key, "1048576")]
        for node, took in reads:
            tracer = len(FUNCTIONS) + WORKERS + node - 1
            read = call("DFSInputStream#byteArrayRead", client, at, took + 6 * MS, scan, annotations=size)
            call("BlockReaderRemote2", client, at + 2 * MS, took + 3 * MS, read, annotations=size)
            served = call("OpReadBlockProto", tracer, at + MS, took + 4 * MS, read)
            call("BlockSender#new", tracer, at + int(1.2 * MS), 0.3 * MS, served)
            call("BlockSender#readLocal", tracer, at + 2 * MS, took, served, annotations=size)
            at += took + 8 * MS

    def samples(self):
        """Of all hosts, from a minute before the application to its end."""
        hosts = [(worker_of(i), i == BUSY_WORKER, False) for i in range(1, WORKERS + 1)]
        hosts += [(load.host_of(i), False, i == load.SLOW) for i in range(1, load.DATANODES + 1)]
        first = (self.begin - load.MINUTE) // (SAMPLE_SECONDS * SECOND)
        for i in range(first, self.end // (SAMPLE_SECONDS * SECOND) + 1):
            for host, busy, slow in hosts:
                user = min(0.97, (0.9 if busy else 0.35) + self.chance.uniform(-0.06, 0.06))
                util = min(1.0, (0.97 if slow else 0.22) + self.chance.uniform(-0.05, 0.05))
                wait = 0.3 if slow else 0.01
                self.record(
                    "sample",
                    host=host,
                    timeNs=str(i * SAMPLE_SECONDS * SECOND),
                    source="sadf",
                    intervalNs=str(SAMPLE_SECONDS * SECOND),
                    user=min(user, 1 - wait - 0.03),
                    system=0.03,
                    iowait=wait,
                    steal=0,
                    idle=max(0, 1 - user - wait - 0.03),
                    disks=[{"device": "sdb", "util": util, "readBytes": 4e6, "writeBytes": 2e7}],
                    nets=[{"interface": "eth0", "rxBytes": 3e7 * (1 + user), "txBytes": 2e7 * (1 + user)}],
                )


def send(plumbd, plumb, folder, now_ns=None):
    """Sent and stored. Returns the application's id."""
    made = Application(now_ns or time.time_ns())
    strings = (
        *FUNCTIONS,
        *(f"FSClient/{worker_of(i + 1)}/{700 + i}" for i in range(WORKERS)),
        *(f"DataNode/{load.host_of(i)}/{2000 + i}" for i in range(1, load.DATANODES + 1)),
        "bytes",
        "application",
        "taskAttemptId",
    )
    with Sender(plumbd) as sender:
        assert sender.deliver(made.spans, strings=strings).status == OK
    file = folder / "application.json"
    file.write_text("".join(json.dumps(record) + "\n" for record in made.records))
    thrift = ":".join(map(str, plumbd.thrift))
    subprocess.run(
        [plumb, "import", file, "--thrift", thrift, "--server", plumbd.http], check=True, capture_output=True
    )
    return made.app
