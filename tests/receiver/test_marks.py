"""Marks: what was done to the hosts, sent by anybody who may write, kept as records are."""

import http.client
import json
import os
import subprocess
import time

from tests.receiver.sender import I32, I64, LIST, OK, STRING, STRUCT, Sender, field, i32, i64, items, text
from tests.receiver.waiting import wait_for

NS = 1_000_000_000


def post(plumbd, mark, **headers):
    """(status, answer) of a mark, or of bytes that should be one."""
    body = mark if isinstance(mark, (bytes, str)) else json.dumps(mark)
    connection = http.client.HTTPConnection(*plumbd.http.rsplit(":", 1), timeout=60)
    headers = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", "/api/v1/marks", body, headers)
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read())


def texts(plumbd, **asked):
    question = "&".join(f"{name}={value}" for name, value in asked.items())
    return [mark["text"] for mark in plumbd.ask(f"marks?{question}")["marks"]]


def test_marks_are_kept(make_plumbd, tmp_path, plumb_program):
    """Over a crash, masked, and listed as `plumb mark` sent them; the end comes later."""
    key = tmp_path / "mask.key"
    key.write_text("c0ffee" * 8 + "\n")
    os.chmod(key, 0o600)
    plumbd = make_plumbd(mask__rules="path=keep 1", mask__key=key).start()
    now = time.time_ns()
    fault = {"host": "10.0.3.17", "kind": "fault", "begin": now - 600 * NS, "text": "slow disk"}
    status, answer = post(plumbd, fault)
    assert (status, answer["mark"]["begin_time_ns"]) == (200, now - 600 * NS) and "end_time_ns" not in answer["mark"]
    assert post(plumbd, fault | {"end": "5m"})[0] == 200
    assert post(plumbd, {"kind": "fault", "text": "removed /user/alice/secret", "begin": "1m"})[0] == 200
    plumbd.kill()
    plumbd.start()
    plumbd.wait_recovered()
    wait_for(lambda: len(texts(plumbd)) == 2)
    (all_hosts, one_host) = plumbd.ask("marks")["marks"]
    assert "host" not in all_hosts and all_hosts["text"].startswith("removed /user/~") and "alice" not in str(all_hosts)
    assert now - 301 * NS < one_host["end_time_ns"] < now - 240 * NS

    command = [plumb_program, "mark", "-", "--kind", "deployment", "--server", plumbd.http, "--json"]
    command[2] = "Hadoop 3.4.2"
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    (made,) = json.loads(done.stdout)["marks"]
    assert (made["kind"], made["text"]) == ("deployment", "Hadoop 3.4.2") and now < made["begin_time_ns"]
    wait_for(lambda: texts(plumbd, kind="deployment") == ["Hadoop 3.4.2"])
    assert plumbd.ask("status")["store"]["records"]["mark"] == 3
    assert plumbd.ask("verify")["differences"] == 0
    assert [line for line in plumbd.export() if line.get("spark") == "mark" and line.get("kind") == "deployment"]


def test_a_begin_as_it_was_printed_names_the_mark(plumbd, plumb_program):
    """So its end comes later. What was noted in the same second stays."""

    def mark(*arguments):
        """The begin that it prints."""
        command = [plumb_program, "mark", "--kind", "roll", "--server", plumbd.http, *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout.splitlines()[1].split()[0]

    begin = mark("rolling restart")
    other = mark("another one")
    ago = mark("--begin", "20m", "disk throttled")
    exact = mark("--begin", str(time.time_ns() // 1000 * 1000 + 7), "by a program")
    for printed, what in ((begin, "rolling restart"), (ago, "disk throttled"), (exact, "by a program")):
        assert mark("--begin", printed, "--end", "now", what) == printed
    wait_for(lambda: sum("end_time_ns" in row for row in plumbd.ask("marks")["marks"]) == 3)
    rows = {row["text"]: row for row in plumbd.ask("marks")["marks"]}
    assert len(plumbd.ask("marks")["marks"]) == len(rows) == 4
    assert "end_time_ns" not in rows["another one"] and other not in (begin, ago, exact)


def test_what_is_no_mark_is_refused(plumbd):
    bad = [b"", b"[]", b'{"text": "x"', {}, {"text": ""}, {"text": 5}, {"text": "a\nb"}, {"text": "x" * 1025}]
    bad += [{"text": "x", "kind": "k" * 65}, {"text": "x", "begin": "yesterday"}, {"text": "x", "begin": -1}]
    bad += [{"text": "x", "begin": "1m", "end": "2m"}, {"text": "x", "nobody": 1}, {"text": "a\0b"}]
    ahead = time.time_ns() + 25 * 3600 * NS
    bad += [{"text": "x", "begin": 2**63 - 1}, {"text": "x", "begin": ahead}, {"text": "x", "end": ahead}]
    for mark in bad:
        status, answer = post(plumbd, mark)
        assert status == 400 and answer["error"], mark
    assert "more than a day from now" in post(plumbd, {"text": "x", "end": ahead})[1]["error"]
    assert post(plumbd, {"text": "x"}, Content_Type="text/plain")[0] == 415
    assert post(plumbd, {"text": "x"}, Origin="http://evil.example")[0] == 403
    assert post(plumbd, {"text": "x" * 70_000})[0] == 413
    assert texts(plumbd) == []


def over_thrift(plumbd, *marks):
    """The reply to marks (host, begin, end, text) that a program sends as records."""
    rows = [
        field(STRING, 1, text(host))
        + field(I64, 2, i64(begin))
        + field(I64, 4, i64(end))
        + field(STRING, 5, text(what))
        for host, begin, end, what in marks
    ]
    records = field(I32, 1, i32(1)) + field(LIST, 13, items(STRUCT, [row + b"\0" for row in rows])) + b"\0"
    with Sender(plumbd) as sender:
        return sender.call("submitRecords", field(STRUCT, 1, records) + b"\0")


def test_a_time_to_come_is_refused_over_thrift(plumbd):
    """The others of the batch are taken, and those alone come back after a crash."""
    now, ahead = time.time_ns(), time.time_ns() + 25 * 3600 * NS
    reply = over_thrift(plumbd, ("dn1", now, -1, "good"), ("dn2", ahead, -1, "begins"), ("dn3", now, ahead, "ends"))
    assert (reply.status, reply.accepted, reply.refused) == (OK, 1, 2) and "a day ahead" in reply.message
    plumbd.kill()
    plumbd.start().wait_recovered()
    wait_for(lambda: texts(plumbd) == ["good"])
    assert over_thrift(plumbd, ("dn1", ahead, -1, "alone")).refused == 1
    assert texts(plumbd) == ["good"]
