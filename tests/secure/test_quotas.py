"""Quotas and limits: a greedy or hostile peer is held back, and a good one beside it is served."""

import contextlib
import http.client
import json
import os
import signal
import socket
import ssl
import time
from pathlib import Path

import pytest

from tests.receiver.sender import OK, TRY_LATER, Sender, span
from tests.receiver.waiting import wait_for
from tests.secure.conftest import SecureSender, ask, receiver, trusting
from tests.secure.test_tokens import ROLES, bearer, line, login, token_of, write_tokens

HOSTILE, GOOD = "127.0.0.66", "127.0.0.1"


@pytest.fixture
def locked(secure, authority, tmp_path):
    """locked(**settings): who has no token may do nothing."""
    tokens = write_tokens(tmp_path / "tokens", *(line(f"a-{role}", role, token_of(role)) for role in ROLES))

    def start(**settings):
        access = {f"access__{role}": "cert:nobody" for role in ROLES}
        return secure(**{"auth__tokens": tokens, **access, **settings})

    return start


def batch(trace, n):
    return [span(trace, k) for k in range(1, n + 1)]


def send(plumbd, context, role, *batches):
    with login(plumbd, context, "token", token_of(role))[0] as sender:
        return [sender.submit(spans) for spans in batches]


def test_spans_of_a_principal(locked, authority):
    """Over all of its connections; who is over it is told for how long to wait, and another is not."""
    plumbd = locked(quota__spans="token:a-write=1000; 0")
    plain = trusting(authority)
    first, second = send(plumbd, plain, "write", batch(1, 9000), batch(2, 10))
    assert (first.status, second.status) == (OK, TRY_LATER)
    assert second.message == "token:a-write is over quota.spans" and 0 < second.wait_ms <= 8002
    (third,) = send(plumbd, plain, "write", batch(3, 10))
    assert third.status == TRY_LATER
    assert [reply.status for reply in send(plumbd, plain, "admin", batch(4, 3000), batch(5, 3000))] == [OK, OK]

    with login(plumbd, plain, "token", token_of("write"))[0] as sender:
        replies = []
        wait_for(lambda: replies.append(sender.submit(batch(2, 10)).status) or replies[-1] == OK)
    assert len(replies) > 1
    found = json.loads(ask(plumbd, plain, "/api/v1/status", headers=bearer(token_of("read")))[1])["receiver"]
    refused = 1 + replies.count(TRY_LATER) + 1
    assert found["rejected_frames"] == {"sender is over its quota": refused} and found["try_later"] == refused
    assert found["over_quota"] == [{"who": "token:a-write", "refused": {"quota.spans": refused}}]
    assert found["spans_received"] == 15010


def test_a_sender_that_does_not_wait(make_plumbd):
    """Each address for itself where nobody logs in. What it does not wait with, it waits with for its answers."""
    plumbd = make_plumbd(quota__bytes="anonymous=20k").start()
    with Sender(plumbd, source=HOSTILE) as greedy, Sender(plumbd, source=GOOD) as good:
        frame = greedy_frame(1)
        for _ in range(199):
            with contextlib.suppress(OSError):
                greedy.socket.settimeout(0.001)
                greedy.write(frame)
        for n in range(1000, 1010):
            assert good.submit(batch(n, 1)).status == OK
    found = plumbd.receiver()
    assert found["rejected_frames"]["sender is over its quota"] < 10
    assert [row["who"] for row in found["over_quota"]] == [f"anonymous at {HOSTILE}"]
    assert found["bytes_received"] < 2_000_000


def greedy_frame(n):
    from tests.receiver.sender import submit_frame

    return submit_frame(batch(n, 1000), sequence=n)


def post(plumbd, body, source=GOOD, path="/v1/traces"):
    host, port = plumbd.http.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=60, source_address=(source, 0))
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    reply = connection.getresponse()
    reply.read()
    connection.close()
    return reply.status, reply.getheader("Retry-After")


def test_spans_over_http(make_plumbd):
    plumbd = make_plumbd(quota__bytes="10k").start()
    spans = [
        {"traceId": "1" * 32, "spanId": f"{k:016x}", "name": "op", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
        for k in range(1, 200)
    ]
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    statuses = [post(plumbd, body, HOSTILE) for _ in range(12)]
    assert statuses[0] == (200, None) and {wait for status, wait in statuses if status == 429} <= {"1", "2", "3"}
    assert post(plumbd, body, GOOD)[0] == 200
    assert plumbd.receiver()["rejected_http"]["over its quota"] == [status for status, _ in statuses].count(429)


def test_questions(locked, authority):
    """A minute and principal; probes and metrics are not among them."""
    plumbd = locked(quota__questions="token:a-read=2", audit__log="none")
    plain = trusting(authority)
    answers = [ask(plumbd, plain, "/api/v1/functions", headers=bearer(token_of("read"))) for _ in range(4)]
    assert [status for status, _ in answers] == [200] * 2 + [429] * 2
    message = json.loads(answers[-1][1])["error"]
    assert message.startswith("token:a-read has asked as often as quota.questions lets it: ask again in ")
    for _ in range(10):
        assert ask(plumbd, plain, "/api/v1/functions", headers=bearer(token_of("admin")))[0] == 200
        assert ask(plumbd, plain, "/metrics", headers=bearer(token_of("read")))[0] == 200
        assert ask(plumbd, plain, "/healthz")[0] == 200
    found = receiver(plumbd, plain, headers=bearer(token_of("admin")))
    assert found["rejected_http"] == {"over its quota": 2}
    assert found["over_quota"] == [{"who": "token:a-read", "refused": {"quota.questions": 2}}]


def test_connections_of_a_principal(locked, authority):
    plumbd = locked(quota__connections="token:a-write=2")
    plain = trusting(authority)
    with contextlib.ExitStack() as stack:
        senders = []
        for _ in range(2):
            sender, status, _ = login(plumbd, plain, "token", token_of("write"))
            senders.append(stack.enter_context(sender))
            assert status == 5
        third, status, text = login(plumbd, plain, "token", token_of("write"))
        assert status == 4 and b"quota.connections" in text and third.closed_by_peer()
        other, status, _ = login(plumbd, plain, "token", token_of("admin"))
        assert status == 5
        other.socket.close()
        senders[0].socket.close()
        wait_for(lambda: login(plumbd, plain, "token", token_of("write"))[1] == 5)
    metrics = ask(plumbd, plain, "/metrics", headers=bearer(token_of("metrics")))[1].decode()
    assert 'plumbd_connections_refused_total{reason="login refused"} ' in metrics


def test_connections_without_a_name(make_plumbd):
    plumbd = make_plumbd(quota__connections="1").start()
    with Sender(plumbd, source=HOSTILE) as first, Sender(plumbd, source=HOSTILE) as second, Sender(plumbd) as good:
        assert first.submit(batch(1, 1)).status == OK
        second.write(greedy_frame(2))
        assert second.closed_by_peer()
        assert good.submit(batch(3, 1)).status == OK and first.submit(batch(4, 1)).status == OK
    assert plumbd.receiver()["refused_connections"] == {"over its quota": 1}


def test_a_reload_changes_quotas(make_plumbd, tmp_path):
    config = tmp_path / "plumbd.conf"
    config.write_text("")
    plumbd = make_plumbd()
    plumbd.arguments = ["--config", str(config)]
    plumbd.start()
    with Sender(plumbd) as sender:
        assert [sender.submit(batch(n, 500)).status for n in (1, 2)] == [OK, OK]
        config.write_text("[quota]\nspans = 10\n")
        plumbd.signal(signal.SIGHUP)
        wait_for(lambda: "changed quota.spans" in plumbd.messages())
        wait_for(lambda: sender.submit(batch(3, 500)).status == TRY_LATER)
        config.write_text("[quota]\nspans = 0\n")
        plumbd.signal(signal.SIGHUP)
        wait_for(lambda: plumbd.messages().count("changed quota.spans") == 2)
        wait_for(lambda: sender.submit(batch(4, 500)).status == OK)


def test_quotas_come_although_certificates_do_not(secure, authority, tmp_path):
    """The first quota, which comes with a certificate that cannot be read, holds for connections that are open."""
    config, certificate = tmp_path / "plumbd.conf", tmp_path / "server.pem"
    config.write_text("")
    certificate.write_bytes((authority.folder / "server.pem").read_bytes())
    plumbd = secure(tls__certificate=certificate)
    plumbd.stop()
    plumbd.arguments = ["--config", str(config)]
    plumbd.start()
    with SecureSender(plumbd, trusting(authority)) as sender:
        assert [sender.submit(batch(n, 500)).status for n in (1, 2)] == [OK, OK]
        certificate.write_text("none")
        config.write_text("[quota]\nspans = 10\n")
        plumbd.signal(signal.SIGHUP)
        wait_for(lambda: "stay as they were" in plumbd.messages())
        wait_for(lambda: sender.submit(batch(3, 500)).status == TRY_LATER)


def test_connections_of_an_address(make_plumbd):
    """But for this machine itself, where a proxy may be."""
    plumbd = make_plumbd(listen__per_address="3").start()
    with contextlib.ExitStack() as stack:
        hostile = [stack.enter_context(Sender(plumbd, source=HOSTILE)) for _ in range(3)]
        assert [sender.submit(batch(n, 1)).status for n, sender in enumerate(hostile, 1)] == [OK] * 3
        assert Sender(plumbd, source=HOSTILE).closed_by_peer()
        good = [stack.enter_context(Sender(plumbd, source=GOOD)) for _ in range(6)]
        assert [sender.submit(batch(n, 1)).status for n, sender in enumerate(good, 10)] == [OK] * 6
    assert plumbd.receiver()["refused_connections"] == {"too many of one address": 1}
    assert "listen.per-address" in plumbd.messages()


# ---- before a login ----


def test_silent_connections(locked, authority):
    """An eighth of all may be there without a word; those of the address with most of them give way."""
    plumbd = locked(listen__max_connections="80", receiver__net_threads="1")
    plain = trusting(authority)
    with contextlib.ExitStack() as stack:
        quiet = stack.enter_context(login(plumbd, plain, "token", token_of("write"))[0])
        shy = stack.enter_context(SecureSender(plumbd, plain))  # a good one that takes its time
        silent = [stack.enter_context(socket.create_connection(plumbd.thrift, source_address=(HOSTILE, 0)))
                  for _ in range(60)]  # fmt: skip
        for n in range(1, 6):
            (reply,) = send(plumbd, plain, "write", batch(n, 10))
            assert reply.status == OK
        assert quiet.submit(batch(9, 1)).status == OK
        secret = b"\0token\0" + token_of("write").encode()
        shy.write(b"\x01\0\0\0\x05PLAIN\x05" + len(secret).to_bytes(4, "big") + secret)
        assert shy.read_exactly(5) == b"\x05\0\0\0\0" and shy.submit(batch(10, 1)).status == OK
        for connection in silent[:50]:
            assert connection.recv(1) == b""
    found = receiver(plumbd, plain, headers=bearer(token_of("read")))
    assert found["refused_connections"]["too many that had not logged in"] >= 50


def hello(authority):
    """What a client of TLS says first."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting(authority).wrap_bio(incoming, outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def cpu_of(plumbd, thread):
    """Ticks of the processor."""
    for stat in Path(f"/proc/{plumbd.process.pid}/task").glob("*/stat"):
        name, rest = stat.read_text().split("(", 1)[1].rsplit(")", 1)
        if name == thread:
            return sum(map(int, rest.split()[11:13]))
    raise AssertionError(f"no thread {thread}")


def test_handshake_storm(locked, authority):
    """Of 300 that begin at once some go on in each round, and no thread that reads has to do with them."""
    plumbd = locked(listen__max_connections="4000", receiver__net_threads="1")
    plain = trusting(authority)
    first = hello(authority)
    with contextlib.ExitStack() as stack:
        good = stack.enter_context(login(plumbd, plain, "token", token_of("write"))[0])
        storm = [stack.enter_context(socket.create_connection(plumbd.thrift, source_address=(HOSTILE, 0)))
                 for _ in range(300)]  # fmt: skip
        for connection in storm:
            connection.sendall(first)
        for n in range(1, 50):
            assert good.submit(batch(n, 10)).status == OK
        (reply,) = send(plumbd, plain, "write", batch(100, 10))
        assert reply.status == OK
        for connection in storm:  # none is forgotten
            assert connection.recv(1) == b"\x16"
        assert cpu_of(plumbd, "accept-0") > 2 * cpu_of(plumbd, "net-0")


def greet(stack, address, first, source=HOSTILE):
    """A connection that has begun a handshake, and does not go on with it."""
    connection = stack.enter_context(socket.create_connection(address, source_address=(source, 0)))
    connection.sendall(first)
    return connection


def is_answered(connection):
    with contextlib.suppress(ConnectionError):
        return connection.recv(1) == b"\x16"
    return False


def sockets_of(plumbd):
    found = 0
    for file in Path(f"/proc/{plumbd.process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            found += os.readlink(file).startswith("socket:")
    return found


def web(plumbd):
    host, port = plumbd.http.rsplit(":", 1)
    return host, int(port)


def test_handshake_storm_of_readers(locked, authority):
    """A reader who is there asks meanwhile, and one who comes gets in: the thread that answers makes no handshakes."""
    plumbd = locked()
    plain, first = trusting(authority), hello(authority)
    reader = http.client.HTTPSConnection(*web(plumbd), context=plain, timeout=60)
    for _ in range(10):
        with contextlib.ExitStack() as stack:
            storm = [greet(stack, web(plumbd), first) for _ in range(30)]  # an eighth of http.max-connections is 64
            for path in ("/healthz", "/metrics"):
                reader.request("GET", path, headers=bearer(token_of("metrics")))
                reply = reader.getresponse()
                assert reply.read() and reply.status == 200
            assert ask(plumbd, plain, "/readyz")[0] == 200
            assert all(is_answered(connection) for connection in storm)
    reader.close()
    assert cpu_of(plumbd, "http-accept") > 2 * cpu_of(plumbd, "http")


def test_handshakes_of_readers_that_hang(locked, authority):
    """Sixteen may be in one: past that those of the address with most of them give way."""
    plumbd = locked(http__max_connections="48")
    plain, first = trusting(authority), hello(authority)
    assert ask(plumbd, plain, "/healthz")[0] == 200
    before = sockets_of(plumbd)
    with contextlib.ExitStack() as stack:
        storm = [greet(stack, web(plumbd), first) for _ in range(30)]
        assert ask(plumbd, plain, "/healthz")[0] == 200
        found = receiver(plumbd, plain, headers=bearer(token_of("read")))["rejected_http"]
        assert found["too many connections"] >= 14
        assert any(is_answered(connection) for connection in storm)
    wait_for(lambda: sockets_of(plumbd) <= before)


def test_a_handshake_of_a_reader_has_its_time(locked, authority):
    plumbd = locked(http__timeout="2s")
    plain, first = trusting(authority), hello(authority)
    with contextlib.ExitStack() as stack:
        hanging = greet(stack, web(plumbd), first)
        hanging.settimeout(60)
        while hanging.recv(65536):
            pass
    found = receiver(plumbd, plain, headers=bearer(token_of("read")))["rejected_http"]
    assert found["request took too long"] >= 1


def test_a_browser_where_few_may_connect(locked, authority):
    """None of the connections that it opens at once gives way, though an eighth of all is one."""
    plumbd = locked(http__max_connections="8")
    plain, first = trusting(authority), hello(authority)
    with contextlib.ExitStack() as stack:
        browser = [greet(stack, web(plumbd), first) for _ in range(6)]
        assert all(is_answered(connection) for connection in browser)
        assert receiver(plumbd, plain, headers=bearer(token_of("read")))["rejected_http"] == {}


def test_several_threads_accept(locked, authority):
    """All limits hold, and nothing is left behind, whichever of them a connection came to."""
    plumbd = locked(listen__max_connections="96", listen__per_address="20", receiver__net_threads="3")
    plain, first = trusting(authority), hello(authority)
    (reply,) = send(plumbd, plain, "write", batch(1, 10))
    assert reply.status == OK
    before = sockets_of(plumbd)
    with contextlib.ExitStack() as stack:
        # Four of each thread may be in their handshake.
        for source in ["127.0.1.1"] * 20 + ["127.0.1.2"] * 20:
            greet(stack, plumbd.thrift, first, source)
        for n in range(2, 8):
            (reply,) = send(plumbd, plain, "write", batch(n, 10))
            assert reply.status == OK
    with contextlib.ExitStack() as stack:
        senders = [stack.enter_context(login(plumbd, plain, "token", token_of("write"), source="127.0.1.99")[0])
                   for _ in range(20)]  # fmt: skip
        assert [sender.submit(batch(n, 1)).status for n, sender in enumerate(senders, 10)] == [OK] * 20
        with pytest.raises((ConnectionError, ssl.SSLError)):
            login(plumbd, plain, "token", token_of("write"), source="127.0.1.99")
    wait_for(lambda: sockets_of(plumbd) <= before)
    found = receiver(plumbd, plain, headers=bearer(token_of("read")))
    assert found["refused_connections"]["too many of one address"] == 1
    assert found["refused_connections"]["too many that had not logged in"] >= 28
    assert found["spans_received"] == 70 + 20
    assert all(cpu_of(plumbd, f"accept-{n}") >= 0 for n in range(3))


def test_a_rush_after_a_restart(locked, authority):
    """Past those who may be there without a login the last give way, and not those whose handshake is under way: else
    nobody would end one."""
    plumbd = locked(listen__max_connections="80", receiver__net_threads="1")
    first = hello(authority)
    with contextlib.ExitStack() as stack:

        def greet():
            connection = stack.enter_context(socket.create_connection(plumbd.thrift, source_address=(GOOD, 0)))
            connection.sendall(first)
            return connection

        served = [greet() for _ in range(10)]
        for connection in served:
            assert connection.recv(1, socket.MSG_PEEK) == b"\x16"
        for _ in range(30):
            with contextlib.suppress(ConnectionError):
                assert greet().recv(1) == b""
        for connection in served:
            connection.setblocking(False)
            connection.recv(65536)
            with pytest.raises(BlockingIOError):
                connection.recv(1)


@pytest.mark.parametrize("sources", [[GOOD], [f"127.0.0.{n}" for n in range(66, 76)]], ids=["one", "many"])
def test_handshakes_that_hang(locked, authority, sources):
    """They fill the room of those who have not logged in, from one address (a proxy's) as from many: a good sender
    still gets in once they hang."""
    plumbd = locked(listen__max_connections="80", receiver__net_threads="1")
    plain = trusting(authority)
    with contextlib.ExitStack() as stack:
        for n in range(10):
            source = sources[n % len(sources)]
            hanging = stack.enter_context(socket.create_connection(plumbd.thrift, source_address=(source, 0)))
            hanging.sendall(b"\x16")
        time.sleep(2.5)
        (reply,) = send(plumbd, plain, "write", batch(1, 10))
        assert reply.status == OK
    found = receiver(plumbd, plain, headers=bearer(token_of("read")))
    assert found["refused_connections"]["too many that had not logged in"] == 1
