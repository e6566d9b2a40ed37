"""plumb export --otlp --to: another plumbd takes the spans; a stub of a collector says what is rare to hear."""

import json
import signal
import socket
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.conftest import lasting_address
from tests.ecosystem.conftest import send_work
from tests.ecosystem.test_otlp import a_span, post, spans_body
from tests.receiver.waiting import wait_for
from tests.secure.authority import Authority


class Stub:
    """Answers POST with what the list says, one behind the other, then with 200, each after some seconds; keeps the
    bodies that it took."""

    def __init__(self, *answers, seconds=0, server=ThreadingHTTPServer):
        self.answers, self.bodies, self.headers, self.times = list(answers), [], [], []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, headers, text = stub.answers.pop(0) if stub.answers else (200, {}, "{}")
                stub.times.append(time.monotonic())
                stub.headers.append((self.path, dict(self.headers)))
                time.sleep(seconds)
                if status == 200:
                    stub.bodies.append(json.loads(body))
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(text))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spans(self):
        return [
            span
            for body in self.bodies
            for resource in body["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def stub():
    made = []

    def make(*answers, **options):
        made.append(Stub(*answers, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def forward(plumb_program, plumbd):
    def run(url, *options):
        command = [plumb_program, "export", "--otlp", "--to", url, *options, "--server", plumbd.http, "--json"]
        return subprocess.run(command, capture_output=True, text=True)

    return run


def ids(plumbd):
    return sorted(span["a"] for span in plumbd.export())


def test_to_another_plumbd(plumbd, make_plumbd, forward):
    """All that is stored, then chosen traces alone: the other side has the same spans."""
    send_work(plumbd, range(2))
    all_of_it, some = (make_plumbd().start() for _ in range(2))
    done = forward(f"http://{all_of_it.http}")
    report = json.loads(done.stdout)
    all_of_it.flush()
    assert ids(all_of_it) == ids(plumbd)
    assert (report["spans"], report["rejected_spans"], report["repeats"]) == (len(ids(plumbd)), 0, 0)

    done = forward(f"http://{some.http}/v1/traces", "--host", "dn2", "--role", "client")
    assert done.returncode == 0, done.stderr
    some.flush()
    spans = some.export()
    assert len(spans) == 48 and {span["r"] for span in spans} == {"FSClient/dn2"}


def test_a_slow_collector(plumbd, forward, stub, tmp_path):
    """429 and 503 are waited for as long as is asked; a partial success is told; headers come from a file."""
    send_work(plumbd, range(1))
    partial = json.dumps({"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too \x1b[31mold"}})
    collector = stub((503, {"Retry-After": "2"}, ""), (429, {}, "slow down"), (200, {}, partial))
    headers = tmp_path / "headers"
    headers.write_text("# of the collector\nAuthorization: Bearer secret\nX-Scope-OrgID: one\n")
    headers.chmod(0o600)
    done = forward(collector.url, "--to-headers", headers)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["repeats"], report["rejected_spans"]) == (2, 3)
    assert "too" in report["said"] and "\x1b" not in report["said"]
    assert len(collector.spans()) == report["spans"] == len(plumbd.export())
    assert collector.times[1] - collector.times[0] >= 2
    path, sent = collector.headers[0]
    assert path == "/v1/traces" and sent["Content-Type"] == "application/json"
    assert (sent["Authorization"], sent["X-Scope-OrgID"]) == ("Bearer secret", "one")
    assert "secret" not in done.stdout + done.stderr

    headers.chmod(0o644)
    done = forward(collector.url, "--to-headers", headers)
    assert done.returncode == 2 and str(headers) in done.stderr


@pytest.mark.parametrize("answer, said", [((401, {}, "who?"), "--to-headers"), ((400, {}, "bad"), "HTTP 400: bad")])
def test_refusals(plumbd, forward, stub, answer, said):
    """Trying again would not help."""
    send_work(plumbd, range(1))
    done = forward(stub(answer).url)
    assert done.returncode == 1 and said in done.stderr


def test_nobody_there(plumbd, forward):
    send_work(plumbd, range(1))
    address = lasting_address()
    done = forward(f"http://{address}")
    assert done.returncode == 1 and address in done.stderr
    assert "is no address" in forward("http://user:secret@x").stderr


def now_trace(plumbd, number, spans=3):
    """A trace of now."""
    begin = time.time_ns()
    times = {"startTimeUnixNano": str(begin), "endTimeUnixNano": str(begin + 1000)}
    rest = [a_span(number, i, name="below", parentSpanId=f"{1:016x}", **times) for i in range(2, spans + 1)]
    assert post(plumbd, spans_body(a_span(number, 1, name="now", **times), *rest, service="shop"))[0] == 200


def noted(position):
    """The traces that a position names."""
    items = [json.loads(line) for line in position.read_text().splitlines()]
    return [item[0] for item in items if isinstance(item, list)]


@pytest.fixture
def following(plumbd, plumb_program, tmp_path):
    """following(URL, options...) starts one with a position and gives it; it is ended after the test."""
    started = []

    def start(url, *options):
        command = [plumb_program, "export", "--otlp", "--to", url, "--follow", "--since", "1h", *options]
        command += ["--position", tmp_path / "position", "--server", plumbd.http, "--json"]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.communicate()


def stop(running):
    """SIGTERM; the report."""
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=20)
    assert running.returncode == 0, err
    return json.loads(out) if out else None


def test_stopped_between_bodies(plumbd, following, stub, tmp_path):
    """Each body that was answered is noted: a new start sends the others alone."""
    collector = stub(seconds=0.5)
    traces, size, begin = 500, 10, time.time_ns()
    times = {"startTimeUnixNano": str(begin), "endTimeUnixNano": str(begin + 1000)}
    spans = [a_span(trace, n, **times) for trace in range(1, traces + 1) for n in range(1, size + 1)]
    assert post(plumbd, spans_body(*spans))[0] == 200
    plumbd.flush()

    running = following(collector.url)
    wait_for(lambda: len(collector.times) == 3)
    report = stop(running)
    taken = len(collector.bodies)
    assert report["spans"] == len(collector.spans()) < traces * size and report["requests"] == taken == 3
    assert len(noted(tmp_path / "position")) == len({span["traceId"] for span in collector.spans()})

    running = following(collector.url)
    wait_for(lambda: len(collector.spans()) >= traces * size)
    stop(running)
    found = [(span["traceId"], span["spanId"]) for span in collector.spans()]
    assert len(found) == len(set(found)) == traces * size


def test_position_cut_short(plumbd, following, stub, tmp_path):
    """What was sent is appended; a line that a crash cut short costs nothing else; lines of no use go some time."""
    collector, position, files = stub(), tmp_path / "position", []
    running = following(collector.url)
    for number in (1, 2):
        now_trace(plumbd, number)
        plumbd.flush()
        wait_for(lambda number=number: position.exists() and len(noted(position)) == number)
        files.append(position.stat().st_ino)
    assert files[0] == files[1]
    running.kill()
    running.wait()

    with position.open("a") as file:
        file.write('["00000000')
    running = following(collector.url)
    now_trace(plumbd, 3)
    plumbd.flush()
    wait_for(lambda: len(collector.spans()) >= 9)
    stop(running)
    assert sorted(noted(position)) == [f"{number:016x}" for number in (1, 2, 3)]
    assert len(collector.spans()) == 9

    with position.open("a") as file:
        file.write(f'["{9:016x}",1,3]\n' * 10100)
    running = following(collector.url)
    now_trace(plumbd, 4)
    plumbd.flush()
    wait_for(lambda: len(collector.spans()) >= 12)
    stop(running)
    assert sorted(noted(position)) == [f"{number:016x}" for number in (1, 2, 3, 4)]


def test_spans_that_join_later(plumbd, following, stub):
    """They are not sent, and their trace is counted once."""
    collector = stub()
    running = following(collector.url)
    now_trace(plumbd, 1)
    plumbd.flush()
    wait_for(lambda: len(collector.spans()) == 3)
    now = str(time.time_ns())
    late = a_span(1, 9, parentSpanId=f"{1:016x}", startTimeUnixNano=now, endTimeUnixNano=now)
    assert post(plumbd, spans_body(late))[0] == 200
    plumbd.flush()
    for number in (2, 3):
        now_trace(plumbd, number)
        plumbd.flush()
        wait_for(lambda number=number: len(collector.spans()) == 3 * number)
    report = stop(running)
    assert (report["spans"], report["grown_traces"]) == (9, 1)


class BreakingServer(ThreadingHTTPServer):
    """HTTPS; ends as many handshakes as it is told to."""

    breaks, context = 0, None

    def get_request(self):
        connection, address = super().get_request()
        if self.breaks == 0:
            return self.context.wrap_socket(connection, server_side=True), address
        self.breaks -= 1
        connection.recv(100)
        connection.close()
        raise OSError("ended")


def test_https_that_restarts(plumbd, following, stub, tmp_path):
    """One that ends a handshake, and has answered before, is waited for."""
    authority = Authority(tmp_path / "authority")
    certificate, key = authority.sign("collector", "IP:127.0.0.1")
    collector = stub(server=BreakingServer)
    collector.server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    collector.server.context.load_cert_chain(certificate, key)
    running = following(collector.url.replace("http:", "https:"), "--to-ca", authority.pem)
    now_trace(plumbd, 1)
    plumbd.flush()
    wait_for(lambda: len(collector.bodies) == 1)
    collector.server.breaks = 1
    now_trace(plumbd, 2)
    plumbd.flush()
    wait_for(lambda: len(collector.bodies) == 2)
    assert stop(running)["repeats"] == 1


def test_stop_waits_for_no_answer(plumbd, following):
    """A collector that takes a body and never answers is left after some seconds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        now_trace(plumbd, 1)
        plumbd.flush()
        running = following(f"http://127.0.0.1:{server.getsockname()[1]}")
        connection, _ = server.accept()
        assert connection.recv(1)
        stop(running)
        connection.close()


def test_follow(plumbd, make_plumbd, plumb_program, stub, tmp_path):
    """Through kill -9 of the forwarding and a new start of plumbd: each span arrives, and none twice."""
    collector, position = stub(), tmp_path / "position"
    command = [plumb_program, "export", "--otlp", "--to", collector.url, "--follow", "--since", "1h"]
    command += ["--position", position, "--server", plumbd.http, "--json"]

    def arrived(traces):
        return {int(span["traceId"], 16) for span in collector.spans()} == set(traces)

    def start():
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    now_trace(plumbd, 1)
    plumbd.flush()
    running = start()
    try:
        wait_for(lambda: arrived([1]))
        now_trace(plumbd, 2)
        plumbd.flush()
        wait_for(lambda: arrived([1, 2]))
        wait_for(lambda: len(noted(position)) == 2)
        running.kill()
        running.wait()
        now_trace(plumbd, 3)
        now_trace(plumbd, 4)
        plumbd.flush()

        collector.answers += [(503, {}, "")]
        running = start()
        wait_for(lambda: arrived([1, 2, 3, 4]))
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=20)
        assert running.returncode == 0, err
        report = json.loads(out)
        assert (report["spans"], report["repeats"]) == (6, 1)
    finally:
        running.kill()
    found = [(span["traceId"], span["spanId"]) for span in collector.spans()]
    assert len(found) == len(set(found)) == 12


def test_a_position_is_of_one(plumbd, following, forward, stub, tmp_path):
    """While another has it, a second forwarding is refused; then it goes on from there."""
    collector = stub()
    now_trace(plumbd, 1)
    plumbd.flush()
    first = following(collector.url)
    wait_for(lambda: len(collector.spans()) == 3)
    done = forward(collector.url, "--follow", "--position", tmp_path / "position")
    assert done.returncode != 0 and "another plumb export --follow uses" in done.stderr
    stop(first)
    now_trace(plumbd, 2)
    plumbd.flush()
    second = following(collector.url)
    wait_for(lambda: len(collector.spans()) == 6)
    stop(second)


def test_position_of_another(plumbd, forward, stub, tmp_path):
    position = tmp_path / "position"
    position.write_text(json.dumps({"version": 2, "to": "http://elsewhere", "since_time_ns": 1}) + "\n")
    done = forward(stub().url, "--follow", "--position", position)
    assert done.returncode != 0 and "is no position of a forwarding to" in done.stderr
