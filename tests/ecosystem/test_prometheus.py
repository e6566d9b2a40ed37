"""Prometheus scrapes a real plumbd; conf/'s alert rules and dashboards are asked of it, as Grafana would."""

import json
import re
import subprocess

import pytest

from tests.conftest import ROOT
from tests.ecosystem.prometheus import RULES, tool
from tests.receiver.waiting import wait_for

DASHBOARDS = sorted((ROOT / "conf").glob("grafana-*.json"))
# There are no such lines while all is well.
MAY_BE_EMPTY = {"Lost by senders", "Hosts slower than predicted"}


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
