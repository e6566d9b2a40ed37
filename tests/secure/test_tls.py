"""TLS on both ports: what is spoken, what is refused, who is who, and what a reload changes."""

import contextlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading

import pytest

from tests.receiver.sender import OK, TRY_LATER, Sender, span, submit_frame
from tests.receiver.waiting import wait_for
from tests.secure.conftest import SecureSender, ask, events, receiver, trusting
from tests.secure.test_listening import refused

SECRET = "/user/alice/salaries.parquet"


class Wire:
    """Between a sender and plumbd: notes all that goes by."""

    def __init__(self, to):
        self.to, self.seen = to, b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        near, _ = self.listener.accept()
        far = socket.create_connection(self.to)
        back = threading.Thread(target=self.pass_on, args=(far, near))
        back.start()
        self.pass_on(near, far)
        back.join()
        near.close(), far.close(), self.listener.close()

    def pass_on(self, source, target):
        while piece := source.recv(65536):
            self.seen += piece
            target.sendall(piece)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)


def named(number):
    return span(number, 1, annotations=[(2, SECRET)])


STRINGS = ("op", "Client/10.0.0.1/7", "path")


def test_nobody_reads_along(secure, plumbd, authority):
    for target, kind in ((plumbd, "plain"), (secure(), "tls")):
        wire = Wire(target.thrift)
        sender = SecureSender(wire.address, trusting(authority)) if kind == "tls" else Sender(wire.address)
        with sender:
            assert sender.deliver([named(7)], strings=STRINGS).status == OK
        wire.thread.join()
        assert (SECRET.encode() in wire.seen) == (kind == "plain")


def test_plain_is_refused(secure, authority):
    plumbd = secure()
    with Sender(plumbd) as sender:
        sender.write(submit_frame([span(1, 1)]))
        assert sender.closed_by_peer()
    with socket.create_connection(("127.0.0.1", int(plumbd.http.rsplit(":", 1)[1]))) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            assert connection.recv(4096) == b""
    found = receiver(plumbd, trusting(authority))
    assert found["refused_connections"] == {"no TLS, which this port needs": 1}
    assert found["rejected_http"] == {"TLS failed": 1}
    assert [port["tls"] for port in found["ports"]] == [True, True]


def test_tls_to_a_plain_port_is_named(plumbd, authority):
    with pytest.raises((ssl.SSLError, ConnectionError)):
        SecureSender(plumbd, trusting(authority))
    assert plumbd.receiver()["refused_connections"] == {"TLS, which this port lacks": 1}


def test_old_versions_are_refused(secure, authority):
    plumbd = secure(tls__least="1.3")
    old = trusting(authority)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    for attempt in (lambda: SecureSender(plumbd, old), lambda: ask(plumbd, old, "/healthz")):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            attempt()
    assert ask(plumbd, trusting(authority), "/healthz") == (200, b"ok\n")


def test_the_name_is_the_servers(secure, authority, stranger):
    plumbd = secure()
    with pytest.raises(ssl.SSLCertVerificationError):
        SecureSender(plumbd, trusting(stranger))


def frames_at_once(n, spans):
    return b"".join(
        submit_frame([span(trace, k) for k in range(1, spans + 1)], sequence=trace) for trace in range(1, n + 1)
    )


def count_replies(sender, n):
    for _ in range(n):
        reply = sender.read_reply()
        assert reply.status in (OK, TRY_LATER)
        yield reply.status


def test_what_openssl_holds_is_read(secure, authority):
    """Shards that are behind stall the connection again and again, while OpenSSL holds frames of which no event
    tells; the peer sends nothing more, and waits for all its answers."""
    plumbd = secure(receiver__queue_limit="64K", receiver__shards="1", store__min_free="0")
    with SecureSender(plumbd, trusting(authority)) as sender:
        sender.write(frames_at_once(400, 200))
        statuses = list(count_replies(sender, 400))
    assert statuses.count(OK) > 0
    wait_for(lambda: receiver(plumbd, trusting(authority))["batches"] == statuses.count(OK))


def test_frames_of_any_size(secure, authority):
    """Longer than a record, than what is read ahead, and than what is read at once; in pieces that fit nowhere."""
    plumbd = secure()
    frame = submit_frame([span(1, k) for k in range(1, 20_001)])
    with SecureSender(plumbd, trusting(authority)) as sender:
        for at in range(0, len(frame), 7919):
            sender.write(frame[at : at + 7919])
        assert sender.read_reply().status == OK
    assert len(frame) > 1_000_000


# ---- certificates of clients ----


def test_roles_of_certificates(secure, authority):
    """Who shows none may not write: it is told to wait, and nothing is lost."""
    authority.sign("dn1", "DNS:dn1.example")
    authority.sign("reader", "URI:urn:site:reader")
    plumbd = secure(
        tls__clients=authority.pem,
        access__write="cert:dn*.example",
        access__read="cert:urn:site:reader",
        access__admin="cert:nobody",
        access__metrics="anonymous",
    )
    contexts = {
        name: trusting(authority, authority.folder / f"{name}.pem", authority.folder / f"{name}.key")
        for name in ("dn1", "reader")
    }
    with SecureSender(plumbd, contexts["dn1"]) as sender:
        assert sender.deliver([span(1, 1)]).status == OK
    # A common name that looks like a URI, and a URI that looks like a name of DNS.
    names = (("urn:site:reader", None), ("liar", "URI:dn1.example"))
    forged = [trusting(authority, *authority.sign(*name)) for name in names]
    assert [ask(plumbd, context, "/api/v1/status")[0] for context in forged] == [401, 403]
    for context in (contexts["reader"], trusting(authority), *forged):
        with SecureSender(plumbd, context) as sender:
            reply = sender.submit([span(1, 2)])
            assert (reply.status, reply.wait_ms) == (TRY_LATER, 10_000)

    def codes(path, method="GET"):
        everybody = [trusting(authority), contexts["dn1"], contexts["reader"]]
        return [ask(plumbd, context, path, method)[0] for context in everybody]

    assert codes("/api/v1/status") == [401, 403, 200]
    assert codes("/metrics") == [200, 200, 200]
    assert codes("/healthz") == [200, 200, 200]
    assert codes("/api/v1/flush", "POST") == [401, 403, 403]
    found = receiver(plumbd, contexts["reader"])
    assert found["rejected_frames"] == {"sender may not send": 4}
    assert found["spans_received"] == 1
    assert found["rejected_http"] == {"lacks the role": 7}


def test_required_certificates(secure, authority, stranger, tmp_path):
    """Over HTTP; the audit log says who came without a good one."""
    authority.sign("known")
    stranger.sign("unknown")
    plumbd = secure(tls__clients=authority.pem, tls__require_certificate="yes",
                    audit__path=tmp_path / "audit.log")  # fmt: skip
    good = trusting(authority, authority.folder / "known.pem", authority.folder / "known.key")
    foreign = trusting(authority, stranger.folder / "unknown.pem", stranger.folder / "unknown.key")
    assert ask(plumbd, good, "/healthz")[0] == 200
    for context in (trusting(authority), foreign):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            ask(plumbd, context, "/healthz")
    wait_for(lambda: len(events(tmp_path, "login refused")) == 2)
    assert {line["port"] for line in events(tmp_path, "login refused")} == {"http"}
    assert all("certificate" in line["outcome"] for line in events(tmp_path, "login refused"))


def test_certificates_that_were_taken_back(secure, authority):
    authority.sign("lost")
    plumbd = secure(tls__clients=authority.pem, tls__crl=authority.revoke("lost"), tls__require_certificate="yes")
    lost = trusting(authority, authority.folder / "lost.pem", authority.folder / "lost.key")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        ask(plumbd, lost, "/healthz")
    wait_for(lambda: "closed: certificate verify failed" in plumbd.messages())


def test_open_to_others_with_tls_and_login(make_plumbd, authority):
    """TLS alone is not enough, TLS and certificates are."""
    settings = {"tls__certificate": authority.folder / "server.pem", "tls__key": authority.folder / "server.key"}
    assert "there is no way to log in: set auth.tokens, tls.clients or kerberos.keytab" in refused(
        make_plumbd(listen__thrift="0.0.0.0:0", **settings)
    )
    plumbd = make_plumbd(listen__thrift="0.0.0.0:0", tls__clients=authority.pem, **settings).start()
    assert "open to other hosts, TLS, login by certificate" in plumbd.messages()


# ---- files ----


def copies(authority, folder):
    folder.mkdir()
    for name in ("server.pem", "server.key"):
        shutil.copy(authority.folder / name, folder / name)
    os.chmod(folder / "server.key", 0o600)
    return folder / "server.pem", folder / "server.key"


def serial(plumbd):
    host, port = plumbd.http.rsplit(":", 1)
    pem = ssl.get_server_certificate((host, int(port)))
    return ssl.PEM_cert_to_DER_cert(pem)


def test_reload_swaps_the_certificate(secure, authority, tmp_path):
    certificate, key = copies(authority, tmp_path / "tls")
    plumbd = secure(tls__certificate=certificate, tls__key=key)
    before = serial(plumbd)
    with SecureSender(plumbd, trusting(authority)) as sender:
        assert sender.deliver([span(1, 1)]).status == OK
        new, new_key = authority.sign("second", "DNS:localhost,IP:127.0.0.1")
        shutil.copy(new, certificate)
        plumbd.signal(signal.SIGHUP)
        wait_for(lambda: "is not the key of tls.certificate; TLS and the rules" in plumbd.messages())
        assert serial(plumbd) == before
        shutil.copy(new_key, key)
        plumbd.signal(signal.SIGHUP)
        wait_for(lambda: serial(plumbd) != before)
        assert sender.deliver([span(1, 2)]).status == OK  # it keeps what it began with


def test_expiry_is_told(secure, authority):
    status, body = ask(secure(), trusting(authority), "/metrics")
    line = next(line for line in body.decode().splitlines() if line.startswith("plumbd_tls_expiry_seconds "))
    assert status == 200 and 24 * 3600 < float(line.split()[1]) <= 2 * 24 * 3600


@pytest.mark.parametrize("wrong", ["readable", "owner", "link", "passphrase", "other", "garbage", "missing"])
def test_bad_keys(make_plumbd, authority, tmp_path, wrong):
    certificate, key = copies(authority, tmp_path / "tls")
    if wrong == "readable":
        os.chmod(key, 0o640)
    elif wrong == "owner":
        if os.geteuid() != 0:
            pytest.skip("only root can give a file away")
        os.chown(key, 65534, 65534)
    elif wrong == "link":
        key.rename(tmp_path / "elsewhere")
        key.symlink_to(tmp_path / "elsewhere")
    elif wrong == "passphrase":
        os.system(f"openssl ec -in {key} -aes128 -passout pass:x -out {key}.new 2>/dev/null && mv {key}.new {key}")
        os.chmod(key, 0o600)
    elif wrong == "other":
        shutil.copy(authority.key, key)
    elif wrong == "garbage":
        key.write_text("nothing\n")
    else:
        key.unlink()
    plumbd = make_plumbd(tls__certificate=certificate, tls__key=key)
    checked = subprocess.run([*plumbd.command(), "--check-config"], capture_output=True, text=True)
    messages = refused(plumbd)
    said = {
        "readable": "chmod 600",
        "owner": "belongs to another user: chown it",
        "link": "is a link",
        "passphrase": "without a passphrase",
        "other": "is not the key of",
        "garbage": "holds no key",
        "missing": "No such file",
    }
    assert said[wrong] in messages and len(messages.splitlines()) == 1
    assert checked.returncode == 2 and said[wrong] in checked.stderr
