"""Causes of stragglers (tables 3 and 6, figures 13 and 14): all methods on the same stragglers, parameters chosen on
other runs than those they are judged on, intervals over runs."""

import itertools
import math
import random
from statistics import median

import numpy

from bench.studies import pictures
from bench.studies.cases import (
    LAMBDA_CA,
    LAMBDA_CQ,
    LAMBDA_P,
    LAMBDA_Q,
    LEDGER_P,
    LEDGER_W,
    NAMING,
    SCORES,
    cases_of,
)
from bench.studies.figures import RESAMPLES, Claim, Interval, quantile, wilson
from bench.studies.judging import (
    DEFAULTS,
    METHODS,
    SEARCHED,
    accuracy,
    area_interval,
    areas,
    counts_of,
    curve,
    first_named,
    flipped,
    fold_of,
    fpr,
    held_out,
    hosts_right,
    over_runs,
    score_curve,
    score_intervals,
    scored,
    search,
    seconds,
    tpr,
    wrong_blame,
)
from bench.studies.report import Report
from script.spark.twins import TWINS

RESOURCES = ["cpu", "disk", "network"]
EVERYTHING = [*RESOURCES, "hdfs", "jvm", "data"]  # of recorded runs, whose faults are of all these
TRUTHS = ["overlap", "effect"]
MET = ["overlap", "neither", "effect", "acquitted"]  # of what is true of a straggler: by which faults, and how
LOW_FPR = 0.05
WEIGHTS = [1, 2, 3, 5, 10]
TIMED_JOB = "bayes_for"  # runs for a time that is given, whatever is done to it
EDGES = {"defaults": "edge detection", "no edges": "no detection", "ledger defaults": "foreign load"}
# Of figure 12, in percent of the time without.
PUBLISHED_LONGER = {"cpu": 4.22, "disk": 5.86, "network": 3.53, "mixed": 4.02}
COLUMNS = ["cpu", "disk", "network", "jvm", "data", "spill", "locality", "hdfs", "nothing"]
GENERATED = (
    "Runs are generated: five workers, the schedule of table 5 with its own and with one kind of load each, and none. "
    "Their event logs and samples go through `plumb-bridge` to `plumbd`, which is asked as `plumb stragglers` and "
    "`plumb why` do. **A simulation says whether methods do what they are meant to; its rates are not a cluster's.**"
)
RECORDED = "Runs that `bench/faults` recorded, analysed again, as `plumb stragglers` and `plumb why` do."


def met_by_placebo(case):
    """(task, topic) of the stragglers that a fault of a worker would have met at the next one, and that no fault of
    that topic met."""
    timeline = case.timeline or {"injections": [], "stragglers": [], "loads": {}}
    hosts, found = list(timeline["loads"]), set()
    for host, topic, begin, end in timeline["injections"]:
        if host not in hosts:
            continue
        beside = hosts[(hosts.index(host) + 1) % len(hosts)]
        found |= {
            (task, topic)
            for task, at, first, last, _ in timeline["stragglers"]
            if at == beside and first < end and begin < last and topic not in case.stragglers[task]["overlap"]
        }
    return sorted(found)


def without_fault(case, known):
    """The seconds that its application takes: of its twins, else of runs without a fault of the same job."""
    healthy = [one for one in known if one.fault == "none" and one.timeline["job"] == case.timeline["job"]]
    return case.twins or [one.timeline["seconds"] for one in healthy]


def longer(took, beside):
    """Median of these seconds by that of those: whole runs are drawn, of each apart. One run has no interval."""
    ratio, n = median(took) / median(beside), len(took) + len(beside)
    if min(len(took), len(beside)) < 2:
        return Interval(ratio, math.nan, math.nan, n)
    draw = random.Random(1)
    values = sorted(
        median(draw.choices(took, k=len(took))) / median(draw.choices(beside, k=len(beside))) for _ in range(RESAMPLES)
    )
    return Interval(ratio, quantile(values, 0.025), quantile(values, 0.975), n)


class Study:
    def __init__(self, report, cases):
        self.report, self.cases = report, cases
        self.topics = EVERYTHING if any(case.source == "recorded" for case in cases) else RESOURCES
        self.said = {}
        for truth in TRUTHS:
            for method in METHODS:
                self.said[truth, method] = held_out(cases, method, truth, self.topics)

    def only(self, truth, method, fault):
        """(cases, said) of the runs of a fault; None: of all."""
        pairs = zip(self.cases, self.said[truth, method][0], strict=True)
        kept = [(case, named) for case, named in pairs if fault is None or case.fault == fault]
        return [case for case, _ in kept], [named for _, named in kept]

    def counts(self, truth, method, fault=None, topics=None):
        return counts_of(*self.only(truth, method, fault), truth, topics or self.topics)

    # ---- tables ----

    def rates(self):
        rows = []
        for truth in TRUTHS:
            for fault in self.faults():
                for method in METHODS:
                    counts = self.counts(truth, method, fault)
                    sums = counts.sum(axis=0)
                    shown = [*over_runs(counts, tpr)[:3], *over_runs(counts, fpr)[:3], float(accuracy(sums))]
                    shown = [100 * x if math.isfinite(x) else None for x in shown]
                    rows.append([truth, fault or "all", method, *map(int, sums), *shown])
        columns = ["truth", "runs of", "method", "TP", "FP", "TN", "FN"]
        columns += ["TPR %", "low", "high", "FPR %", "low", "high", "ACC %"]
        self.report.table("rates", "Per straggler and resource, held out (as table 6)", columns, rows)

    def resources(self):
        """A resource that hardly any straggler has as its cause counts little in the rates of all."""
        rows = []
        for truth in TRUTHS:
            for topic in self.topics:
                for method in METHODS:
                    sums = self.counts(truth, method, topics=[topic]).sum(axis=0)
                    shown = [100 * x if math.isfinite(x) else None for x in (float(tpr(sums)), float(fpr(sums)))]
                    rows.append([truth, topic, method, *map(int, sums), *shown])
        columns = ["truth", "resource", "method", "TP", "FP", "TN", "FN", "TPR %", "FPR %"]
        self.report.table("resources", "The same by resource, of all runs", columns, rows)

    def parameters(self):
        rows = []
        for method in sorted(SEARCHED):
            for truth in TRUTHS:
                _, chosen, trained = self.said[truth, method]
                given = [case.said[method][DEFAULTS[method]] for case in self.cases]
                tests = (self.counts(truth, method), counts_of(self.cases, given, truth, self.topics))
                worth = [100 * float(tpr(rows.sum(axis=0)) - fpr(rows.sum(axis=0))) for rows in tests]
                rows.append([method, truth, ", ".join(chosen), 100 * trained, *worth])
        columns = [
            "method",
            "truth",
            "chosen in the folds",
            "TPR - FPR, training runs",
            "held out",
            "with the defaults",
        ]
        self.report.table("parameters", "Parameters", columns, rows)

    def curves(self):
        lines, table = {}, []
        for method in sorted(SEARCHED):
            for truth in TRUTHS:
                rows = search(self.cases, method, truth, self.topics)[1]
                lines[f"{method}, {truth}"] = curve(rows.sum(axis=1))
                table.append([method, truth, *area_interval(*areas(rows), len(self.cases))[:3]])
        self.report.table("auc", "Area under the curve of the search", ["method", "truth", "AUC", "low", "high"], table)
        title = "Best TPR up to each FPR"
        self.report.picture("roc", title, pictures.lines(title, "FPR", "TPR", lines, diagonal=True))

    def faults(self):
        return [*dict.fromkeys(case.fault for case in self.cases), None]

    def scores(self):
        """One score for each straggler and resource, so that the curve is one; by fault where it has several runs."""
        lines, table = {}, []
        for fault, method, truth in itertools.product(self.faults(), SCORES, TRUTHS):
            cases = [case for case in self.cases if fault in (None, case.fault)]
            counts = scored(cases, method, truth, self.topics)
            if len(cases) < 2 or not all(counts.sum(axis=(1, 2))):
                continue
            whole, low_fpr = score_intervals(counts, LOW_FPR)
            sums = map(int, counts.sum(axis=(1, 2)))
            table.append([fault or "all", method, truth, *sums, *whole[:3], *low_fpr[:3]])
            if fault is None or truth == "overlap":
                curve_of = list(zip(*score_curve(counts.sum(axis=1)).tolist(), strict=True))
                lines.setdefault(fault, {})[f"{method}, {truth}"] = curve_of
        columns = ["runs of", "method", "truth", "true", "not", "AUC", "low", "high"]
        columns += [f"up to FPR {LOW_FPR}", "low", "high"]
        self.report.table("scores", "Area under the curve of one score per straggler and resource", columns, table)
        for fault, drawn in lines.items():
            name = "roc-scores" if fault is None else f"roc-scores-{fault}"
            title = f"One score per straggler and resource: {fault or 'all runs'} (figure 13)"
            self.report.picture(name, title, pictures.lines(title, "FPR", "TPR", drawn, diagonal=True))

    def edges(self):
        """False alarms with edge detection, without it, and with foreign load in its place."""
        rows = []
        for fault in self.faults():
            for method, text in EDGES.items():
                sums = self.counts("overlap", method, fault).sum(axis=0)
                rows.append((f"{fault or 'all'}, {text}", [100 * float(numpy.nan_to_num(fpr(sums)))]))
        title = "False alarms by overlap, with the defaults (figure 14)"
        self.report.picture("edges", title, pictures.bars(title, "FPR %", ["FPR"], rows))

    def placebo(self):
        """Each fault of a worker, as if it had been at the next one: whatever is named of what it would have met there,
        and did not do, is wrong."""
        rows = []
        for method in METHODS:
            named = of = 0
            for case, said in zip(*self.only("overlap", method, None), strict=True):
                for task, topic in met_by_placebo(case):
                    of += 1
                    named += topic in said.get(task, ())
            rows.append([method, of, named, *(100 * one for one in wilson(named, of)[:3])])
        columns = ["method", "met by a fault that was not there", "it is named", "%", "low", "high"]
        self.report.table("placebo", "Faults as if they had been at the next worker", columns, rows)

    def runtime(self):
        """How much longer the same job took under each fault (figure 12): of medians, with a bootstrap over runs."""
        known = [case for case in self.cases if case.timeline and case.timeline["job"].split()[0] != TIMED_JOB]
        rows = []
        for fault in dict.fromkeys(case.fault for case in known if case.fault != "none"):
            runs = [case for case in known if case.fault == fault]
            twinned = [case for case in runs if case.twins]
            runs = twinned or runs
            beside = [one for case in twinned or runs[:1] for one in without_fault(case, known)]
            if beside:
                ours = longer([case.timeline["seconds"] for case in runs], beside)
                rows.append([fault, len(runs), len(beside), *(100 * (one - 1) for one in ours[:3])])
                rows[-1].append(PUBLISHED_LONGER.get(fault))
        columns = ["runs of", "runs", "without a fault", "longer %", "low", "high", "published %"]
        self.report.table("runtime", "How much longer the application took (figure 12)", columns, rows)

    def twins(self):
        """Of which runs the truth by effect is told by twins, and what they change; how many that no fault met are
        faster in twins just as well, since who is slow in one run is seldom so in others."""
        rows = []
        for case in self.cases:
            if case.source != "recorded" or case.fault == "none":
                continue
            truths = case.stragglers.values()
            acquitted = sum(bool(one.get("acquitted")) for one in truths)
            slowed = [one for one in truths if one["effect"]]
            alone = sum(one.get("twin_ms") is None for one in slowed)
            rows.append([case.name, len(case.twins or []), len(truths), acquitted + len(slowed), alone, acquitted])
            unmet = [one for one in truths if one.get("faster") is not None and not any(map(one.get, MET))]
            rows[-1] += [len(slowed), len(unmet), sum(one["faster"] for one in unmet)]
        if not rows:
            return
        columns = ["run", "twins", "stragglers", "with the fault for half of it", "of these in too few twins"]
        columns += ["no faster in twins", "slowed", "met by no fault, in enough twins", "of these faster in twins"]
        self.report.table("twins", "Truth by effect: what twins say", columns, rows)
        untold = [name for name, twins, *_ in rows if twins < TWINS]
        if untold:
            self.report.note(
                f"Truth by effect is without twins for {', '.join(untold)}: a straggler counts there as slowed by what "
                "was on its path for half of what it lost."
            )

    def over_time(self):
        """The first run of each fault, with what `plumb why` names first."""
        shown = set()
        for case in self.cases:
            if not case.timeline or case.fault in shown:
                continue
            shown.add(case.fault)
            named = first_named(case, "bigroots")

            def color_of(task, named=named):
                return pictures.RESOURCE_COLORS.get(*named.get(task, [None]), "black")

            title = f"{case.name}: load, what was done (shaded), stragglers by their cause"
            self.report.picture(f"time-{case.fault}", title, pictures.over_time(title, case.timeline, color_of))

    def confusion(self):
        """What `plumb why` names first, by what did it."""
        table = []
        for method in NAMING:
            rows = {}
            for case in self.cases:
                named = first_named(case, method)
                for task, straggler in case.stragglers.items():
                    touched = "".join(f"touched by {topic}" for topic in straggler["neither"])
                    true = "+".join(straggler["effect"]) or touched or "none of them"
                    row = rows.setdefault(true, [0] * len(COLUMNS))
                    row[COLUMNS.index(*named.get(task, ["nothing"]))] += 1
            names = sorted(rows)
            table += [[method, name, *rows[name]] for name in names]
            title = f"Main causes, --method {method}"
            picture = pictures.matrix(title, names, COLUMNS, [rows[name] for name in names])
            self.report.picture("confusion" if method == "bigroots" else f"confusion-{method}", title, picture)
        columns = ["method", "did it", *COLUMNS]
        self.report.table("confusion", "What `plumb why` names first, by what did it", columns, table)

    def hosts(self):
        """Of stragglers that something slowed: is it named first, and at the right host?"""
        rows = []
        for fault in self.faults():
            cases = [case for case in self.cases if fault is None or case.fault == fault]
            for method in NAMING:
                right, named, of = hosts_right(cases, method)
                if of > 0:
                    shares = [*wilson(named, of)[:3], *wilson(right, named)[:3]]
                    rows.append([fault or "all", method, of, named, right, *(100 * one for one in shares)])
        columns = ["runs of", "method", "slowed", "named first", "at the right host", "named %", "low", "high"]
        columns += ["of these the right host %", "low", "high"]
        self.report.table("named", "What `plumb why` names first of slowed stragglers", columns, rows)

    def cost(self):
        rows = []
        for method in [*METHODS, *(f"plumb why, {name}" for name in NAMING)]:
            if method in METHODS:
                cases, said = self.only("effect", method, None)
            else:
                cases, said = self.cases, [first_named(case, method.split(", ")[1]) for case in self.cases]
            parts = seconds(cases, said)
            whole = sum(parts) or 1
            blamed = wilson(*wrong_blame(cases, said, self.topics))
            rows.append([method, *(100 * part / whole for part in parts)]
                        + [parts[2] + 3 * parts[1], *(100 * x for x in blamed[:3])])  # fmt: skip
        columns = ["method", "seconds rightly %", "wrongly %", "not %", "cost (w = 3), s"]
        columns += ["unaffected stragglers blamed %", "low", "high"]
        self.report.table("cost", "Lost seconds explained, and wrong blame of stragglers", columns, rows)

    def weights(self):
        """What a method costs when a wrong cause is so many times as bad as none, and from where on it is better to
        name none at all."""
        rows = []
        for method in METHODS:
            right, wrong, nothing = seconds(*self.only("effect", method, None))
            from_there = (right + wrong) / wrong if wrong > 0 else None
            rows.append([method, *(nothing + w * wrong for w in WEIGHTS), from_there])
        columns = ["method", *(f"w = {w}" for w in WEIGHTS), "never a cause is better from w ="]
        self.report.table("weights", "Cost in seconds, by the weight of a wrong cause", columns, rows)

    def against(self):
        """The ledger against each other method on the same stragglers, held out: right decisions, run by run."""
        rows = []
        for truth in TRUTHS:
            right = {method: accuracy(self.counts(truth, method)) for method in METHODS}
            for method in METHODS[1:]:
                both = right["ledger"] - right[method]
                known = both[numpy.isfinite(both)]
                better, worse = int((known > 0).sum()), int((known < 0).sum())
                rows.append([truth, method, len(known), better, worse, 100 * float(known.mean()), flipped(known)])
        columns = [
            "truth",
            "the ledger against",
            "runs",
            "better in",
            "worse in",
            "ACC, more, points",
            "p (sign flips)",
        ]
        self.report.table("against", "The ledger against the others, run by run", columns, rows)

    # ---- claims ----

    def claims(self):
        source = f" ({self.report.parameters['source']})"
        fault = "mixed" if any(case.fault == "mixed" for case in self.cases) else None
        rows = {method: self.counts("overlap", method, fault) for method in METHODS}
        good, bad = over_runs(rows["bigroots"], tpr), over_runs(rows["bigroots"], fpr)

        def claim(text, published, bound, ours):
            self.report.claim(Claim(text + source, published, bound, ours))

        def difference(text, published, one, other, which, bound=("<=", 0.0)):
            """The one's rate less the other's, on the same runs."""
            both = numpy.concatenate([rows[one], rows[other]], axis=-1)
            ours = over_runs(both, lambda sums: which(sums[..., :4]) - which(sums[..., 4:]))
            claim(text, published, bound, ours)

        claim("table 6: BigRoots' TPR", "60.56 % (48.9 to 71.1)", (">=", 0.6056), good)
        claim("table 6: BigRoots' FPR", "0.35 % (0.06 to 1.97)", ("<=", 0.0197), bad)
        claim("the same, goal for the TPR", ">= 80 % (goal)", (">=", 0.80), good)
        difference("table 6: BigRoots' FPR less PCC's", "-15.9 points", "bigroots", "pcc", fpr)
        difference("table 6: BigRoots' TPR less PCC's", "-5.6 points", "bigroots", "pcc", tpr)
        difference("the ledger's TPR less BigRoots'", "not said", "ledger", "bigroots", tpr, (">=", 0.0))
        difference("the ledger's FPR less BigRoots'", "not said", "ledger", "bigroots", fpr)
        claim("the ledger's TPR, goal", ">= 80 % (goal)", (">=", 0.80), over_runs(rows["ledger"], tpr))
        claim("the ledger's FPR, goal", "<= 1.97 % (goal)", ("<=", 0.0197), over_runs(rows["ledger"], fpr))
        difference("figure 14: edge detection lowers the FPR, by", "62 % of it", "defaults", "no edges", fpr)
        difference("it costs nothing of the TPR", "not said", "defaults", "no edges", tpr, (">=", 0.0))
        areas_of = {}
        for method in SEARCHED:
            areas_of[method] = areas(search(self.only("overlap", method, fault)[0], method, "overlap", self.topics)[1])
        ours = [one / other - 1 for one, other in zip(areas_of["bigroots"], areas_of["pcc"], strict=True)]
        more = area_interval(*ours, rows["bigroots"].shape[0])
        claim("figure 13: BigRoots' AUC is above PCC's, by", "7.6 %", (">=", 0.0), more)


def study(options):
    cases = cases_of(options, options.runs or 5)
    sources = {case.source for case in cases}
    source = sources.pop() if len(sources) == 1 else "generated and recorded"
    about = RECORDED if source == "recorded" else GENERATED
    report = Report("stragglers", "Causes of stragglers", about, options.build)
    report.parameters = {
        "source": source,
        "runs": len(cases),
        "stragglers": sum(len(case.stragglers) for case in cases),
        "lambda_p": LAMBDA_P,
        "lambda_q": LAMBDA_Q,
        "lambda_ca": LAMBDA_CA,
        "lambda_cq": LAMBDA_CQ,
        "ledger_p": LEDGER_P,
        "ledger_w": LEDGER_W,
    }
    whole = Study(report, cases)
    whole.rates()
    whole.resources()
    whole.parameters()
    whole.curves()
    whole.scores()
    whole.confusion()
    whole.hosts()
    whole.cost()
    whole.weights()
    whole.edges()
    whole.placebo()
    whole.twins()
    whole.runtime()
    whole.over_time()
    whole.against()
    whole.claims()
    report.note(
        "Truth by overlap is the published rule: the task's run and an injection on its host met at all. By effect: it "
        "cost the task at least half of what it took longer than its stage's median. Of a recorded run: it was on the "
        "task's path for so long, and where the run has twins without the fault, the same partition was faster by so "
        f"much in the median of {TWINS}."
    )
    fewest = min(sum(case.fault == fault for case in cases) for fault in {case.fault for case in cases})
    if fewest < 10:
        report.note(f"Intervals of {fewest} runs of a kind are too narrow: a bootstrap knows no others than these.")
    folds = max(fold_of(cases)) + 1
    report.note(
        f"Parameters are chosen on {folds - 1} of {folds} parts of the runs and judged on the other one, in turns. A "
        "curve of a search, and the area under it, is the best of all parameters on all runs: none is held out there."
    )
    return report
