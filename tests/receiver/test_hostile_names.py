"""A peer that puts ids into names: the dictionary does not fill up, nothing of others is refused, and all is said."""

import pytest

from tests.receiver.sender import OK, Sender, span
from tests.receiver.waiting import wait_for

HOSTILE, GOOD = "127.0.0.66", "127.0.0.1"


def send_names(plumbd, names, first_span=1, source=HOSTILE, **more):
    """Each in a span of its own, a thousand a batch."""
    with Sender(plumbd, source=source) as sender:
        for at in range(0, len(names), 1000):
            part = names[at : at + 1000]
            spans = [span(7, first_span + at + k, name=k, tracer=len(part), **more) for k in range(len(part))]
            assert sender.deliver(spans, strings=(*part, f"Client/{source}/7")).status == OK


def functions(plumbd):
    plumbd.flush()
    return {row["function"]: row["calls"] for row in plumbd.ask("functions?limit=0")["functions"]}


@pytest.fixture
def limited(make_plumbd):
    return make_plumbd(naming__per_peer="100", naming__limit="10000").start()


def test_numbers_in_too_many_names_are_folded(limited):
    send_names(limited, [f"read {n} of file" for n in range(1000)])
    assert functions(limited) == {**{f"read {n} of file": 1 for n in range(100)}, "read # of file": 900}
    assert limited.receiver()["names"]["folded"] == 900
    assert f"{HOSTILE} has sent 100 new names" in limited.messages()


def test_names_without_numbers_are_others(limited):
    letters = str.maketrans("0123456789", "klmnopqrst")
    send_names(limited, [f"op {n}".translate(letters) for n in range(1000)])
    found = functions(limited)
    assert len(found) == 101 and found["(other)"] == 900


def test_what_was_sent_is_in_the_span(limited):
    send_names(limited, [f"op {n}" for n in range(150)])
    limited.flush()
    spans = {line["a"][-16:]: line for line in limited.export()}
    last = spans[f"{150:016x}"]
    assert last["d"] == "op #" and last["n"]["(name)"] == "op 149"
    assert spans[f"{100:016x}"]["d"] == "op 99"


def test_keys_are_names_too(limited):
    keys = tuple(f"key {n}" for n in range(500))
    with Sender(limited, source=HOSTILE) as sender:
        spans = [span(7, k + 1, name=500, tracer=501, annotations=[(k, "v")]) for k in range(500)]
        assert sender.deliver(spans, strings=(*keys, "op", "Client/h/1")).accepted == 500
    limited.flush()
    found = {key for line in limited.export() for key in line["n"]}
    # The name of the function counts as well.
    assert found == {*keys[:99], "key #"}


def test_others_go_on(limited):
    """New names of a good peer, and all that are known, stay as they are, while the other sends ever new ones."""
    send_names(limited, [f"bad {n} name" for n in range(2000)])
    send_names(limited, [f"good {n}" for n in range(80)], first_span=10_001, source=GOOD)
    send_names(limited, ["good 5"], first_span=20_001)
    found = functions(limited)
    assert [found[f"good {n}"] for n in range(80)] == [1] * 5 + [2] + [1] * 74


def test_limit_of_all(make_plumbd):
    plumbd = make_plumbd(naming__per_peer="100", naming__limit="150").start()
    for peer in range(1, 5):
        send_names(plumbd, [f"op {peer} {n}" for n in range(100)], peer * 1000, source=f"127.0.0.{peer + 10}")
    assert len(functions(plumbd)) == 151


def test_after_a_crash_names_are_folded_again(limited):
    """What the journal has is not taken in as so many names."""
    send_names(limited, [f"read {n}" for n in range(1000)])
    limited.kill()
    limited.start().wait_recovered()
    assert sum(functions(limited).values()) == 1000
    assert len(functions(limited)) <= 201


def test_how_full_it_is(limited):
    send_names(limited, ["a", "b", "c"])
    names = limited.receiver()["names"]
    assert names["entries"] >= 3 and 0 < names["full"] < 0.01 and names["refused"] == 0
    metrics = limited.metrics()
    assert metrics["plumbd_names"] == names["entries"] and metrics["plumbd_names_limit"] == names["limit"]
    wait_for(lambda: limited.fetch("/readyz")[0] == 200)
