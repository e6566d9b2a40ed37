"""Tables, trees and files rendered from given documents must be, to the byte, those in data/*.txt. After a wanted
change: UPDATE_GOLDEN=1 pytest tests/cli/test_output.py, and look at the difference."""

import json
import os
import re

import pytest

from tests.cli.conftest import DATA, run_plumb

# name of the golden file: (document, command line, environment)
CASES = {
    "status": ("status.json", ["status"], {}),
    "status_60": ("status.json", ["status"], {"COLUMNS": "60"}),
    "status_store": ("status_store.json", ["status"], {}),
    "senders": ("senders.json", ["status", "--senders"], {}),
    "functions": ("functions.json", ["functions"], {}),
    "functions_80": ("functions.json", ["functions"], {"COLUMNS": "80"}),
    "functions_40": ("functions.json", ["functions"], {"COLUMNS": "40"}),
    "functions_ascii": ("functions.json", ["functions"], {"LC_ALL": "C"}),
    "functions_color": ("functions.json", ["functions", "--color=always"], {}),
    "functions_bytes": ("functions.json", ["functions", "--bytes"], {}),
    "functions_by_host": ("functions_by_host.json", ["functions", "--by", "host"], {}),
    "functions_none": ("functions_none.json", ["functions", "--since", "1h"], {}),
    "forest": ("forest.json", ["forest"], {}),
    "forest_90": ("forest.json", ["forest"], {"COLUMNS": "90"}),
    "forest_ascii": ("forest.json", ["forest"], {"LC_ALL": "C"}),
    "forest_bytes": ("forest.json", ["forest", "--bytes"], {}),
    "forest_tree": ("forest_tree.json", ["forest", "--level", "tree"], {}),
    "forest_host": ("forest_host.json", ["forest", "--host", "10.0.0.8"], {}),
    "functions_by_minute": ("functions_by_minute.json", ["functions", "--by", "host,minute"], {}),
    "diff_hosts": ("diff_hosts.json", ["diff", "2h..1h", "1h..", "--by", "host"], {}),
    "forest_none": ("forest_none.json", ["forest"], {}),
    "traces": ("traces.json", ["traces"], {}),
    "traces_80": ("traces.json", ["traces"], {"COLUMNS": "80"}),
    "traces_none": ("traces_none.json", ["traces"], {}),
    "trace": ("trace.json", ["trace", "4be1c2a09d3f5577"], {}),
    "trace_brief_ids": ("trace.json", ["trace", "4be1c2a09d3f5577", "--brief", "--ids"], {}),
    "trace_70_ascii": ("trace.json", ["trace", "4be1c2a09d3f5577"], {"COLUMNS": "70", "LC_ALL": "C"}),
    "trace_fold": ("trace_fold.json", ["trace", "4be1c2a09d3f5577", "--fold"], {}),
    "functions_no_bytes": ("functions_by_host.json", ["functions", "--bytes"], {}),
    "trace_dot": ("trace.json", ["trace", "4be1c2a09d3f5577", "--dot"], {}),
    "diff_period": ("diff_period.json", ["diff", "2h..1h", "1h.."], {}),
    "diff_runs": ("diff_runs.json", ["diff", "app-1", "app-2"], {}),
    "diff_runs_80": ("diff_runs.json", ["diff", "earlier", "latest"], {"COLUMNS": "80"}),
    "diff_trace": ("diff_trace.json", ["diff", "4be1c2a09d3f5577", "90b3a5d1c07e6412"], {}),
    "why": ("why.json", ["why", "latest"], {}),
    "why_ledger": ("why_ledger.json", ["why", "latest", "--method", "ledger"], {}),
    "why_brief": ("why.json", ["why", "latest", "--brief"], {}),
    "why_stage": ("why_stage.json", ["why", "latest"], {}),
    "why_split": ("why_split.json", ["why", "latest"], {}),
    "why_trace": ("why_trace.json", ["why", "357064e08bea8799"], {}),
    "why_80": ("why.json", ["why", "latest"], {"COLUMNS": "80"}),
    "why_120": ("why.json", ["why", "latest"], {"COLUMNS": "120"}),
    "why_split_80": ("why_split.json", ["why", "latest"], {"COLUMNS": "80"}),
    "why_silent_app_80": ("why_silent_app.json", ["why", "app-20201121105300-0001"], {"COLUMNS": "80"}),
    "why_since_80": ("why_since.json", ["why", "357064e08bea8799"], {"COLUMNS": "80"}),
    "hosts_one": ("hosts_one.json", ["hosts", "d2"], {}),
    "slow": ("slow.json", ["slow"], {}),
    "slow_80": ("slow.json", ["slow"], {"COLUMNS": "80"}),
    "slow_120": ("slow.json", ["slow"], {"COLUMNS": "120"}),
    "slow_none": ("slow_none.json", ["slow"], {}),
    "slow_too_soon": ("slow_too_soon.json", ["slow"], {"COLUMNS": "80"}),
    "slow_silent": ("slow_silent.json", ["slow"], {}),
    "slow_failing": ("slow_failing.json", ["slow"], {}),
    "slow_failing_80": ("slow_failing.json", ["slow"], {"COLUMNS": "80"}),
    "slow_lock": ("slow_lock.json", ["slow"], {}),
    "slow_lock_80": ("slow_lock.json", ["slow"], {"COLUMNS": "80"}),
    "slow_delivery": ("slow_delivery.json", ["slow"], {}),
    "slow_link": ("slow_link.json", ["slow"], {}),
    "slow_weak": ("slow_weak.json", ["slow"], {}),
    "nodes": ("nodes.json", ["nodes"], {}),
    "nodes_failing_80": ("nodes_failing.json", ["nodes", "--brief"], {"COLUMNS": "80"}),
    "nodes_failing_120": ("nodes_failing.json", ["nodes"], {"COLUMNS": "120"}),
    "nodes_80": ("nodes.json", ["nodes", "--brief"], {"COLUMNS": "80"}),
    "nodes_one_80": ("nodes_one.json", ["nodes", "dn2"], {"COLUMNS": "80"}),
    "nodes_one_ascii": ("nodes_one.json", ["nodes", "dn2"], {"COLUMNS": "100", "LC_ALL": "C"}),
    "nodes_120": ("nodes.json", ["nodes"], {"COLUMNS": "120"}),
    "nodes_predict_80": ("nodes_predict.json", ["nodes", "--predict", "latest"], {"COLUMNS": "80"}),
    "nodes_hint_80": ("nodes_hint.json", ["nodes", "--hint"], {"COLUMNS": "80"}),
    "nodes_predict": ("nodes_predict.json", ["nodes", "--predict", "latest"], {}),
    "nodes_hint": ("nodes_hint.json", ["nodes", "--hint"], {}),
    "why_silent": ("why_silent.json", ["why", "0000000000000289"], {}),
    "why_silent_app": ("why_silent_app.json", ["why", "app-20201121105300-0001"], {}),
    "why_since": ("why_since.json", ["why", "357064e08bea8799"], {}),
    "hosts_none": ("hosts_none.json", ["hosts"], {}),
    "stragglers": ("stragglers.json", ["stragglers", "latest"], {}),
    "stragglers_ledger": ("stragglers_ledger.json", ["stragglers", "latest", "--method", "ledger"], {}),
    "operations": ("operations.json", ["operations", "latest"], {}),
    "apps": ("apps.json", ["apps"], {}),
    "advise": ("advise.json", ["advise", "latest"], {}),
    "advise_80": ("advise.json", ["advise", "latest"], {"COLUMNS": "80"}),
    "advise_120": ("advise.json", ["advise", "latest"], {"COLUMNS": "120"}),
    "advise_conf": ("advise.json", ["advise", "latest", "--conf"], {}),
    "advise_drelephant": ("advise_drelephant.json", ["advise", "latest", "--method", "drelephant"], {}),
    "advise_drelephant_80": (
        "advise_drelephant.json",
        ["advise", "latest", "--method", "drelephant"],
        {"COLUMNS": "80"},
    ),
    "advise_none": ("advise_none.json", ["advise", "latest"], {}),
    "advise_simulate": ("advise_simulate.json", ["advise", "latest", "--simulate"], {}),
    "advise_simulate_80": ("advise_simulate.json", ["advise", "latest", "--simulate"], {"COLUMNS": "80"}),
    "jobs": ("jobs.json", ["jobs", "latest"], {}),
    "jobs_80": ("jobs.json", ["jobs", "latest"], {"COLUMNS": "80"}),
    "executors": ("executors.json", ["executors", "latest"], {}),
    "executors_80": ("executors.json", ["executors", "latest"], {"COLUMNS": "80"}),
    "stages": ("stages.json", ["stages", "latest"], {}),
    "tasks": ("tasks.json", ["tasks", "latest"], {}),
    "series": ("series.json", ["series", "BlockReceiver#flushOrSync", "--field", "q95"], {}),
    "series_80": ("series.json", ["series", "BlockReceiver#flushOrSync", "--field", "q95"], {"COLUMNS": "80"}),
    "series_hosts": ("series_hosts.json", ["series", "--by", "host"], {}),
    "series_hosts_80": ("series_hosts.json", ["series", "--by", "host"], {"COLUMNS": "80"}),
    "series_hosts_120": ("series_hosts.json", ["series", "--by", "host"], {"COLUMNS": "120"}),
    "series_hosts_ascii": ("series_hosts.json", ["series", "--by", "host"], {"LC_ALL": "C"}),
    "series_functions_120": ("series_functions.json", ["series", "--by", "host"], {"COLUMNS": "120"}),
    "series_bytes": ("series_bytes.json", ["series", "--field", "rate"], {}),
    "series_none": ("series_none.json", ["series", "none"], {}),
    "distribution": ("distribution.json", ["distribution", "BlockReceiver#flushOrSync"], {}),
    "distribution_80_ascii": (
        "distribution.json",
        ["distribution", "BlockReceiver#flushOrSync"],
        {"COLUMNS": "80", "LC_ALL": "C"},
    ),
    "distribution_steps": ("distribution_steps.json", ["distribution", "--of", "bytes", "--step", "10m"], {}),
    "distribution_steps_80": (
        "distribution_steps.json",
        ["distribution", "--of", "bytes", "--step", "10m"],
        {"COLUMNS": "80"},
    ),
    "distribution_none": ("distribution_none.json", ["distribution", "none"], {}),
    "contrast": ("contrast.json", ["contrast", "--a-min-duration", "1s"], {}),
    "contrast_80": ("contrast.json", ["contrast", "--a-min-duration", "1s"], {"COLUMNS": "80"}),
    "contrast_none": ("contrast_none.json", ["contrast", "--a-since", "15m"], {}),
    "samples": ("samples.json", ["samples", "10.0.3.17"], {}),
    "samples_80": ("samples.json", ["samples", "10.0.3.17"], {"COLUMNS": "80"}),
    "samples_none": ("samples_none.json", ["samples", "10.0.3.17"], {}),
    "pipelines": ("pipelines.json", ["pipelines", "latest", "--stage", "2"], {}),
    "pipelines_80": ("pipelines.json", ["pipelines", "latest", "--stage", "2"], {"COLUMNS": "80"}),
    "marks": ("marks.json", ["marks"], {}),
    "marks_80": ("marks.json", ["marks"], {"COLUMNS": "80"}),
    "marks_none": ("marks_none.json", ["marks"], {}),
    "span": ("span.json", ["span", "4be1c2a09d3f557700000000000003e9"], {}),
    "find": ("find.json", ["find", "4be1c2a09d3f5577", "anna"], {}),
    "skew": ("skew.json", ["skew"], {}),
    "names": ("names.json", ["names", "block"], {}),
    "names_annotation": ("names_annotation.json", ["names", "--kind", "annotation"], {}),
    "names_none": ("names_none.json", ["names", "xyz", "--kind", "host"], {}),
    "verify_same": ("verify_same.json", ["verify"], {}),
    "verify_different": ("verify_different.json", ["verify"], {}),
}


@pytest.mark.parametrize("name", CASES)
def test_golden(name, canned):
    document, command, env = CASES[name]
    canned.answer_file(document)
    done = run_plumb(*command, "--server", canned.address, env=env)
    assert done.returncode == (3 if name == "verify_different" else 0), done.stderr
    assert done.stderr == ""
    golden = DATA / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(done.stdout)
    assert done.stdout == golden.read_text()


@pytest.mark.parametrize("name", [n for n, (_, _, env) in CASES.items() if "COLUMNS" in env])
def test_lines_fit_the_terminal(name):
    """Columns that may never go can make a narrow terminal too narrow; those cases are not among the golden ones."""
    width = int(CASES[name][2]["COLUMNS"])
    if width < 70:
        pytest.skip("narrower than the columns that are always shown")
    for line in (DATA / f"{name}.txt").read_text().splitlines():
        if line.startswith("not shown"):
            continue
        cells = sum(2 if ord(c) >= 0x3000 else 1 for c in line)
        assert cells <= width, line


def test_ascii_locale_gets_ascii():
    for golden in ("functions_ascii", "forest_ascii", "trace_70_ascii"):
        (DATA / f"{golden}.txt").read_bytes().decode("ascii")


@pytest.mark.parametrize("name", CASES)
def test_no_control_characters(name):
    """Names come from the network: none may reach the terminal as a command."""
    text = re.sub(r"\x1b\[\d*m", "", (DATA / f"{name}.txt").read_text())
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


# A command to a terminal, one of C1, DEL, a line of its own, a quotation's end, a turn of the direction.
HOSTILE = 'x\x1b]0;owned\x07\x7f\x9b31m\r\nnext"\\\u2028\u202e\u2066\u061c'
HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def spoilt(value):
    """The same document with hostile text behind every text."""
    if isinstance(value, dict):
        return {**{k: spoilt(v) for k, v in value.items()}, HOSTILE: 1}
    if isinstance(value, list):
        return [spoilt(v) for v in value]
    return value + HOSTILE if isinstance(value, str) else value


@pytest.mark.parametrize("name", CASES)
def test_hostile_text_anywhere(name, canned):
    """Every text of an answer comes from a peer, or may."""
    document, command, env = CASES[name]
    given = json.loads((DATA / document).read_text())
    canned.answer(spoilt(given))
    shown = run_plumb(*command, "--server", canned.address, env=env)
    text = re.sub(r"\x1b\[\d*m", "", shown.stdout) if "--color=always" in command else shown.stdout
    assert not HARMFUL.search(text) and not HARMFUL.search(shown.stderr.replace("\n", "", 1))
    assert "\nnext" not in text
    if command[0] == "trace":
        chrome_file = run_plumb("trace", "4be1c2a09d3f5577", "--chrome", "--server", canned.address)
        assert json.loads(chrome_file.stdout) and not HARMFUL.search(chrome_file.stdout)
    as_json = run_plumb(*[word for word in command if word != "--dot"], "--json", "--server", canned.address, env=env)
    assert not HARMFUL.search(as_json.stdout)
    assert json.loads(as_json.stdout) == spoilt(given)


@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_hostile_refusal(status, canned):
    canned.answer({"error": HOSTILE + "y" * 59_000}, status)
    done = run_plumb("why", "app", "--server", canned.address)
    assert done.returncode != 0
    assert done.stderr.startswith("plumb why: x\\x1b]0;owned\\x07") and done.stderr.endswith("y...\n")
    assert not HARMFUL.search(done.stderr[:-1]) and "\n" not in done.stderr[:-1] and len(done.stderr) < 2100


def test_hostile_command_line():
    done = run_plumb(HOSTILE)
    assert not HARMFUL.search(done.stderr[:-1]) and "\n" not in done.stderr[:-1]


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("trace_dot",)])
def test_json_is_the_document(name, canned):
    document, command, env = CASES[name]
    canned.answer_file(document)
    done = run_plumb(*command, "--json", "--server", canned.address, env=env)
    assert json.loads(done.stdout) == json.loads((DATA / document).read_text())


def test_what_cost_little_hides_nothing(canned):
    """Whom tasks waited for, and what that would save: beside 596 ms those of 5 ms are a line or none."""
    document = json.loads((DATA / "why.json").read_text())
    (suspect,), (saver,) = document["suspects"], document["what_if"]
    little = {"host": "d3", "explains_ns": 5_000_000}
    document["suspects"] += [suspect | little, suspect | little, suspect | {"host": "d4", "explains_ns": 6_000_000}]
    document["what_if"] = [saver | {"saves_ns": 500_000_000}, saver | little | {"saves_ns": 4_000_000}]
    canned.answer(document)
    shown = run_plumb("why", "latest", "--brief", "--server", canned.address).stdout
    assert "DataNode d3" not in shown and "of d3" not in shown
    assert "\n  the disk of DataNode d4: 2 tasks slower by 6.00 ms" in shown
    assert "\n  2 others: 10.0 ms in all\n" in shown
    assert "\n  the application by 500 ms without the disk of d2 " in shown


def chrome(canned):
    canned.answer_file("trace.json")
    done = run_plumb("trace", "4be1c2a09d3f5577", "--chrome", "--server", canned.address)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_chrome_has_every_span_once(canned):
    spans = json.loads((DATA / "trace.json").read_text())["spans"]
    slices = {e["args"]["span"]: e for e in chrome(canned)["traceEvents"] if e["ph"] == "X"}
    assert set(slices) == {s["span"] for s in spans}
    first = min(s["begin_time_ns"] for s in spans)
    for span in spans:
        event = slices[span["span"]]
        assert event["name"] == span["function"]
        assert event["ts"] * 1000 == pytest.approx(span["begin_time_ns"] - first, abs=0.5)
        assert event["dur"] * 1000 == pytest.approx(max(span["duration_ns"], 0), abs=0.5)
        assert event["args"].get("annotations") == span.get("annotations")


def test_chrome_has_a_row_for_each_process(canned):
    events = chrome(canned)["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    assert sorted(names.values()) == [
        "DataNode/10.0.3.17 (pid 17)",
        "DataNode/10.0.3.18",
        "FsShell, FSClient/10.0.3.9 (pid 4242)",
    ]


def test_chrome_slices_of_a_row_nest(canned):
    rows = {}
    for event in chrome(canned)["traceEvents"]:
        if event["ph"] == "X":
            rows.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    for slices in rows.values():
        for a in slices:
            for b in slices:
                assert not (a[0] < b[0] < a[1] < b[1]), "slices overlap without nesting"


def test_chrome_arrows_join_processes(canned):
    events = chrome(canned)["traceEvents"]
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert starts.keys() == ends.keys() and len(starts) == 1
    (start,), (end,) = starts.values(), ends.values()
    assert start["pid"] != end["pid"]
    holders = [
        e
        for e in events
        if e["ph"] == "X"
        and (e["pid"], e["tid"]) == (start["pid"], start["tid"])
        and e["ts"] <= start["ts"] <= e["ts"] + e["dur"]
    ]
    assert any(e["name"] == "dataStreamer" for e in holders)


def test_a_full_disk_is_an_error(canned):
    canned.answer_file("functions.json")
    import subprocess

    from tests.cli.conftest import ENVIRONMENT, PLUMB

    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [PLUMB, "functions", "--server", canned.address],
            env=ENVIRONMENT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert "No space left" in done.stderr
