"""The audit log: who asked, logged in, was refused and changed what; and that nobody can write into it."""

import http.client
import json
import os
import signal
import socket
import subprocess

import pytest

from tests.conftest import ROOT
from tests.receiver.sender import OK, TRY_LATER, Sender, span
from tests.receiver.waiting import wait_for
from tests.secure.conftest import SecureSender, ask, trusting
from tests.secure.test_listening import refused
from tests.secure.test_tokens import ROLES, ROUTES, bearer, line, login, suffices, token_of, ways, write_tokens


def lines_of(path):
    """Every line is one JSON object, in ASCII, not too long."""
    text = path.read_bytes()
    assert text.isascii() and (not text or text.endswith(b"\n"))
    lines = text.split(b"\n")[:-1]
    assert all(len(text) < 1800 for text in lines)
    return [json.loads(text) for text in lines]


def without_times(event):
    return {key: value for key, value in event.items() if key not in ("time", "duration_ns", "bytes")}


def await_lines(path, n):
    wait_for(lambda: len(lines_of(path)) >= n)
    assert len(lines_of(path)) == n
    return lines_of(path)


@pytest.fixture
def locked(secure, authority, tmp_path):
    """locked(**settings): nobody may do anything who does not say who it is."""
    tokens = write_tokens(tmp_path / "tokens", *(line(f"a-{role}", role, token_of(role)) for role in ROLES))
    for role in ROLES:
        if not (authority.folder / f"{role}.pem").exists():
            authority.sign(role)

    def start(**settings):
        access = {f"access__{role}": f"cert:{role}" for role in ROLES}
        made = {"auth__tokens": tokens, "tls__clients": authority.pem, "audit__path": tmp_path / "audit.log", **access}
        return secure(**{**made, **settings})

    return start


ACTIONS = {"/api/v1/export": "export", "/api/v1/flush": "flush", "/logout": "logout"}
ACTIONS |= {"/api/v1/marks": "mark", "/api/v1/shell/run": "analysis", "/api/v1/shell/stop": "analysis"}
UNTOLD = {
    "/healthz",
    "/readyz",
    "/metrics",
    "/",
    "/assets/none.js",
    "/v1/traces",
    "/api/v2/spans",
    "/writeSpans",
    "/login.js",
}


def test_the_matrix_leaves_a_line_each(locked, authority, tmp_path):
    plumbd = locked(audit__log="reads")
    expected = []
    for path, (method, needed) in ROUTES.items():
        route, asked = path.partition("?")[0], "&" if "?" in path else "?"
        known = not path.startswith(("/nobody", "/v2", "/api/v1/a/"))
        for role in ROLES:
            for way, (context, headers) in ways(authority, role).items():
                status, _ = ask(plumbd, context, path + asked + "limit=1", method, headers)
                principal = f"cert:{role}" if way == "certificate" else f"token:a-{role}"
                action = ACTIONS.get(path, "question") if suffices(role, needed) else "denied"
                if action == "denied" or (known and path not in UNTOLD):
                    expected.append((action, principal, route, status))
    assert plumbd.stop() == 0
    events = lines_of(tmp_path / "audit.log")
    assert [events[0]["action"], events[-1]["action"]] == ["start", "stop"]
    found = [(event["action"], event["principal"], event["route"], event["status"]) for event in events[1:-1]]
    assert found == expected
    for event in events[1:-1]:
        assert event["address"] == "127.0.0.1" and event["port"] == "http" and event["query"].endswith("limit=1")
        assert event["duration_ns"] > 0 and (event["outcome"] == "ok") == (event["status"] < 400)
        assert "bytes" in event or event["action"] == "logout"


def test_a_stream_has_a_line_at_its_begin(locked, authority, tmp_path):
    plumbd = locked(audit__log="reads")
    host, port = plumbd.http.rsplit(":", 1)
    connection = http.client.HTTPSConnection(host, int(port), context=trusting(authority), timeout=60)
    connection.request("GET", "/api/v1/events?topics=runs", headers=bearer(token_of("read")))
    assert connection.getresponse().status == 200
    begun = await_lines(tmp_path / "audit.log", 2)[1]
    assert (begun["principal"], begun["route"], begun["outcome"]) == ("token:a-read", "/api/v1/events", "begun")
    connection.close()
    wait_for(lambda: [event["outcome"] for event in lines_of(tmp_path / "audit.log")[1:]] == ["begun", "cut off"])


def test_levels(make_plumbd, tmp_path):
    path = tmp_path / "audit.log"
    plumbd = make_plumbd(audit__path=path, audit__log="none").start()
    plumbd.flush(), plumbd.ask("functions")
    assert plumbd.stop() == 0
    assert lines_of(path) == []
    plumbd.settings["audit.log"] = "changes"
    plumbd.start()
    plumbd.flush(), plumbd.ask("functions"), plumbd.export()
    assert plumbd.stop() == 0
    assert [event["action"] for event in lines_of(path)] == ["start", "flush", "export", "stop"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_without_a_file_it_is_in_the_log(make_plumbd):
    plumbd = make_plumbd().start()
    plumbd.flush()
    assert plumbd.stop() == 0
    told = [text.split(" audit: ", 1)[1] for text in plumbd.messages().splitlines() if " audit: " in text]
    assert [json.loads(text)["action"] for text in told] == ["start", "flush", "stop"]


def test_the_span_port(locked, authority, tmp_path):
    plumbd = locked()
    plain = trusting(authority)
    with login(plumbd, plain, "token", token_of("write"))[0] as sender:
        assert sender.submit([span(1, 1)]).status == OK
    login(plumbd, plain, "token", "plumb_guess")[0].socket.close()
    with login(plumbd, plain, "a-read", token_of("read"))[0] as sender:
        for k in range(3):
            assert sender.submit([span(1, 2 + k)]).status == TRY_LATER
    with SecureSender(plumbd, trusting(authority, authority.folder / "write.pem", authority.folder / "write.key")) as s:
        assert s.submit([span(1, 9)]).status == OK
    with Sender(plumbd) as sender:
        sender.write(b"\0\0\0\1x")
        assert sender.closed_by_peer()
    wait_for(lambda: len(lines_of(tmp_path / "audit.log")) >= 7)
    at = {"port": "thrift", "address": "127.0.0.1"}
    nobody = {**at, "action": "login refused", "principal": "anonymous"}
    assert [without_times(event) for event in lines_of(tmp_path / "audit.log")[1:]] == [
        {**at, "action": "login", "principal": "token:a-write", "outcome": "ok"},
        {**nobody, "outcome": "there is no such token, or it has ended"},
        {**at, "action": "login", "principal": "token:a-read", "outcome": "ok"},
        {**at, "action": "denied", "principal": "token:a-read", "outcome": "lacks the role write"},
        {**at, "action": "login", "principal": "cert:write", "outcome": "ok"},
        {**nobody, "outcome": "no TLS, which this port needs"},
    ]


def raw(plumbd, request):
    host, port = plumbd.http.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(request)
        return connection.recv(64)


def test_hostile_text(make_plumbd, tmp_path):
    """Nobody can make a second line, a longer one, or one that commands a terminal."""
    plumbd = make_plumbd(audit__path=tmp_path / "audit.log", audit__log="reads").start()
    hostile = [
        b'a="},{"action":"login","x":"',
        b"a=%0a{%22action%22:%22login%22}%1b[2J",
        "a=\u2028\u202e\U0001f600\u00e9".encode(),
        b"a=\xff\xfe\xc3\x28\xed\xa0\x80",
        b"a=" + b"x" * 15000,
        b"a=" + b"\xff" * 15000,
        b"a=" + "\u00e9".encode() * 7000,
    ]
    for query in hostile:
        assert b"HTTP/1.1 4" in raw(plumbd, b"GET /api/v1/functions?%b HTTP/1.1\r\nHost: localhost\r\n\r\n" % query)
    events = await_lines(tmp_path / "audit.log", 1 + len(hostile))[1:]
    assert {(event["action"], event["route"], event["outcome"]) for event in events} == {
        ("question", "/api/v1/functions", "Bad Request")
    }
    assert events[0]["query"] == hostile[0].decode() and events[1]["query"] == hostile[1].decode()
    assert events[2]["query"] == hostile[2].decode()
    assert events[3]["query"] == hostile[3].decode(errors="replace")
    assert all(event["query"].endswith("...") for event in events[4:])


def test_refusals_are_limited(locked, authority, tmp_path):
    """Ten of an address within a minute, then how many there were more; those of others, and of who is known, stay."""
    plumbd = locked()
    plain = trusting(authority)
    for _ in range(25):
        assert ask(plumbd, plain, "/healthz", headers=bearer("plumb_guess"))[0] == 200
        assert [ask(plumbd, plain, path)[0] for path in ("/login", "/logout")] == [405, 405]
    for _ in range(15):
        assert ask(plumbd, plain, "/api/v1/status", headers=bearer(token_of("write")))[0] == 403
    assert plumbd.stop() == 0
    events = lines_of(tmp_path / "audit.log")
    actions = [event["action"] for event in events]
    assert actions.count("login refused") == 10 and actions.count("denied") == 15
    assert "login" not in actions and "logout" not in actions
    assert [event["lines"] for event in events if event["action"] == "left out"] == [15]


def rotate(path, plumbd):
    """Runs logrotate with conf/plumbd.logrotate; no systemd runs plumbd here, so kill stands in for its systemctl."""
    folder = path.parent / "logrotate"
    folder.mkdir()
    rules = (ROOT / "conf/plumbd.logrotate").read_text()
    assert "/var/log/plumbline/audit.log {" in rules
    (folder / "plumbd").write_text(rules.replace("/var/log/plumbline/audit.log", str(path)))
    (folder / "plumbd").chmod(0o644)
    systemctl = folder / "systemctl"
    systemctl.write_text(f"""#!/bin/sh
case $* in
"is-active --quiet plumbd.service") ;;
"kill --kill-whom=main --signal=HUP plumbd.service") kill -s HUP {plumbd.process.pid} ;;
*) exit 1 ;;
esac
""")
    systemctl.chmod(0o755)
    subprocess.run(
        ["logrotate", "--force", "--state", folder / "state", folder / "plumbd"],
        env={"PATH": f"{folder}:/usr/sbin:/usr/bin:/bin"},
        check=True,
        timeout=60,
    )


@pytest.mark.parametrize("configuration", ["good", "bad"])
def test_rotation(make_plumbd, tmp_path, configuration):
    """By logrotate, as the package has it. No line is lost, whether the configuration is good or not."""
    path, config = tmp_path / "audit.log", tmp_path / "plumbd.conf"
    config.write_text("")
    plumbd = make_plumbd(audit__path=path, audit__log="reads")
    plumbd.arguments = ["--config", str(config)]
    plumbd.start()
    for _ in range(20):
        plumbd.ask("functions")
    wait_for(lambda: len(lines_of(path)) == 21)
    config.write_text("" if configuration == "good" else "[trace]\nidle=never\n")
    rotate(path, plumbd)
    wait_for(path.exists)
    for _ in range(20):
        plumbd.ask("functions")
    assert plumbd.stop() == 0
    old, new = lines_of(tmp_path / "audit.log.1"), lines_of(path)
    assert [event["action"] for event in old + new].count("question") == 40
    reload = next(event for event in new if event["action"] == "reload")
    assert (reload["outcome"] == "ok") == (configuration == "good")
    assert new[-1]["action"] == "stop" and path.stat().st_mode & 0o777 == 0o600


def test_the_level_can_be_changed(make_plumbd, tmp_path):
    path, config = tmp_path / "audit.log", tmp_path / "plumbd.conf"
    config.write_text("")
    plumbd = make_plumbd(audit__path=path)
    plumbd.arguments = ["--config", str(config)]
    plumbd.start()
    plumbd.ask("functions")
    config.write_text("[audit]\nlog = reads\n")
    plumbd.signal(signal.SIGHUP)
    wait_for(lambda: "changed audit.log" in plumbd.messages())
    plumbd.ask("senders")
    events = await_lines(path, 3)
    assert [event["action"] for event in events] == ["start", "reload", "question"]
    assert plumbd.metrics()['plumbd_audit_lines_total{state="written"}'] == 3


@pytest.mark.parametrize("wrong", ["folder", "missing", "link", "fifo"])
def test_no_file(make_plumbd, tmp_path, wrong):
    path = tmp_path / "audit"
    if wrong == "folder":
        path.mkdir()
    elif wrong == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif wrong == "fifo":
        os.mkfifo(path)
    else:
        path = tmp_path / "none/audit"
    plumbd = make_plumbd(audit__path=path)
    messages = refused(plumbd)
    assert "audit.path: " in messages and str(path) in messages and len(messages.splitlines()) == 1
    assert not plumbd.store.exists()
