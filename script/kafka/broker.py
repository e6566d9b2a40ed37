"""One real broker of Kafka (KRaft), with a port for everybody and one with logins, in one folder."""

import base64
import subprocess
import uuid
from pathlib import Path

from script.hdfs.cluster import SHORT_LIVED, ClusterError, Processes, die_with_parent, free_port
from script.hdfs.jars import cache_root, once, run

VERSION = "3.9.1"
HERE = Path(__file__).resolve().parent

SERVER = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{login},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  user_{user}="{password}";
log.dirs={folder}/data
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
group.initial.rebalance.delay.ms=0
num.io.threads=2
num.network.threads=1
"""


def kafka_jars():
    """The folder with the jars of broker and client; Maven gets them the first time."""

    def get(partial):
        command = ["mvn", "-q", "-B", "-f", HERE / "pom.xml", f"-Dkafka.version={VERSION}"]
        command += ["dependency:copy-dependencies", f"-DoutputDirectory={partial}"]
        run(command, f"Maven could not get the jars of Kafka {VERSION}")

    return once(cache_root() / f"kafka-{VERSION}" / "lib", get)


class Broker(Processes):
    """`with Broker(work) as broker: ...`; broker.address is for everybody, broker.login_address for USER with PASSWORD
    (SASL, PLAIN)."""

    USER, PASSWORD = "tracing", "wired-shut"

    def __init__(self, work):
        self.work = Path(work).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.processes, self.topics = {}, None
        self.port, self.login, self.controller = free_port(), free_port(), free_port()
        self.address, self.login_address = f"127.0.0.1:{self.port}", f"127.0.0.1:{self.login}"

    def _command(self, heap_mb, main, *arguments):
        path = f"{self.work}/classes:{kafka_jars()}/*"
        return ["java", *SHORT_LIVED, f"-Xmx{heap_mb}m", "-cp", path, main, *map(str, arguments)]

    def start(self):
        conf = self.work / "server.properties"
        conf.write_text(SERVER.format(folder=self.work, user=self.USER, password=self.PASSWORD, **vars(self)))
        source, jars = HERE / "Topics.java", f"{kafka_jars()}/*"
        run(["javac", "-nowarn", "-cp", jars, "-d", self.work / "classes", source], "javac failed")
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        format_it = self._command(64, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", conf)
        run(format_it, "Kafka's folder could not be made")
        self.start_broker()
        self.topics = subprocess.Popen(
            self._command(64, "Topics", self.address),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=die_with_parent,
        )
        self.processes["topics"] = self.topics
        self._read("ready")

    def start_broker(self):
        """Anew, after stop_broker()."""
        with open(self.log("broker"), "ab") as log:
            command = self._command(256, "kafka.Kafka", self.work / "server.properties")
            self.processes["broker"] = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.work, preexec_fn=die_with_parent
            )

    def stop_broker(self):
        broker = self.processes["broker"]
        broker.kill()
        broker.wait()

    def _read(self, word):
        line = self.topics.stdout.readline().strip()
        if not line.startswith(word):
            raise ClusterError(f"Kafka's client said '{line}', not '{word}':\n{self.log_end('broker')}")
        return line

    def ask(self, word, *words):
        self.topics.stdin.write(" ".join(map(str, words)) + "\n")
        self.topics.stdin.flush()
        return self._read(word)

    def create(self, topic, partitions=1):
        self.ask("created", "create", topic, partitions)

    def send(self, topic, messages):
        """When it returns, the broker has them."""
        self.ask("sent", "send", topic, *(base64.b64encode(message).decode() for message in messages))

    def read(self, topic):
        """All messages that the topic has now, of each partition in order."""
        return [base64.b64decode(message) for message in self.ask("read", "read", topic).split()[1:]]

    def committed(self, group):
        """Offsets of the group, summed up over all partitions."""
        return int(self.ask("", "committed", group))

    def stop(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()
        self.processes.clear()
