"""Prometheus scrapes a real plumbd; conf/'s alert rules and dashboards are asked of it, as Grafana would."""

import json
import math
import re
import subprocess

import pytest

from tests.conftest import ROOT
from tests.ecosystem.prometheus import RULES, tool
from tests.receiver.waiting import wait_for

DASHBOARDS = sorted((ROOT / "conf").glob("grafana-*.json"))
# There are no such lines while all is well.
MAY_BE_EMPTY = {"Lost by senders"}


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
    named = set(
        re.findall(r"plumbd_\w+?(?=(?:_(?:bucket|count|sum))?\b)", re.sub(r"#.*|summary:.*", "", RULES.read_text()))
    )
    assert named and named <= there


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels(scraped, path):
    """Each panel's queries, with what Grafana would put in for the interval and variables: good, and with numbers."""
    _, prometheus = scraped
    board = json.loads(path.read_text())
    for panel in board["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$__rate_interval", "1m")
            for name, value in chosen(prometheus, board).items():
                expression = expression.replace(f"${name}", value)
            result = prometheus.ask("query", query=expression)["result"]
            numbers = [value for value in (float(row["value"][1]) for row in result) if math.isfinite(value)]
            assert numbers or panel["title"] in MAY_BE_EMPTY, (panel["title"], expression)


def chosen(prometheus, board):
    """A value of each variable of a dashboard, as Grafana asks for them: the slow host's."""
    values = {}
    for variable in board["templating"]["list"]:
        if variable["type"] != "query":
            continue
        series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
        there = {row[label] for row in prometheus.ask("series", **{"match[]": series})}
        assert there == {"dn1", "dn2", "dn3", "dn4"}
        values[variable["name"]] = "dn2"
    return values


def test_slow_host_is_seen(scraped):
    """What the dashboards show of the one DataNode that is slow."""
    _, prometheus = scraped
    board = json.loads((ROOT / "conf/grafana-datanode.json").read_text())
    asked = {panel["title"]: panel["targets"][0]["expr"] for panel in board["panels"]}

    def value(title):
        return prometheus.value(asked[title].replace("$host", "dn2").replace("$__rate_interval", "1m"))

    assert value("Slowdown") > 6
    assert value("Times as long as predicted") > 6
    # Its disk is twice as slow as dn1's by design, and the median of four lies between dn2's and dn3's others.
    assert value("Times as long as the median DataNode") > 3
    assert value("DataNodes") == 4
    assert prometheus.value("count(ALERTS{alertname='HostSlow',alertstate='pending',host='dn2'})") == 1


def test_counters_are_what_plumbd_says(scraped):
    plumbd, prometheus = scraped
    assert prometheus.value("plumbd_spans_total") == plumbd.metrics()["plumbd_spans_total"] > 0
