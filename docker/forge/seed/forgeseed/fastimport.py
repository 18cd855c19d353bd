"""Writes a history as git fast-import reads it (git-fast-import(1))."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from forgeseed.history import History
from forgeseed.people import Person


def stream(made: History) -> bytes:
    """Return the whole history of one repository."""
    return b"".join(_parts(made))


def _parts(made: History) -> Iterator[bytes]:
    for commit in made.commits:
        yield f"commit refs/heads/{commit.branch}\nmark :{commit.mark}\n".encode()
        yield f"author {_who(commit.author, commit.when)}\n".encode()
        yield f"committer {_who(commit.author, commit.when)}\n".encode()
        yield _data(commit.message + "\n")
        for verb, parent in zip(("from", *["merge"] * 9), commit.parents, strict=False):
            yield f"{verb} :{parent}\n".encode()
        for path, text in commit.files:
            yield f"M 100644 inline {path}\n".encode() + _data(text)
        yield b"\n"
    for tag in made.tags:
        yield f"tag {tag.name}\nfrom :{tag.mark}\n".encode()
        yield f"tagger {_who(tag.author, tag.when)}\n".encode() + _data(f"Version {tag.name[1:]}\n")
    yield b"done\n"


def _who(person: Person, when: datetime) -> str:
    return f"{person.name} <{person.mail}> {int(when.timestamp())} +0000"


def _data(text: str) -> bytes:
    raw = text.encode()
    return f"data {len(raw)}\n".encode() + raw + b"\n"
