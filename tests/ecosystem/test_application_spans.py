"""A request to a program under OpenTelemetry's own agent for Java, beside ours: its spans, which come over OTLP, and
those of HDFS are one trace, from the header of the request down to the DataNode."""

import os
import subprocess
import urllib.request

import pytest

from script.hdfs.attach import Agent
from script.hdfs.cluster import Cluster, write_site
from script.hdfs.jars import compile_java, opentelemetry_agent
from tests.conftest import ROOT, Plumbd
from tests.receiver.waiting import wait_for

# Both engines of the agent: Hadoop's own HTrace, and ours.
CLIENTS = ("3.3.1", "3.3.6")
SERVERS = "3.3.6"
SIZE = 100_000


class Environment(Agent):
    """Ours with OpenTelemetry's agent, which has no argument."""

    def __init__(self, plumbd, settings):
        super().__init__(settings)
        self.variables = {
            "OTEL_SERVICE_NAME": "web",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"http://{plumbd.http}/v1/traces",
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "gzip",
            "OTEL_METRICS_EXPORTER": "none",
            "OTEL_LOGS_EXPORTER": "none",
            "OTEL_PROPAGATORS": "tracecontext,b3,b3multi",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }

    def options(self, name, work):
        return [f"-javaagent:{opentelemetry_agent()}", *super().options(name, work)]

    def environment(self, name, work):
        return self.variables


@pytest.fixture(scope="module")
def place(plumbd_program, tmp_path_factory):
    """(plumbd, a cluster whose servers have our agent, classes of the program)"""
    plumbd = Plumbd(plumbd_program, tmp_path_factory.mktemp("plumbd")).start()
    folder = tmp_path_factory.mktemp("web")
    classes = compile_java([ROOT / "tests/ecosystem/WebFiles.java"], folder / "classes", CLIENTS[0])
    servers = Agent({"receivers": "{}:{}".format(*plumbd.thrift)})
    with Cluster(folder / "hdfs", SERVERS, datanodes=1, agent=servers) as cluster:
        yield plumbd, cluster, classes
    plumbd.clean_up()


class Web:
    """The program, as a process of the cluster; sampling: what our agent would do without OpenTelemetry, None for what
    Hadoop's keys say; conf: a folder with another core-site.xml than the cluster's."""

    def __init__(self, place, name, version, sampling="Nothing=always; never", conf=None, **settings):
        self.plumbd, self.cluster, classes = place
        all_settings = {"receivers": "{}:{}".format(*self.plumbd.thrift), **settings}
        if sampling is not None:
            all_settings["sampling"] = sampling
        agent = Environment(self.plumbd, all_settings)
        self.process = self.cluster.java(
            name,
            "WebFiles",
            class_path=f"{conf}:{classes}" if conf else str(classes),
            version=version,
            agent=agent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        line = self.process.stdout.readline().strip()
        assert line.isdigit(), self.cluster.log_end(name)
        self.port = int(line)

    def __enter__(self):
        return self

    def ask(self, path, header, body=None):
        url, method = f"http://127.0.0.1:{self.port}{path}", "PUT" if body else "GET"
        request = urllib.request.Request(url, headers=header, method=method, data=body)
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert int(answer.read()) == SIZE

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(60) == 0  # both agents send what they have


def drawn():
    """Ids of a trace and of a span that never came to plumbd: the browser's."""
    return os.urandom(16).hex(), os.urandom(8).hex()


def traceparent(trace, span, sampled=1):
    return {"traceparent": f"00-{trace}-{span}-{sampled:02d}"}


def spans_of(plumbd, trace, *roles):
    """The trace, when spans of each of these roles have come, and the parents of all but the request."""

    def come():
        status, _ = plumbd.fetch(f"/api/v1/{question}")
        if status != 200:
            return False
        answer = plumbd.ask(question)
        return answer["orphans"] == 1 and {row["role"] for row in answer["spans"]} >= set(roles)

    question = f"trace?id={trace[16:]}&limit=0"
    wait_for(come)
    return plumbd.ask(question)["spans"]


def path_up(spans, row):
    """Functions from a span to the outermost that is known."""
    by_id = {span["span"]: span for span in spans}
    names = [row["function"]]
    while row["parents"] and row["parents"][0] in by_id:
        row = by_id[row["parents"][0]]
        names.append(row["function"])
    return names, row


@pytest.mark.parametrize("version", CLIENTS)
def test_one_trace_down_to_the_datanode(place, version):
    """A write and a read, by W3C's header and by B3: our own sampling would trace neither. What OpenTelemetry does not
    record is left to that."""
    plumbd = place[0]
    written, read, unrecorded = drawn(), drawn(), drawn()
    with Web(place, f"web-{version}", version) as web:
        web.ask(f"/{version}", traceparent(*written), b"x" * SIZE)
        web.ask(f"/{version}", {"b3": f"{read[0]}-{read[1]}-1"})
        web.ask(f"/{version}", traceparent(*unrecorded, sampled=0))
    for (trace, span), work in ((written, "DFSOutputStream#stream"), (read, "DFSInputStream#byteArrayRead")):
        spans = spans_of(plumbd, trace, "namenode", "datanode")
        (request,) = [row for row in spans if row["function"].startswith("web: ")]
        assert request["parents"] == [trace[16:] + span]
        assert request["annotations"]["trace_id.high"] == trace[:16]
        for row in spans:
            names, outermost = path_up(spans, row)
            assert outermost is request, names
        assert work in {name for row in spans if row["role"] == "datanode" for name in path_up(spans, row)[0]}
    plumbd.flush()
    assert plumbd.fetch(f"/api/v1/trace?id={unrecorded[0][16:]}")[0] == 404
    roots = [row["root"] for row in plumbd.ask("traces?limit=0")["traces"]]
    assert not [name for name in roots if name.startswith("DFS")]


def test_not_wanted(place):
    """application.spans = off: ours are traces of their own."""
    plumbd = place[0]
    trace, span = drawn()
    with Web(place, "apart", SERVERS, "always", **{"application.spans": "off"}) as web:
        web.ask("/apart", traceparent(trace, span), b"x" * SIZE)
    (request,) = spans_of(plumbd, trace, "client")
    assert request["function"] == "web: PUT /"
    plumbd.flush()
    roots = {row["root"] for row in plumbd.ask("traces?limit=0")["traces"]}
    assert "DFSOutputStream#stream" in roots


def test_hadoop_says_never(place, tmp_path):
    """NeverSampler of Hadoop, with HTrace inside: nothing of HDFS is traced, also below a span that is recorded."""
    plumbd, cluster, _ = place
    trace, span = drawn()
    never = {"fs.defaultFS": cluster.url(), "fs.client.htrace.sampler.classes": "NeverSampler"}
    write_site(tmp_path / "core-site.xml", never)
    with Web(place, "never", CLIENTS[0], None, tmp_path) as web:
        web.ask("/never", traceparent(trace, span), b"x" * SIZE)
    plumbd.flush()
    (request,) = plumbd.ask(f"trace?id={trace[16:]}&limit=0")["spans"]
    assert request["function"] == "web: PUT /"
