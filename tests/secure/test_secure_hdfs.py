"""A secure HDFS: NameNode, DataNode and client have each a login by Kerberos, by which their agents log in."""

import json
import os
import subprocess
from subprocess import PIPE
from urllib.parse import quote

import pytest

from script.hdfs.attach import Agent
from script.hdfs.cluster import SHORT_LIVED, Cluster
from tests.agent.tours import home_of, java_for
from tests.conftest import ROOT
from tests.receiver.waiting import wait_for
from tests.secure.conftest import ask, events, trusting
from tests.secure.kdc import REALM

LOG = ROOT / "tests/data/spark/4.3.0/executor_lost.zstd"
FS_SHELL = "org.apache.hadoop.fs.FsShell"
# The oldest and the newest; on each change, the newest.
VERSIONS = ["2.10.2", "3.5.0"] if os.environ.get("PLUMB_HADOOP_VERSIONS") == "all" else ["3.5.0"]
# DataNodes protect their data by SASL, so that they need no port below 1024, and no root.
SECURE_CORE = {"hadoop.security.authentication": "kerberos", "hadoop.security.authorization": "true",
               "hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
               "hadoop.http.authentication.type": "kerberos"}  # fmt: skip
SECURE_HDFS = {"dfs.block.access.token.enable": "true", "dfs.data.transfer.protection": "authentication",
               "ignore.secure.ports.for.testing": "true"}  # fmt: skip


class WithTickets(Agent):
    """The client's tickets are in a cache; servers have keytabs."""

    def __init__(self, settings, cache):
        super().__init__(settings)
        self.cache = cache

    def environment(self, name, work):
        server = name.startswith(("namenode", "datanode"))
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


def kinds_by_trace(spans):
    """Which kinds of processes have spans in each trace."""
    kinds = {}
    for span in spans:
        kinds.setdefault(span["a"][:16], set()).add(span["r"].partition("/")[0])
    return kinds.values()


def read_event_log(build_dir, kdc, url):
    """plumb-bridge reads what is in it by WebHDFS, with the ticket of kinit; who has none is told so."""
    command = [build_dir / "spark-bridge/plumb-bridge", "--check", url]
    for environment, good in ((kdc.login("people", "people"), True), (kdc.env(KRB5CCNAME="FILE:/none"), False)):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert (done.returncode == 0) == good, done.stderr
        assert good or "HDFS wants a ticket of Kerberos" in done.stderr, done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_all_processes_log_in(kerberos, kdc, authority, build_dir, tmp_path, version):
    """One file is written and read: one forest, of three processes, each by its own principal."""
    plumbd = kerberos(access__write=f"krb5:nn/*@{REALM}; krb5:dn/*@{REALM}; krb5:people@{REALM}",
                      access__read="anonymous", access__admin="anonymous").start()  # fmt: skip
    settings = {"receivers": f"localhost:{plumbd.thrift[1]}", "sampling": "always", "tls": "on",
                "tls.trust": authority.pem, "auth": "kerberos"}  # fmt: skip
    people = kdc.login("people", "people")
    SecureCluster.reader = people
    agent = WithTickets(settings, people["KRB5CCNAME"])
    keytab = kdc.keytab("hdfs", "nn/localhost", "dn/localhost", "HTTP/127.0.0.1")
    web = {"hadoop.http.authentication.kerberos.principal": f"HTTP/127.0.0.1@{REALM}",
           "hadoop.http.authentication.kerberos.keytab": keytab}  # fmt: skip
    jvm = (*SHORT_LIVED, f"-Djava.security.krb5.conf={kdc.path}")
    with SecureCluster(tmp_path / "hdfs", version, datanodes=1, core=SECURE_CORE | web, hdfs=secure_hdfs(keytab),
                 agent=agent, java=home_of(java_for(version)), jvm=jvm) as cluster:  # fmt: skip
        for command in (["-put", cluster.conf / "core-site.xml", LOG, "/"], ["-cat", "/core-site.xml"]):
            shell = cluster.java("client", FS_SHELL, map(str, command), stdout=PIPE)
            out, _ = shell.communicate(timeout=120)
            assert shell.returncode == 0, cluster.log_end("client")
        assert "hadoop.security.authentication" in out
        cluster.wait_all_sent()
        assert [log for log in cluster.work.glob("*.log") if "io.plumbline" in log.read_text()] == []
        read_event_log(build_dir, kdc, cluster.url(f"/{LOG.name}", "webhdfs"))

    here = {f"krb5:{name}@{REALM}" for name in ("people", "nn/localhost", "dn/localhost")}
    wait_for(lambda: {found["principal"] for found in events(tmp_path, "login")} == here)
    assert ask(plumbd, trusting(authority), "/api/v1/flush", "POST")[0] == 200
    found = ask(plumbd, trusting(authority), "/api/v1/export")[1].splitlines()
    wanted = {"FsShell", "NameNode", "DataNode"}
    assert any(kinds >= wanted for kinds in kinds_by_trace(json.loads(line) for line in found))
