"""plumb import against a real plumbd: formats, damage, growing files."""

import gzip
import json
import os
import signal
import subprocess

import pytest

from tests.cli.conftest import ENVIRONMENT, PLUMB, run_plumb
from tests.cli.real import by_id, json_lines, make_spans
from tests.conftest import ROOT

SPANS = make_spans(300)
TEXT = json_lines(SPANS)


def compressed(command, data):
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def zst(data):
    return compressed(["zstd", "-q", "-c"], data)


FORMATS = {
    "plain": lambda: TEXT.encode(),
    "gzip": lambda: gzip.compress(TEXT.encode()),
    "zstd": lambda: zst(TEXT.encode()),
    "many values on one line": lambda: TEXT.replace("\n", "").encode(),
    "white space between": lambda: TEXT.replace("\n", "\r\n\n \t").encode(),
    "several gzip members": lambda: b"".join(gzip.compress(json_lines(SPANS[i::3]).encode()) for i in range(3)),
    "several zstd frames": lambda: b"".join(zst(json_lines(SPANS[i::3]).encode()) for i in range(3)),
    "every span twice": lambda: (TEXT + TEXT).encode(),
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name, plumbd, tmp_path):
    path = tmp_path / "spans"
    path.write_bytes(FORMATS[name]())
    done = plumbd.plumb("import", path, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    sent = len(SPANS) * (2 if name == "every span twice" else 1)
    assert (report["spans_sent"], report["spans_accepted"], report["spans_refused"], report["bad_values"]) == (
        sent,
        sent,
        0,
        0,
    )
    assert report["files"][0]["spans"] == sent
    assert report["closed_traces"] == 300
    assert by_id(plumbd.exported()) == {span["a"]: span for span in SPANS}


def test_standard_input(plumbd):
    done = plumbd.plumb("import", "-", stdin=gzip.compress(TEXT.encode()))
    assert done.returncode == 0, done.stderr
    assert len(plumbd.exported()) == len(SPANS)


def test_a_slow_pipe_is_sent_as_it_comes(plumbd):
    """What a pipe has given is sent when it pauses, not when 5,000 spans are there."""
    command = [PLUMB, "import", "-", "--server", plumbd.http, "--thrift", plumbd.thrift_address]
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as importer:
        importer.stdin.write(json_lines(SPANS[:10]))
        importer.stdin.flush()
        plumbd.wait_for_spans(10, importer)
        importer.stdin.write(json_lines(SPANS[10:12]))
        importer.stdin.close()
        assert "sent 12 spans: 12 accepted" in importer.stdout.read()
        assert importer.wait(timeout=60) == 0


def test_several_files(plumbd, tmp_path):
    (tmp_path / "a").write_text(json_lines(SPANS[::2]))
    (tmp_path / "b.zst").write_bytes(zst(json_lines(SPANS[1::2]).encode()))
    done = plumbd.plumb("import", tmp_path / "a", tmp_path / "b.zst")
    assert done.returncode == 0, done.stderr
    assert len(plumbd.exported()) == len(SPANS)


def test_htrace_3(plumbd, tmp_path):
    path = tmp_path / "htrace3"
    path.write_text(
        '{"i":"00000000000000aa","s":"0000000000000001","b":1605952800000,"e":1605952800020,"d":"root","r":"FsShell",'
        '"p":[]}{"i":"00000000000000aa","s":"0000000000000002","b":1605952800001,"e":1605952800005,"d":"child",'
        '"r":"DataNode","p":["0000000000000001"]}'
    )
    done = plumbd.plumb("import", path)
    assert done.returncode == 0, done.stderr + done.stdout
    trace = json.loads(plumbd.plumb("trace", "00000000000000aa", "--json").stdout)
    assert [(span["depth"], span["function"]) for span in trace["spans"]] == [(0, "root"), (1, "child")]


def test_garbage_between_is_counted_and_skipped(plumbd, tmp_path):
    lines = TEXT.splitlines(keepends=True)
    path = tmp_path / "spans"
    path.write_bytes(
        "".join(lines[:5]).encode() + b"\0\1garbage\xff\n" + "".join(lines[5:]).encode() + b'{"a":"cut off'
    )
    done = plumbd.plumb("import", path, "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report["spans_accepted"] == len(SPANS)
    assert report["bad_values"] >= 2
    offset = sum(map(len, lines[:5]))
    assert str(offset) in report["files"][0]["first_error"]
    assert len(plumbd.exported()) == len(SPANS)
    table = plumbd.plumb("import", path).stdout
    assert "skipped; the first" in table and str(offset) in table


@pytest.mark.parametrize("pack", [gzip.compress, zst], ids=["gzip", "zstd"])
def test_a_cut_file_keeps_what_was_read(pack, plumbd, tmp_path):
    path = tmp_path / "cut"
    whole = pack(TEXT.encode())
    path.write_bytes(whole[: len(whole) * 9 // 10])
    good = tmp_path / "good"
    good.write_text(json_lines(make_spans(3, seed=2)))
    done = plumbd.plumb("import", path, good, "--json")
    assert done.returncode == 1
    assert "ends early" in done.stderr
    report = json.loads(done.stdout)
    assert "ends early" in report["files"][0]["error"]
    assert 0 < report["files"][0]["spans"] < len(SPANS) or pack is zst  # zstd gives whole blocks only
    assert report["files"][1]["spans"] == report["spans_accepted"] - report["files"][0]["spans"] > 0
    assert len(plumbd.exported()) == report["spans_accepted"]


def test_an_event_log_is_the_bridges(plumbd):
    log = ROOT / "tests/data/spark/4.3.0/failed_tasks.zstd"
    done = plumbd.plumb("import", log)
    assert done.returncode == 2 and f"'plumb-bridge {log}' sends it to plumbd" in done.stderr


def test_runs_of_two_versions_of_spark_are_compared(tmp_path):
    """The program had a line more when the older version ran: its only stage is not a new one."""
    logs = [ROOT / f"tests/data/spark/{version}/killed.zstd" for version in ("4.3.0", "3.5.6")]
    assert run_plumb("import", "--store", tmp_path / "store", *logs).returncode == 0
    done = run_plumb("diff", "earlier", "killed", "--store", tmp_path / "store", "--json")
    (stage,) = json.loads(done.stdout)["stages"]
    assert (stage["a_name"], stage["name"]) == ("sum at /srv/spark/jobs.py:163", "sum at /srv/spark/jobs.py:164")
    assert stage["state"] != "new" and stage["a"]["tasks"] == stage["b"]["tasks"] == 4


def test_a_damaged_file_is_not_the_command_lines_fault(plumbd, tmp_path):
    path = tmp_path / "spans.gz"
    path.write_bytes(b"\x1f\x8b" + b"garbage" * 100)
    done = plumbd.plumb("import", path)
    assert done.returncode == 1 and "damaged" in done.stderr
    assert plumbd.plumb("import", tmp_path / "missing").returncode == 1


def test_refused_spans_are_told(plumbd, tmp_path):
    path = tmp_path / "spans"
    path.write_text(TEXT + json.dumps({**SPANS[0], "d": "x" * 5000}) + "\n")
    done = plumbd.plumb("import", path, "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert report["spans_accepted"] == len(SPANS)
    assert report["spans_refused"] + report["bad_values"] == 1


def test_no_flush_leaves_traces_open(plumbd, tmp_path):
    path = tmp_path / "spans"
    path.write_text(TEXT)
    done = plumbd.plumb("import", "--no-flush", path, "--json")
    assert done.returncode == 0 and "closed_traces" not in json.loads(done.stdout)
    plumbd.wait_for("open_traces", 300)
    assert plumbd.exported() == []


def test_nobody_there(closed_port, tmp_path):
    from tests.cli.conftest import run_plumb

    path = tmp_path / "spans"
    path.write_text(TEXT)
    done = run_plumb("import", "--thrift", closed_port, path)
    assert done.returncode == 1
    assert closed_port in done.stderr and done.stderr.count("\n") == 1


@pytest.fixture
def follower(plumbd, tmp_path):
    """plumb import --follow of tmp_path/log, which holds the first 100 spans."""
    path = tmp_path / "log"
    path.write_text(json_lines(SPANS[:100]))
    importer = subprocess.Popen(
        [PLUMB, "import", "--follow", path, "--thrift", plumbd.thrift_address, "--server", plumbd.http, "--json"],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    plumbd.wait_for_spans(100, importer)
    yield path, importer
    importer.kill()
    importer.wait()
    importer.stdout.close()
    importer.stderr.close()


def stop(importer):
    importer.send_signal(signal.SIGTERM)
    out, errors = importer.communicate(timeout=60)
    assert importer.returncode == 0, errors
    return json.loads(out)


def test_follow_growth(plumbd, follower):
    path, importer = follower
    with open(path, "a") as log:
        for i in range(100, 200):
            text = json.dumps(SPANS[i])
            log.write(text[:50])  # a span cut in two by the writer's buffer
            log.flush()
            log.write(text[50:])
            log.flush()
        plumbd.wait_for_spans(200, importer)
    report = stop(importer)
    assert report["spans_accepted"] == 200 and report["bad_values"] == 0


def test_follow_rotation(plumbd, follower):
    path, importer = follower
    with open(path, "a") as log:
        log.write(json_lines(SPANS[100:120]))
    os.rename(path, f"{path}.1")
    path.write_text(json_lines(SPANS[120:150]))
    plumbd.wait_for_spans(150, importer)
    with open(path, "a") as log:
        log.write(json_lines(SPANS[150:160]))
    plumbd.wait_for_spans(160, importer)
    os.remove(path)
    path.write_text(json_lines(SPANS[160:170]))
    plumbd.wait_for_spans(170, importer)
    report = stop(importer)
    assert report["spans_accepted"] == 170 and report["bad_values"] == 0


def test_follow_truncation(plumbd, follower):
    path, importer = follower
    with open(path, "r+") as log:  # as logrotate's copytruncate does
        log.truncate(0)
        plumbd.wait_for_spans(100, importer)
        log.write(json_lines(SPANS[100:110]))
        log.flush()
        plumbd.wait_for_spans(110, importer)
    assert stop(importer)["spans_accepted"] == 110


def test_follow_outlives_plumbd(plumbd, tmp_path, follower):
    """plumbd goes and comes back on the same ports: the file waits, nothing is lost."""
    from tests.cli.real import Plumbd

    path, importer = follower
    thrift, http = plumbd.thrift_address, plumbd.http
    plumbd.stop()
    with open(path, "a") as log:
        log.write(json_lines(SPANS[100:130]))
    assert "plumb import" in importer.stderr.readline()  # says that nobody is there
    again = Plumbd(tmp_path, listen__thrift=thrift, listen__http=http)
    try:
        again.wait_for_spans(30, importer)
        assert "again" in importer.stderr.readline()
        assert stop(importer)["spans_accepted"] == 130
        assert again.plumb("verify").returncode == 0
    finally:
        again.clean_up()


def test_follow_takes_one_plain_file(plumbd, tmp_path):
    path = tmp_path / "spans.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    done = plumbd.plumb("import", "--follow", path)
    assert done.returncode == 2 and "plain files" in done.stderr
    assert plumbd.plumb("import", "--follow", path, path).returncode == 2
    assert plumbd.plumb("import", "--follow", "-", stdin="").returncode == 2
