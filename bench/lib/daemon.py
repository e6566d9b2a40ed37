"""A plumbd to measure: started on free ports with folders of its own, watched through /proc, loaded by bench_load."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/default"
MODEL = ROOT / "bench/model/hdfs-3.3.1.jsonl"
TICKS = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20
# Threads of plumbd and of RocksDB inside it, by the begin of their names.
THREADS = {
    "net-": "network, decode, journal",
    "accept-": "handshakes",
    "shard-": "shards",
    "resources": "resource control",
    "rocksdb:high": "store: flush",
    "rocksdb:low": "store: compaction",
    "query": "questions",
    "http": "questions",
    "recovery": "recovery",
}


class Plumbd:
    def __init__(self, folder, *settings):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.settings = settings
        self.context = None  # of TLS, where its ports speak it
        self.thrift = self.http = "127.0.0.1:0"
        self.start()

    def start(self):
        """Seconds until it takes spans; after the first start on the same ports."""
        command = [
            str(BUILD / "receiver/plumbd"),
            "--set",
            f"listen.thrift={self.thrift}",
            "--set",
            f"listen.http={self.http}",
            "--set",
            f"store.path={self.folder}/store",
            "--set",
            f"journal.path={self.folder}/journal",
        ]
        for setting in self.settings:
            command += ["--set", setting]
        begun = time.monotonic()
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"bench: plumbd did not start (exit {self.process.wait()}); see {self.folder}/log")
        self.thrift = re.search(r" thrift=(\S+)", line).group(1)
        self.http = re.search(r" http=(\S+)", line).group(1)
        return time.monotonic() - begun

    def wait_recovered(self):
        """Seconds until all that the journal held at the start is taken in."""
        begun = time.monotonic()
        while "recovering" in self.status()["receiver"]:
            time.sleep(0.05)
        return time.monotonic() - begun

    def cpu_seconds(self):
        """Of all threads, those that ended included."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def cpu_by_thread(self):
        """Seconds by kind of thread. What is missing to cpu_seconds() belongs to threads that ended."""
        kinds = {}
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                name, rest = (task / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            except OSError:
                continue
            kind = next((kind for prefix, kind in THREADS.items() if name.startswith(prefix)), "others")
            fields = rest.split()
            kinds[kind] = kinds.get(kind, 0) + (int(fields[11]) + int(fields[12])) / TICKS
        return kinds

    def disk_traffic(self):
        """Bytes that the process had read from disks (what the page cache has is not among them), and written to files,
        journal, compaction and all."""
        text = Path(f"/proc/{self.process.pid}/io").read_text()
        return tuple(int(re.search(rf"^{which}_bytes: (\d+)", text, re.M).group(1)) for which in ("read", "write"))

    def memory_bytes(self, field="VmHWM"):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{field}:\s+(\d+) kB", status).group(1)) * 1024

    def get(self, path, data=None, timeout=3600):
        url = f"{'https' if self.context else 'http'}://{self.http}{path}"
        request = urllib.request.Request(url, data=data, method="POST" if data is not None else "GET")
        with urllib.request.urlopen(request, timeout=timeout, context=self.context) as reply:
            return reply.read()

    def status(self):
        return json.loads(self.get("/api/v1/status"))

    def metric(self, name):
        found = re.search(rf"^plumbd_{name} (\S+)$", self.get("/metrics").decode(), re.M)
        return float(found.group(1)) if found else 0

    def flush(self):
        begun = time.monotonic()
        self.get("/api/v1/flush", b"")
        return time.monotonic() - begun

    def settle(self, limit_s=600):
        """Waits until it does no more by itself: late spans joined, files compacted. That begins some 15 s after the
        last span."""
        deadline, before, idle = time.monotonic() + limit_s, self.cpu_seconds(), 0
        while time.monotonic() < deadline and idle < 12:
            time.sleep(2)
            now = self.cpu_seconds()
            idle = idle + 1 if now - before < 0.1 else 0
            before = now

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=3600)
        self.process.stdout.close()
        if code != 0:
            sys.exit(f"bench: plumbd ended with {code}; see {self.folder}/log")

    def disk_bytes(self, part="store"):
        return sum(f.stat().st_size for f in (self.folder / part).rglob("*") if f.is_file())


class Sampler:
    """What plumbd's threads used and held, every second, while a load runs."""

    def __init__(self, plumbd, every_s=1.0):
        self.plumbd, self.every_s, self.rows = plumbd, every_s, []
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def sample(self):
        receiver = self.plumbd.status()["receiver"]
        self.rows.append(
            {
                "time": time.monotonic(),
                "spans": receiver["spans_received"],
                "cpu_s": self.plumbd.cpu_seconds(),
                "rss": self.plumbd.memory_bytes("VmRSS"),
                "open_traces": receiver["open_traces"],
                "open_spans": receiver["open_spans"],
                "journal_bytes": receiver["journal_bytes"],
            }
        )

    def run(self):
        while not self.stopped.wait(self.every_s):
            try:
                self.sample()
            except (OSError, KeyError, ValueError):
                continue  # being restarted, or busy: the next sample will do

    def __enter__(self):
        self.sample()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        if self.plumbd.process.poll() is None:
            self.sample()


def load_command(plumbd, spans, *options):
    return [
        str(BUILD / "bench/bench_load"),
        "--model",
        str(MODEL),
        "--thrift",
        plumbd.thrift,
        "--nanoseconds",
        "--spans",
        str(int(spans)),
        *(str(o) for o in options),
    ]


def ledger_of(done):
    if done.returncode != 0:
        sys.exit(f"bench: the load failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def load(plumbd, spans, *options):
    return ledger_of(subprocess.run(load_command(plumbd, spans, *options), capture_output=True, text=True))


def store_books(plumbd):
    """Do plumbd's own books of every span agree?"""
    return plumbd.status()["receiver"].get("accounting", {}).get("agree", True)


def check_ledger(plumbd, ledgers, before=None):
    """The client's ledger against what plumbd says is stored; every span exactly once, every repeat recognised."""
    store, before = plumbd.status()["store"], before or {"spans": 0, "duplicates": 0}
    sent, repeated = sum(one["spans"] for one in ledgers), sum(one["repeated"] for one in ledgers)
    resent = sum(one["resent"] for one in ledgers)
    spans, duplicates = store["spans"] - before["spans"], store["duplicates"] - before["duplicates"]
    books = store_books(plumbd)
    good = (
        books
        and spans == sent
        and repeated <= duplicates <= repeated + resent
        and not any(one["refused"] for one in ledgers)
    )
    return {"sent": sent, "stored": spans, "repeated": repeated, "recognised": duplicates, "accounted": good}
