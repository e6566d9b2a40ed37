"""What counts as right and wrong of what `plumb slow` and `plumb why` name (bench/faults clients), without a
cluster."""

import json

from script.spark import clients, hadoop_slow
from script.spark.slow_stages import StageTime, judge_stages

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


def test_windows_are_counted_by_host_and_class():
    points = [{"time_ns": minute * clients.MINUTE_NS} for minute in range(10)]
    points[6]["bad"] = True
    timelines = {"datanode1": [{"class": "disk-write", "points": points}, {"class": "network", "points": points}]}
    spell = {"host": "datanode1", "class": "network", "begin_time_ns": int(7.5 * clients.MINUTE_NS)}
    since, until = 5 * clients.MINUTE_NS, 10 * clients.MINUTE_NS

    def counted(**more):
        return clients.windows_of(timelines, [spell | more], since, until)

    assert counted(state="suspected") == {"windows": 10, "bad": 2, "suspected": 3}
    assert counted(state="recovered", end_time_ns=9 * clients.MINUTE_NS)["suspected"] == 2
    assert counted(state="follows")["suspected"] == counted(state="busier")["suspected"] == 0


def test_slow_stages_are_those_of_the_fault():
    stages = [StageTime(number, 1000 * number, 1000 * number + 900, 9) for number in range(5)]

    def suspect(stage, host, resource):
        return {"stage": stage, "suspect": {"host": host, "resource": resource}}

    def judged(*named):
        return judge_stages(stages, (2500, 9000), named, "datanode2", {"network"})

    assert judged() == {"slow": 2, "found": 0, "well": 2, "wrong": []}
    # Of stage 2, which it touched for less than half, nothing is expected; "server" is the network's other name.
    right = judged(*(suspect(stage, "datanode2", "server") for stage in (2, 3, 4)))
    assert (right["found"], right["wrong"]) == (2, [])
    wrong = judged(suspect(0, "datanode2", "network"), suspect(3, "datanode1", "disk"), {"stage": 4})
    assert (wrong["found"], wrong["wrong"]) == (0, [[0, "datanode2", "network"], [3, "datanode1", "disk"]])
    # The right host for the wrong reason is wrong; a stage of too few tasks to be judged is neither.
    reason = judged(suspect(3, "datanode2", "disk"), suspect(7, "datanode2", "network"))
    assert (reason["found"], reason["wrong"]) == (0, [[3, "datanode2", "disk"]])


def test_what_hadoop_itself_reports():
    """As the NameNode of Hadoop 3.5.0 shows it; empty texts while nothing is reported, no attribute where it is off."""
    bean = {
        "SlowPeersReport": '[{"SlowNode":"10.77.1.3:9864","SlowPeerLatencyWithReportingNodes":[]}]',
        "SlowDisksReport": '[{"SlowDiskID":"10.77.1.9:9866:/data","Latencies":{"WRITE":81.5}}]',
    }
    names = {"10.77.1.3": "datanode2"}
    assert hadoop_slow.reported(bean, names) == {("datanode2", "SlowPeer"), ("10.77.1.9", "SlowDisk")}
    assert hadoop_slow.reported({"SlowPeersReport": ""}, names) == hadoop_slow.reported({}, names) == set()


def test_table(tmp_path):
    common = {"load": "write", "replication": 3}
    runs = [
        {"fault": "none", "right": True, "seconds": None, "begin_off_seconds": [], "wrong": []},
        {
            "fault": "write-hung",
            "right": True,
            "still": False,
            "seconds": 130.2,
            "begin_off_seconds": [30.0],
            "wrong": [],
            "lost": {"seconds": 91.4, "guilty": 0.93, "innocent": 0.02, "clients": 0.05},
            "windows": {"windows": 40, "bad": 2, "suspected": 1},
            "why": {"slow": 4, "found": 3, "well": 7, "wrong": [], "text": ["Stage 9: all its tasks wait"]},
            "hadoop": "3.5.0",
            "hadoop_named": [["datanode2", "SlowPeer", 301.4]],
            "begin_ms": BEGIN_MS,
            "processors": 2,
            "load_average": 1.25,
        },
        {"fault": "write-hung", "right": False, "seconds": None, "begin_off_seconds": [], "wrong": [["x", "disk"]]},
    ]
    for number, run in enumerate(runs):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "run.json").write_text(json.dumps({**common, **run}))
    assert clients.table(tmp_path).splitlines()[2:] == [
        "| write-hung | write | 3 | 1 | yes | 130 | 30 | - | 91 | 93 | 2 | 1 of 40 | no |",
        "| write-hung | write | 3 | 2 | no | - | - | x: disk | - | - | - | - | - |",
        "| **write-hung** | | | all | 1 of 2 | 130 | 1 of 1 within 60 | 1 of 2 | | | | | 0 of 1 |",
        "| none | write | 3 | 1 | yes | - | - | - | - | - | - | - | - |",
        "| **none** | | | all | 1 of 1 | - | - | 0 of 1 | | | | | - |",
        "",
        "| fault | run | slow stages that `plumb why` names rightly | others named | its first line |",
        "|---|--:|--:|--:|---|",
        "| write-hung | 1 | 3 of 4 | 0 of 11 | Stage 9: all its tasks wait |",
        "",
        "| fault | run | `plumb slow` after, s | Hadoop itself: who, by what, after, s |",
        "|---|--:|--:|---|",
        "| write-hung | 1 | 130 | datanode2: SlowPeer, 301 |",
        "",
        "Recorded on 2023-11-14, 2 processors, load average 1.2 to 1.2.",
    ]
