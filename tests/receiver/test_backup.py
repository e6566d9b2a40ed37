"""A copy of plumbd's two folders is a backup: of a stopped plumbd, and of one that is frozen for the time of the copy.
docs/operate.md says so to operators."""

import shutil
import signal
import subprocess

import pytest

from tests.receiver.test_recovery import assert_all_once, load_bulk

SPANS = 50_000


def copy_of(plumbd, make_plumbd, folder):
    """Another plumbd, not started, on copies of both folders."""
    for copied in (plumbd.store, plumbd.journal):
        shutil.copytree(copied, folder / copied.name)
    return make_plumbd(folder=folder, retention__traces="0")


def answers(plumbd):
    return [plumbd.ask(f"{question}?limit=0") for question in ("functions", "forest", "traces")]


def test_stopped(make_plumbd, build_dir, plumb_program, tmp_path):
    """Stop, copy, start elsewhere: every answer is the same, and the copy verifies without a plumbd."""
    plumbd = make_plumbd(retention__traces="0").start()
    spans = load_bulk(plumbd, build_dir, SPANS)
    plumbd.flush()
    before = answers(plumbd)
    assert plumbd.stop() == 0

    restored = copy_of(plumbd, make_plumbd, tmp_path / "restored")
    verified = subprocess.run(
        [plumb_program, "verify", "--store", restored.store], capture_output=True, text=True, timeout=60
    )
    assert verified.returncode == 0 and f"{spans:,} spans" in verified.stdout, verified.stdout + verified.stderr
    assert answers(restored.start()) == before
    assert_all_once(restored, spans)


@pytest.mark.parametrize("idle", ["1ms", "1h"], ids=["mostly stored", "mostly open"])
def test_frozen(make_plumbd, build_dir, tmp_path, idle):
    """What a frozen plumbd has acknowledged is in the copy, stored or in the journal; the plumbd itself goes on."""
    plumbd = make_plumbd(retention__traces="0", trace__idle=idle).start()
    spans = load_bulk(plumbd, build_dir, SPANS)
    plumbd.signal(signal.SIGSTOP)
    restored = copy_of(plumbd, make_plumbd, tmp_path / "restored")
    plumbd.signal(signal.SIGCONT)
    assert_all_once(plumbd, spans)

    assert_all_once(restored.start().wait_recovered(), spans)


def test_store_without_its_journal(make_plumbd, build_dir, tmp_path):
    """Of a frozen plumbd the store alone is whole, but lacks what only the journal had."""
    plumbd = make_plumbd(retention__traces="0", trace__idle="1h").start()
    stored = load_bulk(plumbd, build_dir, SPANS)
    plumbd.flush()
    spans = load_bulk(plumbd, build_dir, 2 * SPANS)
    plumbd.signal(signal.SIGSTOP)
    restored = copy_of(plumbd, make_plumbd, tmp_path / "restored")
    plumbd.signal(signal.SIGCONT)

    shutil.rmtree(restored.journal)
    restored.start()
    assert restored.stored()["spans"] == stored < spans
    assert restored.ask("verify")["differences"] == 0
