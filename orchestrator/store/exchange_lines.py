"""The exchanges of an attempt with models, a line each, without what an earlier line holds."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError
from orchestrator.model.question import hash_of
from orchestrator.model_exchange import ModelExchange, TokenUsage
from orchestrator.store.step_lines import EXCHANGES_FILE, read_lines

_BASES: Final = 8  # earlier exchanges that a request may go on from: agents ask in several voices
_USAGE: Final = TokenUsage.__dataclass_fields__


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptExchange:
    """One exchange as it is read again.

    Attributes:
        step: the step that was to be decided.
        number: of the exchange in its attempt, from 0.
        sha256: the hash of the request before secrets were redacted.
    """

    step: int
    number: int
    sha256: str
    exchange: ModelExchange


class ExchangeWriter:
    """Makes the lines of one attempt.

    Of a request's messages only those stand in its line that follow the longest beginning which it
    shares with one of the last eight: a conversation that grows by a message with every step takes
    as many lines, and not their square. Its tools stand in the first line that has them.
    """

    def __init__(self) -> None:
        self._number = 0
        self._earlier: deque[tuple[int, list[Any], object]] = deque(maxlen=_BASES)

    def line(self, step: int, exchange: ModelExchange) -> dict[str, object]:
        """Return the line of the next exchange."""
        number, self._number = self._number, self._number + 1
        line: dict[str, object] = {
            "step": step,
            "number": number,
            "request": self._shortened(number, dict(exchange.request)),
            "sha256": hash_of(exchange.request),
        }
        usage = exchange.usage
        said: dict[str, object] = {
            "left_out": list(exchange.left_out),
            "reply": exchange.reply,
            "error": exchange.error,
            "usage": {name: getattr(usage, name) for name in _USAGE} if usage else None,
            "usd": exchange.usd,
            "seconds": exchange.seconds,
            "occurrence": exchange.occurrence or None,
            "is_too_long": exchange.is_too_long or None,
            "replayed_from": exchange.replayed_from,
        }
        return line | {name: value for name, value in said.items() if value not in (None, [])}

    def _shortened(self, number: int, request: dict[str, Any]) -> dict[str, object]:
        messages, tools = request.get("messages"), request.get("tools")
        if not isinstance(messages, list):
            return request
        best, shared = None, 0
        for base, earlier, _ in self._earlier:
            same = _shared(earlier, messages)
            if same > shared:
                best, shared = base, same
        if best is not None:
            request["messages"] = {"of": best, "first": shared, "then": messages[shared:]}
        for base, _, known in self._earlier:
            if tools is not None and known == tools:
                request["tools"] = {"of": base}
        self._earlier.append((number, messages, tools))
        return request


def read_exchanges(evidence_folder: Path) -> tuple[KeptExchange, ...]:
    """Return the exchanges of an attempt, oldest first, requests whole again.

    Their images stay on disk, in the same folder, under the names that stand in the requests.

    Raises:
        StoreError: the file cannot be read, or is damaged.
    """
    path = evidence_folder / EXCHANGES_FILE
    requests: list[dict[str, Any]] = []
    found: list[KeptExchange] = []
    for line in read_lines(path):
        try:
            request = _whole(line["request"], requests)
            requests.append(request)
            found.append(_kept(line, request))
        except (LookupError, TypeError, ValueError, AttributeError) as cause:
            message = f"{path}: is damaged: line {len(found) + 1}: {type(cause).__name__}: {cause}"
            raise StoreError(message, hint="no score needs it") from cause
    return tuple(found)


def _whole(request: Mapping[str, Any], earlier: list[dict[str, Any]]) -> dict[str, Any]:
    whole = dict(request)
    messages, tools = whole.get("messages"), whole.get("tools")
    if isinstance(tools, dict):
        whole["tools"] = earlier[tools["of"]]["tools"]
    if isinstance(messages, dict):
        base = earlier[messages["of"]]["messages"]
        whole["messages"] = [*base[: messages["first"]], *messages["then"]]
    return whole


def _kept(line: Mapping[str, Any], request: Mapping[str, Any]) -> KeptExchange:
    usage = line.get("usage")
    return KeptExchange(
        step=line["step"],
        number=line["number"],
        sha256=line["sha256"],
        exchange=ModelExchange(
            request=request,
            left_out=tuple(line.get("left_out", ())),
            reply=line.get("reply"),
            error=line.get("error"),
            usage=TokenUsage(**usage) if usage else None,
            usd=line.get("usd"),
            seconds=line.get("seconds", 0.0),
            occurrence=line.get("occurrence", 0),
            is_too_long=line.get("is_too_long", False),
            replayed_from=line.get("replayed_from"),
        ),
    )


def _shared(one: list[Any], other: list[Any]) -> int:
    """Return how many messages two lists begin with in common."""
    same = 0
    for left, right in zip(one, other, strict=False):
        if json.dumps(left, sort_keys=True) != json.dumps(right, sort_keys=True):
            break
        same += 1
    return same
