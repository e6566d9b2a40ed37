"""The parts of bench/run. Each takes the Bench, prints its tables and returns its figures."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from bench.lib.daemon import BUILD, MIB, Plumbd, Sampler, check_ledger, ledger_of, load, load_command
from bench.lib.readers import Reader, start_readers
from bench.lib.table import pairs, spread, table

DAY_S = 86400
SECOND_NS = 10**9


def cost_since(plumbd, before, spans):
    """us of CPU per span by kind of thread, and in all."""
    now = plumbd.cpu_by_thread()
    return {
        kind: (now[kind] - before.get(kind, 0)) * 1e6 / spans for kind in sorted(now) if now[kind] > before.get(kind, 0)
    }


def growth_rows(samples, begun_with):
    """CPU per span in the stretch before each power of ten (its last half), from the samples of one long load."""
    rows, mark = [], 1_000_000
    while mark <= begun_with + samples[-1]["spans"] - samples[0]["spans"]:
        low, high = (
            next((s for s in samples if begun_with + s["spans"] - samples[0]["spans"] >= m), None)
            for m in (mark / 2, mark)
        )
        if low and high and high["spans"] - low["spans"] > mark / 10:
            rows.append(
                {
                    "stored": mark,
                    "spans/s": (high["spans"] - low["spans"]) / (high["time"] - low["time"]),
                    "us CPU per span": (high["cpu_s"] - low["cpu_s"]) * 1e6 / (high["spans"] - low["spans"]),
                    "resident MiB": high["rss"] / MIB,
                }
            )
        mark *= 10
    return rows


def show_growth(samples):
    rows = growth_rows(samples, 0)
    if rows:
        table("Growth: cost in the last half before so many spans", rows)
    return rows


def store_figures(plumbd):
    store = plumbd.status()["store"]
    families = {name: size / store["spans"] for name, size in store.get("family_bytes", {}).items() if size > 0}
    return {
        "spans": store["spans"],
        "traces": store["traces"],
        "patterns": store["patterns"],
        "bytes per span": store["disk_bytes"] / store["spans"],
    }, families


def sustained(bench):
    """The load as fast as it is taken, into one store that is kept for the parts after it."""
    spans = bench.spans or max(int(bench.rate * bench.seconds(0.35)), 2_000_000)
    bench.need_space(spans)
    plumbd = bench.store_for("sustained")
    cpu, threads = plumbd.cpu_seconds(), plumbd.cpu_by_thread()
    with Sampler(plumbd) as sampler:
        begun = time.monotonic()
        try:
            ledger = load(plumbd, spans, "--seed", 1, *bench.at_most(0.4))
            acknowledged_s = time.monotonic() - begun
            flush_s = plumbd.flush()
        except SystemExit:  # ended by a signal: what was measured until then may be an hour's
            show_growth(sampler.rows)
            raise
    received = ledger["acknowledged"]
    by_thread = cost_since(plumbd, threads, received)
    bench.rate = ledger["spans_per_s"]
    read_bytes, written_bytes = plumbd.disk_traffic()
    figures = {
        "spans": ledger["spans"],
        "spans/s acknowledged": received / acknowledged_s,
        "spans/s until all is stored": received / (acknowledged_s + flush_s),
        "us CPU of plumbd per span": (plumbd.cpu_seconds() - cpu) * 1e6 / received,
        "us CPU of the client per span": ledger["client_cpu_us_per_span"],
        "resident MiB, most": max(r["rss"] for r in sampler.rows) / MIB,
        "open traces, most": max(r["open_traces"] for r in sampler.rows),
        "wire bytes per span": ledger["wire_bytes_per_span"],
        "journal bytes per span": plumbd.metric("journal_written_bytes_total") / received,
        "spans of a batch": received / ledger["batches"],
        "read from disk, bytes per span": read_bytes / received,
        "written to disk, bytes per span": written_bytes / received,
        "batches told to wait": ledger["try_later"],
        **check_ledger(plumbd, [ledger]),
    }
    store, families = store_figures(plumbd)
    pairs(f"Sustained: {ledger['spans']:,} spans as fast as they are taken", figures)
    table("CPU by kind of thread", [{"thread": k, "us per span": v} for k, v in by_thread.items()])
    growth = show_growth(sampler.rows)
    pairs("Stored", store)
    table("Stored, by family", [{"family": k, "bytes per span": v} for k, v in families.items()])
    return {
        "figures": figures,
        "threads": by_thread,
        "growth": growth,
        "store": store,
        "families": families,
        "samples": sampler.rows,
    }


def settled(bench):
    """What is left to do after the load: late spans joined, files compacted; and the size then."""
    plumbd = bench.store_for("sustained")
    cpu = plumbd.cpu_seconds()
    begun = time.monotonic()
    plumbd.settle(bench.seconds(0.1))
    store, families = store_figures(plumbd)
    figures = {
        "seconds": time.monotonic() - begun,
        "us CPU per span": (plumbd.cpu_seconds() - cpu) * 1e6 / store["spans"],
        **store,
    }
    pairs("Settled: what is done after the load", figures)
    table("Settled, by family", [{"family": k, "bytes per span": v} for k, v in families.items()])
    return {"figures": figures, "families": families}


def beside_readers(plumbd, spans, seed):
    """A load while 8 readers ask: its ledger, what the readers found, and whose the processors' time was meanwhile."""
    reader, threads, begun = start_readers(plumbd, 8), plumbd.cpu_by_thread(), time.monotonic()
    ledger = load(plumbd, spans, "--seed", seed)
    seconds = time.monotonic() - begun
    shares = {f"plumbd: {kind}": us * 1e-6 for kind, us in cost_since(plumbd, threads, 1).items()}
    answers = json.loads(reader.communicate()[0].splitlines()[-1])
    shares["readers"] = answers["cpu_s"]
    shares["load client"] = ledger["client_cpu_us_per_span"] * 1e-6 * ledger["acknowledged"]
    return ledger, answers, {who: cpu_s / seconds / os.cpu_count() for who, cpu_s in shares.items()}


def readers(bench):
    """The rate with 8 readers that ask without pause against none, in turns. Each begins with nothing open: else a turn
    would pay for storing what the one before it left. A growing store makes each a little slower: so without, with,
    with, without."""
    plumbd = bench.store_for("sustained")
    if plumbd.status()["store"]["spans"] == 0:
        load(plumbd, 2_000_000, "--seed", 2)
        plumbd.flush()
    turns, seconds = 8, bench.seconds(0.2) / 8
    spans = max(int(bench.rate * seconds), 300_000)
    rates, answers = {True: [], False: []}, []
    for turn in range(turns):
        plumbd.flush()
        asked = turn % 4 in (1, 2)
        if asked:
            ledger, answered, shares = beside_readers(plumbd, spans, 100 + turn)
            answers.append(answered)
        else:
            ledger = load(plumbd, spans, "--seed", 100 + turn)
        rates[asked].append(ledger["spans_per_s"])
    ratio = sum(rates[True]) / sum(rates[False])
    figures = {
        "spans/s without": spread(rates[False]),
        "spans/s with 8 readers": spread(rates[True]),
        "ratio": ratio,
        "answers per second": spread([a["answers_per_s"] for a in answers]),
    }
    pairs(f"Ingest while 8 readers ask without pause ({turns} turns of {spans:,} spans)", figures)
    table(
        "Whose the processors' time was in the last turn with readers",
        [{"who": k, "% of all processors": 100 * v} for k, v in shares.items()],
    )
    table(
        "How long the readers' questions took meanwhile, ms",
        [{"question": k, "median (least to most)": spread(v)} for k, v in answers[-1]["ms"].items()],
    )
    return {"figures": figures, "rates": {str(k): v for k, v in rates.items()}, "answers": answers, "shares": shares}


def acks(bench):
    """How long an acknowledgement takes at half of the greatest rate, and at a tenth."""
    plumbd, rows = bench.store_for("sustained"), []
    for share in (0.5, 0.1):
        rate = int(bench.rate * share)
        ledger = load(plumbd, max(rate * bench.seconds(0.04), 100_000), "--rate", rate, "--seed", int(1000 * share))
        rows.append(
            {
                "offered spans/s": rate,
                "taken spans/s": ledger["spans_per_s"],
                "p50 ms": ledger["ack_p50_ms"],
                "p99 ms": ledger["ack_p99_ms"],
                "longest ms": ledger["ack_max_ms"],
                "told to wait": ledger["try_later"],
            }
        )
    table("Acknowledgements", rows)
    return rows


def restart(bench):
    """kill -9 under full load, again and again: seconds until spans are taken, until all of the journal is taken in
    again while the load goes on, and whether any were lost or counted twice."""
    plumbd, rows, ledgers = bench.own_store("restart"), [], []
    spans = int(bench.rate * bench.seconds(0.08) / 3)
    for turn in range(3):
        client = subprocess.Popen(
            load_command(plumbd, spans, "--seed", 500 + turn), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        goal = plumbd.status()["receiver"]["spans_received"] + spans / 2
        while client.poll() is None and plumbd.status()["receiver"]["spans_received"] < goal:
            time.sleep(0.1)
        journal = plumbd.status()["receiver"]["journal_bytes"]
        plumbd.kill()
        ready_s = plumbd.start()
        recovered_s = ready_s + plumbd.wait_recovered()
        out, err = client.communicate()
        ledgers.append(ledger_of(subprocess.CompletedProcess([], client.returncode, out, err)))
        rows.append(
            {
                "turn": turn + 1,
                "journal MiB": journal / MIB,
                "seconds until ready": ready_s,
                "seconds until all is recovered": recovered_s,
                "recovered spans": plumbd.status()["receiver"]["recovered_spans"],
                "lost connections": ledgers[-1]["lost_connections"],
            }
        )
    plumbd.flush()
    table("kill -9 under full load", rows)
    account = account_after_kill(plumbd, ledgers)
    pairs("Accounted after all of them", account)
    bench.drop(plumbd)
    return {"turns": rows, "account": account}


def account_after_kill(plumbd, ledgers):
    """Repeats are counted since the last start only; the stored spans are what counts."""
    stored, sent = plumbd.status()["store"]["spans"], sum(one["spans"] for one in ledgers)
    return {"sent": sent, "stored": stored, "accounted": sent == stored}


def open_traces(bench):
    """Resident memory with a million traces open, while others come and go."""
    plumbd = bench.own_store("open")
    held_open = 1_010_000  # some of them lose all that they were to hold: 0.5 % of the spans are never sent
    others = max(int(bench.rate * bench.seconds(0.03)), 3_000_000)
    with Sampler(plumbd, 0.5) as sampler:
        # The first halves, two spans each, count as made.
        ledger = load(plumbd, others + 2 * held_open, "--open", held_open, "--hold", 3, "--seed", 4)
        plumbd.flush()
    most = max(r["open_traces"] for r in sampler.rows)
    held = [r["rss"] for r in sampler.rows if r["open_traces"] >= 1_000_000]
    figures = {
        "traces begun and held": held_open,
        "other spans meanwhile": others,
        "open traces, most": most,
        "resident MiB with a million open, most": max(held) / MIB if held else "never a million at once",
        "resident MiB, most": max(r["rss"] for r in sampler.rows) / MIB,
        **check_ledger(plumbd, [ledger]),
    }
    pairs("A million open traces", figures)
    bench.drop(plumbd)
    return {"figures": figures, "samples": sampler.rows}


def ask_often(plumbd, questions, runs):
    reader, rows = Reader(plumbd.http), []
    for name, paths in questions.items():
        times = []
        for i in range(runs):
            took, body = reader.ask(paths[i % len(paths)])
            if body is None:
                sys.exit(f"bench: {paths[0]}: too busy")
            times.append(took)
        rows.append(
            {"question": name, "first ms": times[0], "median (least to most) ms": spread(times), "bytes": len(body)}
        )
    return rows


def some_traces(plumbd, since, until):
    """A dozen from here and there, each with a path that one of its spans names."""
    found, step = [], (until - since) // 10
    for part in range(1, 10, 2):
        begin = since + part * step
        found += json.loads(
            plumbd.get(f"/api/v1/traces?since={begin}&until={begin + min(step, 60 * SECOND_NS)}&limit=8")
        )["traces"]
    found = random.Random(1).sample(found, min(len(found), 12))
    for trace in found:
        body = plumbd.get(f"/api/v1/trace?id={trace['trace']}&limit=200").decode()
        trace["paths"] = re.findall(r'"(?:path|src|dst)": ?"([^"]+)"', body)
    return found


def questions_about(plumbd, since, until):
    picked = some_traces(plumbd, since, until)
    day, hour = (
        f"since={since}&until={until}",
        f"since={since + (until - since) // 12}&until={since + (until - since) // 8}",
    )
    paths = [t["paths"][0] for t in picked if t["paths"]]
    return {
        "functions, all": [f"/api/v1/functions?{day}"],
        "functions, a part of it": [f"/api/v1/functions?{hour}"],
        "functions by host, all (100 rows)": [f"/api/v1/functions?{day}&by=host&limit=100"],
        "functions of a host, all": [f"/api/v1/functions?{day}&host={t['host']}" for t in picked],
        "forest, all": [f"/api/v1/forest?{day}"],
        "trace by id": [f"/api/v1/trace?id={t['trace']}" for t in picked],
        "traces by function, all": [
            f"/api/v1/traces?{day}&function=ClientProtocol%23{m}" for m in ("concat", "truncate", "getXAttrs")
        ],
        "traces by host, all": [f"/api/v1/traces?{day}&host={t['host']}" for t in picked],
        "traces by path, all": [f"/api/v1/traces?{day}&path={p}" for p in paths],
        "traces by a path that there is not": [f"/api/v1/traces?{day}&path=/load/none/here"],
        "traces by duration, all": [f"/api/v1/traces?{day}&min_duration={d}" for d in ("10s", "60s", "100ms")],
        "slowest traces of a part of it": [f"/api/v1/traces?{hour}&min_duration=1s&sort=duration_ns"],
        "status": ["/api/v1/status"],
    }


def day(bench):
    """A store whose spans lie over a day, and how long questions about the day take."""
    spans = bench.spans or max(int(bench.rate * bench.seconds(0.25)), 1_000_000)
    bench.need_space(spans)
    plumbd = bench.store_for("day")
    rate = spans / DAY_S
    begin = (time.time_ns() // (DAY_S * SECOND_NS) - 1) * DAY_S * SECOND_NS
    # So many spans in a batch as at full speed, though the cluster makes them more slowly.
    ledger = load(
        plumbd,
        spans,
        "--cluster-rate",
        rate,
        "--flush",
        min(1.5e6, spans / 4) / rate,
        "--late-by",
        600,
        "--begin",
        begin,
        "--seed",
        9,
        *bench.at_most(0.3),
    )
    plumbd.flush()
    plumbd.settle(bench.seconds(0.1))
    store, families = store_figures(plumbd)
    rows = ask_often(plumbd, questions_about(plumbd, begin, begin + DAY_S * SECOND_NS), 7)
    pairs(
        "A day's spans", {**store, **check_ledger(plumbd, [ledger]), "resident MiB": plumbd.memory_bytes("VmRSS") / MIB}
    )
    table("A day's spans, by family", [{"family": k, "bytes per span": v} for k, v in families.items()])
    table("Time to answer, asked over HTTP, 7 times", rows)
    return {"store": store, "families": families, "answers": rows}


def answers(bench):
    """The same questions of the store that the sustained load left."""
    plumbd = bench.store_for("sustained")
    store = plumbd.status()["store"]
    rows = ask_often(plumbd, questions_about(plumbd, store["first_time_ns"], store["last_time_ns"] + 1), 5)
    table(f"Time to answer over {store['spans']:,} spans of a few minutes, ms", rows)
    return rows


def export_bytes(plumbd):
    total = 0
    with urllib.request.urlopen(f"http://{plumbd.http}/api/v1/export", timeout=3600) as reply:
        while chunk := reply.read(MIB):
            total += len(chunk)
    return total


def knows_setting(name):
    section, key = name.split(".")
    help_text = subprocess.run([str(BUILD / "receiver/plumbd"), "--help-config"], capture_output=True, text=True).stdout
    return re.search(rf"\[{section}\](?:(?!\n\[).)*\n#{key}=", help_text, re.S) is not None


def space(bench):
    """Bytes of a smaller store: everything kept, ids dropped; times in milliseconds; JSON lines and the forest; what
    verify says."""
    spans, rows = min(max(int(bench.rate * bench.seconds(0.03)), 1_000_000), 5_000_000), []
    cases = {"everything kept": ()}
    if knows_setting("store.keep"):
        cases["ids dropped"] = ("store.keep=annotations; notes",)
    for name, settings in cases.items():
        plumbd = bench.own_store("space", *settings)
        ledger = load(plumbd, spans, "--seed", 6)
        plumbd.flush()
        plumbd.settle(60)
        begun = time.monotonic()
        verify = json.loads(plumbd.get("/api/v1/verify"))
        verify_s = time.monotonic() - begun
        forest = len(plumbd.get("/api/v1/forest?limit=0"))
        store, families = store_figures(plumbd)
        json_bytes = export_bytes(plumbd)
        rows.append(
            {
                "case": name,
                **store,
                "JSON lines, bytes per span": json_bytes / store["spans"],
                "forest, bytes of JSON": forest,
                "JSON lines / forest": json_bytes / forest,
                "verify: differences": verify["differences"],
                "verify: us per span": verify_s * 1e6 / store["spans"],
                **check_ledger(plumbd, [ledger]),
            }
        )
        table(f"By family, {name}", [{"family": k, "bytes per span": v} for k, v in families.items()])
        bench.drop(plumbd)
    for row in rows:
        pairs(f"Space: {row.pop('case')}", row)
    rows.append(captured_space(bench))
    return rows


def captured_space(bench):
    """The same for copies of the captured traces alone: no losses, repeats or late spans, so only their own shapes."""
    plumbd = bench.own_store("captured")
    kind = ("--late", 0, "--repeated", 0, "--withheld", 0, "--captured", "--hosts", 16, "--seed", 7)
    load(plumbd, 2_000_000, *kind)
    plumbd.flush()
    plumbd.settle(60)
    store, _ = store_figures(plumbd)
    json_bytes, forest = export_bytes(plumbd), len(plumbd.get("/api/v1/forest?limit=0"))
    row = {
        **store,
        "JSON lines, bytes per span": json_bytes / store["spans"],
        "forest, bytes of JSON": forest,
        "JSON lines / forest": json_bytes / forest,
    }
    pairs("Copies of the captured traces, nothing lost, late or repeated, 16 hosts", row)
    bench.drop(plumbd)
    return row


def flame(bench):
    """Where plumbd's CPU goes, by part of the program, from perf's samples of a load."""
    from bench.lib.flame import profile

    plumbd = bench.own_store("flame")
    seconds = max(bench.seconds(0.05), 10)
    client = subprocess.Popen(
        load_command(plumbd, bench.rate * seconds * 2 + 8_000_000, "--seed", 8), stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while (
        client.poll() is None
        and time.monotonic() < deadline
        and sum(plumbd.status()["receiver"]["closed_traces"].values()) < 20_000
    ):
        time.sleep(0.5)  # memory fills first; what happens to every span begins when traces are closed
    rows = profile(plumbd, seconds, bench.folder)
    client.send_signal(signal.SIGTERM)
    client.wait()
    client.stdout.close()
    table("Where the CPU goes", rows["parts"])
    table("Functions that take most", rows["symbols"])
    folded = rows.pop("folded")
    if bench.stacks:
        Path(bench.stacks).write_text("".join(f"{stack} {n}\n" for stack, n in sorted(folded.items())))
    bench.drop(plumbd)
    return rows


PARTS = {
    "sustained": sustained,
    "settled": settled,
    "answers": answers,
    "acks": acks,
    "readers": readers,
    "restart": restart,
    "open": open_traces,
    "space": space,
    "flame": flame,
    "day": day,
}


def need_space(folder, spans, bytes_per_span=50):
    free = shutil.disk_usage(folder).free
    needed = spans * bytes_per_span + 3 * 2**30
    if free < needed:
        sys.exit(
            f"bench: {folder}: {free / 2**30:.0f} GiB are free, {needed / 2**30:.0f} GiB are needed for {spans:,} "
            "spans; give another --folder, or less --spans or --minutes"
        )


class Bench:
    def __init__(self, folder, args):
        self.folder, self.minutes, self.spans, self.stacks = Path(folder), args.minutes, args.spans, args.stacks
        self.rate = 0
        self.running = {}

    def at_most(self, share):
        """So that a load keeps to the time, whatever the first one promised; asked for, its number of spans counts."""
        return () if self.spans else ("--seconds", self.seconds(share))

    def seconds(self, share):
        return self.minutes * 60 * share

    def need_space(self, spans):
        need_space(self.folder, spans)

    def own_store(self, name, *settings):
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        self.running[name] = Plumbd(folder, *settings)
        return self.running[name]

    def store_for(self, name):
        """The store that several parts use, one such at a time: the others are removed first, to make room."""
        if name not in self.running:
            for other in list(self.running.values()):
                self.drop(other)
            self.own_store(name)
        return self.running[name]

    def drop(self, plumbd):
        plumbd.kill()
        shutil.rmtree(plumbd.folder, ignore_errors=True)
        self.running = {name: one for name, one in self.running.items() if one is not plumbd}

    def calibrate(self):
        """Until all is stored: the first million only fill memory."""
        plumbd, begun = self.own_store("calibrate"), time.monotonic()
        ledger = load(plumbd, 3_000_000, "--seed", 3)
        plumbd.flush()
        self.rate = ledger["spans"] / (time.monotonic() - begun)
        self.drop(plumbd)
