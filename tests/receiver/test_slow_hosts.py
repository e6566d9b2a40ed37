"""A host that is slow is in the metrics, and what a running plumbd answers is what its store does."""

import json
import subprocess
import time

from tests.receiver.sender import OK, Sender, span
from tests.receiver.test_accounting import wait_for

MINUTE = 60 * 10**9
BEGIN = 1_700_000_000_000_000_000 // MINUTE * MINUTE
NAMES = ("BlockSender#readLocal", *(f"DataNode/dn{i}/1" for i in range(1, 5)))
MINUTES, CALLS = 16, 24


def send_reads(plumbd):
    """Four disks that differ; from the tenth minute on the second is eight times slower."""
    number = 0
    with Sender(plumbd) as sender:
        for minute in range(MINUTES):
            spans = []
            for node in range(1, 5):
                for call in range(CALLS):
                    number += 1
                    slow = 8 if node == 2 and minute >= 10 else 1
                    duration = node * slow * (900_000 + 10_000 * ((call * 7 + minute * 3) % 20))
                    begin = BEGIN + minute * MINUTE + call * 10**9
                    spans.append(span(number, 1, name=0, begin=begin, duration=duration, tracer=node))
            assert sender.deliver(spans, strings=NAMES).status == OK


def test_slow_hosts(make_plumbd, plumb_program):
    plumbd = make_plumbd().start()
    send_reads(plumbd)
    plumbd.flush()
    (slow,) = plumbd.ask("slow")["slow"]
    assert (slow["host"], slow["layer"], slow["begin_time_ns"]) == ("dn2", "disk", BEGIN + 10 * MINUTE)
    assert slow["slowdown"] > 6
    asked = {question: plumbd.ask(question) for question in ("slow", "nodes", "nodes?host=dn2")}

    # Hosts are judged anew every five minutes, and at the start.
    plumbd.signal(15)
    assert plumbd.wait() == 0
    for question, answer in asked.items():
        words = question.replace("?host=", " ").split()
        done = subprocess.run(
            [plumb_program, *words, "--store", plumbd.store, "--json"], capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout) == answer
    plumbd.start()
    name = 'plumbd_node_slowdown{host="dn2",class="disk-read"}'
    wait_for(lambda: name in plumbd.metrics())
    metrics = plumbd.metrics()
    assert metrics[name] == slow["slowdown"]
    assert [metric for metric in metrics if metric.startswith("plumbd_node_slowdown")] == [name]
    standing = {metric: hosts for metric, hosts in metrics.items() if metric.startswith("plumbd_nodes{")}
    states = {"learning": 0, "well": 3, "busier": 0, "follows": 0, "suspected": 1}
    assert standing == {f'plumbd_nodes{{class="disk-read",state="{state}"}}': n for state, n in states.items()}
    assert abs(metrics["plumbd_judged_time_seconds"] - time.time()) < 60


def test_no_memory_to_judge(make_plumbd):
    """It is told, and nothing is found."""
    plumbd = make_plumbd(http__question_memory="1K").start()
    send_reads(plumbd)
    plumbd.flush()
    plumbd.signal(15)
    assert plumbd.wait() == 0
    plumbd.start()
    wait_for(lambda: plumbd.metrics()["plumbd_judgements_refused_total"] == 1)
    assert "which hosts are slow could not be found, what was found last stands" in plumbd.messages()
    assert not [metric for metric in plumbd.metrics() if metric.startswith("plumbd_node_slowdown")]
