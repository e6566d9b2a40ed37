"""A real Prometheus that scrapes one address with conf/'s rules."""

import json
import shutil
import subprocess
import urllib.parse
import urllib.request

from script.hdfs.cluster import free_port
from tests.conftest import ROOT

RULES = ROOT / "conf/prometheus-rules.yml"
CONFIGURATION = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs: [{{job_name: plumbd, static_configs: [{{targets: ['{target}']}}]}}]
"""


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
                    "--enable-feature=exemplar-storage",
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
