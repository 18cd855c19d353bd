"""Secrets that may stand in no record: those of sites and this machine, and what looks like one."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final
from urllib.parse import unquote_plus

from orchestrator.logs.redaction import REDACTED, secrets_of
from orchestrator.training.samples import texts_of
from sites.atlas import Atlas
from sites.manifest import Site

# A shorter value may be a part of ordinary words: it is found as a whole word only.
_LONG: Final = 8
_LEAST: Final = 4
_LOOKS_SECRET: Final = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{16,}|\bgh[pousr]_\w{16,}|\bAKIA[0-9A-Z]{12,}|\bhf_\w{20,}"
    r"|(?i:\bbearer)\s+[\w.~+/=-]{16,}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|://[^\s/:@]+:[^\s/@]+@"
)


class SecretSearch:
    """Finds secrets in records, however they are written: in URLs, in JSON, in HTML, in base64.

    Args:
        secrets: the values; shorter ones than four letters cannot be told from words.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._values = tuple(sorted({one for one in secrets if len(one) >= _LEAST}))

    @property
    def count(self) -> int:
        """How many values are looked for."""
        return len(self._values)

    def finds(self, record: object) -> bool:
        """Whether any text of a record holds one."""
        return any(
            self._known.search(text) or _LOOKS_SECRET.search(text)
            for written in texts_of(record)
            for text in _readings(written)
        )

    @cached_property
    def _known(self) -> re.Pattern[str]:
        written = {form for value in self._values for form in _forms(value)}
        ordered = sorted(written, key=len, reverse=True)
        return re.compile("|".join(map(_pattern, ordered)) or r"(?!)")


def was_redacted(record: object) -> bool:
    """Whether a secret stood in it when it was recorded: then nobody was asked this text."""
    return any(REDACTED in text for text in texts_of(record))


def site_secrets(atlas: Atlas, sites: Iterable[str]) -> Iterator[str]:
    """Yield what logs accounts in to sites: passwords, and keys of their APIs.

    A database's read-only password is none of them: no agent can reach a database.
    """
    for name in sites:
        site = atlas.sites.get(name)
        if site is not None:
            yield from _of_site(site)


def machine_secrets() -> tuple[str, ...]:
    """Return the values of this machine's environment whose names say that they are secret."""
    return secrets_of()


def _of_site(site: Site) -> Iterator[str]:
    roles = [*site.roles.values(), *(site.live.roles.values() if site.live else ())]
    for role in roles:
        yield role.password
        if role.api is not None:
            yield role.api.secret
            yield from (value.rpartition(" ")[2] for value in role.api.headers().values())


def _readings(text: str) -> Iterator[str]:
    """Yield a text, and what it says as a part of a URL or of HTML."""
    yield text
    if "%" in text:
        yield unquote_plus(text)
    if "&" in text:
        yield html.unescape(text)


def _forms(value: str) -> Iterator[str]:
    yield value
    once = json.dumps(value)[1:-1]
    yield from (once, json.dumps(once)[1:-1])
    if len(value) >= _LONG:
        yield base64.b64encode(value.encode()).decode().rstrip("=")


def _pattern(value: str) -> str:
    written = re.escape(value)
    return written if len(value) >= _LONG else rf"(?<!\w){written}(?!\w)"
