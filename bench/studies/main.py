"""Measures the thesis' claims again: each with an interval, beside what was published, and whether it holds.

    bench/study NAME [--runs N] [--into DIR]     NAME: {names}, all
    bench/study record stragglers [--into DIR]   runs of a real Spark under faults, each with its twins without, into
                                                 DIR/stragglers; needs root
    bench/study record stragglers --only hung    of one fault alone; --twins 0: without twins
    bench/study stragglers --from DIR            of these, or of those that bench/faults recorded there
    bench/study record [--into DIR]              jobs of a real Spark, traced, into DIR/spark
    bench/study operations --from DIR/spark      with the stages of these
    bench/study record load [--into DIR]         loads on a real HDFS, traced, into DIR/load
    bench/study bottleneck --from DIR/load       of these (default: of those in tests/data/studies/load)
    bench/study record loop [--into DIR]         jobs before and after what plumb advise says, into DIR/loop; needs root
    bench/study record loop --only lr            one of its jobs alone
    bench/study loop --from DIR/loop             of these (default: of those in tests/data/studies/pairs)
    bench/study record workloads [--into DIR]    HiBench's workloads on a traced HDFS, and in one JVM with each
                                                 collector of operations, into DIR/workloads
    bench/study workloads --from DIR/workloads   of these (default: of those in tests/data/studies/workload-runs)
    bench/study all                              every study, of what is recorded in tests/data/studies, and drawn
    bench/study all --from DIR                   the same of what record left in DIR

A study leaves DIR/NAME (default: ./studies): report.md, study.json, tables as TSV, pictures as SVG. It needs no root,
no HDFS and no Spark: plumbd, plumb-bridge and plumb read what is recorded, or drawn from a seed. docs/studies.md shows
what came out.
"""

import argparse
import importlib
import os
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from script.hdfs.jars import ClusterError
from script.spark.hosts import HostError
from script.spark.twins import TWINS

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests/data/studies"
# The modules of these names, with the folder of their recordings below DIR; None: all is drawn.
STUDIES = {
    "operations": "spark",
    "sampling": None,
    "stragglers": "stragglers",
    "bottleneck": "load",
    "loop": "loop",
    "workloads": "workloads",
}
RECORDED = [name for name, folder in STUDIES.items() if folder]
RECORDS = [folder for folder in STUDIES.values() if folder]
# Of all without --from: (study, what is kept, how it is named).
ALL_KEPT = [
    ("stragglers", KEPT / "runs", "stragglers"),
    ("stragglers", KEPT / "recorded-runs", "recorded-stragglers"),
    ("stragglers", KEPT / "twin-runs", "twin-stragglers"),
    ("operations", None, "operations"),
    ("sampling", None, "sampling"),
    ("bottleneck", KEPT / "load", "bottleneck"),
    ("loop", KEPT / "pairs", "loop"),
    ("workloads", KEPT / "workload-runs", "workloads"),
]
# Of all, how many are drawn, so that it takes a minute.
ALL_RUNS = {"operations": 40, "sampling": 40}


def parse(arguments):
    about = __doc__.replace("{names}", ", ".join(STUDIES))
    default = Path(os.environ.get("PLUMB_BUILD") or ROOT / "build" / "default")
    parser = argparse.ArgumentParser(
        prog="bench/study", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=[*STUDIES, "all", "record"])
    parser.add_argument("what", nargs="?", choices=RECORDS, help="of record: what is recorded (default: spark)")
    parser.add_argument("--runs", type=int, help="how many are drawn of each kind (default: what the report says)")
    parser.add_argument(
        "--from", dest="recorded", type=Path, metavar="DIR", help="folder of recorded runs, or of their cases"
    )
    parser.add_argument("--only", metavar="NAME", help="of record loop: the job that is run; of stragglers: the fault")
    parser.add_argument(
        "--twins", type=int, help=f"of record stragglers: without the fault, per run (default: {TWINS})"
    )
    parser.add_argument("--into", type=Path, default=Path("studies"), help="folder (default: %(default)s)")
    parser.add_argument("--build", type=Path, default=default, help="where the programs are")
    options = parser.parse_args(arguments)
    if options.recorded is not None and (options.name not in [*RECORDED, "all"] or not options.recorded.is_dir()):
        parser.error(f"--from: names a folder of recorded runs, of {', '.join(RECORDED)} or all")
    if options.only is not None and options.what not in ("loop", "stragglers"):
        parser.error("--only: is of record loop and record stragglers")
    if options.twins is not None and (options.what != "stragglers" or options.twins < 0):
        parser.error("--twins: is of record stragglers, 0 or more")
    if options.what is not None and options.name != "record":
        parser.error(f"{options.what}: says what is recorded, of record")
    if options.runs is not None and options.runs < 1:
        parser.error("--runs: at least 1")
    if not (options.build / "analyzer/plumb").exists():
        parser.error(f"there is no plumb in {options.build}: script/build makes it")
    return options


def record(options):
    """Ended early, it takes its clusters down: what it has recorded by then is there."""
    from bench.studies import fault_runs, load_runs, loop_runs, record
    from bench.workloads import main as workloads

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    try:
        if options.what == "load":
            load_runs.record(options.build, options.into / "load", options.runs)
        elif options.what == "loop":
            loop_runs.record(options.build, options.into / "loop", options.runs, options.only)
        elif options.what == "workloads":
            if workloads.record(options.build, options.into / "workloads"):
                sys.exit(1)
        elif options.what == "stragglers":
            twins = TWINS if options.twins is None else options.twins
            fault_runs.record(options.build, options.into / "stragglers", options.runs or 1, twins, options.only)
        else:
            record.record(options.build, options.into / "spark")
    except (ClusterError, HostError, OSError) as error:
        sys.exit(f"study: record: {error}")


def parts_of(options):
    """(study, its recordings, how many are drawn, how it is named) of each that is to be made."""
    if options.name != "all":
        return [(options.name, options.recorded, options.runs, options.name)]
    if options.recorded is None:
        return [(name, kept, options.runs or ALL_RUNS.get(name), called) for name, kept, called in ALL_KEPT]
    there = {name: options.recorded / folder if folder else None for name, folder in STUDIES.items()}
    there = {name: folder if folder and folder.is_dir() else None for name, folder in there.items()}
    return [
        (name, folder, options.runs or ALL_RUNS.get(name), name)
        for name, folder in there.items()
        if folder or name in ALL_RUNS
    ]


def make(options, part):
    """The folder of the study, and how long it took."""
    name, recorded, runs, called = part
    begin = time.monotonic()
    study = importlib.import_module(f"bench.studies.{name}").study
    report = study(argparse.Namespace(**{**vars(options), "recorded": recorded, "runs": runs}))
    report.name = called
    return report.write(options.into), time.monotonic() - begin


def main(arguments=None):
    options = parse(arguments)
    if options.name == "record":
        return record(options)
    parts = parts_of(options)
    with ProcessPoolExecutor(min(len(parts), os.cpu_count())) as pool:
        made = [(part[3], pool.submit(make, options, part)) for part in parts]
        for name, result in made:
            try:
                folder, seconds = result.result()
            except (ClusterError, OSError) as error:
                pool.shutdown(cancel_futures=True)
                sys.exit(f"study: {name}: {error}")
            except KeyboardInterrupt:
                sys.exit(130)
            print(f"{folder}/report.md  ({seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
