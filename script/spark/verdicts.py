"""What the analyses say of recorded runs, compared with what is true of them (truth.py).

A straggler that a fault affected is *found* when its main cause is the fault's, at the fault's host. A task that no
fault affected, or that twins acquit, is *blamed wrongly* when the fault's cause at the fault's host is its main one all
the same, and has *another part of HDFS* named when some other process of HDFS is: nobody made that one slow, but what
else the machine did may have. All are counted twice: without the spans of HDFS (event log and samples alone), and with
them.

Advice *blames the job* when a finding of plumb advise is none about a host.
"""

import json
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.parse
import urllib.request
from collections import Counter, defaultdict, namedtuple
from contextlib import contextmanager
from pathlib import Path

from script.hdfs.cluster import die_with_parent
from script.hdfs.jars import ClusterError
from script.spark.truth import Run

# Of what topic the main cause must be. What runs on the worker itself is there, where the task is.
TOPICS = {
    "slow-disk": {"hdfs"},
    "slow-network": {"hdfs"},
    "starved-cpu": {"hdfs"},
    "hung": {"hdfs"},
    "namenode-load": {"hdfs"},
    "skew": {"data"},
    "gc-pressure": {"jvm"},
    "busy-cpu": {"cpu"},
    "busy-disk": {"disk"},
    "busy-network": {"network"},
}
ORDER = [*TOPICS, "mixed", "none"]
SECONDS = 300
QUESTION_MEMORY = "1G"  # tasks that read by some hundred bytes have large traces
Verdict = namedtuple("Verdict", "cause host resource")
Count = namedtuple("Count", "affected found unaffected blamed elsewhere")
# verdicts: {task id: Verdict} of the stragglers whose main cause was found; rules: of the advice that blames the job.
Said = namedtuple("Said", "verdicts rules")


class Plumbd:
    """Of its own, in a temporary folder. arguments: more of plumbd's."""

    def __init__(self, build, folder, arguments=()):
        self.build, self.folder = Path(build), Path(folder)
        command = [
            str(self.build / "receiver/plumbd"),
            "--set",
            "listen.thrift=127.0.0.1:0",
            "--set",
            "listen.http=127.0.0.1:0",
            "--set",
            f"store.path={folder}/store",
            "--set",
            f"journal.path={folder}/journal",
            "--set",
            "store.min-free=0",
            *map(str, arguments),
        ]
        with open(self.folder / "plumbd.log", "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=die_with_parent
            )
        ready = re.search(r"thrift=(\S+) http=(\S+)", self.process.stdout.readline())
        if not ready:
            raise ClusterError(f"plumbd did not start:\n{(self.folder / 'plumbd.log').read_text()}")
        self.thrift, self.http = ready.groups()

    def run(self, program, *arguments, stdin=None):
        done = subprocess.run(
            [str(self.build / program), *map(str, arguments)],
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise ClusterError(f"{program} {' '.join(map(str, arguments))}: {done.stderr[-2000:]}{done.stdout[-500:]}")
        return done.stdout

    def bridge(self, *paths):
        self.run("spark-bridge/plumb-bridge", "--receiver", self.thrift, *paths)

    def spans(self, path):
        with subprocess.Popen(["zstd", "-dc", str(path)], stdout=subprocess.PIPE) as plain:
            self.run(
                "analyzer/plumb", "import", "--thrift", self.thrift, "--server", self.http, "-", stdin=plain.stdout
            )

    def ask(self, question, **parameters):
        url = f"http://{self.http}/api/v1/{question}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            return json.load(answer)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.process.stdout.close()


@contextmanager
def loaded(run, build, with_spans):
    """A plumbd that knows a run."""
    folder = Path(tempfile.mkdtemp(prefix="plumb-verdicts-"))
    try:
        plumbd = Plumbd(build, folder, ["--set", f"http.question-memory={QUESTION_MEMORY}"])
        try:
            if with_spans:
                plumbd.spans(run.folder / "spans.jsonl.zst")
            named = folder / run.about["application"]
            shutil.copy(run.folder / "events", named)
            plumbd.bridge(named)
            for samples in sorted((run.folder / "samples").glob("worker*.json")):
                plumbd.bridge("--host", samples.stem, "--zone", "UTC", samples)
            yield plumbd
        finally:
            plumbd.stop()
    finally:
        shutil.rmtree(folder)


def judged(run, build, with_spans):
    with loaded(run, build, with_spans) as plumbd:
        answer = plumbd.ask("why", app=run.about["application"], limit=0)
        advice = plumbd.ask("advise", app=run.about["application"])
    found = {}
    for straggler in answer["stragglers"]:
        cause = straggler.get("main_cause")
        if cause:
            suspect = cause.get("suspect", {})
            host = suspect.get("host") if cause["topic"] == "hdfs" else straggler.get("host")
            found[straggler["task"]] = Verdict(cause["topic"], host, suspect.get("resource"))
    return Said(found, {finding["rule"] for finding in advice["findings"] if not finding["node"]})


def says(verdict, injection):
    """Is it this injection that is blamed?"""
    return verdict is not None and verdict.cause in TOPICS[injection["kind"]] and verdict.host == injection["host"]


def count(run, said):
    """Over the run's tasks that worked: only stragglers can be blamed."""
    stragglers = {straggler.task.id: straggler for straggler in run.stragglers()}
    affected = found = unaffected = blamed = elsewhere = 0
    every = run.injections or [
        injection for straggler in stragglers.values() for injection in straggler.injections + straggler.acquitted
    ]
    for task in run.tasks:
        if not task.good:
            continue
        straggler = stragglers.get(task.id)
        if straggler and straggler.injections:
            affected += 1
            found += any(says(said.get(task.id), injection) for injection in straggler.injections)
        elif (straggler and straggler.acquitted) or not any(
            run.affected_by(task, injection) or run.touched_by(task, injection) for injection in run.injections
        ):
            unaffected += 1
            wrong = any(says(said.get(task.id), injection) for injection in every)
            blamed += wrong
            elsewhere += not wrong and task.id in said and said[task.id].cause == "hdfs"
    return Count(affected, found, unaffected, blamed, elsewhere)


def runs_in(folder):
    """By fault, in order."""
    found = defaultdict(list)
    for path in sorted(Path(folder).iterdir()):
        if (path / "run.json").exists():
            run = Run(path)
            found[run.fault].append(run)
    return {fault: found[fault] for fault in ORDER if fault in found}


def share(part, whole):
    return f"{part} of {whole}" + (f" ({100 * part / whole:.0f} %)" if whole else "")


def rules_text(sets):
    """Of several runs: "none", "small-reads, spill (2 of 3)"."""
    counts = Counter(rule for rules in sets for rule in rules)
    texts = [
        rule if count == len(sets) else f"{rule} ({count} of {len(sets)})" for rule, count in sorted(counts.items())
    ]
    return ", ".join(texts) or "none"


def table(folder, build):
    """Markdown; every run is analysed again."""
    lines = [
        "| fault | runs | tasks | stragglers | affected | found, without HDFS traces | found, with them "
        "| blamed wrongly, without | blamed wrongly, with | another part of HDFS named | advice that blames the job |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for fault, runs in runs_in(folder).items():
        said = {spans: [judged(run, build, spans) for run in runs] for spans in (False, True)}
        without, traced = (
            Count(
                *map(
                    sum, zip(*[count(run, one.verdicts) for run, one in zip(runs, all_said, strict=True)], strict=True)
                )
            )
            for all_said in said.values()
        )
        lines.append(
            f"| {fault} | {len(runs)} | {sum(len(run.tasks) for run in runs)} "
            f"| {sum(len(run.stragglers()) for run in runs)} | {traced.affected} "
            f"| {share(without.found, without.affected)} | {share(traced.found, traced.affected)} "
            f"| {share(without.blamed, without.unaffected)} | {share(traced.blamed, traced.unaffected)} "
            f"| {share(traced.elsewhere, traced.unaffected)} | {rules_text([one.rules for one in said[True]])} |"
        )
    return "\n".join(lines)
