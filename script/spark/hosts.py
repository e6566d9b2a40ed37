"""Hosts for the processes of a cluster on one machine.

Loopback: every process has an address of its own, 127.0.1.N or 127.0.2.N; works for everybody, and tells hosts apart.
Namespaces (root only): each host has its own network namespace on a bridge, its own processor group (cgroup v1) and its
own disk (a loop device), so that one of them can be made slow and sampled apart from the others. A process of ours
takes them down at the end, also when the one that made them is killed.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

GROUPS = ("cpu", "cpuacct", "cpuset", "blkio")
GROUP_ROOT = Path("/sys/fs/cgroup")
PROGRAMS = ("ip", "tc", "nsenter", "unshare", "mount", "umount", "mkfs.ext4")
PERIOD_US = 100_000
SHARES_OF_A_HOST = 1024  # as a process outside
FIRST_NETWORK, LAST_NETWORK = 1, 250
KILL_SECONDS = 10
CONFINED = "confined"
LINK = "link0"


class HostError(Exception):
    """What could not be made, and what the program said."""


def command(*words):
    done = subprocess.run(
        list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise HostError(f"{' '.join(map(str, words))}: {done.stdout.strip()}")
    return done.stdout


def shape(words, device, bits_per_second):
    """What leaves there, no faster than this. words: of tc, up to "qdisc"."""
    rate = ["tbf", "rate", f"{bits_per_second}bit", "burst", "16kb", "latency", "500ms"]
    command("tc", *words, "replace", "dev", device, "root", *rate)


def number_of(name):
    digits = name[len(name.rstrip("0123456789")) :]
    return int(digits) if digits else 0


class Loopback:
    """'datanode2' is 127.0.1.2, 'worker3' 127.0.2.3, everybody else 127.0.0.1."""

    NETWORKS = {"datanode": "127.0.1.", "worker": "127.0.2."}

    def address(self, name):
        network = self.NETWORKS.get(name.rstrip("0123456789"))
        return f"{network}{number_of(name)}" if network else "127.0.0.1"

    def inside(self, name):
        """What a command line begins with to run there."""
        return []

    def disk(self, name):
        """The folder of the host's own disk; None without one."""
        return None

    def write_table(self, path, names):
        """A hosts file for JVMs (-Djdk.net.hosts.file)."""
        lines = [
            "127.0.0.1 localhost",
            *(f"{self.address(name)} {name}" for name in names),
            f"{self.address('driver')} {socket.gethostname()}",
        ]
        path.write_text("\n".join(lines) + "\n")

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def why_no_namespaces():
    """Why hosts of their own cannot be made here; None when they can."""
    if os.geteuid() != 0:
        return "not root"
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        return f"no {', '.join(missing)}"
    absent = [group for group in GROUPS if not (GROUP_ROOT / group / "cgroup.procs").exists()]
    if absent:
        return f"no control groups of version 1 for {', '.join(absent)}"
    if not Path("/dev/loop-control").exists():
        return "no loop devices"
    return None


class Names:
    """What the parts of network 'number' are called, so that whoever cleans up knows them without being told."""

    def __init__(self, number, work, hosts):
        self.number, self.work, self.hosts = number, Path(work).resolve(), list(hosts)
        self.bridge = f"plumb{number}"

    def namespace(self, host):
        return f"{self.bridge}-{host}"

    def cable(self, host):
        """The end of the host's cable at the bridge."""
        return f"pb{self.number}-{self.hosts.index(host)}"

    def address(self, host):
        place = self.hosts.index(host) + 1 if host in self.hosts else 254
        return f"10.77.{self.number}.{place}"

    def group(self, controller, host):
        return GROUP_ROOT / controller / self.bridge / host

    def image(self, host):
        return self.work / "disks" / f"{host}.img"

    def disk(self, host):
        return self.work / "disks" / host


class Namespaces(Loopback):
    """hosts: their names. Others (driver, plumbd) are at the bridge, whose address is address("driver"). Without
    network: processors and disks of their own, at the addresses of Loopback."""

    def __init__(self, work, hosts, disk_mb=300, network=True):
        reason = why_no_namespaces()
        if reason:
            raise HostError(f"hosts of their own need root, cgroup v1 and loop devices: {reason}")
        self.network = network
        self.names = self._take_number(work, hosts)
        self._cleaner = subprocess.Popen(
            [sys.executable, __file__, str(self.names.number), str(self.names.work), *self.names.hosts],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            if network:
                self._bridge()
            for host in self.names.hosts:
                if network:
                    self._connect(host)
                self._groups(host)
                self._disk(host, disk_mb)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _take_number(work, hosts):
        """The first that is free: it belongs to whoever makes the group of that name first."""
        for number in range(FIRST_NETWORK, LAST_NETWORK + 1):
            names = Names(number, work, hosts)
            try:
                (GROUP_ROOT / GROUPS[0] / names.bridge).mkdir()
                return names
            except FileExistsError:
                continue
        raise HostError(f"no number for our hosts is free: look at {GROUP_ROOT / GROUPS[0]}/plumb*")

    def _bridge(self):
        command("ip", "link", "add", self.names.bridge, "type", "bridge")
        command("ip", "address", "add", f"{self.address('driver')}/24", "dev", self.names.bridge)
        command("ip", "link", "set", self.names.bridge, "up")

    def _connect(self, host):
        space, cable = self.names.namespace(host), self.names.cable(host)
        command("ip", "netns", "add", space)
        command("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
        command("ip", "link", "set", cable, "master", self.names.bridge, "up")
        for words in (
            ["address", "add", f"{self.address(host)}/24", "dev", "eth0"],
            ["link", "set", "eth0", "up"],
            ["link", "set", "lo", "up"],
            ["route", "add", "default", "via", self.address("driver")],
        ):
            command("ip", "-n", space, *words)

    def _groups(self, host):
        for controller in GROUPS:
            group = self.names.group(controller, host)
            group.mkdir(parents=True)
            if controller == "cpuset":
                for folder in (group.parent, group):
                    for what in ("cpuset.cpus", "cpuset.mems"):
                        (folder / what).write_text((folder.parent / what).read_text())
            elif controller == "cpu":  # or all hosts together got as much as one process outside
                (group.parent / "cpu.shares").write_text(str(SHARES_OF_A_HOST * len(self.names.hosts)))

    def _disk(self, host, megabytes):
        image, folder = self.names.image(host), self.names.disk(host)
        folder.mkdir(parents=True)
        with open(image, "wb") as file:
            file.truncate(megabytes * 1_000_000)
        command("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=1", image)
        command("mount", "-o", "loop,noatime", image, folder)

    # ---- questions ----

    def address(self, name):
        return self.names.address(name) if self.network else super().address(name)

    def disk(self, name):
        return self.names.disk(name) if name in self.names.hosts else None

    def device(self, name):
        """(name, "major:minor") of the host's disk."""
        number = os.stat(self.names.disk(name)).st_dev
        numbers = f"{os.major(number)}:{os.minor(number)}"
        return Path(f"/sys/dev/block/{numbers}").resolve().name, numbers

    def inside(self, name):
        if name not in self.names.hosts:
            return []
        groups = " ".join(str(self.names.group(controller, name) / "cgroup.procs") for controller in GROUPS)
        enter = ["nsenter", f"--net=/run/netns/{self.names.namespace(name)}"] if self.network else []
        return ["sh", "-c", f'for g in {groups}; do echo $$ > $g; done; exec "$@"', "sh", *enter]

    def processes(self, name):
        return [int(pid) for pid in processes_of(self.names, name)]

    # ---- what a host may have ----

    def limit_cpu(self, name, share, period_us=PERIOD_US):
        """So much of one processor (1.5: one and a half) for all of the host; None: no limit."""
        group = self.names.group("cpu", name)
        (group / "cpu.cfs_quota_us").write_text("-1")
        (group / "cpu.cfs_period_us").write_text(str(period_us))
        if share is not None:
            (group / "cpu.cfs_quota_us").write_text(str(max(1000, int(share * period_us))))

    def confine(self, name, pids, share):
        """These processes of a host, together, to so much of one processor; they go on counting as the host's."""
        part = self.names.group("cpu", name) / CONFINED
        part.mkdir(exist_ok=True)
        (part / "cpu.cfs_quota_us").write_text(str(int(share * PERIOD_US)))
        for pid in pids:
            (part / "cgroup.procs").write_text(str(pid))

    def write_through(self, name, on):
        """Is what is written to the host's disk to be there when the call returns?"""
        command("mount", "-o", f"remount,{'sync' if on else 'async'}", self.names.disk(name))

    def limit_disk(self, name, bytes_per_second):
        """What can be read from the host's disk; None: no limit."""
        _, numbers = self.device(name)
        limit = 0 if bytes_per_second is None else bytes_per_second
        (self.names.group("blkio", name) / "blkio.throttle.read_bps_device").write_text(f"{numbers} {limit}")

    def limit_writes(self, name, bytes_per_second):
        """What can be written to the host's disk, while write_through is on; None: no limit."""
        _, numbers = self.device(name)
        limit = 0 if bytes_per_second is None else bytes_per_second
        (self.names.group("blkio", name) / "blkio.throttle.write_bps_device").write_text(f"{numbers} {limit}")

    def limit_link(self, name, other, bits_per_second):
        """What these two may send to each other, and to nobody else; None: no limit. They get a cable of their own,
        which is the way from one to the other while it is there."""
        space, peer_space = self.names.namespace(name), self.names.namespace(other)
        if bits_per_second is None:
            command("ip", "-n", space, "link", "del", LINK)
            return
        command("ip", "-n", space, "link", "add", LINK, "type", "veth", "peer", "name", LINK, "netns", peer_space)
        for inside in (space, peer_space):
            command("ip", "-n", inside, "link", "set", LINK, "up")
            shape(["-n", inside, "qdisc"], LINK, bits_per_second)
        for here, there in ((name, other), (other, name)):
            route = [f"{self.address(there)}/32", "dev", LINK, "src", self.address(here)]
            command("ip", "-n", self.names.namespace(here), "route", "add", *route)

    def limit_network(self, name, bits_per_second):
        """In each direction; None: no limit."""
        inside = ["-n", self.names.namespace(name), "qdisc"], "eth0"
        outside = ["qdisc"], self.names.cable(name)
        for words, device in (inside, outside):
            if bits_per_second is None:
                command("tc", *words, "del", "dev", device, "root")
            else:
                shape(words, device, bits_per_second)

    def forget(self, name):
        """Drops what the system remembers of the files on the host's disk (what is written out already): reads go to
        the disk again."""
        for path in self.names.disk(name).rglob("*"):
            try:
                with open(path, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            except OSError:
                pass  # a folder, or a file that has just gone

    # ---- end ----

    def close(self):
        """Kills what runs there."""
        if self._cleaner.poll() is None:
            self._cleaner.stdin.close()
            self._cleaner.wait()


def kill_all(names):
    deadline = time.monotonic() + KILL_SECONDS
    while time.monotonic() < deadline:
        pids = [int(pid) for host in names.hosts for pid in processes_of(names, host)]
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)


def processes_of(names, host):
    try:
        return (names.group("cpuacct", host) / "cgroup.procs").read_text().split()
    except OSError:
        return []


def clean_up(names):
    """Takes down whatever there is of it."""
    for host in names.hosts:
        group = names.group("cpu", host)
        for quota in (group / "cpu.cfs_quota_us", group / CONFINED / "cpu.cfs_quota_us"):
            if quota.exists():
                quota.write_text("-1")  # what is starved dies slowly
    kill_all(names)

    def attempt(*words):
        subprocess.run(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    for host in names.hosts:
        if os.path.ismount(names.disk(host)):
            attempt("umount", "-l", names.disk(host))
        names.image(host).unlink(missing_ok=True)
        attempt("ip", "netns", "del", names.namespace(host))
        attempt("ip", "link", "del", names.cable(host))
        remove_group(names.group("cpu", host) / CONFINED)
        for controller in GROUPS:
            remove_group(names.group(controller, host))
    for controller in GROUPS:
        remove_group(GROUP_ROOT / controller / names.bridge)
    attempt("ip", "link", "del", names.bridge)


def remove_group(folder):
    try:
        folder.rmdir()
    except OSError:
        pass


def main():
    """Waits until the one who made the hosts has closed our input, or is gone; then there are none."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.read()
    clean_up(Names(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))


if __name__ == "__main__":
    main()
