"""A plumbd whose calls on its files fail: tests/faults/fault_files.h."""


def make_faulty(make_plumbd, layer, folder, **fault):
    """A plumbd whose small buffers and segments make it write often."""
    plumbd = make_plumbd(
        folder=folder, journal__segment="64K", journal__ack="fsync", trace__idle="5ms", store__write_buffer="1M"
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
