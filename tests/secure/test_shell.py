"""Analyses that plumbd runs for its page, under TLS: who may begin, see and stop them."""

import http.client
import json

import pytest

from tests.receiver.waiting import wait_for
from tests.secure.conftest import trusting
from tests.secure.test_tokens import bearer, line, token_of, write_tokens


@pytest.fixture
def plumbd(secure, plumb_program, build_dir, tmp_path):
    tokens = write_tokens(
        tmp_path / "tokens",
        *(line(name, role, token_of(name)) for name, role in [("ann", "read"), ("bob", "read"), ("root", "admin")]),
    )
    sanitized = build_dir.name not in ("default", "release", "debug")  # which takes terabytes of addresses
    more = {"shell__memory": "0"} if sanitized else {}
    return secure(auth__tokens=tokens, access__read="token:*", shell__program=plumb_program, audit__log="reads", **more)


def ask(plumbd, authority, who, path, document=None):
    """(status, document)"""
    host, port = plumbd.http.rsplit(":", 1)
    connection = http.client.HTTPSConnection(host, int(port), context=trusting(authority), timeout=60)
    headers = bearer(token_of(who)) if who else {}
    if document is not None:
        headers |= {"Content-Type": "application/json", "Origin": f"https://{plumbd.http}"}
    body = json.dumps(document) if document is not None else None
    connection.request("GET" if document is None else "POST", f"/api/v1/shell/{path}", body, headers)
    reply = connection.getresponse()
    answer = reply.status, reply.read()
    connection.close()
    return answer[0], json.loads(answer[1]) if answer[1].startswith(b"{") else answer[1]


def state(plumbd, authority, run):
    listed = ask(plumbd, authority, "ann", "runs")[1]["runs"]
    return next(row["state"] for row in listed if row["id"] == run["id"])


def test_a_reader_runs_without_a_password_for_plumb(plumbd, authority):
    """plumb asks as a child of plumbd; the log and the list say who had it run."""
    status, run = ask(plumbd, authority, "ann", "run", {"analysis": "status"})
    assert (status, run["by"]) == (202, "token:ann")
    wait_for(lambda: state(plumbd, authority, run) == "done")
    status, text = ask(plumbd, authority, "bob", f"output?id={run['id']}")
    assert status == 200 and (b"listen" in text or b"thrift" in text)
    assert f"shell: token:ann at 127.0.0.1 begins run {run['id']}: plumb status" in plumbd.messages()
    assert token_of("ann") not in plumbd.messages()
    # What it asks is asked by who began it, for quotas and the audit log, too.
    lines = [line for line in plumbd.messages().splitlines() if '"/api/v1/status"' in line]
    assert lines and all('"principal":"token:ann"' in line for line in lines)


def test_strangers_run_and_see_nothing(plumbd, authority):
    assert ask(plumbd, authority, None, "run", {"analysis": "status"})[0] == 401
    assert ask(plumbd, authority, None, "runs")[0] == 401
    assert ask(plumbd, authority, "nobody", "output?id=1")[0] == 401


def test_only_who_began_it_or_admin_stops_it(plumbd, authority):
    run = ask(plumbd, authority, "ann", "run", {"analysis": "status"})[1]
    assert ask(plumbd, authority, "bob", "stop", {"id": run["id"]})[0] == 403
    for who in ("ann", "root"):
        assert ask(plumbd, authority, who, "stop", {"id": run["id"]})[0] == 202
