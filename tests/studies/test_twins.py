"""Twins of recorded runs: in which order they are recorded, and what they say of who was slowed. Runs are generated,
and lie in folders as recorded ones do; a generated run knows exactly what slowed each of its tasks."""

import json

import pytest

from bench.studies import cases
from bench.studies.fault_runs import record, steps_of
from bench.studies.generated_runs import BEGIN_MS, GeneratedRun
from bench.studies.load_runs import write_whole
from bench.studies.report import Report
from bench.studies.stragglers import Study
from script.hdfs.jars import ClusterError
from script.spark import truth, twins, verdicts
from script.spark.truth import Run, Task


def folder_of(run, into):
    """As script/spark/runs.py leaves it, with what truth is told from."""
    folder = into / run.name
    folder.mkdir()
    run.write_log(folder).rename(folder / "events")
    lines = [
        {
            "kind": f"busy-{one.resource}",
            "host": f"worker{one.host}",
            "begin_ms": BEGIN_MS + one.begin_ms,
            "end_ms": BEGIN_MS + one.end_ms,
        }
        for one in run.injections
    ]
    (folder / "injections.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "blocks.json").write_text("[]")
    (folder / "run.json").write_text(json.dumps({"fault": run.fault, "said": []}))
    return folder


def add_twins(folder, run, numbers):
    """Of the same tasks, without a load."""
    healthy = GeneratedRun(run.fault, int(run.name.rsplit("-", 1)[1]), healthy=True)
    for number in numbers:
        write_whole(twins.path_of(folder, number), twins.document([task_of(task) for task in healthy.tasks]))


def task_of(task):
    return Task(task.id, task.stage, 0, task.index, f"worker{task.host}", task.begin_ms, task.end_ms, True, {})


def slowed(folder):
    """{(task, topic)} that the truth says."""
    return {
        (straggler.task.id, cases.TOPIC_OF[one["kind"]])
        for straggler in Run(folder).stragglers()
        for one in straggler.injections
    }


def test_twins_acquit_what_did_not_slow(tmp_path):
    """A load of the network costs little: by the time together it is blamed for tasks that their data made slow. Twins
    take that back, and nothing that the simulation knows to be so."""
    wrong, right = {}, {}
    for fault in ("network", "disk"):
        run = GeneratedRun(fault, 0)
        folder = folder_of(run, tmp_path)
        known = {(task, topic) for task, one in run.truth().items() for topic in one.effect - {"data"}}
        add_twins(folder, run, [1, 2])
        alone = slowed(folder)  # two are too few
        add_twins(folder, run, [3])
        told = slowed(folder)
        assert told <= alone and known & alone == known & told
        wrong[fault], right[fault] = (len(alone - known), len(told - known)), len(known & told)
    assert wrong["network"][0] > 2 and right["disk"] > 10
    assert wrong["network"][1] == wrong["disk"][1] == 0


def test_the_partition_counts_and_the_median(tmp_path):
    """Of the same partition in a stage of as many, in three twins at least."""

    def task(index, ms, *, stage=0, good=True):
        return Task(index, stage, 0, index, "worker1", 0, ms, good, {})

    own = [task(0, 100), task(1, 900), task(0, 50, stage=1)]
    folder = tmp_path / "busy-cpu-1"
    for number, ms in enumerate((100, 800, 300), 1):
        tasks = [task(0, 10), task(1, 5, good=False), task(1, ms)]
        write_whole(twins.path_of(folder, number), twins.document([*tasks, task(0, 50, stage=1), task(1, 9, stage=1)]))
    found = twins.Twins(folder, own)
    assert [found.usual_ms(one) for one in own] == [10, 300, None]  # stage 1 has two partitions there
    assert truth.slower_than(300, own[1], 9) and not truth.slower_than(501, own[1], 9)
    assert twins.seconds_of([task(0, 10), task(1, 99, good=False)]) == 0.01
    twins.path_of(folder, 2).unlink()
    assert twins.Twins(folder, own).usual_ms(own[1]) is None


def test_a_stage_that_is_tried_again_has_the_same_partitions(tmp_path):
    """Its first task is the first one that is missing."""
    info = {"Task ID": 9, "Index": 0, "Partition ID": 2, "Host": "worker1", "Launch Time": 1, "Finish Time": 8}
    event = {"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 1, "Task Info": info}
    event["Task End Reason"] = {"Reason": "Success"}
    log = tmp_path / "events"
    log.write_text(json.dumps(event, separators=(",", ":")) + "\n")
    assert twins.stages_of(truth.tasks_of(log)) == {"0": [None, None, 7]}


def test_who_blames_what_twins_acquit_is_wrong(tmp_path):
    run = GeneratedRun("network", 0)
    folder = folder_of(run, tmp_path)
    add_twins(folder, run, [1, 2, 3])
    told = Run(folder)
    acquitted = [straggler.task for straggler in told.stragglers() if straggler.acquitted]
    said = {task.id: verdicts.Verdict("network", task.host, None) for task in acquitted}
    assert verdicts.count(told, said).blamed == len(acquitted) > 2


@pytest.mark.parametrize(
    ("number", "count", "order"),
    [
        (1, 3, ["twin-1", "twin-2", "run", "twin-3"]),
        (2, 3, ["twin-1", "run", "twin-2", "twin-3"]),
        (1, 4, ["twin-1", "twin-2", "run", "twin-3", "twin-4"]),
        (1, 0, ["run"]),
    ],
)
def test_a_run_is_amid_its_twins(tmp_path, number, count, order):
    steps = steps_of(tmp_path, "hung", number, count)
    assert [step.path.name.split(".")[1] if step.twin else "run" for step in steps] == order
    assert [step.path.name for step in steps if not step.twin] == [f"hung-{number}"]
    assert [step.twin for step in steps_of(tmp_path, "none", number, count)] == [False]


def test_recording_goes_on_where_it_stopped(tmp_path, monkeypatch):
    """The second bed makes what the first one, which failed, did not."""
    made = []

    class Bed:
        spark_version = "4.3.0"

        def __init__(self, *_, **__):
            self.left = 2 if not made else 99

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def step(self, what):
            if self.left == 0:
                raise ClusterError("no more")
            self.left -= 1
            made.append(what)

        def run(self, fault, path):
            self.step(path.name)
            path.mkdir()

        def twin(self, fault):
            self.step(f"{fault} twin")
            return [Task(1, 0, 0, 0, "worker1", 0, 9, True, {})]

    monkeypatch.setattr("bench.studies.fault_runs.Bed", Bed)
    monkeypatch.setattr("bench.studies.fault_runs.why_no_namespaces", lambda: None)
    monkeypatch.setattr("bench.studies.fault_runs.environment", lambda _: {})
    with pytest.raises(ClusterError, match="no more"):
        record(tmp_path, tmp_path / "into", 1, only="hung")
    record(tmp_path, tmp_path / "into", 1, only="hung")
    record(tmp_path, tmp_path / "into", 1, only="hung")  # there is nothing left
    assert made == ["hung twin", "hung twin", "hung-1", "hung twin"]
    with pytest.raises(ClusterError, match="--only weather: the faults are none, slow-disk"):
        record(tmp_path, tmp_path / "into", 1, only="weather")


def test_the_report_says_which_runs_have_none(build_dir):
    def case(name, took, stragglers):
        shape = {"excess_ms": 1000, "overlap": [], "hosts": [], "neither": []}
        known = {task: {**shape, **one} for task, one in stragglers.items()}
        said = {"bigroots": {"1.6 0.9": {}}, "pcc": {"0.3 0.9": {}}, "ledger": {"1.6 0.5": {}}}
        said |= {"no edges": {"1.6 0.9": {}}, "mantri": {"": {}}, "xue": {"": {}}}
        return cases.Case(name, name.rsplit("-", 1)[0], "recorded", known, said, {}, {}, None, took)

    slow = {"effect": ["hdfs"], "acquitted": [], "twin_ms": 10, "faster": True}
    unmet = {**slow, "effect": []}
    study = Study(
        Report("stragglers", "", "", build_dir),
        [
            case(
                "hung-1",
                [9, 9, 9],
                {
                    "1": slow,
                    "2": {**unmet, "acquitted": ["hdfs"], "faster": False},
                    "3": unmet,
                    "4": {**unmet, "faster": False},
                    "5": {**unmet, "twin_ms": None, "faster": None},
                },
            ),
            case("hung-2", None, {"1": {"effect": ["hdfs"]}, "2": {"effect": []}}),
            case("none-1", None, {"1": {"effect": []}}),
        ],
    )
    study.twins()
    (_, _, _, rows), (note,) = study.report.tables[0], study.report.notes
    assert [row[3:] for row in rows] == [["2", "0", "1", "1", "2", "1"], ["1", "1", "0", "1", "0", "0"]]
    assert "without twins for hung-2:" in note


def test_a_case_that_knows_no_twins_is_made_anew(tmp_path):
    """Twins may be recorded after the run was asked about."""
    folder = tmp_path / "hung-1"
    assert not cases.up_to_date(folder)
    cases.save(cases.Case("hung-1", "hung", "recorded", {}, {}, {}, {}), tmp_path)
    assert cases.up_to_date(folder)
    write_whole(twins.path_of(folder, 1), {"seconds": 9, "stages": {}})
    assert not cases.up_to_date(folder)
    cases.save(cases.Case("hung-1", "hung", "recorded", {}, {}, {}, {}, None, [9]), tmp_path)
    assert cases.up_to_date(folder)
