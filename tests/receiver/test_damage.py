"""Files of journal and store that are damaged in one place each: bits turned, ends cut off, pages of zeros. plumbd
never crashes, and what is lost is told: by an end with a message, in the log, by a question's error, or by verify."""

import http.client
import json
import os
import random
import re
import shutil

import pytest

from tests.conftest import STOP_SECONDS, Plumbd
from tests.receiver.sender import OK, Sender, span

BEGIN = 1_700_000_000_000_000_000
PAGE = 4096
# bench/crash asks for 300.
PLACES = int(os.environ.get("PLUMB_DAMAGES", "30"))
SETTINGS = {"journal__segment": "1M", "trace__idle": "1h", "trace__max_age": "1h"}
TOLD = re.compile(r"damag|corrupt|checksum|malformed|missing|cannot be read|set aside|lost", re.I)


def send(plumbd, first, traces, spans=40):
    """Whole traces; their ids as exports write them, all of them acknowledged."""
    ids = set()
    with Sender(plumbd) as sender:
        for trace in range(first, first + traces):
            batch = [
                span(
                    trace,
                    k,
                    name=0,
                    begin=BEGIN + trace * 1_000_000 + k,
                    parent=None if k == 1 else 1,
                    annotations=[(0, f"/data/{trace}/{k}/" + "x" * 200)],
                )
                for k in range(1, spans + 1)
            ]
            assert sender.submit(batch).status == OK
            ids |= {f"{trace:016x}{k:016x}" for k in range(1, spans + 1)}
    return ids


@pytest.fixture(scope="module")
def sound(plumbd_program, tmp_path_factory):
    """A folder with spans in the store's files, in its memory, and in the journal alone, as a kill leaves it."""
    plumbd = Plumbd(plumbd_program, tmp_path_factory.mktemp("sound"), **SETTINGS)
    plumbd.start()
    ids = send(plumbd, 1, 60)
    assert plumbd.stop() == 0
    plumbd.start()
    ids |= send(plumbd, 1001, 60)
    plumbd.flush()
    ids |= send(plumbd, 2001, 60)
    plumbd.kill()
    return plumbd.folder, ids


def files_of(folder):
    """By kind, so that each kind gets its share of the places."""
    kinds = {}
    for path in sorted(p for part in ("store", "journal") for p in (folder / part).rglob("*") if p.is_file()):
        if path.stat().st_size > 0 and path.name not in ("LOCK", "LOG", "lock"):
            kinds.setdefault(path.suffix or path.name.rstrip("0123456789"), []).append(path)
    return [kinds[kind] for kind in sorted(kinds)]


def damage(folder, rand):
    """Damages one place; what was done, for messages."""
    path = rand.choice(rand.choice(files_of(folder)))
    size = path.stat().st_size
    at = rand.randrange(size)
    what = rand.choice(["bit", "end", "page"])
    with path.open("r+b") as file:
        if what == "bit":
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1 << rand.randrange(8)]))
        elif what == "end":
            file.truncate(at)
        else:
            at -= at % PAGE
            file.seek(at)
            file.write(bytes(min(PAGE, size - at)))
    return f"{what} at {at} of {size} in {path.relative_to(folder)}"


def exported(plumbd):
    """(ids, True when the answer says itself that it is not whole)"""
    try:
        status, body = plumbd.fetch("/api/v1/export")
    except (OSError, http.client.HTTPException):
        return set(), True
    lines = body.decode(errors="replace").splitlines()
    try:
        ids = [json.loads(line)["a"] for line in lines]
    except (ValueError, KeyError):
        return set(), True
    assert len(ids) == len(set(ids)), "a span came twice"
    return set(ids), status != 200


def test_without_damage(plumbd_program, sound, tmp_path):
    """All is there, and nothing is told: else the other tests would prove nothing."""
    folder, sent = sound
    shutil.copytree(folder, tmp_path / "copy", ignore=shutil.ignore_patterns("plumbd.log"))
    plumbd = Plumbd(plumbd_program, tmp_path / "copy", **SETTINGS).start().wait_recovered()
    try:
        plumbd.flush()
        assert exported(plumbd) == (sent, False)
        assert plumbd.ask("verify")["differences"] == 0
        assert plumbd.stop() == 0
        assert not TOLD.search(plumbd.messages()), plumbd.messages()
    finally:
        plumbd.clean_up()


@pytest.mark.parametrize("place", range(PLACES))
def test_damage_is_told(plumbd_program, sound, tmp_path, place):
    folder, sent = sound
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("plumbd.log"))
    done = damage(copy, random.Random(place))
    plumbd = Plumbd(plumbd_program, copy, **SETTINGS).spawn()
    try:
        if not (line := plumbd.process.stdout.readline()):
            assert plumbd.wait() == 1, f"{done}\n{plumbd.messages()}"
            assert TOLD.search(plumbd.messages()) and str(copy) in plumbd.messages(), f"{done}\n{plumbd.messages()}"
            return
        plumbd.http = re.search(r" http=(\S+)", line).group(1)
        plumbd.wait_recovered()
        plumbd.fetch("/api/v1/flush", "POST")
        ids, cut = exported(plumbd)
        status, answer = plumbd.fetch("/api/v1/verify", timeout=STOP_SECONDS)
        told = cut or status != 200 or json.loads(answer)["differences"] > 0 or TOLD.search(plumbd.messages())
        assert ids <= sent, done
        assert ids == sent or told, f"{done}: {len(sent - ids)} spans are gone\n{plumbd.messages()}"
        assert plumbd.stop() in (0, 1), f"{done}\n{plumbd.messages()}"
    finally:
        plumbd.clean_up()
        assert "Sanitizer" not in plumbd.messages(), f"{done}\n{plumbd.messages()}"
