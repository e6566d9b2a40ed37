"""Readers that ask without pause: readers.py HOST:PORT READERS [seconds]. Each has a connection and goes through all questions, from
another one on. Ends at the end of stdin or after so many seconds, and prints how long each question took."""
import http.client
import json
import sys
import threading
import time
from urllib.parse import quote

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from lib.table import spread  # noqa: E402


def questions(status, traces):
    """Name -> path. The period is the last hour that holds anything: what people look at while spans arrive."""
    last = status["store"]["last_time_ns"]
    hour = f"since={last - 3600 * 10**9}&until={last + 1}"
    trace = traces[len(traces) // 2]
    return {
        "functions": f"/api/v1/functions?{hour}",
        "functions by host": f"/api/v1/functions?{hour}&by=host&limit=50",
        "functions of a host": f"/api/v1/functions?{hour}&host={trace['host']}",
        "forest": f"/api/v1/forest?{hour}",
        "trace by id": f"/api/v1/trace?id={trace['trace']}",
        "traces, newest": "/api/v1/traces",
        "traces by function": f"/api/v1/traces?{hour}&function={quote('OpWriteBlockProto')}",
        "traces by duration": f"/api/v1/traces?{hour}&min_duration=1s",
        "status": "/api/v1/status",
    }


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


def read_on(number, address, asked, until, times):
    reader, names = Reader(address), list(asked)
    at = number
    while not until.is_set():
        name = names[at % len(names)]
        took, body = reader.ask(asked[name])
        if body is not None:
            times[name].append(took)
        at += 1


def main():
    address, n = sys.argv[1], int(sys.argv[2])
    first = Reader(address)
    status = json.loads(first.ask("/api/v1/status")[1])
    traces = json.loads(first.ask("/api/v1/traces?limit=50")[1])["traces"]
    asked = questions(status, traces)
    times = {name: [] for name in asked}
    until = threading.Event()
    threads = [threading.Thread(target=read_on, args=(i, address, asked, until, times)) for i in range(n)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    print("reading", flush=True)
    if len(sys.argv) > 3:
        until.wait(float(sys.argv[3]))
    else:
        sys.stdin.read()
    until.set()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begun
    answered = sum(len(t) for t in times.values())
    print(json.dumps({"answers_per_s": answered / seconds, "answers": answered,
                      "ms": {name: spread(t) for name, t in times.items() if t}}))


if __name__ == "__main__":
    main()
