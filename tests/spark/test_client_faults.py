"""What counts as right and wrong of what `plumb slow` names (bench/faults clients), without a cluster."""

import json

from script.spark import clients

BEGIN_MS = 1_700_000_000_000


def row(host, layer, late_seconds=0):
    return {"host": host, "layer": layer, "begin_time_ns": (BEGIN_MS + 1000 * late_seconds) * 1_000_000}


def judged(fault, *rows):
    return clients.judge(clients.FAULTS[fault], BEGIN_MS, rows)


def test_host_and_layer_must_be_right():
    assert judged("write-slow-disk", row("datanode2", "disk", 40)) == (True, [40.0], [])
    assert judged("write-slow-disk", row("datanode2", "network"))[0] is False
    right, off, wrong = judged("write-slow-disk", row("datanode1", "disk"))
    assert (right, off, [entry["host"] for entry in wrong]) == (False, [], ["datanode1"])


def test_all_of_two_faults_must_be_named():
    disk, network = row("datanode2", "disk"), row("datanode3", "network")
    assert judged("two-faults", disk)[0] is False
    assert judged("two-faults", disk, network) == (True, [0.0, 0.0], [])


def test_a_link_must_be_named_and_neither_end_is_wrong():
    end = row("datanode3", "network")
    link = {**end, "link": {"from": "datanode3", "to": "datanode2"}}
    assert judged("slow-link", link, row("datanode2", "disk")) == (True, [0.0], [])
    assert judged("slow-link", end, row("datanode2", "disk")) == (False, [], [])
    assert judged("slow-link", {**end, "link": {"from": "datanode3", "to": "datanode1"}})[0] is False


def test_without_a_fault_whatever_is_named_is_wrong():
    assert judged("none") == (True, [], [])
    assert len(judged("none", row("datanode1", "disk"), {"layer": "processor", "begin_time_ns": 0})[2]) == 2


def test_whatever_a_hung_process_did_is_right():
    assert judged("write-hung", row("datanode2", "processor"))[0] is True


def function(host, name, calls, critical_seconds):
    return {"host": host, "function": name, "calls": calls, "critical_ns": critical_seconds * 1e9}


def test_what_was_lost_is_compared_by_operation():
    before = [function("client1", clients.WRITTEN, 100, 10), function("datanode2", "disk", 900, 20)]
    during = [
        function("client1", clients.WRITTEN, 10, 2),
        function("datanode2", "disk", 90, 21),
        function("datanode3", "disk", 90, 0),
    ]
    lost = clients.lost_by_host(before, during, clients.WRITTEN)
    assert lost == {"client1": 1.0, "datanode2": 19.0, "datanode3": 0.0}
    assert clients.lost_shares(lost, {"datanode2"}) == {
        "seconds": 20.0,
        "guilty": 0.95,
        "innocent": 0.0,
        "clients": 0.05,
    }
    assert clients.lost_by_host([], during, clients.WRITTEN) is None


def test_table(tmp_path):
    common = {"load": "write", "replication": 3}
    runs = [
        {"fault": "none", "right": True, "seconds": None, "begin_off_seconds": [], "wrong": []},
        {
            "fault": "write-hung",
            "right": True,
            "seconds": 130.2,
            "begin_off_seconds": [30.0],
            "wrong": [],
            "lost": {"seconds": 91.4, "guilty": 0.93, "innocent": 0.02, "clients": 0.05},
        },
        {"fault": "write-hung", "right": False, "seconds": None, "begin_off_seconds": [], "wrong": [["x", "disk"]]},
    ]
    for number, run in enumerate(runs):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "run.json").write_text(json.dumps({**common, **run}))
    assert clients.table(tmp_path).splitlines()[2:] == [
        "| write-hung | write | 3 | 1 | yes | 130 | 30 | - | 91 | 93 | 2 |",
        "| write-hung | write | 3 | 2 | no | - | - | x: disk | - | - | - |",
        "| **write-hung** | | | all | 1 of 2 | 130 | 1 of 1 within 60 | 1 of 2 | | | |",
        "| none | write | 3 | 1 | yes | - | - | - | - | - | - |",
        "| **none** | | | all | 1 of 1 | - | - | 0 of 1 | | | |",
    ]
