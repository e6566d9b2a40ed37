"""Every span is accounted for, for each process that sent, and the sums agree."""

import random
import threading

from tests.receiver.sender import OK, Sender, span
from tests.receiver.waiting import wait_for

BEGIN = 1_700_000_000_000_000_000
PARTS = ("stored", "open", "waiting", "repeated", "thinned", "expired", "set_aside")


def rows(plumbd):
    return {row["sender"]: row for row in plumbd.ask("senders")["senders"]}


def check_sums(account):
    assert account["received"] == sum(account.get(part, 0) for part in PARTS), account


def accounts(plumbd):
    account = plumbd.receiver()["accounting"]
    assert account["agree"] is True
    check_sums(account)
    return account


def tracer(number):
    return ("op", f"DataNode/10.0.0.{number}/4{number}")


def test_sums_under_load(make_plumbd):
    """Four processes send traces in pieces, late, twice and with mistakes; the books say where each span went."""
    plumbd = make_plumbd(trace__idle="5ms", memory__limit="4M", receiver__shards="2").start()
    sent = [0] * 5
    repeated = [0] * 5
    refused = [0] * 5

    def send(number):
        chance = random.Random(number)
        with Sender(plumbd) as sender:
            for n in range(1, 151):
                spans = [span(number << 32 | n, k, parent=None if k == 1 else 1) for k in range(1, 21)]
                chance.shuffle(spans)
                again = chance.randrange(5)
                batch = spans[:10] + spans[:again] + [span(0, 0)]
                said = (f"DataNode/10.0.0.{number}/4{number}@17", 2 * n, sent[number], 3, {"queue full": n})
                for part in (batch, spans[10:]):
                    reply = sender.deliver(part, strings=tracer(number), sender=said)
                    sent[number] += reply.accepted
                refused[number] += 1
                repeated[number] += again

    threads = [threading.Thread(target=send, args=(n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert plumbd.receiver()["accounting"]["agree"] is True
    plumbd.flush()
    account = accounts(plumbd)
    assert account["settled"] is True
    assert (account["received"], account["repeated"], account["open"]) == (sum(sent), sum(repeated), 0)
    assert account["stored"] == plumbd.stored()["spans"] == 4 * 150 * 20
    assert account["refused"] == sum(refused)
    for number in range(1, 5):
        row = rows(plumbd)[f"DataNode/10.0.0.{number}/4{number}"]
        check_sums(row)
        assert (row["received"], row["received_since_start"]) == (sent[number], sent[number])
        assert (row["stored"], row["repeated"], row["open"]) == (3000, repeated[number], 0)
        assert row["refused"] == {"zero id": 150}
        assert row["drops"] == {"queue full": 150}
    assert plumbd.ask("verify")["differences"] == 0
    metrics = plumbd.metrics()
    assert metrics["plumbd_accounts_agree"] == 1
    assert metrics['plumbd_account_spans{state="stored"}'] == 12_000


def test_open_spans_are_of_their_process(make_plumbd):
    plumbd = make_plumbd(trace__idle="1h", trace__max_age="1h").start()
    with Sender(plumbd) as sender:
        assert sender.submit([span(1, k) for k in range(1, 8)], strings=tracer(1)).status == OK
        assert sender.submit([span(1, k) for k in range(8, 10)], strings=tracer(2)).status == OK
    account = accounts(plumbd)
    assert (account["open"], account["stored"]) == (9, 0)
    assert [rows(plumbd)[tracer(n)[1]]["open"] for n in (1, 2)] == [7, 2]


def test_several_tracers_of_a_process_are_one_row(make_plumbd):
    plumbd = make_plumbd().start()
    with Sender(plumbd) as sender:
        said = ("DataNode/10.0.0.1/41@99", 1, 5, 0, {})
        names = ("op", "DataNode/10.0.0.1/41", "FSClient/10.0.0.1/41")
        assert (
            sender.submit([span(7, 1), span(7, 2, tracer=2), span(7, 3, tracer=2)], strings=names, sender=said).status
            == OK
        )
    plumbd.flush()
    (row,) = plumbd.ask("senders")["senders"]
    assert (row["sent"], row["received"], row["stored"]) == (5, 3, 3)


def test_books_survive(make_plumbd):
    """A crash neither loses nor doubles: what the journal gives again is not taken for a sender's repeat."""
    plumbd = make_plumbd(trace__idle="10ms", trace__max_age="1h", receiver__shards="1").start()
    with Sender(plumbd) as sender:
        # Stays open, without a root: so the journal keeps what is stored of the others, too.
        sender.submit([span(1000, k, parent=99) for k in range(1, 11)], strings=tracer(1))
        for trace in range(1, 51):
            sender.submit([span(trace, k) for k in range(1, 11)] + [span(trace, 1)], strings=tracer(1))
    wait_for(lambda: plumbd.receiver()["accounting"]["open"] == 10)
    before = accounts(plumbd)
    assert (before["received"], before["stored"], before["repeated"], before["open"]) == (560, 500, 50, 10)
    plumbd.kill()
    plumbd.start()
    plumbd.flush()
    after = accounts(plumbd)
    assert (after["received"], after["stored"], after["repeated"], after["open"]) == (560, 510, 50, 0)
    assert after["replayed"] in (0, 550)  # as far as the store had written out what it had in memory
    assert plumbd.stop() == 0
    plumbd.start()
    again = accounts(plumbd)
    assert (again["received"], again["stored"], again["repeated"], again["replayed"]) == (560, 510, 50, 0)
    assert plumbd.ask("verify")["differences"] == 0
