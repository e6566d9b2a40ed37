"""What the tests of `plumb` share: where the programs are, a server of canned answers, a real plumbd."""

import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.conftest import lasting_address

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("PLUMB_BUILD") or ROOT / "build/default")
PLUMB = BUILD / "analyzer/plumb"
PLUMBD = Path(os.environ.get("PLUMBD") or BUILD / "receiver/plumbd")
DATA = Path(__file__).parent / "data"
# No terminal, UTF-8, nothing of the caller's environment.
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
for option in ("ASAN_OPTIONS", "TSAN_OPTIONS"):
    if option in os.environ:
        ENVIRONMENT[option] = os.environ[option]


def run_plumb(*arguments, env=None, stdin=None, timeout=120):
    """Runs plumb to its end; stdout and stderr are text."""
    return subprocess.run(
        [PLUMB, *map(str, arguments)],
        env={**ENVIRONMENT, **(env or {})},
        input=stdin,
        capture_output=True,
        timeout=timeout,
        text=not isinstance(stdin, bytes),
        encoding=None,
    )


class CannedServer:
    """Answers every request with the document it was told, and keeps what was asked."""

    def __init__(self):
        self.status, self.body, self.asked, self.cut = 200, b"{}", [], False
        self.announced = None  # bytes of the body, as the header says; None: as they are
        self.unknown = set()  # paths of questions that an older plumbd does not know
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                url = urlsplit(self.path)
                outer.asked.append((self.command, url.path, parse_qsl(url.query, keep_blank_values=True)))
                unknown = url.path in outer.unknown
                body = b'{"error": "no such question"}' if unknown else outer.body
                self.send_response(404 if unknown else outer.status)
                length = outer.announced or len(body) + (1000 if outer.cut else 0)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=lambda: self.server.serve_forever(poll_interval=0.01), daemon=True)
        self.thread.start()

    def answer(self, document, status=200):
        self.status = status
        self.body = document if isinstance(document, bytes) else json.dumps(document).encode()

    def answer_file(self, name):
        self.answer((DATA / name).read_bytes())

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def canned():
    server = CannedServer()
    yield server
    server.close()


@pytest.fixture
def closed_port():
    """An address of this machine where nobody listens."""
    import socket

    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))  # bound, never listening: connections are refused while it lives
        yield f"127.0.0.1:{reserved.getsockname()[1]}"


@pytest.fixture
def plumbd(tmp_path):
    from tests.cli.real import Plumbd

    daemon = Plumbd(tmp_path, listen__thrift=lasting_address(), listen__http=lasting_address())
    yield daemon
    daemon.clean_up()
