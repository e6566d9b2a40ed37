"""A real HDFS on this machine: one NameNode, some DataNodes and JournalNodes, each its own JVM, on free ports, in one
folder.

As a program it starts a cluster, says how to reach it, and stops it at the end of its input or on SIGINT/SIGTERM. As a
module: `with Cluster(work) as cluster: ...`.
"""

import argparse
import ctypes
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from script.hdfs.attach import Agent
from script.hdfs.jars import (  # noqa: F401 (the rest is for those who use this module)
    DEFAULT_VERSION,
    ROOT,
    ClusterError,
    agent_jar,
    compile_java,
    hadoop_jars,
    has_htrace,
    receiver_jar,
    workload_classes,
)
from script.hdfs.javas import java_release

NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
DATANODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
JOURNALNODE = "org.apache.hadoop.hdfs.qjournal.server.JournalNode"
JOURNAL = "plumb"  # what JournalNodes call the edit log
FORMAT_SECONDS = 120
READY_SECONDS = 180
SETTLED_SECONDS = 3
POLL_SECONDS = 0.1

JVM_FLAGS = ["-Djava.net.preferIPv4Stack=true"]
# What Hadoop reaches into. Java 8 has no modules and does not know the option.
OPENED_MODULES = [
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
]
# Many short-lived JVMs on few processors: the first compiler and the plain collector are the fastest here.
SHORT_LIVED = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

LOG4J = """log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
"""

WEB_XML = '<web-app xmlns="http://xmlns.jcp.org/xml/ns/javaee" version="3.1"></web-app>\n'

# Small blocks, so that a small file has several; short intervals, so that starting and stopping is quick.
HDFS_SITE = {
    "dfs.replication": "3",
    "dfs.blocksize": "262144",
    "dfs.namenode.fs-limits.min-block-size": "4096",
    "dfs.bytes-per-checksum": "512",
    "dfs.permissions.enabled": "false",
    "dfs.namenode.datanode.registration.ip-hostname-check": "false",
    "dfs.namenode.safemode.extension": "0",
    "dfs.heartbeat.interval": "1",
    # Users of the tests are in no group of this machine. The NameNode would look again after 30 s, in whichever call
    # comes then.
    "hadoop.security.groups.negative-cache.secs": "3600",
    # With few DataNodes a busy one must not be passed over: every block has all its replicas from the start. (The name
    # up to Hadoop 2, which later ones still know.)
    "dfs.namenode.replication.considerLoad": "false",
    "dfs.namenode.handler.count": "4",
    "dfs.datanode.handler.count": "4",
    "dfs.datanode.address": "127.0.0.1:0",
    "dfs.datanode.http.address": "127.0.0.1:0",
    "dfs.datanode.ipc.address": "127.0.0.1:0",
    "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
}
# A DataNode's host is the address that it listens at. The NameNode sees all loopback addresses as 127.0.0.1.
BY_HOST_NAME = {
    "dfs.client.use.datanode.hostname": "true",
    "dfs.datanode.use.datanode.hostname": "true",
    # A host's own disk is small; the policy would keep a gigabyte free.
    "dfs.datanode.round-robin-volume-choosing-policy.additional-available-space": "0",
}


def sample_core_site():
    """The properties of conf/core-site.xml.sample, in its order."""
    tree = ElementTree.parse(ROOT / "conf" / "core-site.xml.sample")
    return {entry.findtext("name"): entry.findtext("value") for entry in tree.iter("property")}


def sample_class_path(jar):
    """The class path that conf/hadoop-env.sh.sample makes of our jar."""
    script = '. "$0" && printf %s "$HADOOP_CLASSPATH"'
    environment = {"PATH": os.environ["PATH"], "PLUMB_SPAN_RECEIVER_JAR": str(jar)}
    sample = str(ROOT / "conf" / "hadoop-env.sh.sample")
    return subprocess.run(
        ["bash", "-c", script, sample], env=environment, check=True, capture_output=True, text=True
    ).stdout


def tracing(addresses, local_files=False):
    """Properties that trace every call: those of the sample, sent to 'addresses' ("host:port,..."). Processes are
    called as if each had a host of its own: datanode2, not this machine's address. With local_files, HTrace's
    LocalFileSpanReceiver writes the same spans to a file of each process besides."""
    settings = sample_core_site()
    settings["hadoop.htrace.tracer.id"] = "%{tname}/${plumb.host}"
    settings["hadoop.htrace.plumb.receiver.addresses"] = addresses
    for name in settings:
        if name.endswith(".sampler.fraction"):
            settings[name] = "1.0"
    if local_files:
        # With its package: without it the HTrace of Hadoop 2.8 loads it once for each tracer, and spans come twice.
        settings["hadoop.htrace.span.receiver.classes"] += ";org.apache.htrace.core.LocalFileSpanReceiver"
        settings["hadoop.htrace.local.file.span.receiver.path"] = "${plumb.local.spans}"
    return settings


def free_port():
    """A port that will still be free in a while: not one of those that the kernel gives to whoever asks for any."""
    least_given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(10000, max(least_given, 20000))
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def write_site(path, properties):
    root = ElementTree.Element("configuration")
    for name, value in properties.items():
        entry = ElementTree.SubElement(root, "property")
        ElementTree.SubElement(entry, "name").text = name
        ElementTree.SubElement(entry, "value").text = str(value)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def die_with_parent():
    """A cluster does not outlive whoever started it, not even when that one is killed (PR_SET_PDEATHSIG = 1)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def wait_for(condition, seconds, what):
    """Polls until condition() is true; its value. ClusterError when the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise ClusterError(f"{what}: not within {seconds} s")
        time.sleep(POLL_SECONDS)


def listens(address, port):
    try:
        socket.create_connection((address, port), timeout=1).close()
        return True
    except OSError:
        return False


def choose(choices, name):
    """What holds for a process: of its name ("datanode2"), of its kind ("datanode"), or else of "*"."""
    kinds = {"namenode": "namenode", "format": "namenode", "datanode": "datanode", "journalnode": "journalnode"}
    kind = kinds.get(name.rstrip("0123456789"), "client")
    return next((choices[key] for key in (name, kind, "*") if key in choices), None)


class Processes:
    """Several processes in the folder 'work', each with a log; 'with' starts and stops them."""

    LOG_END_LINES = 30
    STOP_SECONDS = 20

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """In order: span receivers drain. What does not stop in time is killed."""
        for process in reversed(self.processes.values()):
            if process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(self.STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()

    def log(self, name):
        return self.work / f"{name}.log"

    def log_end(self, name):
        text = self.log(name).read_text(errors="replace") if self.log(name).exists() else ""
        return "\n".join(text.splitlines()[-self.LOG_END_LINES :])


class Cluster(Processes):
    """NameNode and DataNodes in the folder 'work', which is made. core: more properties of core-site.xml (tracing());
    hdfs: of hdfs-site.xml. journalnodes: so many have the edit log besides. class_path: put before Hadoop's jars.
    agent: an Agent or Woven of every process, or a dictionary by name, kind or "*" with None for no agent; version: of
    Hadoop, the same way. java: a Java home; jvm: options of every JVM. hosts: where processes run (Loopback or
    Namespaces of script/spark/hosts.py), so that each DataNode has an address of its own; without, all are at
    127.0.0.1."""

    def __init__(
        self,
        work,
        version=DEFAULT_VERSION,
        datanodes=3,
        core=None,
        hdfs=None,
        class_path="",
        *,
        agent=None,
        java=None,
        jvm=SHORT_LIVED,
        hosts=None,
        journalnodes=0,
    ):
        self.hosts = hosts
        self.work = Path(work).resolve()
        self.conf = self.work / "conf"
        self.versions = version if isinstance(version, dict) else {"*": version}
        self.agents = agent if isinstance(agent, dict) else {"*": agent}
        self.java_program = str(Path(java) / "bin" / "java") if java else "java"
        self.jvm_flags = [*JVM_FLAGS, *([] if java and java_release(java) == 8 else OPENED_MODULES), *jvm]
        self.datanodes = datanodes
        self.journalnodes = [f"journalnode{i}" for i in range(1, journalnodes + 1)]
        self.core = dict(core or {})
        self.hdfs = {**HDFS_SITE, "dfs.replication": str(max(1, min(3, datanodes))), **(hdfs or {})}
        self.extra_class_path = class_path
        self.processes = {}
        self.http = {}

    # ---- processes ----

    def version_of(self, name):
        return choose(self.versions, name)

    def class_path(self, version, agent):
        jars = agent.class_path(version) if agent else f"{hadoop_jars(version)}/*"
        return ":".join(part for part in (self.extra_class_path, str(self.conf), jars) if part)

    def _command(self, name, main, arguments, heap_mb, version=None, agent=None):
        folder = self.work / name
        folder.mkdir(parents=True, exist_ok=True)
        return [
            self.java_program,
            *self.jvm_flags,
            f"-Xmx{heap_mb}m",
            f"-Djava.io.tmpdir={folder}",
            f"-Dplumb.host={name}",
            f"-Dplumb.local.spans={self.local_spans(name)}",
            *(agent.options(name, self.work) if agent else []),
            "-cp",
            self.class_path(version or self.version_of(name), agent),
            main,
            *arguments,
        ]

    def _environment(self, name, agent):
        return {**os.environ, "HADOOP_USER_NAME": "plumb", **(agent.environment(name, self.work) if agent else {})}

    def _spawn(self, name, main, arguments, heap_mb, agent=None):
        inside = self.hosts.inside(name) if self.hosts else []
        with open(self.log(name), "ab") as log:
            self.processes[name] = subprocess.Popen(
                [*inside, *self._command(name, main, arguments, heap_mb, agent=agent)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment(name, agent),
                cwd=self.work,
                preexec_fn=die_with_parent,
            )

    def java(self, name, main, arguments=(), class_path="", heap_mb=256, **options):
        """Starts a client of the cluster, on the host of that name where there is one: a Popen, whose standard error
        goes to the log 'name' unless given. agent, version: others than the cluster's."""
        agent = options.pop("agent", choose(self.agents, name))
        command = self._command(name, main, list(arguments), heap_mb, options.pop("version", None), agent)
        if class_path:
            position = command.index("-cp") + 1
            command[position] = f"{class_path}:{command[position]}"
        with open(self.log(name), "ab") as log:
            options.setdefault("stderr", log)
            return subprocess.Popen(
                [*(self.hosts.inside(name) if self.hosts else []), *command],
                env=self._environment(name, agent),
                cwd=self.work,
                text=True,
                preexec_fn=die_with_parent,
                **options,
            )

    def local_spans(self, name):
        """Where LocalFileSpanReceiver of that process writes."""
        return self.work / f"{name}.spans"

    def address(self, name):
        return self.hosts.address(name) if self.hosts else "127.0.0.1"

    def url(self, path="", scheme="hdfs"):
        """Of a file, by hdfs:// or webhdfs://."""
        port = self.rpc_port if scheme == "hdfs" else self.http["namenode"]
        return f"{scheme}://{self.address('namenode')}:{port}{path}"

    # ---- start ----

    def _write_conf(self):
        for app in ("hdfs", "datanode", "journal"):
            folder = self.conf / "webapps" / app / "WEB-INF"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "web.xml").write_text(WEB_XML)
        (self.conf / "log4j.properties").write_text(LOG4J)
        self.rpc_port, self.http["namenode"] = free_port(), free_port()
        write_site(
            self.conf / "core-site.xml",
            {
                "fs.defaultFS": self.url(),
                "ipc.client.connect.retry.interval": "200",
                "hadoop.tmp.dir": str(self.work / "tmp"),
                **self.core,
            },
        )
        write_site(
            self.conf / "hdfs-site.xml",
            {
                "dfs.namenode.name.dir": f"file://{self.work}/namenode/name",
                "dfs.namenode.http-address": f"{self.address('namenode')}:{self.http['namenode']}",
                **(BY_HOST_NAME if self.hosts else {}),
                **self._edits(),
                **self.hdfs,
            },
        )

    def _edits(self):
        """Where the NameNode writes its edit log, where that is not its own disk alone."""
        if not self.journalnodes:
            return {}
        self.journal_ports = {name: free_port() for name in self.journalnodes}
        self.http.update((name, free_port()) for name in self.journalnodes)
        places = ";".join(f"{self.address(name)}:{port}" for name, port in self.journal_ports.items())
        return {"dfs.namenode.edits.dir": f"file://{self.work}/namenode/name,qjournal://{places}/{JOURNAL}"}

    def _start_journalnodes(self):
        for name, port in self.journal_ports.items():
            folder = self.data_folder(name)
            folder.mkdir(parents=True, exist_ok=True)
            settings = {
                "dfs.journalnode.edits.dir": folder,
                "dfs.journalnode.rpc-address": f"{self.address(name)}:{port}",
                "dfs.journalnode.http-address": f"{self.address(name)}:{self.http[name]}",
            }
            arguments = [f"-D{key}={value}" for key, value in settings.items()]
            self._spawn(name, JOURNALNODE, arguments, 96, choose(self.agents, name))
        wait_for(self._journalnodes_ready, READY_SECONDS, "JournalNodes ready")

    def _journalnodes_ready(self):
        self._check_alive()
        return all(listens(self.address(name), port) for name, port in self.journal_ports.items())

    def start(self):
        """Returns when all DataNodes are there and files can be written."""
        self._write_conf()
        if self.journalnodes:
            self._start_journalnodes()
        # Formatting ends spans of nobody, but loads the receivers: it is to leave no file of theirs.
        self._spawn(
            "format", NAMENODE, ["-Dhadoop.htrace.span.receiver.classes=", "-format", "-force", "-nonInteractive"], 128
        )
        if self.processes.pop("format").wait(FORMAT_SECONDS) != 0:
            raise ClusterError(f"NameNode could not be formatted:\n{self.log_end('format')}")
        self._spawn("namenode", NAMENODE, [], 256, choose(self.agents, "namenode"))
        for i in range(1, self.datanodes + 1):
            self.start_datanode(i)
        wait_for(self._ready, READY_SECONDS, "HDFS ready")
        self._find_datanode_http()

    def start_datanode(self, number):
        name = f"datanode{number}"
        data = self.data_folder(name)
        data.mkdir(parents=True, exist_ok=True)
        data.chmod(0o700)
        settings = {"dfs.datanode.data.dir": f"file://{data}"}
        if self.hosts:
            here = self.address(name)
            settings["dfs.datanode.hostname"] = here
            settings.update({f"dfs.datanode.{kind}address": f"{here}:0" for kind in ("", "http.", "ipc.")})
        self._spawn(
            name, DATANODE, [f"-D{key}={value}" for key, value in settings.items()], 192, choose(self.agents, name)
        )

    def data_folder(self, name):
        """Of a DataNode or JournalNode: on its host's own disk, if it has one."""
        disk = self.hosts.disk(name) if self.hosts else None
        return (disk or self.work / name) / "data"

    def _ready(self):
        self._check_alive()
        state = self.jmx("namenode", "Hadoop:service=NameNode,name=FSNamesystemState")
        return bool(state) and state[0]["NumLiveDataNodes"] == self.datanodes and state[0]["FSState"] == "Operational"

    def _check_alive(self):
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise ClusterError(f"{name} ended with {process.returncode}:\n{self.log_end(name)}")

    def _find_datanode_http(self):
        """DataNodes have chosen their ports; each shows its data folder, which tells them apart."""
        live = json.loads(self._bean("namenode", "Hadoop:service=NameNode,name=NameNodeInfo")["LiveNodes"])
        if self.hosts:
            names = {self.address(f"datanode{i}"): f"datanode{i}" for i in range(1, self.datanodes + 1)}
            for place, node in live.items():
                self.http[names[place.rsplit(":", 1)[0]]] = int(node["infoAddr"].rsplit(":", 1)[1])
            return
        for node in live.values():
            port = int(node["infoAddr"].rsplit(":", 1)[1])
            self.http["?"] = port
            volumes = json.loads(self._bean("?", "Hadoop:service=DataNode,name=DataNodeInfo")["VolumeInfo"])
            self.http[Path(next(iter(volumes))).parts[len(self.work.parts)]] = port
        self.http.pop("?", None)

    # ---- questions ----

    def jmx(self, name, query):
        """Beans of a server's JVM; an empty list while it does not answer."""
        url = f"http://{self.address(name)}:{self.http[name]}/jmx?qry={urllib.parse.quote(query)}"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return json.load(answer)["beans"]
        except (urllib.error.URLError, OSError, ValueError):
            return []

    def _bean(self, name, query):
        """One that a server registers sooner or later while it starts."""
        found = []

        def registered():
            self._check_alive()
            found[:] = self.jmx(name, query)
            return bool(found)

        wait_for(registered, READY_SECONDS, query)
        return found[0]

    def senders(self):
        """Counters of our sender in every server that has one, by process; those of a process summed up."""
        counters = {}
        for name in self.http:
            beans = [bean for bean in self.jmx(name, "io.plumbline:*") if "SpansReceived" in bean]
            for bean in beans[1:]:
                for key, value in bean.items():
                    if isinstance(value, int) and not isinstance(value, bool):
                        beans[0][key] += value
            if beans:
                counters[name] = beans[0]
        return counters

    def datanodes_idle(self):
        """Is no block being written or read? One of the threads counted is the one that listens."""
        datanodes = [name for name in self.http if name.startswith("datanode")]
        infos = [self.jmx(name, "Hadoop:service=DataNode,name=DataNodeInfo") for name in datanodes]
        return all(info and info[0]["XceiverCount"] <= 1 for info in infos)

    def wait_all_sent(self, seconds=60):
        """Until every server's spans are acknowledged or counted as dropped, and no more come. The counters."""
        last, since = {}, time.monotonic()
        traced = {name for name in self.http if self.core or choose(self.agents, name)}

        def settled():
            nonlocal last, since
            now = self.senders()
            quiet = set(now) == traced and all(
                bean["SpansReceived"] == bean["SpansAcknowledged"] + bean["SpansDropped"] for bean in now.values()
            )
            received = [{name: bean["SpansReceived"] for name, bean in beans.items()} for beans in (now, last)]
            same, last = received[0] == received[1], now
            since = since if quiet and same else time.monotonic()
            # A reader of a lost striped block may hang in a DataNode of Hadoop 3.2 for good: then the time tells.
            return quiet and same and (self.datanodes_idle() or time.monotonic() - since > SETTLED_SECONDS)

        wait_for(settled, seconds, "spans of the servers sent")
        return last


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", required=True, help="folder for data, configuration and logs")
    parser.add_argument("--version", default=DEFAULT_VERSION, help="of Hadoop, 2.8 to 3.5 (default %(default)s)")
    parser.add_argument("--datanodes", type=int, default=3)
    parser.add_argument(
        "--trace-to",
        metavar="HOST:PORT",
        help="send spans there: with the agent from 3.3.2 on, with our span receiver alone up to 3.3.1",
    )
    parser.add_argument("--agent", action="store_true", help="with the agent in every version")
    parser.add_argument("--local-files", action="store_true", help="and write them to files")
    options = parser.parse_args()
    core, class_path, agent = {}, "", None
    if options.trace_to and (options.agent or not has_htrace(options.version)):
        agent = Agent({"receivers": options.trace_to, "sampling": "always"})
    elif options.trace_to:
        core = tracing(options.trace_to, options.local_files)
        class_path = sample_class_path(receiver_jar())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with Cluster(
            options.work, options.version, options.datanodes, core, class_path=class_path, agent=agent
        ) as cluster:
            print(
                f"HDFS {options.version} is ready: hdfs://127.0.0.1:{cluster.rpc_port}, "
                f"configuration {cluster.conf}, page http://127.0.0.1:{cluster.http['namenode']}/jmx; "
                "ends with its input (Ctrl-D)",
                flush=True,
            )
            sys.stdin.read()
    except ClusterError as error:
        sys.exit(f"cluster: {error}")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
