"""Waiting for what happens in another process."""

import time


def wait_for(condition, seconds=60):
    """Asks until it holds. The time is only for what never happens."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
