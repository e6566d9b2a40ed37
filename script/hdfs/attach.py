"""How tracing gets into a process of a cluster: Agent (the option -javaagent) or Woven (jars woven beforehand)."""

import subprocess
from pathlib import Path

from script.hdfs.jars import ClusterError, agent_jar, hadoop_jars, run


class Agent:
    """The agent with these settings (keys of java -jar plumb-agent.jar --help-config). Each process is called as if it
    had a host of its own, "datanode2", and leaves its report in the cluster's folder."""

    def __init__(self, settings=None, jar=None):
        self.settings = dict(settings or {})
        self.jar = Path(jar or agent_jar())

    def all_settings(self, name, work):
        return {"tracer.id": f"%{{tname}}/{name}", "report": work / f"{name}.report", **self.settings}

    def options(self, name, work):
        """Of the JVM."""
        pairs = ",".join(f"{key}={value}" for key, value in self.all_settings(name, work).items())
        return [f"-javaagent:{self.jar}={pairs}"]

    def environment(self, name, work):
        return {}

    def class_path(self, version):
        return f"{hadoop_jars(version)}/*"


class Woven(Agent):
    """Hadoop's jars woven into the folder 'lib' instead, where the agent's jar is an ordinary one beside them."""

    def __init__(self, lib, settings=None, jar=None):
        super().__init__(settings, jar)
        self.lib = Path(lib)

    def options(self, name, work):
        return []

    def environment(self, name, work):
        settings = {key: value for key, value in self.all_settings(name, work).items() if key != "report"}
        return {"PLUMB_AGENT_" + key.upper().replace(".", "_"): str(value) for key, value in settings.items()}

    def class_path(self, version):
        return f"{self.lib}/*"


def weave(version, work, *, functions=None, beside=None):
    """Woven copies of all jars of a version, in a new folder below 'work'; beside: another folder of classes to
    weave."""
    plain, woven = Path(work) / "plain", Path(work) / "woven"
    plain.mkdir(parents=True)
    for jar in hadoop_jars(version).glob("*.jar"):
        (plain / jar.name).symlink_to(jar)
    if beside:
        run(["jar", "--create", "--file", plain / "beside.jar", "-C", beside, "."], "jar failed")
    site = ["--functions", functions] if functions else []
    run(
        ["java", "-jar", agent_jar(), "weave", "--in", plain, "--out", woven, *site],
        f"the jars of Hadoop {version} could not be woven",
    )
    return woven


def agent_command(*arguments):
    """java -jar plumb-agent.jar ...: what it prints."""
    done = subprocess.run(
        ["java", "-jar", str(agent_jar()), *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ClusterError(done.stderr)
    return done.stdout
