"""The JSON lines beside the evidence: what the agent saw, and its exchanges with models."""

from __future__ import annotations

import json
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from arena_core.errors import StoreError
from arena_core.foreign import first_fault
from arena_core.logs import REDACTED, secrets_of
from arena_core.regular_files import unpacked_lines
from orchestrator.agents.model.messages import hash_of
from orchestrator.agents.model_exchange import ModelExchange, TokenUsage

# What the agent saw, a line an observation; what its model was asked and answered, a line a call.
OBSERVATIONS_FILE: Final = "observations.jsonl.gz"
EXCHANGES_FILE: Final = "exchanges.jsonl.gz"
_GZIP: Final = 16 + zlib.MAX_WBITS
_QUICK: Final = 3  # a page's markup is halved once more by 9, in four times the time
_LEAST: Final = 6  # letters: a shorter value is part of ordinary words
_BASES: Final = 8  # earlier exchanges that a request may go on from: agents ask in several voices
_LINE: Final = TypeAdapter(dict[str, JsonValue])
_USAGE: Final = TokenUsage.__dataclass_fields__


def secrets_in_json(secrets: Iterable[str] | None = None) -> list[str]:
    """Return secrets as they stand in JSON: these, or those of the environment."""
    found = secrets_of() if secrets is None else secrets
    return [json.dumps(one)[1:-1] for one in found if len(one) >= _LEAST]


def without_json(text: str, secrets: Iterable[str]) -> str:
    """Return JSON with `[redacted]` in the place of each secret."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text


class StepLines:
    """The lines of one file, compressed as they come.

    Args:
        secrets: values that are replaced wherever they stand; those of the environment where
            omitted.
    """

    def __init__(self, secrets: Iterable[str] | None = None) -> None:
        self._secrets = secrets_in_json(secrets)
        self._packer = zlib.compressobj(_QUICK, zlib.DEFLATED, _GZIP)
        self._packed = bytearray()

    def copy(self) -> StepLines:
        """Return a file with the same lines so far, to which others may be added."""
        copied = StepLines(())
        copied._secrets = self._secrets
        copied._packer = self._packer.copy()
        copied._packed = self._packed.copy()
        return copied

    def add(self, line: Mapping[str, object]) -> None:
        """Add a line; TypeError if it is not JSON."""
        text = without_json(json.dumps(line), self._secrets)
        self._packed += self._packer.compress(text.encode() + b"\n")

    def packed(self) -> bytes:
        """Return the file's content as it stands; more lines may follow."""
        return bytes(self._packed) + self._packer.copy().flush()

    def plain(self) -> bytes:
        """Return the lines so far, not compressed."""
        return zlib.decompress(self.packed(), _GZIP)

    @classmethod
    def of(cls, plain: bytes) -> StepLines:
        """Return a file with lines that `plain` returned; ValueError if they are no JSON objects.

        Secrets of this environment are replaced in them too.
        """
        lines = cls()
        for line in plain.splitlines():
            lines.add(_LINE.validate_json(line))
        return lines


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a file's lines; none if the file is missing, as in runs of earlier versions."""
    try:
        for line in unpacked_lines(path):
            yield json.loads(line)
    except FileNotFoundError:
        return
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as cause:
        why = (isinstance(cause, OSError) and cause.strerror) or cause
        message = f"{path}: cannot be read: {why}"
        raise StoreError(
            message, hint="it is beside the evidence, and no score needs it"
        ) from cause


class _Line(BaseModel):
    """A line without its request: a file may be anybody's."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    step: int
    number: int
    sha256: str
    left_out: tuple[str, ...] = ()
    reply: str | None = None
    error: str | None = None
    usage: TokenUsage | None = None
    usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    seconds: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    occurrence: int = Field(default=0, ge=0)
    is_too_long: bool = False
    replayed_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptExchange:
    """One exchange as it is read again.

    Attributes:
        number: of the exchange in its attempt, from 0.
        sha256: the hash of the request before secrets were redacted.
    """

    step: int
    number: int
    sha256: str
    exchange: ModelExchange


class ExchangeWriter:
    """Makes the lines of one attempt.

    `number` is that of the next exchange: those before it stand in lines that others wrote.

    Of a request's messages only those stand in its line that follow the longest beginning which it
    shares with one of the last eight: a conversation that grows by a message with every step takes
    as many lines, and not their square. Its tools stand in the first line that has them.
    """

    def __init__(self, number: int = 0) -> None:
        self._number = number
        self._earlier: deque[tuple[int, list[Any], object]] = deque(maxlen=_BASES)

    def copy(self) -> ExchangeWriter:
        """Return a writer that goes on with the same lines."""
        copied = ExchangeWriter(self._number)
        copied._earlier = self._earlier.copy()
        return copied

    @property
    def number(self) -> int:
        """The number of the next exchange."""
        return self._number

    def line(self, step: int, exchange: ModelExchange) -> dict[str, object]:
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
    """
    path = evidence_folder / EXCHANGES_FILE
    requests: list[dict[str, Any]] = []
    found: list[KeptExchange] = []
    for line in read_lines(path):
        try:
            request = _whole(line["request"], requests)
            requests.append(request)
            found.append(_kept(line, request, len(found)))
        except (LookupError, TypeError, ValueError, AttributeError) as cause:
            why = first_fault(cause) if isinstance(cause, ValidationError) else cause
            what = f"line {len(found) + 1}: {type(cause).__name__}: {why}"
            raise StoreError(f"{path}: is damaged: {what}", hint="no score needs it") from cause
    return tuple(found)


def _whole(request: Mapping[str, Any], earlier: list[dict[str, Any]]) -> dict[str, Any]:
    whole = dict(request)
    messages, tools = whole.get("messages"), whole.get("tools")
    if isinstance(tools, dict):
        whole["tools"] = earlier[_index(tools["of"])]["tools"]
    if isinstance(messages, dict):
        base = earlier[_index(messages["of"])]["messages"]
        whole["messages"] = [*base[: _index(messages["first"])], *messages["then"]]
    return whole


def _index(number: object) -> int:
    if not isinstance(number, int) or number < 0:
        raise ValueError(f"{number!r} is not the number of a line or a message")
    return number


def _kept(line: Mapping[str, Any], request: Mapping[str, Any], number: int) -> KeptExchange:
    said = dict(_Line.model_validate(line))
    place = {name: said.pop(name) for name in ("step", "number", "sha256")}
    if place["number"] != number:
        raise ValueError(f"it is numbered {place['number']}, and not {number}")
    return KeptExchange(**place, exchange=ModelExchange(request=request, **said))


def _shared(one: list[Any], other: list[Any]) -> int:
    same = 0
    for left, right in zip(one, other, strict=False):
        if json.dumps(left, sort_keys=True) != json.dumps(right, sort_keys=True):
            break
        same += 1
    return same
