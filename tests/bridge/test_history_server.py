"""A real History Server of Spark compacts a rolling log between two runs of plumb-bridge."""

import os
import subprocess

import pytest

from script.hdfs.spark import spark_home
from tests.bridge.conftest import RECORDED, apps, events_of, text_of, wait_until
from tests.bridge.test_bridge import check_task, expected_tasks, receiver, report_of, tasks_of

EVENTS_A_FILE = 15


@pytest.fixture(params=["3.5.6", "4.3.0"])
def version(request):
    return request.param


@pytest.fixture
def history_server(version, tmp_path):
    """Starts one that keeps the last file of a log and compacts those before it."""
    started = []

    def start(logs):
        settings = {
            "spark.history.fs.logDirectory": f"file://{logs}",
            "spark.history.ui.port": "0",
            "spark.history.fs.update.interval": "1s",
            "spark.history.fs.eventLog.rolling.maxFilesToRetain": "1",
            "spark.history.fs.eventLog.rolling.compaction.score.threshold": "0",
        }
        options = " ".join(f"-D{key}={value}" for key, value in settings.items())
        with open(tmp_path / "history.log", "w") as log:
            started.append(
                subprocess.Popen(
                    [spark_home(version) / "bin" / "spark-class", "org.apache.spark.deploy.history.HistoryServer"],
                    stdout=log,
                    stderr=log,
                    env={**os.environ, "SPARK_HISTORY_OPTS": options, "SPARK_DAEMON_MEMORY": "512m"},
                )
            )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_compacted_log(bridge, plumbd, make_plumbd, history_server, version, tmp_path):
    """What was read before stays as it is; who reads the compact file first has what Spark left in it."""
    events = events_of(RECORDED / version / "normal.zstd")
    (app,) = [event["App ID"] for event in events if event["Event"] == "SparkListenerApplicationStart"]
    folder = tmp_path / f"logs/eventlog_v2_{app}"
    folder.mkdir(parents=True)
    (folder / f"appstatus_{app}.inprogress").touch()
    # The end of the application is in a file of its own, which stays: all jobs have ended in those before it.
    files = [events[begin : begin + EVENTS_A_FILE] for begin in range(0, len(events) - 1, EVENTS_A_FILE)]
    files[-1] = [event for event in files[-1] if event is not events[-1]]
    for number, part in enumerate([*files, events[-1:]], start=1):
        (folder / f"events_{number}_{app}").write_text(text_of(part))
    assert events[-1]["Event"] == "SparkListenerApplicationEnd"
    state = tmp_path / "state.json"
    first = report_of(bridge(*receiver(plumbd), "--state", state, "--json", tmp_path / "logs"))
    assert first["logs"][0]["lines"] == len(events)
    before = apps(plumbd), tasks_of(plumbd, app), plumbd.ask(f"stages?app={app}")

    server = history_server(tmp_path / "logs")

    def compacted():
        assert server.poll() is None, (tmp_path / "history.log").read_text()[-3000:]
        return list(folder.glob("*.compact")) and not (folder / f"events_1_{app}").exists()

    wait_until(compacted, "the log is compacted")
    (again,) = report_of(bridge(*receiver(plumbd), "--state", state, "--json", tmp_path / "logs"))["logs"]
    assert again["broken"] == 0 and not again.get("error")
    assert (apps(plumbd), tasks_of(plumbd, app), plumbd.ask(f"stages?app={app}")) == before

    late = make_plumbd().start()
    (log,) = report_of(bridge(*receiver(late), "--json", tmp_path / "logs"))["logs"]
    assert (log["app"], log["broken"], log["ended"]) == (app, 0, True)
    left = {task: event for file in folder.glob("events_*") for task, event in expected_tasks(events_of(file)).items()}
    found = tasks_of(late, app)
    assert found.keys() == left.keys() and len(left) < len(before[1])
    for task, event in left.items():
        check_task(found[task], event)
