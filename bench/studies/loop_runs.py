"""Records the closed loop (3.5 of the thesis): a job as it is; what plumb advise says of it, applied unread; the job
again. What runs second finds caches warm, and another machine. So of every second pair the run after the advice comes
first: it does what was said of the job's first pair. A case for each pair of runs, which is there whole or not at all,
so that recording goes on where it stopped:

    DIR/JOB-REPEAT.case.json.gz      both runs, what was said of the first, and what was done
    DIR/JOB-REPEAT-before, -after    everything that is known of the runs (script/spark/runs.py), and in how.json what
                                     was done before it, and how busy the machine was

What is said can be: settings of Spark (--conf), a number of partitions (the data is written anew in so many, before the
run), or a DataNode that is to blame (the NameNode is told to take it out, as an administrator would). Nothing else is
done.
"""

import gzip
import json
import tempfile
import time
from collections import Counter, namedtuple
from contextlib import contextmanager
from pathlib import Path

from bench.lib.advise import applied
from bench.studies.load_runs import write_whole
from bench.studies.report import environment, pressure
from bench.workloads.program import jar
from bench.workloads.sizes import SIZES
from script.hdfs.cluster import wait_for
from script.hdfs.jars import ClusterError
from script.spark.runs import HADOOP, JOB_OF, WORKERS, Bed
from script.spark.standalone import DEFAULT_SPARK
from script.spark.truth import Run
from script.spark.verdicts import loaded

SUFFIX = ".case.json.gz"
REPEATS = 5
SHARE = 0.4
PARTITIONS = 9
MOVED_SECONDS = 120
# Files are read whole, as those are that cannot be cut (compressed text).
CONF = {
    "spark.hadoop.mapreduce.input.fileinputformat.split.minsize": str(1 << 30),
    "spark.default.parallelism": str(PARTITIONS),
    "spark.executor.memory": "1g",
    # A DataNode's disk is small, and a block that is written counts there with all its size.
    "spark.hadoop.dfs.blocksize": str(16 << 20),
    "spark.hadoop.dfs.replication": "1",
}

# workload, fault: one of bench/faults' ("none"); sizes: of the workload; published: seconds before and after.
Scenario = namedtuple("Scenario", "workload fault sizes published")
SCENARIOS = {
    "slow-disk": Scenario(None, "slow-disk", {}, None),
    "lr": Scenario("lr", "none", {"examples": 800_000, "features": 40, "skew": 60}, (601.31, 376.75)),
    "nweight": Scenario("nweight", "none", {"edges": 60_000, "skew": 60}, (153.38, 139.78)),
}


# ---- what is done ----


def fix_of(said, workload):
    """What advice says is to be done: settings, partitions (of a workload, whose data can be written anew), DataNodes
    that are to go; and the rules that said so."""
    findings = said["findings"]
    partitions = [finding["partitions"] for finding in findings if finding.get("partitions")] if workload else []
    datanodes = {one["host"] for one in findings if one["node"] and one.get("role") == "datanode"}
    rules = {finding["rule"] for finding in applied(said)}
    rules |= ({"skew"} if partitions else set()) | ({"node"} if datanodes else set())
    return {
        "conf": {change["key"]: change["value"] for change in said["conf"]},
        "partitions": partitions[0] if partitions else 0,
        "datanodes": sorted(datanodes),
        "rules": sorted(rules),
    }


def admin(bed, *arguments):
    command = bed.hdfs.java("admin", "org.apache.hadoop.hdfs.tools.DFSAdmin", arguments, agent=None)
    if command.wait(MOVED_SECONDS) != 0:
        raise ClusterError(f"dfsadmin {' '.join(arguments)}: {bed.hdfs.log_end('admin')}")


def states(bed):
    """{"In Service": number of DataNodes, ...}"""
    beans = bed.hdfs.jmx("namenode", "Hadoop:service=NameNode,name=NameNodeInfo")
    nodes = json.loads(beans[0]["LiveNodes"]).values() if beans else []
    return Counter(node["adminState"] for node in nodes)


@contextmanager
def taken_out(bed, datanodes):
    """The NameNode has copied what they have to others, and sends no reader there, while the block runs."""
    if not datanodes:
        yield
        return
    places = [bed.hosts.address(name) for name in datanodes]
    excluded(bed).write_text("".join(f"{place}\n" for place in places))
    admin(bed, "-refreshNodes")
    wait_for(lambda: states(bed)["Decommissioned"] == len(places), MOVED_SECONDS, f"{datanodes} taken out of HDFS")
    try:
        yield
    finally:
        excluded(bed).write_text("")
        admin(bed, "-refreshNodes")
        wait_for(lambda: states(bed)["In Service"] == bed.hdfs.datanodes, MOVED_SECONDS, "all DataNodes in service")


def excluded(bed):
    return bed.work / "excluded"


# ---- a run, and what is said of it ----


def job_of(name, fix):
    scenario = SCENARIOS[name]
    if scenario.workload is None:
        return JOB_OF[scenario.fault]
    sizes = {"partitions": PARTITIONS, **SIZES[scenario.workload]["here"], **scenario.sizes}
    sizes["even"] = fix["partitions"] if fix else 0
    words = [f"{key}={value}" for key, value in sizes.items()]
    return str(jar(DEFAULT_SPARK)), [scenario.workload, f"/{name}", "run", *words]


def prepare(bed, name, step, fix=None):
    """Makes the data of a workload, or writes it anew; the seconds that it took, with the start of its JVMs."""
    program, (workload, folder, _, *sizes) = job_of(name, fix)
    begin = time.monotonic()
    bed.spark.run(program, [workload, bed.hdfs.url(folder), step, *sizes], f"{step} {name}")
    return time.monotonic() - begin


def longest_stage(tasks):
    """The tasks of the stage that took most task time."""
    stages = {}
    for task in tasks:
        if task.good:
            stages.setdefault(task.stage, []).append(task)
    return max(stages.values(), key=lambda stage: sum(task.end_ms - task.begin_ms for task in stage))


def spread(tasks):
    """Of the bytes that tasks read: their deviation by their mean, in the stage that took most task time."""
    bytes_read = [bytes_of(task.metrics) for task in longest_stage(tasks)]
    mean = sum(bytes_read) / len(bytes_read)
    variance = sum((value - mean) ** 2 for value in bytes_read) / len(bytes_read)
    return variance**0.5 / mean if mean > 0 else 0.0


def bytes_of(metrics):
    read = metrics.get("Shuffle Read Metrics", {})
    return (
        metrics.get("Input Metrics", {}).get("Bytes Read", 0)
        + read.get("Remote Bytes Read", 0)
        + read.get("Local Bytes Read", 0)
    )


FINDING = ["rule", "what", "node", "host", "role", "partitions", "advice", "saves_ns", "share", "changes"]


def asked(folder, build):
    """What plumb says of a run, and how long it took."""
    run = Run(folder)
    app = run.about["application"]
    with loaded(run, build, True) as daemon:
        advice = daemon.ask("advise", app=app)
        simulation = daemon.ask("advise", app=app, simulate="true")["simulation"]
        why = daemon.ask("why", app=app, limit=0)
    causes = Counter(one["main_cause"]["topic"] for one in why["stragglers"] if one.get("main_cause"))
    seconds = [said["seconds"] for said in run.about["said"] if said.get("step") == "run"]
    return {
        "application_s": simulation["measured_ns"] / 1e9,
        "step_s": seconds[0] if seconds else None,
        "driver_s": simulation["driver_ns"] / 1e9,
        "task_s": advice["task_ns"] / 1e9,
        "tasks": advice["tasks"],
        "spread": spread(run.tasks),
        "longest_ms": sorted(task.end_ms - task.begin_ms for task in longest_stage(run.tasks)),
        "stragglers": why["stragglers_total"],
        "causes": dict(causes),
        "findings": [{key: one[key] for key in FINDING if key in one} for one in advice["findings"]],
        "conf": advice["conf"],
        "simulated_s": next(row["time_ns"] for row in simulation["rows"] if row["executors"] == simulation["executors"])
        / 1e9,
        "what_if": [
            {"rule": row["rule"], "stages": row["stages"], "time_s": row["time_ns"] / 1e9}
            for row in simulation["what_if"]
        ],
    }


def run_once(bed, folder, name, fix):
    """The run as it is (fix None), or with what is done of the advice, unless the folder has it. What is beside it:
    {"fix", "pressure_before", "pressure_after", "even_s": what it took to write the data anew}"""
    how, scenario = folder / "how.json", SCENARIOS[name]
    if how.exists() and (about := json.loads(how.read_text()))["fix"] == fix:
        return about
    even = scenario.workload and fix and fix["partitions"]
    about = {"fix": fix, "pressure_before": pressure(), "even_s": prepare(bed, name, "even", fix) if even else None}
    bed.job = job_of(name, fix)
    with taken_out(bed, fix["datanodes"] if fix else []):
        bed.run(scenario.fault, folder, fix["conf"] if fix else None)
    about["pressure_after"] = pressure()
    how.write_text(json.dumps(about) + "\n")
    return about


def record_pair(bed, build, into, name, repeat):
    before, after = (into / f"{name}-{repeat}-{when}" for when in ("before", "after"))
    if repeat % 2 == 0:
        fix = read_pair(into / f"{name}-1{SUFFIX}")["fix"]
        abouts = [run_once(bed, after, name, fix), run_once(bed, before, name, None)]
        as_it_is = asked(before, build)
    else:
        abouts = [run_once(bed, before, name, None)]
        as_it_is = asked(before, build)
        fix = fix_of(as_it_is, SCENARIOS[name].workload)
        abouts.append(run_once(bed, after, name, fix))
    return {
        "job": name,
        "repeat": repeat,
        "fix": fix,
        "first": "after" if repeat % 2 == 0 else "before",
        "even_s": next((about["even_s"] for about in abouts if about["fix"]), None),
        "before": as_it_is,
        "after": asked(after, build),
        "environment": {**environment(build), "hadoop": HADOOP, "spark": DEFAULT_SPARK, "workers": WORKERS},
        "pressure_before": abouts[0]["pressure_before"],
        "pressure_after": abouts[1]["pressure_after"],
    }


def record(build, into, repeats=None, only=None):
    """What is not there yet, in turns; says which. only: of that job alone."""
    if only not in (None, *SCENARIOS):
        raise ClusterError(f"--only {only}: the jobs are {', '.join(SCENARIOS)}")
    names = [only] if only else SCENARIOS
    every = [(name, repeat) for repeat in range(1, (repeats or REPEATS) + 1) for name in names]
    left = [pair for pair in every if not (into / f"{pair[0]}-{pair[1]}{SUFFIX}").exists()]
    if not left:
        return
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plumb-loop-") as folder:
        work = Path(folder)
        excluded_file = work / "excluded"
        excluded_file.touch()
        hdfs = {"dfs.hosts.exclude": str(excluded_file), "dfs.namenode.decommission.interval": "1"}
        hdfs["dfs.namenode.redundancy.interval.seconds"] = "1"
        with Bed(work, build, conf=CONF, hdfs=hdfs, share=SHARE) as bed:
            made = set()
            for name, repeat in left:
                if SCENARIOS[name].workload and name not in made:
                    prepare(bed, name, "generate")
                    made.add(name)
                path = into / f"{name}-{repeat}{SUFFIX}"
                write_whole(path, record_pair(bed, build, into, name, repeat))
                print(path, flush=True)


def read_pair(path):
    return json.loads(gzip.decompress(path.read_bytes()))


def read(folder):
    """Documents of all pairs in a folder, by name."""
    return [read_pair(path) for path in sorted(Path(folder).glob(f"*{SUFFIX}"))]
