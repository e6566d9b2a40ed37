"""In what call trees of different Hadoops differ, and why. Everything else has to be equal."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """Functions that some versions have and others have not. What was below them is below their parents then."""

    reason: str
    functions: tuple


DIFFERENCES = [
    Difference(
        "blocks of a deleted file are removed at once up to 3.3.1, and are put on a list for a thread of its own "
        "from 3.3.2 on",
        ("FSNamesystem#removeBlocks", "BlockManager#addBLocksToMarkedDeleteQueue"),
    ),
]


@dataclass(frozen=True)
class Inside:
    """Up to the version 'last', 'call' is made inside of these functions, in later ones before them. Between an earlier
    and a later version the functions are not compared; what is below them is below their parents then."""

    reason: str
    call: str
    functions: tuple
    last: tuple


INSIDE = [
    Inside(
        "a stream's constructor asks for the places of the blocks up to 2.10, and is given them from 3.0 on",
        "getBlockLocations",
        ("DFSInputStream#new", "DFSInputStream#openInfo"),
        (2, 10),
    ),
]

# Functions that call themselves again when the answer is not the one they wait for: how often is chance.
RETRIED = {
    "completeFile": "until the NameNode has heard of the last block from a DataNode",
}

# Below the first of the calls that one sync of the edit log is for: whether that is this call is chance. Before
# FSEditLogAsync, a thread of its own, each call syncs or waits for one that does.
SYNCS = {"FSEditLogAsync#logSync", "EditLogFileOutputStream#flushAndSync"}

# Pauses before a call is tried again: whether there are any is chance.
SLEEPS = {"DFSInputStream#sleep", "DataStreamer#sleep", "RetryInvocationHandler#sleep", "RPC#sleep"}
