"""The agent logs in by Kerberos: with the process's login in Hadoop, its own keytab, the ticket cache. A real KDC."""

import os
import subprocess
from pathlib import Path

import pytest

from script.hdfs.cluster import LOG4J, write_site
from script.hdfs.jars import agent_jar, compile_java, hadoop_jars
from tests.receiver.waiting import wait_for
from tests.secure.conftest import ask, events, trusting
from tests.secure.kdc import REALM
from tests.secure.test_tokens import line, write_tokens

TOKEN = "plumb_agent_0123456789"
FS_SHELL = "org.apache.hadoop.fs.FsShell"


@pytest.fixture(scope="session")
def shell_classes(tmp_path_factory):
    source = Path(__file__).parent / "java/LoggedInShell.java"
    return compile_java([source], tmp_path_factory.mktemp("classes"))


@pytest.fixture
def process(kdc, authority, shell_classes, tmp_path):
    """process(plumbd, main, *arguments): a JVM with the agent, which logs in by Kerberos; no ticket cache unless
    given. security, relogin: of Hadoop; the other settings are the agent's."""

    def start(
        plumbd, main, *arguments, security="kerberos", cache="/none", krb5=None, host="localhost", relogin=0, **settings
    ):
        conf = tmp_path / f"conf-{security}"
        conf.mkdir(exist_ok=True)
        write_site(
            conf / "core-site.xml",
            {"hadoop.security.authentication": security, "hadoop.kerberos.min.seconds.before.relogin": relogin},
        )
        quiet = "log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR\n"
        (conf / "log4j.properties").write_text(LOG4J + quiet)
        given = {"receivers": f"{host}:{plumbd.thrift[1]}", "sampling": "always", "tls": "on",
                 "tls.trust": authority.pem, "auth": "kerberos", "retry.max.ms": 200,
                 "shutdown.timeout.ms": 20_000}  # fmt: skip
        given.update({name.replace("_", "."): value for name, value in settings.items()})
        agent = ",".join(f"{name}={value}" for name, value in given.items() if value is not None)
        command = ["java", "-XX:TieredStopAtLevel=1", f"-Djava.security.krb5.conf={krb5 or kdc.path}",
                   f"-javaagent:{agent_jar()}={agent}", "-cp", f"{conf}:{shell_classes}:{hadoop_jars()}/*", main,
                   *map(str, arguments)]  # fmt: skip
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env={**os.environ, "KRB5CCNAME": f"FILE:{cache}"})  # fmt: skip

    return start


@pytest.fixture
def listing(process, tmp_path):
    """As above, of a shell that lists a folder, which must work whatever becomes of its spans: what it says."""

    def run(plumbd, main=FS_SHELL, *arguments, **settings):
        shell = process(plumbd, main, *arguments, *(["-ls", str(tmp_path)] if main == FS_SHELL else []), **settings)
        out, errors = shell.communicate(f"-ls {tmp_path}\n", timeout=120)
        assert shell.returncode == 0 and ("done 0" in out or main == FS_SHELL) and "Found " in out, errors
        return errors

    return run


def spans(plumbd, authority):
    rows = ask(plumbd, trusting(authority), "/metrics")[1].decode().splitlines()
    return sum(int(row.split()[1]) for row in rows if row.startswith('plumbd_account_spans{state="received"}'))


def logins(tmp_path):
    return [found["principal"] for found in events(tmp_path, "login")]


def test_the_process_s_login(kerberos, kdc, listing, authority, tmp_path):
    """There is no ticket but in the process, which has it from a keytab."""
    plumbd = kerberos().start()
    said = listing(plumbd, "LoggedInShell", "dn/h1.example", kdc.folder / "dn.keytab")
    assert logins(tmp_path) == [f"krb5:dn/h1.example@{REALM}"], said
    assert spans(plumbd, authority) > 0 and said == ""


def test_the_ticket_cache(kerberos, kdc, listing, authority, tmp_path):
    """Of a command, whose login in Hadoop is from it; and of a process without Kerberos in Hadoop."""
    plumbd = kerberos().start()
    cache = kdc.login("dn", "dn/h1.example")["KRB5CCNAME"].partition(":")[2]
    for security in ("kerberos", "simple"):
        said = listing(plumbd, security=security, cache=cache)
        assert said == ""
    assert logins(tmp_path) == [f"krb5:dn/h1.example@{REALM}"] * 2


def test_a_keytab_of_its_own(kerberos, kdc, listing, tmp_path):
    plumbd = kerberos(access__write=f"krb5:people@{REALM}").start()
    own = {"auth_principal": "people", "auth_keytab": kdc.folder / "people.keytab"}
    said = listing(plumbd, "LoggedInShell", "dn/h1.example", kdc.folder / "dn.keytab", **own)
    assert logins(tmp_path) == [f"krb5:people@{REALM}"] and said == ""


def test_without_tls(kerberos, kdc, listing, tmp_path):
    plumbd = kerberos(tls__certificate="", tls__key="").start()
    said = listing(plumbd, "LoggedInShell", "dn/h1.example", kdc.folder / "dn.keytab", tls="off", tls_trust=None)
    assert logins(tmp_path) == [f"krb5:dn/h1.example@{REALM}"] and said == ""


def test_a_token_where_there_is_no_ticket(kerberos, listing, tmp_path):
    """As executors of Spark on YARN, with the settings of all others."""
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    plumbd = kerberos(auth__tokens=write_tokens(tmp_path / "tokens", line("executors", "write", TOKEN))).start()
    said = listing(plumbd, security="simple", auth_token_file=token)
    assert logins(tmp_path) == ["token:executors"] and said == ""


def tell(shell, command):
    """One command of LoggedInShell, which must work."""
    shell.stdin.write(command + "\n")
    shell.stdin.flush()
    while (said := shell.stdout.readline()) and not said.startswith("done"):
        pass
    assert said == "done 0\n"


def test_connections_outlive_the_kdc(kerberos, kdc, process, authority, tmp_path):
    plumbd = kerberos().start()
    shell = process(plumbd, "LoggedInShell", "dn/h1.example", kdc.folder / "dn.keytab")
    tell(shell, f"-ls {tmp_path}")
    wait_for(lambda: spans(plumbd, authority) > 0)
    kdc.stop()
    try:
        before = spans(plumbd, authority)
        tell(shell, f"-ls {tmp_path}")
        wait_for(lambda: spans(plumbd, authority) > before)
    finally:
        kdc.start()
    _, errors = shell.communicate(timeout=120)
    assert shell.returncode == 0 and errors == "" and len(logins(tmp_path)) == 1


def test_a_ticket_that_ends(kerberos, kdc, process, authority, tmp_path):
    """plumbd goes away, the ticket ends, plumbd comes back: the next login needs a new ticket."""
    kdc.keytab("brief", "dn/brief")
    kdc.run("kadmin.local", "-r", REALM, "modprinc", "-maxlife", "4 seconds", "dn/brief")
    plumbd = kerberos().start()
    shell = process(plumbd, "LoggedInShell", "dn/brief", kdc.folder / "brief.keytab")

    tell(shell, f"-ls {tmp_path}")
    wait_for(lambda: logins(tmp_path) == [f"krb5:dn/brief@{REALM}"])
    plumbd.settings["listen.thrift"] = "{}:{}".format(*plumbd.thrift)
    plumbd.stop()
    tell(shell, "outlive")
    plumbd.start()
    tell(shell, f"-ls {tmp_path}")
    _, errors = shell.communicate(timeout=120)
    assert shell.returncode == 0 and spans(plumbd, authority) > 0, errors
    assert logins(tmp_path) == [f"krb5:dn/brief@{REALM}"] * 2


def test_nobody_else_is_logged_in(kerberos, kdc, process, tmp_path):
    """The ticket ends while Hadoop does not ask for a new one: the agent does not take the token in its place."""
    kdc.keytab("short", "dn/short")
    kdc.run("kadmin.local", "-r", REALM, "modprinc", "-maxlife", "4 seconds", "dn/short")
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    plumbd = kerberos(auth__tokens=write_tokens(tmp_path / "tokens", line("executors", "write", TOKEN))).start()
    shell = process(
        plumbd, "LoggedInShell", "dn/short", kdc.folder / "short.keytab", relogin=3600, auth_token_file=token, **SOON
    )

    tell(shell, f"-ls {tmp_path}")
    wait_for(lambda: logins(tmp_path) == [f"krb5:dn/short@{REALM}"])
    plumbd.settings["listen.thrift"] = "{}:{}".format(*plumbd.thrift)
    plumbd.stop()
    tell(shell, "outlive")
    plumbd.start()
    tell(shell, f"-ls {tmp_path}")
    _, errors = shell.communicate(timeout=120)
    assert "dn/short" in lost(errors) and "its ticket has ended" in errors
    assert logins(tmp_path) == [f"krb5:dn/short@{REALM}"]


# ---- what goes wrong ----


def lost(said):
    """The one line about it of the process's end."""
    (text,) = [text for text in said.splitlines() if "were lost" in text]
    assert "Exception in thread" not in said
    return text


SOON = {"shutdown_timeout_ms": 500}
# Where the end must not come before the receiver's answer to a login.
LATER = {"shutdown_timeout_ms": 10000}


def test_the_kdc_is_away(kerberos, kdc, listing, authority, tmp_path):
    """The ticket cache has a ticket for the KDC, which is not there, and none for plumbd."""
    plumbd = kerberos().start()
    cache = kdc.login("dn", "dn/h1.example")["KRB5CCNAME"].partition(":")[2]
    away = tmp_path / "krb5.conf"
    away.write_text(kdc.path.read_text().replace(f"kdc = 127.0.0.1:{kdc.port}", "kdc = 127.0.0.1:9"))
    text = lost(listing(plumbd, cache=cache, krb5=away, **SOON))
    assert "no ticket for plumb/localhost as dn/h1.example" in text and "refused" in text
    assert spans(plumbd, authority) == 0


def test_plumbd_refuses(kerberos, kdc, listing, tmp_path):
    """A service that plumbd has no key of: it says so, and the process's end does."""
    plumbd = kerberos().start()
    keytab = kdc.folder / "dn.keytab"
    text = lost(listing(plumbd, "LoggedInShell", "dn/h1.example", keytab, auth_service="HTTP", **LATER))
    assert "the receiver refuses dn/h1.example" in text and "for another service" in text
    assert logins(tmp_path) == []


def test_nobody_to_log_in_as(kerberos, listing, tmp_path):
    plumbd = kerberos().start()
    text = lost(listing(plumbd, security="simple", **SOON))
    assert "nobody to log in as" in text and "auth.token.file" in text
    assert logins(tmp_path) == []


def test_another_receiver(kerberos, kdc, listing, tmp_path):
    """What listens there cannot show that it has plumbd's key: nothing is sent to it."""
    kdc.keytab("other", "plumb/127.0.0.1")
    plumbd = kerberos().start()
    keytab = kdc.folder / "dn.keytab"
    text = lost(listing(plumbd, "LoggedInShell", "dn/h1.example", keytab, host="127.0.0.1", **LATER))
    assert "the receiver refuses" in text
    assert logins(tmp_path) == []
