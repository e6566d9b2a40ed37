"""Executors on a real YARN, where nobody has a login by Kerberos: with a token or a certificate that --files brings, as
docs/security.md has it. It starts a ResourceManager and a NodeManager, and takes a minute: only with
PLUMB_HADOOP_VERSIONS=all."""

import os
import subprocess
import urllib.error
import urllib.request

import pytest

from script.hdfs.cluster import LOG4J, die_with_parent, free_port, write_site
from script.hdfs.jars import agent_jar, whole_jar
from script.hdfs.spark import spark_home
from tests.receiver.waiting import wait_for
from tests.secure.conftest import events
from tests.secure.test_tokens import line, write_tokens

TOKEN = "plumb_executors_0123456789"
HADOOP, SPARK = "3.5.0", "4.3.0"
JVM = ["-XX:TieredStopAtLevel=1", "-Xmx256m", "--add-opens=java.base/java.lang=ALL-UNNAMED"]
YARN = "org.apache.hadoop.yarn.server"
JOB = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
assert spark.sparkContext.textFile("file://" + sys.argv[1], 2).count() == 1000
spark.stop()
"""

pytestmark = pytest.mark.skipif(
    os.environ.get("PLUMB_HADOOP_VERSIONS") != "all", reason="half a minute: PLUMB_HADOOP_VERSIONS=all"
)


def settings_of(folder, ports):
    names = ("", "scheduler.", "resource-tracker.", "admin.", "webapp.")
    made = {f"yarn.resourcemanager.{name}address": f"127.0.0.1:{port}" for name, port in zip(names, ports, strict=True)}
    return made | {
        "yarn.nodemanager.address": "127.0.0.1:0",
        "yarn.nodemanager.localizer.address": "127.0.0.1:0",
        "yarn.nodemanager.webapp.address": "127.0.0.1:0",
        "yarn.nodemanager.local-dirs": folder / "local",
        "yarn.nodemanager.log-dirs": folder / "containers",
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.enable": "false",
        "yarn.scheduler.minimum-allocation-mb": "128",
        "yarn.resourcemanager.scheduler.class": f"{YARN}.resourcemanager.scheduler.fifo.FifoScheduler",
    }


@pytest.fixture
def yarn(tmp_path):
    """The folder of its configuration."""
    conf, ports = tmp_path / "conf", [free_port() for _ in range(5)]
    conf.mkdir()
    write_site(conf / "core-site.xml", {"fs.defaultFS": "file:///", "hadoop.tmp.dir": tmp_path / "tmp"})
    write_site(conf / "yarn-site.xml", settings_of(tmp_path, ports))
    (conf / "log4j.properties").write_text(LOG4J)
    jars = [whole_jar("org.apache.hadoop", "hadoop-client-minicluster", HADOOP)]
    jars += [whole_jar("org.bouncycastle", f"{name}-jdk18on", "1.82") for name in ("bcprov", "bcutil", "bcpkix")]
    path = ":".join(map(str, [conf, *jars, spark_home(SPARK) / "jars/*"]))
    running = []
    for main in ("resourcemanager.ResourceManager", "nodemanager.NodeManager"):
        with (tmp_path / f"{main}.log").open("wb") as log:
            command = ["java", *JVM, "-cp", path, f"{YARN}.{main}"]
            running.append(subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=die_with_parent))

    def node_is_there():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{ports[-1]}/ws/v1/cluster/metrics", timeout=5) as page:
                return b'"activeNodes":1' in page.read()
        except (urllib.error.URLError, OSError):
            assert all(process.poll() is None for process in running)
            return False

    wait_for(node_is_there)
    yield conf
    for process in running:
        process.terminate()
    for process in running:
        process.wait()


def run_job(yarn, agent, data, files):
    home = spark_home(SPARK)
    conf = {
        "spark.yarn.jars": f"local:{home}/jars/*", "spark.driver.host": "127.0.0.1", "spark.executor.instances": 1,
        "spark.executor.memory": "512m", "spark.yarn.am.memory": "512m", "spark.ui.enabled": "false",
        "spark.executor.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -javaagent:{agent_jar().name}={agent}",
    }  # fmt: skip
    options = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    job = data.with_name("job.py")
    job.write_text(JOB), data.write_text("a line\n" * 1000)
    done = subprocess.run(
        [home / "bin/spark-submit", "--master", "yarn", "--deploy-mode", "client",
         "--files", ",".join(map(str, (agent_jar(), *files))), *options, job, data],
        env={**os.environ, "HADOOP_CONF_DIR": str(yarn), "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1",
             "PYSPARK_PYTHON": "/usr/bin/python3"},
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


def test_executors_log_in(secure, authority, yarn, tmp_path):
    """The recipe: with the role write alone; the secret comes into the container with the agent and the CA."""
    token = tmp_path / "plumb.token"
    token.write_text(TOKEN + "\n")
    os.chmod(token, 0o600)
    certificate, key = authority.sign("executor")
    plumbd = secure(
        auth__tokens=write_tokens(tmp_path / "tokens", line("executors", "write", TOKEN)), tls__clients=authority.pem,
        access__write="cert:executor", audit__path=tmp_path / "audit.log",
    )  # fmt: skip
    agent = f"receivers=localhost:{plumbd.thrift[1]},sampling=always,tls=on,tls.trust=ca.pem,"
    ways = {
        "token:executors": ("auth=token,auth.token.file=plumb.token", [token]),
        "cert:executor": (f"tls.certificate={certificate.name},tls.key={key.name}", [certificate, key]),
    }
    for settings, files in ways.values():
        run_job(yarn, agent + settings, tmp_path / "data", [authority.pem, *files])
    assert [found["principal"] for found in events(tmp_path, "login")] == list(ways)
    assert events(tmp_path, "denied") == [] and events(tmp_path, "login refused") == []
