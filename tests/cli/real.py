"""A real plumbd, and traces to fill it with."""

import json
import random
import time

import tests.conftest
from tests.cli.conftest import PLUMBD, run_plumb

BEGIN_MS = 1605952800000


class Plumbd(tests.conftest.Plumbd):
    """A plumbd that is ready, and plumb asking it."""

    def __init__(self, folder, **settings):
        super().__init__(PLUMBD, folder, **settings)
        self.start()
        self.thrift_address = "{}:{}".format(*self.thrift)

    def plumb(self, command, *arguments, **options):
        """Runs plumb against this plumbd."""
        where = ["--server", self.http] + (["--thrift", self.thrift_address] if command == "import" else [])
        return run_plumb(command, *where, *arguments, **options)

    def wait_for(self, field, n, process=None):
        """Until a number of the receiver's status is n."""
        deadline = time.monotonic() + 60
        while (got := self.receiver()[field]) < n:
            assert process is None or process.poll() is None, "the importer ended"
            assert time.monotonic() < deadline, f"{field} is {got} instead of {n}"
            time.sleep(0.02)
        assert got == n

    def wait_for_spans(self, n, process=None):
        self.wait_for("spans_received", n, process)

    def exported(self):
        done = self.plumb("export")
        assert done.returncode == 0, done.stderr
        return sorted(done.stdout.splitlines())


def make_spans(traces, seed=1):
    """Spans of writes to HDFS, as HTrace 4 writes them, in a random order."""
    draw = random.Random(seed)
    spans = []

    def add(trace, begin, end, name, tracer, parents, **more):
        span = {
            "a": f"{trace:016x}{draw.getrandbits(64):016x}",
            "b": begin,
            "e": end,
            "d": name,
            "r": tracer,
            "p": parents,
            **more,
        }
        spans.append(span)
        return span["a"]

    for i in range(traces):
        trace = draw.getrandbits(64)
        begin, length = BEGIN_MS + i * 50, draw.randint(20, 200)
        root = add(
            trace, begin, begin + length, "FsShell#put", "FSClient/10.0.0.5", [], n={"path": f"/data/part-{i:05d}"}
        )
        writes = [
            add(trace, begin + k, begin + k + draw.randint(0, 3), "DFSOutputStream#write", "FSClient/10.0.0.5", [root])
            for k in range(draw.randint(1, 5))
        ]
        stream = add(trace, begin + 5, begin + length - 2, "dataStreamer", "FSClient/10.0.0.5", writes[:2])
        for node in range(3):
            add(
                trace,
                begin + 6,
                begin + length - 3,
                "OpWriteBlockProto",
                f"DataNode/10.0.3.{node + 1}",
                [stream],
                n={"bytes": str(draw.randint(0, 65536))},
                t=[{"t": begin + 7, "m": "first packet"}],
            )
        add(trace, begin + 1, begin + 1, f"sendBlock_{draw.getrandbits(30)}", "DataNode/10.0.3.9", [root])
    draw.shuffle(spans)
    return spans


def json_lines(spans):
    return "".join(json.dumps(span) + "\n" for span in spans)


def by_id(lines):
    return {span["a"]: span for span in map(json.loads, lines)}
