"""Mailboxes as dovecot keeps them: folders of files, whose names end in what was done to a mail."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_SHIFTED = re.compile(r"&([^-]*)-")
_KEYWORDS = "abcdefghijklmnopqrstuvwxyz"


class Kept(NamedTuple):
    """One file of a folder.

    Attributes:
        base: its name without flags: the same for as long as the mail is in that folder.
        flags: letters of Maildir, as `RS` for answered and seen.
        labels: what dovecot calls keywords.
    """

    base: str
    path: str
    flags: str
    labels: tuple[str, ...]


def mailboxes(root: str) -> list[str]:
    """Return whose mailboxes there are."""
    return sorted(entry.name for entry in os.scandir(root) if entry.is_dir())


def folders(mailbox: str) -> dict[str, str]:
    """Return the folders of a mailbox: their names, and where they are."""
    found = {"INBOX": mailbox}
    for entry in os.scandir(mailbox):
        if entry.name.startswith(".") and Path(entry.path, "cur").is_dir():
            found[_spelled(entry.name[1:].replace(".", "/"))] = entry.path
    return found


def kept(folder: str) -> Iterator[Kept]:
    """Return the mails of a folder; of two names that one mail has for a moment, the later."""
    words = _keywords(folder)
    found: dict[str, Kept] = {}
    for part in ("new", "cur"):
        for entry in os.scandir(f"{folder}/{part}"):
            base, _, info = entry.name.partition(":2,")
            flags = "".join(sorted(letter for letter in info if letter.isupper()))
            labels = tuple(sorted(words[letter] for letter in info if letter in words))
            found[base] = Kept(base, entry.path, flags, labels)
    yield from found.values()


def mark(folder: str) -> tuple[int, ...]:
    """Return what changes whenever a name in a folder does."""
    parts = (Path(folder, name) for name in ("new", "cur", "dovecot-keywords"))
    return tuple(part.stat().st_mtime_ns if part.exists() else 0 for part in parts)


def deliver(mailbox: str, name: str, content: bytes, moment: float) -> None:
    """Put a mail into a mailbox, unread, and whole at once."""
    partial = Path(mailbox, "tmp", name)
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.utime(partial, (moment, moment))
    partial.rename(Path(mailbox, "cur", f"{name}:2,"))


def _keywords(folder: str) -> dict[str, str]:
    try:
        text = Path(folder, "dovecot-keywords").read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    lines = (line.split(maxsplit=1) for line in text.splitlines())
    return {_KEYWORDS[int(number)]: word for number, word in lines}


def _spelled(name: str) -> str:
    """Read a folder's name in the modified UTF-7 of IMAP (RFC 3501, 5.1.3)."""

    def shifted(match: re.Match[str]) -> str:
        if not match[1]:
            return "&"
        packed = match[1].replace(",", "/")
        return base64.b64decode(packed + "=" * (-len(packed) % 4)).decode("utf-16-be")

    return _SHIFTED.sub(shifted, name)
