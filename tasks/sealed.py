"""Suites that are kept encrypted: nobody reads their tasks in a repository or a backup."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_core.errors import TaskError, UsageError
from arena_core.regular_files import MEGABYTE, read_regular

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

ENDING: Final = ".sealed"
KEY: Final = "ARENA_SUITE_KEY"
MARK: Final = "# Sealed by `arena tasks seal`"
_MOST: Final = 96 * MEGABYTE
_SALT_BYTES: Final = 16
# RFC 7914: a tenth of a second and 32 MB for each guess at a passphrase.
_COST: Final = {"n": 2**15, "r": 8, "p": 1, "maxmem": 64 * MEGABYTE}
_SHORTEST_KEY: Final = 12


def sealed(text: str) -> str:
    """Return a suite's file as a sealed one holds it: what it is, its salt, and the secret part.

    Raises:
        UsageError: the environment has no key, or one too short to keep anything.
    """
    key = os.environ.get(KEY, "")
    if len(key) < _SHORTEST_KEY:
        message = f"{KEY} has {len(key)} characters: it takes {_SHORTEST_KEY} or more"
        raise UsageError(message, hint="openssl rand -base64 24 makes one")
    salt = os.urandom(_SALT_BYTES)
    token = _cipher(key, salt).encrypt(text.encode()).decode()
    return f"{MARK}; set {KEY} to read it.\n{base64.urlsafe_b64encode(salt).decode()}\n{token}\n"


def unsealed(path: Path) -> str:
    """Return the text of a sealed suite, by the key in the environment.

    Raises:
        TaskError: there is no key, it is another one, or the file is not a sealed suite.
    """
    try:
        lines = read_regular(path, follow=True, most=_MOST).decode("ascii").split("\n")
        mark, salt, token = lines[:3]
        known = base64.urlsafe_b64decode(salt)
    except OSError as cause:
        raise TaskError(f"{path}: cannot be read: {cause.strerror}") from cause
    except ValueError as cause:
        raise TaskError(f"{path}: is no sealed suite") from cause
    if not mark.startswith(MARK) or len(known) != _SALT_BYTES:
        raise TaskError(f"{path}: is no sealed suite")
    key = os.environ.get(KEY)
    if not key:
        message = f"{path}: is sealed, and {KEY} is not set"
        raise TaskError(message, hint="whoever sealed it has the key")
    # Few suites are sealed, and this takes its time to load.
    from cryptography.fernet import InvalidToken  # noqa: PLC0415

    try:
        return _cipher(key, known).decrypt(token.encode()).decode()
    except InvalidToken as cause:
        message = f"{path}: cannot be unsealed: {KEY} is another key, or the file was changed"
        raise TaskError(message) from cause


def _cipher(key: str, salt: bytes) -> Fernet:
    from cryptography.fernet import Fernet  # noqa: PLC0415

    derived = hashlib.scrypt(key.encode(), salt=salt, dklen=32, **_COST)
    return Fernet(base64.urlsafe_b64encode(derived))
