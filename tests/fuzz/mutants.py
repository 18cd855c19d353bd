"""Mutants of a file, each made by its number: the same number is always the same mutant."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
import zlib
from collections.abc import Callable
from enum import Enum
from random import Random
from typing import Any, Final

import yaml
from fuzz.http_mutants import in_messages

# What people, other programs and attackers put in place of a value.
_HOSTILE: Final[tuple[Any, ...]] = (
    *(None, True, -1, 0, 1.5, 10**400, 1e308, float("nan"), float("-inf")),
    *("", " ", "\n", "\x00", "\x1b[31m", "\ud800", "é" * 300, "a" * 70_000, "{name}", "(a+)+$"),
    *("../../etc/passwd", "/dev/zero", "2026-13-45T99:99:99Z", "http://[", "https://a.test:99999/"),
    *([], {}, [[]], {"": {}}, ["x"] * 300),
)
_ENDINGS: Final = ("x", " ", "", "\ud800")
_DEPTH: Final = 3000
_TOKENS: Final = (
    b"\x00",
    b"\xff\xfe",
    b"\r\n",
    b"\xed\xa0\x80",
    b"[" * _DEPTH,
    b"&a [*a]",
    b"9" * 5000,
)


# What an earlier change made of a file.
_NOTHING_TO_TAKE_APART: Final = (
    ValueError,
    RecursionError,
    NotImplementedError,
    yaml.YAMLError,
    zipfile.BadZipFile,
    zlib.error,
)


class Shape(Enum):
    """How the bytes of a file are to be taken apart; every file is also taken as bytes alone."""

    BYTES = "bytes"
    HTTP = "http"
    JSON = "json"
    LINES = "lines"
    YAML = "yaml"
    ZIP = "zip"


def mutant(name: str, number: int, seeds: tuple[bytes, ...], shape: Shape) -> bytes:
    """Return the mutant of that number: of one seed, with one to four changes."""
    dice = Random(f"{name}:{number}")
    data = dice.choice(seeds)
    change = _CHANGES[shape] if dice.random() < 0.7 else _in_bytes
    for _ in range(dice.choice((1, 1, 2, 4))):
        try:
            data = change(data, dice)
        except _NOTHING_TO_TAKE_APART:
            data = _in_bytes(data, dice)
    return data


def _in_bytes(data: bytes, dice: Random) -> bytes:
    start = dice.randrange(len(data) + 1)
    end = min(len(data), start + dice.choice((1, 1, 4, 64, 4096)))
    chunk = data[start:end]
    match dice.randrange(6):
        case 0:
            return data[:start]
        case 1:
            return data[:start] + data[end:]
        case 2:
            return data[:end] + chunk + data[end:]
        case 3:
            return data[:start] + bytes(dice.randrange(256) for _ in chunk) + data[end:]
        case 4:
            return data[:start] + dice.choice(_TOKENS) + data[start:]
        case _:
            other = dice.randrange(len(data) + 1)
            return data[:start] + data[other : other + len(chunk)] + data[end:]


def _in_json(data: bytes, dice: Random) -> bytes:
    return json.dumps(_in_tree(json.loads(data), dice)).encode()


def _in_yaml(data: bytes, dice: Random) -> bytes:
    """Every JSON document is one of YAML as well."""
    return _in_json(json.dumps(yaml.safe_load(data), default=str).encode(), dice)


def _in_line(data: bytes, dice: Random) -> bytes:
    lines = data.splitlines() or [b"{}"]
    at = dice.randrange(len(lines))
    lines[at : at + 1] = dice.choice(([_in_json(lines[at], dice)], [], [lines[at]] * 2))
    return b"\n".join(lines)


def _in_tree(tree: Any, dice: Random) -> Any:
    """Change one place of a document, at any depth."""
    places = list(_places(tree))
    if not places:
        return dice.choice(_HOSTILE)
    holder, key = dice.choice(places)
    match dice.randrange(6):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[str(key) + dice.choice(_ENDINGS)] = holder.pop(key)
        case 2:
            other, its = dice.choice(places)
            holder[key] = json.loads(json.dumps(other[its])) if its in _keys(other) else None
        case 3:
            holder[key] = [holder[key]]
        case _:
            holder[key] = dice.choice(_HOSTILE)
    return tree


def _places(tree: Any) -> list[tuple[Any, Any]]:
    found = []
    for key in _keys(tree):
        found += [(tree, key), *_places(tree[key])]
    return found


def _keys(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return list(tree)
    return list(range(len(tree))) if isinstance(tree, list) else []


def _in_member(data: bytes, dice: Random) -> bytes:
    """Change a member of an archive, its name or how it is packed; all else stays as it is."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(one, archive.read(one)) for one in archive.infolist()]
    chosen = dice.randrange(len(members))
    out = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(out, "w") as archive:
        for at, (info, body) in enumerate(members):
            name, packing, content = info.filename, info.compress_type, body
            if at == chosen:
                match dice.randrange(5):
                    case 0:
                        continue
                    case 1:
                        name = dice.choice(("../up", "/etc/passwd", " ", "a\\b", name + "x", "C:x"))
                    case 2:
                        packing = zipfile.ZIP_DEFLATED
                    case 3:
                        content = _in_bytes(body, dice)
                    case _:
                        is_json = body[:1] in {b"{", b"["}
                        content = (_in_line if is_json else _in_bytes)(body, dice)
            archive.writestr(zipfile.ZipInfo(name), content, packing)
    return out.getvalue()


_CHANGES: Final[dict[Shape, Callable[[bytes, Random], bytes]]] = {
    Shape.BYTES: _in_bytes,
    Shape.HTTP: in_messages,
    Shape.JSON: _in_json,
    Shape.LINES: _in_line,
    Shape.YAML: _in_yaml,
    Shape.ZIP: _in_member,
}
