"""A secure HDFS: NameNode, DataNode and client have each a login by Kerberos, by which their agents log in."""

import json
import os
from subprocess import PIPE

import pytest

from script.hdfs.attach import Agent
from script.hdfs.cluster import SHORT_LIVED, Cluster
from tests.agent.tours import home_of, java_for
from tests.receiver.waiting import wait_for
from tests.secure.conftest import ask, events, trusting
from tests.secure.kdc import REALM

FS_SHELL = "org.apache.hadoop.fs.FsShell"
# The oldest and the newest; on each change, the newest.
VERSIONS = ["2.10.2", "3.5.0"] if os.environ.get("PLUMB_HADOOP_VERSIONS") == "all" else ["3.5.0"]
# DataNodes protect their data by SASL, so that they need no port below 1024, and no root.
SECURE_CORE = {"hadoop.security.authentication": "kerberos", "hadoop.security.authorization": "true"}
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


def secure_hdfs(kdc):
    keytab = kdc.keytab("hdfs", "nn/localhost", "dn/localhost", "HTTP/127.0.0.1")
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


@pytest.mark.parametrize("version", VERSIONS)
def test_all_processes_log_in(kerberos, kdc, authority, tmp_path, version):
    """One file is written and read: one forest, of three processes, each by its own principal."""
    plumbd = kerberos(access__write=f"krb5:nn/*@{REALM}; krb5:dn/*@{REALM}; krb5:people@{REALM}",
                      access__read="anonymous", access__admin="anonymous").start()  # fmt: skip
    settings = {"receivers": f"localhost:{plumbd.thrift[1]}", "sampling": "always", "tls": "on",
                "tls.trust": authority.pem, "auth": "kerberos"}  # fmt: skip
    agent = WithTickets(settings, kdc.login("people", "people")["KRB5CCNAME"])
    jvm = (*SHORT_LIVED, f"-Djava.security.krb5.conf={kdc.path}")
    with Cluster(tmp_path / "hdfs", version, datanodes=1, core=SECURE_CORE, hdfs=secure_hdfs(kdc), agent=agent,
                 java=home_of(java_for(version)), jvm=jvm) as cluster:  # fmt: skip
        for command in (["-put", cluster.conf / "core-site.xml", "/file"], ["-cat", "/file"]):
            shell = cluster.java("client", FS_SHELL, map(str, command), stdout=PIPE)
            out, _ = shell.communicate(timeout=120)
            assert shell.returncode == 0, cluster.log_end("client")
        assert "hadoop.security.authentication" in out
        cluster.wait_all_sent()
        assert [log for log in cluster.work.glob("*.log") if "io.plumbline" in log.read_text()] == []

    here = {f"krb5:{name}@{REALM}" for name in ("people", "nn/localhost", "dn/localhost")}
    wait_for(lambda: {found["principal"] for found in events(tmp_path, "login")} == here)
    assert ask(plumbd, trusting(authority), "/api/v1/flush", "POST")[0] == 200
    found = ask(plumbd, trusting(authority), "/api/v1/export")[1].splitlines()
    wanted = {"FsShell", "NameNode", "DataNode"}
    assert any(kinds >= wanted for kinds in kinds_by_trace(json.loads(line) for line in found))
