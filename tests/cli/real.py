"""A real plumbd on free ports, and traces to fill it with."""
import json
import random
import subprocess
import time
import urllib.request

from tests.cli.conftest import ENVIRONMENT, PLUMBD, run_plumb

BEGIN_MS = 1605952800000


class Plumbd:
    def __init__(self, folder, *settings):
        self.store = folder / "store"
        command = [PLUMBD, "--set", "listen.thrift=127.0.0.1:0", "--set", "listen.http=127.0.0.1:0",
                   "--set", f"store.path={self.store}", "--set", f"journal.path={folder / 'journal'}"]
        for setting in settings:
            command += ["--set", setting]
        self.errors = open(folder / "plumbd.log", "w+")
        self.process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        ready = self.process.stdout.readline()  # printed when it takes spans; empty when it stopped instead
        if not ready:
            self.process.wait()
            self.errors.seek(0)
            raise RuntimeError(f"plumbd did not start: {self.errors.read()}")
        facts = dict(word.split("=", 1) for word in ready.split() if "=" in word)
        self.thrift, self.http = facts["thrift"], facts["http"]

    def plumb(self, command, *arguments, **options):
        """Runs plumb against this plumbd."""
        where = ["--server", self.http] + (["--thrift", self.thrift] if command == "import" else [])
        return run_plumb(command, *where, *arguments, **options)

    def ask(self, question):
        with urllib.request.urlopen(f"http://{self.http}/api/v1/{question}", timeout=60) as answer:
            return json.load(answer)

    def wait_for_spans(self, n, process=None):
        """Until plumbd has received n spans."""
        deadline = time.monotonic() + 60
        while (got := self.ask("status")["receiver"]["spans_received"]) < n:
            assert process is None or process.poll() is None, "the importer ended"
            assert time.monotonic() < deadline, f"{got} of {n} spans came"
            time.sleep(0.02)
        assert got == n

    def exported(self):
        done = self.plumb("export")
        assert done.returncode == 0, done.stderr
        return sorted(done.stdout.splitlines())

    def stop(self):
        """May be called again."""
        self.process.terminate()
        self.process.wait(timeout=60)
        self.process.stdout.close()
        self.errors.close()


def make_spans(traces, seed=1):
    """Spans of writes to HDFS, as HTrace 4 writes them, in a random order."""
    draw = random.Random(seed)
    spans = []

    def add(trace, begin, end, name, tracer, parents, **more):
        span = {"a": f"{trace:016x}{draw.getrandbits(64):016x}", "b": begin, "e": end, "d": name, "r": tracer, "p": parents, **more}
        spans.append(span)
        return span["a"]

    for i in range(traces):
        trace = draw.getrandbits(64)
        begin, length = BEGIN_MS + i * 50, draw.randint(20, 200)
        root = add(trace, begin, begin + length, "FsShell#put", "FSClient/10.0.0.5", [], n={"path": f"/data/part-{i:05d}"})
        writes = [add(trace, begin + k, begin + k + draw.randint(0, 3), "DFSOutputStream#write", "FSClient/10.0.0.5", [root])
                  for k in range(draw.randint(1, 5))]
        stream = add(trace, begin + 5, begin + length - 2, "dataStreamer", "FSClient/10.0.0.5", writes[:2])
        for node in range(3):
            add(trace, begin + 6, begin + length - 3, "OpWriteBlockProto", f"DataNode/10.0.3.{node + 1}", [stream],
                n={"bytes": str(draw.randint(0, 65536))}, t=[{"t": begin + 7, "m": "first packet"}])
        add(trace, begin + 1, begin + 1, f"sendBlock_{draw.getrandbits(30)}", "DataNode/10.0.3.9", [root])
    draw.shuffle(spans)
    return spans


def json_lines(spans):
    return "".join(json.dumps(span) + "\n" for span in spans)


def by_id(lines):
    return {span["a"]: span for span in map(json.loads, lines)}
