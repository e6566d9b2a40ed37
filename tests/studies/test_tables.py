"""Small studies give the tables that are committed in tests/data/studies, byte for byte. After a change of an analysis:
UPDATE_GOLDEN=1 pytest tests/studies, and look at the difference: it is what the change does to the study."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.studies import main as main_module
from bench.studies.cases import SUFFIX, generated, read
from bench.studies.main import main, parse, parts_of

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests/data/studies"
STUDIES = {
    "operations": ["--runs", "6"],
    "sampling": ["--runs", "10"],
    "stragglers": ["--from", KEPT / "runs"],
    "recorded-stragglers": ["--from", KEPT / "recorded-runs"],
    "twin-stragglers": ["--from", KEPT / "twin-runs"],
    "bottleneck": ["--from", KEPT / "load"],
    "loop": [],
    "workloads": [],
}


@pytest.mark.parametrize("name", STUDIES)
def test_the_committed_tables(name, tmp_path):
    study = name.removeprefix("recorded-").removeprefix("twin-")
    done = subprocess.run(
        [ROOT / "bench/study", study, *STUDIES[name], "--into", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made, kept = tmp_path / study, KEPT / name
    tables = sorted(path.name for path in made.glob("*.tsv"))
    if os.environ.get("UPDATE_GOLDEN"):
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for table in tables:
            shutil.copy(made / table, kept)
    assert tables and tables == sorted(path.name for path in kept.glob("*.tsv"))
    for table in tables:
        assert (made / table).read_text() == (kept / table).read_text(), table

    document = json.loads((made / "study.json").read_text())
    report = (made / "report.md").read_text()
    assert document["claims"] and {"holds", "does not", "undecided"} >= {one["verdict"] for one in document["claims"]}
    for claim in document["claims"]:
        assert claim["low"] <= claim["high"] and claim["claim"] in report
    for picture in document["pictures"]:
        assert (made / f"{picture}.svg").read_text().startswith("<?xml") and f"({picture}.svg)" in report


def test_a_run_is_judged_as_it_is_kept(build_dir):
    """The features, labels and causes in tests/data/studies/runs are what the programs say of the generated run.
    bench/study stragglers --into DIR makes all of them anew, in DIR/cases."""
    kept = read(KEPT / f"runs/mixed-0{SUFFIX}")
    assert generated(build_dir, "mixed", 0)._asdict() == kept._asdict()


def test_nothing_recorded(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["stragglers", "--from", str(tmp_path)])
    assert "has no recorded runs: bench/faults run makes some" in str(ended.value)


def test_no_loads(tmp_path):
    with pytest.raises(SystemExit) as ended:
        main(["bottleneck", "--from", str(tmp_path)])
    assert "has no recorded loads (*.run.json.gz): bench/study record load makes some" in str(ended.value)


def test_all_is_of_what_is_kept(tmp_path):
    """Without --from; with it of the folders that record leaves, and what is drawn."""
    every = parts_of(parse(["all"]))
    assert {name for name, *_ in every} == set(main_module.STUDIES)
    assert all(recorded is None or list(recorded.glob("*.gz")) for _, recorded, *_ in every)
    assert len({called for *_, called in every}) == len(every)
    (tmp_path / "load").mkdir()
    some = parts_of(parse(["all", "--from", str(tmp_path), "--runs", "7"]))
    assert some == [
        ("operations", None, 7, "operations"),
        ("sampling", None, 7, "sampling"),
        ("bottleneck", tmp_path / "load", 7, "bottleneck"),
    ]


def test_what_cannot_be(tmp_path, capsys):
    for arguments, said in (
        (["weather"], "invalid choice: 'weather'"),
        (["operations", "--runs", "0"], "--runs: at least 1"),
        (["sampling", "load"], "load: says what is recorded, of record"),
        (["sampling", "--from", str(tmp_path)], "--from: names a folder"),
        (["record", "load", "--only", "lr"], "--only: is of record loop and record stragglers"),
        (["record", "loop", "--twins", "2"], "--twins: is of record stragglers, 0 or more"),
        (["record", "stragglers", "--twins", "-1"], "--twins: is of record stragglers, 0 or more"),
        (["stragglers", "--from", str(tmp_path / "nowhere")], "--from: names a folder"),
        (["operations", "--build", str(tmp_path)], "there is no plumb in"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2 and said in capsys.readouterr().err
