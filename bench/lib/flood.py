"""Does plumbd stay within its memory under peers who mean harm?

    bench/flood                          ten minutes of all that follows at the same time
    bench/flood --minutes 2 --only names,questions

names      ever-new names of functions and hosts, as fast as they are taken
traces     traces of few spans that take gigabytes: 20,000 spans of 4,000 parents each, 12,000 of 60 KB of annotations
questions  eight readers who ask what takes most, without pause, one of whom never waits for the answer

Then plumbd is killed in the midst of it and started again, and its memory is looked at while it replays the journal.
Resident memory is sampled ten times a second. Ends with 1 when it was more than --most, plumbd ended by itself or was
not ready again, or an answer was neither right nor a refusal that says what to ask for."""

import argparse
import http.client
import multiprocessing
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from bench.lib.daemon import MIB, ROOT, Plumbd
from bench.lib.table import pairs, table
from tests.receiver.sender import I32, I64, LIST, STRING, STRUCT, Sender, field, i32, i64, items, span, text

PARTS = ("names", "traces", "questions")
READERS = 8
NAMES_IN_BATCH = 5000
PARENTS, PARENT_SPANS = 4000, 20_000
VALUE_BYTES, VALUE_SPANS = 60_000, 12_000
FRAME_BYTES = 24 * MIB
# The two ids of the last traces that the senders began, for those who ask about them.
TRACE_IDS = (0x1000, 0x2000)
QUESTIONS = (
    "functions?by=host&limit=20",
    "functions?limit=20",
    "functions?limit=20&sort=q95_ns",
    "functions",
    "forest?limit=0",
    "traces?limit=0",
    "diff?kind=period&a=..1m&b=1m..",
    "hosts",
    "trace?id={parents:016x}",
    "trace?id={values:016x}",
    "trace?id={values:016x}&part=3&limit=100",
    "status",
)


def arguments():
    parser = argparse.ArgumentParser(
        prog="bench/flood", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10, help="how long (10)")
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts of it ({','.join(PARTS)})")
    parser.add_argument("--most", type=float, default=450, help="MiB that may be resident (450)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="another setting of plumbd's")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where the store is made, and removed again")
    return parser.parse_args()


# ---- what is sent ----

SPAN = struct.Struct(">bhqbhqbhqbhqbhibhib")


def lone_span(trace, name, tracer):
    now = time.time_ns()
    return SPAN.pack(I64, 1, trace, I64, 2, 1, I64, 3, now, I64, 4, 1000, I32, 5, name, I32, 6, tracer, 0)


def send_names(thrift):
    """Each batch has names and hosts that nobody had before."""
    base = random.getrandbits(40)
    with Sender(thrift) as sender:
        for number in range(1 << 40):
            first = base + number * NAMES_IN_BATCH
            names = [f"hostile.f{first + i:x}" for i in range(NAMES_IN_BATCH)]
            hosts = [f"Client/h{first + i:x}/1" for i in range(0, NAMES_IN_BATCH, 2)]
            spans = [lone_span((first + i) * 7919, i, NAMES_IN_BATCH + i // 2) for i in range(NAMES_IN_BATCH)]
            sender.deliver(spans, strings=names + hosts)


def frames(trace, n, more):
    """The spans of a trace, as many in a frame as it may have."""
    size = len(more(2))
    each = max(FRAME_BYTES // size, 1)
    for first in range(2, n, each):
        yield [more(k) for k in range(first, min(first + each, n))]


def send_traces(thrift):
    parents = items(STRUCT, [field(I64, 1, i64(3)) + field(I64, 2, i64(k)) + b"\0" for k in range(PARENTS)])
    value = items(STRUCT, [field(I32, 1, i32(0)) + field(STRING, 2, text("v" * VALUE_BYTES)) + b"\0"])

    def span_of(trace, k, number, rest):
        return span(trace, k, begin=time.time_ns())[:-1] + field(LIST, number, rest) + b"\0"

    with Sender(thrift) as sender:
        for round_number in range(1 << 12):
            for base, n, number, rest in (
                (TRACE_IDS[0], PARENT_SPANS, 8, parents),
                (TRACE_IDS[1], VALUE_SPANS, 9, value),
            ):
                trace = base + round_number

                def more(k, trace=trace, number=number, rest=rest):
                    return span_of(trace, k, number, rest)

                for spans in frames(trace, n, more):
                    sender.deliver(spans)


def send(what, thrift):
    """Goes on when plumbd was started anew, or has closed the connection."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    address = (thrift.rsplit(":", 1)[0], int(thrift.rsplit(":", 1)[1]))
    while True:
        try:
            what(address)
        except (OSError, AssertionError):
            time.sleep(0.2)


# ---- who asks ----


class Readers:
    def __init__(self, plumbd):
        self.plumbd, self.lock = plumbd, threading.Lock()
        self.asked, self.wrong = {}, []
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(i,), daemon=True) for i in range(READERS)]

    def ask(self, question, waits):
        connection = http.client.HTTPConnection(self.plumbd.http, timeout=300)
        try:
            connection.request("GET", f"/api/v1/{question}")
            if not waits:
                return time.sleep(0.2)
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def note(self, question, outcome, seconds):
        kind = question.split("?")[0] + ("?by=host" if "by=host" in question else "")
        with self.lock:
            row = self.asked.setdefault(
                kind, {"answered": 0, "refused": 0, "busy": 0, "not there": 0, "longest s": 0.0}
            )
            status, body = outcome
            row["longest s"] = max(row["longest s"], seconds)
            if status == 200:
                row["answered"] += 1
            elif status in (400, 503) and b"http.question-" in body:
                row["refused" if status == 400 else "busy"] += 1
            elif status == 503:
                row["busy"] += 1
            elif status == 404 and kind == "trace":
                row["not there"] += 1
            elif status == 400 and b"parts" in body:
                row["answered"] += 1
            else:
                self.wrong.append(f"{question}: {status} {body[:200]!r}")

    def run(self, number):
        choice = random.Random(number)
        while not self.stopped.is_set():
            question = choice.choice(QUESTIONS).format(parents=TRACE_IDS[0], values=TRACE_IDS[1])
            begun = time.monotonic()
            try:
                outcome = self.ask(question, waits=number > 0)
            except (OSError, http.client.HTTPException):
                time.sleep(0.2)  # cut off: answers of slow readers are
                continue
            if outcome:
                self.note(question, outcome, time.monotonic() - begun)

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join(timeout=300)


# ---- the run ----


class Resident:
    """Resident memory, ten times a second."""

    def __init__(self, plumbd):
        self.plumbd, self.samples, self.stopped = plumbd, [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stopped.wait(0.1):
            try:
                self.samples.append(self.plumbd.memory_bytes("VmRSS") / MIB)
            except (OSError, AttributeError):
                continue  # being started again

    def stop(self):
        self.stopped.set()
        self.thread.join()
        return self.samples


def by_sixths(samples):
    n = max(len(samples) // 6, 1)
    return [
        {"of the run": f"{i + 1}/6", "resident MiB, most": max(samples[i * n : (i + 1) * n], default=0)}
        for i in range(6)
    ]


def restart(plumbd):
    """Killed and started again: the most that was resident until the journal was taken in."""
    plumbd.kill()
    resident = Resident(plumbd)
    plumbd.start()
    plumbd.wait_recovered()
    return max(resident.stop())


def metric(text_of, name, label):
    for line in text_of.splitlines():
        if line.startswith(f'plumbd_{name}{{reason="{label}"}}'):
            return int(line.rsplit(" ", 1)[1])
    return 0


def attack(plumbd, args, parts):
    context = multiprocessing.get_context("fork")
    senders = [
        context.Process(target=send, args=(what, plumbd.thrift), daemon=True)
        for name, what in (("names", send_names), ("traces", send_traces))
        if name in parts
    ]
    readers, resident = Readers(plumbd), Resident(plumbd)
    for sender in senders:
        sender.start()
    if "questions" in parts:
        readers.start()
    until = time.monotonic() + args.minutes * 60
    while time.monotonic() < until and plumbd.process.poll() is None:
        time.sleep(0.5)
    for sender in senders:
        sender.terminate()
        sender.join()
    alive = plumbd.process.poll() is None
    if "questions" in parts:
        readers.stop()
    return resident.stop(), readers, alive


def main():
    args = arguments()
    parts = args.only.split(",")
    if not set(parts) <= set(PARTS):
        sys.exit(f"bench/flood: --only takes {','.join(PARTS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended by a signal"))  # so that all is removed
    subprocess.run([str(ROOT / "script/build"), "default"], check=True, stdout=subprocess.DEVNULL)
    print(
        f"{time.strftime('%Y-%m-%d %H:%M')}, {os.cpu_count()} cores, {args.minutes:g} minutes of {args.only}",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="plumb-flood-", dir=args.folder) as folder:
        plumbd = Plumbd(folder, *args.set)
        try:
            samples, readers, alive = attack(plumbd, args, parts)
            if not alive:
                sys.exit(f"bench/flood: plumbd ended with {plumbd.process.poll()}:\n{log_end(folder)}")
            receiver, metrics = plumbd.status()["receiver"], plumbd.get("/metrics").decode()
            replay = restart(plumbd)
        finally:
            plumbd.kill()
    report(args, {"samples": samples, "readers": readers, "receiver": receiver, "metrics": metrics, "replay": replay})


def log_end(folder):
    return "\n".join((Path(folder) / "log").read_text().splitlines()[-10:])


def report(args, found):
    readers, receiver = found["readers"], found["receiver"]
    table("By sixths of the run", by_sixths(found["samples"]))
    if readers.asked:
        table("Questions", [{"question": q, **row} for q, row in sorted(readers.asked.items())])
    most = max(found["samples"])
    figures = {
        "spans received": receiver["spans_received"],
        "resident MiB, most": most,
        "resident MiB, most in the replay after kill -9": found["replay"],
        "questions ended for memory": metric(found["metrics"], "questions_refused_total", "memory"),
        "questions ended for time": metric(found["metrics"], "questions_refused_total", "time"),
        "questions ended, reader gone": metric(found["metrics"], "questions_refused_total", "reader gone"),
        f"never more than {args.most:g} MiB": max(most, found["replay"]) <= args.most,
        "every answer right or a refusal that helps": not readers.wrong,
        "books agree": bool(receiver["accounting"]["agree"]),
    }
    pairs("Attacked", figures)
    for line in readers.wrong[:10]:
        print(line)
    sys.exit(any(value is False for value in figures.values()))


if __name__ == "__main__":
    main()
