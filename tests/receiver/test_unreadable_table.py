"""A table of the store that stays unreadable: bytes written over, or a sector that the disk does not give. plumbd goes
on beside it, says what cannot be read, and keeps at its next start what can."""

import http.client
import json
import random
import shutil
import time

import pytest

from tests.conftest import Plumbd
from tests.receiver.sender import OK, Sender, span
from tests.receiver.waiting import wait_for

BEGIN = 1_700_000_000_000_000_000
RESTART = 75
READY_SECONDS = 60
SPANS = 20
STRINGS = ("op", "Client/10.0.0.1/7", *(f"function{number:03}" for number in range(300)))
# Each flush makes a file; from so many files on they are merged.
MERGED_FROM = {"trace": 24, "stats": 72, "trace_id": 8, "index": 8}
SETTINGS = {"trace__idle": "5ms", "journal__ack": "fsync", "journal__segment": "64K", "store__write_buffer": "1M"}


def send(plumbd, first, traces):
    """Whole traces, all acknowledged; their ids as exports write them."""
    ids = set()
    with Sender(plumbd) as sender:
        for trace in range(first, first + traces):
            number = trace * 0x9E3779B97F4A7C15 % 2**64
            batch = [
                span(
                    number,
                    k,
                    name=0 if k == 1 else 2 + (trace * SPANS + k) % 300,
                    begin=BEGIN + trace * 1_000_000_000 + k,
                    parent=None if k == 1 else 1,
                    annotations=[(0, f"/data/{trace}/{k}/" + random.Random(trace * 100 + k).randbytes(100).hex())],
                )
                for k in range(1, SPANS + 1)
            ]
            assert sender.submit(batch, strings=STRINGS).status == OK
            ids |= {f"{number:016x}{k:016x}" for k in range(1, SPANS + 1)}
    return ids


@pytest.fixture(scope="module")
def sound(plumbd_program, tmp_path_factory):
    """A store of many tables, stopped in order; what it holds."""
    plumbd = Plumbd(plumbd_program, tmp_path_factory.mktemp("sound"), **SETTINGS).start()
    ids = set()
    for part in range(6):
        ids |= send(plumbd, 1 + part * 100, 100)
        plumbd.flush()
    assert plumbd.stop() == 0
    return plumbd.folder, ids


def tables(folder, family):
    """Of one family, the largest first: a table's properties name it."""
    name = bytes([4, len(family)]) + b"name" + family  # lengths stand before key and value
    paths = [path for path in (folder / "store").glob("*.sst") if name in path.read_bytes()]
    return sorted(paths, key=lambda path: -path.stat().st_size)


# What reads the first block of the statistics: sums of all times stand in others.
BY_MINUTE = "functions?by=host,minute"


def overwrite(table):
    with table.open("r+b") as file:
        file.seek(200)
        file.write(b"overwritten" * 10)


class Story:
    """One plumbd after the other over one folder, as a service manager starts them."""

    def __init__(self, program, folder, environment=None):
        self.plumbd, self.restarts = Plumbd(program, folder, **SETTINGS), 0
        self.plumbd.environment = {**self.plumbd.environment, **(environment or {})}
        self.sent, self.next = set(), 10_000
        try:
            self.plumbd.start()
        except AssertionError:  # it was found while the store was opened
            assert self.plumbd.process.returncode == 1 and ".sst" in self.plumbd.messages(), self.plumbd.messages()
            self.restarts += 1
            self.plumbd.start()

    def go_on(self):
        """One step of a sender and of somebody who flushes; a new start when plumbd asks for it. TRUE: all is well."""
        if self.plumbd.process.poll() is not None:
            assert self.plumbd.wait() == RESTART, self.plumbd.messages()
            self.restarts += 1
            self.plumbd.start()
        try:
            self.sent |= send(self.plumbd, self.next, 4)
        except (OSError, AssertionError, KeyError):  # not now: they may have been taken all the same
            return False
        finally:
            self.next += 4
        try:
            return self.plumbd.fetch("/api/v1/flush", "POST")[0] == 200
        except OSError:
            return False

    def kept(self):
        """(ids that are stored or set aside, TRUE when the export says that it lacks some)"""
        aside = self.plumbd.journal / "unstored.jsonl"
        lines = aside.read_text().splitlines() if aside.exists() else []
        connection = http.client.HTTPConnection(self.plumbd.http, timeout=60)
        try:
            connection.request("GET", "/api/v1/export")
            stored, cut = connection.getresponse().read(), False
        except http.client.IncompleteRead as short:
            stored, cut = short.partial, True
        finally:
            connection.close()
        lines_read = stored.decode().splitlines()
        assert all("a" in json.loads(line) for line in lines_read), stored[-2000:]
        exported = [json.loads(line)["a"] for line in lines_read]
        assert len(exported) == len(set(exported))
        return set(exported) | {json.loads(line)["a"] for line in lines}, cut

    def assert_mended(self, table, family):
        """All is well, and everywhere it is told what is lost."""
        status, text = self.plumbd.fetch("/readyz")
        assert (status, f"{table} of the store was damaged" in text.decode()) == (200, True), text
        (row,) = self.plumbd.stored()["unreadable"]
        assert (row["file"], row["family"], row["state"]) == (table, family, "mended")
        assert row["lost_bytes"] > 0
        metrics = self.plumbd.metrics()
        assert metrics[f'plumbd_store_unreadable_files{{family="{family}"}}'] == 0
        assert metrics[f'plumbd_store_lost_bytes{{family="{family}"}}'] == row["lost_bytes"]
        wait_for(lambda: f"{table} of the store was damaged" in self.plumbd.messages())


def spoil(folder, family, how, layer):
    """Makes a table of the family unreadable; its name, and what plumbd has to be started with."""
    table = tables(folder, family.encode())[0]
    if how == "overwritten":
        overwrite(table)
        return table.name, {}
    # A copy lies elsewhere on the disk.
    sector = {"FOLDER": folder, "KIND": "bad-sector", "AT": 1, "LASTS": 1, "INODE": table.stat().st_ino}
    return table.name, {
        "LD_PRELOAD": str(layer),
        **{f"PLUMB_FAULT_{name}": str(value) for name, value in sector.items()},
    }


@pytest.fixture
def copy(sound, tmp_path):
    shutil.copytree(sound[0], tmp_path / "copy", ignore=shutil.ignore_patterns("plumbd.log"))
    return tmp_path / "copy"


# A table of ids is smaller than a sector.
CASES = [(family, how) for family in MERGED_FROM for how in ("overwritten", "bad-sector")]
CASES.remove(("trace_id", "bad-sector"))


@pytest.mark.parametrize(("family", "how"), CASES)
def test_goes_on(plumbd_program, sound, copy, fault_layer, family, how):
    table, environment = spoil(copy, family, how, fault_layer)
    begin = time.monotonic()
    story = Story(plumbd_program, copy, environment)
    try:
        while "unreadable" not in story.plumbd.stored():
            well = story.go_on()
            assert well or time.monotonic() - begin < READY_SECONDS, story.plumbd.messages()
            story.plumbd.fetch("/api/v1/functions?by=minute")
            story.plumbd.fetch("/api/v1/traces?function=op")
        assert story.restarts <= 1, story.plumbd.messages()
        story.plumbd.stop()  # 1 where the store takes nothing: the journal has it then
        story.plumbd.start()

        story.assert_mended(table, family)
        for _ in range(MERGED_FROM[family] + 2):
            assert story.go_on(), story.plumbd.messages()
        kept, cut = story.kept()
        assert not cut
        assert story.sent <= kept <= story.sent | sound[1], story.plumbd.messages()
        lost = len(sound[1] - kept)
        assert (0 < lost < len(sound[1]) / 10) == (family == "trace"), lost
        print(f"{family} {how}: {story.restarts} new starts, {lost} of {len(sound[1])} lost")
    finally:
        story.plumbd.clean_up()


def test_found_by_a_merge(plumbd_program, copy):
    """The store takes nothing then: plumbd ends to be started anew, once, and the new one is well."""
    table = tables(copy, b"trace_id")[0]
    overwrite(table)
    story = Story(plumbd_program, copy)
    try:
        begin = time.monotonic()
        while story.restarts == 0:
            story.go_on()
            assert time.monotonic() - begin < READY_SECONDS, story.plumbd.messages()
        story.assert_mended(table.name, "trace_id")
        for _ in range(MERGED_FROM["trace_id"] + 2):
            assert story.go_on(), story.plumbd.messages()
        assert story.restarts == 1
        assert story.sent <= story.kept()[0]
    finally:
        story.plumbd.clean_up()


def test_answers_say_what_is_missing(plumbd_program, sound, copy):
    for family in ("stats", "trace"):
        overwrite(tables(copy, family.encode())[0])
    story = Story(plumbd_program, copy)
    try:
        functions = story.plumbd.ask(BY_MINUTE)
        assert [(row["family"], row["state"]) for row in functions["unreadable"]] == [("stats", "new")]
        traces = story.plumbd.ask("traces?sort=begin_time_ns&limit=10000")
        assert [(row["family"], row["state"]) for row in traces["unreadable"]] == [("trace", "new")]
        assert 0 < len(traces["traces"]) < 600

        assert story.plumbd.stop() == 0
        story.plumbd.start()
        traces = story.plumbd.ask("traces?sort=begin_time_ns&limit=10000")
        assert [(row["family"], row["state"]) for row in traces["unreadable"]] == [("trace", "mended")]
        assert 550 < len(traces["traces"]) < 600
    finally:
        story.plumbd.clean_up()


def test_told_until_somebody_looked(plumbd_program, sound, copy):
    table = tables(copy, b"stats")[0]
    overwrite(table)
    story = Story(plumbd_program, copy)
    try:
        assert "unreadable" in story.plumbd.ask(BY_MINUTE)
        assert story.plumbd.stop() == 0
        story.plumbd.start()
        story.assert_mended(table.name, "stats")
        assert story.plumbd.ask("verify")["differences"] > 0
        (copy / f"store/{table.name}.damaged").unlink()
        assert story.plumbd.stop() == 0
        story.plumbd.start()
        assert "unreadable" not in story.plumbd.stored()
        assert not (copy / "store/UNREADABLE").exists()
    finally:
        story.plumbd.clean_up()


def test_restored(plumbd_program, sound, copy):
    """The table comes back from a copy before the new start: nothing is lost."""
    table = tables(copy, b"stats")[0]
    saved = table.read_bytes()
    overwrite(table)
    story = Story(plumbd_program, copy)
    try:
        assert "unreadable" in story.plumbd.ask(BY_MINUTE)
        assert story.plumbd.stop() == 0
        assert table.name in (copy / "store/UNREADABLE").read_text()
        table.write_bytes(saved)
        story.plumbd.start()
        assert "unreadable" not in story.plumbd.ask("functions")
        assert not (copy / "store/UNREADABLE").exists()
        assert story.plumbd.ask("verify")["differences"] == 0
        assert story.kept() == (sound[1], False)
    finally:
        story.plumbd.clean_up()


@pytest.mark.parametrize("family", MERGED_FROM)
def test_one_that_cannot_be_mended(plumbd_program, copy, fault_layer, family):
    """The end of a table, which says where its blocks are, cannot be read: nothing new is lost all the same."""
    table = tables(copy, family.encode())[0]
    sector = table.stat().st_size // 4096  # the last two
    environment = {
        "LD_PRELOAD": str(fault_layer),
        "PLUMB_FAULT_FOLDER": str(copy),
        "PLUMB_FAULT_KIND": "bad-sector",
        "PLUMB_FAULT_INODE": str(table.stat().st_ino),
        "PLUMB_FAULT_AT": str(max(sector, 1)),
        "PLUMB_FAULT_LASTS": "2",
    }
    story = Story(plumbd_program, copy, environment)
    try:
        begin = time.monotonic()
        while not story.go_on():
            assert time.monotonic() - begin < READY_SECONDS, story.plumbd.messages()
        good = 0
        while good < 10:
            good += story.go_on()
            assert story.restarts <= 2, story.plumbd.messages()
        assert story.plumbd.fetch("/readyz")[0] == 200
        (row,) = story.plumbd.stored()["unreadable"]
        assert (row["file"], row["family"]) == (table.name, family)
        if family == "trace":  # an export has to read that table, too
            asked = {span[:16] for span in story.sent}
            assert all(len(story.plumbd.ask(f"trace?id={trace}")["spans"]) == SPANS for trace in asked)
        else:
            assert story.sent <= story.kept()[0], story.plumbd.messages()
    finally:
        story.plumbd.clean_up()
