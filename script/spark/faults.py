"""What can be made slow here, on hosts of their own (hosts.Namespaces): each fault is started and stopped, and both are
written, with the time, to a file of JSON lines:

    {"kind": "slow-disk", "host": "datanode2", "begin_ms": 1795291234567, "end_ms": 1795291264567, "bytes_per_second":
    400000}
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

from script.hdfs.cluster import die_with_parent
from script.hdfs.jars import ROOT, ClusterError, compile_java, run
from script.spark.hosts import Namespaces

HERE = Path(__file__).resolve().parent

FORGET_SECONDS = 0.5


def now_ms():
    return time.time_ns() // 1_000_000


def java_parts(work, version):
    """The classes that make load, compiled: the folder, and the jar that a running JVM can load."""
    classes = compile_java(sorted((HERE / "java").glob("*.java")), Path(work) / "fault-classes", version)
    manifest = Path(work) / "gc-pressure.mf"
    manifest.write_text("Agent-Class: GcPressure\n")
    jar = Path(work) / "gc-pressure.jar"
    run(["jar", "--create", "--file", jar, "--manifest", manifest, "-C", classes, "GcPressure.class"], "jar failed")
    return classes, jar


class Faults:
    """hosts: Namespaces; hdfs, spark: what runs on them; record: the file of what was done."""

    def __init__(self, hosts, hdfs, spark, record):
        self.hosts, self.hdfs, self.spark, self.record = hosts, hdfs, spark, Path(record)
        self.classes, self.jar = java_parts(self.record.parent, hdfs.version_of("client"))
        self.load = None
        self.http = None  # of a plumbd that is told, too: its page shows what was made slow

    @contextmanager
    def noted(self, kind, host, **details):
        """A fault that is there while the block runs. The line is written at its end; one that a crash left without an
        end has its own, beginning with "begun"."""
        begin = now_ms()
        self._write({"begun": kind, "host": host, "at_ms": begin})
        what = " ".join([kind, *(f"{name}={value}" for name, value in details.items())])
        mark = {"kind": "fault", "host": host, "text": what, "begin": begin * 1_000_000}
        self._tell(mark)
        try:
            yield
        finally:
            end = now_ms()
            self._write({"kind": kind, "host": host, "begin_ms": begin, "end_ms": end, **details})
            self._tell(mark | {"end": end * 1_000_000})

    def _tell(self, mark):
        """A plumbd that is away is no reason to leave a host slow."""
        if self.http is None:
            return
        address = f"http://{self.http}/api/v1/marks"
        request = urllib.request.Request(address, json.dumps(mark).encode(), {"Content-Type": "application/json"})
        with suppress(OSError):
            urllib.request.urlopen(request, timeout=5).close()

    def _write(self, line):
        with open(self.record, "a") as file:
            file.write(json.dumps(line) + "\n")

    # ---- a DataNode ----

    @contextmanager
    def slow_disk(self, host, bytes_per_second=400_000):
        """What is read comes from the disk, each time anew, and no faster than this."""
        os.sync()
        self.hosts.forget(host)
        self.hosts.limit_disk(host, bytes_per_second)
        over = threading.Event()

        def go_on_forgetting():
            while not over.wait(FORGET_SECONDS):
                self.hosts.forget(host)

        forgetting = threading.Thread(target=go_on_forgetting)
        forgetting.start()
        try:
            with self.noted("slow-disk", host, bytes_per_second=bytes_per_second):
                yield
        finally:
            over.set()
            forgetting.join()
            self.hosts.limit_disk(host, None)

    @contextmanager
    def slow_writes(self, host, bytes_per_second=400_000):
        """What is written goes through to the disk, and no faster than this."""
        self.hosts.write_through(host, True)
        self.hosts.limit_writes(host, bytes_per_second)
        try:
            with self.noted("slow-writes", host, bytes_per_second=bytes_per_second):
                yield
        finally:
            self.hosts.limit_writes(host, None)
            self.hosts.write_through(host, False)

    @contextmanager
    def slow_link(self, host, other, bits_per_second=2_000_000):
        """Between these two, in both directions; what either sends to others goes on as before."""
        self.hosts.limit_link(host, other, bits_per_second)
        try:
            with self.noted("slow-link", host, other=other, bits_per_second=bits_per_second):
                yield
        finally:
            self.hosts.limit_link(host, other, None)

    @contextmanager
    def slow_network(self, host, bits_per_second=4_000_000):
        self.hosts.limit_network(host, bits_per_second)
        try:
            with self.noted("slow-network", host, bits_per_second=bits_per_second):
                yield
        finally:
            self.hosts.limit_network(host, None)

    @contextmanager
    def starved(self, host, share=0.01):
        """Of one processor, in periods of a second."""
        self.hosts.limit_cpu(host, share, 1_000_000)
        try:
            with self.noted("starved-cpu", host, share=share):
                yield
        finally:
            self.hosts.limit_cpu(host, None)

    @contextmanager
    def hung(self, host, seconds=3, every=6):
        """Stops the process of that name for so many seconds again and again, each time noted. Needs no host of its
        own."""
        pauses = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "script.spark.faults",
                str(seconds),
                str(every),
                host,
                str(self.record.resolve()),
                *map(str, self._pids(host)),
            ],
            cwd=ROOT,
            preexec_fn=die_with_parent,
        )
        try:
            yield
        finally:
            pauses.terminate()
            pauses.wait()

    @contextmanager
    def stopped(self, host):
        """Stops the process of that name, for good: its connections stay open, and nobody answers."""
        pids = self._pids(host)
        signal_all(pids, signal.SIGSTOP)
        try:
            with self.noted("stopped", host):
                yield
        finally:
            signal_all(pids, signal.SIGCONT)

    def _pids(self, name):
        """A host of its own may have more than the one that we started."""
        return self.hosts.processes(name) if isinstance(self.hosts, Namespaces) else [self.hdfs.processes[name].pid]

    # ---- the NameNode ----

    def prepare_namenode_load(self, threads=100, directories=4000):
        """Makes what is asked for, once; 'namenode_loaded' is quick then."""
        self.load = self.hdfs.java(
            "namenode-load",
            "NameNodeLoad",
            [self.hdfs.url(), str(threads), str(directories)],
            class_path=str(self.classes),
            agent=None,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            heap_mb=128,
        )
        if self.load.stdout.readline() != "ready\n":
            raise ClusterError(f"no load for the NameNode:\n{self.hdfs.log_end('namenode-load')}")

    def _switch_load(self):
        self.load.stdin.write("switch\n")
        self.load.stdin.flush()
        if not self.load.stdout.readline():
            raise ClusterError(f"the load for the NameNode ended:\n{self.hdfs.log_end('namenode-load')}")

    @contextmanager
    def namenode_loaded(self, share=0.1):
        """By many clients; the NameNode has so much of a processor (None: no limit), so that its host is busy and the
        machine is not."""
        self.hosts.limit_cpu("namenode", share)
        self._switch_load()
        try:
            with self.noted("namenode-load", "namenode", share=share):
                yield
        finally:
            self._switch_load()
            self.hosts.limit_cpu("namenode", None)

    # ---- a worker ----

    @contextmanager
    def gc_pressure(self, host, seconds=15, share=0.5):
        """In the executors of that worker, for so long (or until they end)."""
        for pid in self.spark.executors()[host]:
            run(["jcmd", pid, "JVMTI.agent_load", self.jar, f'"seconds={seconds},share={share}"'], "jcmd failed")
        with self.noted("gc-pressure", host, share=share):
            yield
            # The load ends by itself.

    @contextmanager
    def busy(self, host, what):
        """what: cpu, disk or network; by processes that share the worker's part of the machine."""
        arguments, peer = [], None
        if what == "disk":
            arguments = [str(self.hosts.disk(host))]
        elif what == "network":
            peer = subprocess.Popen(
                [sys.executable, str(HERE / "busy.py"), "network"],
                stdout=subprocess.PIPE,
                text=True,
                preexec_fn=die_with_parent,
            )
            arguments = [self.hosts.address("driver"), peer.stdout.readline().strip()]
        work = subprocess.Popen(
            [*self.hosts.inside(host), sys.executable, str(HERE / "busy.py"), what, *arguments],
            preexec_fn=die_with_parent,
        )
        try:
            with self.noted(f"busy-{what}", host):
                yield
        finally:
            for process in filter(None, (work, peer)):
                process.kill()
                process.wait()

    def close(self):
        if self.load:
            self.load.stdin.close()
            self.load.wait()
            self.load.stdout.close()


def read_injections(path):
    """Those that have an end."""
    lines = [json.loads(line) for line in Path(path).read_text().splitlines()] if Path(path).exists() else []
    return [line for line in lines if "kind" in line]


def signal_all(pids, number):
    for pid in pids:
        os.kill(int(pid), number)


def pause(seconds, every, host, record, *pids):
    """Until told to end: pauses, each of them noted; nobody stays stopped."""

    def end(*_):
        raise SystemExit

    signal.signal(signal.SIGTERM, end)
    while True:
        begin = now_ms()
        try:
            for pid in pids:
                os.kill(int(pid), signal.SIGSTOP)
            time.sleep(float(seconds))
        finally:
            for pid in pids:
                os.kill(int(pid), signal.SIGCONT)
            with open(record, "a") as file:
                file.write(json.dumps({"kind": "hung", "host": host, "begin_ms": begin, "end_ms": now_ms()}) + "\n")
        time.sleep(float(every) - float(seconds))


__all__ = ["Faults", "java_parts", "read_injections"]

if __name__ == "__main__":
    pause(*sys.argv[1:])
