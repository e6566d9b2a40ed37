"""One peer that takes all it can get, from an address of its own, and a good one beside it: how long the good one's
acknowledgements and questions take, alone and beside each attack, and whether any of them is refused. Attackers and
plumbd share this machine's processors with the good peer, so a part of what it waits for is their work."""

import argparse
import contextlib
import http.client
import math
import multiprocessing
import os
import resource
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

from bench.lib.daemon import MIB, Plumbd
from bench.lib.good_peer import GOOD, PAUSE_S, GoodPeer, quantile
from bench.lib.hostile_secure import (
    CONTROL,
    MEMORY_LIMIT,
    SECURE_ATTACKS,
    GoodSender,
    address,
    attack_niced,
    make_site,
)
from bench.lib.table import table
from tests.receiver.sender import OK, TRY_LATER, Sender, span

HOSTILE = "127.0.0.66"


# ---- attacks; each runs in a process of its own until it is ended ----


def connections(address, n, first=b""):
    """So many, each with some bytes sent."""
    held = []
    for _ in range(n):
        connection = socket.socket()
        connection.bind((HOSTILE, 0))
        connection.settimeout(5)
        with contextlib.suppress(OSError):
            connection.connect(address)
            connection.sendall(first)
        held.append(connection)
    return held


def again(address, n, first=b""):
    """Those that plumbd has closed are opened again."""
    held = connections(address, n, first)
    while True:
        for i, connection in enumerate(held):
            connection.setblocking(False)
            try:
                gone = connection.recv(1, socket.MSG_PEEK) == b""  # what has come stays unread
            except BlockingIOError:
                gone = False
            except OSError:
                gone = True
            if gone:
                connection.close()
                held[i] = connections(address, 1, first)[0]
        time.sleep(0.2)


def hold_buffers(thrift, _):
    again(thrift, 50, (30 * MIB).to_bytes(4, "big") + b"\x80\x01" + b"\0" * 6 * MIB)


def idle_connections(thrift, _):
    again(thrift, 4096)


def slow_heads(_, web):
    held = connections(web, 1000, b"GET /healthz HTTP/1.1\r\nX: ")
    while True:
        for connection in held:
            with contextlib.suppress(OSError):
                connection.send(b"y")
        time.sleep(1)


def unread_exports(_, web):
    again(web, 8, b"GET /api/v1/export HTTP/1.1\r\nHost: localhost\r\n\r\n")


def loop(web, method, path):
    reader = None
    while True:
        try:
            reader = reader or http.client.HTTPConnection(*web, timeout=60, source_address=(HOSTILE, 0))
            reader.request(method, path)
            reader.getresponse().read()
        except (OSError, http.client.HTTPException):
            reader = None


def in_threads(n, function, *arguments):
    threads = [threading.Thread(target=function, args=arguments) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def flushes(_, web):
    in_threads(4, loop, web, "POST", "/api/v1/flush")


def questions(_, web):
    in_threads(80, loop, web, "GET", "/api/v1/functions?by=host&limit=0")


def names(thrift, _):
    """Ever new names, five thousand a batch."""
    with Sender(thrift, source=HOSTILE) as sender:
        for batch in range(10**9):
            spans = [span(batch + 1, k + 1, name=k, tracer=5000) for k in range(5000)]
            strings = (*(f"op {batch} {k}" for k in range(5000)), "Client/h/1")
            while sender.submit(spans, strings=strings).status == TRY_LATER:
                time.sleep(0.05)


def processes(thrift, _):
    with Sender(thrift, source=HOSTILE) as sender:
        for batch in range(10**9):
            spans = [span(batch + 1, k + 1, name=5000, tracer=k) for k in range(5000)]
            strings = (*(f"Client/host{batch}-{k}/1" for k in range(5000)), "op")
            while sender.submit(spans, strings=strings).status == TRY_LATER:
                time.sleep(0.05)


ATTACKS = [hold_buffers, idle_connections, slow_heads, unread_exports, flushes, questions, names, processes]


# ---- the good peer ----


class Good(GoodPeer):
    """Sends a batch, and asks a question, again and again."""

    def __init__(self, plumbd):
        self.thrift, self.web = address(plumbd.thrift), address(plumbd.http)
        self.answers = []
        super().__init__(lambda: self.repeat(self.send), lambda: self.repeat(self.ask))

    def send(self):
        """A new connection each time, as that has to be possible as well."""
        self.send_batch(lambda: Sender(self.thrift, source=GOOD))

    def ask(self):
        begun = time.monotonic()
        reader = http.client.HTTPConnection(*self.web, timeout=60, source_address=(GOOD, 0))
        with contextlib.closing(reader):
            reader.request("GET", "/api/v1/traces?limit=20")
            reply = reader.getresponse()
            reply.read()
            self.refused += reply.status != 200
        self.answers.append(time.monotonic() - begun)

    def repeat(self, what):
        while not self.stopped.wait(PAUSE_S):
            try:
                what()
            except (OSError, http.client.HTTPException):
                self.refused += 1


def measure(plumbd, seconds):
    cpu = plumbd.cpu_seconds()
    begun = time.monotonic()
    with Good(plumbd) as good:
        time.sleep(seconds)
    return good.figures() | {
        "answers": len(good.answers),
        "answer p99 ms": 1000 * quantile(good.answers, 0.99),
        "processors": (plumbd.cpu_seconds() - cpu) / (time.monotonic() - begun),
        "files": len(os.listdir(f"/proc/{plumbd.process.pid}/fd")),
    }


def attacked(attack, arguments, measured):
    """What is measured some seconds after the attack has begun, so that what is there to be taken is taken."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    attacker = multiprocessing.Process(target=attack, args=arguments, daemon=True)
    attacker.start()
    try:
        time.sleep(5)
        return measured()
    finally:
        attacker.kill()
        attacker.join()


def beside(plumbd, attack, seconds):
    return attacked(attack, (address(plumbd.thrift), address(plumbd.http)), lambda: measure(plumbd, seconds))


def fill(plumbd):
    """More than the buffers between an export and its reader."""
    with Sender(address(plumbd.thrift)) as sender:
        for trace in range(1, 201):
            assert sender.deliver([span(trace, k, annotations=[(0, "v" * 1000)]) for k in range(1, 201)]).status == OK
    plumbd.flush()


def name_of(attack):
    return attack.__name__.replace("_", " ")


def run(folder, attacks, seconds):
    rows = []
    for attack in attacks:
        plumbd = Plumbd(Path(folder) / attack.__name__)
        fill(plumbd)
        alone = measure(plumbd, seconds)
        row = {"beside": name_of(attack), **beside(plumbd, attack, seconds)}
        row["ack p99 x alone"] = row["ack p99 ms"] / alone["ack p99 ms"]
        rows.append(row)
        plumbd.kill()
    table("A good peer beside a hostile one", rows)
    return rows


def measure_secure(site, seconds):
    with GoodSender(site) as good:
        time.sleep(seconds)
    return good.figures() | {
        "login p99 ms": 1000 * quantile(good.logins, 0.99),
        "resident MiB": good.resident / MIB,
    }


def run_secure(folder, attacks, seconds):
    """Alone and beside in turns, so that what else the machine does meets both."""
    rows = []
    for attack in attacks:
        site = make_site(Path(folder) / attack.__name__)
        alone, under = [], []
        for _ in range(2):
            alone.append(measure_secure(site, seconds))
            under.append(attacked(attack_niced, (attack, site), lambda site=site: measure_secure(site, seconds)))
        row = {"beside": name_of(attack)}
        row |= {
            key: sum(one[key] for one in under) / (1 if key in ("acks", "refused", "died") else 2) for key in under[0]
        }
        row["alone p99 ms"] = sum(one["ack p99 ms"] for one in alone) / 2
        row["ack p99 x alone"] = row["ack p99 ms"] / row["alone p99 ms"]
        if attacks[0] is CONTROL:
            row["x of control"] = row["ack p99 x alone"] / (rows[0] if rows else row)["ack p99 x alone"]
        row["resident MiB"] = max(one["resident MiB"] for one in under)
        row["within memory.limit"] = row["resident MiB"] * MIB <= MEMORY_LIMIT
        rows.append(row)
        site.plumbd.kill()
    table("A sender with TLS and a token beside hostile peers", rows)
    return rows


def is_bad(row, most):
    """Refused, too slow (against other work on the machine, where that was measured, else against alone), too much
    memory; or nothing was measured: none got in (no number), or a good peer's thread died."""
    return (
        row["refused"] > 0
        or row["died"] > 0
        or any(isinstance(value, float) and math.isnan(value) for value in row.values())
        or not row.get("x of control", row["ack p99 x alone"]) <= most
        or not row.get("within memory.limit", True)
    )


def main():
    parser = argparse.ArgumentParser(prog="bench/hostile", description=__doc__)
    parser.add_argument("--seconds", type=int, default=20, help="of each measurement (%(default)s)")
    parser.add_argument(
        "--secure", action="store_true", help="with TLS and tokens, and what strangers and users do there"
    )
    parser.add_argument("--only", metavar="ATTACK,...", help=", ".join(a.__name__ for a in ATTACKS + SECURE_ATTACKS))
    arguments = parser.parse_args()
    known = SECURE_ATTACKS if arguments.secure else ATTACKS
    chosen = arguments.only.split(",") if arguments.only else [a.__name__ for a in known]
    attacks = [a for a in known if a.__name__ in chosen]
    if len(attacks) != len(chosen):
        parser.error(f"attacks are {', '.join(a.__name__ for a in known)}")
    most = 2 if arguments.secure else 10
    with tempfile.TemporaryDirectory() as folder:
        rows = (run_secure if arguments.secure else run)(folder, attacks, arguments.seconds)
    bad = [row["beside"] for row in rows if row["beside"] != name_of(CONTROL) and is_bad(row, most)]
    if bad:
        sys.exit(
            f"bench/hostile: refused, more than {most} times as slow, too much memory, or nothing measured, beside: "
            + ", ".join(bad)
        )


if __name__ == "__main__":
    main()
