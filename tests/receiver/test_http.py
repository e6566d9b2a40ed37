"""The HTTP port: probes, metrics, the API, and what goes wrong there."""

import contextlib
import gzip
import http.client
import json
import os
import re
import resource
import signal
import socket
import struct
import threading

import pytest

from tests.conftest import ROOT
from tests.receiver.sender import OK, Sender, span
from tests.receiver.waiting import wait_for


def trace_spans(trace, n):
    return [span(trace, k, parent=None if k == 1 else 1) for k in range(1, n + 1)]


def load(plumbd, traces=50, spans=20):
    with Sender(plumbd) as sender:
        for trace in range(1, traces + 1):
            assert sender.deliver(trace_spans(trace, spans)).status == OK


def raw(plumbd, data, timeout=60):
    """Bytes as they are; what came back until the end of the connection."""
    host, port = plumbd.http.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=timeout) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer


def test_probes(plumbd):
    assert plumbd.fetch("/healthz") == (200, b"ok\n")
    assert plumbd.fetch("/readyz") == (200, b"ready\n")


def test_metrics_are_good_prometheus_text(plumbd):
    load(plumbd)
    status, body = plumbd.fetch("/metrics")
    assert status == 200
    text = body.decode()
    declared = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    assert set(re.findall(r"^# HELP (\S+) ", text, re.M)) == set(declared)
    seen = set()
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        sample = re.fullmatch(r'([a-z_]+)(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? (\S+)', line)
        assert sample, line
        float(sample.group(4))
        assert sample.group(1) in declared, line
        assert line.rsplit(" ", 1)[0] not in seen, f"twice: {line}"
        seen.add(line.rsplit(" ", 1)[0])
    values = plumbd.metrics()
    assert values["plumbd_spans_total"] == 1000
    assert values["plumbd_batches_total"] == 50
    assert values["plumbd_ready"] == 1


def test_status(plumbd):
    load(plumbd)
    while plumbd.receiver()["open_spans"] < 1000:
        pass  # acknowledged, and on their way to the shards
    receiver = plumbd.receiver()
    assert receiver["spans_received"] == 1000
    assert receiver["batches"] == 50
    assert receiver["open_traces"] == 50
    assert receiver["open_spans"] == 1000
    assert receiver["journal_bytes"] > 0
    assert receiver["lag_ns"] > 0
    assert receiver["ready"] is True and "reason" not in receiver
    plumbd.flush()
    receiver = plumbd.receiver()
    assert (receiver["open_traces"], receiver["open_spans"], receiver["lag_ns"]) == (0, 0, 0)


def test_status_is_what_the_document_says(plumbd):
    with Sender(plumbd) as sender:
        assert sender.deliver(trace_spans(1, 2), sender=("a", 1, 2, 0, {"queue full": 3})).status == OK
    text = (ROOT / "docs/api.md").read_text().split("From a running plumbd")[1].split("\n## ")[0]
    fields = {name for first in re.findall(r"^\| (`.*?`) \|", text, re.M) for name in re.findall(r"`(\w+)`", first)}
    receiver = plumbd.receiver()
    assert set(receiver) | {"reason", "recovering", "kafka"} == fields  # these only at times
    (senders,) = re.findall(r"^\| `senders` \| (.*)", text, re.M)
    assert set(receiver["senders"][0]) == set(re.findall(r'"(\w+)"', senders))


@pytest.mark.parametrize("page", ["plumbd.md", "operate.md"])
def test_documented_metrics_exist(plumbd, page):
    known = plumbd.fetch("/metrics")[1].decode()
    named = set(re.findall(r"plumbd_\w+", (ROOT / "docs" / page).read_text()))
    assert named and {metric for metric in named if f"# TYPE {metric} " not in known} == set()


def test_every_answer_is_named_json(plumbd):
    load(plumbd)
    plumbd.flush()
    for question in (
        "status",
        "functions",
        "forest",
        "traces",
        "trace?id=0000000000000001",
        "skew",
        "verify",
        "diff?kind=trace&a=0000000000000001&b=0000000000000002",
    ):
        assert isinstance(plumbd.ask(question), dict), question


def test_a_trace_as_columns(plumbd):
    load(plumbd)
    plumbd.flush()
    path = "/api/v1/trace/columns?id=0000000000000001"
    connection = http.client.HTTPConnection(*plumbd.http.rsplit(":", 1))
    connection.request("GET", path)
    reply = connection.getresponse()
    body = reply.read()
    connection.close()
    assert reply.getheader("Content-Type") == "application/x-plumb-columns"
    assert body[:8] == b"PLUMBCO1"
    (length,) = struct.unpack("<I", body[8:12])
    head = json.loads(body[12 : 12 + length])
    spans = plumbd.ask("trace?id=0000000000000001")["spans"]
    assert head["rows"] == len(spans) > 0
    column = {column["name"]: column for column in head["columns"]}
    at = column["duration"]["offset"]
    durations = struct.unpack(f"<{len(spans)}d", body[at : at + 8 * len(spans)])
    assert list(durations) == [row["duration_ns"] for row in spans]
    assert plumbd.fetch("/api/v1/trace/rows?id=0000000000000001")[0] == 400


def ask_with(plumbd, path, **headers):
    connection = http.client.HTTPConnection(*plumbd.http.rsplit(":", 1))
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    reply = connection.getresponse()
    body = reply.read()
    connection.close()
    return reply, body


def test_documents_come_packed(plumbd):
    """To who unpacks them, and when they are large enough; to others as they are."""
    load(plumbd, 200)
    plumbd.flush()
    path = "/api/v1/traces?limit=0"
    plain, body = ask_with(plumbd, path)
    assert plain.getheader("Content-Encoding") is None and len(body) > 4096
    packed, bytes_packed = ask_with(plumbd, path, Accept_Encoding="br, gzip")
    assert packed.getheader("Content-Encoding") == "gzip"
    assert packed.getheader("Vary") == "Accept-Encoding"
    assert len(bytes_packed) < len(body) / 3 and gzip.decompress(bytes_packed) == body
    assert ask_with(plumbd, path, Accept_Encoding="gzip;q=0")[1] == body
    small, document = ask_with(plumbd, "/api/v1/traces?limit=1", Accept_Encoding="gzip")
    assert small.getheader("Content-Encoding") is None and json.loads(document)["traces"]


def test_what_a_reader_has_is_not_sent_again(plumbd):
    load(plumbd, 200)
    plumbd.flush()
    path = "/api/v1/traces?limit=0"
    first, body = ask_with(plumbd, path)
    tag = first.getheader("ETag")
    for more in ({}, {"Accept_Encoding": "gzip"}):
        again, nothing = ask_with(plumbd, path, If_None_Match=f'"other", {tag}', **more)
        assert (again.status, nothing, again.getheader("ETag")) == (304, b"", tag)
    other, whole = ask_with(plumbd, path, If_None_Match='W/"0000000000000000"')
    assert (other.status, whole) == (200, body)
    changed, _ = ask_with(plumbd, "/api/v1/traces?limit=1", If_None_Match=tag)
    assert changed.status == 200 and changed.getheader("ETag") != tag
    wrong, _ = ask_with(plumbd, "/api/v1/traces?limit=x", If_None_Match=tag)
    assert wrong.status == 400 and wrong.getheader("ETag") is None


WRONG = {
    "unknown page": ("/nothing", "GET", 404),
    "unknown question": ("/api/v1/functoins", "GET", 400),
    "no question": ("/api/v1/", "GET", 404),
    "folder": ("/api/v1/a/b", "GET", 404),
    "unknown parameter": ("/api/v1/functions?hots=x", "GET", 400),
    "malformed parameters": ("/api/v1/functions?since", "GET", 400),
    "bad period": ("/api/v1/functions?since=yesterday", "GET", 400),
    "no such trace": ("/api/v1/trace?id=00000000deadbeef", "GET", 404),
    "no trace id": ("/api/v1/trace?id=xyz", "GET", 400),
    "flush by GET": ("/api/v1/flush", "GET", 405),
    "question by POST": ("/api/v1/status", "POST", 405),
}


@pytest.mark.parametrize("path, method, code", WRONG.values(), ids=WRONG.keys())
def test_wrong_questions(plumbd, path, method, code):
    status, body = plumbd.fetch(path, method)
    assert status == code, body
    assert json.loads(body)["error"]


RAW = {
    "garbage": b"\x80\x01\x00\x01\x00\x00\x00\x06submit",
    "no version": b"GET /healthz\r\n\r\n",
    "header without end": b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000,
    "huge body": b"POST /api/v1/flush HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
    "negative body": b"POST /api/v1/flush HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "bad escapes": b"GET /api/v1/functions?since=%zz%00&&&== HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "zero in the path": b"GET /api/v1/%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "absolute": b"GET http://other/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "not UTF-8": b"GET /api/v1/functions?function=%ff%fe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "unknown method": b"BREW /api/v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "cut": b"GET /api/v1/status HT",
}


@pytest.mark.parametrize("data", RAW.values(), ids=RAW.keys())
def test_garbage(plumbd, data):
    try:
        answer = raw(plumbd, data)
        assert answer == b"" or answer.startswith(b"HTTP/1.")
    except OSError:
        pass  # plumbd hung up: while it was written to, or before the other end was shut (ENOTCONN)
    assert plumbd.fetch("/healthz")[0] == 200


def test_reader_that_goes_away(plumbd):
    load(plumbd)
    plumbd.flush()
    host, port = plumbd.http.rsplit(":", 1)
    for question in ("status", "forest", "export", "verify") * 20:
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(f"GET /api/v1/{question} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert plumbd.fetch("/healthz")[0] == 200
    wait_for(lambda: plumbd.fetch("/api/v1/status")[0] == 200)  # theirs had filled the queue
    assert len(plumbd.export()) == 1000


@contextlib.contextmanager
def readers_that_stop(plumbd, sources):
    """Each has asked for an export larger than all buffers, and reads no more of it. Yields what ends them."""
    with Sender(plumbd) as sender:
        for trace in range(1, 101):
            sender.deliver([span(trace, k, annotations=[(0, "v" * 1000)]) for k in range(1, 201)])
    plumbd.flush()
    host, port = plumbd.http.rsplit(":", 1)
    with contextlib.ExitStack() as stack:
        for source in sources:
            reader = stack.enter_context(socket.socket())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.bind((source, 0))
            reader.connect((host, int(port)))
            reader.sendall(b"GET /api/v1/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert reader.recv(1000).startswith(b"HTTP/1.1 200")
        yield stack.close


@contextlib.contextmanager
def many_ask(plumbd, n):
    """The codes of the answers that have come, of so many questions at once; all of them are there afterwards."""
    codes = []
    threads = [threading.Thread(target=lambda: codes.append(plumbd.fetch("/api/v1/verify")[0])) for _ in range(n)]
    for thread in threads:
        thread.start()
    try:
        yield codes
    finally:
        for thread in threads:
            thread.join()


def test_export_is_streamed_to_slow_readers(plumbd):
    """Read slowly, then dropped: plumbd neither keeps it whole nor hangs."""
    with readers_that_stop(plumbd, ["127.0.0.2", "127.0.0.3"]):  # as many as there may be
        assert plumbd.fetch("/healthz")[0] == 200  # the probes do not wait for them
        assert plumbd.fetch("/metrics")[0] == 200
    assert len(plumbd.export()) == 20_000  # and their threads are free again


def unread_answers(plumbd, path, n):
    """Connections that have asked this one after the other; of each answer the beginning has come, and is read no
    further."""
    host, port = plumbd.http.rsplit(":", 1)
    for _ in range(n):
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect((host, int(port)))
        reader.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        begin = reader.recv(1000)
        assert begin.startswith(b"HTTP/1.1 200")
        yield reader, begin


def is_whole(reader, begin):
    """The answer, to its end, is as long as it says; a connection that was closed by force is no more than cut."""
    head, body = begin.split(b"\r\n\r\n", 1)
    left = int(re.search(rb"Content-Length: (\d+)", head).group(1)) - len(body)
    try:
        while left > 0 and (piece := reader.recv(1 << 20)):
            left -= len(piece)
    except ConnectionResetError:
        pass
    reader.close()
    return left == 0


def questions_bytes(plumbd):
    text = plumbd.fetch("/metrics")[1].decode()
    return int(re.search(r'^plumbd_memory_bytes\{part="questions"\} (\d+)$', text, re.M).group(1))


def test_answers_that_nobody_reads_are_bounded(plumbd):
    """Past half of what questions may have the oldest are cut, those that came last are whole, and who reads at once
    sees nothing of it. What waits is memory of questions, too."""
    with Sender(plumbd) as sender:
        for first in range(1, 401, 100):
            spans = [
                span(1, k, parent=None if k == 1 else 1, annotations=[(0, "v" * 30_000)])
                for k in range(first, first + 100)
            ]
            assert sender.deliver(spans).status == OK
    plumbd.flush()  # joined in parts, as it stays
    path = "/api/v1/trace?id=0000000000000001&limit=0"
    answer_bytes = len(plumbd.fetch(path)[1])
    assert answer_bytes > 12_000_000
    n = 40
    readers = list(unread_answers(plumbd, path, n))
    cut = plumbd.metrics()["plumbd_http_cut_total"]
    # What the kernel took of each does not wait.
    most = int(plumbd.metrics()["plumbd_question_memory_limit_bytes"]) // 2
    assert n - most // (answer_bytes - (8 << 20)) <= cut <= n - most // answer_bytes
    assert plumbd.metrics()["plumbd_resident_bytes"] < n * answer_bytes
    assert most - answer_bytes < questions_bytes(plumbd) <= most
    assert len(plumbd.fetch(path)[1]) == answer_bytes
    cut = int(plumbd.metrics()["plumbd_http_cut_total"])
    assert [is_whole(reader, begin) for reader, begin in readers] == [False] * cut + [True] * (n - cut)
    assert "is cut off: its reader is slow" in plumbd.log.read_text()


def test_nobody_waits_for_exports_that_are_not_read(plumbd):
    """Neither probes nor questions; a peer's own next export does."""
    with readers_that_stop(plumbd, ["127.0.0.2", "127.0.0.3"]), many_ask(plumbd, 6) as codes:
        for _ in range(50):
            assert plumbd.fetch("/readyz")[0] == 200
        wait_for(lambda: codes == [200] * 6)


def test_too_many_questions_are_refused(make_plumbd):
    """One is answered, one waits, and the others are told at once."""
    plumbd = make_plumbd(http__query_threads="1", http__queue="1").start()
    with readers_that_stop(plumbd, ["127.0.0.1"]) as let_go, many_ask(plumbd, 20) as codes:
        wait_for(lambda: len(codes) == 19)
        assert codes == [503] * 19
        let_go()
    assert codes == [503] * 19 + [200]


def test_questions_have_a_limit_of_memory(make_plumbd):
    plumbd = make_plumbd(http__question_memory="1K").start()
    load(plumbd, traces=2)
    plumbd.flush()
    status, body = plumbd.fetch("/api/v1/functions")
    assert status == 400 and "http.question-memory" in json.loads(body)["error"]
    text = plumbd.fetch("/metrics")[1].decode()
    assert 'plumbd_questions_refused_total{reason="memory"} 1\n' in text
    assert 'plumbd_memory_bytes{part="questions"} 0\n' in text


def test_connections_leave_files_for_the_store(make_plumbd):
    plumbd = make_plumbd()
    plumbd.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))
    host, port = plumbd.http.rsplit(":", 1)
    idle = [socket.create_connection((host, int(port))) for _ in range(400)]
    late = socket.create_connection((host, int(port)))
    late.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    with Sender(plumbd) as sender:
        for trace in range(1, 50):
            assert sender.submit(trace_spans(trace, 10)).status == OK
    assert len(os.listdir(f"/proc/{plumbd.process.pid}/fd")) < 220
    for connection in idle:
        connection.close()
    assert late.recv(100).startswith(b"HTTP/1.1 200")
    late.close()
    plumbd.flush()
    assert plumbd.stored()["spans"] == 490


def test_open_trace_can_be_asked_for(make_plumbd):
    """Spans that are not stored yet are in the answer, and later ones join."""
    plumbd = make_plumbd(trace__idle="1h", trace__max_age="1h").start()
    with Sender(plumbd) as sender:
        sender.submit([span(0xABC, 1), span(0xABC, 2, parent=1)])
        assert len(plumbd.ask("trace?id=0000000000000abc")["spans"]) == 2
        sender.submit([span(0xABC, 3, parent=2)])
        shown = plumbd.ask("trace?id=0000000000000abc0000000000000003")
        assert len(shown["spans"]) == 3 and shown["incomplete"] is False
        sender.submit([span(0xABC, 4, parent=2)])
        assert plumbd.ask("why?trace=0000000000000abc")["spans"] == 4
    assert plumbd.receiver()["closed_traces"] == {"asked for": 3}


def test_flush_answers_what_it_closed(make_plumbd):
    plumbd = make_plumbd(trace__idle="1h").start()
    load(plumbd, traces=30)
    assert plumbd.flush() == 30
    assert plumbd.flush() == 0
    assert plumbd.stored()["traces"] == 30


def test_stop_while_questions_are_asked(make_plumbd):
    plumbd = make_plumbd(trace__idle="1h").start()
    load(plumbd, traces=500)
    plumbd.flush()
    stopping = threading.Event()

    def ask():
        while not stopping.is_set():
            try:
                plumbd.fetch("/api/v1/verify")
                plumbd.fetch("/api/v1/export")
            except (OSError, http.client.HTTPException):
                pass  # refused, or cut off in the middle

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    plumbd.fetch("/api/v1/verify")
    plumbd.signal(signal.SIGTERM)
    assert plumbd.wait() == 0
    stopping.set()
    for thread in threads:
        thread.join()
