"""What is past its age goes; when space runs short frequent traces are thinned out; space comes back, and nothing that
matters goes."""

import json
import os
import re
import subprocess

import pytest

from tests.receiver.sender import OK, TRY_LATER, Sender, span
from tests.receiver.test_accounting import accounts, rows, wait_for
from tests.receiver.test_pressure import fill, small_disk  # noqa: F401 (a fixture)

NS = 10**9
HOUR = 3600 * NS
BEGIN = 1_700_000_000_000_000_000 // HOUR * HOUR
MIB = 2**20
LATER = ("10/s", "5/s", "2/s", "1/s")  # what a sender is told that did not ask for long
NAMES = ("frequent", "Client/10.0.0.1/7", "rare", "child")


def trace(number, name, begin, duration=1_000_000, parent=1, annotation=None):
    more = {"annotations": [(3, annotation)]} if annotation else {}
    return [
        span(number, 1, name=name, begin=begin, duration=duration),
        span(number, 2, name=3, begin=begin + 1000, duration=1000, parent=parent, **more),
    ]


def send_hour(plumbd, hour, frequent=400, annotation=None):
    """400 frequent traces, 3 slow ones, 4 rare ones, 5 that lack a span."""
    begin = BEGIN + hour * HOUR
    first = (hour + 1) << 32
    traces = [trace(first + n, 0, begin + n * 1000, annotation=annotation and annotation(n)) for n in range(frequent)]
    traces += [trace(first + 100_000 + n, 0, begin + n, duration=5 * NS) for n in range(3)]
    traces += [trace(first + 200_000 + n, 2, begin + n) for n in range(4)]
    traces += [trace(first + 300_000 + n, 0, begin + n, parent=99) for n in range(5)]
    with Sender(plumbd) as sender:
        for at in range(0, len(traces), 100):
            batch = [s for t in traces[at : at + 100] for s in t]
            assert sender.deliver(batch, strings=NAMES).status == OK
    return len(traces) * 2


def kept(plumbd, **asked):
    question = "&".join(f"{name}={value}" for name, value in asked.items())
    return plumbd.ask(f"traces?limit=0&{question}")["traces"]


def calls(plumbd):
    return sum(row["calls"] for row in plumbd.ask("functions")["functions"])


def test_traces_go_at_their_age(make_plumbd):
    plumbd = make_plumbd(retention__traces="3h", trace__idle="10ms").start()
    sent = sum(send_hour(plumbd, hour, frequent=20) for hour in range(6))
    plumbd.flush()
    wait_for(lambda: plumbd.receiver()["accounting"]["expired"] > 0)
    wait_for(lambda: kept(plumbd, until=str(BEGIN + 2 * HOUR)) == [])
    assert len(kept(plumbd)) == 4 * 32 or len(kept(plumbd)) == 3 * 32
    # Of a host whose traces are gone statistics stay: who asks for it by an old address is told that there is nothing.
    assert kept(plumbd, until=str(BEGIN + 2 * HOUR), host="10.0.0.1") == []
    assert plumbd.fetch("/api/v1/traces?host=10.0.0.9")[0] == 404
    account = accounts(plumbd)
    assert account["expired"] + account["stored"] == sent == account["received"]
    assert calls(plumbd) == sent
    assert plumbd.ask("verify")["differences"] == 0
    (row,) = plumbd.ask("senders")["senders"]
    assert (row["expired"], row["stored"]) == (account["expired"], account["stored"])
    plumbd.kill()
    plumbd.start()
    again = accounts(plumbd)
    assert (again["expired"], again["stored"]) == (account["expired"], account["stored"])


def test_what_is_gone_stays_gone_after_a_crash(make_plumbd, plumb_program):
    """The journal still holds all of it, since a trace of its first segment is open: removed traces are neither stored
    nor counted again by a replay, once their removal is in the store's files."""
    plumbd = make_plumbd(retention__traces="3h", trace__idle="10ms", trace__max_age="1h").start()
    with Sender(plumbd) as sender:
        assert sender.deliver([span(0xAAAA, 2, parent=1, begin=BEGIN + 9 * HOUR)], strings=NAMES).status == OK
    old = sum(send_hour(plumbd, hour, frequent=20) for hour in range(3))
    young = send_hour(plumbd, 9, frequent=20)
    wait_for(
        lambda: (at := plumbd.receiver()["accounting"])["expired"] == old and at["stored"] == young and at["settled"]
    )
    account = accounts(plumbd)

    def in_files():
        status = subprocess.run(
            [plumb_program, "--store", plumbd.store, "status", "--json"], capture_output=True, text=True
        )
        return json.loads(status.stdout)["store"]["spans"] if status.returncode == 0 else 0

    wait_for(lambda: in_files() == account["stored"])
    for _ in range(2):
        plumbd.kill()
        assert list(plumbd.journal.glob("plumb-*.journal"))
        plumbd.start().wait_recovered()
        wait_for(lambda: plumbd.receiver()["accounting"].get("replayed", 0) == old + young)
        assert accounts(plumbd) | {"replayed": 0} == account | {"replayed": 0}
    assert kept(plumbd, until=str(BEGIN + 3 * HOUR)) == []
    assert plumbd.flush() == 1
    assert accounts(plumbd)["stored"] == account["stored"] + 1
    assert plumbd.ask("verify")["differences"] == 0


def test_ages_change_with_a_reload(make_plumbd, tmp_path):
    config = tmp_path / "plumbd.conf"
    config.write_text("[retention]\ntraces = 0\n")
    plumbd = make_plumbd(trace__idle="10ms")
    plumbd.arguments = ["--config", str(config)]
    plumbd.start()
    for hour in range(4):
        send_hour(plumbd, hour, frequent=5)
    plumbd.flush()
    assert len(kept(plumbd)) == 4 * 17
    config.write_text("[retention]\ntraces = 1h\n")
    plumbd.signal(1)
    wait_for(lambda: len(kept(plumbd)) < 3 * 17)
    assert plumbd.ask("verify")["differences"] == 0


def test_thinned_out_when_space_is_short(make_plumbd, small_disk):  # noqa: F811
    """A disk fills with traces that do not compress. Space comes back; rare, slow and incomplete ones are all there."""
    disk = small_disk("small", "160M")
    plumbd = make_plumbd(
        store__path=disk / "store",
        store__write_buffer="1M",
        store__warn_free="155M",
        store__thin_free="100M",
        retention__keep="10",
        retention__whole="0",
        trace__idle="10ms",
    ).start()
    sent, hour = 0, 0
    noise = lambda n: os.urandom(3000).hex()  # noqa: E731
    while (space := plumbd.receiver()["space"])["level"] != "thinning":
        sent += send_hour(plumbd, hour, frequent=2000, annotation=noise)
        plumbd.flush()
        hour += 1
        assert hour < 40
    # One more, so that the last of them is over.
    sent += send_hour(plumbd, hour + 2, frequent=1)
    plumbd.flush()

    def left_the_level():
        nonlocal space
        space = plumbd.receiver()["space"]
        return space["level"] != "thinning"

    wait_for(left_the_level)
    # It left the level when a tenth more than the mark was free: that came from what was removed, since more was sent.
    assert space["free_bytes"] >= 110 * MIB
    account = accounts(plumbd)
    assert account["thinned"] > 0
    assert account["stored"] + account["thinned"] == sent
    assert calls(plumbd) == sent
    assert len(kept(plumbd, function="rare")) == 4 * (hour + 1)
    assert len(kept(plumbd, incomplete="true")) == 5 * (hour + 1)
    assert len(kept(plumbd, min_duration="4s")) == 3 * (hour + 1)
    patterns = plumbd.ask("forest?limit=0")["patterns"]
    assert any("stored_traces" in pattern for pattern in patterns)
    for pattern in patterns:
        assert pattern.get("stored_traces", pattern["traces"]) == len(kept(plumbd, pattern=pattern["pattern"]))
    assert plumbd.ask("verify")["differences"] == 0
    assert rows(plumbd)["Client/10.0.0.1/7"]["thinned"] == account["thinned"]
    messages = plumbd.messages()
    assert "store.warn-free" in messages and "thinned out" in messages
    # All of it survives.
    assert plumbd.stop() == 0
    plumbd.start()
    again = accounts(plumbd)
    assert (again["thinned"], again["stored"]) == (account["thinned"], account["stored"])
    assert plumbd.ask("verify")["differences"] == 0


def test_tidied_up_when_nothing_more_comes(make_plumbd):
    """What several flushes have left of the same minutes and functions is merged once it is quiet, long before there is
    enough of it to be merged under load."""
    plumbd = make_plumbd(trace__idle="10ms").start()
    tables = lambda: len(list((plumbd.folder / "store").glob("*.sst")))  # noqa: E731
    for hour in range(6):
        send_hour(plumbd, hour, frequent=50)
        plumbd.flush()
    before = tables()
    wait_for(lambda: tables() <= before - 8, 60)
    assert plumbd.ask("verify")["differences"] == 0


def test_killed_while_thinning(make_plumbd, small_disk):  # noqa: F811
    """Groups go whole or not at all: the books and the numbers still agree."""
    disk = small_disk("small", "160M")
    plumbd = make_plumbd(
        store__path=disk / "store",
        store__write_buffer="1M",
        store__thin_free="0",
        retention__keep="3",
        retention__whole="0",
        trace__idle="10ms",
    ).start()
    sent = sum(send_hour(plumbd, hour, frequent=3000) for hour in range(5))
    plumbd.flush()
    plumbd.stop()
    plumbd.settings["store.thin-free"] = "159M"
    for _ in range(5):
        plumbd.start()
        before = plumbd.receiver()["accounting"]["thinned"]
        wait_for(lambda before=before: plumbd.receiver()["accounting"]["thinned"] > before)
        plumbd.kill()
    plumbd.settings["store.thin-free"] = "0"
    plumbd.start()
    account = accounts(plumbd)
    assert account["stored"] + account["thinned"] == sent
    assert plumbd.ask("verify")["differences"] == 0
    plumbd.stop()
    plumbd.settings["store.thin-free"] = "159M"
    plumbd.start()
    wait_for(lambda: plumbd.receiver()["accounting"]["thinned"] > 0)
    account = accounts(plumbd)
    assert account["thinned"] > 0
    assert account["stored"] + account["thinned"] == sent
    assert plumbd.ask("verify")["differences"] == 0


def test_levels_are_seen(make_plumbd, small_disk):  # noqa: F811
    disk = small_disk("small", "64M")
    plumbd = make_plumbd(
        store__path=disk / "store", store__warn_free="40M", store__thin_free="20M", store__write_buffer="1M"
    ).start()
    wait_for(lambda: plumbd.receiver()["space"].get("free_bytes", 0) > 40 * MIB)
    assert plumbd.receiver()["space"]["level"] == "fine"
    ballast = disk / "ballast"
    ballast.write_bytes(b"\0" * (30 * MIB))
    wait_for(lambda: plumbd.receiver()["space"]["level"] == "low")
    assert plumbd.metrics()["plumbd_space_low"] == 1
    assert plumbd.metrics()["plumbd_space_thinning"] == 0
    ballast.write_bytes(b"\0" * (50 * MIB))
    wait_for(lambda: plumbd.receiver()["space"]["level"] == "thinning")
    assert plumbd.metrics()["plumbd_space_thinning"] == 1
    with Sender(plumbd) as sender:
        assert sender.submit([span(1, 1)]).status == OK  # only store.min-free refuses
    ballast.unlink()
    wait_for(lambda: plumbd.receiver()["space"]["level"] == "fine")
    assert re.search(r"enough again", plumbd.messages())


@pytest.mark.parametrize("settings", [{"senders__rate": "1"}, {"store__thin_free": "1T"}], ids=["rate", "space"])
def test_senders_are_told_to_send_less(make_plumbd, settings):
    plumbd = make_plumbd(senders__sampling="auto", **settings).start()
    with Sender(plumbd) as sender:
        told = sender.submit([span(1, n) for n in range(1, 100)]).sampling
        assert told in ("always", "50/s")
        number = 100

        def tell():
            nonlocal number
            number += 100
            reply = sender.submit([span(1, number + n) for n in range(100)])
            assert reply.status in (OK, TRY_LATER)
            return reply.sampling

        wait_for(lambda: tell() in ("20/s", *LATER))
    assert plumbd.receiver()["sampling"] in ("20/s", *LATER)
    assert "senders are told to trace 20/s" in plumbd.messages()


def test_senders_are_told_everything(make_plumbd):
    plumbd = make_plumbd(senders__sampling="auto", store__thin_free="0").start()
    with Sender(plumbd) as sender:
        assert sender.submit([span(1, 1)]).sampling == "always"
