"""What the suites of TLS and logins share: a CA, and ways to send and ask under TLS."""

import http.client
import json
import os
import ssl

import pytest

from tests.receiver.sender import Sender
from tests.secure.authority import Authority
from tests.secure.kdc import REALM, Kdc

SERVICES = ("plumb/localhost", "HTTP/localhost")


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    made = Authority(tmp_path_factory.mktemp("ca"))
    made.sign("server", "DNS:localhost,IP:127.0.0.1")
    return made


@pytest.fixture(scope="session")
def stranger(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("stranger"), "stranger")


def trusting(authority, certificate=None, key=None):
    context = ssl.create_default_context(cafile=authority.pem)
    if certificate:
        context.load_cert_chain(certificate, key)
    return context


class SecureSender(Sender):
    """A sender under TLS."""

    def __init__(self, plumbd, context, timeout=60, source="127.0.0.1"):
        super().__init__(plumbd, timeout, source)
        self.socket = context.wrap_socket(self.socket, server_hostname="localhost")


def ask(plumbd, context, path, method="GET", headers=None):
    """(status, body) over HTTPS."""
    host, port = plumbd.http.rsplit(":", 1)
    connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=60)
    try:
        connection.request(method, path, headers=headers or {})
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


def receiver(plumbd, context, **more):
    status, body = ask(plumbd, context, "/api/v1/status", **more)
    assert status == 200, body
    return json.loads(body)["receiver"]


@pytest.fixture
def secure(make_plumbd, authority):
    """secure(**settings): a plumbd with TLS that is ready."""

    def start(**settings):
        made = {"tls__certificate": authority.folder / "server.pem", "tls__key": authority.folder / "server.key"}
        return make_plumbd(**{**made, **settings}).start()

    return start


# ---- Kerberos ----


@pytest.fixture(scope="session")
def kdc(tmp_path_factory):
    made = Kdc(tmp_path_factory.mktemp("kdc"))
    made.keytab("server", *SERVICES)
    for name, principal in (("dn", "dn/h1.example"), ("people", "people")):
        made.keytab(name, principal)
    yield made.start()
    made.stop()


@pytest.fixture
def kerberos(make_plumbd, authority, kdc, tmp_path):
    """kerberos(**settings): a plumbd with TLS and Kerberos; dn/... may write, people may read."""

    def make(**settings):
        keytab = tmp_path / "plumbd.keytab"
        keytab.write_bytes((kdc.folder / "server.keytab").read_bytes())
        os.chmod(keytab, 0o600)
        made = {
            "tls__certificate": authority.folder / "server.pem", "tls__key": authority.folder / "server.key",
            "kerberos__keytab": keytab, "kerberos__principals": "; ".join(SERVICES),
            "access__write": f"krb5:dn/*@{REALM}", "access__read": f"krb5:people@{REALM}",
            "access__metrics": "anonymous", "access__admin": "cert:nobody", "audit__path": tmp_path / "audit.log",
        }  # fmt: skip
        plumbd = make_plumbd(**{**made, **settings})
        plumbd.environment.update(kdc.environment, KRB5_KTNAME="FILE:/none")  # the keytab is the configured one
        return plumbd

    return make


FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


def off(environment, by):
    """Of a process whose clock is off by so much: "+10m"."""
    return {**environment, "LD_PRELOAD": FAKETIME, "FAKETIME": by, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def events(tmp_path, action):
    lines = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    return [line for line in lines if line["action"] == action]
