"""plumb load run --find-max on a real HDFS."""

import json
import re
import signal

import pytest

from tests.load.conftest import plan, records, report, run_load, wait_records

# One thread: what waits for it has its latency, so that a rate that is too high fails on any machine.
SLOW = ["--threads", 1, "--searches", 1, "--precision", 100, "--find-max"]
LIMIT = "open:p50<=150ms"
SMALL = ["--files", 5, "--max-file", "64K", "--clients", 1, "--gaps", "even", "--mix", "open=1"]


@pytest.fixture(scope="module")
def found(hdfs, tmp_path_factory):
    """(The folder of a search, what was printed.)"""
    path = tmp_path_factory.mktemp("find") / "a.plan"
    # Of two kinds: what is judged and shown is one's.
    plan(path, *SMALL[:-1], "open=3,list=1", "--rate", 400, "--duration", "1s", "--warm-up", "500ms")
    done = hdfs.run(path, *SLOW, LIMIT, "--drain", "1s", folder="/find")
    assert done.returncode == 0, done.stderr
    return path.with_name("a.plan.find"), done.stdout


def test_a_rate_held_and_one_failed(found):
    folder, printed = found
    said = report(folder)
    assert said["ended"] and said["find_max"] == LIMIT and said["bound_ns"] == 150_000_000
    assert (said["kind"], said["quantile"]) == ("open", "p50")
    (search,) = said["searches"]
    assert 0 < search["held_per_s"] < search["failed_per_s"] <= 2 * search["held_per_s"] * 1.001
    assert said["held_per_s"] == search["held_per_s"] and said["failed_per_s"] == search["failed_per_s"]
    assert run_load("report", folder).stdout == printed
    assert " held, " in printed and " failed." in printed and "open:p50 (95 %)" in printed


def test_each_step_is_judged_by_its_own_result(found):
    folder, _ = found
    steps = report(folder)["steps"]
    assert len(steps) == len(list(folder.glob("step-*.result"))) >= 2
    for number, step in enumerate(steps, 1):
        path = folder / f"step-{number:03}.result"
        measured = sorted(o.latency for o in records(path) if o.due >= 0.5 and o.kind == "open")
        p50 = measured[(len(measured) + 1) // 2 - 1] * 1e9
        assert step["latency"]["p50"]["ns"] == pytest.approx(p50, abs=1)
        assert step["within"] == (p50 <= 150_000_000 and step["end"] == "done")
        assert {"holds": True, "fails": False}.get(step["verdict"], step["within"]) == step["within"]
        # It was asked for what was planned, unless the run was ended early.
        assert step["end"] != "done" or step["asked_per_s"] == pytest.approx(step["rate_per_s"], rel=0.02)


def test_page(found, tmp_path):
    folder, _ = found
    page = tmp_path / "page.html"
    assert run_load("report", folder, "--html", page).returncode == 0
    text = page.read_text()
    assert text.count("<circle ") == len(report(folder)["steps"])
    assert (
        "Latency of open, by rate" in text
        and "<th>open:p50" in text
        and not re.search(r"(src|href)=|url\(|@import", text)
    )


def test_it_does_not_write_over_another(hdfs, found):
    folder, _ = found
    done = hdfs.run(folder.with_name("a.plan"), *SLOW, "p50<=1s", folder="/find")
    assert done.returncode == 2 and "--overwrite" in done.stderr


def test_an_interrupted_search_is_reported(hdfs, tmp_path):
    path = tmp_path / "b.plan"
    plan(path, *SMALL, "--rate", 20, "--duration", "3s", "--warm-up", "0s")
    process = hdfs.start(path, *SLOW, "p50<=60s", folder="/find")
    first, second = (path.with_name("b.plan.find") / f"step-00{n}.result" for n in (1, 2))
    wait_records(process, second, 1)
    process.send_signal(signal.SIGTERM)
    output, said = process.communicate(timeout=60)
    assert process.returncode == 1, said
    assert "ended early" in output
    done = run_load("report", second.parent, "--json")
    assert [step["result"] for step in json.loads(done.stdout)["steps"]] == [str(first)]
