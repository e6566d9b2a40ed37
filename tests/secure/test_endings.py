"""Certificates, tokens, keys and tickets that end or are replaced, a KDC that is away and clocks that are off, while
senders and readers go on: each span comes, once, and who is refused is told what to do."""

import contextlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.receiver.sender import OK, span
from tests.receiver.waiting import wait_for
from tests.secure.conftest import SERVICES, SecureSender, ask, off, trusting
from tests.secure.kdc import REALM
from tests.secure.test_kerberos import curl
from tests.secure.test_tokens import bearer, line, login, write_tokens

LOG = ROOT / "tests/data/spark/4.3.0/executor_lost.zstd"
ROLES = {"sender": "write", "reader": "read", "reader2": "read", "sender2": "write"}


def token_of(name):
    return f"plumb_{name}_0123456789"


def write_all(path, *names, until="never"):
    return write_tokens(path, *(line(name, ROLES[name], token_of(name), until) for name in names))


class Load:
    """Somebody who sends a span after the other, by whatever 'connect' gives it now, or who asks."""

    def __init__(self, number, work):
        self.number, self.work, self.done, self.failed = number, work, 0, 0
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        with contextlib.closing(self.work(self)) as steps:
            while not self.stopped.is_set() and next(steps, None):
                pass

    def goes_on(self):
        """Until five more were done."""
        goal = self.done + 5
        wait_for(lambda: self.done >= goal)


def sending(connect):
    """Each span until it is taken; over a new connection when the one that there was has ended."""

    def work(load):
        sender = None
        number = 1
        while True:
            try:
                sender = sender or connect()
                if sender.submit([span(load.number << 20 | number, 1)]).status != OK:
                    sender.socket.close()
                    raise ConnectionError("told to wait: it may not send any more")
                load.done, number = load.done + 1, number + 1
            except OSError:
                load.failed += 1
                sender = None
            yield True

    return work


def asking(question):
    def work(load):
        while True:
            status = question()
            load.done += status == 200
            load.failed += status != 200
            yield True

    return work


@pytest.fixture
def loads():
    """loads(work, ...): all of them begun; ended after the test."""
    begun = []

    def start(*works):
        for work in works:
            begun.append(Load(len(begun) + 1, work))
            begun[-1].thread.start()
        return begun

    yield start
    for load in begun:
        load.stopped.set()
    for load in begun:
        load.thread.join()


class Site:
    """A plumbd with all ways to log in, whose files are copies that may be replaced."""

    def __init__(self, kerberos, authority, kdc, folder):
        self.authority, self.kdc, self.folder = authority, kdc, folder
        for name in ("server.pem", "server.key"):
            shutil.copy(authority.folder / name, folder / name)
        os.chmod(folder / "server.key", 0o600)
        self.tokens = write_all(folder / "tokens", "sender", "reader")
        authority.sign("gone"), authority.sign("new")
        self.shown = "gone"  # which certificate the sender shows when it connects
        self.crl = folder / "crl.pem"
        shutil.copy(authority.revoke(), self.crl)
        self.plumbd = kerberos(
            tls__certificate=folder / "server.pem", tls__key=folder / "server.key", tls__clients=authority.pem,
            tls__crl=self.crl, auth__tokens=self.tokens, access__write="cert:*", access__read=f"krb5:people@{REALM}",
            access__admin="cert:new", audit__log="none", log__level="info",
        )  # fmt: skip
        self.sends, self.reads = token_of("sender"), token_of("reader")

    def by_certificate(self):
        files = (self.authority.folder / f"{self.shown}.{end}" for end in ("pem", "key"))
        return SecureSender(self.plumbd, trusting(self.authority, *files))

    def by_token(self):
        sender, status, _ = login(self.plumbd, trusting(self.authority), "token", self.sends)
        if status != 5:
            raise ConnectionError("refused")
        return sender

    def ask_by_token(self):
        return ask(self.plumbd, trusting(self.authority), "/api/v1/status", headers=bearer(self.reads))[0]

    def ask_by_ticket(self):
        return curl(self.plumbd, self.authority, self.people)[0]

    def start(self):
        self.people = self.kdc.login("people", "people")
        self.plumbd.start()

    def reload(self):
        before = self.plumbd.messages().count("were read again")
        self.plumbd.signal(signal.SIGHUP)
        wait_for(lambda: self.plumbd.messages().count("were read again") > before)

    def stored(self):
        """Spans; and how many came twice."""
        context = trusting(self.authority, *(self.authority.folder / f"new.{end}" for end in ("pem", "key")))
        assert ask(self.plumbd, context, "/api/v1/flush", "POST")[0] == 200
        return json.loads(ask(self.plumbd, context, "/api/v1/status")[1])["store"]["spans"]


@pytest.fixture
def site(kerberos, authority, kdc, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    return Site(kerberos, authority, kdc, folder)


def test_all_is_replaced_under_load(site, loads, authority, kdc):
    site.start()
    by_certificate, by_token, asks, asks_by_ticket = loads(
        sending(site.by_certificate), sending(site.by_token), asking(site.ask_by_token), asking(site.ask_by_ticket)
    )
    everybody = (by_certificate, by_token, asks, asks_by_ticket)

    def all_go_on():
        for load in everybody:
            load.goes_on()

    all_go_on()
    certificate, key = authority.sign("second", "DNS:localhost,IP:127.0.0.1")  # plumbd's own
    shutil.copy(certificate, site.folder / "server.pem"), shutil.copy(key, site.folder / "server.key")
    site.reload()
    all_go_on()

    keytab = Path(site.plumbd.settings["kerberos.keytab"])  # the keys of its principals: tickets of before stay good
    keytab.write_bytes(kdc.keytab("server", *SERVICES).read_bytes())
    site.reload()
    all_go_on()
    site.people = kdc.login("people", "people")
    all_go_on()
    assert [load.failed for load in everybody] == [0] * 4

    shutil.copy(authority.revoke("gone"), site.crl)  # the open connection of that certificate stays
    site.reload()
    all_go_on()
    assert by_certificate.failed == 0
    with pytest.raises((ssl.SSLError, ConnectionError)):
        site.by_certificate().submit([span(1, 1)])
    site.shown = "new"

    write_all(site.tokens, "sender2", "reader2")  # those of before end at once
    site.reload()
    wait_for(lambda: by_token.failed > 0 and asks.failed > 0)
    site.sends, site.reads = token_of("sender2"), token_of("reader2")
    all_go_on()

    for load in everybody:
        load.stopped.set()
    for load in everybody:
        load.thread.join()
    assert asks_by_ticket.failed == 0
    assert site.stored() == by_certificate.done + by_token.done


# ---- clocks ----


def test_the_clock_of_plumbd(site, loads, authority, tmp_path):
    """Ten minutes ahead tickets are refused, with the remedy; two days ahead tokens and certificates have ended. Who is
    there already goes on."""
    now = tmp_path / "now"
    now.write_text("+0")
    site.plumbd.environment.update(off({}, ""), FAKETIME_TIMESTAMP_FILE=str(now), FAKETIME_NO_CACHE="1")
    del site.plumbd.environment["FAKETIME"]
    write_all(site.tokens, "sender", "reader", until="2099-01-01")
    site.start()
    by_certificate, by_token = loads(sending(site.by_certificate), sending(site.by_token))
    assert site.ask_by_ticket() == 200 and site.ask_by_token() == 200

    now.write_text("+10m")
    status, text = curl(site.plumbd, authority, site.people)
    assert status == 401 and "Clock skew too great (set both clocks, by NTP" in text
    assert site.ask_by_token() == 200
    by_certificate.goes_on(), by_token.goes_on()

    now.write_text("+3d")
    wait_for(lambda: site_expiry(site) < 0)
    with pytest.raises((ssl.SSLError, ConnectionError)):
        site.by_certificate().submit([span(1, 1)])
    assert by_certificate.failed == 0
    by_certificate.goes_on(), by_token.goes_on()

    now.write_text("+27500d")
    site.reload()
    wait_for(lambda: by_token.failed > 0)
    status, text = ask(site.plumbd, trusting(authority), "/api/v1/status", headers=bearer(site.reads))
    assert status == 401 and b"there is no such token, or it has ended" in text


@pytest.mark.parametrize(
    "days, crl_days, good, bad",
    [(1, 30, 85500, 87500), (30, 30, 166500, 173000), (2, 1, 85500, 87500)],
    ids=["certificate", "ca", "crl"],
)
def test_a_session_ends(site, authority, tmp_path, days, crl_days, good, bad):
    """One that is resumed shows no certificate again: that of before has ended meanwhile, or its CA, or the list is due
    of those that were taken back."""
    now = tmp_path / "now"
    now.write_text("+0")
    shutil.copy(authority.revoke(days=crl_days), site.crl)
    site.plumbd.environment.update(off({}, ""), FAKETIME_TIMESTAMP_FILE=str(now), FAKETIME_NO_CACHE="1")
    site.plumbd.environment["NO_FAKE_STAT"] = "1"  # files do not change with the clock, which would end all sessions
    del site.plumbd.environment["FAKETIME"]
    site.start()
    context = trusting(authority, *authority.sign("new", days=days))
    host, port = site.plumbd.http.rsplit(":", 1)

    def flush(session=None):
        """(was that session resumed, the session now)"""
        with socket.create_connection((host, int(port)), timeout=60) as plain:
            connection = context.wrap_socket(plain, server_hostname="localhost", session=session)
            connection.sendall(f"POST /api/v1/flush HTTP/1.1\r\nHost: {site.plumbd.http}\r\n\r\n".encode())
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
            return connection.session_reused, connection.session

    now.write_text(f"+{good}s")
    sessions = [flush()[1]]
    wait_for(lambda: flush(sessions[-1])[0] or sessions.append(flush()[1]))  # what is read again has keys of its own
    now.write_text(f"+{bad}s")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        flush(sessions[-1])


def site_expiry(site):
    text = ask(site.plumbd, trusting(site.authority), "/metrics")[1].decode()
    return float(next(row.split()[1] for row in text.splitlines() if row.startswith("plumbd_tls_expiry_seconds ")))


def test_the_clock_of_a_client(site, authority, build_dir, plumb_program):
    """Two minutes are no matter; of ten, both programs say what to do."""
    site.plumbd.settings["access.write"] = f"krb5:people@{REALM}"
    site.start()
    to = ["--ca", authority.pem, "--negotiate"]
    port = site.plumbd.http.rsplit(":", 1)[1]
    commands = {
        "plumb": [plumb_program, "status", "--server", f"localhost:{port}", *to],
        "plumb-bridge": [build_dir / "spark-bridge/plumb-bridge", "--receiver", f"localhost:{site.plumbd.thrift[1]}",
                         *to, LOG],
    }  # fmt: skip
    for name, command in commands.items():
        for by, good in (("+2m", True), ("+10m", False)):
            done = subprocess.run(command, env=off(site.people, by), capture_output=True, text=True, timeout=60)
            assert (done.returncode == 0) == good, (name, by, done.stderr)
            assert good or "set both clocks, by NTP" in done.stderr, (name, done.stderr)


# ---- the KDC ----


def test_the_kdc_is_away(site, loads, authority, kdc, plumb_program):
    """Who is there goes on; who has plumbd's ticket logs in; who has none is told so."""
    site.start()
    by_certificate, asks = loads(sending(site.by_certificate), asking(site.ask_by_ticket))
    asks.goes_on()
    stranger = kdc.login("dn", "dn/h1.example")
    kdc.stop()
    try:
        by_certificate.goes_on(), asks.goes_on()
        assert site.ask_by_ticket() == 200
        command = [plumb_program, "status", "--server", f"localhost:{site.plumbd.http.rsplit(':', 1)[1]}",
                   "--ca", authority.pem, "--negotiate"]  # fmt: skip
        done = subprocess.run(command, env=stranger, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "no ticket was taken" in done.stderr and "KDC is reached" in done.stderr
    finally:
        kdc.start()
    assert asks.failed == 0 and by_certificate.failed == 0
