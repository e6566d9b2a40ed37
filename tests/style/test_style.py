"""How the code reads: lengths, include order, headers that compile alone, names that must not appear."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
C_FOLDERS = ("common", "spark-bridge", "analyzer", "receiver", "tests", "fuzz", "bench")

MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 800
MAX_HEADER_LINES = 150
MAX_MAIN_LINES = 150
MAX_PARAMETERS = 5
MAX_LINE_CHARACTERS = 120
# A function of more lines has phases, with a blank line between them. A flat table or switch may do without.
LONG_FUNCTION_LINES = 20
MIN_SHARE_WITH_PARAGRAPHS = 0.9
PARAGRAPH_FOLDERS = ("common", "spark-bridge", "analyzer", "receiver")
# Callbacks whose parameters a library prescribes.
PRESCRIBED_SIGNATURES = {
    "full_merge",
    "partial_merge",
    "filter_entry",
    "judge_ticket",
    "count_late_record",
}  # RocksDB's merge operator and compaction filter, OpenSSL's tickets and messages


def tracked(*patterns):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    return sorted(ROOT / name for name in set(listed) if (ROOT / name).is_file())


def c_files(*endings):
    return tracked(*(f"{folder}/**.{ending}" for folder in C_FOLDERS for ending in endings))


SOURCES = c_files("c", "cc")
HEADERS = c_files("h")
FUNCTION_START = re.compile(r"^(?!typedef|struct|enum|union|extern|#|/|\s)[A-Za-z_].*\)\s*\{\s*$")


def name(path):
    return str(path.relative_to(ROOT))


def without_comments(text):
    """Comments and string contents blanked, line structure kept."""

    def blank(match):
        token = match.group(0)
        if token.startswith("/"):
            return re.sub(r"[^\n]", " ", token)
        return token[0] + " " * (len(token) - 2) + token[-1]

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', blank, text, flags=re.S)


def functions(text):
    """(first line number, lines) of every function definition; a signature may span lines, the body ends at '}' in
    column 0."""
    lines = text.split("\n")
    start = None
    for i, line in enumerate(lines):
        if start is None and (
            FUNCTION_START.match(line)
            or (re.match(r"^\s+.*\)\s*\{\s*$", line) and i > 0 and continues_signature(lines, i))
        ):
            start = i
            while start > 0 and lines[start][:1].isspace():
                start -= 1
        if start is not None and line.startswith("}"):
            yield start + 1, lines[start : i + 1]
            start = None


def continues_signature(lines, i):
    while i > 0 and lines[i][:1].isspace():
        i -= 1
    return re.match(r"^[A-Za-z_][^;{=]*\([^;{]*$", lines[i]) is not None


def test_there_is_code_to_look_at():
    assert len(SOURCES) > 20 and len(HEADERS) > 15


@pytest.mark.parametrize("path", SOURCES + HEADERS, ids=name)
def test_lengths(path):
    text = path.read_text()
    lines = text.splitlines()
    limit = MAX_HEADER_LINES if path.suffix == ".h" else MAX_FILE_LINES
    if path.name == "main.c":
        limit = MAX_MAIN_LINES
    assert len(lines) <= limit, f"{name(path)} has {len(lines)} lines; the limit is {limit}: split it"
    long_lines = [i + 1 for i, line in enumerate(lines) if len(line) > MAX_LINE_CHARACTERS]
    assert not long_lines, f"{name(path)}: lines over {MAX_LINE_CHARACTERS} characters: {long_lines}"
    too_long = [
        f"{name(path)}:{start} ({len(body)} lines)"
        for start, body in functions(without_comments(text))
        if len(body) > MAX_FUNCTION_LINES
    ]
    assert not too_long, f"functions over {MAX_FUNCTION_LINES} lines: {too_long}"


def test_long_functions_have_paragraphs():
    n_long, without = 0, []
    for path in SOURCES:
        if path.relative_to(ROOT).parts[0] not in PARAGRAPH_FOLDERS:
            continue
        text = path.read_text()
        lines = text.split("\n")
        for start, body in functions(without_comments(text)):
            if len(body) <= LONG_FUNCTION_LINES:
                continue
            n_long += 1
            # Looked for in the file itself: where comments are blanked, their inner lines look empty.
            if all(line.strip() for line in lines[start - 1 : start - 1 + len(body)]):
                without.append(f"{name(path)}:{start}")
    assert n_long > 100, f"only {n_long} functions of more than {LONG_FUNCTION_LINES} lines were found"
    assert len(without) <= (1 - MIN_SHARE_WITH_PARAGRAPHS) * n_long, (
        f"{len(without)} of {n_long} functions of more than {LONG_FUNCTION_LINES} lines have no blank line; "
        f"put one between their phases: {without}"
    )


@pytest.mark.parametrize("path", SOURCES + HEADERS, ids=name)
def test_parameters(path):
    text = without_comments(path.read_text())
    bad = []
    # Definitions and prototypes start in the first column.
    for match in re.finditer(
        r"^(?:[A-Za-z_][\w \*]*?)\b(\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*(?:G_GNUC[^;{]*)?[;{]", text, re.M
    ):
        if match.group(0).startswith(("return", "typedef", "G_", "else")):
            continue
        count = len(re.sub(r"\([^()]*\)", "", match.group(2)).split(","))
        if count > MAX_PARAMETERS and match.group(1) not in PRESCRIBED_SIGNATURES:
            bad.append(f"{match.group(1)} ({count})")
    assert not bad, f"{name(path)}: more than {MAX_PARAMETERS} parameters: {bad}; pass a struct"


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_no_conditional_compilation_inside_functions(path):
    bad = [
        f"{name(path)}:{start}"
        for start, body in functions(without_comments(path.read_text()))
        if any(re.match(r"\s*#\s*if", line) for line in body)
    ]
    assert not bad, f"#if inside functions: {bad}"


@pytest.mark.parametrize("path", SOURCES + HEADERS, ids=name)
def test_include_order(path):
    """A .c file includes its own header first; then come system headers, then the project's, each block sorted."""
    includes = re.findall(r'^#include ([<"][^>"]+[>"])', path.read_text(), re.M)
    own = f'"{name(path.with_suffix(".h"))}"'
    if path.suffix in (".c", ".cc") and path.with_suffix(".h").exists():
        assert includes and includes[0] == own, f"{name(path)} must include {own} first"
        includes = includes[1:]
    elif path.suffix == ".c" and includes and includes[0].startswith('"'):
        includes = includes[1:]  # the header that this test, or this half of a module, is about
    kinds = [include[0] for include in includes]
    assert kinds == sorted(kinds, key='<"'.index), f"{name(path)}: system headers come before the project's"
    # Code that Thrift generates has flat names: it is included by the codec only.
    project = [i for i in includes if i.startswith('"')]
    assert project == sorted(project), f"{name(path)}: the project's headers are not sorted: {project}"
    bare = [
        i for i in project if "/" not in i and "thrift" not in i and "plumb_types" not in i and "span_receiver" not in i
    ]
    assert not bare, f'{name(path)}: include by the path from the top ("common/store/key.h"), not {bare}'


@pytest.mark.parametrize("path", HEADERS, ids=name)
def test_header_compiles_alone(path, tmp_path):
    assert "#pragma once" in path.read_text(), f"{name(path)} lacks #pragma once"
    flags = shlex.split(
        subprocess.run(
            ["pkg-config", "--cflags", "glib-2.0", "jansson", "libevent_core", "thrift_c_glib"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    )
    unit = tmp_path / "alone.c"
    unit.write_text(f'#include "{name(path)}"\n')
    done = subprocess.run(
        ["gcc", "-std=gnu17", "-Wall", "-Wextra", "-fsyntax-only", f"-I{ROOT}", *flags, str(unit)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_layout_follows_clang_format():
    changed = os.environ.get("PLUMB_CHANGED")
    files = [file for file in map(name, SOURCES + HEADERS) if changed is None or file in changed.split()]
    if not files:
        pytest.skip("no C file changed")
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=ROOT, capture_output=True, text=True)
    wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "error:" in line})
    assert not wrong, f"run clang-format -i on: {' '.join(wrong)}"


# Split, so that this file does not hold what it looks for.
FORBIDDEN = [
    (r"\bTO" r"DO\b|\bFIX" r"ME\b|\bX" r"XX\b", "unfinished work: finish it or write it down in docs/"),
    (r"/wo" r"rk/|/ro" r"ot/|/ho" r"me/[a-z]", "a path of one machine"),
    (r"https?://(?:repo1?\.maven|deb\.debian|registry\.npmjs|pypi\.org|files\.pythonhosted)", "a registry's host"),
]


@pytest.mark.parametrize("pattern, reason", FORBIDDEN, ids=[reason for _, reason in FORBIDDEN])
def test_forbidden_words(pattern, reason):
    bad = []
    for path in tracked():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        bad += [
            f"{name(path)}:{text.count(chr(10), 0, m.start()) + 1}: {m.group(0)}" for m in re.finditer(pattern, text)
        ]
    assert not bad, f"{reason}: {bad[:20]}"


def test_third_party_headers_stay_in_named_files():
    homes = {
        "rocksdb/": r"common/store/store_rocksdb.*\.(c|cc)$",
        "thrift/": r"common/wire/reference/glib_.*\.[ch]$",
        "openssl/": r"receiver/secure/(tls|transport)\.c$|common/wire/secure\.c$|fuzz/receiver/fuzz_names\.c$",
        "gssapi/": r"(receiver/secure/kerberos|common/wire/login)\.c$",
        "event2/": r"receiver/.*\.[ch]$",
        "librdkafka/": r"receiver/kafka/consumer_librdkafka\.c$",
        "curl/": r"analyzer/cli/(source/source_http|export/collector)\.c$|spark-bridge/storage/stored_webhdfs\.c$",
        "simdjson.h": r"spark-bridge/events/json_walk\.hh$",
        "msgpack/": r"common/wire/htraced/msgpack_values\.c$",
        "lz4.h": r"spark-bridge/storage/unpack_lz4\.c$",
        "snappy-c.h": r"spark-bridge/storage/unpack_snappy\.c$",
        "liblzf/": r"spark-bridge/storage/unpack_lzf\.c$",
        "jansson.h": r"spark-bridge/(storage/(stored_webhdfs|positions)|bridge_report|samples/samples\w*)\.c$"
        r"|common/wire/(json|otlp|htraced)/\w+\.[ch]$|analyzer/(query|cli|otlp|load/results)/.*\.[ch]$"
        r"|receiver/(http|http/posts|shell|state)/\w+\.[ch]$|receiver/secure/audit_line\.c$"
        r"|tests/.*\.[ch]$|fuzz/.*\.c$",
    }
    bad = []
    for path in SOURCES + HEADERS:
        for include in re.findall(r"^#include <([^>]+)>", path.read_text(), re.M):
            for prefix, home in homes.items():
                if (
                    include.startswith(prefix)
                    and not re.search(home, name(path))
                    and not name(path).startswith(("tests/", "bench/"))
                ):
                    bad.append(f"{name(path)} includes <{include}>")
    assert not bad, f"third-party headers outside their files: {bad}"
