"""Write the ZIMs that kiwix-serve serves: build_zim.py FOLDER, with articles/ on the path."""

from __future__ import annotations

import hashlib
import re
import struct
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from book import MANUALS, WIKI, Book
from collection import articles
from libzim.writer import Creator, Hint, Item, StringProvider
from manuals import handbooks
from model import Article
from render_html import page

HERE: Final = Path(__file__).parent
ICON_SIZE: Final = 48
# openzim.org, "ZIM file format": offsets in the header of the file.
UUID_AT: Final = 8
UUID_SIZE: Final = 16
CHECKSUM_POINTER_AT: Final = 72
RANDOM_IDENTITIES: Final = 3  # the header's, the full-text index's and the title index's
# Xapian's version block (glass_version.cc): the magic, two bytes of version, then a random UUID.
XAPIAN_MAGIC: Final = re.compile(rb"\x0f\rXapian Glass..", re.DOTALL)


class Page(Item):
    """One entry of the ZIM; articles are offered in title suggestions and search."""

    def __init__(self, path: str, title: str, mimetype: str, content: str) -> None:
        super().__init__()
        self._path, self._title, self._mimetype = path, title, mimetype
        self._content = content

    def get_path(self) -> str:
        """Return the path below the book's namespace."""
        return self._path

    def get_title(self) -> str:
        """Return what lists and suggestions show."""
        return self._title

    def get_mimetype(self) -> str:
        """Return the media type."""
        return self._mimetype

    def get_contentprovider(self) -> StringProvider:
        """Return the content."""
        return StringProvider(self._content)

    def get_hints(self) -> Mapping[Hint, bool]:
        """Return whether this is an article."""
        return {Hint.FRONT_ARTICLE: self._mimetype == "text/html", Hint.COMPRESS: True}


def write(target: Path, book: Book, collection: tuple[Article, ...]) -> None:
    """Write all articles of a book, the stylesheet and the icon to target."""
    main = next(article for article in collection if article.title == book.main)
    # One worker keeps the order of the index, and so of equal search results, the same.
    settings = Creator(target).config_indexing(True, "eng").config_nbworkers(1)
    with settings.set_mainpath(main.path) as creator:
        for name, value in _metadata(book).items():
            creator.add_metadata(name, value)
        creator.add_illustration(ICON_SIZE, icon(book))
        style = (HERE / "style.css").read_text(encoding="utf-8")
        creator.add_item(Page("style.css", "style.css", "text/css", style))
        for article in collection:
            creator.add_item(Page(article.path, article.title, "text/html", page(article, book)))


def pin(target: Path, book: Book) -> None:
    """Replace the random identities of a ZIM and of its two indexes, so that builds are equal."""
    identity = uuid5(NAMESPACE_URL, f"http://wiki.arena.test/{book.name}").bytes
    data = bytearray(target.read_bytes())
    places = [UUID_AT, *(magic.end() for magic in XAPIAN_MAGIC.finditer(data))]
    if len(places) != RANDOM_IDENTITIES:
        message = f"{target}: expected a header and two indexes, found {len(places)}"
        raise ValueError(message)
    for place in places:
        data[place : place + UUID_SIZE] = identity
    (checksum_at,) = struct.unpack_from("<Q", data, CHECKSUM_POINTER_AT)
    data[checksum_at:] = hashlib.md5(data[:checksum_at], usedforsecurity=False).digest()
    target.write_bytes(data)


def icon(book: Book) -> bytes:
    """Return a PNG of ICON_SIZE: the book's letter, W or M, in white on blue."""
    rows = bytearray()
    for y in range(ICON_SIZE):
        rows.append(0)
        down = y if book.letter == "W" else ICON_SIZE - 1 - y
        for x in range(ICON_SIZE):
            rows += b"\xff\xff\xff" if _in_letter(x, down) else b"\x33\x66\xcc"
    header = struct.pack(">IIBBBBB", ICON_SIZE, ICON_SIZE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def _metadata(book: Book) -> Mapping[str, str]:
    return {
        "Name": book.name,
        "Title": book.title,
        "Creator": book.title,
        "Publisher": book.title,
        "Date": "2026-01-01",
        "Description": book.description,
        "Language": "eng",
        "Tags": "_ftindex:yes;_sw:no",
    }


def _in_letter(x: int, y: int) -> bool:
    top, bottom, half_width = 12, 36, 2.5
    if not top <= y < bottom:
        return False
    down = (y - top) / (bottom - top)
    strokes = ((8, 16), (24, 16), (24, 32), (40, 32))
    return any(abs(x - (start + down * (end - start))) < half_width for start, end in strokes)


if __name__ == "__main__":
    for served, collection in ((WIKI, articles()), (MANUALS, handbooks())):
        zim = Path(sys.argv[1]) / f"{served.name}.zim"
        write(zim, served, collection)
        pin(zim, served)
        sys.stdout.write(f"{served.name}: {len(collection)} articles\n")
