"""What the methods say of the stragglers of one run, beside what is true of them: a case. From runs that are generated,
or that bench/faults recorded; a case is a file, so that it is asked for once."""

import gzip
import json
from collections import namedtuple

from bench.studies.generated_runs import APP, BEGIN_MS, FAULTS, GeneratedRun
from bench.studies.programs import flush, plumbd
from script.hdfs.jars import ClusterError
from script.spark.truth import Run, lost_ms, stragglers_of
from script.spark.twins import paths_of
from script.spark.verdicts import loaded

# Of the published search (table 4) the part in which the best points lie, coarser: each point is a question.
LAMBDA_P, LAMBDA_Q = [1.0, 1.3, 1.6, 2.2, 3.0], [0.5, 0.7, 0.8, 0.9, 0.95]
LAMBDA_CA, LAMBDA_CQ = [0.1, 0.2, 0.3, 0.4, 0.6], [0.5, 0.7, 0.9, 0.95]
# Of the ledger: foreign load by the peers', share of the excess.
LEDGER_P, LEDGER_W = [1.3, 1.6, 2.2, 3.0], [0.15, 0.25, 0.4, 0.5, 0.6]
NAMING = ["bigroots", "ledger"]  # methods of `plumb why`, which name one cause first
# What a fault of bench/faults is to be named as.
TOPIC_OF = {
    "slow-disk": "hdfs", "slow-network": "hdfs", "starved-cpu": "hdfs", "hung": "hdfs", "namenode-load": "hdfs",
    "skew": "data", "gc-pressure": "jvm", "busy-cpu": "cpu", "busy-disk": "disk", "busy-network": "network",
}  # fmt: skip
SUFFIX = ".case.json.gz"

# stragglers: {task: {"excess_ms", "overlap": [topic], "effect": [topic], "hosts": [that did it], "neither": [topics of
# which it counts neither way]}}, and of a run with twins "acquitted": [topics that met it and did not slow it],
# "twin_ms": how long its partition takes without the fault, "faster": by half of what it lost (None: not known); said:
# {method: {parameters: {task: [topic]}}}; main: {method: {task: [topic, host]}}, what `plumb why` names first; scores:
# {method: {task: {topic: how much speaks for it}}}; source: "generated" or "recorded"; timeline: what timeline_of says;
# twins: seconds that each twin of the run took (script/spark/twins.py).
Case = namedtuple("Case", "name fault source stragglers said main scores timeline twins", defaults=[None, None])
MOST_SCORE = 1e6  # by a median of 0


def questions():
    """(method, parameters as text, parameters of the question)."""
    for q in LAMBDA_Q:
        for p in LAMBDA_P:
            yield "bigroots", f"{p} {q}", {"lambda_p": p, "lambda_q": q}
    yield "no edges", "1.6 0.9", {"lambda_p": 1.6, "lambda_q": 0.9, "edge": "false"}
    for cq in LAMBDA_CQ:
        for ca in LAMBDA_CA:
            yield "pcc", f"{ca} {cq}", {"lambda_ca": ca, "lambda_cq": cq}
    for w in LEDGER_W:
        for p in LEDGER_P:
            yield "ledger", f"{p} {w}", {"lambda_p": p, "lambda_w": w}
    yield "mantri", "", {}
    yield "xue", "", {}


def bigroots_score(cause, _):
    """By how many times it is above its peers', on other hosts or on the same one."""
    usual = min((peers["median"] for peers in (cause["other_hosts"], cause["same_host"]) if peers["tasks"]), default=0)
    return min(cause["value"] / usual, MOST_SCORE) if usual > 0 else MOST_SCORE


# (parameters with which everything is a cause that no other rule drops; what speaks for a cause of a straggler).
SCORES = {
    "bigroots": ({"lambda_p": 0}, bigroots_score),
    "pcc": ({"lambda_ca": 0}, lambda cause, _: abs(cause["correlation"])),
    "ledger": ({"lambda_w": 0, "evidence": "all"}, lambda cause, one: 1e6 * cause["measured"] / one["excess_ns"]),
}


def scores_of(daemon, app):
    """{method: {task: {topic: the greatest score}}}, of what speaks for anything."""
    scores = {}
    for method, (parameters, score) in SCORES.items():
        answer = daemon.ask("stragglers", app=app, limit=0, method=method, **{"evidence": "causes", **parameters})
        for one in answer["stragglers"]:
            its = scores.setdefault(method, {}).setdefault(str(one["task"]), {})
            for cause in [*one["causes"], *(near for near in one["near"] if method == "ledger")]:
                if "topic" in cause:
                    its[cause["topic"]] = max(its.get(cause["topic"], 0), round(score(cause, one), 4))
    return scores


def ask(daemon, app):
    """(said, main, scores) of a run that this plumbd knows."""
    said = {}
    for method, text, parameters in questions():
        kind = "bigroots" if method == "no edges" else method
        answer = daemon.ask("stragglers", app=app, limit=0, evidence="causes", method=kind, **parameters)
        said.setdefault(method, {})[text] = {
            str(one["task"]): sorted({cause["topic"] for cause in one["causes"] if "topic" in cause})
            for one in answer["stragglers"]
        }
    main = {method: named_first(daemon.ask("why", app=app, limit=0, method=method)) for method in NAMING}
    return said, main, scores_of(daemon, app)


def named_first(answer):
    """{task: [topic, host]}; the host is the process' of HDFS that is named, or the task's."""
    found = {}
    for one in answer["stragglers"]:
        cause = one.get("main_cause")
        if cause:
            host = cause.get("suspect", {}).get("host") if cause["topic"] == "hdfs" else one.get("host")
            found[str(one["task"])] = [cause["topic"], host]
    return found


def loads_of(daemon, host, begin_ms, end_ms):
    """What the host had of each resource: {resource: [by step]}, shares of it, of the network MB/s."""
    said = daemon.ask("samples", host=host, since=begin_ms * 1_000_000, until=end_ms * 1_000_000)
    since_s = said["since_time_ns"] / 1e9 - begin_ms / 1e3
    network = [(a + b) / 1e6 for a, b in zip(said["rx_bytes_per_s"], said["tx_bytes_per_s"], strict=True)]
    return {
        "at_s": [round(since_s + number * said["step_ns"] / 1e9, 1) for number in said["at"]],
        "cpu": [round(value, 2) for value in said["user"]],
        "disk": [round(value, 2) for value in said["disk"]],
        "network": [round(value, 2) for value in network],
    }


def timeline_of(daemon, tasks, stragglers, injections, job):
    """What was when (figures 7 to 10 and 12), in seconds since the first task began. stragglers: {task: how many times
    its stage's median}; injections: (host, topic, begin, end), in ms as the tasks' times. Hosts are those of tasks."""
    begin = min(task.begin_ms for task in tasks)
    end = max(task.end_ms for task in tasks)

    def at(ms):
        return round((ms - begin) / 1000, 2)

    return {
        "job": job,
        "seconds": at(end),
        "stragglers": [
            [str(task.id), task.host, at(task.begin_ms), at(task.end_ms), round(stragglers[task.id], 2)]
            for task in tasks
            if task.id in stragglers
        ],
        "injections": [[host, topic, at(first), at(last)] for host, topic, first, last in injections],
        "loads": {host: loads_of(daemon, host, begin, end) for host in sorted({task.host for task in tasks})},
    }


def check(name, stragglers, said):
    """plumb's stragglers must be those that the truth speaks of, or nothing can be compared."""
    ours = set(said["mantri"][""])
    if ours != set(stragglers):
        raise ClusterError(f"{name}: plumb finds other stragglers than there are: {sorted(ours ^ set(stragglers))[:9]}")


def generated(build, fault, seed):
    run = GeneratedRun(fault, seed)
    truth = {
        str(task): {
            "excess_ms": one.excess_ms,
            "overlap": sorted(one.overlap),
            "effect": sorted(one.effect),
            "hosts": [f"worker{run.tasks[task].host}"],
            "neither": [],
        }
        for task, one in run.truth().items()
    }
    with plumbd(build) as daemon:
        daemon.bridge(run.write_log(daemon.folder))
        for host, path in run.write_samples(daemon.folder).items():
            daemon.bridge("--host", host, "--zone", "UTC", path)
        flush(daemon)
        answers = ask(daemon, APP)
        timeline = generated_timeline(daemon, run)
    check(run.name, truth, answers[0])
    return Case(run.name, fault, "generated", truth, *answers, timeline)


def generated_timeline(daemon, run):
    """Its hosts and times as the files have them."""
    tasks = [
        task._replace(host=f"worker{task.host}", begin_ms=BEGIN_MS + task.begin_ms, end_ms=BEGIN_MS + task.end_ms)
        for task in run.tasks
    ]
    took = {task.id: task.end_ms - task.begin_ms for task in tasks}
    ratios = {task: took[task] / (took[task] - one.excess_ms) for task, one in run.truth().items()}
    injections = [
        (f"worker{one.host}", one.resource, BEGIN_MS + one.begin_ms, BEGIN_MS + one.end_ms) for one in run.injections
    ]
    return timeline_of(daemon, tasks, ratios, injections, "generated")


def recorded(build, folder):
    """A run of bench/faults. Truth by overlap is that a task and a fault of its path met at all. What a fault merely
    touched (truth.py) counts neither way."""
    run = Run(folder)
    ratios = {task.id: ratio for task, ratio in stragglers_of(run.tasks)}
    truth = {}
    for straggler in run.stragglers():
        task = straggler.task
        met = {TOPIC_OF[one["kind"]] for one in run.injections if run.affected_by(task, one)}
        touched = {TOPIC_OF[one["kind"]] for one in run.injections if run.touched_by(task, one)}
        truth[str(task.id)] = {
            "excess_ms": lost_ms(task, ratios[task.id]),
            "overlap": sorted(met),
            "effect": sorted({TOPIC_OF[one["kind"]] for one in straggler.injections}),
            "hosts": sorted({one["host"] for one in straggler.injections}),
            "neither": sorted(touched - met),
        }
        if run.twins.documents:
            truth[str(task.id)]["acquitted"] = sorted({TOPIC_OF[one["kind"]] for one in straggler.acquitted})
            truth[str(task.id)]["twin_ms"] = straggler.twin_ms
            truth[str(task.id)]["faster"] = straggler.faster
    with loaded(run, build, True) as daemon:
        flush(daemon)
        answers = ask(daemon, run.about["application"])
        timeline = recorded_timeline(daemon, run, ratios)
    took = [one["seconds"] for one in run.twins.documents]
    return Case(folder.name, run.fault, "recorded", truth, *answers, timeline, took or None)


def up_to_date(folder):
    """Is there a case of the recorded run that knows all of its twins?"""
    path = folder.with_name(f"{folder.name}{SUFFIX}")
    return path.exists() and len(read(path).twins or []) == len(paths_of(folder))


def recorded_timeline(daemon, run, ratios):
    injections = [(one["host"], TOPIC_OF[one["kind"]], one["begin_ms"], one["end_ms"]) for one in run.injections]
    job = " ".join([run.about["job"], *map(str, run.about["arguments"])])
    return timeline_of(daemon, [task for task in run.tasks if task.good], ratios, injections, job)


# ---- files ----


def save(case, folder):
    """The same case is the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(case._asdict(), separators=(",", ":"), sort_keys=True) + "\n"
    partial = folder / f".{case.name}"
    partial.write_bytes(gzip.compress(text.encode(), mtime=0))
    partial.rename(folder / f"{case.name}{SUFFIX}")


def read(path):
    return Case(**json.loads(gzip.decompress(path.read_bytes())))


def generate(build, folder, runs):
    """Cases of so many generated runs of each kind, kept in the folder: goes on where it stopped."""
    for seed in range(runs):
        for fault in FAULTS:
            if not (folder / f"{fault}-{seed}{SUFFIX}").exists():
                save(generated(build, fault, seed), folder)
    return [read(folder / f"{fault}-{seed}{SUFFIX}") for seed in range(runs) for fault in FAULTS]


def cases_of(options, runs):
    """Of --from: its cases, and its recorded runs, whose cases are made and kept beside them. Else generated ones."""
    if options.recorded is None:
        return generate(options.build, options.into / "cases", runs)
    for folder in sorted(options.recorded.iterdir()):
        if (folder / "run.json").exists() and not up_to_date(folder):
            save(recorded(options.build, folder), options.recorded)
    cases = [read(path) for path in sorted(options.recorded.glob(f"*{SUFFIX}"))]
    if not cases:
        raise ClusterError(f"{options.recorded} has no recorded runs: bench/faults run makes some")
    return cases
