"""What the start page is told: the sites there are and the accounts on them.

The gateway sends it with each request, in the header `X-Arena-Episode`, as base64 of JSON:

    {"sites": [{"name", "title", "summary", "url"}], "accounts": [{"site", "username", "password"?}]}

`arena up`, which has no gateway, leaves the same JSON in a file.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

HEADER = "X-Arena-Episode"
TOLD = Path("/tmp/arena-sites.json")


class UnreadableError(Exception):
    """What was told is not of the form above."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account of a site; without a password it is logged in already."""

    username: str
    password: str


@dataclass(frozen=True, slots=True)
class Site:
    """A site as its card shows it."""

    name: str
    title: str
    summary: str
    url: str
    accounts: tuple[Account, ...]


@dataclass(frozen=True, slots=True)
class Telling:
    """All that is told."""

    sites: tuple[Site, ...]

    @classmethod
    def from_base64(cls, text: str) -> Telling:
        """Read the header's value."""
        try:
            return cls.from_json(base64.b64decode(text, validate=True).decode())
        except (binascii.Error, UnicodeDecodeError) as cause:
            message = f"the header {HEADER} is not base64 of text"
            raise UnreadableError(message) from cause

    @classmethod
    def from_json(cls, text: str) -> Telling:
        """Read the JSON."""
        try:
            document = json.loads(text)
            accounts = [(one["site"], _account(one)) for one in document["accounts"]]
            return cls(tuple(_site(one, accounts) for one in document["sites"]))
        except (ValueError, KeyError, TypeError) as cause:
            message = f"what is told of the sites cannot be read: {cause!r}"
            raise UnreadableError(message) from cause


NOTHING = Telling(())


def _account(told: Mapping[str, str]) -> Account:
    return Account(str(told["username"]), str(told.get("password") or ""))


def _site(told: Mapping[str, str], accounts: list[tuple[str, Account]]) -> Site:
    name, url = str(told["name"]), str(told["url"])
    if urlsplit(url).scheme not in {"http", "https"}:
        message = f"the address of {name!r} is not one of the web"
        raise ValueError(message)
    own = tuple(account for site, account in accounts if site == name)
    return Site(name, str(told["title"]), str(told["summary"]), url, own)
