"""What TLS and logins cost plumbd.

    bench/secure                      all parts, in about five minutes
    bench/secure --only span          parts:

span       processor time for a span under TLS against plain, batches of 200: pairs of runs in turns, each with a
           plumbd of its own, until the last reply and until all is stored
reconnect  senders with a certificate each way, all of whose connections are lost with a restart of plumbd: until all
           are there again, and whether each span is stored once
idle       memory of a connection that is idle after one batch, under TLS and plain

Processor seconds of plumbd are its own, from /proc. Wall time depends on what else this machine does: the load average
stands beside it."""

import argparse
import contextlib
import json
import os
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.lib.daemon import MIB, ROOT, Plumbd, check_ledger, ledger_of, load, load_command
from bench.lib.table import pairs, spread, table
from tests.receiver.sender import OK, Sender, span
from tests.secure.authority import Authority

KIB = 1024
# Few, so that handshakes are no part of what a span costs: those are the part reconnect.
CONNECTIONS = 20


class Site:
    """Certificates, and plumbds that use them or not."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.authority = Authority(self.folder / "ca")
        self.server = self.authority.sign("server", "DNS:localhost,IP:127.0.0.1")
        self.sender = self.authority.sign("sender", "DNS:sender.example")
        self.context = ssl.create_default_context(cafile=self.authority.pem)
        self.context.load_cert_chain(*self.sender)
        self.made = 0

    def options(self, tls):
        """Of the load client."""
        if not tls:
            return []
        return ["--ca", self.authority.pem, "--certificate", self.sender[0], "--key", self.sender[1]]

    @contextlib.contextmanager
    def plumbd(self, tls, *settings):
        self.made += 1
        if tls:
            access = [f"access.{role}=anonymous" for role in ("read", "admin")]
            settings = (
                *settings, f"tls.certificate={self.server[0]}", f"tls.key={self.server[1]}",
                f"tls.clients={self.authority.pem}", "access.write=cert:sender.example", *access,
            )  # fmt: skip
        plumbd = Plumbd(self.folder / f"plumbd-{self.made}", *settings)
        plumbd.context = self.context if tls else None
        try:
            yield plumbd
        finally:
            plumbd.kill()


# ---- span ----


def cpu_of_load(site, args, tls, turn):
    """(until the last reply, until all is stored, of the threads that read), us a span."""
    with site.plumbd(tls) as plumbd:
        begun = plumbd.cpu_seconds()
        options = ["--batch", 200, "--seed", turn, "--connections", CONNECTIONS, *site.options(tls)]
        ledger = load(plumbd, args.spans, *options)
        replied, network = plumbd.cpu_seconds(), plumbd.cpu_by_thread()["network, decode, journal"]
        plumbd.flush()
        stored = plumbd.cpu_seconds()
        assert check_ledger(plumbd, [ledger])["accounted"], ledger
        each = 1e6 / ledger["spans"]
        return ((replied - begun) * each, (stored - begun) * each, network * each)


def measure_spans(site, args):
    runs = {False: [], True: []}
    for turn in range(args.turns):
        for tls in (False, True) if turn % 2 == 0 else (True, False):
            runs[tls].append(cpu_of_load(site, args, tls, turn + 1))
    rows = []
    for i, what in enumerate(("until the last reply", "until all is stored", "threads that read and decode")):
        plain, secure = [run[i] for run in runs[False]], [run[i] for run in runs[True]]
        ratios = [b / a for a, b in zip(plain, secure, strict=True)]
        rows.append({"CPU of plumbd, us a span": what, "plain": spread(plain), "TLS": spread(secure),
                     "TLS against plain, by pairs": spread(ratios)})  # fmt: skip
    table(f"{args.turns} pairs of {args.spans:,} spans, batches of 200: median (least to most)", rows)
    return {"ratio of all stored": statistics.median(b[1] / a[1] for a, b in zip(runs[False], runs[True], strict=True))}


# ---- reconnect ----


def lines_until(stream, text):
    for line in stream:
        if text in line:
            return
    sys.exit("bench/secure: the load ended before its connections were back")


def measure_reconnect(site, args):
    n = args.senders
    settings = ("listen.max-connections=8192", "stop.timeout=10s")
    with site.plumbd(True, *settings) as plumbd:
        options = ["--rate", args.rate, "--hosts", n, "--batch", 200, "--connections", n, "--own-addresses"]
        options += ["--unanswered", 1024, *site.options(True)]
        command = load_command(plumbd, args.rate * args.load_seconds, *options)
        client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines_until(client.stderr, "all connections are there")
        plumbd.stop()
        plumbd.start()
        ready_cpu = plumbd.cpu_seconds()
        lines_until(client.stderr, "all connections are there")
        figures = {
            "senders": n,
            "CPU of plumbd until all are back, s": plumbd.cpu_seconds() - ready_cpu,
            "of that, the threads that greet": plumbd.cpu_by_thread()["handshakes"],
            "load average": os.getloadavg()[0],
            "connections": int(plumbd.metric("connections")),
        }
        out, err = client.communicate()
        ledger = ledger_of(subprocess.CompletedProcess(command, client.returncode, out, err))
        plumbd.flush()
        stored = plumbd.status()["store"]["spans"]
    figures |= {
        "all are back after, s": ledger["reconnect_s"],
        "connections lost more than once": ledger["lost_connections"] - n,
        "spans sent": ledger["spans"],
        "spans stored": stored,
        "no span dropped": stored == ledger["spans"] and ledger["refused"] == 0,
    }
    pairs("Senders reconnect by mTLS after a restart", figures)
    return figures


# ---- idle ----


def opened(site, plumbd, tls, n):
    """So many connections that have sent a batch."""
    host, port = plumbd.thrift.rsplit(":", 1)
    held = []
    for i in range(n):
        sender = Sender((host, int(port)))
        if tls:
            sender.socket = site.context.wrap_socket(sender.socket, server_hostname="localhost")
        assert sender.deliver([span(1000 + i, 1)]).status == OK
        held.append(sender)
    return held


def anonymous_bytes(plumbd):
    """Resident, without what is mapped from files."""
    text = Path(f"/proc/{plumbd.process.pid}/smaps_rollup").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("Anonymous:"))) * KIB


def measure_idle(site, args):
    rows = []
    for tls in (False, True):
        with site.plumbd(tls) as plumbd:
            held = opened(site, plumbd, tls, 200)  # what is made once is there
            plumbd.flush()
            time.sleep(3)
            before, rss = anonymous_bytes(plumbd), plumbd.memory_bytes("VmRSS")
            held += opened(site, plumbd, tls, args.idle)
            plumbd.flush()
            time.sleep(3)
            each = (anonymous_bytes(plumbd) - before) / args.idle / KIB
            rows.append({
                "connections": "TLS" if tls else "plain", "KiB each, anonymous": each,
                "KiB each, resident": (plumbd.memory_bytes("VmRSS") - rss) / args.idle / KIB,
                "resident MiB in all": plumbd.memory_bytes("VmRSS") / MIB,
            })  # fmt: skip
            for sender in held:
                sender.socket.close()
    table(f"{args.idle:,} idle connections", rows)
    return rows


PARTS = {"span": measure_spans, "reconnect": measure_reconnect, "idle": measure_idle}


def arguments():
    parser = argparse.ArgumentParser(
        prog="bench/secure", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", metavar="PART,...", default=",".join(PARTS), help="parts")
    parser.add_argument("--spans", type=int, default=3_000_000, help="of each run of the part span (%(default)s)")
    parser.add_argument("--turns", type=int, default=5, help="pairs of runs (%(default)s)")
    parser.add_argument("--senders", type=int, default=6000, help="that reconnect (%(default)s)")
    parser.add_argument("--rate", type=int, default=2000, help="spans a second beside that (%(default)s)")
    parser.add_argument("--load-seconds", type=int, default=120, help="how long they send (%(default)s)")
    parser.add_argument("--idle", type=int, default=2000, help="connections that are idle (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="the figures, too")
    args = parser.parse_args()
    if not set(args.only.split(",")) <= set(PARTS):
        parser.error(f"parts are {', '.join(PARTS)}")
    return args


def main():
    args = arguments()
    subprocess.run([str(ROOT / "script/build"), "default"], check=True, stdout=subprocess.DEVNULL)
    print(
        f"{time.strftime('%Y-%m-%d %H:%M')}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}", flush=True
    )
    with tempfile.TemporaryDirectory(prefix="plumb-secure-") as folder:
        site = Site(folder)
        figures = {part: PARTS[part](site, args) for part in args.only.split(",")}
    if args.json:
        Path(args.json).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
