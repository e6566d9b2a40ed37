"""A plumbd that can be stopped, killed and started again on the same port and store."""
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("PLUMB_BUILD") or ROOT / "build" / "default")
PLUMBD = BUILD / "receiver" / "plumbd"
PLUMB = BUILD / "analyzer" / "plumb"
STOP_SECONDS = 60

sys.path.insert(0, str(ROOT / "script" / "hdfs"))

from cluster import die_with_parent, free_port  # noqa: E402


class Daemon:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        # Senders know the address before plumbd runs, and after it was started again.
        self.thrift = f"127.0.0.1:{free_port()}"
        self.http = ""
        self.process = None

    def start(self):
        """Returns when it is ready."""
        settings = {"store.path": self.folder / "store", "journal.path": self.folder / "journal",
                    "listen.thrift": self.thrift, "listen.http": "127.0.0.1:0"}
        command = [PLUMBD, *(part for name, value in settings.items() for part in ("--set", f"{name}={value}"))]
        with open(self.folder / "plumbd.log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True,
                                            preexec_fn=die_with_parent)
        ready = self.process.stdout.readline()
        found = re.search(r" http=(\S+)", ready)
        assert found, f"plumbd did not start: {ready!r}\n{(self.folder / 'plumbd.log').read_text()[-2000:]}"
        self.http = found.group(1)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def terminate(self):
        """In order; its exit code."""
        self.process.terminate()
        code = self.process.wait(STOP_SECONDS)
        self.process.stdout.close()
        return code

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()

    def ask(self, path, method="GET"):
        request = urllib.request.Request(f"http://{self.http}/api/v1/{path}", method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    def ask_json(self, path, method="GET"):
        return json.loads(self.ask(path, method))

    def export(self):
        """Every stored span."""
        return [json.loads(line) for line in self.ask("export").splitlines()]

    def plumb(self, command, *arguments):
        """Output of a command of plumb against this plumbd."""
        return subprocess.run([PLUMB, command, "--server", self.http, *arguments], check=True, capture_output=True,
                              text=True, timeout=60).stdout
