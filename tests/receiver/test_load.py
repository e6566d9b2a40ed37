"""The load client's ledger agrees with what plumbd stored, span by span, whatever happens to the load on its way."""

import json
import subprocess

import pytest

from tests.conftest import ROOT, lasting_address

MODEL = ROOT / "bench/model/hdfs-3.3.1.jsonl"
BEGIN = 1_700_000_000_000_000_000
UNKIND = [
    "--nanoseconds",
    "--hosts",
    "40",
    "--connections",
    "30",
    "--jobs",
    "200",
    "--cluster-rate",
    "100000",
    "--late",
    "0.05",
    "--repeated",
    "0.05",
    "--withheld",
    "0.02",
    "--begin",
    str(BEGIN),
]


@pytest.fixture
def start_load(build_dir):
    def start(plumbd, spans, *options):
        to = ["--thrift", f"{plumbd.thrift[0]}:{plumbd.thrift[1]}"] if plumbd else []
        command = [
            str(build_dir / "bench/bench_load"),
            "--model",
            str(MODEL),
            *to,
            "--spans",
            str(spans),
            *UNKIND,
            *options,
        ]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


@pytest.fixture
def load(start_load):
    def run(*arguments):
        out, err = (client := start_load(*arguments)).communicate(timeout=300)
        assert client.returncode == 0, err
        return out

    return run


def check(ledger):
    assert ledger["made"] == ledger["spans"] + ledger["withheld"]
    assert ledger["acknowledged"] == ledger["spans"] + ledger["repeated"] == ledger["accepted"]
    assert ledger["refused"] == 0
    for what, share in (("late", 0.05), ("repeated", 0.05), ("withheld", 0.02)):
        assert share / 2 < ledger[what] / ledger["made"] < share * 2, (what, ledger)


def test_everything_is_accounted_for(make_plumbd, load):
    plumbd = make_plumbd(trace__idle="5ms").start()
    ledger = json.loads(load(plumbd, 200_000, "--threads", "2"))
    check(ledger)
    plumbd.flush()
    stored = plumbd.stored()
    assert stored["spans"] == ledger["spans"] and stored["duplicates"] == ledger["repeated"]
    assert stored["late_spans"] > 0 and stored["incomplete_traces"] > 0
    assert plumbd.ask("verify")["differences"] == 0


def test_what_is_stored_is_what_was_made(make_plumbd, load):
    """Without a receiver the same load comes as JSON lines; its spans, each once, are what plumbd exports."""
    lines = [json.loads(line) for line in load(None, 30_000, "--seed", "5").splitlines()]
    made = {line["a"]: line for line in lines}
    plumbd = make_plumbd().start()
    ledger = json.loads(load(plumbd, 30_000, "--seed", "5"))
    plumbd.flush()
    assert len(made) == ledger["spans"] and len(lines) == ledger["spans"] + ledger["repeated"]
    assert {line["a"]: line for line in plumbd.export()} == made


def test_packs_and_structs_say_the_same(load):
    packs, structs = (sorted(load(None, 20_000, "--seed", "6", *form).splitlines()) for form in ((), ("--structs",)))
    assert packs == structs


def test_open_traces_are_completed(make_plumbd, load):
    plumbd = make_plumbd().start()
    ledger = json.loads(load(plumbd, 20_000, "--open", "3000", "--withheld", "0", "--late", "0", "--repeated", "0"))
    plumbd.flush()
    stored = plumbd.stored()
    assert (stored["spans"], stored["traces"], stored["incomplete_traces"]) == (ledger["made"], ledger["traces"], 0)


def test_ledger_after_kill(make_plumbd, start_load):
    """What was under way when plumbd was killed is sent again; it counts once."""
    plumbd = make_plumbd(memory__limit="4M", journal__segment="1M", listen__thrift=lasting_address()).start()
    client = start_load(plumbd, 300_000, "--rate", "100000")
    while plumbd.receiver()["spans_received"] < 100_000:
        assert client.poll() is None
    plumbd.kill()
    plumbd.start()
    out, err = client.communicate(timeout=300)
    assert client.returncode == 0, err
    ledger = json.loads(out)
    # A sender that is quick finds the port of the process that is just ending, and loses that connection, too.
    assert ledger["lost_connections"] >= 30
    plumbd.flush()
    assert plumbd.stored()["spans"] == ledger["spans"]


def test_ledger_by_sender(make_plumbd, load, tmp_path):
    plumbd = make_plumbd().start()
    ledger = json.loads(load(plumbd, 30_000, "--ledger", str(tmp_path / "ledger")))
    senders = [json.loads(line) for line in (tmp_path / "ledger").read_text().splitlines()]
    assert sum(s["dropped"] for s in senders) <= ledger["withheld"]
    assert sum(s["spans_sent"] for s in senders) - ledger["spans"] <= ledger["repeated"]
    assert len({s["sender"] for s in senders}) == len(senders) > 80


@pytest.mark.parametrize(
    "options, message",
    [
        (["--spans", "0"], "begin with 1"),
        (["--late", "0.7"], "between 0 and 0.5"),
        (["--hosts", "0"], "hosts"),
        (["--thrift", "127.0.0.1:1"], "Connection refused"),
        (["--thrift", "nowhere"], "write host:port"),
        (["--model", "/nonexistent"], "No such file"),
    ],
)
def test_mistakes_are_named(start_load, options, message):
    client = start_load(None, 1000, *options)
    _, err = client.communicate(timeout=60)
    assert client.returncode != 0 and message in err
