"""A plumbd whose calls on its files fail: tests/faults/fault_files.h."""

from concurrent.futures import ThreadPoolExecutor

# Most of their time they wait for the disk, or for a fault to be over.
AT_ONCE = 3


def each_at_once(run, calls):
    """run(call) for each, several at a time; raises what one of them raised."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(run, calls))


def make_faulty(make_plumbd, layer, folder, **fault):
    """A plumbd whose small buffers and segments make it write often."""
    plumbd = make_plumbd(
        folder=folder,
        journal__segment="64K",
        journal__ack="fsync",
        trace__idle="5ms",
        store__write_buffer="1M",
        # On a disk that stays full a stop waits as long for room.
        stop__timeout="1s",
    )
    if fault:
        plumbd.environment = {
            **plumbd.environment,
            "LD_PRELOAD": str(layer),
            "PLUMB_FAULT_FOLDER": str(folder),
            **{f"PLUMB_FAULT_{name.upper()}": str(value) for name, value in fault.items()},
        }
    return plumbd


def ready(plumbd):
    """FALSE when it ended instead, with a message."""
    plumbd.spawn()
    line = plumbd.process.stdout.readline()
    if line:
        words = dict(word.split("=", 1) for word in line.split() if "=" in word)
        host, port = words["thrift"].rsplit(":", 1)
        plumbd.thrift, plumbd.http = (host, int(port)), words["http"]
        return True
    assert plumbd.wait() == 1, plumbd.messages()
    assert "plumbd error: " in plumbd.messages()
    return False
