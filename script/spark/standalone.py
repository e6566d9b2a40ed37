"""A standalone Spark on this machine: master, workers and executors, each its own JVM, on free ports, in one folder.

    with Standalone(work, "4.3.0", workers=3) as spark: spark.run("wordcount", [url], "words")

Executors leave their logs, in Spark's own form, in work/workerN/<application>/<executor>/stderr; what each task reads
is in them.
"""

import json
import os
import subprocess
import urllib.request
from pathlib import Path

from script.hdfs.attach import Agent  # noqa: F401 (for those who use this module)
from script.hdfs.cluster import Processes, die_with_parent, free_port, wait_for
from script.hdfs.jars import ClusterError
from script.hdfs.spark import spark_home
from script.spark.hosts import Loopback

DEFAULT_SPARK = "4.3.0"
JOBS = Path(__file__).resolve().parent / "jobs.py"
PYTHON = "/usr/bin/python3"
READY_SECONDS = 120
JOB_SECONDS = 600
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
SERVER_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
# Many small JVMs on few processors: the first compiler does.
EXECUTOR_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"

CONF = {
    "spark.ui.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.logStageExecutorMetrics": "true",
    "spark.locality.wait": "0",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.files.maxPartitionBytes": "1048576",
    "spark.sql.files.openCostInBytes": "0",
    "spark.hadoop.dfs.client.use.datanode.hostname": "true",
}


def agent_environment(agent, name, work):
    """The agent's settings for executors of a worker: they inherit its environment."""
    settings = {key: value for key, value in agent.all_settings(name, work).items() if key != "report"}
    return {"PLUMB_AGENT_" + key.upper().replace(".", "_"): str(value) for key, value in settings.items()}


class Standalone(Processes):
    """work: a folder, which is made. conf: more of Spark's properties. agent: an Agent of driver and executors; memory:
    of an executor. hosts: where workers run (hosts.py). cores: tasks that run at once in an executor."""

    LOG_END_LINES = 40
    STOP_SECONDS = 10

    def __init__(
        self,
        work,
        version=DEFAULT_SPARK,
        workers=3,
        *,
        conf=None,
        agent=None,
        hosts=None,
        memory="512m",
        home=None,
        cores=1,
    ):
        self.work = Path(work).resolve()
        self.version, self.workers, self.agent = version, workers, agent
        self.hosts = hosts or Loopback()
        self.home, self.cores = Path(home or spark_home(version)), cores
        self.events = self.work / "events"
        self.jobs = JOBS
        self.conf = {
            **CONF,
            "spark.executor.memory": memory,
            "spark.eventLog.dir": f"file://{self.events}",
            "spark.driver.host": self.hosts.address("driver"),
            "spark.driver.bindAddress": self.hosts.address("driver"),
            **(conf or {}),
        }
        self.processes = {}
        self.port = self.page = None

    # ---- start ----

    @property
    def master(self):
        return f"spark://{self.hosts.address('driver')}:{self.port}"

    def _environment(self, name, **more):
        names = f"-Djdk.net.hosts.file={self.work}/hosts -Djava.net.preferIPv4Stack=true"
        given = {
            "SPARK_HOME": str(self.home),
            "SPARK_CONF_DIR": str(self.work / "conf"),
            "PYSPARK_PYTHON": PYTHON,
            "HADOOP_USER_NAME": "plumb",
            "SPARK_LOCAL_IP": self.hosts.address(name),
            "SPARK_DAEMON_MEMORY": "192m",
            "SPARK_DAEMON_JAVA_OPTS": f"{names} {SERVER_JVM}",
            "SPARK_LOCAL_DIRS": str(self.local_folder(name)),
            **more,
        }
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
        return {**clean, **given, **(agent_environment(self.agent, name, self.work) if self.agent else {})}

    def local_folder(self, name):
        """Where shuffles and spills of that host go: to its own disk, if it has one."""
        return (self.hosts.disk(name) or self.work / name) / "local"

    def _spawn(self, name, words, **more):
        (self.work / name).mkdir(parents=True, exist_ok=True)
        self.local_folder(name).mkdir(parents=True, exist_ok=True)
        with open(self.log(name), "ab") as log:
            self.processes[name] = subprocess.Popen(
                [*self.hosts.inside(name), str(self.home / "bin" / "spark-class"), *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment(name, **more),
                cwd=self.work / name,
                preexec_fn=die_with_parent,
            )

    def _write_conf(self):
        folder = self.work / "conf"
        folder.mkdir(parents=True, exist_ok=True)
        self.events.mkdir(exist_ok=True)
        self.hosts.write_table(self.work / "hosts", [f"worker{i}" for i in range(1, self.workers + 1)])
        java = f"-Djdk.net.hosts.file={self.work}/hosts -Djava.net.preferIPv4Stack=true {EXECUTOR_JVM}"
        if self.agent:
            java += f" -javaagent:{self.agent.jar}"
        options = {f"spark.{process}.extraJavaOptions": java for process in ("driver", "executor")}
        lines = [f"{key} {value}" for key, value in {**self.conf, **options}.items()]
        (folder / "spark-defaults.conf").write_text("\n".join(lines) + "\n")

    def start(self):
        """Returns when all workers are registered."""
        self._write_conf()
        self.port, self.page = free_port(), free_port()
        self._spawn(
            "master",
            [MASTER, "--host", self.hosts.address("driver"), "--port", str(self.port), "--webui-port", str(self.page)],
        )
        wait_for(self._state, READY_SECONDS, "Spark's master ready")
        for number in range(1, self.workers + 1):
            self.start_worker(number)
        wait_for(self._all_there, READY_SECONDS, "Spark's workers ready")

    def start_worker(self, number):
        name = f"worker{number}"
        self._spawn(
            name,
            [
                WORKER,
                "--host",
                name,
                "-c",
                str(self.cores),
                "-m",
                "1g",
                "-d",
                str(self.work / name),
                "--webui-port",
                "0",
                self.master,
            ],
            SPARK_LOCAL_HOSTNAME=name,
        )

    def _state(self):
        """What the master says of itself; None while it does not answer."""
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise ClusterError(f"Spark's {name} ended with {process.returncode}:\n{self.log_end(name)}")
        try:
            with urllib.request.urlopen(f"http://{self.hosts.address('driver')}:{self.page}/json/", timeout=5) as page:
                return json.load(page)
        except (OSError, ValueError):
            return None

    def _all_there(self):
        state = self._state()
        return state and sum(worker["state"] == "ALIVE" for worker in state["workers"]) == self.workers

    # ---- jobs ----

    def submit(self, job, arguments, name=None, conf=None, **options):
        """Starts an application: a Popen, whose output goes to the log 'name'. job: a function of jobs.py, or a
        file."""
        name = name or job
        program, words = (job, []) if Path(job).is_file() else (self.jobs, [job])
        properties = [
            part
            for key, value in {"spark.app.name": name, **(conf or {})}.items()
            for part in ("--conf", f"{key}={value}")
        ]
        (self.work / name).mkdir(parents=True, exist_ok=True)
        with open(self.log(name), "ab") as log:
            options.setdefault("stdout", log)
            return subprocess.Popen(
                [
                    str(self.home / "bin" / "spark-submit"),
                    "--master",
                    self.master,
                    "--driver-memory",
                    "512m",
                    *properties,
                    str(program),
                    *words,
                    *map(str, arguments),
                ],
                stdin=subprocess.DEVNULL,
                stderr=log,
                text=True,
                env=self._environment("driver", SPARK_LOCAL_HOSTNAME=self.hosts.address("driver")),
                cwd=self.work / name,
                preexec_fn=die_with_parent,
                **options,
            )

    def run(self, job, arguments, name=None, conf=None, code=0):
        """To its end; what it printed."""
        name = name or job
        with self.submit(job, arguments, name, conf, stdout=subprocess.PIPE) as application:
            try:
                output = application.communicate(timeout=JOB_SECONDS)[0]
            except subprocess.TimeoutExpired:
                application.kill()
                raise ClusterError(f"{name}: not within {JOB_SECONDS} s\n{self.log_end(name)}") from None
        if code is not None and application.returncode != code:
            raise ClusterError(f"{name} ended with {application.returncode}:\n{self.log_end(name)}")
        return output

    def executors(self):
        """{worker's name: process ids of its executors}"""
        found = {f"worker{i}": [] for i in range(1, self.workers + 1)}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"--worker-url" in words and f"-Djdk.net.hosts.file={self.work}/hosts".encode() in words:
                host = words[words.index(b"--hostname") + 1].decode()
                found.setdefault(host, []).append(int(folder.name))
        return found

    # ---- end ----

    def stop(self):
        super().stop()
        # An executor ends with its worker; whoever goes on may remove the folder.
        wait_for(lambda: not any(self.executors().values()), READY_SECONDS, "Spark's executors ended")
