"""Every function of the programs that others can call is called by others: else it goes, or becomes static.

Tests do not count as callers, unless a comment behind the prototype says "for tests"."""

import re
from collections import defaultdict

from tests.style.test_includes import FOLDER_OF
from tests.style.test_style import c_files, functions, name, without_comments

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def program_files():
    return [path for path in c_files("c", "h", "cc") if name(path.parent) in FOLDER_OF.values()]


def unit(path):
    return name(path).rpartition(".")[0]


def defined_functions(path):
    """(name, line) of each function that is not static. Names with "__" are the compiler's."""
    for line, body in functions(without_comments(path.read_text())):
        head = " ".join(body).split("{")[0]
        called = re.match(r"[^(]*?(\w+)\s*\(", head)
        if called and not re.match(r"(static|extern|namespace)\b", head) and not called.group(1).startswith("__"):
            yield called.group(1), line


def mentions():
    """{identifier: where it stands, a file for each time}; comments and strings do not count."""
    found = defaultdict(list)
    for path in program_files():
        for identifier in IDENTIFIER.findall(without_comments(path.read_text())):
            found[identifier].append(name(path))
    return found


def is_called(function, path, places):
    """By another unit, or by what its own header gives to others: a macro, an inline function, a cleanup."""
    own_header = name(path.with_suffix(".h"))
    return places.count(own_header) > 1 or any(not place.startswith(unit(path) + ".") for place in places)


def for_tests(function, path):
    """Whether a comment on the prototype's line says so, or the first one of the header does of all."""
    header = path.with_suffix(".h")
    text = header.read_text() if header.exists() else ""
    prototype = re.search(rf"\b{function}\([^;]*;[^\n]*", text)
    said = text.split("*/")[0] + (prototype.group(0) if prototype else "")
    return re.search(r"\bfor (tests|measurements)\b", said, re.I) is not None


def unused():
    places = mentions()
    for path in program_files():
        # C++ has namespaces instead of static.
        if path.suffix != ".c":
            continue
        for function, line in defined_functions(path):
            called = function == "main" or is_called(function, path, places[function])
            if not called and not for_tests(function, path):
                yield f"{name(path)}:{line} {function}"


def test_every_function_is_called():
    found = list(unused())
    assert not found, "no other unit of the programs calls these: remove them or make them static\n" + "\n".join(found)


def test_functions_are_found():
    count = sum(1 for path in program_files() if path.suffix == ".c" for _ in defined_functions(path))
    assert count > 500
