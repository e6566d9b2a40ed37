"""The pictures of the documents: there, small, in both themes; and the script's own writer of PNG."""

import re
import struct
import zlib

import pytest

from tests.conftest import ROOT
from tests.ui import pictures

DOCUMENTS = ("README.md", "docs/page.md")
NAMED = sorted(
    {
        path
        for document in DOCUMENTS
        for path in re.findall(r'(?:src|srcset)="(?:docs/)?(pictures/[^"]+)"', (ROOT / document).read_text())
    }
)


def test_each_picture_is_shown_in_both_themes():
    made = sorted(f"pictures/{path.name}" for path in pictures.FOLDER.iterdir())
    assert made == NAMED
    assert {name.replace("-dark", "-light") for name in NAMED} == {name for name in NAMED if "-light" in name}


def test_pictures_are_small():
    sizes = {path.name: path.stat().st_size for path in pictures.FOLDER.iterdir()}
    assert max(sizes.values()) <= pictures.PICTURE_MAX_BYTES
    assert sum(sizes.values()) <= pictures.ALL_MAX_BYTES


@pytest.mark.parametrize("document", DOCUMENTS)
def test_pictures_say_what_they_show(document):
    images = re.findall(r"<img[^>]*>", (ROOT / document).read_text())
    assert images and all(re.search(r'alt="[^"]{20,}"', image) for image in images)


def test_what_is_written_is_png():
    data = pictures.png(3, 2, [(1, 2, 3), (255, 0, 7)], bytes([0, 1, 0, 1, 1, 0]))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    parts, at = {}, 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        parts[kind] = data[at + 8 : at + 8 + length]
        (check,) = struct.unpack_from(">I", data, at + 8 + length)
        assert check == zlib.crc32(kind + parts[kind])
        at += 12 + length
    assert struct.unpack(">IIBBBBB", parts[b"IHDR"]) == (3, 2, 8, 3, 0, 0, 0)
    assert parts[b"PLTE"] == bytes([1, 2, 3, 255, 0, 7])
    assert zlib.decompress(parts[b"IDAT"]) == bytes([0, 0, 1, 0, 0, 1, 1, 0])
