"""Tokens and roles: every role at every route by every way to log in; what is taken back, has ended, or is no login."""

import contextlib
import datetime
import hashlib
import http.client
import os
import re
import signal
import socket
import struct
import subprocess

import pytest

from tests.conftest import ROOT
from tests.receiver.sender import OK, TRY_LATER, span
from tests.receiver.waiting import wait_for
from tests.secure.conftest import SecureSender, ask, trusting
from tests.secure.test_listening import refused
from tests.secure.tokens import basic, bearer, line, write_tokens

ROLES = ["write", "read", "metrics", "peer", "admin"]


def token_of(role):
    return f"plumb_{role}_0123456789"


@pytest.fixture
def tokens(tmp_path):
    return write_tokens(tmp_path / "tokens", *(line(f"a-{role}", role, token_of(role)) for role in ROLES))


@pytest.fixture
def locked(secure, authority, tokens):
    """Nobody may do anything who does not say who it is."""
    access = {f"access__{role}": f"cert:{role}" for role in ROLES}
    for role in ROLES:
        if not (authority.folder / f"{role}.pem").exists():
            authority.sign(role)
    return secure(auth__tokens=tokens, tls__clients=authority.pem, **access)


def login(plumbd, context, user, token, mechanism=b"PLAIN", **more):
    """(sender, status, text) after a login by SASL, as libthrift's client does it."""
    sender = SecureSender(plumbd, context, **more)
    secret = b"\0" + user.encode() + b"\0" + token.encode()
    sender.write(
        b"\x01" + struct.pack(">i", len(mechanism)) + mechanism + b"\x05" + struct.pack(">i", len(secret)) + secret
    )
    status, size = struct.unpack(">bi", sender.read_exactly(5))
    return sender, status, sender.read_exactly(size)


# ---- the matrix ----

ROUTES = {  # path: (method, role); docs/security.md has the same for people
    "/healthz": ("GET", None),
    "/readyz": ("GET", None),
    "/metrics": ("GET", "metrics"),
    "/api/v1/status": ("GET", "read"),
    "/api/v1/functions": ("GET", "read"),
    "/api/v1/trace/columns": ("GET", "read"),
    "/api/v1/tasks/columns": ("GET", "read"),
    "/api/v1/series/columns": ("GET", "read"),
    "/api/v1/events?topics=none": ("GET", "read"),
    "/api/v1/export": ("GET", "read"),
    "/api/v1/marks": ("POST", "write"),
    "/api/v1/marks?kind=fault": ("GET", "read"),
    "/api/v1/shell/analyses": ("GET", "read"),
    "/api/v1/shell/runs": ("GET", "read"),
    "/api/v1/shell/output": ("GET", "read"),
    "/api/v1/shell/run": ("POST", "read"),
    "/api/v1/shell/stop": ("POST", "read"),
    "/api/services": ("GET", "read"),
    "/api/services/NameNode/operations": ("GET", "read"),
    "/api/operations": ("GET", "read"),
    "/api/traces": ("GET", "read"),
    "/api/traces/1": ("GET", "read"),
    "/api/dependencies": ("GET", "read"),
    "/api/v3/services": ("GET", "read"),
    "/api/v3/operations": ("GET", "read"),
    "/api/v3/traces": ("GET", "read"),
    "/api/v3/traces/1": ("GET", "read"),
    "/api/v3/trace-summaries": ("GET", "read"),
    "/api/v2/spans?serviceName=web": ("GET", "read"),
    "/api/v2/services": ("GET", "read"),
    "/api/v2/remoteServices": ("GET", "read"),
    "/api/v2/traces": ("GET", "read"),
    "/api/v2/trace/1": ("GET", "read"),
    "/api/v2/traceMany": ("GET", "read"),
    "/api/v2/dependencies": ("GET", "read"),
    "/api/v2/autocompleteKeys": ("GET", "read"),
    "/api/v2/autocompleteValues": ("GET", "read"),
    "/server/version": ("GET", "read"),
    "/server/info": ("GET", "read"),
    "/span/1": ("GET", "read"),
    "/span/1/children": ("GET", "read"),
    "/query": ("GET", "read"),
    "/": ("GET", "read"),
    "/assets/none.js": ("GET", "read"),
    "/api/v1/flush": ("POST", "admin"),
    "/v1/traces": ("POST", "write"),
    "/api/v2/spans": ("POST", "write"),
    "/writeSpans": ("POST", "write"),
    "/login.js": ("GET", None),
    "/logout": ("POST", None),
    "/nobody/listed/this": ("GET", "admin"),
    "/api/v1/a/b": ("GET", "admin"),
    "/v2": ("POST", "admin"),
}


def suffices(role, needed):
    return needed is None or role in (needed, "admin") or (role, needed) == ("read", "metrics")


def ways(authority, role):
    """Every way to log in as one who has the role: (context, headers)."""
    plain = trusting(authority)
    shown = trusting(authority, authority.folder / f"{role}.pem", authority.folder / f"{role}.key")
    token = token_of(role)
    return {
        "bearer": (plain, bearer(token)),
        "basic": (plain, basic(f"a-{role}", token)),
        "basic, any user": (plain, basic("token", token)),
        "certificate": (shown, {}),
    }


def test_every_role_at_every_route(locked, authority):
    for path, (method, needed) in ROUTES.items():
        nobody, _ = ask(locked, trusting(authority), path, method)
        assert (nobody == 401) == (needed is not None), (path, nobody)
        for role in ROLES:
            session = set_cookie(locked, trusting(authority), "/login", bearer(token_of(role)))[1].split(";")[0]
            cookie = {"cookie": (trusting(authority), {"Cookie": session})}
            for way, (context, headers) in (ways(authority, role) | cookie).items():
                status, body = ask(locked, context, path, method, headers)
                assert (status == 403) == (not suffices(role, needed)), (path, role, way, status, body)
                assert status != 401, (path, role, way)


def test_the_matrix_has_every_route():
    """One that somebody adds needs its row."""
    source = (ROOT / "receiver/http/http.c").read_text()
    table = source.split("static const Route routes[] = {")[1].split("{0},")[0]
    rows = re.findall(r'\{(API )?"([^"]+)", ACCESS_(\w+), (TRUE|FALSE)', table)
    assert len(rows) == table.count("ACCESS_")
    for api, path, role, post in rows:
        pattern = re.escape(("/api/v1/" if api else "") + path).replace(r"\*", "[^/]+")
        if path == "/login":
            continue  # that takes a token whatever its role: test_session
        known = [value for name, value in ROUTES.items() if re.fullmatch(pattern, name.split("?")[0])]
        expected = ("POST" if post == "TRUE" else "GET", None if role == "ANYBODY" else role.lower())
        assert expected in known, (path, expected, known)


def test_every_role_at_the_span_port(locked, authority):
    """Who may not write is told to wait: nothing is lost. By a token with either user, a certificate, and by nothing;
    tickets are in test_kerberos.py."""
    plain = trusting(authority)

    def sends(sender, number, may, who):
        with sender:
            reply = sender.submit([span(1, number)])
        assert reply.status == (OK if may else TRY_LATER), who
        assert may or reply.wait_ms == 10_000

    for number, role in enumerate(ROLES, 1):
        for user in (f"a-{role}", "token"):
            sender, status, _ = login(locked, plain, user, token_of(role))
            assert status == 5
            sends(sender, number, suffices(role, "write"), (role, user))
        shown, _ = ways(authority, role)["certificate"]
        sends(SecureSender(locked, shown), number, suffices(role, "write"), (role, "certificate"))
    sends(SecureSender(locked, plain), 1, False, "nobody")


@pytest.mark.parametrize("path", ["/v1/traces", "/api/v2/spans", "/writeSpans", "/api/v1/marks"])
def test_what_strangers_bring_is_not_read(locked, authority, path):
    """It would be memory of ours, 32 MiB each: the answer is there before the body, which is not asked for either."""
    host, port = locked.http.rsplit(":", 1)
    size = 60_000 if "marks" in path else 20_000_000
    for headers in ({}, bearer(token_of("metrics"))):
        with socket.create_connection((host, int(port)), timeout=60) as plain:
            connection = trusting(authority).wrap_socket(plain, server_hostname="localhost")
            lines = {"Host": locked.http, "Content-Length": size, "Expect": "100-continue", **headers}
            head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
            connection.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode())
            first = connection.recv(65536)
            assert first.startswith(b"HTTP/1.1 403 " if headers else b"HTTP/1.1 401 ")
            assert b"\r\nConnection: close\r\n" in first


# ---- what is no login ----


def test_wrong_logins(locked, authority):
    plain = trusting(authority)
    wrong = [
        bearer("plumb_guess"),
        bearer(token_of("read") + "x"),
        basic("a-write", token_of("read")),
        {"Authorization": "Basic !!!"},
        {"Authorization": f"Digest {token_of('read')}"},
        {"Cookie": "__Host-plumb=00000000000000000000000000000000"},
    ]
    for headers in wrong:
        assert ask(locked, plain, "/api/v1/status", headers=headers)[0] == 401, headers
    for user, token, mechanism in (
        ("token", "plumb_guess", b"PLAIN"),
        ("a-write", token_of("read"), b"PLAIN"),
        ("token", token_of("write"), b"GSSAPI"),
    ):
        sender, status, text = login(locked, plain, user, token, mechanism)
        assert status == 4 and text, (user, mechanism)
        assert sender.closed_by_peer()
    metrics = ask(locked, plain, "/metrics", headers=bearer(token_of("metrics")))[1].decode()
    assert 'plumbd_connections_refused_total{reason="login refused"} 3' in metrics
    assert 'plumbd_http_rejected_total{reason="login refused"} 3' in metrics


def test_no_token_is_ever_logged(locked, authority, tokens):
    plain = trusting(authority)
    for role in ROLES:
        ask(locked, plain, "/api/v1/status", headers=bearer(token_of(role)))
        login(locked, plain, "token", token_of(role))[0].socket.close()
    login(locked, plain, "token", "plumb_wrong_secret")[0].socket.close()
    locked.signal(signal.SIGHUP)
    wait_for(lambda: "reload: " in locked.messages())
    assert "plumb_" not in locked.messages()
    assert hashlib.sha256(token_of("read").encode()).hexdigest() not in locked.messages()


# ---- what changes ----


def test_tokens_that_are_taken_back(locked, authority, tokens):
    """On SIGHUP; an open connection of one that is gone may not send any more, another goes on."""
    plain = trusting(authority)
    sender, _, _ = login(locked, plain, "token", token_of("write"))
    other, _, _ = login(locked, plain, "token", token_of("admin"))
    with sender, other:
        assert sender.submit([span(1, 1)]).status == OK
        write_tokens(tokens, line("a-admin", "admin", token_of("admin")), line("new", "read", "plumb_new"))
        locked.signal(signal.SIGHUP)
        wait_for(lambda: ask(locked, plain, "/api/v1/status", headers=bearer("plumb_new"))[0] == 200)
        assert ask(locked, plain, "/api/v1/status", headers=bearer(token_of("read")))[0] == 401
        assert sender.closed_by_peer()  # it has been there for longer than a login may take
        assert other.submit([span(1, 2)]).status == OK


def is_out(sender):
    """Told to log in, or closed, as it has been there for longer than that may take."""
    try:
        return sender.submit([span(2, 1)]).status == TRY_LATER
    except OSError:
        return True


def test_a_token_that_is_replaced(locked, authority, tokens):
    """Under the same name, as when the old one was stolen: who came in by that is out, browsers and senders, too."""
    plain = trusting(authority)
    old, new = (line("a-admin", "admin", token_of(name)) for name in ("admin", "second"))
    cookie = set_cookie(locked, plain, "/login", bearer(token_of("admin")))[1].split(";")[0]
    stolen, _, _ = login(locked, plain, "token", token_of("admin"))
    write_tokens(tokens, old, new)
    locked.signal(signal.SIGHUP)
    wait_for(lambda: ask(locked, plain, "/api/v1/status", headers=bearer(token_of("second")))[0] == 200)
    fresh, _, _ = login(locked, plain, "token", token_of("second"))
    with stolen, fresh:
        assert ask(locked, plain, "/api/v1/status", headers={"Cookie": cookie})[0] == 200
        assert stolen.submit([span(1, 1)]).status == fresh.submit([span(1, 2)]).status == OK
        write_tokens(tokens, new)
        locked.signal(signal.SIGHUP)
        wait_for(lambda: ask(locked, plain, "/api/v1/status", headers={"Cookie": cookie})[0] == 401)
        assert fresh.submit([span(1, 3)]).status == OK
        wait_for(lambda: is_out(stolen))


def test_a_token_has_its_own_roles(locked, authority, tokens):
    """And not those of another of its name."""
    plain = trusting(authority)
    write_tokens(tokens, line("ops", "write", "plumb_sends"), line("ops", "read", "plumb_reads"))
    locked.signal(signal.SIGHUP)
    wait_for(lambda: ask(locked, plain, "/api/v1/status", headers=bearer("plumb_reads"))[0] == 200)
    assert ask(locked, plain, "/api/v1/status", headers=bearer("plumb_sends"))[0] == 403
    for token, expected in (("plumb_sends", OK), ("plumb_reads", TRY_LATER)):
        with login(locked, plain, "ops", token)[0] as sender:
            assert sender.submit([span(1, 1)]).status == expected


def test_a_bad_file_changes_nothing(locked, authority, tokens):
    write_tokens(tokens, "nonsense\n")
    locked.signal(signal.SIGHUP)
    wait_for(lambda: "line 2: write NAME ROLE HASH UNTIL" in locked.messages())
    assert ask(locked, trusting(authority), "/api/v1/status", headers=bearer(token_of("read")))[0] == 200


def test_tokens_that_have_ended(secure, authority, tmp_path):
    today = datetime.datetime.now(datetime.UTC).date()
    yesterday = today - datetime.timedelta(days=1)
    path = write_tokens(
        tmp_path / "tokens",
        line("old", "read", "plumb_old", yesterday),
        line("last", "read", "plumb_last", today + datetime.timedelta(days=1)),
    )
    plumbd = secure(auth__tokens=path, access__read="cert:nobody")
    plain = trusting(authority)
    assert ask(plumbd, plain, "/api/v1/status", headers=bearer("plumb_old"))[0] == 401
    assert ask(plumbd, plain, "/api/v1/status", headers=bearer("plumb_last"))[0] == 200


@pytest.mark.parametrize("wrong", ["readable", "link", "role", "hash", "day", "twice", "name"])
def test_bad_files(make_plumbd, authority, tmp_path, wrong):
    good = line("a", "read", "x")
    texts = {
        "role": good.replace("read", "root"),
        "hash": good.replace("a read ", "a read A"),
        "day": line("a", "read", "x", "2027-13-01"),
        "twice": good + good,
        "name": line("token", "read", "x"),
    }
    path = write_tokens(tmp_path / "tokens", texts.get(wrong, good))
    if wrong == "readable":
        os.chmod(path, 0o644)
    elif wrong == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    settings = {"tls__certificate": authority.folder / "server.pem", "tls__key": authority.folder / "server.key"}
    messages = refused(make_plumbd(auth__tokens=path, **settings))
    assert "auth.tokens: " in messages and str(path) in messages and len(messages.splitlines()) == 1


def test_a_token_needs_tls(make_plumbd, tmp_path):
    """Without, others read it on the way: it is no way to log in."""
    path = write_tokens(tmp_path / "tokens", line("a", "read", "x"))
    plumbd = make_plumbd(auth__tokens=path, access__read="cert:nobody").start()
    assert ", no TLS, no login\n" in plumbd.messages()
    assert plumbd.fetch("/api/v1/status")[0] == 401
    assert "no TLS and no way to log in" in refused(make_plumbd(auth__tokens=path, listen__http="0.0.0.0:0"))


# ---- the page ----


def set_cookie(plumbd, context, path, headers):
    host, port = plumbd.http.rsplit(":", 1)
    connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=60)
    connection.request("POST", path, headers=headers)
    reply = connection.getresponse()
    reply.read()
    connection.close()
    return reply.status, reply.getheader("Set-Cookie")


def test_session(locked, authority, tokens):
    """A browser gets a form, logs in once, and has a cookie that no script reads; it ends with its token."""
    plain = trusting(authority)
    status, form = ask(locked, plain, "/")
    assert status == 401 and b'<script src="/login.js" defer>' in form
    assert set_cookie(locked, plain, "/login", {})[0] == 401
    status, cookie = set_cookie(locked, plain, "/login", bearer(token_of("read")))
    value = re.fullmatch(
        r"(__Host-plumb=[0-9a-f]{32}); Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200", cookie
    ).group(1)
    here = {"Cookie": f"other=1; {value}"}
    assert status == 200 and ask(locked, plain, "/api/v1/status", headers=here)[0] == 200
    assert ask(locked, plain, "/", headers=here)[0] in (200, 404)  # 404: built without the page
    assert ask(locked, plain, "/api/v1/flush", "POST", here)[0] == 403
    foreign = {**here, "Origin": "https://evil.example"}
    assert ask(locked, plain, "/api/v1/status", headers=foreign)[0] == 403
    assert set_cookie(locked, plain, "/login", here) == (401, None)  # it lasts for twelve hours, and brings no other
    assert set_cookie(locked, plain, "/login", {**here, **bearer(token_of("read"))})[0] == 200
    assert "Max-Age=0" in set_cookie(locked, plain, "/logout", here)[1]
    assert ask(locked, plain, "/api/v1/status", headers=here)[0] == 401

    _, cookie = set_cookie(locked, plain, "/login", bearer(token_of("read")))
    here = {"Cookie": cookie.split(";")[0]}
    assert ask(locked, plain, "/api/v1/status", headers=here)[0] == 200
    write_tokens(tokens, line("a-admin", "admin", token_of("admin")))
    locked.signal(signal.SIGHUP)
    wait_for(lambda: ask(locked, plain, "/api/v1/status", headers=here)[0] == 401)


class Watcher:
    """Reads events of which none come, but for the first."""

    def __init__(self, plumbd, context, headers):
        host, port = plumbd.http.rsplit(":", 1)
        self.connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=10)
        self.connection.request("GET", "/api/v1/events?topics=runs", headers=headers)
        self.reply = self.connection.getresponse()
        self.status = self.reply.status

    def ends(self):
        """Before the next beat, which is 15 s away."""
        with contextlib.suppress(http.client.IncompleteRead):
            while self.reply.read1(65536):
                pass
        self.connection.close()
        return True


def test_streams_of_who_may_read_no_more(locked, authority, tokens):
    """A stream ends when the session ends that it is of, and when the rules change: whoever may go on comes again."""
    plain = trusting(authority)
    stream = Watcher(locked, plain, bearer(token_of("read")))
    _, cookie = set_cookie(locked, plain, "/login", bearer(token_of("read")))
    here = {"Cookie": cookie.split(";")[0]}
    of_session = Watcher(locked, plain, here)
    assert (stream.status, of_session.status) == (200, 200)
    set_cookie(locked, plain, "/logout", here)
    assert of_session.ends() and Watcher(locked, plain, here).status == 401
    stream.connection.sock.settimeout(1)
    with pytest.raises(TimeoutError):  # that one goes on
        stream.ends()

    stream = Watcher(locked, plain, bearer(token_of("read")))
    write_tokens(tokens, line("a-admin", "admin", token_of("admin")))
    locked.signal(signal.SIGHUP)
    assert stream.ends() and Watcher(locked, plain, bearer(token_of("read"))).status == 401
    assert Watcher(locked, plain, bearer(token_of("admin"))).status == 200


# ---- the programs ----


def run(*command, **more):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, **more)


def test_plumb_token_new(secure, authority, plumb_program, build_dir, tmp_path):
    """As the recipe of docs/security.md does it: make tokens, log in by them with every program."""
    path = tmp_path / "tokens"
    files = {}
    for role in ("write", "read"):
        made = run(plumb_program, "token", "new", f"my-{role}", "--role", role, "--tokens", path)
        assert made.returncode == 0 and re.fullmatch(r"plumb_[\w-]{43}\n", made.stdout), made.stderr
        files[role] = tmp_path / f"{role}.token"
        files[role].write_text(made.stdout)
        os.chmod(files[role], 0o600)
    assert path.stat().st_mode & 0o777 == 0o600 and len(path.read_text().splitlines()) == 2
    plumbd = secure(auth__tokens=path, access__write="cert:nobody", access__read="cert:nobody")

    to = ["--server", plumbd.http, "--ca", authority.pem]
    assert run(plumb_program, "status", *to, "--token-file", files["read"]).returncode == 0
    assert run(plumb_program, "status", *to, env={"PLUMB_TOKEN_FILE": str(files["read"])}).returncode == 0
    denied = run(plumb_program, "status", *to, "--token-file", files["write"])
    assert denied.returncode == 1 and "token:my-write lacks the role" in denied.stderr
    assert "needs a login" in run(plumb_program, "status", *to).stderr

    bridge = [build_dir / "spark-bridge/plumb-bridge", "--receiver", f"localhost:{plumbd.thrift[1]}"]
    log = ROOT / "tests/data/spark/4.3.0/executor_lost.zstd"
    sent = run(*bridge, "--ca", authority.pem, "--token-file", files["write"], log)
    assert sent.returncode == 0, sent.stderr
    files["write"].write_text("plumb_wrong\n")
    refused_token = run(*bridge, "--ca", authority.pem, "--token-file", files["write"], log)
    assert refused_token.returncode == 1 and "is refused: there is no such token" in refused_token.stderr
    os.chmod(files["read"], 0o644)
    assert "chmod 600" in run(plumb_program, "status", *to, "--token-file", files["read"]).stderr


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["old", "x", "--role", "read"], "plumb token new"),
        (["new", "a b", "--role", "read"], "is no name"),
        (["new", "x"], "--role"),
        (["new", "x", "--role", "root"], "must be one of"),
        (["new"], "plumb token new bridge"),
    ],
)
def test_wrong_commands(plumb_program, arguments, named):
    done = run(plumb_program, "token", *arguments)
    assert done.returncode == 2 and named in done.stderr and done.stdout == ""


def test_strangers_are_not_told_why(secure, authority, tokens):
    """A probe needs the state alone; paths and figures of the machine are for who may read, or has metrics."""
    access = {f"access__{role}": f"cert:{role}" for role in ROLES}
    plumbd = secure(auth__tokens=tokens, store__min_free="1000G", **access)
    plain = trusting(authority)
    wait_for(lambda: ask(plumbd, plain, "/readyz")[0] == 503)
    assert ask(plumbd, plain, "/readyz")[1] == b"not ready\n"
    assert b"store.min-free" in ask(plumbd, plain, "/readyz", headers=bearer(token_of("metrics")))[1]
