"""Bounds on one exchange with an endpoint: the answer's size, pauses, and who listens."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Final, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

# A hundred times what a model says at most, with the probability of each token.
MOST_BYTES: Final = 8 * 2**20


class AnswerTooLongError(Exception):
    """An endpoint's answer is longer than is read."""


class Answer(Protocol):
    """The response of whichever HTTP client openai brings: httpx, or its successor httpx2."""

    _content: bytes

    def aiter_bytes(self) -> AsyncIterator[bytes]: ...


async def read_bounded(answer: Answer) -> None:
    """Read an answer's body, unpacked where it came packed, and break it off at the bound.

    A hook of the HTTP client: it is called before anything else reads the body, of errors too.
    """
    read = bytearray()
    async for part in answer.aiter_bytes():
        read += part
        if len(read) > MOST_BYTES:
            raise AnswerTooLongError(f"more than {MOST_BYTES} bytes")
    answer._content = bytes(read)  # noqa: SLF001  where `aread` keeps what it has read


_FIRST_S: Final = 0.5
_LONGEST_S: Final = 8.0


def asked_pause(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `Retry-After` asks for; None where it asks for nothing.

    It is a number of seconds or a date (RFC 9110, 10.2.3); `retry-after-ms` is OpenAI's own. A date
    is taken by the clock that wrote it, the answer's own `Date`; by this machine's where there is
    none.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    seconds = _number(asked)
    if seconds is not None or asked is None:
        return seconds
    until = _moment(asked)
    if until is None:
        return None
    now = _moment(headers.get("date")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def backoff(attempt: int) -> float:
    """Return a pause in seconds that doubles with each attempt (from 0), with jitter."""
    longest: float = min(_FIRST_S * 2.0 ** min(attempt, 10), _LONGEST_S)
    return longest * random.uniform(0.75, 1.0)  # noqa: S311 (jitter, no secret)


def _moment(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def _number(text: str | None) -> float | None:
    try:
        found = float(text or "")
    except ValueError:
        return None
    return found if isfinite(found) and found >= 0 else None


_DEADLINE_S: Final = 2.0
_PORTS: Final = {"http": 80, "https": 443}


async def refused_connection(url: str) -> ConnectionRefusedError | None:
    """Return the refusal where nothing listens at a URL; None where it does, or may.

    Behind a proxy only the proxy is asked for connections: then nothing is known.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme in getproxies() and not proxy_bypass(host):
        return None
    try:
        async with asyncio.timeout(_DEADLINE_S):
            _, writer = await asyncio.open_connection(host, parts.port or _PORTS[parts.scheme])
    except ConnectionRefusedError as refusal:
        return refusal
    except (OSError, TimeoutError, KeyError):
        return None
    writer.close()
    return None
