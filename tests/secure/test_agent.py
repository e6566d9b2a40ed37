"""The agent to a plumbd with TLS: in a JVM with HDFS's classes, by a certificate, and what a hostile receiver does."""

import socket
import ssl
import subprocess
import threading

import pytest

from script.hdfs.jars import agent_jar, hadoop_jars
from tests.receiver.sender import I32, REFUSED, STRUCT, TRY_LATER, field, framed, i32, message
from tests.secure.conftest import ask, off, receiver, trusting
from tests.secure.test_tokens import line, write_tokens


def list_root(folder, receivers, **settings):
    """FsShell with the agent. Its output."""
    folder.mkdir(exist_ok=True)
    (folder / "core-site.xml").write_text("<configuration/>\n")
    given = {"receivers": receivers, "sampling": "always", "retry.max.ms": 200, "shutdown.timeout.ms": 20_000}
    given.update({name.replace("_", "."): value for name, value in settings.items()})
    argument = ",".join(f"{name}={value}" for name, value in given.items())
    done = subprocess.run(
        ["java", f"-javaagent:{agent_jar()}={argument}", "-cp", f"{folder}:{hadoop_jars()}/*",
         "org.apache.hadoop.fs.FsShell", "-ls", str(folder)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture
def strict(secure, authority):
    authority.sign("agent")
    return secure(tls__clients=authority.pem, access__write="cert:agent", access__read="anonymous")


def test_spans_come_by_a_certificate(strict, authority, tmp_path):
    folder = authority.folder
    said = list_root(
        tmp_path / "a",
        f"localhost:{strict.thrift[1]}",
        tls="on",
        tls_trust=authority.pem,
        tls_certificate=folder / "agent.pem",
        tls_key=folder / "agent.key",
    )
    found = receiver(strict, trusting(authority))
    assert found["spans_received"] > 0, said
    assert found["rejected_frames"] == {} and found["refused_connections"] == {}


@pytest.mark.parametrize("wrong", ["name", "authority", "expired"])
def test_another_receiver_is_none(secure, authority, stranger, tmp_path, monkeypatch, wrong):
    """No span goes to a receiver that is not the one that is named, and the process does not suffer."""
    host = "127.0.0.2" if wrong == "name" else "127.0.0.1"
    settings = {}
    if wrong == "expired":
        with monkeypatch.context() as ten_days_ago:
            for name, value in off({}, "-10d").items():
                ten_days_ago.setenv(name, value)
            certificate, key = authority.sign("expired", "DNS:localhost,IP:127.0.0.1")
        settings = {"tls__certificate": certificate, "tls__key": key}
    plumbd = secure(listen__thrift=f"{host}:0", **settings)
    trust = stranger.pem if wrong == "authority" else authority.pem
    list_root(tmp_path / "a", f"{host}:{plumbd.thrift[1]}", tls="on", tls_trust=trust)
    context = trusting(authority)
    if wrong == "expired":
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    status, body = ask(plumbd, context, "/metrics")
    opened = next(line for line in body.decode().splitlines() if line.startswith("plumbd_connections_opened_total "))
    assert status == 200 and int(opened.split()[1]) > 0
    assert receiver(plumbd, context)["spans_received"] == 0


class Forgetful(threading.Thread):
    """A receiver that asks for its first batch once more and ends the connection, and refuses what comes over the
    second one: so its sender has to come back, and is done then. Of each: was its session resumed?"""

    def __init__(self, authority):
        super().__init__()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(authority.folder / "server.pem", authority.folder / "server.key")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(120)
        self.resumed = []

    def run(self):
        with self.listener:
            for status in (TRY_LATER, REFUSED):
                self.take(self.listener.accept()[0], status)

    def take(self, accepted, status):
        with self.context.wrap_socket(accepted, server_side=True) as connection, connection.makefile("rb") as frames:
            self.resumed.append(connection.session_reused)
            while size := frames.read(4):
                frame = frames.read(int.from_bytes(size, "big"))
                sequence = int.from_bytes(frame[14:18], "big")  # after version and name
                answer = field(STRUCT, 0, field(I32, 1, i32(status)) + b"\0") + b"\0"
                connection.sendall(framed(message("submit", answer, sequence, kind=2)))
                if status == TRY_LATER:
                    return


def test_a_session_is_resumed(authority, tmp_path):
    """Who comes back shows its certificate, and checks the receiver's, no second time."""
    forgetful = Forgetful(authority)
    forgetful.start()
    port = forgetful.listener.getsockname()[1]
    trust = {"tls": "on", "tls_trust": authority.pem}
    list_root(tmp_path / "a", f"localhost:{port}", protocol="binary", shutdown_timeout_ms=60_000, **trust)
    forgetful.join()
    assert forgetful.resumed == [False, True]


def test_spans_come_by_a_token(secure, authority, tmp_path):
    token = tmp_path / "token"
    token.write_text("plumb_agent_0123456789\n")
    tokens = write_tokens(tmp_path / "tokens", line("agents", "write", "plumb_agent_0123456789"))
    plumbd = secure(auth__tokens=tokens, access__write="cert:nobody", access__read="anonymous")
    list_root(
        tmp_path / "a",
        f"localhost:{plumbd.thrift[1]}",
        tls="on",
        tls_trust=authority.pem,
        auth="token",
        auth_token_file=token,
    )
    found = receiver(plumbd, trusting(authority))
    assert found["spans_received"] > 0 and found["rejected_frames"] == {} and found["refused_connections"] == {}
