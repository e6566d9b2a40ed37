"""Command line, configuration, start, reload and stop."""

import configparser
import os
import re
import select
import shutil
import signal
import socket
import subprocess

import pytest

from tests.conftest import ROOT
from tests.receiver.sender import OK, Sender, plain_span, span, submit_frame
from tests.receiver.waiting import wait_for


def run(program, *arguments, **options):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, **options)


# ---- command line ----


def test_help_and_version(plumbd_program):
    shown = run(plumbd_program, "--help")
    assert shown.returncode == 0 and "--check-config" in shown.stdout and "Example" in shown.stdout
    assert re.fullmatch(r"plumbd \d+\.\d+\.\d+\n", run(plumbd_program, "--version").stdout)


def test_help_config_is_a_good_configuration(plumbd_program, tmp_path):
    text = run(plumbd_program, "--help-config").stdout
    assert "trace.idle" in text or "idle" in text
    (tmp_path / "plumbd.conf").write_text(text)
    checked = run(plumbd_program, "--config", tmp_path / "plumbd.conf", "--check-config")
    assert checked.returncode == 0, checked.stderr
    # With every option taken out of its comment, too.
    active = re.sub(r"^#\s?([a-z][a-z-]* *=)", r"\1", text, flags=re.M)
    assert active != text
    (tmp_path / "plumbd.conf").write_text(active)
    checked = run(plumbd_program, "--config", tmp_path / "plumbd.conf", "--check-config")
    assert checked.returncode == 0, checked.stderr


def test_sample_configuration_loads(plumbd_program):
    checked = run(plumbd_program, "--config", ROOT / "conf/plumbd.conf", "--check-config")
    assert checked.returncode == 0, checked.stderr


def test_sample_configuration_is_what_help_config_prints(plumbd_program):
    assert (ROOT / "conf/plumbd.conf").read_text() == run(plumbd_program, "--help-config").stdout


def test_document_names_every_option(plumbd_program):
    document = (ROOT / "docs/plumbd.md").read_text()
    section = ""
    for line in run(plumbd_program, "--help-config").stdout.splitlines():
        if header := re.fullmatch(r"\[([a-z]+)\]", line):
            section = header.group(1)
        elif option := re.match(r"#\s?([a-z][a-z-]*) *=", line):
            assert f"`{section}.{option.group(1)}`" in document


def test_systemd_unit(plumbd_program, tmp_path):
    unit = configparser.ConfigParser(strict=False, interpolation=None, comment_prefixes="#")
    unit.optionxform = str
    unit.read(ROOT / "conf/plumbd.service")
    service = unit["Service"]
    assert service["Type"] == "notify" and "HUP" in service["ExecReload"]
    assert (
        service["Restart"] == "on-failure" and service["WatchdogSec"] and unit["Unit"]["StartLimitIntervalSec"] == "0"
    )
    assert service["LimitCORE"] == "0"  # spans, keys and tokens are in its memory
    program, *arguments = service["ExecStart"].split()
    assert program == "/usr/bin/plumbd"
    # The options that it uses exist, and the file that it names is the sample that is installed there.
    assert arguments == ["--config", "/etc/plumbline/plumbd.conf"]
    assert run(plumbd_program, arguments[0], ROOT / "conf/plumbd.conf", "--check-config").returncode == 0
    # The folders of the defaults are the ones that it may write to.
    text = (ROOT / "conf/plumbd.conf").read_text()
    folders = re.findall(r"^#path=(.+)$", text, re.M)
    assert folders and all(folder.startswith(f"/var/lib/{service['StateDirectory']}/") for folder in folders)
    if verify := shutil.which("systemd-analyze"):
        copy = tmp_path / "plumbd.service"
        copy.write_text((ROOT / "conf/plumbd.service").read_text().replace(program, str(plumbd_program)))
        done = run(verify, "verify", copy)
        assert "plumbd.service:" not in done.stderr, done.stderr
        rated = run(verify, "security", "--offline=yes", "--threshold=15", copy)
        assert rated.returncode == 0, rated.stdout


WRONG = {
    "unknown key": (["--set", "trace.idel=1s"], "trace.idle"),
    "unknown section": (["--set", "trase.idle=1s"], "trace"),
    "no value": (["--set", "trace.idle"], "trace.idle"),
    "no duration": (["--set", "trace.idle=fast"], "trace.idle"),
    "too small": (["--set", "memory.limit=1"], "memory.limit"),
    "no choice": (["--set", "journal.ack=maybe"], "fsync"),
    "no address": (["--set", "listen.thrift=9410"], "listen.thrift"),
    "no port": (["--set", "listen.thrift=localhost:99999"], "listen.thrift"),
    "unknown host": (["--set", "listen.thrift=no.such.host.invalid:0"], "no.such.host.invalid"),
    "bad rule": (["--set", "naming.rules=nothing"], "nothing"),
    "bad policy": (["--set", "senders.sampling=hflush=often; 0.01"], "senders.sampling: 'hflush=often': 'often'"),
    "policy after all": (["--set", "senders.sampling=0.01; hflush=never"], "'hflush=never' is never reached"),
    "bad quota": (["--set", "quota.spans=token:a=often"], "quota.spans: 'token:a=often': write NAME=NUMBER"),
    "quota of nobody": (["--set", "quota.questions=bridge=5"], "quota.questions: 'bridge' is nobody"),
    "quota after all": (["--set", "quota.bytes=5; cert:*=10"], "'cert:*=10' is never reached"),
    "bad mask": (["--set", "mask.rules=path=often"], "mask.rules: 'path=often': write path, annotation:KEY"),
    "mask without a key": (["--set", "mask.rules=path=hash"], "masking needs both"),
    "one folder for both": (["--set", "store.path=/x", "--set", "journal.path=/x"], "same folder"),
    "unknown option": (["--frobnicate"], "--help"),
    "stray argument": (["start"], "start"),
    "no such file": (["--config", "/no/such/file"], "/no/such/file"),
}


@pytest.mark.parametrize("arguments, named", WRONG.values(), ids=WRONG.keys())
def test_wrong_command_lines(plumbd_program, tmp_path, arguments, named):
    before = [
        "--set",
        f"store.path={tmp_path}/s",
        "--set",
        f"journal.path={tmp_path}/j",
        "--set",
        "listen.http=127.0.0.1:0",
    ]
    done = run(plumbd_program, *before, *arguments)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    assert named in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert os.listdir(tmp_path) == []


# ---- start ----


def refused(plumbd):
    plumbd.spawn()
    assert plumbd.process.stdout.read() == ""
    assert plumbd.wait() == 1
    return plumbd.messages()


def test_thrift_port_taken(make_plumbd, plumbd):
    other = make_plumbd(listen__thrift=f"127.0.0.1:{plumbd.thrift[1]}")
    messages = refused(other)
    assert str(plumbd.thrift[1]) in messages and "listen.thrift" in messages and "ss -ltnp" in messages
    assert not other.store.exists() and not other.journal.exists()


def test_http_port_taken(make_plumbd, plumbd):
    other = make_plumbd(listen__http=plumbd.http)
    assert "listen.http" in refused(other)
    assert not other.store.exists() and not other.journal.exists()


def test_store_in_use(make_plumbd, plumbd):
    other = make_plumbd(store__path=plumbd.store)
    messages = refused(other)
    assert str(plumbd.store) in messages and "use" in messages
    assert not other.journal.exists()
    with Sender(plumbd) as sender:
        assert sender.submit([span(1, 1)]).status == OK


def test_journal_in_use(make_plumbd, plumbd):
    other = make_plumbd(journal__path=plumbd.journal)
    messages = refused(other)
    assert str(plumbd.journal) in messages and "in use" in messages
    assert not other.store.exists()


def test_files_are_for_their_user_alone(make_plumbd):
    """Whatever the umask of who starts it is: spans have paths of files and names of users."""
    plumbd = make_plumbd().start(umask=0)
    with Sender(plumbd) as sender:
        assert sender.submit([span(1, 1)]).status == OK
        assert plumbd.fetch("/api/v1/flush", method="POST")[0] == 200
    assert plumbd.stop() == 0
    made = [plumbd.store, plumbd.journal, *plumbd.store.rglob("*"), *plumbd.journal.rglob("*")]
    assert any(path.suffix == ".sst" for path in made)
    assert {path.name: oct(path.stat().st_mode) for path in made if path.stat().st_mode & 0o077} == {}


@pytest.mark.parametrize("what", ["store", "journal"])
def test_no_right_to_write(make_plumbd, tmp_path, what):
    folder = tmp_path / "forbidden"
    folder.mkdir()
    plumbd = make_plumbd(folder=tmp_path / "mine", **{f"{what}__path": folder / "data"})
    if os.getuid() == 0:  # for whom nothing is forbidden: become somebody else
        os.chown(tmp_path / "mine", 65534, 65534)
        for parent in (tmp_path, *tmp_path.parents):
            if not os.stat(parent).st_mode & 1:
                os.chmod(parent, os.stat(parent).st_mode | 0o111)
        plumbd.spawn(user=65534, group=65534)
    else:
        folder.chmod(0o500)
        plumbd.spawn()
    assert plumbd.wait() == 1
    assert str(folder) in plumbd.messages() and "ermission" in plumbd.messages()
    assert os.listdir(folder) == []


def test_ready_line_and_systemd(make_plumbd, tmp_path):
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(path)
        notify.settimeout(60)
        plumbd = make_plumbd()
        plumbd.environment["NOTIFY_SOCKET"] = path
        plumbd.start()
        assert notify.recv(4096).startswith(b"READY=1")
        plumbd.signal(signal.SIGHUP)
        assert notify.recv(4096).startswith(b"RELOADING=1\nMONOTONIC_USEC=")
        assert notify.recv(4096).startswith(b"READY=1")
        plumbd.signal(signal.SIGTERM)
        assert notify.recv(4096).startswith(b"STOPPING=1")
        assert plumbd.wait() == 0


def test_watchdog(make_plumbd, fault_layer, tmp_path):
    """Told as often as asked for; no more once a thread hangs, here in a sync that never ends."""
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(path)
        notify.settimeout(60)
        plumbd = make_plumbd(journal__ack="fsync", receiver__net_threads="1")
        fault = {"FOLDER": plumbd.journal, "KIND": "hanging-sync", "AT": 3, "LASTS": 1}
        plumbd.environment |= {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "4000000", "LD_PRELOAD": str(fault_layer)}
        plumbd.environment |= {f"PLUMB_FAULT_{name}": str(value) for name, value in fault.items()}
        plumbd.start()
        assert notify.recv(4096).startswith(b"READY=1")
        for _ in range(3):
            assert notify.recv(4096) == b"WATCHDOG=1"
        with Sender(plumbd, timeout=1) as sender:
            assert sender.submit([span(7, 1)]).status == OK  # the folder's sync, and that of its file
            with pytest.raises(TimeoutError):
                sender.submit([span(7, 2)])
        wait_for(lambda: "a network thread was not seen at work" in plumbd.messages())
        while select.select([notify], [], [], 0)[0]:  # what was told before
            notify.recv(4096)
        assert not select.select([notify], [], [], 3)[0]  # three times as long as it takes to be told
        plumbd.kill()


def test_listens_on_loopback_by_default(plumbd_program):
    text = run(plumbd_program, "--help-config").stdout
    assert "127.0.0.1:9410" in text and "127.0.0.1:9096" in text


def test_ipv6(make_plumbd):
    plumbd = make_plumbd(listen__thrift="[::1]:0").spawn()
    line = plumbd.process.stdout.readline()
    if not line and "Cannot assign" in plumbd.messages():
        pytest.skip("no IPv6 here")
    assert " thrift=[::1]:" in line


def test_levels_for_journald(make_plumbd):
    plumbd = make_plumbd()
    plumbd.environment["JOURNAL_STREAM"] = "8:1"
    plumbd.start()
    plumbd.stop()
    assert all(re.match(r"<[3-7]>", line) for line in plumbd.messages().splitlines())


# ---- stop ----


def test_stop_stores_everything(make_plumbd):
    plumbd = make_plumbd(trace__idle="1h").start()
    with Sender(plumbd) as sender:
        for trace in range(1, 101):
            assert sender.submit([span(trace, 1), span(trace, 2, parent=1)]).accepted == 2
    assert plumbd.stop() == 0
    assert not list(plumbd.journal.glob("*.journal"))
    plumbd.start()
    assert plumbd.stored()["spans"] == 200
    assert plumbd.receiver()["recovered_spans"] == 0


def test_second_signal_changes_nothing(make_plumbd):
    plumbd = make_plumbd(trace__idle="1h").start()
    with Sender(plumbd) as sender:
        for trace in range(1, 20):
            sender.deliver([span(trace, n, parent=None if n == 1 else 1) for n in range(1, 5000)])
    plumbd.signal(signal.SIGTERM)
    plumbd.signal(signal.SIGINT)
    wait_for(lambda: "stopping" in plumbd.messages())
    for _ in range(3):
        if plumbd.process.poll() is None:
            plumbd.signal(signal.SIGTERM)
    assert plumbd.wait() == 0
    plumbd.start()
    assert plumbd.stored()["spans"] == 19 * 4999


def test_frames_on_the_way_while_stopping(make_plumbd):
    """Whatever was acknowledged before the connection ended is stored; the rest was not."""
    plumbd = make_plumbd().start()
    acknowledged = 0
    with Sender(plumbd) as sender:
        frames = [submit_frame([span(trace, n) for n in range(1, 51)], trace) for trace in range(1, 301)]
        sender.write(b"".join(frames[:100]))
        plumbd.signal(signal.SIGTERM)
        try:
            sender.write(b"".join(frames[100:]))
        except ConnectionError:
            pass
        try:
            while True:
                if sender.read_reply().status == OK:
                    acknowledged += 50
        except ConnectionError:
            pass
    assert plumbd.wait() == 0
    plumbd.start()
    assert plumbd.stored()["spans"] >= acknowledged


# ---- reload ----


@pytest.fixture
def configured(make_plumbd):
    plumbd = make_plumbd()
    config = plumbd.folder / "plumbd.conf"
    plumbd.arguments = ["--config", str(config)]

    def write(text):
        config.write_text(text)

    plumbd.write = write
    return plumbd


def reload(plumbd, text):
    """The message about the reload of this file."""
    seen = plumbd.messages().count("reload: ")
    plumbd.write(text)
    plumbd.signal(signal.SIGHUP)
    wait_for(lambda: plumbd.messages().count("reload: ") > seen)
    return [line for line in plumbd.messages().splitlines() if "reload: " in line][-1]


def test_reload(configured):
    configured.write("[trace]\nidle = 1h\n")
    configured.start()
    with Sender(configured) as sender:
        sender.submit([span(1, 1)])
    message = reload(configured, "[trace]\nidle = 10ms\n[receiver]\nshards = 7\n[log]\nlevel=info\n")
    assert "changed" in message and "trace.idle" in message and "log.level" in message
    assert "restart" in message and "receiver.shards" in message
    wait_for(lambda: configured.stored()["spans"] == 1)
    assert "nothing changed" in reload(configured, "[trace]\nidle = 10ms\n[receiver]\nshards = 7\n[log]\nlevel=info\n")


POLICY = "Workload#*=always; hflush=never; 0.01"


def test_sampling_reaches_senders_without_a_restart(configured):
    configured.write("[trace]\nidle = 10ms\n")
    configured.start()
    with Sender(configured) as sender:
        assert sender.submit([span(1, 1)]).sampling is None
        assert configured.receiver()["sampling"] == ""
        assert "senders.sampling" in reload(configured, f"[senders]\nsampling = {POLICY}\n")
        assert sender.submit([]).sampling == POLICY  # a sender with nothing to say hears it, too
        assert sender.submit_plain([plain_span(f"{2:016x}{1:016x}", "op")]).sampling == POLICY
        assert sender.submit([span(3, 1)], strings=("op",)).sampling == POLICY  # refused, for a name that is not there
        assert configured.receiver()["sampling"] == POLICY
        message = reload(configured, "[senders]\nsampling = always; hflush=never\n")
        assert "everything stays as it was" in message and "'hflush=never' is never reached" in message
        assert sender.submit([]).sampling == POLICY
        assert "senders.sampling" in reload(configured, "[senders]\nsampling =\n")
        assert sender.submit([span(4, 1)]).sampling is None
        assert configured.receiver()["sampling"] == ""


@pytest.mark.parametrize("bad", ["[trace]\nidel = 1s\n", "[trace]\nidle = never\n", "no key file\n"])
def test_bad_file_on_reload_keeps_the_old_settings(configured, bad):
    configured.write("[trace]\nidle = 10ms\n")
    configured.start()
    assert "everything stays as it was" in reload(configured, bad)
    with Sender(configured) as sender:
        sender.submit([span(1, 1)])
    wait_for(lambda: configured.stored()["spans"] == 1)


# ---- traces close by themselves ----


def test_idle_trace_with_root_is_stored(make_plumbd):
    plumbd = make_plumbd(trace__idle="50ms", trace__max_age="1h").start()
    with Sender(plumbd) as sender:
        sender.submit([span(1, 1), span(1, 2, parent=1)])
        sender.submit([span(2, 2, parent=1)])  # no root: waits for it
        wait_for(lambda: plumbd.receiver()["closed_traces"].get("idle") == 1)
        wait_for(lambda: plumbd.receiver()["open_spans"] == 1)  # acknowledged, it may be on its way to its shard
        sender.submit([span(2, 1)])
        wait_for(lambda: plumbd.stored()["spans"] == 4)
        # A late one joins, without a root of its own.
        sender.submit([span(1, 3, parent=2)])
        wait_for(lambda: plumbd.stored()["spans"] == 5)
    stored = plumbd.stored()
    assert (stored["traces"], stored["incomplete_traces"], stored["late_spans"]) == (2, 0, 1)
    assert plumbd.ask("verify")["differences"] == 0


def test_max_age(make_plumbd):
    plumbd = make_plumbd(trace__idle="1h", trace__max_age="50ms").start()
    with Sender(plumbd) as sender:
        sender.submit([span(2, 2, parent=1)])
    wait_for(lambda: plumbd.stored()["incomplete_traces"] == 1)
    assert plumbd.receiver()["closed_traces"] == {"max-age": 1}


def test_max_spans(make_plumbd):
    plumbd = make_plumbd(trace__idle="1h", trace__max_spans="1000", receiver__shards="1").start()
    with Sender(plumbd) as sender:
        for first in range(1, 3001, 100):
            sender.submit([span(2, n, parent=None if n == 1 else 1) for n in range(first, first + 100)])
    plumbd.flush()
    assert plumbd.stored()["spans"] == 3000
    assert plumbd.receiver()["closed_traces"]["max-spans"] == 3
    assert plumbd.ask("verify")["differences"] == 0
