"""docs/api.md says what the code takes and gives: every parameter, every field."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/api.md").read_text()
SECTIONS = dict(re.findall(r"^## (?:GET|POST) /api/v1/([\w/]+)[^\n]*\n(.*?)(?=^## |\Z)", DOCUMENT, re.M | re.S))
ALLOWED = {
    name: re.findall(r'"(\w+)"', allowed)
    for name, allowed in re.findall(
        r'\{"([\w/]+)",\s*answer_\w+,\s*((?:ALLOW|OF_RECORDS)\([^)]*\))', (ROOT / "analyzer/query/query.c").read_text()
    )
}
ANSWERS = sorted((ROOT / "tests/data/query").glob("*.json"))
# Keys of these objects are the senders' own, the JVM's features, Spark's settings and numbers.
FREE = {"peaks", "annotations", "centre", "others", "apart", "properties", "metrics", "task_states"}


# An answer as the document lays it out: in lines of its own, with comments. What is short is code in a sentence.
BLOCK = re.compile(r"^( +)\{\n(.*?)^\1\}$", re.M | re.S)


def shapes(text):
    return re.findall(r"`(\{.*\})`", text) + [re.sub(r" *//[^\n]*", "", body) for _, body in BLOCK.findall(text)]


def test_long_answers_are_laid_out():
    assert len(BLOCK.findall(DOCUMENT)) > 40
    prose = re.sub(r"^\|.*", "", DOCUMENT, flags=re.M)
    assert [shape for shape in shapes(prose) if "\n" not in shape and len(shape) > 120] == []


def fields(value):
    if isinstance(value, list):
        for element in value:
            yield from fields(element)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if name not in FREE:
                yield from fields(inner)


def measures():
    return DOCUMENT[DOCUMENT.index("## Measures") : DOCUMENT.index("## GET /api/v1/status")]


def test_every_question_is_described(plumbd):
    """plumbd names all of them when asked one that it does not know."""
    status, body = plumbd.fetch("/api/v1/what_nobody_asks")
    assert status in (400, 404), body
    (known,) = re.findall(r"there are ([\w/, ]+)", json.loads(body)["error"])
    assert set(ALLOWED) == set(known.split(", ")) < set(SECTIONS)


@pytest.mark.parametrize("question", sorted(ALLOWED))
def test_parameters(question):
    heading = re.search(rf"^## GET /api/v1/{question}(?![\w/])(\?\w+)?", DOCUMENT, re.M).group(0)
    described = heading + "= " + " ".join(re.findall(r"Parameters?: ((?:\([^)]*\)|[^.({]|\.\.)*)", SECTIONS[question]))
    names = set(re.findall(r"[`?]([a-z_]+)(?=[=`]|$)", re.sub(r"\([^)]*\)", "", described)))
    assert names == set(ALLOWED[question])


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_fields(path):
    question = path.stem.split("-")[0].replace("__", "/")
    described = set(re.findall(r"[\w-]+", SECTIONS[question])) | set(re.findall(r"\w+", SECTIONS[question]))
    if "measure" in SECTIONS[question] or "spell" in SECTIONS[question]:
        described |= set(re.findall(r"\w+", measures()))
    found = set(fields(json.loads(path.read_text())))
    assert found, path
    assert found - described == set()


def test_no_field_is_described_in_vain():
    """What the document names in an answer occurs in one of the answers that tests hold."""
    found = set()
    for path in ANSWERS:
        found |= set(fields(json.loads(path.read_text())))
    rarely = {
        "version",  # changes with every release: not in the files
        "free_bytes",
        "not_judged",  # of what is too large or damaged: tests/query/test_spark.c
        "bytes_per_span",
        "family_bytes",
        "family",  # of stores on disk
        "reversed_calls",
        "in_parts",
        "receiver",
        "pid",
        "waiting",
        "offset",
        # of traces in parts, and of stores that keep less: tests/query/test_query.c and tests/archive ask for them
        "parts",
        "first_part",
        "parts_shown",
        "dropped",
        "ids",
        # of servers that have no like: tests/query/test_why.c
        "normal_before",
        "unknown",
        # of applications that have just ended: tests/query/test_why.c
        "recent",
        "final_in_ns",
        # of traces that were removed: tests/receiver/test_retention.py
        "stored_traces",
        # of traces of rare shapes: tests/archive and tests/query/test_forest.c make them
        "mixed",
        "rare",
        "rest",
        # of samples, and of servers that were not traced: tests/core and tests/query/test_why.c
        "before",
        "after",
        "quantile",
        "near",
        "name",
        "slowest_datanode",
        # of two findings that want to set one key: tests/diagnosis/test_advise.c
        "conflict",
        # of programs that set keys themselves: tests/diagnosis/test_advise.c
        "program",
        # of input that is skewed: tests/diagnosis/test_advise.c
        "partitions",
        # of stages of more than 5,000 tasks; of links that are guesses
        "tasks_not_read",
        "confidence",
        # of ten instances and more: tests/query/test_diagnoses.c
        "silhouettes",
        # of large clusters: bench/bench_nodes.c
        "sampled",
        "cut",
    }
    for question in ALLOWED:
        text = re.split(r"From a running plumbd", SECTIONS[question])[0]
        for shape in shapes(text):
            names = set(re.findall(r'"(\w+)"(?=[,:} (\n])', re.sub(r'"state": [^,}]*', '"state" ', shape)))
            names -= {"flags", "notes", "outside"} | set(re.findall(r'\["[^]]*"\]', shape))
            values = {"orphan", "cycle", "reversed", "parent"}
            assert names - found - rarely - values == set(), question
