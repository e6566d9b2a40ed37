"""Masking: what is secret in spans and records lies nowhere in clear: not in the store, not in the journal, not in any
answer, not in the log; and equal texts are still found."""

import json
import os
import re
import subprocess
import urllib.parse

import pytest

from tests.conftest import ROOT
from tests.ecosystem.test_otlp import post
from tests.receiver.sender import OK, Sender, plain_span, span
from tests.secure.test_agent import list_root

SECRETS = ["alice", "salaries", "SELECT", "kennwort"]
RULES = "path=keep 1; annotation:user=hash; annotation:sql=drop; name:SELECT*=hash; record:user=hash; record:name=hash"
PATH, OTHER = "/user/alice/salaries.parquet", "/user/alice/other"
STRINGS = ("op", "Client/10.0.0.1/7", "path", "user", "sql", "why", "SELECT kennwort", "read /user/alice", "kennwort")
HASH = "~[0-9a-f]{16}"


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "mask.key"
    path.write_text("c0ffee" * 8 + "\n")
    os.chmod(path, 0o600)
    return path


@pytest.fixture
def masking(make_plumbd, key, tmp_path):
    settings = {"mask__rules": RULES, "mask__key": key, "trace__idle": "50ms"}
    return make_plumbd(audit__log="reads", audit__path=tmp_path / "audit.log", **settings)


def secret_spans(trace):
    annotations = [(2, PATH), (3, "alice"), (4, "SELECT kennwort"), (5, f"cannot open hdfs://nn:8020{PATH}")]
    notes = [(1_700_000_000_000_000_001, f"opened {PATH}, then waited")]
    return [span(trace, k, name=name, annotations=annotations, notes=notes) for k, name in ((1, 0), (2, 6), (3, 7))]


def otlp(trace):
    value = {"stringValue": PATH}
    made = {"traceId": f"{trace:032x}", "spanId": "1" * 16, "name": f"GET {PATH}", "startTimeUnixNano": "17" + "0" * 17,
            "endTimeUnixNano": "17" + "0" * 13 + "1000", "attributes": [{"key": "path", "value": value}]}  # fmt: skip
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [made]}]}]})


def send_secrets(plumbd, build_dir):
    with Sender(plumbd) as sender:
        assert sender.deliver(secret_spans(1), strings=STRINGS).status == OK
        assert sender.deliver(secret_spans(2), strings=STRINGS).status == OK
        assert sender.deliver([span(3, 1, annotations=[(2, OTHER)])], strings=STRINGS).status == OK
        assert sender.submit_plain([plain_span("4" * 32, f"plain {PATH}")]).status == OK
    assert post(plumbd, otlp(5))[0] == 200
    zipkin = [{"traceId": "6" * 16, "id": "1" * 16, "name": "x", "timestamp": 1_700_000_000_000_000, "duration": 1,
               "tags": {"user": "alice", "path": PATH}}]  # fmt: skip
    assert post(plumbd, json.dumps(zipkin), path="/api/v2/spans")[0] == 202
    mark = json.dumps({"text": f"moved {PATH}", "kind": "change"})
    assert post(plumbd, mark, path="/api/v1/marks")[0] == 200
    log = ROOT / "tests/data/spark/4.3.0/executor_lost.zstd"
    bridge = [build_dir / "spark-bridge/plumb-bridge", "--receiver", f"127.0.0.1:{plumbd.thrift[1]}", log]
    done = subprocess.run(bridge, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def found_on_disk(plumbd):
    files = [path for folder in (plumbd.store, plumbd.journal) for path in folder.rglob("*") if path.is_file()]
    return {secret for path in files for secret in SECRETS if secret.encode() in path.read_bytes()}


QUESTIONS = (
    "status senders functions forest apps skew stages?app={app} tasks?app={app} operations?app={app} "
    "runs?a={app}&b={app} nodes marks names?kind=function names?kind=annotation series distribution contrast?limit=20 "
    "jobs?app={app} executors?app={app} advise?app={app} stragglers pipelines?app={app} tasks/columns?app={app} "
    "series/columns hosts slow bottleneck samples verify traces?limit=100"
).split()
OF_A_TRACE = (
    "/api/v1/trace?id={id} /api/v1/trace/columns?id={id} /api/v1/trace/find?id={id}&text=a "
    "/api/v1/trace/notes?id={id} /api/v1/why?id={id} "
    "/api/v1/span?id={id}0000000000000001 /api/traces/{id} /api/v3/traces/{id} /api/v2/trace/{id} "
    "/span/{id}0000000000000001 /span/{id}0000000000000001/children"
).split()
OF_A_SERVICE = (
    "/api/services/{service}/operations /api/operations?service={service} /api/traces?service={service} "
    "/api/v2/spans?serviceName={service} /api/v2/traces?serviceName={service}"
).split()
ELSEWHERE = (
    "/api/v1/export /metrics /api/services /api/v2/services /api/v2/autocompleteKeys "
    "/api/v2/autocompleteValues?key=path /api/v2/autocompleteValues?key=user /api/v2/dependencies?endTs=1800000000000 "
    "/api/v1/shell/runs /server/info /query"
).split()


def found_in_answers(plumbd):
    app = plumbd.ask("apps")["apps"][0]["app"]
    services = json.loads(plumbd.fetch("/api/services")[1])["data"]
    assert services
    paths = ["/api/v1/" + question.format(app=app) for question in QUESTIONS] + ELSEWHERE
    paths += [path.format(id=f"{trace:016x}") for path in OF_A_TRACE for trace in range(1, 7)]
    paths += [path.format(service=urllib.parse.quote(name, "")) for path in OF_A_SERVICE for name in services]
    return {path: found for path in paths if (found := secrets_in(plumbd.fetch(path)[1]))}


def secrets_in(text):
    return {secret for secret in SECRETS if secret.encode() in text}


def test_in_clear_without_rules(make_plumbd, build_dir):
    """What the tests below look for is there to be found."""
    plumbd = make_plumbd().start()
    send_secrets(plumbd, build_dir)
    assert found_on_disk(plumbd) == set(SECRETS)
    plumbd.flush()
    found = found_in_answers(plumbd)
    assert set().union(*found.values()) == set(SECRETS)
    told = {path.split("?")[0].replace("/", " ").split()[-1] for path in found}
    assert {"export", "functions", "forest", "series", "marks", "names", "metrics", "columns", "span"} <= told
    assert {
        "operations",
        "spans",
        "0" * 15 + "1",
        "0" * 15 + "10" + "0" * 14 + "1",
    } <= told  # of Jaeger, Zipkin, htraced


def test_nothing_is_in_clear(masking, build_dir, tmp_path):
    """While spans are open, when they are stored, after a crash and a recovery, and after a stop."""
    plumbd = masking.start()
    send_secrets(plumbd, build_dir)
    assert found_on_disk(plumbd) == set()
    plumbd.kill()
    assert found_on_disk(plumbd) == set()
    plumbd.start().wait_recovered().flush()
    assert found_in_answers(plumbd) == {} and found_on_disk(plumbd) == set()

    annotations = [line["n"] for line in plumbd.export() if "n" in line]
    values = {found["path"] for found in annotations if "path" in found}
    assert len(values) == 2 and all(re.fullmatch(f"/user/{HASH}/{HASH}", value) for value in values)
    first, second = (value.split("/") for value in values)
    assert first[2] == second[2] and first[3] != second[3]
    assert all("sql" not in found for found in annotations)
    users = {found["user"] for found in annotations if "user" in found}
    assert len(users) == 1 and re.fullmatch(HASH, *users)
    assert plumbd.stop() == 0
    assert found_on_disk(plumbd) == set()
    told = plumbd.messages() + (tmp_path / "audit.log").read_text()
    assert not any(secret in told for secret in SECRETS)


def test_what_is_asked_is_masked(masking, build_dir, tmp_path):
    """The same trace is found by what it was in clear, and by what it is; the audit log has no clear text of it."""
    plumbd = masking.start()
    send_secrets(plumbd, build_dir)
    plumbd.flush()

    def traces(**parameters):
        return {row["trace"] for row in plumbd.ask("traces?limit=50&" + urllib.parse.urlencode(parameters))["traces"]}

    exact = {"0" * 15 + "1", "0" * 15 + "2"}
    assert exact <= traces(path=PATH) and "0" * 15 + "3" not in traces(path=PATH)
    assert exact | {"0" * 15 + "3"} <= traces(path="/user/alice") == traces(path="/user/alice/*")
    assert exact <= traces(annotation=f"path={PATH}") and traces(annotation=f"path={OTHER}") == {"0" * 15 + "3"}
    assert exact <= traces(annotation="user=alice") and traces(annotation="user=bob") == set()
    masked = next(line["n"] for line in plumbd.export() if "path" in line.get("n", {}) and "why" in line["n"])
    assert exact <= traces(path=masked["path"]) and exact <= traces(annotation=f"user={masked['user']}")
    assert plumbd.stop() == 0
    told = (tmp_path / "audit.log").read_text()
    assert "path=" in told and not any(secret in told for secret in SECRETS)


def test_the_audit_log_tells_only_what_it_knows(masking, tmp_path):
    """Texts that are looked for, names of functions, and parameters that nobody knows have no value there."""
    plumbd = masking.start()
    unknown = "exclude=alice&function=alice&since=1h&text=alice&later=salaries&role=Client&tags=alice"
    assert plumbd.fetch(f"/api/v1/functions?{unknown}")[0] == 400
    assert plumbd.stop() == 0
    (told,) = [line for line in (tmp_path / "audit.log").read_text().splitlines() if "since=" in line]
    assert not any(secret in told for secret in SECRETS) and "since=1h" in told and "role=Client" in told
    assert told.count("(masked)") == 5


def test_what_came_before_the_rules(make_plumbd, key, build_dir):
    """Of a journal that was written in clear, what is stored is masked."""
    plumbd = make_plumbd().start()
    send_secrets(plumbd, build_dir)
    plumbd.kill()
    plumbd.settings.update({"mask.rules": RULES, "mask.key": key})
    plumbd.start().wait_recovered().flush()
    assert found_in_answers(plumbd) == {}
    assert plumbd.stop() == 0
    assert found_on_disk(plumbd) == set()


# ---- in the agent ----

AGENT_RULES = "path=keep 1; annotation:scheme=drop; name:Globber*=hash"


def of_a_listing(plumbd, folder, **settings):
    """What plumbd has of a process with the agent that lists the folder: names and values of its spans."""
    list_root(folder, "127.0.0.1:{}".format(*plumbd.thrift[1:]), **settings)
    on_disk = found_on_disk(plumbd)
    plumbd.flush()
    return on_disk, sorted((found["d"], sorted(found.get("n", {}).items())) for found in plumbd.export())


def test_the_agent_masks_as_plumbd_does(make_plumbd, key, tmp_path):
    """The journal has what came, as it came: nothing left the process in clear. The values are those of plumbd."""
    folder = tmp_path / "alice" / "salaries"
    folder.mkdir(parents=True)
    masked = {"mask_rules": AGENT_RULES, "mask_key": key}
    clear, _ = of_a_listing(make_plumbd().start(), folder)
    assert clear == {"alice", "salaries"}
    on_disk, in_agent = of_a_listing(make_plumbd().start(), folder, **masked)
    assert on_disk == set() and "salaries" not in str(in_agent)
    settings = {f"mask__{name[5:]}": value for name, value in masked.items()}
    both = make_plumbd(**settings).start()
    assert of_a_listing(both, folder) == (set(), in_agent)
    assert of_a_listing(make_plumbd(**settings).start(), folder, **masked) == (set(), in_agent)
    kept = folder.parts[1]
    assert dict(in_agent)["ls"][0][1].startswith(f"-ls /{kept}/~")


@pytest.mark.parametrize("wrong", ["readable", "rule"])
def test_an_agent_that_cannot_mask_sends_nothing(make_plumbd, key, tmp_path, wrong):
    plumbd = make_plumbd().start()
    if wrong == "readable":
        os.chmod(key, 0o644)
    rules = AGENT_RULES if wrong == "readable" else "paths=hash"
    said = list_root(tmp_path / "alice", "127.0.0.1:{}".format(*plumbd.thrift[1:]), mask_rules=rules, mask_key=key)
    (line,) = [line for line in said.splitlines() if "(this process is not traced)" in line]
    assert ("chmod 600" if wrong == "readable" else "'paths=hash': write path") in line
    assert plumbd.receiver()["spans_received"] == 0 and "c0ffee" not in said


WRONG = {
    "rule": ({"mask__rules": "user=hash"}, 2, "mask.rules: 'user=hash': write path, annotation:KEY"),
    "no key": ({"mask__key": ""}, 2, "masking needs both"),
    "no rules": ({"mask__rules": ""}, 2, "masking needs both"),
    "short": ({}, 1, "mask.key: the key has 5 bytes"),
    "readable": ({}, 1, "chmod 600"),
    "missing": ({"mask__key": "/no/such/key"}, 1, "mask.key: "),
}


@pytest.mark.parametrize("settings, code, named", WRONG.values(), ids=WRONG.keys())
def test_wrong_settings(make_plumbd, key, settings, code, named, request):
    case = request.node.callspec.id
    if case == "short":
        key.write_text("short")
    if case == "readable":
        os.chmod(key, 0o644)
    plumbd = make_plumbd(**{"mask__rules": RULES, "mask__key": key, **settings}).spawn()
    assert plumbd.process.stdout.read() == "" and plumbd.wait() in (1, 2)
    messages = plumbd.messages()
    assert named in messages and len(messages.splitlines()) == 1
    assert "c0ffee" not in messages and not plumbd.store.exists()
