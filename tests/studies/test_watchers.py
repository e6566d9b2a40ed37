"""Readers of bench/ui --watch: each of them asks while it is measured, and none afterwards."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bench.lib import watchers


class Events(BaseHTTPRequestHandler):
    """Tells that something changed, ten times a second; has no functions."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append((self.path, time.monotonic()))
        if not self.path.startswith("/api/v1/events"):
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")
            return
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        for _ in range(self.server.most):
            try:
                self.wfile.write(b"event: status\ndata: {}\n\n")
            except OSError:
                break
            time.sleep(0.1)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


@pytest.fixture
def server():
    server = Server(("127.0.0.1", 0), Events)
    server.asked, server.most, server.address = [], 1000, f"127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_each_asks_in_time_and_none_afterwards(server, monkeypatch):
    monkeypatch.setattr(watchers, "EVERY_S", 1)
    with watchers.watched(server.address, 8) as those:
        time.sleep(2.5)
    ended = time.monotonic()
    assert not any(watcher.is_alive() for watcher in those)
    rounds = [watcher.rounds for watcher in those]
    assert min(rounds) >= 1 and max(rounds) <= 3
    time.sleep(1.5)
    assert [path for path, at in server.asked if at > ended] == []


def test_a_stream_that_ends_is_told(server):
    server.most = 2
    with pytest.raises(SystemExit, match="ended a stream"), watchers.watched(server.address, 2):
        time.sleep(2)
