"""Logins in a real browser, by the form and by a ticket of Kerberos, and what pages of others reach in it."""

import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.receiver.waiting import wait_for
from tests.secure.conftest import authority, events, kdc, kerberos, secure  # noqa: F401 (fixtures)
from tests.secure.kdc import REALM
from tests.secure.tokens import line, write_tokens

TOKEN = "plumb_reader_0123456789"


def test_by_the_form(secure, open_page, tmp_path):  # noqa: F811
    """A wrong token is said so; with a good one the page comes, and no script sees what stands for it."""
    tokens = write_tokens(tmp_path / "tokens", line("reader", "read", TOKEN))
    plumbd = secure(auth__tokens=tokens, access__read="cert:nobody", audit__path=tmp_path / "audit.log")
    page = open_page(plumbd, ignore_https_errors=True).page
    page.goto(f"https://localhost:{plumbd.http.rsplit(':', 1)[1]}/")
    assert page.title() == "Plumbline: log in"
    page.get_by_label("Token").fill("plumb_guess")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("alert").filter(has_text="there is no such token").wait_for()
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    page.locator("#page h1").wait_for()
    assert page.evaluate("document.cookie + JSON.stringify(localStorage)").count("plumb_") == 0
    (cookie,) = page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (
        "__Host-plumb", True, True, "Strict"
    )  # fmt: skip
    assert [found["principal"] for found in events(tmp_path, "login")] == ["token:reader"]


@pytest.fixture(scope="session")
def other_browser(browser, kdc, tmp_path_factory):  # noqa: F811
    """It shows tickets to localhost, which it does not do in private, and believes that rebound.example is this
    machine."""
    context = browser.browser_type.launch_persistent_context(
        tmp_path_factory.mktemp("profile"), executable_path=shutil.which("chromium"),
        env=kdc.login("people", "people"), ignore_https_errors=True,
        args=["--no-sandbox", "--disable-gpu", "--auth-server-allowlist=localhost",
              "--host-resolver-rules=MAP rebound.example 127.0.0.1"],
    )  # fmt: skip
    yield context
    context.close()


def test_by_a_ticket(kerberos, other_browser, tmp_path):  # noqa: F811
    plumbd = kerberos(audit__log="reads").start()
    page = other_browser.new_page()
    address = f"https://localhost:{plumbd.http.rsplit(':', 1)[1]}/"
    wait_for(lambda: page.goto(address).status == 200)  # until the browser, which has just begun, shows tickets
    page.locator("#page h1").wait_for()
    page.close()
    assert {found["principal"] for found in events(tmp_path, "question")} == {f"krb5:people@{REALM}"}


class Evil(BaseHTTPRequestHandler):
    """A page of somebody else, which has its reader's browser ask plumbd in every way that there is."""

    def do_GET(self):
        base = f"http://{self.server.plumbd.http}/api/v1"
        body = f"""<!doctype html><title>evil</title><img src="{base}/export"><script src="{base}/status"></script>
<link rel="stylesheet" href="{base}/functions"><iframe src="{base}/senders"></iframe><iframe name="in"></iframe>
<form id="form" method="post" target="in" action="{base}/flush"></form>
<script>
document.getElementById('form').submit();
const json = {{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: '{{}}'}};
const asked = [fetch('{base}/flush', {{method: 'POST', mode: 'no-cors'}}), fetch('{base}/nodes'),
               fetch('{base}/shell/run', json)];
Promise.allSettled(asked).then((all) => document.title = all.map((one) => one.status).join());
</script>""".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def evil(make_plumbd, tmp_path):
    """Its address, at another name than plumbd, which is server.plumbd."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    server.plumbd = make_plumbd(audit__path=tmp_path / "audit.log", audit__log="reads").start()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_pages_of_others(evil, open_page, tmp_path):
    """Nothing is done, and nothing is asked, for any of them."""
    page = open_page(evil.plumbd)
    page.page.goto(f"http://localhost:{evil.server_port}/")
    page.page.wait_for_function("document.title != 'evil'")
    routes = {f"/api/v1/{route}" for route in ("export", "status", "functions", "senders", "flush", "nodes")}
    wait_for(lambda: {found["route"] for found in events(tmp_path, "denied")} == routes)
    page.errors.clear()  # the browser says what it was refused
    for action in ("flush", "export", "question", "analysis"):
        assert events(tmp_path, action) == [], action


def test_a_name_that_points_here(plumbd, other_browser):
    """DNS rebinding: for the browser it is the page's own server."""
    page = other_browser.new_page()
    answer = page.goto(f"http://rebound.example:{plumbd.http.rsplit(':', 1)[1]}/api/v1/status")
    assert answer.status == 421 and "http.hosts" in answer.text()
    page.close()
    assert set(plumbd.receiver()["rejected_http"]) == {"unknown Host"}
