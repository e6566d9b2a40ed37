"""What is slow now, and a stage: what its tasks read, where a slow one's time went, by which method; against plumb."""

import json
import re
import subprocess
import time

import pytest

from tests.ui import load, spark
from tests.ui.test_three_clicks import ns, three_digits
from tests.ui.test_views import digits

MS = 1_000_000


def stage(busy, ask_plumb, key, *options):
    return ask_plumb(busy, "why", busy.app, "--stage", key, "--limit", "50", *options)


def test_whether_it_was_their_data(busy, ask_plumb, open_page):
    """Of the stage behind the shuffle one task had six times as much to read, the others had a busy host."""
    slow = stage(busy, ask_plumb, "1.0")["stragglers"]
    tasks = ask_plumb(busy, "tasks", busy.app, "--stage", "1.0", "--limit", "0")["tasks"]
    read = {row["task"]: row["metrics"]["shuffleRemoteBytes"] for row in tasks}
    median = sorted(read.values())[len(read) // 2]
    data = [row["task"] for row in slow if row["scale"] < 1.5 * read[row["task"]] / median]
    assert len(data) == 1
    page = open_page(busy)
    page.open(f"stage/{busy.app}", stage="1.0")
    assert page.text(".stage-spread > p >> nth=0").startswith(
        f"In part: {len(slow)} tasks took 1.5 times the median or more; 1 had as much more to read, "
    )
    # Arrow keys: the last is the one that read most.
    page.page.locator(".stage-spread canvas").focus()
    page.page.keyboard.press("ArrowRight")
    page.page.locator(".panel h2", has_text=f"Task {data[0]}").wait_for()
    told = page.text(".stage-spread figcaption")
    assert told.startswith(f"task {data[0]}, success:") and told.endswith("read 54.0 MB")
    page.page.keyboard.press("ArrowLeft")
    before = sorted(read, key=read.get)[-2]
    page.page.locator(".panel h2", has_text=f"Task {before}").wait_for()


def test_where_the_time_of_a_task_went(busy, ask_plumb, open_page):
    """The parts are plumb's, and with all else they add up to what it took longer."""
    (worst, *_) = stage(busy, ask_plumb, "0.0", "--method", "ledger")["stragglers"]
    ledger = worst["ledger"]
    page = open_page(busy)
    page.open(f"stage/{busy.app}", stage="0.0", sel=worst["task"], method="ledger")
    said = page.text(".ledger p")
    assert ns(said.split("took")[1]) == three_digits(ledger["excess_ns"])
    assert f"{ledger['peers']} normal peers" in said
    rows = {row.locator("th").inner_text(): row for row in page.page.locator(".ledger tbody tr").all()}
    signed = {name: row.locator("td").nth(1).inner_text() for name, row in rows.items()}
    more = {name: ns(text) * (-1 if text.startswith("-") else 1) for name, text in signed.items()}
    assert sum(more.values()) == pytest.approx(ledger["excess_ns"], rel=0.02)
    (disk,) = [part for part in ledger["parts"] if part["part"] == "hdfs_disk"]
    server = max(disk["servers"], key=lambda one: one["more_ns"])
    name = f"waiting for the disk of {server['process']}"
    assert server["host"] == load.host_of(load.SLOW) and more[name] == three_digits(server["more_ns"])
    assert rows[name].get_by_role("link").get_attribute("href").startswith(f"#/hosts/{server['host']}")


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({"method": "pcc"}, ["--method", "pcc"]),
        ({"lambda_p": "7"}, ["--method", "bigroots", "--lambda-p", "7"]),
        ({"method": "mantri"}, ["--method", "mantri"]),
    ],
)
def test_causes_by_other_methods(values, options, busy, ask_plumb, open_page):
    answer = ask_plumb(busy, "stragglers", busy.app, "--stage", "1.0", "--limit", "500", *options)
    page = open_page(busy)
    page.open(f"stage/{busy.app}", stage="1.0", **{"as": "cause"}, **values)
    found = page.text(".found")
    assert f"{answer['unexplained']} of {answer['stragglers_total']} slow tasks have no cause" in found
    for cause in answer["causes_total"]:
        assert f"{cause['feature']} {cause['stragglers']}" in found
    explained = {row["task"] for row in answer["stragglers"] if row["causes"]}
    assert {int(cells[0]) for cells in page.cells("Tasks") if cells[7] != ""} == explained
    coloured = page.page.locator(".lane-bar:not(.cause-none)[aria-label^=task]")
    assert coloured.count() == len(explained)
    commands = page.page.locator(".sames code").all_inner_texts()
    assert any(command.startswith("plumb stragglers") and " ".join(options) in command for command in commands)


def test_the_method_is_chosen_and_left(busy, open_page):
    page = open_page(busy)
    page.open(f"stage/{busy.app}", stage="1.0")
    page.page.get_by_label("causes by").select_option("pcc")
    page.page.get_by_label("λcq").fill("2")
    page.page.keyboard.press("Enter")
    page.page.wait_for_url(re.compile("method=pcc.*lambda_cq=2"))
    page.settle()
    refused = busy.fetch(f"/api/v1/stragglers?app={busy.app}&stage=1.0&limit=500&method=pcc&lambda_cq=2")
    assert refused[0] == 400
    assert page.text("[role=alert] p") == json.loads(refused[1])["error"]
    page.page.get_by_role("button", name="as usual").click()
    page.page.wait_for_url(lambda url: "method" not in url and "lambda" not in url)
    assert page.page.locator(".found").count() == 0


def test_what_became_slower(busy, ask_plumb, open_page):
    last = busy.ask("status")["store"]["last_time_ns"] // (60 * 10**9) * 60 * 10**9
    half = last - 20 * 60 * 10**9
    page = open_page(busy)
    page.open("overview", since=half, until=last)
    periods = (f"{half - (last - half)}..{half}", f"{half}..{last}")
    answer = ask_plumb(busy, "diff", *periods, "--role", "datanode", "--limit", "0")
    slower = [row for row in answer["rows"] if row["state"] == "slower"]
    slower = sorted(slower, key=lambda row: row["mean_change_ns"] * row["b"]["calls"], reverse=True)[:5]
    shown = page.page.locator(".slower-functions li").all()
    assert [one.locator("bdi").inner_text() for one in shown] == [row["function"] for row in slower] != []
    assert ns(shown[0].inner_text().split("→")[1]) == three_digits(slower[0]["b"]["mean_ns"])


def test_who_waited_for_a_host_then(busy, ask_plumb, open_page):
    host = load.host_of(load.SLOW)
    tasks = ask_plumb(busy, "hosts", host, "--limit", "0")["tasks"]
    last = busy.ask("status")["store"]["last_time_ns"]
    shown = {"function": "BlockReceiver%23flushOrSync", "since": last - 60 * 60 * 10**9, "until": last + 1}
    query = "&".join(f"{name}={value}" for name, value in shown.items())
    series = busy.ask(f"series?{query}&by=host&role=datanode")
    at = (tasks[len(tasks) // 2]["begin_time_ns"] - series["since_time_ns"]) // series["step_ns"]
    begin = series["since_time_ns"] + at * series["step_ns"]
    then = [row for row in tasks if begin - row["duration_ns"] < row["begin_time_ns"] < begin + series["step_ns"]]
    page = open_page(busy)
    page.open("overview", sel=f"{host}@{begin}", **shown)
    assert page.text(".panel h4") == f"Slow tasks of Spark that waited for it then: {len(then)}"
    period = f"--since {begin} --until {begin + series['step_ns']}"
    assert f"plumb hosts {host} {period} --limit 500" in page.text(".panel .sames")


def test_running_tasks_that_are_slow(plumbd, plumb_program, tmp_path, open_page):
    """One of nine runs (status 0) for a minute already, the others took a second."""
    now_ms = time.time_ns() // MS
    app = "app-20260101000000-0001"
    records = [
        {"spark": "app", "app": app, "id": app, "name": "still running", "startMs": now_ms - 70_000},
        {"spark": "stage", "app": app, "stage": 0, "attempt": 0, "tasks": 9, "submittedMs": now_ms - 65_000},
    ]
    for task in range(9):
        ended = {"finishMs": now_ms - 59_000, "status": spark.SUCCESS} if task < 8 else {"status": 0}
        ids = {"stage": 0, "stageAttempt": 0, "task": task, "partition": task, "attempt": 0}
        where = {"executor": "1", "host": "worker1.example.org", "launchMs": now_ms - 60_000}
        records.append({"spark": "task", "app": app, **ids, **where, **ended})
    records[0]["lastEventMs"] = now_ms
    for other in range(2, 5):
        older = {"spark": "app", "app": f"{app[:-1]}{other}", "name": "older", "startMs": now_ms - 100_000 * other}
        records.append({**older, "id": older["app"], "lastEventMs": now_ms})
    file = tmp_path / "running.json"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    load.send(plumbd, 60)
    thrift = ":".join(map(str, plumbd.thrift))
    subprocess.run([plumb_program, "import", file, "--thrift", thrift, "--server", plumbd.http], check=True)
    plumbd.flush()
    why = plumbd.ask(f"why?app={app}&status=running")
    assert [row["task"] for row in why["stragglers"]] == [8]
    page = open_page(plumbd)
    page.open("overview")
    page.page.get_by_role("heading", name="Slow tasks that still run: still running").wait_for()
    (shown,) = page.page.locator(".running-tasks li").all_inner_texts()
    assert shown.startswith("task 8 of stage 0.0 on worker1.example.org:")
    assert digits(re.search(r"so far, ([\d.]+) times", shown).group(1)) >= 50
    page.page.get_by_text("Older applications that run, whose tasks are not looked at here: 1").wait_for()
    page.open("overview", role="journalnode")
    page.page.get_by_role("heading", name="No calls of journalnode").wait_for()
    assert page.page.locator(".running-tasks li").count() == 1


def test_the_clock_of_a_host(busy, open_page):
    """All clocks are one here: each within what the calls leave open."""
    page = open_page(busy)
    page.open("hosts")
    clocks = {cells[0]: cells[7] for cells in page.cells("Hosts")}
    assert clocks and all(re.fullmatch(r"± [\d.]+ (ns|µs|ms)", text) for text in clocks.values())
