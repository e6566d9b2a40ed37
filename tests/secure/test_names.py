"""access.names: spans under the name of a server that another principal sent first."""

import http.client
import json
import signal

import pytest

from tests.receiver.sender import OK, TRY_LATER, Sender, span
from tests.receiver.waiting import wait_for
from tests.secure.conftest import receiver, trusting
from tests.secure.test_audit import lines_of
from tests.secure.test_tokens import bearer, line, login, write_tokens

SERVER = ("op", "NameNode/nn1.example/42")
TOKENS = {name: f"plumb_{name}_0123456789" for name in ("nn1", "forger")}


@pytest.fixture
def site(make_plumbd, authority, tmp_path):
    """site(mode): a plumbd where two tokens may send and read."""

    class Site:
        def __init__(self, mode):
            self.config = tmp_path / "plumbd.conf"
            self.config.write_text(f"[access]\nnames = {mode}\n")
            tokens = write_tokens(tmp_path / "tokens", *(line(name, "admin", token) for name, token in TOKENS.items()))
            self.plumbd = make_plumbd(
                tls__certificate=authority.folder / "server.pem", tls__key=authority.folder / "server.key",
                auth__tokens=tokens, access__write="cert:nobody", audit__path=tmp_path / "audit.log",
            )  # fmt: skip
            self.plumbd.arguments = ["--config", str(self.config)]
            self.plumbd.start()
            self.context = trusting(authority)
            self.traces = iter(range(1, 1000))

        def sender(self, name):
            sender, status, _ = login(self.plumbd, self.context, "token", TOKENS[name])
            assert status == 5
            return sender

        def submit(self, sender, strings=SERVER):
            return sender.submit([span(next(self.traces), 1)], strings=strings)

        def post(self, name, service="NameNode", host="nn1.example"):
            """(status, Retry-After, body) of a span over OTLP."""
            attributes = [{"key": key, "value": {"stringValue": value}}
                          for key, value in (("service.name", service), ("host.name", host))]  # fmt: skip
            spans = [{"traceId": f"{next(self.traces):032x}", "spanId": f"{1:016x}", "name": "op",
                      "startTimeUnixNano": "1", "endTimeUnixNano": "2"}]  # fmt: skip
            body = {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": spans}]}]}
            host, port = self.plumbd.http.rsplit(":", 1)
            connection = http.client.HTTPSConnection(host, int(port), context=self.context, timeout=60)
            connection.request("POST", "/v1/traces", json.dumps(body),
                               {"Content-Type": "application/json", **bearer(TOKENS[name])})  # fmt: skip
            reply = connection.getresponse()
            found = reply.status, reply.getheader("Retry-After"), reply.read().decode()
            connection.close()
            return found

        def status(self):
            return receiver(self.plumbd, self.context, headers=bearer(TOKENS["nn1"]))

        def told(self):
            return [event for event in lines_of(tmp_path / "audit.log") if event["action"] == "foreign name"]

        def set_mode(self, mode):
            self.config.write_text(f"[access]\nnames = {mode}\n")
            seen = self.plumbd.messages().count("changed access.names")
            self.plumbd.signal(signal.SIGHUP)
            wait_for(lambda: self.plumbd.messages().count("changed access.names") > seen)

    return Site


def test_warn_counts_and_takes(site):
    """Whose clients are on which host is nobody's business."""
    here = site("warn")
    with here.sender("nn1") as owner, here.sender("forger") as forger:
        assert here.submit(owner).status == OK
        for pid in (42, 42, 43):
            assert here.submit(forger, ("op", f"NameNode/nn1.example/{pid}")).status == OK
        assert here.submit(owner, ("op", "FSClient/nn1.example/7")).status == OK
        assert here.submit(forger, ("op", "FSClient/nn1.example/7")).status == OK
        assert here.submit(forger, ("op", "NameNode/nn2.example/7")).status == OK
    assert here.post("forger")[0] == 200 and here.post("nn1")[0] == 200
    assert here.post("nn1", host="nn2.example")[0] == 200
    found = here.status()
    assert found["foreign_names"] == 5 and found["spans_received"] == 10
    assert found["rejected_frames"] == {} and found["try_later"] == 0
    said = "NameNode/nn1.example is the name of token:nn1, which sent under it first: now token:forger at 127.0.0.1"
    assert here.plumbd.messages().count(said) == 1
    assert here.plumbd.stop() == 0
    told = [(event["port"], event["principal"], event["outcome"]) for event in here.told()]
    assert told == [("thrift", "token:forger", "NameNode/nn1.example is the name of token:nn1"),
                    ("http", "token:nn1", "NameNode/nn2.example is the name of token:forger")]  # fmt: skip


def test_strict_refuses_until_it_is_mended(site):
    here = site("strict")
    with here.sender("nn1") as owner, here.sender("forger") as forger:
        assert here.submit(owner).status == OK
        refused = here.submit(forger)
        assert (refused.status, refused.wait_ms) == (TRY_LATER, 10_000)
        assert refused.message.startswith("NameNode/nn1.example is the name of token:nn1, not of token:forger: ")
        assert here.submit(forger, ("op", "FSClient/nn1.example/7")).status == OK
        assert here.submit(owner).status == OK
        code, retry, body = here.post("forger")
        assert (code, retry) == (503, "10") and "is the name of token:nn1, not of token:forger" in body
        found = here.status()
        assert found["foreign_names"] == 2 and found["spans_received"] == 3
        assert found["rejected_frames"] == {"name of another principal": 2}
        here.set_mode("warn")
        assert here.submit(forger).status == OK and here.post("forger")[0] == 200
        here.set_mode("off")  # forgets who was first
        here.set_mode("strict")
        assert here.submit(forger).status == OK
        assert here.submit(owner).status == TRY_LATER


def test_off_says_nothing(site):
    here = site("off")
    with here.sender("nn1") as owner, here.sender("forger") as forger:
        assert here.submit(owner).status == OK and here.submit(forger).status == OK
    assert here.post("forger")[0] == 200
    assert here.status()["foreign_names"] == 0
    assert here.plumbd.stop() == 0
    assert here.told() == [] and "is the name of" not in here.plumbd.messages()


def test_who_does_not_log_in_is_one(make_plumbd):
    plumbd = make_plumbd(access__names="strict").start()
    with Sender(plumbd, source="127.0.0.1") as one, Sender(plumbd, source="127.0.0.66") as other:
        assert [sender.submit([span(n, 1)], strings=SERVER).status for n, sender in enumerate((one, other), 1)] == [
            OK, OK,
        ]  # fmt: skip
    assert plumbd.receiver()["foreign_names"] == 0
