"""Workloads by what their tasks waited for (5.3.2), and their operations (tables 10 to 13), by both collectors."""

import math
from collections import Counter
from pathlib import Path

from bench.studies import pictures
from bench.studies.figures import Claim, Interval, bootstrap, mean_interval, ratio_interval, wilson
from bench.studies.real_stages import TASKS_LEAST, add_lift, simple
from bench.studies.report import BUSY_SHARE, Report
from bench.studies.stage_logs import LETTERS
from bench.studies.workload_runs import SUFFIX, read
from bench.workloads.results import hdfs_share, of_spark
from bench.workloads.sizes import NAMES
from script.hdfs.jars import ClusterError

ABOUT = (
    "The workloads of HiBench that the thesis ran, written anew with the same operations in the same order, on a real "
    "Spark. Those on a traced HDFS say whom their tasks waited for. Their operations are measured twice, in one JVM: "
    "by the agent, which times what iterators do, and by rules of Byteman, which time `compute()` as the thesis did."
)
KEPT = Path(__file__).resolve().parents[2] / "tests/data/studies/workload-runs"
CREATE = "FileSystem#createFileSystem"
# Where it leads, as 5.3.2 has it.
CREATE_LEADS = ["wordcount", "sort", "terasort", "nweight", "kmeans", "lr"]
EFFECT = 1.05
OF_EACH = 5  # functions
# The thesis' figures 21 to 27: which stage of which workload has which pattern.
SEEN = {
    "A": ("wordcount", 1), "B": ("wordcount", 2), "C": ("terasort", 1), "D": ("terasort", 2), "E": ("terasort", 3),
    "F": ("nweight", 5), "G": ("svm", 18),
}  # fmt: skip
MOST = ["MapPartitions", "Hadoop", "Shuffled"]
APART_P = 0.01
TOP_LEAST = 10  # instances, of which a state of the JVM can be told
# What the thesis reads from table 12: (text, features, does any of them matter).
JVM_CLAIMS = [
    ("deadlocks and pending finalisation never matter", ["DeadLockedNum", "ObjectPendingFinalizationCount"], False),
    ("buffer memory matters", ["BufferMemory"], True),
    (
        "threads, classes and memory outside the heap matter",
        ["ThreadNum", "DaemonThreadCount", "LoadedClassCount", "NonHeapUsed", "NonHeapCommitted"],
        True,
    ),
    ("garbage collection does not matter", ["GCCount", "GCTime"], False),
]


def of_one_size(runs):
    """Those of the size that most of them have."""
    sizes = Counter(size_text(case) for case in runs)
    return [case for case in runs if size_text(case) == sizes.most_common(1)[0][0]]


class Cases:
    """Of recorded runs: on HDFS (sized: in all sizes), and in one JVM by collector."""

    def __init__(self, documents):
        self.all = sorted(documents, key=lambda case: (NAMES.index(case["workload"]), case["name"]))
        self.sized = [case for case in self.all if case["hadoop"]]
        self.hdfs = [case for runs in self.by_workload(self.sized).values() for case in of_one_size(runs)]
        self.rules = [case for case in self.all if case["collector"] == "rules"]
        alone = [case for case in self.all if not case["hadoop"] and case["collector"] == "agent"]
        alone, on_hdfs = self.by_workload(alone), self.by_workload(self.hdfs)
        self.agent = [case for name in NAMES for case in alone.get(name) or on_hdfs.get(name, [])]

    @staticmethod
    def by_workload(cases):
        """{name: [cases]}, in the order of the list."""
        found = {}
        for case in cases:
            found.setdefault(case["workload"], []).append(case)
        return found


# ---- whom tasks waited for ----


def own_interval(row, seconds):
    """What one run says of a share, with its seconds as units."""
    return Interval(row["share"], row.get("share_low", -math.inf), row.get("share_high", math.inf), seconds)


def share_interval(cases, rows):
    """rows: of each case, or None. Of several runs: how they differ; of one, by its own seconds."""
    if len(cases) > 1:
        return mean_interval([row["share"] if row else 0.0 for row in rows])
    return own_interval(rows[0], cases[0]["waited"]["seconds"])


def percents(ours):
    return 100 * ours.value, max(0.0, 100 * ours.low), min(100.0, 100 * ours.high)


def in_hdfs(case):
    """Functions of HDFS, what had most of the critical path first."""
    rows = [row for row in case["waited"]["functions"] if not of_spark(row["function"])]
    return sorted(rows, key=lambda row: -row["share"])


def function_of(case, name, role=None):
    rows = case["waited"]["functions"]
    return next((row for row in rows if row["function"] == name and role in (None, row["role"])), None)


def place_of(wait):
    return wait["resource"] if "role" not in wait else f"{wait['role']} {wait['resource']}"


def size_text(case):
    return " ".join(f"{key}={value}" for key, value in case["sizes"].items() if value)


def add_runs(report, cases):
    rows = []
    for case in cases.all:
        where = "HDFS" if case["hadoop"] else "one JVM"
        about = case["environment"]
        rows.append(
            [case["workload"], size_text(case), where, case["collector"], len(case["stages"]), case["tasks"]]
            + [case["task_s"], case["seconds"], about["date"], about["cpu_pressure"]]
        )
    columns = ["workload", "size", "on", "collector", "stages", "tasks", "task s", "s", "recorded", "pressure before %"]
    report.table("runs", "Runs", columns, rows)


def add_waits(report, cases):
    rows, shares = [], {}
    for name, runs in cases.by_workload(cases.hdfs).items():
        places = {}
        for i, case in enumerate(runs):
            for wait in case["waited"]["waits"]:
                places.setdefault(place_of(wait), [None] * len(runs))[i] = wait
        for place, waits in places.items():
            ours = percents(share_interval(runs, waits))
            if ours[0] >= 0.1:
                rows.append([name, place, *ours])
            shares.setdefault(place, {})[name] = ours[0]
    report.table("waits", "Where tasks waited, of their critical path", ["workload", "where", "%", "low", "high"], rows)
    of_hdfs = [place for place in shares if place != "client client"]
    names = sorted(of_hdfs, key=lambda place: -sum(shares[place].values()))
    bars = [(name, [shares[place].get(name, 0) for place in names]) for name in cases.by_workload(cases.hdfs)]
    title = "Where tasks waited outside their own JVM"
    report.picture("waits", title, pictures.bars(title, "% of the critical path", names, bars))


def add_functions(report, cases):
    rows = []
    for name, runs in cases.by_workload(cases.hdfs).items():
        for first in in_hdfs(runs[-1])[:OF_EACH]:
            found = [function_of(case, first["function"], first["role"]) for case in runs]
            calls = sum(row["calls"] for row in found if row)
            mean_ms = sum(row["total_ns"] for row in found if row) / calls / 1e6
            rows.append([name, first["function"], first["role"], calls, mean_ms])
            rows[-1] += percents(share_interval(runs, found))
    columns = ["workload", "function", "at the", "calls", "mean ms", "share %", "low", "high"]
    report.table("functions", "Functions of HDFS with most of the tasks' critical path", columns, rows)


def lead(case, function):
    """Its share less that of the greatest other function of HDFS, of one run: as far as their intervals allow."""
    mine = function_of(case, function) or {"share": 0.0, "share_low": 0.0, "share_high": 0.0}
    other = next(row for row in in_hdfs(case) if row["function"] != function)
    seconds = case["waited"]["seconds"]
    mine, other = own_interval(mine, seconds), own_interval(other, seconds)
    return Interval(mine.value - other.value, mine.low - other.high, mine.high - other.low, seconds)


def add_verdicts(report, cases):
    rows = []
    for name, runs in cases.by_workload(cases.hdfs).items():
        case = runs[-1]
        first, second = in_hdfs(case)[:2]
        decided = lead(case, first["function"]).low > 0
        outside = max((one for one in case["waited"]["waits"] if place_of(one) != "client client"), default=None,
                      key=lambda one: one["share"])  # fmt: skip
        rows.append(
            [name, 100 * hdfs_share(case["waited"]), first["function"], 100 * first["share"], second["function"]]
            + ["decided" if decided else "undecided", place_of(outside) if outside else "-"]
        )
    columns = ["workload", "in HDFS, % of the critical path", "most", "%", "next", "before the next"]
    report.table("verdicts", "By workload (5.3.2), the last run of each", [*columns, "most outside the JVM"], rows)


def add_sizes(report, cases):
    """Of a workload that ran in several sizes: the sum of each call, and of what it is the sum."""
    rows = []
    for name, runs in cases.by_workload(cases.sized).items():
        by_size = {size_text(case): case for case in runs}
        if len(by_size) < 2:
            continue
        for size, case in sorted(by_size.items(), key=lambda item: item[1]["task_s"]):
            create = function_of(case, CREATE) or {"calls": 0, "total_ns": 0, "share": 0.0}
            rows.append([name, size, case["tasks"], case["task_s"], create["calls"], create["total_ns"] / 1e9])
            rows[-1] += [100 * create["share"], 100 * hdfs_share(case["waited"])]
    columns = ["workload", "size", "tasks", "task s", f"calls of {CREATE}", "their sum, s", "% of the critical path"]
    report.table("sizes", "By the size of a workload (5.3.2)", [*columns, "HDFS %"], rows)


def add_wait_claims(report, cases):
    by_workload = cases.by_workload(cases.hdfs)
    for name in CREATE_LEADS:
        if name in by_workload:
            leads = [lead(case, CREATE) for case in by_workload[name]]
            ours = leads[0] if len(leads) == 1 else mean_interval([one.value for one in leads])
            text = f"{name}: of HDFS, {CREATE} has most of the critical path: its share less that of the next"
            report.claim(Claim(text, "> 0", (">=", 0), ours))
    if "pagerank" in by_workload:
        text = "pagerank: newDFSInputStream takes longer at the client than getBlockLocations at the NameNode: times"
        ours = longer(by_workload["pagerank"], "newDFSInputStream", "ClientProtocol#getBlockLocations")
        report.claim(Claim(text, "83 (1.66 s and 0.02 s)", (">=", EFFECT), ours))


def longer(runs, at_client, at_namenode):
    """How many times as long: of several runs how they differ, of one by its own seconds."""
    pairs = [(function_of(case, at_client), function_of(case, at_namenode, "namenode")) for case in runs]
    pairs = [pair for pair in pairs if all(pair)]
    if len(pairs) != 1:
        return ratio_interval(*([pair[i]["mean_ns"] for pair in pairs] for i in (0, 1)))
    (one, other), n = pairs[0], runs[0]["waited"]["seconds"]
    low = max(0.0, one.get("mean_ns_low", 0)) / other.get("mean_ns_high", math.inf)
    least = other.get("mean_ns_low", 0)
    high = one.get("mean_ns_high", math.inf) / least if least > 0 else math.inf
    return Interval(one["mean_ns"] / other["mean_ns"], low, high, n)


# ---- operations ----


def stages_of(cases):
    return [(case, stage) for case in cases for stage in case["stages"]]


def large(cases):
    return [stage for _, stage in stages_of(cases) if stage["pipelines"] >= TASKS_LEAST]


def time_by_class(case):
    """{class: ms of all its instances}"""
    times = Counter()
    for stage in case["stages"]:
        for one in stage["operations"]:
            times[simple(one)] += one["mean_ms"] * one["instances"]
    return times


def top_by_class(case):
    top = Counter()
    for stage in case["stages"]:
        for one in stage["operations"]:
            top[simple(one)] += one["top_instances"]
    return top


def add_patterns(report, cases):
    rows = []
    for case in [*cases.agent, *cases.rules]:
        stages = large([case])
        counts = Counter(stage["pattern"] for stage in stages)
        covered = [stage["coverage"] for stage in stages if stage.get("coverage") is not None]
        coverage = 100 * sum(covered) / len(covered) if covered else None
        rows.append([case["workload"], case["collector"], len(stages), *(counts[one] for one in [*LETTERS, "none"])])
        rows[-1].append(coverage)
    columns = ["workload", "collector", f"stages of {TASKS_LEAST} tasks and more", *LETTERS, "none", "coverage %"]
    report.table("patterns", "Patterns of stages, and how much of the run time operations have", columns, rows)


def add_seen(report, cases):
    rows = []
    for collector, of in (("agent", cases.agent), ("rules", cases.rules)):
        for letter, (workload, number) in SEEN.items():
            for case in of:
                stages = case["stages"]
                if case["workload"] == workload and len(stages) >= number:
                    stage = stages[number - 1]
                    most = max(stage["operations"], key=lambda one: one["share"])
                    said = f"{simple(most)} {most.get('rdd', '')}".strip()
                    rows.append([f"{workload} {number}", letter, collector, stage["pattern"], said, most["share"]])
    columns = ["stage", "published", "collector", "ours", "most time in", "its share"]
    report.table("seen", "Stages in which the thesis saw each pattern (figures 21 to 27)", columns, rows)


def add_top(report, cases):
    rows = []
    for case in cases.agent:
        top = [(name, count) for name, count in top_by_class(case).most_common() if count]
        saves = Counter()
        for stage in case["stages"]:
            for one in stage["operations"]:
                saves[simple(one)] += one["saves_ms"] / 1000
        best = [f"{name} {seconds:.2g}" for name, seconds in saves.most_common(3) if seconds > 0]
        rows.append([case["workload"], ", ".join(f"{name} {count}" for name, count in top), ", ".join(best)])
    columns = ["workload", "instances in the top tenth of a stage", "would save, s"]
    report.table(
        "top", "Inefficient operations by workload (table 13), and what their medians would save", columns, rows
    )


def add_collectors(report, cases):
    """The same workload by the agent and by rules: shares of the time of all operations, and of the top tenth."""
    rows, bars, classes = [], [], Counter()
    by_rules = {case["workload"]: case for case in cases.rules}
    pairs = [(case, by_rules[case["workload"]]) for case in cases.agent if case["workload"] in by_rules]
    for pair in pairs:
        times, tops = [time_by_class(case) for case in pair], [top_by_class(case) for case in pair]
        for name, _ in (times[0] + times[1]).most_common():
            shares = [100 * of[name] / (sum(of.values()) or 1) for of in times]
            on_top = [100 * of[name] / (sum(of.values()) or 1) for of in tops]
            rows.append([pair[0]["workload"], name, *shares, *on_top])
            classes[name] += sum(shares)
    columns = ["workload", "class", "time by the agent %", "by rules %", "of the top by the agent %", "by rules %"]
    report.table("collectors", "Both collectors: what operations' time is in, and the top tenth", columns, rows)
    names = [name for name, _ in classes.most_common(8)]
    for pair in pairs:
        for case, collector in zip(pair, ("agent", "rules"), strict=True):
            times = time_by_class(case)
            values = [100 * times[name] / (sum(times.values()) or 1) for name in names]
            bars.append((f"{case['workload']}, {collector}", values))
    title = "Operations' time by class, by both collectors"
    report.picture("collectors", title, pictures.bars(title, "% of operations' time", names, bars))


def hadoop_share(cases):
    """Of the first stage of WordCount: HadoopRDD's part of all operations' time."""
    for case in cases:
        if case["workload"] == "wordcount" and case["stages"]:
            times = time_by_class({"stages": case["stages"][:1]})
            return times["Hadoop"] / sum(times.values()) if times else math.nan
    return math.nan


def add_operation_claims(report, cases):
    stages = large(cases.agent)

    def lead_of_most(drawn):
        """Of the three classes the least count on top, less the greatest of all others, by all on top."""
        top = Counter()
        for stage in drawn:
            for one in stage["operations"]:
                top[simple(one)] += one["top_instances"]
        others = max((count for name, count in top.items() if name not in MOST), default=0)
        return (min(top[name] for name in MOST) - others) / (sum(top.values()) or 1)

    text = f"{', '.join(MOST)} are inefficient most often: the least of them less the greatest other, of all on top"
    report.claim(Claim(text, "> 0 (716 and 614 of 13,722)", (">=", 0), bootstrap(stages, lead_of_most)))
    for collector, of in (("the agent", cases.agent), ("rules", cases.rules)):
        share = hadoop_share(of)
        if math.isnan(share):
            continue
        text = f"wordcount's first stage is reading: HadoopRDD's share of its operations' time, by {collector}"
        report.claim(Claim(text, "98.7 % (table 11, A)", (">=", 0.95), Interval(share, share, share, 1)))


def add_fit(report, stages):
    """How many clusters fit best, of the stages in which it is told."""
    told = [stage["silhouettes"] for _, stage in stages if stage["silhouettes"]]
    best = Counter(max(one, key=one.get) for one in told)
    means = {k: [one[k] for one in told if k in one] for k in sorted({k for one in told for k in one})}
    rows = [[k, len(values), sum(values) / len(values), best[k]] for k, values in means.items()]
    columns = ["clusters", "stages", "mean silhouette", "best in"]
    report.table("fit", "How many clusters of the JVM's state fit (the thesis took 3)", columns, rows)


def add_jvm(report, cases):
    stages = [
        (case["workload"], stage)
        for case, stage in stages_of(cases.agent)
        if stage["apart_p"] and sum(one["top_instances"] for one in stage["operations"]) >= TOP_LEAST
    ]
    if not stages:
        return report.note(f"No stage has {TOP_LEAST} instances in its top tenth: of the JVM's state nothing is said.")
    features = sorted({name for _, stage in stages for name in stage["apart_p"]})
    rows = []
    for name in features:
        of = [(workload, stage) for workload, stage in stages if name in stage["apart_p"]]
        apart = [workload for workload, stage in of if stage["apart_p"][name] < APART_P]
        distance = sum(stage["apart"][name] for _, stage in of) / len(of)
        rows.append([name, len(of), len({workload for workload, _ in of}), len(apart), len(set(apart)), distance])
    columns = ["feature", "stages", "workloads", "stages in which it is apart", "workloads", "mean distance"]
    report.table("jvm", "What of the JVM is apart where operations are slow (as table 12)", columns, rows)
    add_fit(report, stages)
    for text, names, matters in JVM_CLAIMS:
        told = [any(stage["apart_p"].get(name, 1) < APART_P for name in names) for _, stage in stages]
        bound = (">=", 0.5) if matters else ("<=", 0.05)
        said = "matters" if matters else "does not matter"
        report.claim(Claim(f"{text}: stages in which it is apart", said, bound, wilson(sum(told), len(told))))


def add_stage_pictures(report, cases):
    """The stage with most time in operations of each workload (as figures 21 to 27)."""
    for name, runs in cases.by_workload(cases.agent).items():
        if runs[-1]["pipelines"]:
            one = runs[-1]["pipelines"][0]
            names = [f"{simple(operation)} {operation.get('rdd', '')}".strip() for operation in one["operations"]]
            title = f"{name}, stage {one['stage']}"
            report.picture(f"stage-{name}", title, pictures.stacked(title, names, one["ms"]))


def add_notes(report, cases):
    busy = sum((case["environment"]["cpu_pressure"] or 0) > BUSY_SHARE for case in cases.all)
    report.note(
        f"{busy} of {len(cases.all)} runs began while something waited for a processor for more than {BUSY_SHARE:.0f} "
        "% of the time. Where a workload ran once, intervals are of its own seconds: how runs differ is not in them."
    )
    report.note(
        "Not measured: what part of `DFSOutputStream#close` is the disk's and the network's (5.3.2 has 14 %), and "
        "`sendBlock` by local and remote readers."
    )


def study(options):
    report = Report("workloads", "Workloads: HDFS and operations", ABOUT, options.build)
    folder = options.recorded or KEPT
    documents = read(folder)
    if not documents:
        raise ClusterError(f"{folder} has no recorded workloads (*{SUFFIX}): bench/study record workloads makes some")
    cases = Cases(documents)
    report.parameters = {"runs": len(cases.all), "recorded": cases.all[0]["environment"]}
    add_runs(report, cases)
    if cases.hdfs:
        add_verdicts(report, cases)
        add_waits(report, cases)
        add_functions(report, cases)
        add_sizes(report, cases)
        add_wait_claims(report, cases)
    add_lift(report, stages_of(cases.agent))
    add_top(report, cases)
    add_patterns(report, cases)
    add_seen(report, cases)
    add_collectors(report, cases)
    add_jvm(report, cases)
    add_operation_claims(report, cases)
    add_stage_pictures(report, cases)
    add_notes(report, cases)
    return report
