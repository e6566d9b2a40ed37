"""How plumbd serves its page: types, caching, what the page may load, who may ask."""

import gzip
import http.client
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


def get(plumbd, path, method="GET", **headers):
    host, port = plumbd.http.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    connection.request(method, path, headers=headers)
    reply = connection.getresponse()
    return reply.status, reply.headers, reply.read()


def assets(plumbd):
    """What the page names, and the files that its scripts load later."""
    names = re.findall(r'(?:src|href)="\./(assets/[^"]+)"', gzip.decompress(get(plumbd, "/")[2]).decode())
    scripts = [gzip.decompress(get(plumbd, f"/{name}")[2]).decode() for name in names if name.endswith(".js")]
    later = {f"assets/{name}" for text in scripts for name in re.findall(r"\./([\w-]+-[\w-]{8}\.js)", text)}
    assert any("/spark-" in name for name in later)
    return [*names, *sorted(later - set(names))]


def test_the_page_and_its_files(plumbd):
    status, headers, body = get(plumbd, "/")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Content-Encoding"] == "gzip"
    assert headers["Cache-Control"] == "no-cache"
    assert "default-src 'none'; script-src 'self'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert b'<div id="page">' in gzip.decompress(body)

    types = set()
    for name in assets(plumbd):
        status, headers, body = get(plumbd, f"/{name}")
        assert status == 200 and len(body) == int(headers["Content-Length"]) and gzip.decompress(body)
        assert "immutable" in headers["Cache-Control"] and re.search(r"-[\w-]{8}\.\w+$", name)
        types.add(headers["Content-Type"])
    assert types == {"text/javascript; charset=utf-8", "text/css; charset=utf-8", "image/svg+xml"}


def test_a_view_that_did_not_come_comes_when_it_is_asked_for_again(plumbd, open_page):
    page = open_page(plumbd)
    missing = "**/assets/spark-*.js"
    page.page.route(missing, lambda route: route.fulfill(status=404))
    page.open("apps")
    page.page.locator(".notice.bad", has_text="This view did not come").wait_for()
    page.page.unroute(missing)
    page.page.keyboard.press("r")
    page.page.locator("h1", has_text="Applications").wait_for()


def test_head_has_no_body(plumbd):
    status, headers, body = get(plumbd, "/", "HEAD")
    assert (status, body) == (200, b"") and int(headers["Content-Length"]) > 0


@pytest.mark.parametrize(
    "path, method, code",
    [("/assets/none.js", "GET", 404), ("/assets/", "GET", 404), ("/index.htm", "GET", 404), ("/", "POST", 405)],
)
def test_nothing_else(plumbd, path, method, code):
    status, headers, body = get(plumbd, path, method)
    assert status == code and headers["Content-Type"] == "application/json" and b'"error"' in body


def test_other_names_and_pages_are_refused(plumbd):
    """DNS rebinding: a page of others has its own name point here."""
    for path in ("/", f"/{assets(plumbd)[0]}", "/api/v1/status"):
        assert get(plumbd, path, Host="evil.example")[0] == 421
        assert get(plumbd, path, Origin="http://evil.example")[0] == 403


class Gateway(BaseHTTPRequestHandler):
    """As nginx with `location /gate/plumb/ { proxy_pass http://plumbd/; }`."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        prefix = "/gate/plumb"
        if not self.path.startswith(f"{prefix}/"):
            self.send_error(404)
            return
        status, headers, body = get(self.server.plumbd, self.path.removeprefix(prefix))
        self.send_response(status)
        for name in ("Content-Type", "Content-Encoding", "Content-Security-Policy", "Content-Length"):
            if headers[name]:
                self.send_header(name, headers[name])
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def gateway(cluster):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    server.plumbd = cluster
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/gate/plumb/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_behind_a_prefix(gateway, cluster, open_page):
    page = open_page(cluster)
    page.base = gateway
    page.open("functions")
    assert page.cells("Functions")
