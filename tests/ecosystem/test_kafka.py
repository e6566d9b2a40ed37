"""Spans from a topic of Kafka, against a real broker: HTrace's own receiver with its transport for Kafka in a real
HDFS, and messages of each form by Kafka's own client."""

import json
import re
import signal
import subprocess

import pytest

from script.hdfs.cluster import Cluster, free_port
from script.hdfs.jars import htrace_zipkin_jar
from script.kafka.broker import Broker
from tests.ecosystem.test_scribe import BEGIN_US, HADOOP, annotation, v1_span
from tests.hdfs.spans import json_values
from tests.receiver.waiting import wait_for

RECEIVERS = "4.2.0-incubating"


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with Broker(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


def reading(make_plumbd, address, topic, options="", **settings):
    """A plumbd, not started, whose group is called as its topic."""
    quick = "topic.metadata.refresh.interval.ms=500; reconnect.backoff.max.ms=500; session.timeout.ms=6000"
    return make_plumbd(
        kafka__brokers=address, kafka__topic=topic, kafka__group=topic, kafka__options=f"{quick}; {options}", **settings
    )


def a_span(number, trace=7):
    return v1_span(number, [annotation("cs", BEGIN_US), annotation("cr", BEGIN_US + 9)], trace=trace)


def kafka(plumbd):
    return plumbd.receiver()["kafka"]


def wait_for_messages(plumbd, n):
    wait_for(lambda: kafka(plumbd)["messages"] >= n)


def stored_ids(plumbd):
    plumbd.flush()
    return {int(span["a"][16:], 16) for span in plumbd.export()}


# ---- HTrace's receiver ----


def tracing(address):
    receivers = "org.apache.htrace.impl.ZipkinSpanReceiver;org.apache.htrace.core.LocalFileSpanReceiver"
    return {
        "hadoop.htrace.span.receiver.classes": receivers,
        "hadoop.htrace.local.file.span.receiver.path": "${plumb.local.spans}",
        "hadoop.htrace.zipkin.transport.class": "org.apache.htrace.impl.KafkaTransport",
        "hadoop.htrace.zipkin.kafka.metadata.broker.list": address,
        "hadoop.htrace.zipkin.kafka.request.required.acks": "-1",
        "hadoop.htrace.zipkin.kafka.producer.type": "sync",
        "hadoop.htrace.tracer.id": "%{tname}/${plumb.host}",
        "fs.shell.htrace.sampler.classes": "AlwaysSampler",
    }


def span_id(message):
    """Of a span as HTrace's receiver writes it: trace id, name, id, each after its type and number."""
    name_length = int.from_bytes(message[14:18], "big")
    return message[18 + name_length :][3:11].hex()


def test_htrace_receivers_and_a_kill(tmp_path, broker, make_plumbd):
    """NameNode, DataNode and shell write to the topic. plumbd is killed while it reads, and away while more comes: what
    is in the topic is all here, each span once."""
    broker.create("zipkin", 3)
    plumbd = reading(make_plumbd, broker.address, "zipkin").start()
    jar = str(htrace_zipkin_jar(RECEIVERS))
    with Cluster(tmp_path / "hdfs", HADOOP, datanodes=1, core=tracing(broker.address), class_path=jar) as cluster:
        for name in ("first", "second"):
            put = ("-put", "-", f"/{name}")
            shell = cluster.java(name, "org.apache.hadoop.fs.FsShell", put, stdin=subprocess.PIPE)
            # A receiver that opens its way to the broker only when the process ends sends nothing at all.
            wait_for(lambda: any(f"/{name}".encode() in message for message in broker.read("zipkin")))  # noqa: B023
            if name == "first":
                wait_for_messages(plumbd, 1)
                plumbd.kill()
            shell.communicate("x" * 100_000)
            assert shell.returncode == 0
        cluster.stop()
        files = [cluster.local_spans(name) for name in ("namenode", "datanode1", "first", "second")]
        written = {span["a"]: span for file in files for span in json_values(file.read_text())}
    sent = broker.read("zipkin")

    plumbd.start()
    wait_for(lambda: broker.committed("zipkin") == len(sent))
    plumbd.flush()
    exported = [span["a"] for span in plumbd.export()]
    assert sorted(span[16:] for span in exported) == sorted({span_id(message) for message in sent})
    assert set(exported) <= set(written)
    assert {written[span]["r"].split("/")[0] for span in exported} == {"NameNode", "DataNode", "FsShell", "FSClient"}

    trace_ids = {span[:16] for span in exported}
    traces = [plumbd.ask(f"trace?id={trace_id}") for trace_id in trace_ids]
    assert sum(trace["spans_total"] for trace in traces) == len(exported)
    assert {row["role"] for trace in traces for row in trace["spans"]} == {"client", "namenode", "datanode"}


# ---- messages ----


def test_each_form_and_bad_messages(broker, make_plumbd):
    """A span, a list of them, JSON of Zipkin's version 2; what is none of them is skipped, told, and counted."""
    broker.create("forms")
    plumbd = reading(make_plumbd, broker.address, "forms").start()
    listed = b"\x0c\0\0\0\2" + a_span(2) + a_span(3)
    modern = {"traceId": "7", "id": "4", "name": "load", "timestamp": BEGIN_US, "duration": 5}
    bad = [b"no span", b"", a_span(8)[:-3], a_span(9) + b"x", b"[{"]
    good = [a_span(1), listed, json.dumps([modern]).encode(), a_span(5)]
    broker.send("forms", [good[0], *bad, *good[1:]])
    wait_for_messages(plumbd, len(good) + len(bad))
    assert stored_ids(plumbd) == {1, 2, 3, 4, 5}
    assert (kafka(plumbd)["refused_messages"], kafka(plumbd)["state"]) == (len(bad), "reading")
    assert plumbd.metrics()["plumbd_kafka_messages_refused_total"] == len(bad)
    skipped = re.findall(
        r"kafka: a message was skipped \(topic 'forms', partition 0, offset \d+\): .*", plumbd.messages()
    )
    assert len(skipped) == 1  # the others are counted in the next line, seconds later


def test_stopped_in_order(broker, make_plumbd):
    """What was taken is committed; the next start reads what came meanwhile, and nothing again."""
    broker.create("stopped")
    plumbd = reading(make_plumbd, broker.address, "stopped").start()
    broker.send("stopped", [a_span(number) for number in (1, 2, 3)])
    wait_for_messages(plumbd, 3)
    assert plumbd.stop() == 0
    assert broker.committed("stopped") == 3
    broker.send("stopped", [a_span(4)])
    plumbd.start()
    wait_for_messages(plumbd, 1)
    assert stored_ids(plumbd) == {1, 2, 3, 4}
    assert kafka(plumbd)["messages"] == 1


def test_no_time_for_them(broker, make_plumbd, tmp_path):
    """While no spans are taken, messages wait in the topic; then they come."""
    broker.create("busy")
    conf = tmp_path / "plumbd.conf"
    conf.write_text("[store]\nmin-free = 1000G\n")
    plumbd = reading(make_plumbd, broker.address, "busy")
    del plumbd.settings["store.min-free"]
    plumbd.arguments = ["--config", str(conf)]
    plumbd.start()
    broker.send("busy", [a_span(number) for number in range(1, 11)])
    wait_for(lambda: kafka(plumbd)["state"] == "waiting")
    assert (kafka(plumbd)["messages"], broker.committed("busy")) == (0, 0)
    conf.write_text("[store]\nmin-free = 0\n")
    plumbd.signal(signal.SIGHUP)
    wait_for_messages(plumbd, 10)
    assert stored_ids(plumbd) == set(range(1, 11))
    wait_for(lambda: broker.committed("busy") == 10)


# ---- brokers ----


def test_no_topic_yet(broker, make_plumbd):
    plumbd = reading(make_plumbd, broker.address, "later").start()
    wait_for(lambda: kafka(plumbd)["state"] == "no topic")
    assert plumbd.metrics()["plumbd_kafka_up"] == 0
    assert plumbd.messages().count("have no topic 'later' (kafka.topic)") == 1
    broker.create("later")
    broker.send("later", [a_span(1)])
    wait_for_messages(plumbd, 1)
    assert kafka(plumbd)["state"] == "reading" and plumbd.metrics()["plumbd_kafka_up"] == 1


def test_no_broker(make_plumbd):
    """plumbd takes spans all the same, and says once what is amiss."""
    plumbd = reading(make_plumbd, f"127.0.0.1:{free_port()}", "any").start()
    wait_for(lambda: kafka(plumbd)["state"] == "no broker")
    assert plumbd.fetch("/readyz")[0] == 200
    assert plumbd.messages().count("no broker of kafka.brokers") == 1
    assert plumbd.metrics()["plumbd_kafka_errors_total"] > 0
    assert plumbd.stop() == 0


def test_one_broker_of_several(broker, make_plumbd):
    """The dead one is counted; the topic is read from the other, and nobody is told that no broker answers."""
    broker.create("several")
    broker.send("several", [a_span(1)])
    to_all = "enable.sparse.connections=false"  # else it connects to either, by chance
    plumbd = reading(make_plumbd, f"127.0.0.1:{free_port()},{broker.address}", "several", to_all).start()
    wait_for_messages(plumbd, 1)
    wait_for(lambda: plumbd.metrics()["plumbd_kafka_errors_total"] > 0)
    assert kafka(plumbd)["state"] == "reading"
    assert plumbd.messages().count("no broker of kafka.brokers") == 0


def test_logins(broker, make_plumbd, tmp_path):
    """The password is in a secret file."""
    broker.create("guarded")
    broker.send("guarded", [a_span(1)])
    secrets = tmp_path / "secrets"
    secrets.write_text("# of the tracing user\nsasl.password = wrong\n")
    secrets.chmod(0o600)
    login = f"security.protocol=SASL_PLAINTEXT; sasl.mechanism=PLAIN; sasl.username={broker.USER}"
    plumbd = reading(make_plumbd, broker.login_address, "guarded", login, kafka__secrets=secrets).start()
    wait_for(lambda: kafka(plumbd)["state"] == "no access")
    assert "do not let plumbd read topic 'guarded'" in plumbd.messages()
    assert plumbd.stop() == 0

    secrets.write_text(f"sasl.password = {broker.PASSWORD}\n")
    plumbd.start()
    wait_for_messages(plumbd, 1)
    assert broker.PASSWORD not in plumbd.messages()


@pytest.mark.parametrize(
    "options, secret, why",
    [
        ("sasl.password=x", None, "sasl.password is a secret"),
        ("sasl.oauthbearer.assertion.private.key.pem=x", None, "private.key.pem is a secret"),
        ("sasl.oauthbearer.assertion.private.key.passphrase=x", None, "passphrase is a secret"),
        ("group.id=x", None, "group.id is set by plumbd"),
        ("no.such.key=1", None, "no.such.key"),
        ("novalue", None, "has no '='"),
        ("", "sasl.password", "has no '='"),
        ("", "no.such.key=hush", "does not know no.such.key"),
    ],
)
def test_bad_options(make_plumbd, tmp_path, options, secret, why):
    """A wrong configuration stops the start, and no value of a secret is told."""
    settings = {}
    if secret:
        settings["kafka__secrets"] = tmp_path / "secrets"
        settings["kafka__secrets"].write_text(secret)
        settings["kafka__secrets"].chmod(0o600)
    plumbd = reading(make_plumbd, "127.0.0.1:9", "any", options, **settings).spawn()
    assert plumbd.wait() in (1, 2)  # what librdkafka says comes later than what plumbd says
    assert why in plumbd.messages() and "hush" not in plumbd.messages()
