"""Where plumbd listens: not to other hosts by accident."""

import pytest

OPEN = ["0.0.0.0:0", "[::]:0"]
LOOPBACK = ["127.0.0.1:0", "127.9.9.9:0", "[::1]:0", "localhost:0", "[::ffff:127.0.0.1]:0"]


def refused(plumbd):
    plumbd.spawn()
    assert plumbd.process.stdout.read() == ""
    assert plumbd.wait() == 1
    return plumbd.messages()


@pytest.mark.parametrize("address", OPEN)
@pytest.mark.parametrize("key", ["listen.thrift", "listen.http"])
def test_open_to_others_is_refused(make_plumbd, key, address):
    plumbd = make_plumbd()
    plumbd.settings[key] = address
    messages = refused(plumbd)
    assert f"{key}: other hosts reach " in messages and "listen.insecure = yes" in messages
    assert not plumbd.store.exists() and not plumbd.journal.exists()


@pytest.mark.parametrize("address", LOOPBACK)
def test_loopback_needs_nothing(make_plumbd, address):
    plumbd = make_plumbd(listen__thrift=address).spawn()
    assert plumbd.process.stdout.readline().startswith("plumbd ready ")
    assert ", this machine only, no TLS, no login\n" in plumbd.messages()


def test_insecure_is_said(make_plumbd):
    plumbd = make_plumbd(listen__thrift="0.0.0.0:0", listen__insecure="yes").start()
    assert "0.0.0.0:" in plumbd.messages() and "INSECURE: open to other hosts" in plumbd.messages()
    thrift, http = plumbd.receiver()["ports"]
    assert (thrift["port"], thrift["insecure"], thrift["loopback"], thrift["logins"]) == ("thrift", True, False, [])
    assert (http["port"], http["insecure"], http["loopback"], http["address"]) == ("http", False, True, plumbd.http)
