"""The closed loop (3.5 of the thesis): are jobs faster after what plumb advise says, and by what it said?"""

from pathlib import Path
from statistics import fmean

from bench.studies import pictures
from bench.studies.figures import Claim, mean_interval, ratio_interval
from bench.studies.loop_runs import SCENARIOS, SUFFIX, read
from bench.studies.report import Report
from script.hdfs.jars import ClusterError

ABOUT = (
    "A job on a real, traced HDFS under a real Spark, run as it is; then what plumb advise says of that run is done, "
    "unread; then the job runs again. Published figures are of tables 7 and 8."
)
KEPT = Path(__file__).resolve().parents[2] / "tests/data/studies/pairs"
# Of the time before.
WITHIN = 0.25
LR_GOAL = 0.8


def seconds(run):
    """Of the job, without the start of its JVMs, where the job says it."""
    return run["step_s"] or run["application_s"]


def expected_s(pair):
    """What the rules whose advice was done were said to save: each alone, in all."""
    before = pair["before"]
    rows = [row for row in before["what_if"] if row["rule"] in pair["fix"]["rules"]]
    return sum(before["simulated_s"] - row["time_s"] for row in rows)


def saved_s(pair):
    return seconds(pair["before"]) - seconds(pair["after"])


def done_text(fix):
    words = [f"{key.removeprefix('spark.')} {value}" for key, value in sorted(fix["conf"].items())]
    if fix["partitions"]:
        words.append(f"data written anew in {fix['partitions']} parts")
    words += [f"{name} out" for name in fix["datanodes"]]
    return ", ".join(words) or "nothing"


def add_pairs(report, pairs):
    columns = ["job", "pair", "first", "done", "s before", "after", "change %", "to save s", "saved s"]
    columns += ["data anew s", "application s before", "after", "task s before", "after"]
    rows = []
    for pair in pairs:
        before, after = pair["before"], pair["after"]
        change = 100 * (seconds(after) / seconds(before) - 1)
        rows.append(
            [pair["job"], pair["repeat"], pair["first"], done_text(pair["fix"]), seconds(before), seconds(after)]
            + [change, expected_s(pair), saved_s(pair), pair["even_s"]]
            + [before["application_s"], after["application_s"], before["task_s"], after["task_s"]]
        )
    report.table("pairs", "Each pair of runs", columns, rows)


def add_causes(report, jobs):
    topics = sorted({topic for pairs in jobs.values() for pair in pairs for topic in causes_of(pair)})
    columns = ["job", "", "deviation of what tasks read", "stragglers", *topics]
    rows = []
    for job, pairs in jobs.items():
        for when in ("before", "after"):
            runs = [pair[when] for pair in pairs]
            rows.append(
                [job, when, fmean(run["spread"] for run in runs), fmean(run["stragglers"] for run in runs)]
                + [fmean(run["causes"].get(topic, 0) for run in runs) for topic in topics]
            )
    report.table("causes", "Main causes of stragglers, means of all runs", columns, rows)


def causes_of(pair):
    return set(pair["before"]["causes"]) | set(pair["after"]["causes"])


def add_claims(report, job, pairs):
    published = SCENARIOS[job].published
    ratio = ratio_interval(*([seconds(pair[when]) for pair in pairs] for when in ("after", "before")))
    said = f"{published[1] / published[0]:.2g}" if published else "not said"
    bound = LR_GOAL if job == "lr" else 1
    report.claim(Claim(f"{job} takes less after what is advised: times as long", said, ("<=", bound), ratio))
    off = [(expected_s(pair) - saved_s(pair)) / seconds(pair["before"]) for pair in pairs]
    text = f"{job}: what was to be saved less what was, of the time before"
    report.claim(Claim(text, "within 25 %", ("in", -WITHIN, WITHIN), mean_interval(off)))
    gone = [pair["after"]["causes"].get("data", 0) for pair in pairs]
    if any(pair["before"]["causes"].get("data") for pair in pairs):
        report.claim(Claim(f"{job}: no straggler has its data as its cause", "0", ("<=", 0), mean_interval(gone)))


def add_pictures(report, jobs):
    """Tasks of the stage that took most, of the first pair (figures 15 to 18). Pairs of before have no such times."""
    for job, pairs in jobs.items():
        runs = {when: pairs[0][when].get("longest_ms") for when in ("before", "after")}
        if all(runs.values()):
            lines = {when: [(i, ms / 1000) for i, ms in enumerate(times)] for when, times in runs.items()}
            title = f"{job}: tasks of the longest stage"
            report.picture(f"tasks-{job}", title, pictures.lines(title, "tasks, by duration", "s", lines))
    rows = [
        (f"{job} {pair['repeat']}, {when}", [seconds(pair[when])])
        for job, pairs in jobs.items()
        for pair in pairs
        for when in ("before", "after")
    ]
    title = "Jobs before and after what is advised"
    report.picture("pairs", title, pictures.bars(title, "s", ["time of the job"], rows))


def study(options):
    report = Report("loop", "The closed loop", ABOUT, options.build)
    folder = options.recorded or KEPT
    pairs = read(folder)
    if not pairs:
        raise ClusterError(f"{folder} has no recorded pairs (*{SUFFIX}): bench/study record loop makes some")
    jobs = {job: [pair for pair in pairs if pair["job"] == job] for job in SCENARIOS}
    jobs = {job: of_job for job, of_job in jobs.items() if of_job}
    about = pairs[0]["environment"]
    busy = sum((pair["pressure_before"] or 0) > 10 for pair in pairs)
    report.parameters = {"pairs": len(pairs), "recorded": about, "recorded under pressure": busy}
    report.note(
        f"Recorded on {about['date']}, {about['processors']} x {about['processor']}, Hadoop {about['hadoop']}, Spark "
        f"{about['spark']} with {about['workers']} workers on one machine; {busy} of {len(pairs)} pairs began while "
        "others waited for a processor for more than 10 % of the time."
    )
    later = sum(pair["first"] == "before" for pair in pairs)
    report.note(
        f"In {later} of {len(pairs)} pairs the run with what is advised came second, on warm caches. No job was run "
        "twice as it is: what runs differ by without any change is not known, and is in these figures."
    )
    for job, of_job in jobs.items():
        add_claims(report, job, of_job)
    add_pairs(report, pairs)
    add_causes(report, jobs)
    add_pictures(report, jobs)
    return report
