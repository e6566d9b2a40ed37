"""Patterns of stages (figures 21 to 27, tables 11 to 13), and what of the JVM is apart (table 12)."""

import random

from bench.studies import event_log, pictures
from bench.studies.figures import Claim, wilson
from bench.studies.programs import flush, plumbd, write_lines
from bench.studies.real_stages import add_real
from bench.studies.report import Report
from bench.studies.stage_logs import BEGIN_MS, LETTERS, log_lines, stage

SAID = [*LETTERS, "none"]
LEFT_OUT = 0.1
GOAL_LETTER, GOAL_KEPT = 0.95, 0.90
APART_P = 0.01
ABOUT = (
    "Stages whose pattern is known are drawn from the published means and deviations, written as operation logs, read "
    "by `plumb-bridge`, stored by `plumbd`, and asked for as `plumb operations` does. Nothing of the rules is known to "
    "what draws them."
)


def draws(letter, seed):
    return random.Random(f"{letter} {seed}")


def without_some(times, draw):
    """The same stage with a tenth of its pipelines left out."""
    return [times[i] for i in sorted(draw.sample(range(len(times)), round(len(times) * (1 - LEFT_OUT))))]


def send_stages(daemon, app, stages, features=None):
    """stages: [(classes, times)], numbered from 0; features: of log_lines, given the stage first."""
    end = BEGIN_MS + 1_000_000
    daemon.bridge(write_lines(daemon.folder / app, event_log.application(app, "study", BEGIN_MS, end)))
    log = daemon.folder / f"{app}.operations"
    with open(log, "w") as out:
        for number, (classes, times) in enumerate(stages):
            more = (lambda *at, number=number: features(number, *at)) if features else None
            out.writelines(f"{line}\n" for line in log_lines(number, classes, times, features=more))
    daemon.run(
        "spark-bridge/plumb-bridge", "--receiver", daemon.thrift, "--app", app, "--host", "w", "--operations", log
    )
    log.unlink()
    flush(daemon)


def letters_of(daemon, app):
    answer = daemon.ask("operations", app=app, clusters="false", limit=1)
    return {stage["stage"]: stage["pattern"] for stage in answer["stages"]}


def patterns(build, seeds):
    """[(letter, said of the stage, said of nine tenths of it)]."""
    rows = []
    with plumbd(build) as daemon:
        for number, letter in enumerate(LETTERS):
            whole = [stage(letter, draws(letter, seed)) for seed in range(seeds)]
            parts = [
                (classes, without_some(times, draws(f"part {letter}", seed)))
                for seed, (classes, times) in enumerate(whole)
            ]
            said = []
            for kind, stages in enumerate((whole, parts)):
                app = f"app-20260101000000-{2 * number + kind:04d}"
                send_stages(daemon, app, stages)
                said.append(letters_of(daemon, app))
            rows += [(letter, said[0][seed], said[1][seed]) for seed in range(seeds)]
    return rows


# ---- the JVM's state ----

# Of each operation's line: what is apart of the instances on top ("HeapUsed"), what only grows with the stage's time
# ("LoadedClassCount"), and what tells nothing.
QUIET = ["NonHeapUsed", "ThreadNum", "DaemonThreadCount", "BufferMemory", "UserCPURate", "HeapOccupationRate"]
JVM_PIPELINES, SLOW, LATE, SHIFT = 200, 20, 80, 20


def jvm_stages(seeds):
    """Stages of two operations, a tenth of whose instances of the first is slow, with what the JVM was like: rows of
    {feature: value} by (stage, pipeline, operation). Every other stage has its slow ones among its last."""
    stages, states = [], {}
    for seed in range(seeds):
        draw = draws("jvm", seed)
        slow = set(draw.sample(range(JVM_PIPELINES - LATE if seed % 2 else 0, JVM_PIPELINES), SLOW))
        times = []
        for pipeline in range(JVM_PIPELINES):
            times.append([draw.uniform(900, 1100) * (4 if pipeline in slow else 1), draw.uniform(90, 110)])
            for operation in range(2):
                state = {name: draw.gauss(100, 10) for name in QUIET}
                state["HeapUsed"] = draw.gauss(100, 10) + (SHIFT if pipeline in slow and operation == 0 else 0)
                states[seed, pipeline, operation] = state
        stages.append((["HadoopRDD", "MapPartitionsRDD"], times))
    return stages, states


def jvm(build, seeds):
    """{feature: [p of each stage]} of what `plumb operations` says."""
    stages, states = jvm_stages(seeds)

    def features(number, pipeline, operation, when, flag):
        if flag == "start":
            return ""
        state = {**states[number, pipeline, operation], "LoadedClassCount": 5000 + when / 10}
        return "".join(f";{name}={value:.3f}" for name, value in state.items())

    app = "app-20260101000000-0099"
    with plumbd(build) as daemon:
        send_stages(daemon, app, stages, features)
        answer = daemon.ask("operations", app=app, limit=1)
    found = {}
    for number, one in enumerate(answer["stages"]):
        for name, p in one["clusters"]["apart_p"].items():
            found.setdefault(name, []).append((number, p, one["clusters"]["apart"][name]))
    return found


# ---- the report ----


def add_patterns(report, seeds):
    rows = patterns(report.build, seeds)
    counts = [[sum(row[:2] == (letter, said) for row in rows) for said in SAID] for letter in LETTERS]
    report.table(
        "confusion", "Patterns: what is said of generated stages", ["pattern", *SAID],
        [[letter, *row] for letter, row in zip(LETTERS, counts, strict=True)],
    )  # fmt: skip
    table = []
    for letter, row in zip(LETTERS, counts, strict=True):
        right = wilson(row[SAID.index(letter)], sum(row))
        kept = [whole == part for is_letter, whole, part in rows if is_letter == letter]
        same = wilson(sum(kept), len(kept))
        table.append([letter, sum(row), right.value, right.low, right.high, same.value, same.low, same.high])
    columns = ["pattern", "stages", "told right", "low", "high", "same with 9 of 10 tasks", "low", "high"]
    report.table("patterns", "Patterns: told right, and stable", columns, table)
    report.picture("confusion", "Patterns", pictures.matrix("Patterns of generated stages", LETTERS, SAID, counts))
    right = wilson(sum(row[0] == row[1] for row in rows), len(rows))
    kept = wilson(sum(row[1] == row[2] for row in rows), len(rows))
    report.claim(Claim("generated stages get their letter", ">= 95 % (goal)", (">=", GOAL_LETTER), right))
    report.claim(Claim("they keep it when a tenth of the tasks is left out", ">= 90 % (goal)", (">=", GOAL_KEPT), kept))
    for letter, *figures in table:
        ours = wilson(round(figures[0] * figures[1]), figures[0])
        report.claim(Claim(f"stages of pattern {letter} get it", ">= 95 % (goal)", (">=", GOAL_LETTER), ours))


def add_jvm(report, seeds):
    found = jvm(report.build, seeds)
    rows, wrong = [], set()
    for name, stages in sorted(found.items()):
        apart = wilson(sum(p < APART_P for _, p, _ in stages), len(stages))
        distance = sum(distance for *_, distance in stages) / len(stages)
        rows.append([name, len(stages), distance, apart.value, apart.low, apart.high])
        if name in QUIET:
            wrong |= {number for number, p, _ in stages if p < APART_P}
    columns = ["feature", "stages", "mean distance", "called apart", "low", "high"]
    report.table("jvm", "The JVM: what is called apart (p < 0.01 after Holm)", columns, rows)
    # p is corrected over all features of a stage: by chance, one stage of a hundred has any that is called apart.
    text = "stages in which a feature that tells nothing is called apart"
    report.claim(Claim(text, "<= 1 % (p < 0.01)", ("<=", 0.01), wilson(len(wrong), max(map(len, found.values())))))
    heap = [p < APART_P for _, p, _ in found["HeapUsed"]]
    text = "heap that is two deviations higher where it is slow is found"
    report.claim(Claim(text, ">= 90 % (ours)", (">=", 0.9), wilson(sum(heap), len(heap))))
    late = [p < APART_P for number, p, _ in found["LoadedClassCount"] if number % 2]
    report.claim(
        Claim(
            "what merely grows is called apart where the slow ones come late",
            "(3) of 4.3: loaded classes matter",
            ("<=", 0.05),
            wilson(sum(late), len(late)),
        )
    )


def add_stage_pictures(report):
    for letter in LETTERS:
        classes, times = stage(letter, draws(letter, 0))
        names = [f"{name} {i}" for i, name in enumerate(classes)]
        title = f"Pattern {letter}: a generated stage"
        report.picture(f"stage-{letter}", title, pictures.stacked(title, names, times))


def study(options):
    report = Report("operations", "Inefficient operations of stages", ABOUT, options.build)
    seeds = options.runs or 200
    report.parameters = {"stages of each pattern": seeds, "left out": LEFT_OUT}
    add_patterns(report, seeds)
    add_jvm(report, seeds)
    add_stage_pictures(report)
    if options.recorded:
        add_real(report, options.recorded)
    return report
