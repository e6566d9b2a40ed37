"""What readers ask plumbd: a reader of its own for questions one by one, and the list for those of bench_ask, who ask
without pause."""

import http.client
import json
import subprocess
import sys
import time
from urllib.parse import quote

from bench.lib.daemon import BUILD

PARAMETERS = 12  # so many hosts, traces and functions are asked for in turn


class Reader:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.connection = http.client.HTTPConnection(host, int(port), timeout=600)

    def ask(self, path):
        """Milliseconds, and the answer."""
        begun = time.monotonic()
        try:
            self.connection.request("GET", path)
            reply = self.connection.getresponse()
            body = reply.read()
        except (http.client.HTTPException, OSError):
            self.connection.close()
            raise
        if reply.status not in (200, 404, 503):  # what was asked for may have expired
            raise RuntimeError(f"{path}: {reply.status} {body[:200]}")
        return (time.monotonic() - begun) * 1e3, None if reply.status == 503 else body


def questions(address):
    """(name, path), in the order in which they are asked. The period is the last hour that holds anything: what people
    look at while spans arrive. Each round asks for another host, trace and function."""
    first = Reader(address)
    last = json.loads(first.ask("/api/v1/status")[1])["store"]["last_time_ns"]
    traces = json.loads(first.ask("/api/v1/traces?limit=50")[1])["traces"]
    if not traces:
        sys.exit("bench: nothing is stored that readers could ask for")
    hour = f"since={last - 3600 * 10**9}&until={last + 1}"
    functions = [f["function"] for f in json.loads(first.ask(f"/api/v1/functions?{hour}")[1])["functions"]]
    asked = []
    for i in range(PARAMETERS):
        trace, function = traces[i * len(traces) // PARAMETERS], functions[i * len(functions) // PARAMETERS]
        asked += [
            ("functions", f"/api/v1/functions?{hour}"),
            ("functions by host", f"/api/v1/functions?{hour}&by=host&limit=50"),
            ("functions of a host", f"/api/v1/functions?{hour}&host={trace['host']}"),
            ("forest", f"/api/v1/forest?{hour}"),
            ("trace by id", f"/api/v1/trace?id={trace['trace']}"),
            ("traces, newest", "/api/v1/traces"),
            ("traces by function", f"/api/v1/traces?{hour}&function={quote(function, safe='')}"),
            ("traces by duration", f"/api/v1/traces?{hour}&min_duration={1 << i % 4}s"),
            ("status", "/api/v1/status"),
        ]
    return asked


def start_readers(plumbd, n):
    """bench_ask, asking; it ends at the end of its stdin, and prints what it found."""
    readers = subprocess.Popen(
        [str(BUILD / "bench/bench_ask"), plumbd.http, str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    readers.stdin.write("".join(f"{name}\t{path}\n" for name, path in questions(plumbd.http)) + "\n")
    readers.stdin.flush()
    readers.stdout.readline()
    return readers
