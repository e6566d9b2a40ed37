"""The journal is replayed while spans are taken: whatever comes, ends or is asked for meanwhile, each span is there
once.

The journal that all tests begin with is made once. So that its replay takes a while, the plumbd of a test has one shard
with a short queue."""

import json
import random
import shutil
import socket
import subprocess
import threading
import time

import pytest

from tests.conftest import ROOT, Plumbd
from tests.receiver.sender import OK, Sender, span
from tests.receiver.test_crash import flip, trace_spans
from tests.receiver.waiting import wait_for

BULK = 400_000
HALVES = 40  # traces of which only the first half came before the crash
OPEN = {"trace__idle": "1h", "trace__max_age": "1h", "journal__segment": "1M", "retention__traces": "0"}


def load_bulk(plumbd, build_dir, spans=BULK):
    """How many spans it sent."""
    load = [
        str(build_dir / "bench/bench_load"),
        "--model",
        str(ROOT / "bench/model/hdfs-3.3.1.jsonl"),
        "--nanoseconds",
        "--thrift",
        f"{plumbd.thrift[0]}:{plumbd.thrift[1]}",
        "--spans",
        str(spans),
        "--hosts",
        "40",
        "--repeated",
        "0",
    ]
    done = subprocess.run(load, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["spans"]


@pytest.fixture(scope="module")
def crashed(plumbd_program, build_dir, tmp_path_factory):
    """The folder of a plumbd that was killed while nearly all was in its journal only, and how many spans it had."""
    plumbd = Plumbd(plumbd_program, tmp_path_factory.mktemp("crashed"), **OPEN).start()
    spans = load_bulk(plumbd, build_dir)
    with Sender(plumbd) as sender:
        for trace in range(1, HALVES + 1):
            assert sender.deliver(trace_spans(trace, 100)).accepted == 100
    plumbd.kill()
    assert len(list(plumbd.journal.glob("plumb-*.journal"))) > 5
    return plumbd.folder, spans + 100 * HALVES


@pytest.fixture
def slow(make_plumbd, crashed, tmp_path):
    """A plumbd that is to recover all that, not started."""
    folder, spans = crashed
    shutil.copytree(folder, tmp_path / "slow")
    plumbd = make_plumbd(folder=tmp_path / "slow", receiver__shards="1", receiver__queue_limit="64K", **OPEN)
    plumbd.spans = spans
    return plumbd


def assert_all_once(plumbd, spans):
    plumbd.flush()
    receiver = plumbd.receiver()
    assert "recovering" not in receiver and receiver["open_spans"] == 0
    account = receiver["accounting"]
    assert account["agree"] is True and account["settled"] is True
    assert plumbd.stored()["spans"] == account["stored"] == spans
    assert account["received"] == spans + account["repeated"]
    assert plumbd.ask("verify")["differences"] == 0


def spans_of(plumbd, trace):
    return len(plumbd.ask(f"trace?id={trace:016x}&limit=0")["spans"])


def test_ready_before_all_is_recovered(slow):
    slow.start()
    before = slow.receiver()
    assert 0 <= before["recovering"] < 1
    assert slow.fetch("/readyz")[0] == slow.fetch("/healthz")[0] == 200
    assert slow.metrics()["plumbd_recovery_share"] < 1
    with Sender(slow) as sender:
        assert sender.submit(trace_spans(0x7777, 10)).status == OK
    wait_for(lambda: slow.receiver().get("recovering", 1) > before["recovering"])
    slow.wait_recovered()
    assert slow.metrics()["plumbd_recovery_share"] == 1
    assert slow.receiver()["recovered_spans"] == slow.spans
    assert "new spans are taken meanwhile" in slow.messages() and f"recovered {slow.spans} spans" in slow.messages()
    assert_all_once(slow, slow.spans + 10)
    assert slow.stop() == 0
    assert not list(slow.journal.glob("*.journal"))


def test_traces_that_go_on_are_one(slow):
    """Half of a trace is still in the journal when the other half comes; some are stored in between; some spans come
    again."""
    slow.start()
    with Sender(slow) as sender:
        for trace in range(1, HALVES + 1):
            assert sender.deliver(trace_spans(trace, 110, 91)).accepted == 110
            if trace % 4 == 0:
                assert spans_of(slow, trace) >= 110
        assert slow.recovering()
        assert slow.receiver()["accounting"]["agree"] is True
        slow.wait_recovered()
        for trace in range(1, HALVES + 1, 3):
            assert sender.deliver(trace_spans(trace, 20, 195)).accepted == 20
    slow.flush()
    for trace in range(1, HALVES + 1):
        assert spans_of(slow, trace) == (214 if trace % 3 == 1 else 200)
    stored = slow.stored()
    assert stored["spans"] == slow.spans + HALVES * 100 + 14 * 14
    assert slow.ask("verify")["differences"] == 0
    assert slow.receiver()["accounting"]["agree"] is True


def test_killed_again_and_again(slow):
    """A replay of a replay, at other places each time, with new spans between."""
    chance = random.Random(5)
    more = 0
    for turn in range(6):
        slow.start()
        with Sender(slow) as sender:
            more += sender.deliver(trace_spans(0x5000 + turn // 2, 50, 50 * turn + 1)).accepted
        until = chance.uniform(0, 0.9)
        wait_for(lambda until=until: slow.receiver().get("recovering", 1) >= until)
        assert slow.receiver()["accounting"]["agree"] is True
        slow.kill()
    slow.settings["receiver.queue-limit"] = "12M"
    slow.start()
    assert_all_once(slow, slow.spans + more)


def test_a_flush_waits_for_all(slow):
    """Also several of them; questions are answered meanwhile."""
    slow.start()
    flushed = [threading.Thread(target=slow.flush) for _ in range(4)]
    for thread in flushed:
        thread.start()
    asked = 0
    while slow.recovering():
        assert all(thread.is_alive() for thread in flushed) or not slow.recovering()
        asked += 1
    assert asked > 0
    for thread in flushed:
        thread.join()
    assert slow.receiver()["open_spans"] == 0
    assert_all_once(slow, slow.spans)


def ask_for_a_flush(plumbd):
    """A connection that has asked, and hears nothing before the replay is over."""
    host, port = plumbd.http.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)))
    connection.sendall(b"POST /api/v1/flush HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
    return connection


def test_flushes_that_wait_leave_room_for_questions(slow):
    """However many have gone away, or still listen: one place for all."""
    slow.settings["http.queue"] = "2"
    slow.start()
    for _ in range(20):
        ask_for_a_flush(slow).close()
    waiting = [ask_for_a_flush(slow) for _ in range(20)]
    assert slow.fetch("/api/v1/status")[0] == 200
    assert slow.recovering()
    slow.wait_recovered()
    for connection in waiting:
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        connection.close()
    assert slow.metrics()["plumbd_http_refused_total"] == 0
    assert_all_once(slow, slow.spans)


# Short of space, there is so much to replay that it is not over when what is to go is first looked for, a quarter of a
# second after the start.
@pytest.mark.parametrize(
    "thin_free, bulk, waits", [("0", BULK, True), ("1T", 5 * BULK, False)], ids=["room", "space is short"]
)
def test_what_is_past_its_age_makes_room_beside_a_replay(make_plumbd, build_dir, thin_free, bulk, waits):
    plumbd = make_plumbd(receiver__shards="1", **OPEN).start()
    with Sender(plumbd) as sender:
        for trace in range(1, 21):
            assert sender.deliver(trace_spans(trace, 10)).status == OK
        assert sender.deliver([span(0x7777, 1, begin=time.time_ns())]).status == OK
    plumbd.flush()
    spans = load_bulk(plumbd, build_dir, bulk)
    plumbd.kill()
    plumbd.settings |= {"receiver.queue-limit": "64K", "retention.traces": "1h", "store.thin-free": thin_free}
    plumbd.start()
    wait_for(lambda: plumbd.receiver()["accounting"]["expired"] == 200 or not plumbd.recovering())
    assert plumbd.recovering() is not waits
    plumbd.wait_recovered()
    plumbd.flush()
    wait_for(lambda: plumbd.receiver()["accounting"]["expired"] == 200)
    account = plumbd.receiver()["accounting"]
    assert account["agree"] is True
    assert account["stored"] + account["thinned"] == spans + 1
    assert plumbd.ask("verify")["differences"] == 0


def flush_in_vain(plumbd):
    """One that the stop comes before: it is answered so, or not at all."""
    try:
        assert plumbd.fetch("/api/v1/flush", "POST")[0] == 503
    except OSError:
        pass


def test_stopped_in_the_midst(slow):
    """What was not replayed stays in the journal, and the stop says how much that is."""
    slow.start()
    flush = threading.Thread(target=flush_in_vain, args=(slow,))
    flush.start()
    with Sender(slow) as sender:
        assert sender.deliver(trace_spans(0x7777, 10)).accepted == 10
    wait_for(lambda: slow.receiver().get("recovering", 1) > 0.2)
    assert slow.recovering()
    assert slow.stop() == 0
    flush.join()
    assert "not all is stored: 0 open traces" in slow.messages()
    assert list(slow.journal.glob("plumb-*.journal"))
    slow.start()
    assert_all_once(slow, slow.spans + 10)


def test_damage_is_found_while_spans_are_taken(slow):
    victim = sorted(slow.journal.glob("plumb-*.journal"))[-2]
    victim.write_bytes(flip(200)(victim.read_bytes()))
    slow.start()
    with Sender(slow) as sender:
        assert sender.submit(trace_spans(0x7777, 10)).status == OK
    assert slow.receiver()["journal_damages"] == 0
    slow.wait_recovered()
    assert slow.receiver()["journal_damages"] == 1
    assert victim.name in slow.messages()
    slow.flush()
    account = slow.receiver()["accounting"]
    assert slow.spans - 5000 < account["stored"] < slow.spans + 10 and account["agree"] is True
    assert spans_of(slow, 0x7777) == 10
    assert slow.stop() == 0
    assert [path.name for path in slow.journal.iterdir() if path.name != "LOCK"] == [victim.name + ".damaged"]


def test_journal_shrinks_meanwhile(slow):
    """What is stored of the recovered part goes before the rest is recovered."""
    first = sorted(slow.journal.glob("plumb-*.journal"))[0]
    slow.settings["trace.idle"] = slow.settings["trace.max-age"] = "1ms"
    slow.start()
    wait_for(lambda: not first.exists())
    assert slow.receiver()["accounting"]["agree"] is True
    assert_all_once(slow, slow.spans)


# ---- a stop without time ----


@pytest.mark.parametrize("ack", ["journal", "fsync"])
def test_stop_without_time_leaves_it_to_the_journal(make_plumbd, ack):
    plumbd = make_plumbd(journal__ack=ack, stop__timeout="0", **OPEN).start()
    with Sender(plumbd) as sender:
        for trace in range(1, 21):
            assert sender.deliver(trace_spans(trace, 100)).accepted == 100
    wait_for(lambda: plumbd.receiver()["open_spans"] == 2000)
    assert plumbd.stop() == 0
    assert "not all is stored: 20 open traces with 2000 spans" in plumbd.messages()
    plumbd.settings["stop.timeout"] = "60s"
    plumbd.start()
    assert_all_once(plumbd, 2000)
    assert plumbd.receiver()["recovered_spans"] == 2000
    assert plumbd.stop() == 0
    plumbd.start()
    assert plumbd.receiver()["recovered_spans"] == 0 and plumbd.stored()["spans"] == 2000


def test_stop_without_time_and_without_journal_stores_all(make_plumbd):
    plumbd = make_plumbd(journal__ack="memory", stop__timeout="0", **OPEN).start()
    with Sender(plumbd) as sender:
        for trace in range(1, 21):
            assert sender.deliver(trace_spans(trace, 100)).accepted == 100
    assert plumbd.stop() == 0
    plumbd.start()
    assert_all_once(plumbd, 2000)
