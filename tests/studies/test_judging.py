"""Truth, held-out parameters and what they cost, on cases that can be followed by hand."""

import math

import pytest

from bench.studies import judging
from bench.studies.cases import Case
from bench.studies.generated_runs import GeneratedRun
from bench.studies.stragglers import longer, met_by_placebo, without_fault

TOPICS = ["cpu", "disk", "network"]


def case(name, fault, stragglers, said=None):
    """stragglers: {task: (seconds lost, what did it)}."""
    truth = {
        task: {"excess_ms": 1000 * lost, "overlap": effect, "effect": effect, "hosts": ["worker1"], "neither": []}
        for task, (lost, effect) in stragglers.items()
    }
    return Case(name, fault, "generated", truth, said or {}, {}, {})


def test_counts():
    one = case("a", "cpu", {"1": (10, ["cpu"]), "2": (5, []), "3": (2, ["data"])})
    named = {"1": ["cpu", "disk"], "2": ["network"], "3": ["data"]}
    counts = judging.count(one, named, "effect", TOPICS)
    assert counts == (1, 2, 6, 0)
    rows = judging.counts_of([one], [named], "effect", TOPICS)
    assert judging.tpr(rows.sum(axis=0)) == 1 and judging.fpr(rows.sum(axis=0)) == 2 / 8
    assert judging.seconds([one], [named]) == (12, 5, 0)
    assert judging.seconds([one], [{}]) == (0, 0, 17)
    assert judging.wrong_blame([one], [named], TOPICS) == (1, 2)
    assert math.isnan(judging.tpr(judging.counts_of([case("b", "none", {})], [{}], "effect", TOPICS).sum(axis=0)))


def test_a_fault_that_was_not_there():
    """Moved from the first worker to the second it meets one straggler there in time, which no such fault met."""
    one = case("a", "cpu", {"1": (1, ["cpu"]), "2": (1, []), "3": (1, []), "4": (1, ["cpu"])})
    stragglers = [["1", "w1", 0, 9, 2], ["2", "w2", 5, 9, 2], ["3", "w2", 20, 29, 2], ["4", "w2", 5, 9, 2]]
    timeline = {"loads": {"w1": {}, "w2": {}}, "injections": [["w1", "cpu", 0, 10]], "stragglers": stragglers}
    assert met_by_placebo(one._replace(timeline=timeline)) == [("2", "cpu")]
    assert met_by_placebo(one) == []


def test_how_much_longer():
    ours = longer([20, 30, 40], [10, 10])
    assert ours.value == 3 and 2 <= ours.low <= ours.high <= 4
    alone = longer([30], [10, 10])
    assert alone.value == 3 and math.isnan(alone.low) and math.isnan(alone.high)


def test_what_it_takes_without_the_fault():
    """Twins say it; without any, runs of the same job that had no fault do."""

    def run(fault, seconds, job="scan"):
        return case(fault, fault, {})._replace(timeline={"seconds": seconds, "job": job})

    slow, known = run("slow-disk", 30), [run("none", 10), run("none", 12), run("none", 50, "bayes")]
    assert without_fault(slow, known) == [10, 12]
    assert without_fault(slow._replace(twins=[11, 9, 13]), known) == [11, 9, 13]


def test_what_counts_neither_way():
    """A task that a fault touched is no false alarm, nor a find; of other topics it counts as any."""
    one = case("a", "slow-disk", {"1": (10, ["hdfs"]), "2": (5, []), "3": (2, [])})
    one.stragglers["2"]["neither"] = ["hdfs"]
    named = {"1": ["hdfs"], "2": ["hdfs", "cpu"], "3": ["hdfs"]}
    assert judging.count(one, named, "effect", ["hdfs", "cpu"]) == (1, 2, 2, 0)
    assert judging.seconds([one], [named]) == (10, 2, 0)
    assert judging.wrong_blame([one], [named], ["hdfs", "cpu"]) == (1, 1)


def test_one_score():
    """Of six pairs of one that is true and one that is not, the true one has more in four, and as much in one."""
    one = case("a", "cpu", {"1": (1, ["cpu"]), "2": (1, [])})
    two = case("b", "cpu", {"1": (1, ["cpu"]), "2": (1, []), "3": (1, [])})
    one.scores["ledger"] = {"1": {"cpu": 0.9}, "2": {"cpu": 0.9}}
    two.scores["ledger"] = {"1": {"cpu": 0.5}, "2": {"disk": 0.7}}
    counts = judging.scored([one, two], "ledger", "effect", ["cpu"])
    assert counts.tolist() == [[[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 2]]]
    whole, low = judging.score_intervals(counts, 1 / 6)
    assert whole.value == pytest.approx(4.5 / 6) and whole.low <= 0.5 and whole.high == pytest.approx(1)
    assert low.value == pytest.approx(0.125)


def test_parameters_come_from_other_runs():
    """Point "a" is right in the first four runs and "b" in the last: the last is judged with what the others say."""
    cases = []
    for number in range(5):
        right, wrong = {"1": ["cpu"]}, {"1": ["disk"]}
        points = {"a": right, "b": wrong} if number < 4 else {"a": wrong, "b": right}
        cases.append(case(f"cpu-{number}", "cpu", {"1": (1, ["cpu"])}, {"pcc": points}))
    said, chosen, trained = judging.held_out(cases, "pcc", "effect", TOPICS)
    assert chosen == ["a"] * 5
    assert [named["1"] for named in said] == [["cpu"]] * 4 + [["disk"]]
    assert trained == pytest.approx((4 * (3 / 4 - 1 / 8) + 1) / 5)


def test_folds():
    """Each fault is in each fold."""
    cases = [case(f"{fault}-{seed}", fault, {}) for seed in range(10) for fault in ("cpu", "none")]
    folds = judging.fold_of(cases)
    for fold in range(judging.FOLDS):
        assert sorted(c.fault for c, its in zip(cases, folds, strict=True) if its == fold) == ["cpu"] * 2 + ["none"] * 2


def test_folds_of_single_runs():
    """Where a fault ran once, each is judged with what runs of other faults say."""
    cases = [case(name, fault, {}) for name, fault in (("a", "cpu"), ("b", "disk"), ("c", "none"), ("d", "none"))]
    assert judging.fold_of(cases) == [0, 1, 2, 2]


def test_hosts():
    """Of three that something slowed two are named rightly, one of them at another host."""
    one = case("a", "cpu", {"1": (10, ["cpu"]), "2": (5, []), "3": (2, ["disk"]), "4": (2, ["cpu"])})
    named = {"1": ["cpu", "worker1"], "2": ["cpu", "worker1"], "3": ["disk", "worker2"], "4": ["disk", "worker1"]}
    one = one._replace(main={"ledger": named})
    assert judging.hosts_right([one], "ledger") == (1, 2, 3)
    assert judging.first_named(one, "ledger")["3"] == ["disk"]


def test_signs():
    """Ten runs that all differ alike: of 1024 patterns of signs two are as far from 0, and drawn ones about as many. Of
    runs that differ this way and that nearly all are."""
    assert judging.flipped([0.1] * 7) == 2 / 128
    assert judging.flipped([0.1] * 10) == 2 / 1024
    assert 0 < judging.flipped([0.1] * 13) < 0.002
    assert math.isnan(judging.flipped([math.nan]))
    assert judging.flipped([0.1, -0.1, 0.1, -0.1, math.nan]) == 1


def test_area():
    line = judging.curve(judging.numpy.array([[5.0, 1, 9, 5], [8.0, 5, 5, 2]]))
    assert line == [(0, 0), (0.1, 0.5), (0.5, 0.8), (1, 1)]
    assert judging.area(line) == pytest.approx(0.025 + 0.26 + 0.45)


def test_generated_truth():
    """A run without load has stragglers by their data alone; one with load has others, each met by what cost it."""
    quiet, loaded = GeneratedRun("none", 3), GeneratedRun("cpu", 3)
    assert quiet.truth() and all(one.effect == {"data"} and not one.overlap for one in quiet.truth().values())
    hit = [one for one in loaded.truth().values() if "cpu" in one.effect]
    assert len(hit) > 10 and all(one.overlap == {"cpu"} for one in hit)
    assert GeneratedRun("cpu", 3).tasks == loaded.tasks
