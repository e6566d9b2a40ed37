"""Logins by Kerberos with a real KDC: curl with SPNEGO, and libthrift's SASL, on both ports."""

import base64
import contextlib
import fcntl
import http.client
import json
import os
import re
import select
import signal
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.receiver.sender import OK, TRY_LATER, span
from tests.receiver.waiting import wait_for
from tests.secure.conftest import SERVICES, SecureSender, ask, events, receiver, trusting
from tests.secure.kdc import REALM
from tests.secure.test_listening import refused
from tests.secure.test_tokens import ROLES, ROUTES, suffices


def curl(plumbd, authority, environment, path="/api/v1/status", *more):
    """(status, headers and body)"""
    port = plumbd.http.rsplit(":", 1)[1]
    command = ["curl", "-sS", "-i", "--negotiate", "-u", ":", "--cacert", authority.pem, *more]
    done = subprocess.run([*command, f"https://localhost:{port}{path}"], env=environment, capture_output=True,
                          text=True, timeout=60)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return int(re.findall(r"^HTTP/1.1 (\d+)", done.stdout, re.M)[-1]), done.stdout


# ---- HTTP ----


def test_curl(kerberos, kdc, authority, tmp_path):
    plumbd = kerberos(audit__log="reads").start()
    assert "open to" not in plumbd.messages() and "TLS, login by Kerberos" in plumbd.messages()
    status, text = curl(plumbd, authority, kdc.login("people", "people"))
    assert status == 200 and '"receiver"' in text and "WWW-Authenticate: Negotiate " in text
    assert curl(plumbd, authority, kdc.login("people", "people"), "/api/v1/flush", "-X", "POST")[0] == 403
    status, text = curl(plumbd, authority, kdc.login("dn", "dn/h1.example"))
    assert status == 403 and f"krb5:dn/h1.example@{REALM} lacks the role" in text
    status, text = curl(plumbd, authority, kdc.env(KRB5CCNAME="FILE:/none"))
    assert status == 401 and "WWW-Authenticate: Negotiate\n" in text and "Bearer" in text
    asked = events(tmp_path, "question")
    assert [line["principal"] for line in asked] == [f"krb5:people@{REALM}"]


def test_a_name_with_an_at(kerberos, kdc, authority, tmp_path):
    """What ends in "@SITE" for a pattern may be a part of a name, or of another realm's: it is nobody."""
    kdc.keytab("odd", f"odd\\@{REALM}")
    plumbd = kerberos(access__read=f"krb5:*@{REALM}").start()
    assert curl(plumbd, authority, kdc.login("odd", f"odd\\@{REALM}"))[0] == 401
    assert "nobody with a name" in events(tmp_path, "login refused")[0]["outcome"]


def statuses(plumbd, authority, environment, paths, method):
    """Of all of them, by one curl that shows a ticket for each."""
    port = plumbd.http.rsplit(":", 1)[1]
    command = ["curl", "-sS", "--negotiate", "-u", ":", "--cacert", authority.pem, "-X", method,
               "-H", "Connection: close", "-w", "%{http_code}\\n"]  # fmt: skip
    for path in paths:
        command += ["-o", "/dev/null", f"https://localhost:{port}{path}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [int(status) for status in done.stdout.split()]


def test_every_role_at_every_route(kerberos, kdc, authority):
    """The matrix of test_tokens.py, by tickets."""
    for role in ROLES:
        kdc.keytab(f"of-{role}", f"of-{role}")
    plumbd = kerberos(**{f"access__{role}": f"krb5:of-{role}@{REALM}" for role in ROLES}).start()
    for role in ROLES:
        environment = kdc.login(f"of-{role}", f"of-{role}")
        for method in ("GET", "POST"):
            rows = [(path, needed) for path, (how, needed) in ROUTES.items() if how == method]
            found = statuses(plumbd, authority, environment, [path for path, _ in rows], method)
            for (path, needed), status in zip(rows, found, strict=True):
                assert (status == 403) == (not suffices(role, needed)) and status != 401, (role, path, status)


def test_plumb(kerberos, kdc, authority, plumb_program):
    plumbd = kerberos().start()
    command = [plumb_program, "status", "--server", f"localhost:{plumbd.http.rsplit(':', 1)[1]}", "--negotiate"]
    command += ["--ca", authority.pem]

    def run(environment):
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    good = run(kdc.login("people", "people"))
    assert good.returncode == 0 and "login by Kerberos" in good.stdout, good.stderr
    other = run(kdc.login("dn", "dn/h1.example"))
    assert other.returncode == 1 and "lacks the role" in other.stderr
    nobody = run(kdc.env(KRB5CCNAME="FILE:/none"))
    assert nobody.returncode == 1 and "needs a login" in nobody.stderr


def test_bridge_and_import(kerberos, kdc, authority, build_dir, plumb_program, tmp_path):
    """Both send to the span port. Who lacks the role is told; who has no ticket is, too."""
    plumbd = kerberos(access__read="anonymous").start()
    to = ["--receiver", f"localhost:{plumbd.thrift[1]}", "--ca", authority.pem, "--negotiate"]
    bridge = [build_dir / "spark-bridge/plumb-bridge", *to, ROOT / "tests/data/spark/4.3.0/executor_lost.zstd"]
    spans = tmp_path / "spans.json"
    spans.write_text('{"a":"%s","b":1,"e":2,"d":"op","r":"Client/h/1","p":[]}\n' % ("1" * 32))
    server = ["--thrift", to[1], "--server", f"localhost:{plumbd.http.rsplit(':', 1)[1]}", *to[2:]]

    def run(command, environment):
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    sender = kdc.login("dn", "dn/h1.example")
    good = run(bridge, sender)
    assert good.returncode == 0, good.stderr
    assert receiver(plumbd, trusting(authority))["records"]["received"] > 0
    imported = run([plumb_program, "import", spans, "--json", "--no-flush", *server], sender)
    assert imported.returncode == 0 and json.loads(imported.stdout)["spans_accepted"] == 1, imported.stderr
    assert {found["principal"] for found in events(tmp_path, "login")} == {f"krb5:dn/h1.example@{REALM}"}

    itself = kdc.env(KRB5_CLIENT_KTNAME=str(kdc.folder / "dn.keytab"), KRB5CCNAME="MEMORY:itself")
    assert run(bridge, itself).returncode == 0

    nobody = run(bridge, kdc.env(KRB5CCNAME="FILE:/none"))
    assert nobody.returncode == 1 and "no login by Kerberos to plumb/localhost" in nobody.stderr
    assert "klist" in nobody.stderr
    kdc.keytab("other", "plumb/127.0.0.1")
    kdc.forget("plumb/127.0.0.1")
    other = [str(part).replace("localhost:", "127.0.0.1:") for part in bridge]
    assert "no login by Kerberos to plumb/127.0.0.1: Server" in run(other, sender).stderr


def test_what_is_no_ticket(kerberos, authority, tmp_path):
    plumbd = kerberos().start()
    plain = trusting(authority)
    for text in ("x", "!!!", base64.b64encode(os.urandom(2000)).decode(), "", base64.b64encode(b"\x60\x03a").decode()):
        status, _ = ask(plumbd, plain, "/api/v1/status", headers={"Authorization": f"Negotiate {text}"})
        assert status == 401, text
    metrics = ask(plumbd, plain, "/metrics")[1].decode()
    assert 'plumbd_http_rejected_total{reason="login refused"} 4' in metrics
    wait_for(lambda: len(events(tmp_path, "login refused")) == 4)


def shown_ticket(kdc):
    """What curl writes into Authorization, for a server that nobody else has seen it at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://localhost:{server.getsockname()[1]}/"
        command = ["curl", "-sS", "--negotiate", "-u", ":", url]
        curl = subprocess.Popen(command, env=kdc.login("people", "people"), stderr=subprocess.DEVNULL)
        peer, _ = server.accept()
        with peer, peer.makefile("rb") as stream:
            found = next(line for line in stream if line.startswith(b"Authorization: "))
        curl.wait()
    return found.decode().partition(": ")[2].strip()


def test_long_tickets(kerberos, authority, kdc):
    """With the groups of Active Directory in it a ticket is longer than a head may be; nothing else is."""
    plumbd = kerberos().start()

    def answer(authorization, **more):
        return ask(plumbd, trusting(authority), "/api/v1/status", headers={"Authorization": authorization, **more})

    for size in (20_000, 40_000, 65_536):
        status, _ = answer("Negotiate " + "A" * size)
        assert status == 401, size  # it was read, and is no ticket
    assert answer("Negotiate " + "A" * 65_600)[0] == 431
    assert answer("Bearer " + "A" * 20_000)[0] == 431
    assert answer("Negotiate " + "A" * 20_000, Cookie="A" * 20_000)[0] == 431
    metrics = ask(plumbd, trusting(authority), "/metrics")[1].decode()
    assert 'plumbd_http_rejected_total{reason="login refused"} 3' in metrics
    scheme, _, ticket = shown_ticket(kdc).partition(" ")
    assert answer(scheme + " " * 40_000 + ticket)[0] == 200


def test_tickets_have_a_share_of_memory(kerberos, authority):
    """Tickets that never end: past a peer's share they are refused, and others log in meanwhile."""
    plumbd = kerberos(listen__buffer_limit="8M").start()
    context, held = trusting(authority), []
    host, port = plumbd.http.rsplit(":", 1)
    head = b"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Negotiate " + b"A" * 40_000

    def refused():
        for peer in select.select(held, [], [], 0)[0]:
            with contextlib.suppress(ssl.SSLWantReadError, ConnectionError):  # a session of TLS comes, too
                if b" 503 " in peer.recv(100):
                    return True
        return False

    while not refused():
        assert len(held) < 400
        raw = socket.create_connection((host, int(port)), source_address=("127.0.0.2", 0))
        held.append(context.wrap_socket(raw, server_hostname="localhost"))
        held[-1].sendall(head)
        held[-1].setblocking(False)
    assert ask(plumbd, context, "/api/v1/status", headers={"Authorization": "Negotiate " + "A" * 20_000})[0] == 401
    for peer in held:
        peer.close()


# ---- the span port ----


def libthrift():
    """Its jars, which the build of the Java parts has fetched."""
    repository = Path.home() / ".m2/repository/org"
    found = [sorted(repository.glob(part)) for part in
             ("apache/thrift/libthrift/*/libthrift-*.jar", "slf4j/slf4j-api/1.7.*/slf4j-api-1.7.*.jar")]  # fmt: skip
    assert all(found), f"libthrift is not in {repository}: run script/build jar"
    return ":".join(str(jars[-1]) for jars in found)


@pytest.fixture(scope="module")
def send(kdc, authority, tmp_path_factory):
    """send(plumbd, principal, ...): what libthrift's client says."""
    classes = tmp_path_factory.mktemp("classes")
    source = Path(__file__).parent / "java/KerberosSender.java"
    subprocess.run(["javac", "-cp", libthrift(), "-d", classes, source], check=True, timeout=120)

    def run(plumbd, name, principal, *somebody, service="plumb", qop="auth", ca=authority.pem, spans=2):
        arguments = [plumbd.thrift[1], kdc.folder / f"{name}.keytab", principal, service, qop, ca, spans, *somebody]
        command = ["java", "-XX:TieredStopAtLevel=1", f"-Djava.security.krb5.conf={kdc.path}",
                   "-cp", f"{libthrift()}:{classes}", "KerberosSender", *arguments]  # fmt: skip
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def test_libthrift(kerberos, kdc, send, authority, tmp_path):
    """By its role; a ticket for another service, another quality of protection, and who wants to be somebody else, are
    refused with a reason."""
    plumbd = kerberos().start()
    assert send(plumbd, "dn", "dn/h1.example") == [f"status {OK}"] * 2
    assert send(plumbd, "people", "people", spans=1) == [f"status {TRY_LATER}"]
    (other,) = send(plumbd, "dn", "dn/h1.example", service="HTTP")
    assert other.startswith("refused ") and "for another service" in other
    (layer,) = send(plumbd, "dn", "dn/h1.example", qop="auth-conf")
    assert layer.startswith("refused ")
    (people,) = send(plumbd, "dn", "dn/h1.example", f"people@{REALM}")
    assert people.startswith("refused ") and "nobody may be somebody else" in people
    logins = [line["principal"] for line in events(tmp_path, "login")]
    assert logins == [f"krb5:dn/h1.example@{REALM}", f"krb5:people@{REALM}"]


def test_every_role_at_the_span_port(kerberos, kdc, send):
    """Beside write and read, whom test_libthrift has."""
    roles = [role for role in ROLES if role not in ("write", "read")]
    plumbd = kerberos(**{f"access__{role}": f"krb5:of-{role}@{REALM}" for role in roles}).start()
    for role in roles:
        kdc.keytab(f"of-{role}", f"of-{role}")
        expected = OK if suffices(role, "write") else TRY_LATER
        assert send(plumbd, f"of-{role}", f"of-{role}", spans=1) == [f"status {expected}"], role


def test_libthrift_without_tls(kerberos, send):
    """On loopback, where that is allowed: a ticket is no secret."""
    plumbd = kerberos(tls__certificate="", tls__key="").start()
    assert send(plumbd, "dn", "dn/h1.example", ca="-") == [f"status {OK}"] * 2


def sasl(plumbd, authority, *messages):
    """What the answer to these (status, payload) is."""
    sender = SecureSender(plumbd, trusting(authority))
    for status, payload in messages:
        sender.write(bytes([status]) + len(payload).to_bytes(4, "big") + payload)
    head = sender.read_exactly(5)
    return head[0], sender.read_exactly(int.from_bytes(head[1:], "big"))


def test_what_is_no_login(kerberos, authority):
    plumbd = kerberos().start()
    for token in (b"", b"x", os.urandom(1000), os.urandom(60_000), b"\x60\x82\xff\xff" + b"\0" * 100):
        status, text = sasl(plumbd, authority, (1, b"GSSAPI"), (2, token))
        assert status == 4 and b"the ticket is refused" in text, token
    assert sasl(plumbd, authority, (1, b"GSSAPI"), (4, b"no"))[1] == b"the login was broken off"
    assert sasl(plumbd, authority, (1, b"DIGEST-MD5"))[1] == b"this receiver knows the mechanisms GSSAPI and PLAIN"
    metrics = ask(plumbd, trusting(authority), "/metrics")[1].decode()
    assert 'plumbd_connections_refused_total{reason="login refused"} 7' in metrics


# ---- one that takes long ----


def waiting_for(file):
    """How many wait for a lock on it."""
    inode = f":{file.stat().st_ino} "
    return sum("->" in line and inode in line for line in Path("/proc/locks").read_text().splitlines())


@pytest.fixture
def replays(kerberos, tmp_path):
    """replays(**settings): plumbd, and the cache of replays that it alone uses. Who locks it keeps each ticket from
    being judged, as a disk that hangs does."""

    def start(**settings):
        plumbd = kerberos(**settings)
        cache = tmp_path / "replays"
        plumbd.environment["KRB5RCACHENAME"] = f"file2:{cache}"
        return plumbd.start(), cache

    return start


def test_nobody_waits_for_a_ticket(replays, kdc, authority, build_dir, tmp_path):
    """Until the cache is free no ticket is judged, at either port. Who is there, or comes, goes on. Of those that leave
    meanwhile nothing stays, and a ticket that was shown before is told as refused, though its peer has left."""
    plumbd, cache = replays(access__write="anonymous", access__read="anonymous")
    people, sender, ticket = kdc.login("people", "people"), kdc.login("dn", "dn/h1.example"), shown_ticket(kdc)
    assert ask(plumbd, trusting(authority), "/api/v1/status", headers={"Authorization": ticket})[0] == 200

    host, port = plumbd.http.rsplit(":", 1)
    context = trusting(authority)
    good, leaves = SecureSender(plumbd, context), SecureSender(plumbd, context)
    reader, gone = (http.client.HTTPSConnection(host, int(port), context=context, timeout=60) for _ in range(2))

    def asked(connection, **headers):
        connection.request("GET", "/api/v1/status", headers=headers)
        return connection

    for connection in (reader, gone):
        assert asked(connection).getresponse().read()
    assert good.submit([span(1, 1)]).status == OK
    with cache.open("r+b") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        asked(gone, Authorization=ticket)
        wait_for(lambda: waiting_for(cache) == 1)
        gone.close()
        command = ["curl", "-sS", "--negotiate", "-u", ":", "--cacert", authority.pem, "-o", "/dev/null", "-w",
                   "%{http_code}", f"https://localhost:{port}/api/v1/status"]  # fmt: skip
        curls = subprocess.Popen(command, env=people, stdout=subprocess.PIPE)
        to = ["--receiver", f"localhost:{plumbd.thrift[1]}", "--ca", authority.pem, "--negotiate"]
        log = ROOT / "tests/data/spark/4.3.0/executor_lost.zstd"
        bridge = subprocess.Popen([build_dir / "spark-bridge/plumb-bridge", *to, log], env=sender)
        half = context.wrap_socket(socket.create_connection((host, int(port)), 20), server_hostname="localhost")
        half.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Negotiate x\r\nContent-Length: 9\r\n\r\n")
        half.shutdown(socket.SHUT_WR)
        for message in (b"\1\0\0\0\6GSSAPI", b"\2\0\0\0\1x"):
            leaves.write(message)
        leaves.socket.close()
        for k in range(2, 6):
            assert good.submit([span(1, k)]).status == OK
            assert asked(reader).getresponse().read()
            with SecureSender(plumbd, context) as comes:
                assert comes.submit([span(2, k)]).status == OK
            assert ask(plumbd, context, "/api/v1/status")[0] == 200
        assert curls.poll() is None and bridge.poll() is None
    assert curls.communicate(timeout=60)[0] == b"200" and bridge.wait(60) == 0
    assert {line["principal"] for line in events(tmp_path, "login")} == {f"krb5:dn/h1.example@{REALM}"}
    wait_for(lambda: receiver(plumbd, context)["connections"] == 1)
    while half.recv(4096):  # at once: what it lacks does not come any more
        pass
    half.close()
    told = {line["route"]: line["outcome"] for line in events(tmp_path, "login refused")}
    assert set(told) == {"/api/v1/status", "/"} and "replay" in told["/api/v1/status"]


def test_tickets_that_are_not_judged(replays, kdc, authority, tmp_path):
    """A reader is told so in time; once its ticket, which was shown before, is judged, the audit log has it all the
    same. And plumbd ends while one hangs."""
    plumbd, cache = replays(http__timeout="1s")
    ticket, again = shown_ticket(kdc), shown_ticket(kdc)
    assert ask(plumbd, trusting(authority), "/api/v1/status", headers={"Authorization": ticket})[0] == 200
    with cache.open("r+b") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        status, body = ask(plumbd, trusting(authority), "/api/v1/status", headers={"Authorization": ticket})
        assert status == 503 and b"not judged in time" in body
        metrics = ask(plumbd, trusting(authority), "/metrics")[1].decode()
        assert 'plumbd_http_rejected_total{reason="ticket not judged in time"} 1' in metrics
        assert 'reason="request took too long"} 0' in metrics and "KRB5RCACHENAME" in plumbd.messages()
    wait_for(lambda: ["replay" in line["outcome"] for line in events(tmp_path, "login refused")] == [True])

    host, port = plumbd.http.rsplit(":", 1)
    reader = http.client.HTTPSConnection(host, int(port), context=trusting(authority), timeout=60)
    with cache.open("r+b") as held, contextlib.closing(reader):
        fcntl.lockf(held, fcntl.LOCK_EX)
        reader.request("GET", "/api/v1/status", headers={"Authorization": again})
        wait_for(lambda: waiting_for(cache) == 1)
        assert plumbd.stop() == 0


# ---- the keytab ----


def test_new_keys(kerberos, kdc, authority):
    """Keys that are replaced: with the new file tickets of before and after are good; a bad file changes nothing."""
    plumbd = kerberos().start()
    keytab = Path(plumbd.settings["kerberos.keytab"])
    before = kdc.login("people", "people")
    assert curl(plumbd, authority, before)[0] == 200
    new = kdc.keytab("server", *SERVICES)  # with the old keys, too
    after = kdc.login("people", "people")
    assert curl(plumbd, authority, after)[0] == 401

    keytab.write_bytes(b"no keytab")
    plumbd.signal(signal.SIGHUP)
    wait_for(lambda: "stay as they were" in plumbd.messages())
    assert "kerberos.keytab: " in plumbd.messages()
    keytab.write_bytes(new.read_bytes())
    plumbd.signal(signal.SIGHUP)
    wait_for(lambda: curl(plumbd, authority, after)[0] == 200)
    assert curl(plumbd, authority, before)[0] == 200


@pytest.mark.parametrize("wrong", ["readable", "missing", "garbage", "principal"])
def test_bad_keytabs(kerberos, wrong):
    plumbd = kerberos()
    keytab = Path(plumbd.settings["kerberos.keytab"])
    if wrong == "readable":
        os.chmod(keytab, 0o644)
    elif wrong == "missing":
        keytab.unlink()
    elif wrong == "garbage":
        keytab.write_bytes(os.urandom(100))
    else:
        plumbd.settings["kerberos.principals"] = "plumb/localhost; HTTP/elsewhere"
    messages = refused(plumbd)
    assert "kerberos.keytab: " in messages and str(keytab) in messages and len(messages.splitlines()) == 1
    if wrong == "principal":
        assert "has no key of HTTP/elsewhere" in messages and "klist -k" in messages


def test_status_says_so(kerberos, kdc, authority):
    plumbd = kerberos().start()
    text = curl(plumbd, authority, kdc.login("people", "people"))[1]
    ports = json.loads(text[text.rindex("\n\n") :])["receiver"]["ports"]
    assert [port["logins"] for port in ports] == [["kerberos"], ["kerberos"]]
