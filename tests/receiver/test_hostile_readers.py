"""One peer that takes all it can get of the HTTP port, a good one beside it, and pages of others in a browser."""

import contextlib
import http.client
import json
import select
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.receiver.sender import Sender, span
from tests.receiver.waiting import wait_for

HOSTILE, GOOD = "127.0.0.66", "127.0.0.1"


def connect(plumbd, source=HOSTILE, receive_bytes=None):
    host, port = plumbd.http.rsplit(":", 1)
    connection = socket.socket()
    if receive_bytes:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    connection.settimeout(60)
    connection.bind((source, 0))
    connection.connect((host, int(port)))
    return connection


def ask(plumbd, path, method="GET", source=GOOD, headers=None):
    """(status, headers, body)"""
    host, port = plumbd.http.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=60, source_address=(source, 0))
    with contextlib.closing(connection):
        connection.request(method, path, headers=headers or {})
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read()


def read_all(connection):
    answer = b""
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            answer += piece
    return answer


def rejected(plumbd):
    return plumbd.receiver()["rejected_http"]


def test_a_request_must_become_whole(make_plumbd):
    """However steadily its bytes come."""
    plumbd = make_plumbd(http__timeout="300ms").start()
    with connect(plumbd) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
        while not select.select([connection], [], [], 0.02)[0]:
            connection.sendall(b"y")
        assert read_all(connection) == b""
    with connect(plumbd) as connection:
        connection.sendall(b"POST /api/v1/flush HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
        assert read_all(connection) == b""
    with connect(plumbd) as connection:
        assert read_all(connection) == b""  # who connects and says nothing
    assert rejected(plumbd) == {"request took too long": 3}


def test_connections_give_way(make_plumbd):
    """Slow and idle ones of one address, to others and to its own next ones."""
    plumbd = make_plumbd(http__max_connections="16").start()
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(connect(plumbd)).sendall(b"GET /healthz HTTP/1.1\r\n")
        for _ in range(30):
            assert ask(plumbd, "/healthz")[0] == 200
        assert ask(plumbd, "/healthz", source=HOSTILE)[0] == 200
        assert set(rejected(plumbd)) == {"gave way to another peer"}
        assert plumbd.metrics()["plumbd_http_connections"] <= 16


def test_answers_must_be_read(make_plumbd):
    plumbd = make_plumbd(http__timeout="300ms").start()
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            connection = stack.enter_context(connect(plumbd, receive_bytes=2048))
            # What the kernel has room for is taken; many answers are more.
            connection.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    connection.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
        wait_for(lambda: rejected(plumbd).get("answer not read", 0) == 20)


def load(plumbd, traces=100):
    """More than all buffers on the way to a reader."""
    with Sender(plumbd) as sender:
        for trace in range(1, traces + 1):
            sender.deliver([span(trace, k, annotations=[(0, "v" * 1000)]) for k in range(1, 201)])
    plumbd.flush()


def unread_export(plumbd, source):
    connection = connect(plumbd, source, receive_bytes=4096)
    connection.sendall(b"GET /api/v1/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return connection


def test_exports_that_are_not_read_hold_nobody_up(make_plumbd):
    """However many of one peer: another one's questions and exports are answered beside them."""
    plumbd = make_plumbd(http__timeout="1h").start()
    load(plumbd)
    with contextlib.ExitStack() as stack:
        unread = [stack.enter_context(unread_export(plumbd, HOSTILE)) for _ in range(10)]
        assert unread[0].recv(1000).startswith(b"HTTP/1.1 200")
        for _ in range(10):
            assert ask(plumbd, "/api/v1/functions")[0] == 200
            assert len(ask(plumbd, "/api/v1/export")[2].splitlines()) == 20_000


def test_exports_that_are_not_read_end(make_plumbd):
    """Then the next of the same peer is made."""
    plumbd = make_plumbd(http__timeout="300ms").start()
    load(plumbd)
    with unread_export(plumbd, HOSTILE) as first, unread_export(plumbd, HOSTILE) as second:
        assert first.recv(1000).startswith(b"HTTP/1.1 200")
        assert second.recv(1000).startswith(b"HTTP/1.1 200")
        assert not read_all(first).endswith(b"\r\n0\r\n\r\n")
        wait_for(lambda: rejected(plumbd) == {"answer not read": 2})


def test_a_full_queue_has_place_for_another_peer(make_plumbd):
    """The newest question of who has most in it gives way."""
    plumbd = make_plumbd(http__query_threads="1", http__queue="4", http__timeout="1h").start()
    load(plumbd)
    with contextlib.ExitStack() as stack:
        reading = stack.enter_context(unread_export(plumbd, HOSTILE))
        assert reading.recv(1000).startswith(b"HTTP/1.1 200")
        waiting = []
        for n in range(4):
            waiting.append(stack.enter_context(connect(plumbd)))
            waiting[-1].sendall(b"GET /api/v1/traces?limit=%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % (n + 1))
        wait_for(lambda: plumbd.metrics()["plumbd_http_requests_total"] >= 6)
        assert ask(plumbd, "/api/v1/traces")[0] == 200
        assert waiting[3].recv(1000).startswith(b"HTTP/1.1 503")
        reading.close()
        assert all(w.recv(1000).startswith(b"HTTP/1.1 200") for w in waiting[:3])


def test_flushes_are_few(make_plumbd):
    """However many ask: after the first ones they are begun twice a second, each for all who wait."""
    plumbd = make_plumbd().start()
    began = time.monotonic()
    with ThreadPoolExecutor(32) as pool:
        assert set(pool.map(lambda _: ask(plumbd, "/api/v1/flush", "POST", HOSTILE)[0], range(600))) == {200}
    assert time.monotonic() - began >= (600 / 32 - 17) / 2


ANSWERS = [
    "/healthz",
    "/readyz",
    "/metrics",
    "/api/v1/status",
    "/api/v1/export",
    "/nothing",
    "/api/v1/flush",
    "/api/v1/nothing",
]
SECURITY = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@pytest.mark.parametrize("path", ANSWERS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_every_answer_is_for_nobody_else(plumbd, path, method):
    headers = ask(plumbd, path, method)[1]
    assert {name: headers[name] for name in SECURITY} == SECURITY


@pytest.mark.parametrize("headers, status", [({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403)])
def test_refusals_are_for_nobody_else(plumbd, headers, status):
    code, got, body = ask(plumbd, "/healthz", headers=headers)
    assert code == status and json.loads(body)["error"]
    assert {name: got[name] for name in SECURITY} == SECURITY


MALFORMED = {
    "two lengths": (
        b"POST /api/v1/flush HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
        400,
    ),
    "chunks": (b"POST /api/v1/flush HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
    "folded": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA: b\r\n c\r\n\r\n", 400),
    "long": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA: " + b"b" * 20_000 + b"\r\n\r\n", 431),
    "large": (b"POST /api/v1/flush HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65537\r\n\r\n" + b"a" * 65537, 413),
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01", 400),
}


@pytest.mark.parametrize("data, status", MALFORMED.values(), ids=MALFORMED.keys())
def test_what_could_be_read_in_two_ways_is_refused(plumbd, data, status):
    """And said, before the connection ends: nothing after it is taken for a request."""
    with connect(plumbd) as connection:
        connection.sendall(data + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 %d " % status) and answer.count(b"HTTP/1.1") == 1
    head, body = answer.split(b"\r\n\r\n")
    assert json.loads(body)["error"] and b"\r\nConnection: close" in head
    assert all(f"\r\n{name}: {value}".encode() in head for name, value in SECURITY.items())
    assert rejected(plumbd) == {"malformed": 1}


@pytest.mark.parametrize("query", ["x=a%00b", "function=a%00", "since=%", "since=%zz", "a&b", "=1"])
def test_malformed_queries_are_refused(plumbd, query):
    status, _, body = ask(plumbd, f"/api/v1/functions?{query}")
    assert status == 400 and "malformed parameters" in json.loads(body)["error"]


def test_requests_one_after_the_other(plumbd):
    """Sent at once, answered in order, on one connection; bodies belong to their requests."""
    with connect(plumbd) as connection:
        connection.sendall(
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
            b"POST /api/v1/flush HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n"
            b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n"
            b"HEAD /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"
            b"GET /api/v1/nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        answer = read_all(connection)
    statuses = [
        part[9:12] for part in answer.split(b"\r\n") if b"HTTP/1.1 " in part for part in [part[part.index(b"HTTP") :]]
    ]
    assert statuses == [b"200", b"200", b"200", b"400"]


def test_old_clients(plumbd):
    """HTTP/1.0 knows no chunks: the end of the connection is that of the answer."""
    with connect(plumbd) as connection:
        connection.sendall(b"GET /api/v1/export HTTP/1.0\r\n\r\n")
        head = read_all(connection).split(b"\r\n\r\n")[0]
    assert b" 200 OK" in head and b"chunked" not in head and b"Connection: close" in head


HOSTS = {
    "localhost:1": 200,
    "127.0.0.1": 200,
    "[::1]:9096": 200,
    "192.0.2.7:9096": 200,
    "plumb.example.org": 200,
    "a.tail.example": 200,
    "evil.example": 421,
    "localhost.evil.example": 421,
    "127.0.0.1.evil.example": 421,
}


def test_names_of_the_server(make_plumbd):
    """Another name may be one that a page of others has pointed here."""
    plumbd = make_plumbd(http__hosts="plumb.example.org; *.tail.example").start()
    assert {host: ask(plumbd, "/readyz", headers={"Host": host})[0] for host in HOSTS} == HOSTS
    assert ask(plumbd, "/readyz", headers={"Host": socket.gethostname()})[0] == 200
    assert rejected(plumbd) == {"unknown Host": 3}


def test_pages_of_others_change_nothing(plumbd):
    own = f"http://{plumbd.http}"
    origins = {own: 200, "http://127.0.0.1:1": 403, "http://evil.example": 403, "null": 403}
    assert {o: ask(plumbd, "/api/v1/flush", "POST", headers={"Origin": o})[0] for o in origins} == origins
    assert ask(plumbd, "/api/v1/flush", "POST")[0] == 200
    assert rejected(plumbd) == {"foreign Origin": 3}


def test_pages_of_others_ask_nothing(plumbd):
    """An <img> of somebody's page, which has no Origin, would have an export made, or its time measured."""
    image = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert ask(plumbd, "/api/v1/functions", headers=image)[0] == 403
    assert ask(plumbd, "/api/v1/functions", headers=link)[0] == 200
    assert ask(plumbd, "/api/v1/functions", headers={**image, "Sec-Fetch-Site": "same-origin"})[0] == 200
    assert rejected(plumbd) == {"foreign Origin": 1}
