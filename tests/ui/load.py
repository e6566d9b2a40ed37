"""What an HDFS of twelve DataNodes did in the last three quarters of an hour: writes, reads and lists, traced from
client to disk. The disk of one DataNode is slow since twenty minutes. The same for the same seed, but for the time."""

import random
import time

from tests.receiver.sender import OK, Sender, span

MS = 1_000_000
MINUTE = 60 * 1000 * MS
DATANODES = 12
SLOW = 7
SLOW_SINCE_MINUTES = 20
BATCH_TRACES = 50
# Nothing of it leaves the last hour, for which tests ask, while they run.
OLDEST_MINUTES = 45

FUNCTIONS = (
    "DistributedFileSystem#create",
    "ClientNamenodeProtocol#create",
    "FSNamesystem#startFile",
    "DFSOutputStream#write",
    "DataStreamer#run",
    "BlockReceiver#receiveBlock",
    "BlockReceiver#flushOrSync",
    "DFSInputStream#read",
    "BlockSender#sendBlock",
    "FSEditLog#logSync",
    "DistributedFileSystem#listStatus",
    "FSNamesystem#getListing",
)
KEYS = ("path", "bytes")
CLIENT, NAMENODE, FIRST_DATANODE = (len(FUNCTIONS) + i for i in range(3))


def host_of(datanode):
    return f"dn{datanode:02d}.example.org"


def strings():
    tracers = ("FSClient/edge1.example.org/4242", "NameNode/nn1.example.org/1001")
    datanodes = tuple(f"DataNode/{host_of(i)}/{2000 + i}" for i in range(1, DATANODES + 1))
    return FUNCTIONS + tracers + datanodes + KEYS


PATH, BYTES = (len(FUNCTIONS) + 2 + DATANODES + i for i in range(2))


class Trace:
    """Spans of one trace, by what they call."""

    def __init__(self, number, begin):
        self.number, self.begin, self.spans = number, begin, []

    def call(self, name, tracer, at, length, parent=None, **more):
        self.spans.append(
            span(
                self.number,
                len(self.spans) + 1,
                name=FUNCTIONS.index(name),
                begin=self.begin + int(at),
                duration=int(length),
                parent=parent,
                tracer=tracer,
                **more,
            )
        )
        return len(self.spans)


def slowness(datanode, age_minutes):
    return 6 if datanode == SLOW and age_minutes <= SLOW_SINCE_MINUTES else 1


def write(trace, chance, age_minutes):
    pipeline = chance.sample(range(1, DATANODES + 1), 3)
    packets = chance.randint(2, 5)
    disks = [chance.lognormvariate(0, 0.4) * 9 * MS * slowness(node, age_minutes) for node in pipeline]
    longest = max(disks) * packets + 4 * MS
    path = [(PATH, f"/warehouse/day={chance.randint(1, 28):02d}/part-{trace.number % 10000:05d}")]
    root = trace.call("DistributedFileSystem#create", CLIENT, 0, longest + 14 * MS, annotations=path)
    rpc = trace.call("ClientNamenodeProtocol#create", CLIENT, 0.2 * MS, 5 * MS, root)
    start = trace.call("FSNamesystem#startFile", NAMENODE, 0.9 * MS, 3 * MS, rpc)
    trace.call("FSEditLog#logSync", NAMENODE, 1.6 * MS, chance.uniform(0.5, 2) * MS, start)
    for i in range(packets):
        trace.call("DFSOutputStream#write", CLIENT, (6 + i) * MS, 0.6 * MS, root, annotations=[(BYTES, "65536")])
    stream = trace.call("DataStreamer#run", CLIENT, 7 * MS, longest + 5 * MS, root)
    parent = stream
    for place, (node, disk) in enumerate(zip(pipeline, disks, strict=True)):
        tracer = FIRST_DATANODE + node - 1
        # A DataNode acknowledges a packet once it is on its own disk and those behind it have acknowledged it.
        length = max(disks[place:]) * packets + (4 - place) * MS
        size = str(packets * 65536)
        at = (8 + 0.4 * place) * MS
        parent = trace.call("BlockReceiver#receiveBlock", tracer, at, length, parent, annotations=[(BYTES, size)])
        for i in range(packets):
            trace.call("BlockReceiver#flushOrSync", tracer, at + MS + i * disk, disk * 0.98, parent)


def read(trace, chance, age_minutes):
    node = chance.randint(1, DATANODES)
    size = chance.choice((4096, 131072, 1048576))
    length = chance.lognormvariate(0, 0.5) * (1 + size / 200_000) * MS * slowness(node, age_minutes)
    path = [(PATH, f"/warehouse/day={chance.randint(1, 28):02d}/part-{chance.randint(1, 9999):05d}")]
    root = trace.call("DFSInputStream#read", CLIENT, 0, length + MS, annotations=[*path, (BYTES, str(size))])
    tracer = FIRST_DATANODE + node - 1
    trace.call("BlockSender#sendBlock", tracer, 0.4 * MS, length, root, annotations=[(BYTES, str(size))])


def list_folder(trace, chance, _age_minutes):
    length = chance.lognormvariate(0, 0.3) * 2 * MS
    root = trace.call("DistributedFileSystem#listStatus", CLIENT, 0, length + MS)
    trace.call("FSNamesystem#getListing", NAMENODE, 0.4 * MS, length * 0.7, root)


def traces(count, now_ns, seed=1, oldest_minutes=OLDEST_MINUTES):
    chance = random.Random(seed)
    for number in range(1, count + 1):
        age_minutes = oldest_minutes * (1 - number / count) + 1
        trace = Trace(number, now_ns - int(age_minutes * MINUTE))
        kind = chance.choices((write, read, list_folder), (5, 4, 1))[0]
        kind(trace, chance, age_minutes)
        yield trace


def send(plumbd, count=1200, now_ns=None, oldest_minutes=OLDEST_MINUTES):
    """Sent, stored; the number of spans."""
    now_ns = now_ns or time.time_ns()
    sent, waiting = 0, []
    name = "FSClient/edge1.example.org/4242"
    with Sender(plumbd) as sender:

        def deliver():
            about = (name, sender.sequence + 1, sent + len(waiting), 0, {})
            reply = sender.deliver(waiting, strings=strings(), sender=about)
            assert reply.status == OK

        for trace in traces(count, now_ns, oldest_minutes=oldest_minutes):
            waiting += trace.spans
            if len(waiting) > BATCH_TRACES * 20:
                deliver()
                sent += len(waiting)
                waiting = []
        deliver()
    return sent + len(waiting)


LARGE = 0xF4240
LARGE_CALLS = 3000


SKEWED = 0x5EED
AHEAD_MS = 20
NOTES_MS = (10, 27)


def send_skewed(plumbd, begin=1_700_000_100_000_000_000):
    """A client that reads blocks of two DataNodes in turn. The clock of the second is ahead."""
    trace = Trace(SKEWED, begin)
    notes = [(begin + at * MS, f"block {at}") for at in NOTES_MS]
    root = trace.call("DistributedFileSystem#create", CLIENT, 0, 30 * MS, notes=notes)
    for i in range(6):
        at = (1 + 4 * i) * MS
        read_at = trace.call("DFSInputStream#read", CLIENT, at, 3 * MS, root)
        ahead = AHEAD_MS * MS if i % 2 else 0
        trace.call("BlockSender#sendBlock", FIRST_DATANODE + i % 2, at + 0.5 * MS + ahead, 2 * MS, read_at)
    with Sender(plumbd) as sender:
        assert sender.deliver(trace.spans, strings=strings()).status == OK


def send_large(plumbd, begin=1_700_000_000_000_000_000):
    """One trace of more calls than come as a tree: a client that reads block after block of six DataNodes. One read is
    three times as long as the others. The number of its spans."""
    trace = Trace(LARGE, begin)
    reads = LARGE_CALLS // 3
    root = trace.call("DistributedFileSystem#create", CLIENT, 0, reads * 3 * MS + 10 * MS)
    at = MS
    for i in range(reads):
        length = 6 * MS if i == reads // 2 else 2 * MS
        read_at = trace.call("DFSInputStream#read", CLIENT, at, length, root, annotations=[(BYTES, str(4096 + i))])
        send_at = trace.call("BlockSender#sendBlock", FIRST_DATANODE + i % 6, at + 0.2 * MS, length - 0.4 * MS, read_at)
        trace.call("BlockReceiver#flushOrSync", FIRST_DATANODE + i % 6, at + 0.4 * MS, length / 4, send_at)
        at += length + 0.5 * MS
    with Sender(plumbd) as sender:
        for first in range(0, len(trace.spans), 1000):
            assert sender.deliver(trace.spans[first : first + 1000], strings=strings()).status == OK
    return len(trace.spans)
