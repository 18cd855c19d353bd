"""The kinds of values that people write in a site.yaml or a suite."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Final
from urllib.parse import unquote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

_UP: Final = frozenset({".", ".."})


def written(pattern: str, words: str) -> AfterValidator:
    """Return a validator that holds text to a pattern and says in words what was broken."""
    compiled = re.compile(pattern)

    def checked(text: str) -> str:
        if compiled.fullmatch(text) is None:
            raise ValueError(f"must be {words}")
        return text

    return AfterValidator(checked)


def path_fault(path: str) -> str | None:
    """Say what keeps text from being the path of a page or file; None where nothing is seen.

    A browser resolves `.` and `..` before it asks: another page than the one written would answer.
    """
    if not path.startswith("/"):
        return "must begin with '/'"
    if any(character <= " " or character == "\x7f" for character in path):
        return "must hold no white space or control characters: write a space as %20"
    bare = re.split(r"[?#]", path, maxsplit=1)[0]
    if "\\" in bare:
        return "must hold no '\\': a browser reads it as '/'"
    if not _UP.isdisjoint(unquote(bare).split("/")):
        return "must hold no '.' or '..' between slashes: a browser asks for another page"
    return None


def folder_fault(path: str) -> str | None:
    """Say what keeps text from being the full path of a folder in a container."""
    if not path.startswith("/") or not path.isprintable():
        return "must be the full path of a folder, and begin with '/'"
    if not _UP.isdisjoint(path.split("/")):
        return "must hold no '.' or '..' between slashes"
    return None


def _holding(fault: Callable[[str], str | None]) -> AfterValidator:
    def checked(text: str) -> str:
        message = fault(text)
        if message is not None:
            raise ValueError(message)
        return text

    return AfterValidator(checked)


Name = Annotated[
    str,
    written(
        r"[a-z][a-z0-9_-]{0,30}",
        "a name of at most 31 lower-case letters, digits, '-' and '_' that begins with a letter",
    ),
]
Host = Annotated[
    str,
    written(
        r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?",
        "a host name of lower-case letters, digits and '-', its parts joined by single dots",
    ),
]
SitePath = Annotated[str, _holding(path_fault)]
FolderPath = Annotated[str, _holding(folder_fault)]
Port = Annotated[int, Field(ge=1, le=65535)]
Tag = Annotated[
    str,
    written(
        r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*:\w[\w.-]{0,127}",
        "a local image's name and version, such as arena-own/my-shop:1",
    ),
]
Line = Annotated[
    str,
    written(r"[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*", "one line of text, not empty"),
]


class Strict(BaseModel):
    """A frozen model that refuses fields it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)
