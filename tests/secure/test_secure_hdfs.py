"""A secure HDFS: NameNode, DataNode and client have each a login by Kerberos, by which their agents log in; and HttpFS,
with PLUMB_HADOOP_VERSIONS=all."""

import json
import os
import subprocess
from subprocess import PIPE
from urllib.parse import quote

import pytest

from script.hdfs.attach import Agent
from script.hdfs.cluster import SHORT_LIVED, Cluster, free_port, write_site
from script.hdfs.jars import whole_jar
from tests.agent.tours import home_of, java_for
from tests.conftest import ROOT
from tests.receiver.waiting import wait_for
from tests.secure.conftest import ask, events, trusting
from tests.secure.kdc import REALM

LOG = ROOT / "tests/data/spark/4.3.0/executor_lost.zstd"
FS_SHELL = "org.apache.hadoop.fs.FsShell"
HANDSHAKE = "SaslDataTransferClient#doSaslHandshake"
# Maven Central has no newer one.
HTTPFS, HTTPFS_VERSION = "org.apache.hadoop.fs.http.server.HttpFSServerWebServer", "3.4.1"
# The oldest and the newest; on each change, the newest.
ALL, NEWEST = os.environ.get("PLUMB_HADOOP_VERSIONS") == "all", "3.5.0"
VERSIONS = ["2.10.2", NEWEST] if ALL else [NEWEST]
# DataNodes protect their data by SASL, so that they need no port below 1024, and no root.
SECURE_CORE = {"hadoop.security.authentication": "kerberos", "hadoop.security.authorization": "true",
               "hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
               "hadoop.http.authentication.type": "kerberos",
               "hadoop.proxyuser.httpfs.hosts": "*", "hadoop.proxyuser.httpfs.groups": "*"}  # fmt: skip
SECURE_HDFS = {"dfs.block.access.token.enable": "true", "dfs.data.transfer.protection": "authentication",
               "ignore.secure.ports.for.testing": "true"}  # fmt: skip


class WithTickets(Agent):
    """The client's tickets are in a cache; servers have keytabs."""

    def __init__(self, settings, cache):
        super().__init__(settings)
        self.cache = cache

    def environment(self, name, work):
        server = name.startswith(("namenode", "datanode", "httpfs"))
        return {"KRB5CCNAME": "FILE:/none" if server else self.cache}


class SecureCluster(Cluster):
    """Its beans are shown to who has a ticket, as all is over HTTP."""

    reader = None  # the environment of somebody who has one

    def jmx(self, name, query):
        url = f"http://{self.address(name)}:{self.http[name]}/jmx?qry={quote(query)}"
        command = ["curl", "-sS", "--negotiate", "-u", ":", url]
        done = subprocess.run(command, env=self.reader, capture_output=True, text=True, timeout=30)
        try:
            return json.loads(done.stdout)["beans"]
        except ValueError:
            return []


def secure_hdfs(keytab):
    kinds = {"namenode": "nn", "datanode": "dn"}
    names = {f"dfs.{kind}.kerberos.principal": f"{short}/localhost@{REALM}" for kind, short in kinds.items()}
    web = {"dfs.web.authentication.kerberos.principal": f"HTTP/127.0.0.1@{REALM}",
           "dfs.web.authentication.kerberos.keytab": keytab}  # fmt: skip
    return {**SECURE_HDFS, **names, **web, **{f"dfs.{kind}.keytab.file": keytab for kind in kinds}}


def processes_by_trace(spans):
    """Which kinds of processes have spans in each trace, and what they are called."""
    processes = {}
    for span in spans:
        processes.setdefault(span["a"][:16], set()).update(span["r"].split("/")[:2])
    return processes.values()


def check_handshakes(plumbd, authority, spans):
    """The client shakes hands with a DataNode before it writes and before it reads, the DataNode with the next one of
    the pipeline: others wait for that by its name, and it is never the network's."""
    handshakes = [span for span in spans if span["d"] == HANDSHAKE]
    processes = processes_by_trace(handshakes)
    assert {"FsShell", "DataNode"} <= set().union(*processes), processes
    assert len(processes) >= 2, "written and read"
    for trace in {span["a"][:16] for span in handshakes}:
        answer = json.loads(ask(plumbd, trusting(authority), f"/api/v1/why?trace={trace}")[1])
        resources = {share["resource"] for share in answer["hdfs"]["shares"] if share["function"] == HANDSHAKE}
        assert resources <= {"client", "server"}, answer["hdfs"]["shares"]
    rows = json.loads(ask(plumbd, trusting(authority), "/api/v1/functions?limit=0")[1])["functions"]
    critical = {row["role"]: row["critical_ns"] for row in rows if row["function"] == HANDSHAKE}
    assert critical.keys() == {"client", "datanode"} and min(critical.values()) > 0, critical


def read_event_log(build_dir, kdc, url):
    """plumb-bridge reads what is in it by WebHDFS, with the ticket of kinit; who has none is told so."""
    command = [build_dir / "spark-bridge/plumb-bridge", "--check", url]
    for environment, good in ((kdc.login("people", "people"), True), (kdc.env(KRB5CCNAME="FILE:/none"), False)):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert (done.returncode == 0) == good, done.stderr
        assert good or "HDFS wants a ticket of Kerberos" in done.stderr, done.stderr


def httpfs_site(keytab, port):
    """Whoever asks it has a ticket, and so has it, for HDFS."""
    site = {"httpfs.http.hostname": "127.0.0.1", "httpfs.http.port": port,
            "hadoop.http.filter.initializers": "org.apache.hadoop.http.lib.StaticUserWebFilter"}  # fmt: skip
    for what, principal in (("", "HTTP/127.0.0.1"), ("hadoop.", "httpfs/localhost")):
        site[f"httpfs.{what}authentication.type"] = "kerberos"
        site[f"httpfs.{what}authentication.kerberos.principal"] = f"{principal}@{REALM}"
        site[f"httpfs.{what}authentication.kerberos.keytab"] = keytab
    return site


def read_by_httpfs(cluster, keytab, path):
    """What HttpFS answers: it asks HDFS for its reader."""
    port = free_port()
    write_site(cluster.conf / "httpfs-site.xml", httpfs_site(keytab, port))
    (cluster.conf / "httpfs-signature.secret").write_text("a secret of this test")
    jars = [whole_jar("org.apache.hadoop", "hadoop-hdfs-httpfs", HTTPFS_VERSION),
            whole_jar("com.googlecode.json-simple", "json-simple", "1.1.1")]  # fmt: skip
    httpfs = cluster.java("httpfs", HTTPFS, class_path=":".join(map(str, jars)), version=HTTPFS_VERSION)
    url = f"http://127.0.0.1:{port}/webhdfs/v1{path}?op=OPEN"
    command, found = ["curl", "-sSf", "--negotiate", "-u", ":", url], []

    def answered():
        assert httpfs.poll() is None, cluster.log_end("httpfs")
        done = subprocess.run(command, env=cluster.reader, capture_output=True, text=True, timeout=60)
        found.append(done.stdout)
        return done.returncode == 0

    try:
        wait_for(answered, 120)
    finally:
        httpfs.terminate()
        httpfs.wait(30)
    return found[-1]


@pytest.mark.parametrize("version", VERSIONS)
def test_all_processes_log_in(kerberos, kdc, authority, build_dir, tmp_path, version):
    """One file is written and read: one forest, of three processes, each by its own principal."""
    others = ["httpfs/localhost"] if ALL and version == NEWEST else []
    plumbd = kerberos(access__write="; ".join(f"krb5:{name}@{REALM}" for name in ("nn/*", "dn/*", "people", *others)),
                      access__read="anonymous", access__admin="anonymous").start()  # fmt: skip
    settings = {"receivers": f"localhost:{plumbd.thrift[1]}", "sampling": "always", "tls": "on",
                "tls.trust": authority.pem, "auth": "kerberos"}  # fmt: skip
    people = kdc.login("people", "people")
    SecureCluster.reader = people
    agent = WithTickets(settings, people["KRB5CCNAME"])
    keytab = kdc.keytab("hdfs", "nn/localhost", "dn/localhost", "HTTP/127.0.0.1", *others)
    web = {"hadoop.http.authentication.kerberos.principal": f"HTTP/127.0.0.1@{REALM}",
           "hadoop.http.authentication.kerberos.keytab": keytab}  # fmt: skip
    jvm = (*SHORT_LIVED, f"-Djava.security.krb5.conf={kdc.path}", f"-Dhttpfs.home.dir={tmp_path}",
           *(f"-Dhttpfs.{folder}.dir={tmp_path}/hdfs/conf" for folder in ("config", "log", "temp")))  # fmt: skip
    with SecureCluster(tmp_path / "hdfs", version, datanodes=2, core=SECURE_CORE | web, hdfs=secure_hdfs(keytab),
                 agent=agent, java=home_of(java_for(version)), jvm=jvm) as cluster:  # fmt: skip
        for command in (["-put", cluster.conf / "core-site.xml", LOG, "/"], ["-cat", "/core-site.xml"]):
            shell = cluster.java("client", FS_SHELL, map(str, command), stdout=PIPE)
            out, _ = shell.communicate(timeout=120)
            assert shell.returncode == 0, cluster.log_end("client")
        assert "hadoop.security.authentication" in out
        if others:
            assert read_by_httpfs(cluster, keytab, "/core-site.xml") == out
        cluster.wait_all_sent()
        assert [log for log in cluster.work.glob("*.log") if "io.plumbline" in log.read_text()] == []
        read_event_log(build_dir, kdc, cluster.url(f"/{LOG.name}", "webhdfs"))

    here = {f"krb5:{name}@{REALM}" for name in ("people", "nn/localhost", "dn/localhost", *others)}
    wait_for(lambda: {found["principal"] for found in events(tmp_path, "login")} == here)
    assert ask(plumbd, trusting(authority), "/api/v1/flush", "POST")[0] == 200
    found = ask(plumbd, trusting(authority), "/api/v1/export")[1].splitlines()
    spans = [json.loads(line) for line in found]
    traces = list(processes_by_trace(spans))
    for client in ("FsShell", "httpfs") if others else ("FsShell",):
        assert any(processes >= {client, "NameNode", "DataNode"} for processes in traces), (client, traces)
    check_handshakes(plumbd, authority, spans)
