"""A Spark job on a traced HDFS one of whose DataNodes is slow, and what the programs say of it."""

import json
import subprocess
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from script.spark.runs import block_places
from script.spark.slow_job import SLOW, application_of, put_text, run_job, start
from script.spark.standalone import Standalone
from script.spark.truth import Run
from tests.conftest import Plumbd

__all__ = ["SLOW", "Live", "put_text", "start"]
DRAIN_SECONDS = 120


class Live:
    """hosts, HDFS and Spark as slow_job.start() made them, and the plumbd that they are traced to."""

    def __init__(self, parts, plumbd, work, programs):
        self.hosts, self.hdfs, self.spark = parts
        self.plumbd, self.work, self.programs = plumbd, Path(work), programs

    def slow_job(self):
        """Runs it; everything is stored then. The application's id."""
        application = run_job(self.hosts, self.hdfs, self.spark, self.work, times=1)
        self.settle()
        return application

    def job(self, job, arguments, spark=None):
        (spark or self.spark).run(job, arguments)
        self.settle()
        return application_of(self.hdfs)

    @contextmanager
    def another_spark(self, version, conf):
        """With one worker, on the same HDFS."""
        conf = {"spark.eventLog.dir": self.hdfs.url("/spark-events"), **conf}
        with Standalone(self.work / f"spark-{version}", version, 1, agent=self.spark.agent, conf=conf) as spark:
            yield spark

    @contextmanager
    def other_plumbd(self):
        """Its addresses, for records and for questions."""
        other = Plumbd(self.plumbd.program, self.work / "other")
        try:
            other.start()
            yield "{}:{}".format(*other.thrift), other.http
        finally:
            other.clean_up()

    def settle(self):
        self.hdfs.wait_all_sent(DRAIN_SECONDS)
        self.plumbd.flush()

    def event_log(self, application, scheme="webhdfs"):
        return self.hdfs.url(f"/spark-events/{application}", scheme)

    def download(self, application):
        """A recorded run as truth.py reads it: event log, injections, blocks, executors' logs."""
        folder = self.work / "recorded" / application
        (folder / "executors").mkdir(parents=True)
        url = f"{self.hdfs.url(f'/webhdfs/v1/spark-events/{application}', 'http')}?op=OPEN&user.name=plumb"
        with urllib.request.urlopen(url) as answer:
            (folder / "events").write_bytes(answer.read())
        for log in self.spark.work.glob(f"worker*/{application}/*/stderr"):
            (folder / "executors" / f"{log.parts[-4]}-{log.parts[-2]}.log").write_bytes(log.read_bytes())
        (folder / "injections.jsonl").write_bytes((self.work / "injections.jsonl").read_bytes())
        (folder / "blocks.json").write_text(json.dumps(block_places(self.hdfs, "/text")))
        (folder / "run.json").write_text(json.dumps({"fault": "slow-disk", "said": []}))
        return Run(folder)

    def bridge(self, *arguments, receiver=None):
        """plumb-bridge --json: its summary."""
        receiver = receiver or "{}:{}".format(*self.plumbd.thrift)
        done = subprocess.run(
            [self.programs["plumb-bridge"], "--receiver", receiver, "--json", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def plumb(self, *arguments, server=None):
        done = subprocess.run(
            [self.programs["plumb"], "--server", server or self.plumbd.http, *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    def asked(self, *arguments, server=None):
        return json.loads(self.plumb("--json", *arguments, server=server))
