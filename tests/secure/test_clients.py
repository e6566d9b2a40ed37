"""plumb and plumb-bridge to a plumbd with TLS and logins."""

import json
import subprocess

import pytest

from tests.conftest import ROOT
from tests.secure.conftest import receiver, trusting


def run(*command, **more):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, **more)


@pytest.fixture
def strict(secure, authority):
    """One that lets in only who shows a certificate."""
    authority.sign("someone")
    return secure(tls__clients=authority.pem, tls__require_certificate="yes")


def options(authority, ca=None):
    folder = authority.folder
    return ["--ca", ca or authority.pem, "--certificate", folder / "someone.pem", "--key", folder / "someone.key"]


def test_plumb(strict, authority, stranger, plumb_program):
    server = ["--server", strict.http]
    good = run(plumb_program, "status", *server, *options(authority))
    assert good.returncode == 0 and "this machine only, TLS, login by certificate" in good.stdout, good.stderr
    wrong = {
        "no TLS": ([], "does it speak TLS"),
        "no certificate": (["--ca", authority.pem], "check"),
        "another CA": (options(authority, stranger.pem), "--ca"),
        "no key": (["--ca", authority.pem, "--certificate", authority.pem], "check"),
    }
    for case, (given, named) in wrong.items():
        done = run(plumb_program, "status", *server, *given)
        assert done.returncode == 1 and named in done.stderr, (case, done.stderr)
        assert len(done.stderr.splitlines()) == 1


def test_the_name_must_be_the_servers(strict, authority, plumb_program):
    port = strict.http.rsplit(":", 1)[1]
    done = run(plumb_program, "status", "--server", f"127.0.0.2:{port}", *options(authority))
    assert done.returncode == 1
    named = run(plumb_program, "status", "--server", f"localhost:{port}", *options(authority))
    assert named.returncode == 0, named.stderr


def test_import(strict, authority, stranger, plumb_program, tmp_path):
    spans = tmp_path / "spans.json"
    spans.write_text('{"a":"%s","b":1,"e":2,"d":"op","r":"Client/h/1","p":[]}\n' % ("1" * 32))
    thrift = ["--thrift", f"localhost:{strict.thrift[1]}"]
    done = run(plumb_program, "import", spans, "--json", *thrift, "--server", strict.http, *options(authority))
    assert done.returncode == 0 and json.loads(done.stdout)["spans_accepted"] == 1, done.stderr
    wrong = run(plumb_program, "import", spans, *thrift, "--server", strict.http, *options(authority, stranger.pem))
    assert wrong.returncode == 2 and "TLS: " in wrong.stderr and "--ca" in wrong.stderr


def test_bridge(strict, authority, stranger, build_dir):
    bridge = build_dir / "spark-bridge/plumb-bridge"
    log = ROOT / "tests/data/spark/4.3.0/executor_lost.zstd"
    to = ["--receiver", f"localhost:{strict.thrift[1]}"]
    done = run(bridge, *to, *options(authority), log)
    assert done.returncode == 0, done.stderr
    me = trusting(authority, authority.folder / "someone.pem", authority.folder / "someone.key")
    assert receiver(strict, me)["records"]["received"] > 0
    wrong = run(bridge, *to, *options(authority, stranger.pem), log)
    assert wrong.returncode == 1 and "TLS: " in wrong.stderr
