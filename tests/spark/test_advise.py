"""plumb advise on logs that real Sparks wrote, through the real plumb-bridge and plumbd."""

import json
import re
import subprocess

import pytest

from tests.cli.real import Plumbd
from tests.conftest import ROOT, lasting_address
from tests.spark.test_drelephant import BEGIN, written

RECORDED = ROOT / "tests/data/spark"
WAITED = [f"waiting_{executors}" for executors in (1, 2, 3)]
HEALTHY = ["normal", "speculative", "killed", "codec_zstd"]
VERSIONS = ["3.5.6", "4.3.0"]


@pytest.fixture(scope="module")
def filled(tmp_path_factory, build_dir):
    """A plumbd with all recorded logs, and {(version, log): key of its application}."""
    daemon = Plumbd(tmp_path_factory.mktemp("advise"), listen__thrift=lasting_address(), listen__http=lasting_address())
    keys = {}
    try:
        for version in VERSIONS:
            for path in sorted((RECORDED / version).glob("*.zstd")):
                done = subprocess.run(
                    [build_dir / "spark-bridge/plumb-bridge", "--receiver", "{}:{}".format(*daemon.thrift), str(path)],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 0, done.stderr
                lines = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout.splitlines()
                (start,) = [line for line in lines if line.startswith(b'{"Event":"SparkListenerApplicationStart"')]
                keys[version, path.stem] = json.loads(start)["App ID"]
        daemon.flush()
        yield daemon, keys
    finally:
        daemon.clean_up()


def advice(filled, version, log):
    daemon, keys = filled
    done = daemon.plumb("advise", keys[version, log], "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("log", HEALTHY)
def test_healthy(filled, version, log):
    """No finding where nothing is wrong: it says so, gives spark-submit nothing, and fails no build."""
    answer = advice(filled, version, log)
    assert (answer["findings"], answer["conf"], answer["severity"]) == ([], [], "none")
    daemon, keys = filled
    key = keys[version, log]
    assert "Nothing to advise" in daemon.plumb("advise", key).stdout
    conf = daemon.plumb("advise", key, "--conf")
    assert conf.stdout == "" and "no setting of spark-submit to change" in conf.stderr
    assert daemon.plumb("advise", key, "--fail-on", "low").returncode == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_failures(filled, version):
    (finding,) = [f for f in advice(filled, version, "failed_tasks")["findings"] if f["rule"] == "failures"]
    assert finding["what"] == "2 tasks failed (code)." and finding["certainty"] == "sure"
    assert any(f"task {finding['tasks'][0]} of stage 0" in text for text in finding["evidence"])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_lost_executor_is_not_the_jobs_fault(filled, version):
    answer = advice(filled, version, "executor_lost")
    by_what = {f["what"]: f for f in answer["findings"] if f["rule"] == "failures"}
    assert any("(fetch)" in what for what in by_what)
    assert [f["node"] for what, f in by_what.items() if "executor" in f["advice"] and "(host)" in what] in ([True], [])


@pytest.mark.parametrize("version", VERSIONS)
def test_what_executors_were_given(filled, version):
    """Executor 0 failed until it got no more tasks; a stage had a profile of resources; memory was measured."""
    daemon, keys = filled
    key = keys[version, "given"]
    (finding,) = advice(filled, version, "given")["findings"]  # that it was idle then is no fault of its own
    assert finding["rule"] == "failures"
    said = {text for text in finding["evidence"] if "excluded" in text}
    assert said == {"executor 0 was excluded from stage 0 after 2 failures", "executor 0 was excluded after 3 failures"}
    for command in ("why", "executors"):
        answer = asked(filled, command, key)
        assert {one["text"] for one in answer["exclusions"]} == said
        assert [one["profile"] for one in answer["profiles"]] == [1]
        assert all(text in daemon.plumb(command, key).stdout for text in said)
    assert "Resource profile 1: 1 core a task" in daemon.plumb("executors", key).stdout
    assert {row["stage"]: row.get("profile") for row in asked(filled, "stages", key)["stages"]} == {0: None, 1: 1}

    tasks = [row["metrics"] for row in asked(filled, "tasks", key)["tasks"] if row["stage"] == 1]
    peaks = {"unifiedPeakBytes", "directPeakBytes", "jvmRssPeakBytes", "pythonRssPeakBytes", "allGcMs"}
    assert all(peaks <= metrics.keys() for metrics in tasks)
    assert all(("peakOnHeapBytes" in metrics) == (version >= "4") for metrics in tasks)


def test_fail_on(filled):
    """The exit code follows the worst finding that is the job's doing."""
    daemon, keys = filled
    ranks = ["none", "low", "moderate", "severe", "critical"]
    for key in keys.values():
        worst = ranks.index(json.loads(daemon.plumb("advise", key, "--json").stdout)["severity"])
        for rank, name in enumerate(ranks[1:], 1):
            done = daemon.plumb("advise", key, "--fail-on", name)
            assert done.returncode == (3 if worst >= rank else 0), (key, name)


def test_conf_is_spark_submits(filled):
    """Each line is one --conf and one key=value without blanks, as the shell hands it on."""
    daemon, keys = filled
    for key in keys.values():
        lines = daemon.plumb("advise", key, "--all", "--conf").stdout.splitlines()
        assert all(re.fullmatch(r"--conf spark\.[\w.]+=\S+", line) for line in lines), lines
        assert len({line.split("=")[0] for line in lines}) == len(lines)


def asked(filled, *words):
    daemon, _ = filled
    done = daemon.plumb(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("version", VERSIONS)
def test_stages_are_called_by_their_plans(filled, version):
    """Each of both kinds of join, planned at once and as it ran, by the nodes that the stages counted for."""
    daemon, keys = filled
    key = keys[version, "queries"]
    stages = asked(filled, "stages", key)["stages"]
    of_query = {}
    for row in stages:
        of_query.setdefault(row.get("query_name"), set()).add(row["name"])
    for adaptive in range(2):
        sorted_join = [row["name"] for row in stages if row.get("query") == 2 + 2 * adaptive]
        scans = [f"Scan parquet {table} > Exchange hashpartitioning(customer)" for table in ("customers", "orders")]
        assert sorted(sorted_join[:2]) == scans
        assert "SortMergeJoin" in sorted_join[2] and sorted_join[2].startswith("Exchange hashpartitioning(customer) >")
        broadcast = [row["name"] for row in stages if row.get("query") == 3 + 2 * adaptive]
        assert broadcast[0] == "Scan parquet customers > BroadcastExchange"
        assert broadcast[1].startswith("Scan parquet orders > BroadcastHashJoin >")
    assert any("Window" in name for name in of_query["latest of each customer"])
    (failed,) = [row for row in stages if row["state"] == "failed"]
    assert failed["query_name"] == "fails"  # by its job: its tasks counted nothing

    text = daemon.plumb("stages", key).stdout
    assert "Query 2: orders by customer, sorted" in text
    assert "withThreadLocalCaptured" not in text


@pytest.mark.parametrize("version", VERSIONS)
def test_why_has_the_names(filled, version):
    daemon, keys = filled
    key = keys[version, "queries"]
    names = {(row["stage"], row["attempt"]): row["name"] for row in asked(filled, "stages", key)["stages"]}
    slow = asked(filled, "why", key)["stragglers"]
    assert slow and all(row["stage_name"] == names[row["stage"], row["stage_attempt"]] for row in slow)
    shown = daemon.plumb("why", key).stdout
    assert f"stage {slow[0]['stage']}.0 ({slow[0]['stage_name']}), task" in shown
    rows = asked(filled, "stragglers", key)
    assert all(row["stage_name"] for row in rows["stragglers"] + rows["stages"])


@pytest.mark.parametrize("version", VERSIONS)
def test_plans_tell(filled, version):
    """A join that the program kept from being broadcast, and a table by days that was read whole."""
    daemon, keys = filled
    done = daemon.plumb("advise", keys[version, "queries"], "--all", "--json")
    findings = json.loads(done.stdout)["findings"]
    (join, again) = [f for f in findings if f["rule"] == "broadcast"]
    assert "The program sets spark.sql.autoBroadcastJoinThreshold to -1" in join["advice"] == again["advice"]
    assert join["changes"] == again["changes"] == []
    whole = [f for f in findings if f["rule"] == "partition-filter"]
    assert len(whole) == 2 and all("reads all its 3 partitions and keeps 2.0 % of" in f["what"] for f in whole)


def test_all_applications(filled):
    """The costliest first, by the same findings as each alone; rules over all of them."""
    daemon, keys = filled
    answer = asked(filled, "advise", "--since", "2000-01-01T00:00:00Z", "--limit", "0")
    costs = [row["cost_ns"] for row in answer["apps"]]
    assert costs == sorted(costs, reverse=True) and answer["judged"] == len(costs) > 10
    for row in answer["apps"][:3]:
        alone = asked(filled, "advise", row["app"])
        assert row["findings"] == len(alone["findings"])
        assert row["what"] == alone["findings"][0]["what"]
    failures = {row["rule"]: row for row in answer["rules"]}["failures"]
    assert failures["apps"] >= 2 * len(VERSIONS)
    text = daemon.plumb("advise", "--since", "2000-01-01T00:00:00Z").stdout
    assert text.startswith(f"{len(costs)} applications judged") and failures["what"][:12] in text
    assert asked(filled, "advise", "--since", "1m")["apps"] == []

    key = keys["4.3.0", "failed_tasks"]
    listed = {row["app"]: row for row in asked(filled, "apps", "--limit", "0", "--advice")["apps"]}
    worst = asked(filled, "advise", key)["findings"][0]["rule"]
    assert listed[key]["advice"]["rule"] == worst
    assert "advice" not in asked(filled, "apps")["apps"][0]
    assert re.search(
        rf"{key}.*, {worst}", daemon.plumb("apps", "--limit", "0", "--advice", env={"COLUMNS": "200"}).stdout
    )


@pytest.fixture
def advised(tmp_path, plumb_program):
    """advised(EVENTS): what is advised on them."""

    def advised(events):
        log, store = tmp_path / "app-1", tmp_path / "store"
        log.write_text("".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events))
        subprocess.run([plumb_program, "import", "--store", store, log], check=True, capture_output=True)
        asked = [plumb_program, "advise", "latest", "--store", store, "--json"]
        return json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)

    return advised


def test_the_driver_costs_what_executors_hold(advised):
    """No task in the first 60 s of 100. The second executor, of two cores as well, came after 30 of them, so it held
    half as much."""
    tasks = [{"executor": executor, "ms": 40000, "gc": 0} for executor in "1122"]
    events = list(written("3.5.6", {"spark.executor.cores": "2"}, tasks))
    for event in events:
        if event["Event"] == "SparkListenerExecutorAdded" and event["Executor ID"] == "2":
            event["Timestamp"] += 30000
        if event["Event"] == "SparkListenerTaskEnd":
            event["Task Info"]["Launch Time"] += 60000
            event["Task Info"]["Finish Time"] += 60000
        if event["Event"] == "SparkListenerApplicationEnd":
            event["Timestamp"] = BEGIN + 100000
    answer = advised(events)
    (driver,) = [finding for finding in answer["findings"] if finding["rule"] == "driver"]
    assert (answer["quiet_ns"], answer["held_ns"]) == (60e9, 2 * 100e9 + 2 * 70e9)
    assert (driver["cost_ns"], driver["share"]) == (2 * 60e9 + 2 * 30e9, pytest.approx(0.6))


def test_first_tasks_of_executors_are_no_rule(advised):
    """Two tasks that a starting executor made slow, of 60: what a small task costs is what the others took."""
    tasks = [{"executor": "1", "ms": 5000 if i < 2 else 100, "gc": 0, "read": 1000} for i in range(60)]
    answer = advised(written("3.5.6", {"spark.executor.cores": "2"}, tasks))
    (many,) = [finding for finding in answer["findings"] if finding["rule"] == "many-partitions"]
    assert many["evidence"][0].endswith("a task takes 100 ms, 50 ms of it whatever its data")
    assert many["saves_ns"] == pytest.approx((60 - 2) * 50e6, rel=0.01)


@pytest.mark.parametrize("version", VERSIONS)
def test_evicted_partitions(filled, version):
    """Of two RDDs memory had room for little more than one."""
    answer = advice(filled, version, "evicted")
    (finding,) = [finding for finding in answer["findings"] if finding["rule"] == "cache"]
    assert not any(one["rule"] == "cache" for one in answer["unknown"])
    assert re.fullmatch(r"\d+ partitions of RDDs that are kept were evicted, and \d computed again\.", finding["what"])
    assert finding["stages"] == [2] and finding["cost_ns"] > 0 and "MEMORY_AND_DISK" in finding["advice"]


def test_each_setting_that_a_rule_asks_for_is_read():
    """Of an event log's environment the bridge keeps those on a list."""
    quoted = re.compile(r'"((?:spark|dfs|yarn)\.[\w.]*\w)"')

    def named(folder):
        return {key for path in (ROOT / folder).iterdir() if path.is_file() for key in quoted.findall(path.read_text())}

    asked = named("analyzer/diagnosis/advise")
    assert len(asked) > 30 and asked <= named("spark-bridge/events"), asked - named("spark-bridge/events")


def test_what_is_well(filled):
    """With --all; nothing is well that was found, or that could not be judged."""
    daemon, keys = filled
    for key in keys.values():
        answer = json.loads(daemon.plumb("advise", key, "--all", "--json").stdout)
        well = {row["rule"] for row in answer["well"]}
        assert not well & {row["rule"] for row in answer["findings"] + answer["unknown"]}
    assert asked(filled, "advise", key)["well"] == []
    key = keys["4.3.0", "normal"]
    assert "Well (failures): no task failed." in daemon.plumb("advise", key, "--all").stdout


def test_mistakes(filled):
    daemon, _ = filled
    for words, says in (
        ([], "on which application?"),
        (["--since", "7d", "--conf"], "--conf is of one application"),
        (["latest", "--since", "7d"], "an application is judged whole"),
        (["--since", "7d", "--method", "drelephant"], "is of one application"),
    ):
        done = daemon.plumb("advise", *words)
        assert done.returncode == 2 and says in done.stderr, (words, done.stderr)


def test_simulation_of_other_numbers(filled):
    """One executor from the log of three, and three from that of one, by the starts that the other run had: a quarter
    off at most, between rounds of jobs. (A start on the machine of that run took ten times as long with three.)"""
    _, keys = filled
    answers = {
        executors: asked(filled, "advise", keys["4.3.0", f"waiting_{executors}"], "--simulate")["simulation"]
        for executors in (1, 3)
    }
    for of, other in ((1, 3), (3, 1)):
        (said,) = [row["time_ns"] for row in answers[of]["rows"] if row["executors"] == other]
        said += answers[other]["start_ns"] - answers[of]["start_ns"] - answers[of]["driver_ns"]
        assert said == pytest.approx(answers[other]["measured_ns"] - answers[other]["driver_ns"], rel=0.25)


def test_simulation(filled):
    """The same job ran with one executor, with two and with three: what is scheduled again takes as long as it took."""
    daemon, keys = filled
    for executors, log in enumerate(WAITED, 1):
        answer = asked(filled, "advise", keys["4.3.0", log], "--simulate")["simulation"]
        assert (answer["executors"], answer["executor_slots"]) == (executors, 1)
        said = {row["executors"]: row["time_ns"] for row in answer["rows"]}
        assert said[executors] == pytest.approx(answer["measured_ns"], rel=0.05)
        assert list(said.values()) == sorted(said.values(), reverse=True)
        assert answer["driver_ns"] < answer["critical_ns"] <= min(said.values())
        assert answer["knee"] in said and said[answer["knee"]] <= 1.1 * min(said.values())
        shown = daemon.plumb("advise", keys["4.3.0", log], "--simulate").stdout
        assert re.search(rf"^ +{executors} .* as it was", shown, re.M), shown
