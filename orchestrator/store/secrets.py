"""Secrets that may leave in no export: those of sites and this machine, and what looks like one."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final
from urllib.parse import quote, quote_plus, unquote_plus

from arena_core.actions import Type, Write
from evaluators.evidence import ElementEvent, StepEvidence
from orchestrator.logs.redaction import REDACTED, secrets_of
from sites.atlas import Atlas
from sites.manifest import Site

# A shorter value may be a part of ordinary words: it is found as a whole word only.
_LONG: Final = 8
_LEAST: Final = 4
_KEY: Final = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{16,}|\bgh[pousr]_\w{16,}|\bAKIA[0-9A-Z]{12,}|\bhf_\w{20,}"
    r"|(?i:\bbearer)\s+(?!redacted\.sha256\.)[\w.~+/=-]{16,}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
# One of these is in each of them; to look for these first is thirty times as fast.
_IN_KEYS: Final = (
    *("sk-", "pk-", "rk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "AKIA", "hf_"),
    *("earer", "EARER", "PRIVATE KEY"),
)
_USERINFO: Final = re.compile(r"://[^\s/:@]+:[^\s/@]+@")


class SecretSearch:
    """Finds secrets in texts, however they are written: in URLs, in JSON, in HTML, in base64.

    Args:
        secrets: the values; shorter ones than four letters cannot be told from words.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._values = tuple(sorted({one for one in secrets if len(one) >= _LEAST}))
        self._also: frozenset[str] = frozenset()

    @property
    def count(self) -> int:
        """How many values are looked for."""
        return len(self._values)

    def finds(self, record: object) -> bool:
        """Whether any text of a record holds one."""
        return any(
            self._holds_known(text) or _looks_secret(text)
            for written in texts_of(record)
            for text in _readings(written)
        )

    def redacted(self, text: str) -> str:
        """Return a text with `[redacted]` in the place of each.

        Of one that holds a secret in a way of writing that cannot be cut out, nothing is left.
        """
        if not self.finds(text):
            return text
        clean = _USERINFO.sub(
            f"://{REDACTED}@", _KEY.sub(REDACTED, self._known.sub(REDACTED, text))
        )
        return REDACTED if self.finds(clean) else clean

    def _holds_known(self, text: str) -> bool:
        return any(form in text for form in self._written) and bool(self._known.search(text))

    def and_also(self, secrets: Iterable[str]) -> SecretSearch:
        """Return one that finds these as well."""
        return SecretSearch([*self._values, *secrets])

    def find_also(self, secrets: Iterable[str]) -> None:
        """Find these as well, in place of those that it was told before."""
        also = frozenset(one for one in secrets if len(one) >= _LEAST)
        if also != self._also:
            self._also = also
            self.__dict__.pop("_known", None)
            self.__dict__.pop("_written", None)

    @cached_property
    def _written(self) -> tuple[str, ...]:
        written = {form for value in {*self._values, *self._also} for form in _forms(value)}
        return tuple(sorted(written, key=len, reverse=True))

    @cached_property
    def _known(self) -> re.Pattern[str]:
        return re.compile("|".join(map(_pattern, self._written)) or r"(?!)")


def texts_of(value: object) -> Sequence[str]:
    """Return every text of a JSON value, the keys of its objects included."""
    match value:
        case str():
            return (value,)
        case Mapping():
            return [text for key, one in value.items() for text in (*texts_of(key), *texts_of(one))]
        case list() | tuple():
            return [text for one in value for text in texts_of(one)]
        case _:
            return ()


def was_redacted(record: object) -> bool:
    """Whether a secret stood in it when it was recorded: then nobody was asked this text."""
    return any(REDACTED in text for text in texts_of(record))


def typed_unseen(step: StepEvidence) -> str | None:
    """Return what was typed into a field whose value evidence does not hold, as a password's."""
    fields = [one for one in step.acted if one.event in {ElementEvent.INPUT, ElementEvent.CHANGE}]
    if not fields or any(one.value is not None for one in fields):
        return None
    return step.action.text if isinstance(step.action, Type | Write) else None


def known_secrets(atlas: Atlas) -> SecretSearch:
    """Return the search for the secrets of this machine, and of all sites.

    Of all: an episode may see one that its task does not name.
    """
    return SecretSearch([*site_secrets(atlas, atlas.sites), *machine_secrets()])


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


def _looks_secret(text: str) -> bool:
    if any(one in text for one in _IN_KEYS) and _KEY.search(text):
        return True
    return "@" in text and bool(_USERINFO.search(text))


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
    yield from (quote(value, safe=""), quote_plus(value), html.escape(value))
    if len(value) >= _LONG:
        yield base64.b64encode(value.encode()).decode().rstrip("=")


def _pattern(value: str) -> str:
    written = re.escape(value)
    return written if len(value) >= _LONG else rf"(?<!\w){written}(?!\w)"
