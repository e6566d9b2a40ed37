"""The thesis' table 5: which load is on which of five workers, from which second of an application to which (its column
says "duration")."""

from collections import namedtuple

WORKERS = 5
Entry = namedtuple("Entry", "worker resource begin_s end_s")  # worker: from 0
TABLE_5 = [
    Entry(*words)
    for words in (
        (0, "cpu", 0, 10), (0, "disk", 100, 110), (1, "cpu", 30, 40), (1, "cpu", 63, 73), (1, "cpu", 83, 93),
        (2, "disk", 99, 109), (3, "network", 27, 37), (3, "disk", 87, 97), (3, "network", 112, 122),
        (4, "disk", 33, 43), (4, "cpu", 53, 63), (4, "disk", 69, 79), (4, "cpu", 100, 110),
    )
]  # fmt: skip
