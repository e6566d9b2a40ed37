"""Samples of hosts, one a second, by sysstat: each host's own processor time (its control group's, shown by lxcfs as
/proc/stat), its own network devices and its own disk.

    with Samples(hosts, ["worker1", "worker2"], folder): ...

Afterwards there are folder/worker1.json (sadf -j), folder/worker1.sar (text) and the same of worker2.
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from script.hdfs.cluster import die_with_parent, wait_for
from script.spark.hosts import HostError

SADC = "/usr/lib/sysstat/sadc"
SECONDS = 20


def why_no_samples():
    """Why hosts cannot be sampled here; None when they can."""
    if not Path(SADC).exists() or not shutil.which("sadf"):
        return "no sysstat"
    if not shutil.which("lxcfs"):
        return "no lxcfs"
    return None


class Samples:
    def __init__(self, hosts, names, folder):
        reason = why_no_samples()
        if reason:
            raise HostError(f"hosts cannot be sampled: {reason}")
        self.hosts, self.names, self.folder = hosts, list(names), Path(folder)
        self.view = self.folder / "view"
        self.processes = {}

    def __enter__(self):
        self.view.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lxcfs.log", "ab") as log:
            self.processes["lxcfs"] = subprocess.Popen(
                ["lxcfs", "--pidfile", str(self.folder / "lxcfs.pid"), str(self.view)],
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,
            )
        try:
            wait_for(lambda: (self.view / "proc" / "stat").exists(), SECONDS, "lxcfs ready")
            for name in self.names:
                self._sample(name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _sample(self, name):
        """Of the group that the sampling process itself is in: the host's, under whose name they are written."""
        script = f'hostname {name} && mount --bind {self.view}/proc/stat /proc/stat && exec "$@"'
        self.processes[name] = subprocess.Popen(
            [
                *self.hosts.inside(name),
                "unshare",
                "-m",
                "-u",
                "sh",
                "-c",
                script,
                "sh",
                SADC,
                "-S",
                "DISK",
                "1",
                str(self.folder / f"{name}.sa"),
            ],
            stdout=subprocess.DEVNULL,
            preexec_fn=die_with_parent,
        )

    def __exit__(self, *_):
        for name in [*self.names, "lxcfs"]:
            if name in self.processes:
                self.processes[name].send_signal(signal.SIGINT if name != "lxcfs" else signal.SIGTERM)
                self.processes[name].wait()
        subprocess.run(["umount", "-l", str(self.view)], stderr=subprocess.DEVNULL, check=False)
        for name in self.names:
            self._convert(name)

    def _convert(self, name):
        binary = self.folder / f"{name}.sa"
        if not binary.exists():
            return
        devices = f"--dev={self.hosts.device(name)[0]}"
        forms = {
            "json": ["sadf", "-j", str(binary), "--", "-u", "-d", "-n", "DEV", devices, "--iface=eth0"],
            "sar": ["sar", "-u", "-d", "-n", "DEV", devices, "--iface=eth0", "-f", str(binary)],
        }
        environment = {**os.environ, "LC_ALL": "C", "S_TIME_FORMAT": "ISO", "TZ": "UTC"}
        for ending, words in forms.items():
            with open(self.folder / f"{name}.{ending}", "w") as out:
                subprocess.run(words, stdout=out, stderr=subprocess.DEVNULL, env=environment, check=False)
        binary.unlink()
