"""Checks what changed since main, committed or not: style, build and the tests nearest to it, in about a minute.

    script/check                   what changed since the branch left main (on main: since origin/main)
    script/check FILE...           as if these files had changed
    script/check --plan [FILE...]  only says what would run
    script/check --all [FILE...]   also what does not fit into the minute

What is run for a file:
  any file           the style tests about it
  C source, header   the build; of ctest's programs those into which one of its objects is linked: first those whose own
                     sources include the header of that unit (those in its folder of tests/ before the rest), then
                     the others, the quickest first
  parts of programs  the Python tests that the table SUITES names for its folder
  Python             the tests that import it, directly or not; tests/.../conftest.py: those below
  whatever           the Python tests in whose text its path stands (docs/api.md, conf/plumbd.conf)

Durations are those of earlier runs (ctest's own notes; build/python-seconds.json). What does not fit is named at the
end with the command that runs it. script/test runs everything; it has the last word.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/default"
PYTHON = "/usr/bin/python3"
PROGRAMS = ["receiver/plumbd", "analyzer/plumb", "spark-bridge/plumb-bridge"]
# Of a minute, what is left for tests. They run two at a time.
CTEST_SECONDS = 2 * 18
PYTHON_SECONDS = 2 * 18
# Of tests that never ran here: those of ctest are short, files of Python tests are not.
UNKNOWN_CTEST_SECONDS = 2
UNKNOWN_PYTHON_SECONDS = 12
# By folder, the longest that holds the file: what exercises the programs that it is part of, the nearest first.
SUITES = {
    "analyzer": ["tests/cli"],
    "analyzer/archive": ["tests/cli/test_real.py", "tests/receiver/test_retention.py"],
    "analyzer/query": ["tests/query", "tests/cli/test_output.py", "tests/cli/test_real.py"],
    "common": ["tests/cli/test_output.py", "tests/receiver/test_http.py", "tests/receiver/test_accounting.py"],
    "common/store": [
        "tests/receiver/test_recovery.py",
        "tests/receiver/test_crash.py",
        "tests/receiver/test_faults.py",
    ],
    "common/wire": [
        "tests/receiver/test_versions.py",
        "tests/receiver/test_wrong_input.py",
        "tests/cli/test_import.py",
    ],
    "idl": ["tests/receiver/test_versions.py"],
    "receiver": ["tests/receiver", "tests/secure"],
    "ui": ["tests/ui/test_serving.py", "tests/ui/test_views.py"],
    "spark-bridge": ["tests/bridge/test_bridge.py", "tests/spark/test_side_logs.py"],
}
# What takes minutes in any case, and what to run then.
ELSEWHERE = {
    "CMakeLists.txt": "script/test unit",
    "cmake": "script/test unit",
    "fuzz": "script/test fuzz",
    "idl": "script/test java system",
    "script/packages": "script/bootstrap",
    "tests/faults": "script/test unit",
    "tracer-patches": "script/test java, then /usr/bin/python3 -m pytest tests/agent",
}
# Python tests that start a Hadoop or a Spark.
CLUSTERS = ("tests/agent", "tests/hdfs", "tests/load/test_load.py", "tests/spark/test_live.py",
            "tests/spark/test_watch.py", "tests/bridge/test_webhdfs.py",
            "tests/bridge/test_history_server.py")  # fmt: skip


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def git(*arguments):
    return output("git", *arguments).splitlines()


def below(path, folder):
    return path == folder or path.startswith(folder + "/")


# ---- what changed ----


def known_commit(*names):
    for commit in names:
        if (
            subprocess.run(["git", "rev-parse", "-q", "--verify", commit], cwd=ROOT, capture_output=True).returncode
            == 0
        ):
            return commit
    return "HEAD"


def changed_files():
    on_main = git("rev-parse", "--abbrev-ref", "HEAD") == ["main"]
    (base,) = git("merge-base", "HEAD", known_commit("origin/main") if on_main else known_commit("main", "origin/main"))
    names = {*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")}
    return sorted(names)


# ---- C: the tests that its objects are part of ----


def is_c(path):
    return path.endswith((".c", ".cc", ".h"))


def defined(files):
    """{file: the functions and variables that it defines}, of those files that are built."""
    names = {file: set() for file in files if (BUILD / file).is_file()}
    if names:
        command = ["nm", "-A", "-P", "--defined-only", "-g", *names]
        for line in subprocess.run(command, cwd=BUILD, capture_output=True, text=True).stdout.splitlines():
            file, symbol, *_ = line.split()
            names[file.rstrip(":")].add(symbol)
    return names


def objects_by_file(deps):
    """{file of the tree: the objects compiled from it}, from what `ninja -t deps` prints.

    Compilers name a file by its absolute path; ccache with a base_dir makes it relative to the build folder."""
    found, made = {}, None
    for line in deps.splitlines():
        if line.startswith("    "):
            path = os.path.normpath(BUILD / line.strip())
            if below(path, str(ROOT)):
                found.setdefault(os.path.relpath(path, ROOT), set()).add(made)
        elif line:
            made = line.split(":")[0]
    return found


class Graph:
    """What the build knows: which objects are compiled from a file, and of what objects ctest's programs are made."""

    LINK = re.compile(r"^build ([^\s:]+)(?: [^:]*)?: \w+_(EXECUTABLE|STATIC_LIBRARY)_LINKER__\S+ ([^|\n]*)", re.M)

    def __init__(self):
        self.parts, self.in_libraries = {}, set()
        for made, kind, parts in self.LINK.findall((BUILD / "build.ninja").read_text()):
            self.parts[made] = set(parts.split())
            if kind == "STATIC_LIBRARY":
                self.in_libraries |= self.parts[made]
        shown = json.loads(output("ctest", "--test-dir", str(BUILD), "--show-only=json-v1"))["tests"]
        self.tests = {os.path.relpath(test["command"][0], BUILD): test["name"] for test in shown if "command" in test}
        self.objects = objects_by_file(output("ninja", "-C", str(BUILD), "-t", "deps"))

    def near(self, path):
        """Programs whose own sources include the file, or its header."""
        header = re.sub(r"\.cc?$", ".h", path)
        objects = self.objects.get(path, set()) | self.objects.get(header, set())
        return {program for program in self.tests if objects & self.parts.get(program, set())}

    def beside(self, path):
        """Programs that have a source in the folder of tests/ for the file's own: tests/base for common/base."""
        folders = set(Path(path).parts[:-1])
        parts = {program: "".join(self.parts.get(program, ())) for program in self.tests if below(program, "tests")}
        return {program for program in parts if folders & set(re.findall(r"\.dir/([\w-]+)/", parts[program]))}

    def linked(self, path):
        """Programs that one of its objects is linked into. The linker takes whole objects, so one name tells."""
        inner = defined(sorted(self.objects.get(path, set()) & self.in_libraries))
        symbols = set().union(*inner.values())
        programs = defined(self.tests)
        return {name for name in self.tests if name not in programs or programs[name] & symbols} if symbols else set()


def ctest_seconds():
    notes = BUILD / "Testing/Temporary/CTestCostData.txt"
    lines = notes.read_text().splitlines() if notes.exists() else []
    return {name: float(cost) for name, _, cost in (line.split() for line in lines if line.count(" ") == 2)}


# ---- Python: the tests that import it, or whose text names the file ----


def modules_imported(path, files):
    tree = ast.parse((ROOT / path).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (file for file in (name.replace(".", "/") + ".py" for name in names) if file in files)


def tests_of_python(path, files):
    """Test files that need this one, through other modules and conftest.py, too."""
    users = {}
    for file in files:
        for imported in modules_imported(file, files):
            users.setdefault(imported, set()).add(file)
        for folder in Path(file).parents:
            users.setdefault(f"{folder}/conftest.py", set()).add(file)
    found, todo = {path}, [path]
    while todo:
        new = users.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return {file for file in found if Path(file).name.startswith("test_")}


def folder_of(path, table):
    return max((folder for folder in table if below(path, folder)), key=len, default=None)


def python_tests(path, files):
    """The nearest first; of a suite the quickest."""
    if path.endswith(".py"):
        return sorted(tests_of_python(path, files), key=lambda file: (file != path, file))
    tests = [file for file in files if Path(file).name.startswith("test_")]
    suites = SUITES.get(folder_of(path, SUITES), []) if is_c(path) or below(path, "idl") else []
    seconds = python_seconds()
    tests.sort(key=lambda file: seconds.get(file, UNKNOWN_PYTHON_SECONDS))
    found = [file for suite in suites for file in tests if below(file, suite)]
    return found + [file for file in tests if f"{path}" in (ROOT / file).read_text() and file not in found]


def python_seconds():
    notes = ROOT / "build/python-seconds.json"
    return json.loads(notes.read_text()) if notes.exists() else {}


# ---- the plan ----


class Plan:
    def __init__(self, files, everything=False):
        self.files = files
        self.python = [file for file in git("ls-files", "-co", "--exclude-standard", "*.py") if (ROOT / file).is_file()]
        self.advice = sorted({ELSEWHERE[folder] for folder in (folder_of(file, ELSEWHERE) for file in files) if folder})
        self.c_tests, self.left_c_tests = self._c_tests(everything)
        self.python_tests, self.left_python_tests = self._python_tests(everything)

    def _c_tests(self, everything):
        sources = [file for file in self.files if is_c(file)]
        if not sources:
            return [], []
        graph, seconds = Graph(), ctest_seconds()
        near = set().union(*map(graph.near, sources))
        beside = set().union(*map(graph.beside, sources))
        linked = near.union(*map(graph.linked, sources))
        costs = {one: seconds.get(graph.tests[one], UNKNOWN_CTEST_SECONDS) for one in linked}
        order = sorted(linked, key=lambda one: (one not in near, one not in beside, costs[one], one))
        names = {one: costs[one] for one in order}
        chosen, left = within(names, None if everything else CTEST_SECONDS)
        return [(one, graph.tests[one]) for one in chosen], [graph.tests[one] for one in left]

    def _python_tests(self, everything):
        found = dict.fromkeys(test for file in self.files for test in python_tests(file, self.python))
        seconds = python_seconds()
        style = [test for test in found if below(test, "tests/style")]
        clusters = [test for test in found if test.startswith(CLUSTERS)]
        others = {test: seconds.get(test, UNKNOWN_PYTHON_SECONDS) for test in found if test not in style + clusters}
        chosen, left = within(others, None if everything else PYTHON_SECONDS)
        return (chosen + clusters, []) if everything else (chosen, left + clusters)

    def targets(self):
        """What to build: the tests that run, and the programs, which the Python tests start."""
        if not any(is_c(file) or below(file, "idl") for file in self.files) and not self.python_tests:
            return []
        return [*PROGRAMS, *(program for program, _ in self.c_tests)]

    def say(self):
        print(f"changed: {' '.join(self.files) or 'nothing'}")
        print(f"ctest: {' '.join(name for _, name in self.c_tests) or 'nothing'}")
        print(f"pytest: {' '.join(self.python_tests) or 'nothing'}")

    def say_left(self):
        if self.left_c_tests:
            print(f"not run: ctest --preset default -R '^({'|'.join(self.left_c_tests)})$'")
        if self.left_python_tests:
            print(f"not run: {PYTHON} -m pytest {' '.join(self.left_python_tests)}")
        for command in self.advice:
            print(f"not run: {command}")


def within(costs, limit):
    """(those that fit into the limit in this order, the rest); the first fits always."""
    chosen, left, spent = [], [], 0
    for name, cost in costs.items():
        if limit is None or not chosen or spent + cost <= limit:
            chosen.append(name)
            spent += cost
        else:
            left.append(name)
    return chosen, left


# ---- running it ----


def step(title, command, **variables):
    begun = time.monotonic()
    print(f"--- {title}", flush=True)
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables})
    print(f"--- {title}: {time.monotonic() - begun:.0f} s", flush=True)
    if done.returncode != 0:
        sys.exit(f"script/check: {title} failed: {' '.join(command)}")


def run(plan):
    style = [PYTHON, "-m", "pytest", "-q", "tests/style"]
    step("style", style, PLUMB_CHANGED=" ".join(plan.files))
    if plan.targets():
        step("build", ["script/build", "default", *plan.targets()])
    if plan.c_tests:
        names = "|".join(name for _, name in plan.c_tests)
        step(
            "ctest",
            ["ctest", "--test-dir", str(BUILD), "-j2", "--output-on-failure", "--progress", "-R", f"^({names})$"],
        )
    if plan.python_tests:
        step("pytest", [PYTHON, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", *plan.python_tests])


def main():
    parser = argparse.ArgumentParser(
        prog="script/check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plan", action="store_true", help="say what would run, and end")
    parser.add_argument("--all", action="store_true", help="also what does not fit into the minute")
    parser.add_argument("files", nargs="*", metavar="FILE", help="from the top of the tree; default: what git says")
    options = parser.parse_args()
    if not (BUILD / "build.ninja").exists():
        step("first build", ["script/build", "default"])
    plan = Plan(options.files or changed_files(), options.all)
    plan.say()
    if not options.plan:
        run(plan)
    plan.say_left()


if __name__ == "__main__":
    main()
