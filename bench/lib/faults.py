"""Makes something slow on a traced HDFS under a real Spark, again and again, and says what the analyses find out about
it.

    bench/faults                      every fault three times, into ./faults, and the table
    bench/faults run -n 5 slow-disk   more of one fault, in the same folder
    bench/faults table                the table again, from the recorded runs alone
    bench/faults clients              clients of HDFS without Spark, each fault five times, into ./client-faults
    bench/faults clients -n 1 none    one of them, once more
    bench/faults clients table        the table of those again

Needs root (hosts of their own), and some 5 GB of memory. docs/spark-faults.md says what is measured.
"""

import argparse
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from script.hdfs.jars import ClusterError
from script.spark import clients
from script.spark.hosts import HostError, why_no_namespaces
from script.spark.runs import JOB_OF, Bed, by_workers
from script.spark.truth import Run
from script.spark.verdicts import table

ROOT = Path(__file__).resolve().parents[2]


def say(text):
    print(f"faults: {text}", file=sys.stderr, flush=True)


def next_folder(out, fault):
    numbers = [int(path.name.rsplit("-", 1)[1]) for path in out.glob(f"{fault}-*") if path.name[-1].isdigit()]
    return out / f"{fault}-{max(numbers, default=0) + 1}"


def record(options):
    """Each fault in turn, so that what changes meanwhile changes all alike. Goes on after a run that failed."""
    options.into.mkdir(parents=True, exist_ok=True)
    beds = by_workers(options.fault or JOB_OF)
    return sum(record_on(options, workers, faults) for workers, faults in beds.items())


def record_on(options, workers, faults):
    """How many runs failed."""
    failed = 0
    with (
        TemporaryDirectory(prefix="plumb-faults-") as work,
        Bed(work, options.build, options.spark, workers=workers) as bed,
    ):
        for turn in range(options.times):
            for fault in faults:
                folder, begin = next_folder(options.into, fault), time.monotonic()
                try:
                    bed.run(fault, folder)
                except ClusterError as error:
                    failed += 1
                    say(f"{fault} ({turn + 1}) failed: {error}")
                    continue
                run = Run(folder)
                stragglers = run.stragglers()
                say(
                    f"{folder.name}: {len(run.tasks)} tasks, {len(stragglers)} stragglers, "
                    f"{sum(bool(straggler.injections) for straggler in stragglers)} affected, "
                    f"{time.monotonic() - begin:.0f} s"
                )
    return failed


def watch_clients(options):
    """The same with clients of HDFS alone."""
    options.into.mkdir(parents=True, exist_ok=True)
    failed = 0
    faults = options.fault or clients.ALL_CLIENTS
    with TemporaryDirectory(prefix="plumb-faults-") as work, clients.ClientBed(work, options.build, faults) as bed:
        for turn in range(options.times):
            for fault in faults:
                folder = next_folder(options.into, fault)
                try:
                    run = bed.run(fault, folder, options)
                except (ClusterError, HostError) as error:
                    failed += 1
                    say(f"{fault} ({turn + 1}) failed: {error}")
                    continue
                after = f", after {run['seconds']:.0f} s" if run["seconds"] is not None else ""
                say(
                    f"{folder.name}: {'right' if run['right'] else 'not named'}{after}; "
                    f"named wrongly: {clients.texts(run['wrong'])}"
                )
    return failed


def parse():
    parser = argparse.ArgumentParser(
        prog="bench/faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["all", "run", "table", "clients"], default="all")
    parser.add_argument(
        "fault", nargs="*", help=f"of: {', '.join(JOB_OF)}; of clients: {', '.join(clients.FAULTS)} (default: all)"
    )
    parser.add_argument(
        "--into", type=Path, help="folder of the recorded runs (default ./faults, of clients ./client-faults)"
    )
    parser.add_argument("-n", "--times", type=int, help="each fault so often (default 3, of clients 5)")
    parser.add_argument("--healthy", type=float, default=360, help="clients: seconds before it (default %(default)s)")
    parser.add_argument("--faulty", type=float, default=300, help="clients: seconds of it (default %(default)s)")
    parser.add_argument(
        "--until-named", action="store_true", help="clients: the fault ends half a minute after it is named"
    )
    parser.add_argument("--keep", action="store_true", help="clients: leave the store of each run in its folder")
    parser.add_argument("--spark", default="4.3.0", help="version (default %(default)s)")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "default", help="where plumbd and plumb are")
    options = parser.parse_intermixed_args()
    of_clients = options.what == "clients"
    options.table = options.what == "table" or (of_clients and options.fault == ["table"])
    options.fault = [] if options.table else options.fault
    known = clients.FAULTS if of_clients else JOB_OF
    unknown = set(options.fault) - set(known)
    if unknown:
        parser.error(f"no such fault: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    options.into = (options.into or Path("client-faults" if of_clients else "faults")).resolve()
    options.times = options.times or (5 if of_clients else 3)
    return options


def main():
    options = parse()
    failed = 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if not options.table:
            if why_no_namespaces():
                sys.exit(f"faults: hosts of their own cannot be made here: {why_no_namespaces()}")
            failed = watch_clients(options) if options.what == "clients" else record(options)
        if options.what == "clients":
            print(clients.table(options.into))
        elif options.what != "run":
            print(table(options.into, options.build))
    except (ClusterError, HostError) as error:
        sys.exit(f"faults: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
