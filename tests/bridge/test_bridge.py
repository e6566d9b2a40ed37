"""plumb-bridge against a real plumbd: logs that Spark wrote, in every form; growing, killed, without a receiver."""

import json
import os
import random
import resource
import signal
import subprocess

import pytest

from tests.bridge.conftest import RECORDED, apps, events_of, text_of, wait_until
from tests.conftest import lasting_address

LOGS = sorted(path for path in RECORDED.glob("*/*") if path.is_file())
CODECS = [path for path in LOGS if path.name.startswith("codec_")]


def name(path):
    return str(path.relative_to(RECORDED))


def receiver(plumbd):
    return "--receiver", "{}:{}".format(*plumbd.thrift)


def tasks_of(plumbd, app):
    plumbd.flush()
    return {task["task"]: task for task in plumbd.ask(f"tasks?app={app}&limit=0")["tasks"]}


def report_of(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def expected_tasks(events):
    """{task id: what its newest event says}, by the JSON itself."""
    told = {}
    for event in events:
        if event["Event"] in ("SparkListenerTaskStart", "SparkListenerTaskEnd"):
            told[event["Task Info"]["Task ID"]] = event
    return told


def status_of(event):
    if event["Event"].endswith("TaskStart"):
        return "running"
    return {
        "Success": "success",
        "TaskKilled": "killed",
        "TaskCommitDenied": "killed",
        "ExecutorLostFailure": "lost",
        "Resubmitted": "lost",
        "TaskResultLost": "lost",
    }.get(event["Task End Reason"]["Reason"], "failed")


def check_task(task, event):
    info, metrics = event["Task Info"], event.get("Task Metrics") or {}
    assert (task["stage"], task["stage_attempt"]) == (event["Stage ID"], event["Stage Attempt ID"])
    assert (task["host"], task["executor"], task["attempt"]) == (info["Host"], info["Executor ID"], info["Attempt"])
    assert task["partition"] == info.get("Partition ID", info["Index"])
    assert task["begin_time_ns"] == info["Launch Time"] * 10**6
    assert task["status"] == status_of(event)
    if info["Finish Time"] > 0:
        assert task["duration_ns"] == (info["Finish Time"] - info["Launch Time"]) * 10**6
    for key, ours in {
        "Executor Run Time": "runMs",
        "JVM GC Time": "gcMs",
        "Result Size": "resultBytes",
        "Peak Execution Memory": "peakMemoryBytes",
    }.items():
        assert task.get("metrics", {}).get(ours) == metrics.get(key), (info["Task ID"], key)
    read = metrics.get("Shuffle Read Metrics", {})
    assert task.get("metrics", {}).get("shuffleRemoteBytes") == read.get("Remote Bytes Read")


@pytest.mark.parametrize("path", [path for path in LOGS if ".zstd" in path.name], ids=name)
def test_every_task_as_the_log_has_it(path, bridge, plumbd):
    events = events_of(path)
    (started,) = [event for event in events if event["Event"] == "SparkListenerApplicationStart"]
    done = bridge(*receiver(plumbd), "--json", path)
    (log,) = report_of(done)["logs"]
    assert (log["app"], log["broken"]) == (started["App ID"], 0)
    assert log["lines"] == len(events)
    expected = expected_tasks(events)
    (app,) = apps(plumbd).values()
    assert (app["app"], app["name"], app["user"]) == (started["App ID"], started["App Name"], started["User"])
    assert app["tasks"] == len(expected)
    ended = any(event["Event"] == "SparkListenerApplicationEnd" for event in events)
    assert (app["state"] == "ended") == ended == log["ended"]
    assert app["jobs"] == sum(event["Event"] == "SparkListenerJobStart" for event in events)
    found = tasks_of(plumbd, app["app"])
    assert found.keys() == expected.keys()
    for task in found:
        check_task(found[task], expected[task])


@pytest.mark.parametrize("path", CODECS, ids=name)
def test_codecs(path, bridge):
    """Of the same application, packed by Spark's four writers: the same events, and all of the content."""
    (log,) = report_of(bridge("--check", "--json", path))["logs"]
    (plain,) = report_of(bridge("--check", "--json", path.with_name("codec_zstd.zstd")))["logs"]
    assert (log["broken"], log["ended"], log["running"]) == (0, True, False)
    assert log["events"] == plain["events"] >= 4  # of the others there may be more or less
    assert log["bytes"] == path.stat().st_size < log["content_bytes"]


@pytest.mark.parametrize("path", CODECS, ids=name)
def test_cut_anywhere(path, bridge, tmp_path):
    """A writer that dies, wherever: what is whole is read, and nothing is made up."""
    (whole,) = report_of(bridge("--check", "--json", path))["logs"]
    data = path.read_bytes()
    for n in sorted(random.Random(1).sample(range(len(data)), 20)):
        cut = tmp_path / (path.name + ".inprogress")
        cut.write_bytes(data[:n])
        (log,) = report_of(bridge("--check", "--json", cut))["logs"]
        assert log["broken"] == 0 and log["events"] <= whole["events"] and log["running"] and not log.get("error")


def test_rolling(bridge, plumbd):
    for folder in sorted(RECORDED.glob("*/rolling")):
        (log,) = report_of(bridge(*receiver(plumbd), "--json", folder))["logs"]
        assert (log["broken"], log["ended"], log["running"]) == (0, True, False)
        assert log["app"] in apps(plumbd)


def test_a_whole_history_folder(bridge, plumbd, tmp_path):
    state = tmp_path / "state.json"
    folder = RECORDED / "4.3.0"
    first = report_of(bridge(*receiver(plumbd), "--state", state, "--json", folder))
    assert first["records_accepted"] == first["records_sent"] > 0
    assert not any(log["unchanged"] for log in first["logs"])
    names = {
        event["App ID"]
        for path in folder.iterdir()
        if ".zstd" in path.name
        for event in events_of(path)
        if event["Event"] == "SparkListenerApplicationStart"
    }
    assert names <= apps(plumbd).keys()
    again = report_of(bridge(*receiver(plumbd), "--state", state, "--json", folder))
    assert all(log["unchanged"] for log in again["logs"]) and again["records_sent"] == 0


def executors_of(path):
    """Those that were added; the driver has a block manager like them, and is none."""
    return {event["Executor ID"] for event in events_of(path) if event["Event"] == "SparkListenerExecutorAdded"}


def test_the_driver_is_no_executor(bridge, plumbd):
    paths = [path for path in sorted(RECORDED.glob("*/*.zstd"))]
    for path in paths:
        (log,) = report_of(bridge(*receiver(plumbd), "--json", path))["logs"]
        assert apps(plumbd)[log["app"]]["executors"] == len(executors_of(path)), path


def test_first_tasks_of_executors_are_slow_by_jvm_start(bridge, plumbd):
    """The stragglers of these logs are all first tasks of executors that had just come; none is called large."""
    for name in ("normal", "failed_tasks", "speculative", "executor_lost"):
        (log,) = report_of(bridge(*receiver(plumbd), "--json", RECORDED / f"4.3.0/{name}.zstd"))["logs"]
        plumbd.flush()
        why = plumbd.ask(f"why?app={log['app']}&limit=0")
        causes = [row.get("main_cause", {}).get("feature") for row in why["stragglers"]]
        assert causes and set(causes) == {"executor_start"}, name
        assert why["may_change"] == "recent" and why["final_in_ns"] <= 60e9
        assert why["tasks_by_link"]["none"] == why["tasks"]


def test_sending_again_changes_nothing(bridge, plumbd):
    path = RECORDED / "4.3.0/executor_lost.zstd"
    documents = []
    for _ in range(2):
        report_of(bridge(*receiver(plumbd), "--json", path))
        (app,) = apps(plumbd)
        documents.append((apps(plumbd), tasks_of(plumbd, app), plumbd.ask(f"stages?app={app}")))
    assert documents[0] == documents[1]


class Growing:
    """A log that grows line by line, as Spark writes it: first under its name for running applications."""

    def __init__(self, folder, events):
        self.lines = text_of(events).splitlines(keepends=True)
        self.path = folder / "app-grows.inprogress"
        self.at = 0
        self.path.touch()

    def write(self, n, cut=0):
        """n lines more, and so many bytes of the next one."""
        text = "".join(self.lines[self.at : self.at + n])
        self.at += n
        if cut:
            line = self.lines[self.at]
            text += line[:cut]
            self.lines[self.at] = line[cut:]
        with open(self.path, "a", encoding="utf-8") as log:
            log.write(text)

    def finish(self):
        self.write(len(self.lines))
        self.path.rename(self.path.with_suffix(""))


def test_follows_a_growing_log(follow, plumbd, tmp_path):
    events = events_of(RECORDED / "4.3.0/normal.zstd")
    (tmp_path / "logs").mkdir()
    log = Growing(tmp_path / "logs", events)
    follower = follow(*receiver(plumbd), "--state", tmp_path / "state.json", "--json", tmp_path / "logs")
    log.write(12, cut=30)
    (app,) = wait_until(lambda: apps(plumbd).values(), "the application is there")
    assert app["state"] == "silent"  # no end, and it was recorded long ago
    starts = [i for i, event in enumerate(events) if event["Event"] == "SparkListenerTaskStart"]
    log.write(starts[3] + 1 - log.at)
    wait_until(lambda: len(tasks_of(plumbd, app["app"])) >= 3, "tasks are there while they run")
    assert "running" in {task["status"] for task in tasks_of(plumbd, app["app"]).values()}
    log.finish()
    wait_until(lambda: next(iter(apps(plumbd).values()))["state"] == "ended", "the end is there")
    found = tasks_of(plumbd, app["app"])
    expected = expected_tasks(events)
    assert found.keys() == expected.keys()
    for task in found:
        check_task(found[task], expected[task])
    code, printed = follower.end()
    assert code == 0, follower.said()
    (report,) = json.loads(printed)["logs"]
    assert (report["lines"], report["broken"], report["ended"]) == (len(events), 0, True)


def test_killed_again_and_again(follow, make_plumbd, bridge, tmp_path):
    """kill -9 anywhere, the log growing meanwhile: in the end plumbd has what one that read it at once has."""
    followed, at_once = make_plumbd().start(), make_plumbd().start()
    events = events_of(RECORDED / "4.3.0/executor_lost.zstd")
    (tmp_path / "logs").mkdir()
    log = Growing(tmp_path / "logs", events)
    draw = random.Random(5)
    state = tmp_path / "state.json"
    while log.at < len(log.lines) - 1:
        follower = follow(*receiver(followed), "--state", state, tmp_path / "logs")
        n = min(draw.randint(5, 15), len(log.lines) - 1 - log.at)
        log.write(n, cut=draw.choice([0, 20]))
        if draw.random() < 0.5:  # killed after it has said how far it is, or at once
            end = log.path.stat().st_size
            wait_until(
                lambda end=end: (
                    state.exists()
                    and any(entry["file_bytes"] == end for entry in json.loads(state.read_text())["logs"])
                ),
                "the position is noted",
            )
        follower.end(signal.SIGKILL)
    log.finish()
    done = bridge(*receiver(followed), "--state", state, "--json", tmp_path / "logs")
    (last,) = report_of(done)["logs"]
    assert last["lines"] < len(events), "it went on where it was"
    report_of(bridge(*receiver(at_once), "--json", tmp_path / "logs"))
    (app,) = apps(at_once)
    assert apps(followed) == apps(at_once)
    assert tasks_of(followed, app) == tasks_of(at_once, app)
    assert followed.ask(f"stages?app={app}") == at_once.ask(f"stages?app={app}")


def test_a_rolling_log_grows(follow, plumbd, tmp_path):
    events = events_of(RECORDED / "4.3.0/normal.zstd")
    lines = text_of(events).splitlines(keepends=True)
    folder = tmp_path / "logs/eventlog_v2_app-rolls"
    folder.mkdir(parents=True)
    (folder / "appstatus_app-rolls.inprogress").touch()
    follower = follow(*receiver(plumbd), "--json", tmp_path / "logs")
    for number, begin in enumerate(range(0, len(lines), 9), start=1):
        (folder / f"events_{number}_app-rolls").write_text("".join(lines[begin : begin + 9]))
    (folder / "appstatus_app-rolls.inprogress").rename(folder / "appstatus_app-rolls")
    wait_until(lambda: [app for app in apps(plumbd).values() if app["state"] == "ended"], "the end is there")
    (app,) = apps(plumbd).values()
    assert tasks_of(plumbd, app["app"]).keys() == expected_tasks(events).keys()
    code, printed = follower.end()
    (report,) = json.loads(printed)["logs"]
    assert (code, report["lines"], report["broken"]) == (0, len(events), 0)


def test_a_receiver_that_comes_late_and_goes(follow, make_plumbd, tmp_path):
    """Nothing is lost and nothing is noted before it was acknowledged; the follower says what is wrong, once."""
    address = lasting_address()
    plumbd = make_plumbd(listen__thrift=address)
    state = tmp_path / "state.json"
    follower = follow("--receiver", address, "--state", state, RECORDED / "4.3.0/normal.zstd")
    wait_until(lambda: "check that plumbd runs" in follower.said(), "it says so")
    assert not state.exists()
    plumbd.start()
    wait_until(lambda: "takes records again" in follower.said(), "it goes on")
    wait_until(lambda: [app for app in apps(plumbd).values() if app["state"] == "ended"], "everything is there")
    assert follower.end()[0] == 0
    assert follower.said().count("check that plumbd runs") == 1


def test_no_receiver(follow, closed_port, tmp_path):
    """Told to end while it waits: it ends, says why nothing was sent, and notes nothing."""
    state = tmp_path / "state.json"
    follower = follow("--receiver", closed_port, "--state", state, RECORDED / "4.3.0/normal.zstd")
    wait_until(lambda: "check that plumbd runs" in follower.said(), "it says so")
    assert follower.end()[0] == 1
    assert not state.exists()


def test_a_folder_without_rights(bridge, tmp_path):
    (tmp_path / "logs/eventlog_v2_app-1").mkdir(parents=True)
    (tmp_path / "logs/app-2").write_text(text_of(events_of(RECORDED / "4.3.0/normal.zstd")))
    (tmp_path / "logs/app-3").touch(mode=0)
    for path in (path for path in (tmp_path, *tmp_path.parents) if "pytest-of-" in str(path)):
        path.chmod(0o755)
    os.chmod(tmp_path / "logs/eventlog_v2_app-1", 0)
    program = bridge("--version").args[0]
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    reachable = subprocess.run([*as_nobody, program, "--version"], capture_output=True, check=False)
    if reachable.returncode != 0:
        pytest.skip("another user cannot reach the build folder")
    done = subprocess.run(
        [*as_nobody, program, "--check", "--json", tmp_path / "logs"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("no permission") == 2 and "group" in done.stderr
    logs = {log["log"].rsplit("/", 1)[1]: log for log in json.loads(done.stdout)["logs"]}
    assert logs["app-2"]["ended"] and "no permission" in logs["app-3"]["error"]


def test_positions_on_a_full_disk(bridge, plumbd, tmp_path):
    """What cannot be noted is an error that says so; the old positions stay."""
    state = tmp_path / "state.json"
    report_of(bridge(*receiver(plumbd), "--state", state, "--json", RECORDED / "4.3.0/normal.zstd"))
    before = state.read_bytes()

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, len(before) + 10))

    done = bridge(*receiver(plumbd), "--state", state, RECORDED / "4.3.0", preexec_fn=small_files)
    assert done.returncode == 1 and "cannot keep positions" in done.stderr
    assert state.read_bytes() == before
    report_of(bridge(*receiver(plumbd), "--state", state, "--json", RECORDED / "4.3.0"))


MISTAKES = {
    "no path": ([], 2, "read what?"),
    "unknown option": (["--recieve", "x", "log"], 2, "--recieve"),
    "no address": (["--receiver", "nonsense", "log"], 2, "HOST:PORT"),
    "check and follow": (["--check", "--follow", "log"], 2, "--follow"),
    "check and state": (["--check", "--state", "s", "log"], 2, "--state"),
    "interval": (["--interval", "0", "log"], 2, "--interval"),
    "nothing there": (["--check", "/nowhere/app-1"], 1, "/nowhere/app-1: no such file"),
    "no log": (["--check", __file__], 1, "no event log"),
    "no address of HDFS": (["--check", "webhdfs://nn/logs"], 1, "webhdfs://HOST:PORT/PATH"),
    "a state that is none": (["--state", __file__, __file__], 1, "remove the file"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case, bridge, tmp_path):
    arguments, code, said = MISTAKES[case]
    if case == "a state that is none":
        (tmp_path / "state").write_text("{}")
        arguments = ["--state", str(tmp_path / "state"), __file__]
        said = "remove it"
    done = bridge(*arguments)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_an_empty_log_and_an_empty_folder(bridge, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "app-1").touch()
    assert report_of(bridge("--check", "--json", tmp_path / "empty"))["logs"] == []
    (log,) = report_of(bridge("--check", "--json", tmp_path / "app-1"))["logs"]
    assert (log["lines"], log["broken"]) == (0, 0)


def test_memory_does_not_grow_with_the_log(bridge_program, tmp_path):
    """A hundred times the log takes the same memory."""
    events = events_of(RECORDED / "4.3.0/normal.zstd")
    tasks = text_of(event for event in events if event["Event"].startswith("SparkListenerTask"))
    peaks = []
    for times in (30, 3000):
        path = tmp_path / f"app-{times}"
        with open(path, "w", encoding="utf-8") as log:
            log.write(text_of(events[:8]))
            for _ in range(times):
                log.write(tasks)
        done = subprocess.run(
            [
                "/usr/bin/env",
                "python3",
                "-c",
                "import resource, subprocess, sys; "
                "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
                "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                bridge_program,
                "--check",
                path,
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        code, peak = map(int, done.stdout.split())
        assert code == 0
        peaks.append(peak)
        path.unlink()
    assert peaks[1] < peaks[0] + 8192, peaks
