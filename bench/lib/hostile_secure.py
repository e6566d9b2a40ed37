"""Hostile peers of a plumbd with TLS and tokens, beside a sender that behaves: it keeps its connection, as senders do,
and logs in anew each second. Part of bench/hostile."""

import contextlib
import hashlib
import http.client
import os
import random
import socket
import ssl
import threading
import time
from pathlib import Path

from bench.lib.daemon import MIB, Plumbd, load
from bench.lib.flood import QUESTIONS
from bench.lib.good_peer import GOOD, PAUSE_S, GoodPeer
from tests.receiver.sender import Sender, span
from tests.secure.authority import Authority
from tests.secure.tokens import bearer, line, write_tokens

# Of hosts that are somebody else's, 50 connections each: none has as many as one may.
HOSTS = [f"127.0.1.{i}" for i in range(1, 101)]
SILENT, STORM, GREEDY, READERS = 5000, 500, 4, 8
TOKENS = {"good": "write", "greedy": "write", "reader": "read", "admin": "admin"}
# What is asked without an id of a trace.
WORST = [question for question in QUESTIONS if "{" not in question]
MEMORY_LIMIT = 368 * MIB


def token_of(name):
    return f"plumb_{name}_0123456789"


class SecureSite:
    """A plumbd where nobody may do anything without a token, and a store of so many spans."""

    def __init__(self, folder, spans):
        self.authority = Authority(folder / "ca")
        certificate, key = self.authority.sign("server", "DNS:localhost,IP:127.0.0.1")
        tokens = write_tokens(folder / "tokens", *(line(name, role, token_of(name)) for name, role in TOKENS.items()))
        access = [f"access.{role}=cert:load" for role in ("write", "read", "metrics", "admin")]
        self.plumbd = Plumbd(
            folder / "plumbd", f"tls.certificate={certificate}", f"tls.key={key}", f"tls.clients={self.authority.pem}",
            f"auth.tokens={tokens}", "quota.spans=token:greedy=20k; 0", "audit.log=none", *access,
        )  # fmt: skip
        ours = self.authority.sign("load")
        self.plumbd.context = self.context()
        self.plumbd.context.load_cert_chain(*ours)
        load(
            self.plumbd,
            spans,
            "--connections",
            100,
            "--ca",
            self.authority.pem,
            "--certificate",
            ours[0],
            "--key",
            ours[1],
        )
        self.plumbd.flush()
        self.thrift, self.web = (address(text) for text in (self.plumbd.thrift, self.plumbd.http))

    def context(self):
        return ssl.create_default_context(cafile=self.authority.pem)

    def login(self, name, source, context=None):
        """A sender that has logged in by its token."""
        sender = Sender(self.thrift, source=source)
        sender.socket = (context or self.context()).wrap_socket(sender.socket, server_hostname="localhost")
        secret = b"\0token\0" + token_of(name).encode()
        sender.write(b"\x01\0\0\0\x05PLAIN\x05" + len(secret).to_bytes(4, "big") + secret)
        head = sender.read_exactly(5)
        sender.read_exactly(int.from_bytes(head[1:], "big"))
        if head[0] != 5:
            raise ConnectionError("the login is refused")
        return sender

    def hello(self):
        """What a client of TLS says first."""
        outgoing = ssl.MemoryBIO()
        client = self.context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
        with contextlib.suppress(ssl.SSLWantReadError):
            client.do_handshake()
        return outgoing.read()


def address(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


# ---- attacks; each in a process of its own, at the lowest priority: so it takes little of plumbd's processors ----


def connected(to, host, first):
    connection = socket.socket()
    connection.bind((host, 0))
    connection.settimeout(5)
    with contextlib.suppress(OSError):
        connection.connect(to)
        connection.sendall(first)
    connection.setblocking(False)
    return connection


def keep(to, n, first=b"", answered=False):
    """So many connections, for ever; those that plumbd closes come again; answered: those that it has answered, too."""
    held = [connected(to, HOSTS[i % len(HOSTS)], first) for i in range(n)]
    while True:
        for i, connection in enumerate(held):
            try:
                over = connection.recv(65536) == b"" or answered
            except BlockingIOError:
                over = False
            except OSError:
                over = True
            if over:
                connection.close()
                held[i] = connected(to, HOSTS[i % len(HOSTS)], first)
        time.sleep(0.05)


def silent_sockets(site):
    """5,000 connections that say nothing."""
    keep(site.thrift, SILENT)


def handshake_storm(site):
    """500 at once that begin a handshake, and again when it is answered: plumbd's part costs it, and them nothing."""
    keep(site.thrift, STORM, site.hello(), answered=True)


def greedy_principal(site):
    """Four connections of one token, five thousand spans a batch, that do not wait when they are told to."""

    def send(number):
        while True:
            with contextlib.suppress(OSError), site.login("greedy", HOSTS[0]) as sender:
                for batch in range(1, 1 << 30):
                    trace = number << 40 | time.time_ns() & 0xFFFFFF00 | batch & 0xFF
                    sender.submit([span(trace, k) for k in range(1, 5001)])

    in_threads(GREEDY, send)


def worst_questions(site):
    """Eight readers who ask what takes most, without pause."""
    headers = bearer(token_of("reader"))

    def ask(number):
        choice, context = random.Random(number), site.context()
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                reader = http.client.HTTPSConnection(
                    *site.web, timeout=60, source_address=(HOSTS[number], 0), context=context
                )
                while True:
                    reader.request("GET", "/api/v1/" + choice.choice(WORST), headers=headers)
                    reader.getresponse().read()

    in_threads(READERS, ask)


def in_threads(n, function):
    threads = [threading.Thread(target=function, args=(number,)) for number in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def busy_processors(_):
    """Nothing of plumbd's: a process that has as many threads busy as there are processors."""

    def burn(_):
        while True:
            hashlib.sha256(bytes(1 << 20)).digest()

    in_threads(os.cpu_count(), burn)


# What any other work on the machine costs the good peer; what an attack costs is to be held against that, too.
CONTROL = busy_processors
SECURE_ATTACKS = [CONTROL, silent_sockets, handshake_storm, greedy_principal, worst_questions]


def attack_niced(attack, site):
    os.nice(19)
    attack(site)


# ---- the good peer ----


class GoodSender(GoodPeer):
    """A batch of 200 spans each 20 ms over one connection; and a login each second, over one of its own."""

    def __init__(self, site):
        self.site, self.context = site, site.context()
        self.logins, self.resident = [], 0
        super().__init__(self.send, self.log_in)

    def send(self):
        while not self.stopped.is_set():
            with self.counted(), self.site.login("good", GOOD, self.context) as sender:
                while not self.stopped.wait(PAUSE_S):
                    self.send_batch(lambda: contextlib.nullcontext(sender))

    @contextlib.contextmanager
    def counted(self):
        """A login that is refused, or a connection that is lost; then there is another."""
        try:
            yield
        except OSError:
            self.refused += 1
            self.stopped.wait(PAUSE_S)

    def log_in(self):
        while not self.stopped.wait(1):
            begun = time.monotonic()
            with self.counted():
                self.site.login("good", GOOD, self.context).socket.close()
                self.logins.append(time.monotonic() - begun)
            self.resident = max(self.resident, self.site.plumbd.memory_bytes("VmRSS"))


def make_site(folder, spans=1_000_000):
    folder = Path(folder)
    folder.mkdir(parents=True)
    return SecureSite(folder, spans)
