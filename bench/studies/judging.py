"""How good methods are, on cases: per straggler and resource, by the seconds that were lost, and wrong blame."""

import itertools
import math
from collections import Counter, namedtuple

import numpy

from bench.studies.figures import RESAMPLES, Interval

Counts = namedtuple("Counts", "tp fp tn fn")
FOLDS = 5
DEFAULTS = {"bigroots": "1.6 0.9", "pcc": "0.3 0.9", "ledger": "1.6 0.5"}
AREAS = 400  # resamples of a curve
ALL_SIGNS = 12  # runs, of which 4096 patterns are not too many
SEARCHED = {"bigroots", "pcc", "ledger"}
# "defaults" is bigroots with its defaults, "no edges" the same without edge detection; "ledger defaults" the ledger
# with its own. Those that are searched get the parameters that are best on the training runs.
METHODS = [
    "ledger",
    "ledger defaults",
    "bigroots",
    "defaults",
    "no edges",
    "pcc",
    "mantri",
    "xue",
    "never",
    "most frequent",
]
WITH_DEFAULTS = {"defaults": "bigroots", "ledger defaults": "ledger"}


def count(case, named, truth, topics):
    """One for each straggler and topic that counts; named: {task: [topic]}, truth: "overlap" or "effect"."""
    tp = fp = tn = fn = 0
    for task, straggler in case.stragglers.items():
        for topic in topics:
            if topic in straggler["neither"]:
                continue
            true, named_it = topic in straggler[truth], topic in named.get(task, ())
            tp += true and named_it
            fp += named_it and not true
            tn += not true and not named_it
            fn += true and not named_it
    return Counts(tp, fp, tn, fn)


def counts_of(cases, said, truth, topics):
    """A row of Counts for each case."""
    rows = [count(case, named, truth, topics) for case, named in zip(cases, said, strict=True)]
    return numpy.array(rows, dtype=float).reshape(len(rows), len(Counts._fields))


# Of sums of Counts, in the last axis; nan where there is nothing to share.


def tpr(sums):
    return divided(sums[..., 0], sums[..., 0] + sums[..., 3])


def fpr(sums):
    return divided(sums[..., 1], sums[..., 1] + sums[..., 2])


def accuracy(sums):
    return divided(sums[..., 0] + sums[..., 2], sums.sum(axis=-1))


def divided(part, whole):
    return numpy.where(whole > 0, part / numpy.where(whole > 0, whole, 1), numpy.nan)


def drawn_sums(rows):
    """Sums over the cases of each resample of whole cases: the last axis of 'rows' is Counts, the one before cases."""
    n = rows.shape[-2]
    chosen = numpy.random.default_rng(1).integers(0, n, (RESAMPLES, n))
    return rows[..., chosen, :].sum(axis=-2)


def over_runs(rows, figure):
    """The interval of figure(sums): whole runs are drawn, since stragglers of one hang together."""
    n = rows.shape[-2]
    value = float(figure(rows.sum(axis=-2)))
    drawn = figure(drawn_sums(rows))
    drawn = drawn[~numpy.isnan(drawn)]
    if len(drawn) == 0 or math.isnan(value):
        return Interval(math.nan, -math.inf, math.inf, n)
    low, high = numpy.quantile(drawn, [0.025, 0.975])
    return Interval(value, float(low), float(high), n)


def fold_of(cases):
    """Whole runs; each fault is in each fold, as far as it has runs. With a fault that has one run alone, parameters
    are chosen on other faults' runs: all runs of a fault are in one fold, faults in turns."""
    seen, folds = Counter(), []
    faults = list(dict.fromkeys(case.fault for case in cases))
    single = min(Counter(case.fault for case in cases).values()) < 2
    for case in cases:
        folds.append((faults.index(case.fault) if single else seen[case.fault]) % FOLDS)
        seen[case.fault] += 1
    return folds


def search(cases, method, truth, topics):
    """[parameters], and counts of each by case."""
    points = list(cases[0].said[method])
    return points, numpy.array(
        [counts_of(cases, [case.said[method][point] for case in cases], truth, topics) for point in points]
    )


def best_point(points, rows):
    """The parameters with the greatest TPR + 1 - FPR; of equal ones the least FPR, then the first."""
    sums = rows.sum(axis=1)
    good, bad = numpy.nan_to_num(tpr(sums)), numpy.nan_to_num(fpr(sums))
    return points[max(range(len(points)), key=lambda i: (good[i] - bad[i], -bad[i]))]


def most_frequent(cases, truth, topics):
    seen = Counter(
        topic for case in cases for one in case.stragglers.values() for topic in one[truth] if topic in topics
    )
    return seen.most_common(1)[0][0] if seen else topics[0]


def said_of(case, method, chosen):
    if method == "never":
        return {}
    if method == "most frequent":
        return {task: [chosen] for task in case.stragglers}
    if method in WITH_DEFAULTS:
        return case.said[WITH_DEFAULTS[method]][DEFAULTS[WITH_DEFAULTS[method]]]
    return case.said[method][chosen]


def choose(training, method, truth, topics):
    """What the method learns from these cases."""
    if method == "most frequent":
        return most_frequent(training, truth, topics)
    if method in SEARCHED:
        return best_point(*search(training, method, truth, topics))
    return None if method == "never" or method in WITH_DEFAULTS else next(iter(training[0].said[method]))


def held_out(cases, method, truth, topics):
    """What is said of each case with parameters that were chosen on the other folds; these parameters; and TPR - FPR of
    them on the runs that they were chosen on, in the mean."""
    folds, said, chosen, trained = fold_of(cases), [None] * len(cases), [], []
    if max(folds) == 0:
        raise SystemExit("bench/study: parameters are judged on runs that they were not chosen on: 2 runs at least")
    for fold in sorted(set(folds)):
        training = [case for case, its in zip(cases, folds, strict=True) if its != fold]
        choice = choose(training, method, truth, topics)
        chosen.append(choice)
        sums = counts_of(training, [said_of(case, method, choice) for case in training], truth, topics).sum(axis=0)
        trained.append(float(tpr(sums) - fpr(sums)))
        for i, case in enumerate(cases):
            if folds[i] == fold:
                said[i] = said_of(case, method, choice)
    return said, chosen, sum(trained) / len(trained)


def curve(sums):
    """The best TPR up to each FPR of a search's points, from (0, 0) to (1, 1)."""
    cloud = zip(fpr(sums).tolist(), tpr(sums).tolist(), strict=True)
    best, line = 0.0, []
    for x, y in sorted([(0.0, 0.0), *((x, y) for x, y in cloud if not math.isnan(x + y)), (1.0, 1.0)]):
        best = max(best, y)
        line.append((x, best))
    return line


def area(line):
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(line, line[1:], strict=False))


def counting(case):
    """(task, straggler) of those that count one way or the other."""
    for task, straggler in case.stragglers.items():
        if straggler["effect"] or not straggler["neither"]:
            yield task, straggler


def seconds(cases, said):
    """Of the seconds that stragglers lost, those explained rightly, wrongly, and not at all. Right is any named topic
    that did it; wrong is to name others only."""
    right = wrong = nothing = 0.0
    for case, named in zip(cases, said, strict=True):
        for task, straggler in counting(case):
            lost, topic = straggler["excess_ms"] / 1000, set(named.get(task, ()))
            if topic & set(straggler["effect"]):
                right += lost
            elif topic:
                wrong += lost
            else:
                nothing += lost
    return right, wrong, nothing


def wrong_blame(cases, said, topics):
    """(stragglers of which one of the topics is named, of those that none of them did)."""
    blamed = of = 0
    for case, named in zip(cases, said, strict=True):
        for task, straggler in counting(case):
            if not set(straggler["effect"]) & set(topics):
                of += 1
                blamed += bool(set(named.get(task, ())) & set(topics))
    return blamed, of


def first_named(case, method):
    """{task: [topic]} of what `plumb why` names first by that method."""
    return {task: [topic] for task, (topic, _) in case.main[method].items()}


def hosts_right(cases, method):
    """(stragglers of which what did it is named first, at a host that did it; those of which it is named; all that
    something did)."""
    right = named = of = 0
    for case in cases:
        for task, straggler in case.stragglers.items():
            if not straggler["effect"]:
                continue
            of += 1
            topic, host = case.main[method].get(task, (None, None))
            if topic in straggler["effect"]:
                named += 1
                right += host in straggler["hosts"]
    return right, named, of


def flipped(differences):
    """How often the mean of the runs' differences is as far from 0 when each run's sign is drawn (two-sided): p. Of few
    runs exactly, over all signs."""
    known = numpy.array([one for one in differences if not math.isnan(one)])
    if len(known) == 0:
        return math.nan
    exact = len(known) <= ALL_SIGNS
    if exact:
        signs = numpy.array(list(itertools.product([-1, 1], repeat=len(known))))
    else:
        signs = numpy.random.default_rng(1).choice([-1, 1], (RESAMPLES, len(known)))
    far = int((numpy.abs((signs * known).mean(axis=1)) >= abs(known.mean()) - 1e-12).sum())
    return far / len(signs) if exact else (1 + far) / (1 + RESAMPLES)


def areas(rows):
    """Of a search's counts by point and case: the area under its curve, and those of resamples of whole runs, which are
    the same runs for each search over as many."""
    drawn = numpy.moveaxis(drawn_sums(rows), 1, 0)[:AREAS]
    return area(curve(rows.sum(axis=1))), numpy.array([area(curve(sums)) for sums in drawn])


def area_interval(value, drawn, n):
    low, high = numpy.quantile(drawn, [0.025, 0.975])
    return Interval(float(value), float(low), float(high), n)


# ---- one score for each straggler and topic ----


def scored(cases, method, truth, topics):
    """Of each distinct score, the greatest first: (counts of what is true by case, counts of what is not)."""
    pairs = [
        (case.scores[method].get(task, {}).get(topic, 0.0), number, topic in straggler[truth])
        for number, case in enumerate(cases)
        for task, straggler in case.stragglers.items()
        for topic in topics
        if topic not in straggler["neither"]
    ]
    levels = {score: level for level, score in enumerate(sorted({score for score, *_ in pairs}, reverse=True))}
    counts = numpy.zeros((2, len(cases), len(levels)))
    for score, number, true in pairs:
        counts[0 if true else 1, number, levels[score]] += 1
    return counts


def score_curve(counts):
    """(FPR, TPR) of each threshold from (0, 0) to (1, 1); counts: [true, not][level]."""
    above = numpy.cumsum(counts, axis=-1)
    rates = above / numpy.maximum(above[:, -1:], 1)
    return numpy.concatenate([numpy.zeros((2, 1)), rates], axis=1)[::-1]


def score_areas(counts, until):
    """(area under that curve, the part of it up to that FPR, of what there is)."""
    x, y = score_curve(counts)
    low = numpy.append(x[x < until], until)
    at_low = numpy.append(y[x < until], numpy.interp(until, x, y))
    return area(list(zip(x, y, strict=True))), area(list(zip(low, at_low, strict=True))) / until


def score_intervals(counts, until):
    """Both areas, with a bootstrap over whole runs; a draw without any true one does not count."""
    n = counts.shape[1]
    drawn = numpy.random.default_rng(1).integers(0, n, (AREAS, n))
    sums = [counts[:, runs].sum(axis=1) for runs in drawn]
    areas_drawn = numpy.array([score_areas(one, until) for one in sums if one[0].sum() > 0])
    return [
        area_interval(value, values, n)
        for value, values in zip(score_areas(counts.sum(axis=1), until), areas_drawn.T, strict=True)
    ]
