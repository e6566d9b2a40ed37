"""plumb load plan --session: a session comes by itself, each of its operations when the one before has ended."""

import re

from tests.load.conftest import plan, records, report, run_load


def test_each_waits_for_the_one_before(hdfs, tmp_path):
    path, result = tmp_path / "s.plan", tmp_path / "s.plan.result"
    small = ["--files", 5, "--max-file", "16K", "--clients", 3, "--mix", "read=1,stat=1"]
    planned = plan(path, *small, "--session", 3, "--rate", 60, "--duration", "3s", "--warm-up", "1s")
    done = hdfs.run(path, folder="/sessions")
    assert done.returncode == 0, done.stderr

    found = {operation.number: operation for operation in records(result)}
    followers = [operation for operation in found.values() if operation.number % 3]
    assert planned["operations"] % 3 == 0 and followers  # of a slow client the plan's end cuts many
    for operation in followers:
        before = found[operation.number - 1]
        assert operation.due == before.end and operation.begin >= operation.due

    said = report(result)
    measured = [operation for operation in found.values() if operation.due >= 1]
    assert said["end"] == "done" and said["due"] == said["done"] == len(measured) and said["missing"] == 0
    assert "Sessions of 3: a session comes when the plan says" in done.stdout
    page = tmp_path / "s.html"
    assert run_load("report", result, "--html", page).returncode == 0
    assert re.search(r"<p>Sessions of 3:.*</p>\n<p>[0-9]+ operations were due in 3 s", page.read_text())
