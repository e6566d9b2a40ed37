"""Causes of stragglers (tables 3 and 6, figures 13 and 14): all methods on the same stragglers, parameters chosen on
other runs than those they are judged on, intervals over runs."""

import math

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
from bench.studies.figures import Claim, wilson
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

RESOURCES = ["cpu", "disk", "network"]
EVERYTHING = [*RESOURCES, "hdfs", "jvm", "data"]  # of recorded runs, whose faults are of all these
TRUTHS = ["overlap", "effect"]
LOW_FPR = 0.05
COLUMNS = ["cpu", "disk", "network", "jvm", "data", "spill", "locality", "hdfs", "nothing"]
GENERATED = (
    "Runs are generated: five workers, the schedule of table 5 with its own and with one kind of load each, and none. "
    "Their event logs and samples go through `plumb-bridge` to `plumbd`, which is asked as `plumb stragglers` and "
    "`plumb why` do. **A simulation says whether methods do what they are meant to; its rates are not a cluster's.**"
)
RECORDED = "Runs that `bench/faults` recorded, analysed again, as `plumb stragglers` and `plumb why` do."


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
        faults = [*dict.fromkeys(case.fault for case in self.cases), None]
        rows = []
        for truth in TRUTHS:
            for fault in faults:
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

    def scores(self):
        """One score for each straggler and resource, so that the curve is one."""
        lines, table = {}, []
        for method in SCORES:
            for truth in TRUTHS:
                counts = scored(self.cases, method, truth, self.topics)
                whole, low_fpr = score_intervals(counts, LOW_FPR)
                table.append([method, truth, *map(int, counts.sum(axis=(1, 2))), *whole[:3], *low_fpr[:3]])
                lines[f"{method}, {truth}"] = list(zip(*score_curve(counts.sum(axis=1)).tolist(), strict=True))
        columns = ["method", "truth", "true", "not", "AUC", "low", "high", f"up to FPR {LOW_FPR}", "low", "high"]
        self.report.table("scores", "Area under the curve of one score per straggler and resource", columns, table)
        title = "One score per straggler and resource"
        self.report.picture("roc-scores", title, pictures.lines(title, "FPR", "TPR", lines, diagonal=True))

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
        for fault in [*dict.fromkeys(case.fault for case in self.cases), None]:
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
    whole.against()
    whole.claims()
    report.note(
        "Truth by overlap is the published rule: the task's run and an injection on its host met at all. By effect: it "
        "cost the task at least half of what it took longer than its stage's median."
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
