"""Prometheus scrapes a real plumbd; conf/'s alert rules and dashboards are asked of it, as Grafana would."""

import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request

import pytest

from script.hdfs.cluster import free_port
from tests.conftest import ROOT, Plumbd
from tests.ecosystem.test_otlp import a_span, post, spans_body
from tests.receiver.waiting import wait_for

RULES = ROOT / "conf/prometheus-rules.yml"
DASHBOARDS = sorted((ROOT / "conf").glob("grafana-*.json"))
CONFIGURATION = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs: [{{job_name: plumbd, static_configs: [{{targets: ['{target}']}}]}}]
"""
# There are no such lines while all is well.
MAY_BE_EMPTY = {"Lost by senders", "Hosts slower than predicted"}


def tool(name):
    found = shutil.which(name)
    assert found, f"{name} is missing: run script/bootstrap"
    return found


class Prometheus:
    def __init__(self, folder, target):
        port = free_port()
        configuration = folder / "prometheus.yml"
        configuration.write_text(CONFIGURATION.format(rules=RULES, target=target))
        self.address = f"http://127.0.0.1:{port}"
        self.log = folder / "prometheus.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [
                    tool("prometheus"),
                    f"--config.file={configuration}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    f"--web.listen-address=127.0.0.1:{port}",
                ],
                stdout=log,
                stderr=log,
            )

    def ask(self, path, **query):
        with urllib.request.urlopen(f"{self.address}/api/v1/{path}?{urllib.parse.urlencode(query)}") as reply:
            answer = json.load(reply)
        assert answer["status"] == "success", answer
        return answer["data"]

    def value(self, expression):
        """Of the first series; None: there is none, or nobody answers yet."""
        try:
            result = self.ask("query", query=expression)["result"]
        except OSError:
            assert self.process.poll() is None, self.log.read_text()
            return None
        return float(result[0]["value"][1]) if result else None


@pytest.fixture(scope="module")
def scraped(plumbd_program, tmp_path_factory):
    """(plumbd, a Prometheus that has scraped it several times)"""
    folder = tmp_path_factory.mktemp("scraped")
    plumbd = Plumbd(plumbd_program, folder / "plumbd").start()
    assert post(plumbd, spans_body(a_span(1, 1)))[0] == 200
    plumbd.flush()
    prometheus = Prometheus(folder, plumbd.http)
    try:
        wait_for(lambda: (prometheus.value("count_over_time(plumbd_ready[1m])") or 0) >= 4)
        yield plumbd, prometheus
    finally:
        prometheus.process.kill()
        prometheus.process.wait()
        plumbd.clean_up()


def test_rules_fire_for_what_they_are_about():
    """promtool's own tests of the rules: each alert, for what is bad and for what is well."""
    tests = ROOT / "tests/ecosystem/prometheus-rules-test.yml"
    done = subprocess.run([tool("promtool"), "test", "rules", tests], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    alerts = set(re.findall(r"alert: (\w+)", RULES.read_text()))
    assert alerts == set(re.findall(r"alertname: (\w+)", tests.read_text()))


def test_nothing_fires_when_all_is_well(scraped):
    """The rules as Prometheus loads them: all are good, and none fires for a plumbd without load."""
    _, prometheus = scraped
    wait_for(lambda: all(rule["health"] == "ok" for rule in rules(prometheus)))
    assert len(rules(prometheus)) == len(re.findall(r"alert: ", RULES.read_text()))
    assert [rule["name"] for rule in rules(prometheus) if rule["state"] == "firing"] == []


def rules(prometheus):
    return [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]


def test_rules_name_metrics_that_there_are(scraped):
    """Lines that come only when something is wrong are in the text of /metrics as HELP."""
    plumbd, _ = scraped
    _, body = plumbd.fetch("/metrics")
    there = set(re.findall(r"^# TYPE (\S+)", body.decode(), re.M))
    named = set(re.findall(r"plumbd_\w+", re.sub(r"#.*|summary:.*", "", RULES.read_text())))
    assert named and named <= there


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels(scraped, path):
    """Each panel's queries, with the interval that Grafana would put in: good, and with an answer."""
    _, prometheus = scraped
    for panel in json.loads(path.read_text())["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$__rate_interval", "1m")
            result = prometheus.ask("query", query=expression)["result"]
            assert result or panel["title"] in MAY_BE_EMPTY, (panel["title"], expression)


def test_counters_are_what_plumbd_says(scraped):
    plumbd, prometheus = scraped
    assert prometheus.value("plumbd_spans_total") == plumbd.metrics()["plumbd_spans_total"] == 1
