"""Spans in HTrace's JSON, from files and from plumbd, in one form that can be compared."""

import json
import re
from collections import Counter, defaultdict

NUMBERED = re.compile(r"^(sendBlock)_-?\d+$|^(BlockReader\w+#\w+)\(-?\d+\)$")


def json_values(text):
    """A sequence of JSON values with or without white space between them, as LocalFileSpanReceiver writes it."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        value, at = decoder.raw_decode(text, at)
        yield value


def content(span):
    """Everything that a span says, as a value to compare: times in ms, parents in order, notes in order."""
    return (
        span["a"],
        tuple(span["p"]),
        span.get("b", 0),
        span.get("e", 0),
        span.get("d", ""),
        span.get("r", ""),
        tuple(sorted(span.get("n", {}).items())),
        tuple((n["t"], n["m"]) for n in span.get("t", [])),
    )


def normal_name(span):
    match = NUMBERED.match(span["d"])
    return (match.group(1) or match.group(2)) if match else span["d"]


def role(span):
    process = span["r"].split("/")[0]
    return {"NameNode": "namenode", "DataNode": "datanode"}.get(process, "client")


def calls_per_function(spans):
    return Counter((normal_name(span), role(span)) for span in spans)


class Trace:
    """The spans of one trace and who is whose parent."""

    def __init__(self, spans):
        self.spans = spans
        self.by_id = {span["a"]: span for span in spans}

    def roots(self):
        return [span for span in self.spans if not span["p"]]

    def orphans(self):
        return [span for span in self.spans if span["p"] and not any(parent in self.by_id for parent in span["p"])]

    def named(self, name):
        return [span for span in self.spans if normal_name(span) == name]

    def ancestors(self, span):
        """From its parent up to the root."""
        while span["p"]:
            span = self.by_id[span["p"][0]]
            yield span


def traces(spans):
    by_trace = defaultdict(list)
    for span in spans:
        by_trace[span["a"][:16]].append(span)
    return {identity: Trace(members) for identity, members in by_trace.items()}
