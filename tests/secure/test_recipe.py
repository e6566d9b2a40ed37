"""The recipes of docs/security.md, as they stand there."""

import contextlib
import json
import os
import re
import shutil
import subprocess

import pytest

from script.hdfs.cluster import free_port
from tests.conftest import ROOT
from tests.receiver.waiting import wait_for
from tests.secure.authority import Authority
from tests.secure.kdc import SBIN, Kdc

LOG = ROOT / "tests/data/spark/4.3.0/executor_lost.zstd"


def blocks(title):
    """What is set off in a recipe, in order, as it stands there."""
    text = (ROOT / "docs/security.md").read_text().split(f"\n## Recipe: {title}\n")[1].split("\n## ")[0]
    return [re.sub("^    ", "", block, flags=re.M).strip("\n") for block in re.findall(r"(?:^    .*\n)+", text, re.M)]


def commands(text):
    """Those over several lines are one."""
    return text.replace("\\\n", "").splitlines()


class Site:
    """A folder where the commands run: their ports and paths are those that are there."""

    def __init__(self, folder, build_dir):
        self.folder = folder
        self.ports = {"9410": free_port(), "9096": free_port(), "8443": free_port()}
        (folder / "logs").mkdir()
        shutil.copy(LOG, folder / "logs" / LOG.name)
        path = ":".join(str(build_dir / part) for part in ("receiver", "analyzer", "spark-bridge"))
        self.environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}{SBIN}"}
        self.replaced = {"/var/spark-history": str(folder / "logs")}
        self.running = contextlib.ExitStack()

    def given(self, text):
        for port, free in self.ports.items():
            text = re.sub(rf"\b{port}\b", str(free), text)
        for what, by in self.replaced.items():
            text = text.replace(what, by)
        return text

    def run(self, command):
        """Its output; plumbd goes on."""
        command = self.given(command)
        if command.startswith("plumbd "):
            command += " --set store.path=store --set journal.path=journal --set store.min-free=0"
            daemon = self.start(f"exec {command}", stdout=subprocess.PIPE)
            assert daemon.stdout.readline().startswith("plumbd ready ")
            return ""
        done = subprocess.run(
            command, shell=True, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout

    def start(self, command, **options):
        process = subprocess.Popen(
            command, shell=True, cwd=self.folder, env=self.environment, text=True, **options
        )  # fmt: skip
        if process.stdout:
            self.running.callback(process.stdout.close)
        self.running.callback(process.wait)
        self.running.callback(process.terminate)
        return process

    def run_all(self, lines):
        return [(line, self.run(line)) for line in lines]


@pytest.fixture
def site(build_dir, tmp_path):
    made = Site(tmp_path, build_dir)
    with made.running:
        yield made


def ports_of(outputs):
    """What the answer to curl says of the ports."""
    (answer,) = [output for command, output in outputs if command.startswith("curl ")]
    return json.loads(answer)["receiver"]["ports"]


def test_tokens(site):
    lines = commands("\n".join(blocks("TLS and tokens without Kerberos")))
    assert len(lines) == 11, lines
    for port in ports_of(site.run_all(lines)):
        assert port["tls"] and port["logins"] == ["token"] and not port["insecure"]


def test_kerberos(site):
    """The KDC's administrator is on its machine; people log in by a keytab in place of a password."""
    (site.folder / "kdc").mkdir()
    kdc = Kdc(site.folder / "kdc").start()
    site.running.callback(kdc.stop)
    kdc.keytab("people", "people")
    Authority(site.folder).sign("plumbd", "DNS:localhost")
    site.environment.update(kdc.environment, KRB5CCNAME=f"FILE:{site.folder}/cache")
    site.replaced |= {"recv.example.org": "localhost", "kadmin -q": "kadmin.local -q",
                      "kinit people": f"kinit -k -t {kdc.folder}/people.keytab people"}  # fmt: skip
    keys, config, programs = blocks("Kerberos cluster")[:3]
    (site.folder / "kerberos.conf").write_text(site.given(config) + "\n")
    lines = commands(keys) + commands(programs)
    assert len(lines) == 9, lines
    for port in ports_of(site.run_all(lines)):
        assert port["tls"] and port["logins"] == ["kerberos"] and not port["insecure"]


def nginx(site, server):
    """One process, with all that it writes in its folder."""
    folders = "".join(f"{kind}_temp_path temp;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (site.folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid nginx.pid; error_log nginx.log;\nevents {{}}\n"
        f"http {{ access_log nginx.access; {folders}\n{site.given(server)}\n}}\n"
    )
    return site.start(f"exec nginx -p {site.folder} -c nginx.conf", stderr=subprocess.DEVNULL)


def test_nginx(site):
    authority = Authority(site.folder)
    authority.sign("plumbd", "DNS:localhost,IP:127.0.0.1")
    authority.sign("proxy", "DNS:plumb.example.org")
    password = site.run("openssl passwd -apr1 secret").strip()
    (site.folder / "people.htpasswd").write_text(f"people:{password}\n")
    server, programs = blocks("behind nginx or Knox")[:2]
    plumbd, curl = commands(programs)
    site.run(plumbd)
    nginx(site, server)
    curl = site.given(curl).replace("curl ", f"curl -sS --resolve plumb.example.org:{site.ports['8443']}:127.0.0.1 ")
    said = []
    wait_for(lambda: said.append(subprocess.run(curl, shell=True, cwd=site.folder, capture_output=True)) or
             said[-1].returncode == 0)  # fmt: skip
    ports = json.loads(said[-1].stdout)["receiver"]["ports"]
    assert [port["logins"] for port in ports] == [["certificate"]] * 2
    refused = site.run(curl.replace("people:secret", "people:guess") + " -o /dev/null -w '%{http_code}'")
    assert refused == "401"
    own = " -o /dev/null -w '%{http_code}' -H 'Origin: https://plumb.example.org:" + f"{site.ports['8443']}'"
    assert site.run(curl + own) == "200"
    assert site.run(curl + own.replace("plumb.example", "evil.example")) == "403"
    straight = (
        f"curl -s --cacert ca.pem -o /dev/null -w '%{{http_code}}' https://localhost:{site.ports['9096']}/api/v1/status"
    )
    assert site.run(straight) == "401"
