"""Secrets that may leave in no export: those of sites and this machine, and what looks like one."""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import Final
from urllib.parse import quote, quote_plus, unquote_plus

from pydantic import BaseModel

from arena_core.actions import Type, Write
from arena_core.logs import REDACTED, secrets_of, without_known
from evaluators.evidence import ElementEvent, Evidence, StepEvidence
from sites.manifest import Site
from sites.registry import SiteRegistry

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
# Fields of evidence whose words are Arena's own: no agent can write into them.
_OWN: Final = {
    *("version", "suite", "task", "world", "agent", "run", "started_at", "staged"),
    *("kind", "button", "modifiers", "check", "screenshot", "network", "judgements"),
}
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
        return len(self._values)

    def finds(self, record: object) -> bool:
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


def without_secrets(evidence: Evidence) -> Evidence:
    """Return evidence in whose texts no secret of the environment stands.

    An agent may have read one, and answer with it. What is Arena's own stays: names of tasks and
    runs, kinds of actions, and whatever is one of a few words.
    """
    written = evidence.model_dump_json(exclude={"network"})
    secrets = secrets_of()
    if without_known(written, [json.dumps(one, ensure_ascii=False)[1:-1] for one in secrets]) == (
        written
    ):
        return evidence
    return evidence.model_copy(
        update={
            name: _clean(getattr(evidence, name), secrets)
            for name in Evidence.model_fields
            if name not in _OWN
        }
    )


def _clean(value: object, secrets: Sequence[str]) -> object:
    match value:
        case str() if not isinstance(value, Enum):
            return without_known(value, secrets)
        case BaseModel():
            names = type(value).model_fields.keys() - _OWN
            return value.model_copy(
                update={name: _clean(getattr(value, name), secrets) for name in names}
            )
        case dict():
            return {without_known(key, secrets): _clean(one, secrets) for key, one in value.items()}
        case list() | tuple():
            return type(value)(_clean(one, secrets) for one in value)
        case _:
            return value


def texts_of(value: object) -> Sequence[str]:
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


def known_secrets(registry: SiteRegistry) -> SecretSearch:
    """Return the search for the secrets of this machine, and of all sites.

    Of all: an episode may see one that its task does not name.
    """
    return SecretSearch([*site_secrets(registry, registry.sites), *secrets_of()])


def site_secrets(registry: SiteRegistry, sites: Iterable[str]) -> Iterator[str]:
    """Yield what logs accounts in to sites: passwords, and keys of their APIs.

    A database's read-only password is not among them: no agent can reach a database.
    """
    for name in sites:
        site = registry.sites.get(name)
        if site is not None:
            yield from _of_site(site)


def _of_site(site: Site) -> Iterator[str]:
    roles = [*site.roles.values(), *(site.live.roles.values() if site.live else ())]
    for role in roles:
        known = role.from_environment(os.environ)
        if known is not None:
            yield known.password
        if role.api is not None:
            yield role.api.secret
            yield from (value.rpartition(" ")[2] for value in role.api.headers().values())


def _looks_secret(text: str) -> bool:
    if any(one in text for one in _IN_KEYS) and _KEY.search(text):
        return True
    return "@" in text and bool(_USERINFO.search(text))


def _readings(text: str) -> Iterator[str]:
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
