"""Measures the thesis' claims again: each with an interval, beside what was published, and whether it holds.

    bench/study NAME [--runs N] [--into DIR]     NAME: {names}, all
    bench/study record stragglers [--into DIR]   runs of a real Spark under faults, into DIR/stragglers
    bench/study stragglers --from DIR            of these, or of those that bench/faults recorded there
    bench/study record [--into DIR]              jobs of a real Spark, traced, into DIR/spark
    bench/study operations --from DIR/spark      with the stages of these
    bench/study record load [--into DIR]         loads on a real HDFS, traced, into DIR/load
    bench/study bottleneck --from DIR/load       of these (default: of those in tests/data/studies/load)
    bench/study record loop [--into DIR]         jobs before and after what plumb advise says, into DIR/loop; needs root
    bench/study loop --from DIR/loop             of these (default: of those in tests/data/studies/pairs)

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
from pathlib import Path

from script.hdfs.jars import ClusterError
from script.spark.hosts import HostError

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ["operations", "sampling", "stragglers", "bottleneck", "loop"]  # the modules of these names
RECORDED = ["operations", "stragglers", "bottleneck", "loop"]
RECORDS = ["spark", "load", "stragglers", "loop"]


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
    parser.add_argument("--into", type=Path, default=Path("studies"), help="folder (default: %(default)s)")
    parser.add_argument("--build", type=Path, default=default, help="where the programs are")
    options = parser.parse_args(arguments)
    if options.recorded is not None and (options.name not in RECORDED or not options.recorded.is_dir()):
        parser.error(f"--from: names a folder of recorded runs, of {' or '.join(RECORDED)}")
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

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    try:
        if options.what == "load":
            load_runs.record(options.build, options.into / "load", options.runs)
        elif options.what == "loop":
            loop_runs.record(options.build, options.into / "loop", options.runs)
        elif options.what == "stragglers":
            fault_runs.record(options.build, options.into / "stragglers", options.runs or 1)
        else:
            record.record(options.build, options.into / "spark")
    except (ClusterError, HostError, OSError) as error:
        sys.exit(f"study: record: {error}")


def main(arguments=None):
    options = parse(arguments)
    if options.name == "record":
        return record(options)
    for name in STUDIES if options.name == "all" else [options.name]:
        begin = time.monotonic()
        try:
            study = importlib.import_module(f"bench.studies.{name}").study
            folder = study(options).write(options.into)
        except (ClusterError, OSError) as error:
            sys.exit(f"study: {name}: {error}")
        except KeyboardInterrupt:
            sys.exit(130)
        print(f"{folder}/report.md  ({time.monotonic() - begin:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
