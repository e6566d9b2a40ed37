"""Recorded runs: one application on a traced HDFS while something is slow, and everything that is known of it in a
folder, which can be analysed again later:

    run.json          fault, job, versions, times, the hot partition of a skewed job
    events            the event log
    injections.jsonl  what was made slow, where and when (faults.py)
    blocks.json       where the blocks of what was read are
    samples/          of every host, one a second (samples.py)
    executors/        the executors' logs, by worker
    spans.jsonl.zst   every span that plumbd got meanwhile
"""

import json
import random
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from script.hdfs.cluster import Cluster, die_with_parent, free_port, wait_for
from script.hdfs.jars import ClusterError
from script.spark import schedule
from script.spark.faults import Faults
from script.spark.hosts import Namespaces
from script.spark.samples import Samples, why_no_samples
from script.spark.standalone import DEFAULT_SPARK, Agent, Standalone
from script.spark.truth import tasks_of

HADOOP = "3.5.0"
DATANODES, WORKERS = 4, 3
BLOCK = 1 << 20
BLOCKS = 48
SLOW, BUSY = "datanode2", "worker2"
WORDS = 5000
HDFS = {"dfs.replication": "1", "dfs.blocksize": str(BLOCK)}
SECONDS = 300
# Of a processor, to each worker: what keeps one of them busy takes nothing from the others.
WORKER_SHARE = 0.7
# How long a fault that comes and goes is there, and how long it is not.
ON_SECONDS, OFF_SECONDS = 8, 8
HELD_SHARE = 0.6  # of a heap, where garbage collection is to be slow
# What a host's load can be told from: tasks take a part of what their host has.
TASKS_SHARE = 0.25
WORKER_BITS_PER_SECOND = 50_000_000

JOB_OF = {
    "none": ("scan", ["/text", "3"]),
    "slow-disk": ("scan", ["/text", "2"]),
    "slow-network": ("scan", ["/text", "2"]),
    "starved-cpu": ("scan", ["/text", "2"]),
    "hung": ("scan", ["/text", "3"]),
    "namenode-load": ("scan", ["/text", "4"]),
    "skew": ("skewed", ["/text", "0.2", "32"]),
    "gc-pressure": ("shuffled", ["/text", "32", "3"]),
    "gc-everywhere": ("shuffled", ["/text", "32", "3"]),
    "busy-cpu": ("shuffled", ["/text", "32", "3"]),
    "busy-disk": ("shuffled", ["/text", "32", "3"]),
    "busy-network": ("shuffled", ["/text", "32", "3"]),
    "mixed": ("bayes_for", ["130"]),
}
# Without the fault, where that is in the job itself.
HEALTHY_JOB_OF = {"skew": ("skewed", ["/text", "0", "32"])}
WORKERS_OF = {"mixed": schedule.WORKERS}  # of other faults WORKERS


def by_workers(faults):
    """{how many workers a bed must have: [faults]}"""
    found = {}
    for fault in faults:
        found.setdefault(WORKERS_OF.get(fault, WORKERS), []).append(fault)
    return found


def write_text(path, blocks=BLOCKS, seed=1):
    """Lines of words, so many blocks of them and no more: every task has as much to do."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 9))) for _ in range(WORDS)]
    size, limit = 0, blocks * BLOCK
    with open(path, "w") as file:
        while True:
            line = " ".join(draw.choices(words, k=12)) + "\n"
            size += len(line)
            if size > limit:
                break
            file.write(line)


def block_places(hdfs, path):
    """[(offset, length, [names of DataNodes])] of a file."""
    url = f"{hdfs.url(f'/webhdfs/v1{path}', 'http')}?op=GETFILEBLOCKLOCATIONS&user.name=plumb"
    with urllib.request.urlopen(url, timeout=60) as answer:
        found = json.load(answer)["BlockLocations"]["BlockLocation"]
    names = {hdfs.address(name): name for name in (f"datanode{i}" for i in range(1, hdfs.datanodes + 1))}
    return [(block["offset"], block["length"], [names[host] for host in block["hosts"]]) for block in found]


def worker_hosts(workers=WORKERS):
    return tuple(f"worker{i}" for i in range(1, workers + 1))


class Bed:
    """Hosts, plumbd, HDFS and Spark, all traced, for one run after the other."""

    def __init__(
        self,
        work,
        build,
        spark=DEFAULT_SPARK,
        *,
        workers=WORKERS,
        cores=1,
        conf=None,
        job=None,
        hdfs=None,
        share=WORKER_SHARE,
    ):
        """cores, conf: of Standalone; job: another than that of the fault, with its arguments; hdfs: more properties of
        it; share: of a processor, that each worker has."""
        self.workers = worker_hosts(workers)
        self.work, self.build, self.spark_version = Path(work).resolve(), Path(build), spark
        self.cores, self.conf, self.job, self.share = cores, conf, job, share
        self.properties = {**HDFS, **(hdfs or {})}
        self.stack = ExitStack()

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()

    def _start(self):
        self.work.mkdir(parents=True, exist_ok=True)
        names = [
            "namenode",
            *(f"datanode{i}" for i in range(1, DATANODES + 1)),
            *self.workers,
        ]
        self.hosts = self.stack.enter_context(Namespaces(self.work / "hosts", names))
        self.thrift = f"{self.hosts.address('driver')}:{free_port()}"
        self.agent = Agent({"receivers": self.thrift, "sampling": "always", "spark.operations": "all"})
        self.hdfs = self.stack.enter_context(
            Cluster(self.work / "hdfs", HADOOP, DATANODES, hosts=self.hosts, hdfs=self.properties, agent=self.agent)
        )
        self._start_spark()
        self.faults = Faults(self.hosts, self.hdfs, self.spark, self.work / "injections.jsonl")
        self.stack.callback(self.faults.close)

    def _start_spark(self):
        """With the text that its jobs read."""
        self.spark = self.stack.enter_context(
            Standalone(
                self.work / "spark",
                self.spark_version,
                len(self.workers),
                hosts=self.hosts,
                agent=self.agent,
                conf=self.conf,
                cores=self.cores,
            )
        )
        write_text(self.work / "text")
        self.put(self.work / "text", "/text")
        for worker in self.workers:
            self.hosts.limit_cpu(worker, self.share)

    def put(self, local, path):
        """One replica of each block, so that it is known who is read from."""
        put = ["-D", "dfs.replication=1", "-put", str(local), path]
        shell = self.hdfs.java("shell", "org.apache.hadoop.fs.FsShell", put, agent=None)
        if shell.wait(SECONDS) != 0:
            raise ClusterError(f"put: {self.hdfs.log_end('shell')}")

    @contextmanager
    def plumbd(self, folder):
        """A new one for each run, at the same address; the agents find it again. Its address for HTTP."""
        command = [
            str(self.build / "receiver/plumbd"),
            "--set",
            f"listen.thrift={self.thrift}",
            "--set",
            "listen.insecure=yes",
            "--set",
            "listen.http=127.0.0.1:0",
            "--set",
            f"store.path={folder}/store",
            "--set",
            f"journal.path={folder}/journal",
            "--set",
            "store.min-free=0",
        ]
        with open(folder / "plumbd.log", "ab") as log:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=die_with_parent
            )
        try:
            ready = re.search(r"http=(\S+)", process.stdout.readline())
            if not ready:
                raise ClusterError(f"plumbd did not start: {folder}/plumbd.log")
            yield ready.group(1)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
            process.stdout.close()

    def ready(self):
        """Are there as many executors as can be: does the last application have none any more?"""
        return not any(self.spark.executors().values())

    def run(self, fault, folder, conf=None):
        """One application under one fault, with these of Spark's properties. 'folder' is there, whole, or not at
        all."""
        partial = Path(f"{folder}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        output, begin = self._watched(fault, partial, conf)
        self._keep(fault, partial, output, begin)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)

    def twin(self, fault):
        """The same without the fault, all else alike: its tasks (truth.py)."""
        with TemporaryDirectory(dir=self.work) as folder:
            self._watched(fault, Path(folder), healthy=True)
        return tasks_of(self.last_log())

    def _watched(self, fault, partial, conf=None, healthy=False):
        """What the application printed, and when it began; 'partial' has what is known of it besides."""
        job = self.job or (HEALTHY_JOB_OF.get(fault) if healthy else None) or JOB_OF[fault]
        (partial / "samples").mkdir(parents=True)
        wait_for(self.ready, 60, "executors of the last run ended")
        if fault == "namenode-load" and not self.faults.load:
            self.faults.prepare_namenode_load()
        self.faults.record = partial / "injections.jsonl"
        self.faults.record.touch()
        (partial / "blocks.json").write_text(json.dumps(block_places(self.hdfs, "/text")))
        with self.plumbd(partial) as self.faults.http:
            with ExitStack() as sampled:
                sampled.enter_context(self._workers_for(fault))
                if not why_no_samples():
                    sampled.enter_context(Samples(self.hosts, self.hosts.names.hosts, partial / "samples"))
                output, begin = self._application(fault, job, conf, healthy)
            self.hdfs.wait_all_sent()
        return output, begin

    def _application(self, fault, job, conf, healthy):
        """What it printed; the fault is there, or comes and goes, from its first task on."""
        program, arguments = job
        arguments = [self.hdfs.url(word) if word.startswith("/") else word for word in arguments]
        begin, name = time.time(), f"{Path(program).name} ({f'without {fault}' if healthy else fault})"
        with self.spark.submit(program, arguments, name, conf, stdout=subprocess.PIPE) as application:
            lines = []
            reader = threading.Thread(target=lambda: lines.extend(application.stdout))
            reader.start()
            try:
                wait_for(lambda: self._first_task(begin) or application.poll() is not None, SECONDS, "the first task")
                self._prepare_workers(fault)
                if healthy:
                    application.wait(SECONDS)
                else:
                    self._disturb(fault, application)
            finally:
                if application.poll() is None:  # something else went wrong, or we are to stop
                    application.terminate()
                reader.join()
        if application.returncode != 0:
            raise ClusterError(f"{name} ended with {application.returncode}:\n{self.spark.log_end(name)}")
        return "".join(lines), begin

    def _first_task(self, begin):
        logs = [log for log in self.spark.events.glob("*.inprogress") if log.stat().st_mtime >= begin - 1]
        return any(
            b"SparkListenerTaskStart" in log.read_bytes() or b"SparkListenerStageSubmitted" in log.read_bytes()
            for log in logs
        )

    @contextmanager
    def _workers_for(self, fault):
        """A host that is to be kept busy has as much of that as one machine can give to all of them."""
        if fault in ("busy-network", "mixed"):
            for worker in self.workers:
                self.hosts.limit_network(worker, WORKER_BITS_PER_SECOND)
        if fault in ("busy-disk", "mixed"):
            for worker in self.workers:
                self.hosts.write_through(worker, True)
        try:
            yield
        finally:
            for worker in self.workers:
                if fault in ("busy-network", "mixed"):
                    self.hosts.limit_network(worker, None)
                if fault in ("busy-disk", "mixed"):
                    self.hosts.write_through(worker, False)

    def _prepare_workers(self, fault):
        """As far as that needs the application's executors."""
        if fault in ("busy-cpu", "mixed"):
            for worker, pids in self.spark.executors().items():
                self.hosts.confine(worker, pids, TASKS_SHARE)

    def _disturb(self, fault, application):
        """Until the application has ended."""
        always = {
            "slow-disk": lambda: self.faults.slow_disk(SLOW),
            "slow-network": lambda: self.faults.slow_network(SLOW),
            "starved-cpu": lambda: self.faults.starved(SLOW),
            "hung": lambda: self.faults.hung(SLOW),
            "gc-everywhere": self._gc_everywhere,
        }
        at_times = {
            "namenode-load": self.faults.namenode_loaded,
            "gc-pressure": lambda: self.faults.gc_pressure(BUSY, ON_SECONDS, HELD_SHARE),
            **{f"busy-{what}": lambda what=what: self.faults.busy(BUSY, what) for what in ("cpu", "disk", "network")},
        }
        if fault in always:
            with always[fault]():
                application.wait(SECONDS)
        if fault == "mixed":
            self._follow_schedule(application)
        while fault in at_times and application.poll() is None:
            with at_times[fault]():
                wait_end(application, ON_SECONDS)
            wait_end(application, OFF_SECONDS)
        application.wait(SECONDS)

    @contextmanager
    def _gc_everywhere(self):
        """No host is slower than the others: the job has too little memory."""
        with ExitStack() as executors:
            for worker in self.workers:
                executors.enter_context(self.faults.gc_pressure(worker, SECONDS, HELD_SHARE))
            yield

    def _follow_schedule(self, application):
        """Table 5, as far as the application goes."""
        begin = time.monotonic()
        at = sorted({second for one in schedule.TABLE_5 for second in (one.begin_s, one.end_s)})
        with ExitStack() as all_loads:
            there = {}
            for second in at:
                wait_end(application, max(0, begin + second - time.monotonic()))
                for one in [one for one in there if one.end_s <= second]:
                    there.pop(one).close()
                if application.poll() is not None:
                    return
                for one in schedule.TABLE_5:
                    if one.begin_s == second:
                        there[one] = all_loads.enter_context(ExitStack())
                        there[one].enter_context(self.faults.busy(self.workers[one.worker], one.resource))

    def last_log(self):
        """The event log of the last application."""
        return max(self.spark.events.glob("app-*"), key=lambda path: path.stat().st_mtime)

    def _keep(self, fault, folder, output, begin):
        log = self.last_log()
        shutil.copy(log, folder / "events")
        for worker in self.workers:
            for stderr in (self.spark.work / worker / log.name).glob("*/stderr"):
                (folder / "executors").mkdir(exist_ok=True)
                shutil.copy(stderr, folder / "executors" / f"{worker}-{stderr.parent.name}.log")
        job, arguments = self.job or JOB_OF[fault]
        said = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        about = {
            "fault": fault,
            "job": Path(job).name,
            "arguments": arguments,
            "application": log.name,
            "spark": self.spark_version,
            "hadoop": HADOOP,
            "began": begin,
            "ended": time.time(),
            "said": said,
            "block_bytes": BLOCK,
        }
        (folder / "run.json").write_text(json.dumps(about, indent=1) + "\n")
        self._export(folder)

    def _export(self, folder):
        plumb = self.build / "analyzer/plumb"
        with (
            open(folder / "spans.jsonl.zst", "wb") as out,
            subprocess.Popen([str(plumb), "--store", str(folder / "store"), "export"], stdout=subprocess.PIPE) as spans,
        ):
            subprocess.run(["zstd", "-q", "-c"], stdin=spans.stdout, stdout=out, check=True)
        if spans.returncode != 0:
            raise ClusterError(f"spans of {folder} could not be exported")
        for part in ("store", "journal"):
            shutil.rmtree(folder / part)


def wait_end(application, seconds):
    try:
        application.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
