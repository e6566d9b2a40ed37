"""From a slow Spark task down to the DataNode: a real Spark, in JVMs of its own, on a traced HDFS with one slow
DataNode, whose event logs lie in that HDFS."""

from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from tests.conftest import Plumbd
from tests.spark.live import SLOW, Live, put_text, start

SPARK = "4.3.0"


@pytest.fixture(scope="module")
def live(tmp_path_factory, plumbd_program, plumb_program, build_dir):
    work = tmp_path_factory.mktemp("live")
    with ExitStack() as stack:
        plumbd = Plumbd(plumbd_program, work / "plumbd").start()
        stack.callback(plumbd.clean_up)
        options = SimpleNamespace(plumbd_thrift="{}:{}".format(*plumbd.thrift), spark=SPARK)
        parts = start(options, work, stack)
        put_text(parts[1], work / "small", "/small", 2)
        programs = {"plumb": plumb_program, "plumb-bridge": build_dir / "spark-bridge/plumb-bridge"}
        yield Live(parts, plumbd, work, programs)


@pytest.fixture(scope="module")
def slow(live):
    """One job with the slow DataNode: the application, what is true of it, and what plumb-bridge said."""
    application = live.slow_job()
    return SimpleNamespace(
        application=application, run=live.download(application), bridged=live.bridge(live.event_log(application))
    )


def test_every_task_of_the_log_is_there(live, slow):
    answer = live.asked("why", slow.application, "--limit", "0")
    assert answer["tasks"] == len([task for task in slow.run.tasks if task.good])
    assert slow.bridged["records"]["task"] == len(slow.run.tasks)


def test_stragglers_are_those_of_the_definition(live, slow):
    answer = live.asked("why", slow.application, "--limit", "0")
    assert {row["task"] for row in answer["stragglers"]} == {found.task.id for found in slow.run.stragglers()}


def test_tasks_are_linked_exactly(live, slow):
    """Every task has its trace, by the agent's scope: nothing was guessed."""
    answer = live.asked("why", slow.application, "--limit", "0")
    assert answer["tasks_by_link"]["exact-scope"] == len(slow.run.tasks)


def test_the_slow_datanode_is_named(live, slow):
    affected = {found.task.id for found in slow.run.stragglers() if found.injections}
    assert len(affected) >= 4, "the fault made tasks slow"
    answer = live.asked("why", slow.application, "--limit", "0")
    causes = {row["task"]: row.get("main_cause", {}) for row in answer["stragglers"]}
    named = {task for task in affected if causes[task].get("suspect", {}).get("host") == SLOW}
    # One may have been slow for what else the machine did.
    assert len(affected) - len(named) <= max(1, 0.05 * len(affected)), {task: causes[task] for task in affected - named}
    assert answer["suspects"][0]["host"] == SLOW
    assert SLOW in live.plumb("why", slow.application)


def test_reading_the_log_again_changes_nothing(live, slow):
    before = live.asked("why", slow.application, "--limit", "0")
    live.bridge(live.event_log(slow.application))
    after = live.asked("why", slow.application, "--limit", "0")
    for answer in (before, after):
        answer.pop("final_in_ns", None)  # passes while one looks
        answer.pop("may_change", None)
    assert after == before


def test_the_datanode_tells_its_tasks(live, slow):
    """The other way round: from the host to the tasks that it slowed, and since when."""
    why = live.asked("why", slow.application, "--limit", "0")
    blamed = {
        row["task"] for row in why["stragglers"] if row.get("main_cause", {}).get("suspect", {}).get("host") == SLOW
    }
    answer = live.asked("hosts", SLOW, "--limit", "0")
    assert {row["task"] for row in answer["tasks"]} == blamed
    begin = min(found.task.begin_ms for found in slow.run.stragglers() if found.task.id in blamed)
    assert min(row["since_time_ns"] for row in answer["hosts"]) == begin * 1_000_000


def test_without_traces_nobody_is_named(live, slow):
    """The same log in a plumbd that got no spans: stragglers are there, but no part of HDFS is said to have made
    them."""
    with live.other_plumbd() as (receiver, server):
        live.bridge(live.event_log(slow.application), receiver=receiver)
        answer = live.asked("why", slow.application, "--limit", "0", server=server)
    assert {row["task"] for row in answer["stragglers"]} == {found.task.id for found in slow.run.stragglers()}
    assert answer["suspects"] == [] and answer["explained"] == answer["explained_without_hdfs"]


@pytest.mark.parametrize("version", ["3.5.6"])
def test_another_spark(live, version):
    """Rolling, compressed logs in HDFS, several kinds of jobs; every task is linked to its own trace."""
    conf = {"spark.eventLog.rolling.enabled": "true", "spark.eventLog.compress": "true"}
    with live.another_spark(version, conf) as spark:
        application = live.job("several", [live.hdfs.url("/small"), live.hdfs.url(f"/out-{version}")], spark)
    assert application.startswith("eventlog_v2_")
    bridged = live.bridge(live.event_log(application))
    answer = live.asked("why", application.removeprefix("eventlog_v2_"), "--limit", "0")
    assert answer["tasks"] == bridged["records"]["task"] == answer["tasks_by_link"]["exact-scope"]
