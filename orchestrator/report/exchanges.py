"""What models were asked at each step and what they answered, as the report shows it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError
from orchestrator.model_exchange import ModelExchange
from orchestrator.report.wording import money
from orchestrator.store.exchange_lines import read_exchanges

_LONGEST: Final = 20_000  # letters of one text; the evidence has all of it


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownExchange:
    """One exchange in words.

    Attributes:
        figures: tokens, cost and time, on one line.
        before: how many of the request's messages stand in the exchange before.
        asked: role and text of the others, in order.
        answered: the reply, or why there is none.
    """

    figures: str
    before: int
    asked: tuple[tuple[str, str], ...]
    answered: str


def exchanges_by_step(evidence_folder: Path) -> Mapping[int, tuple[ShownExchange, ...]]:
    """Return the exchanges of an attempt by the step that they were to decide.

    A file that cannot be read is shown as one exchange of step 0 that says so.
    """
    try:
        kept = read_exchanges(evidence_folder)
    except StoreError as damaged:
        shown = ShownExchange(figures="cannot be read", before=0, asked=(), answered=str(damaged))
        return {0: (shown,)}
    found: defaultdict[int, list[ShownExchange]] = defaultdict(list)
    last: list[Any] = []
    for one in kept:
        messages = one.exchange.request.get("messages")
        now = messages if isinstance(messages, list) else []
        before = 0
        while before < min(len(last), len(now)) and last[before] == now[before]:
            before += 1
        found[one.step].append(_shown(one.exchange, now, before))
        last = now
    return {step: tuple(exchanges) for step, exchanges in found.items()}


def _shown(exchange: ModelExchange, messages: list[Any], before: int) -> ShownExchange:
    return ShownExchange(
        figures=_figures(exchange),
        before=before,
        asked=tuple(_message(one) for one in messages[before:]),
        answered=_cut(exchange.error or _reply(exchange.reply or "")),
    )


def _figures(exchange: ModelExchange) -> str:
    usage = exchange.usage
    parts: list[str] = []
    if usage is not None:
        inside = {"cached": usage.cached_tokens, "of pictures": usage.image_tokens}
        parts.append(f"{usage.input_tokens:,} tokens in{_inside(inside)}")
        parts.append(f"{usage.output_tokens:,} out{_inside({'thinking': usage.reasoning_tokens})}")
    else:
        parts.append("tokens not counted")
    if exchange.usd is not None:
        parts.append(money(exchange.usd))
    parts.append(f"{exchange.seconds:.1f} s")
    if exchange.left_out:
        parts.append(f"without {', '.join(exchange.left_out)}")
    if exchange.replayed_from is not None:
        parts.append(f"replayed from {exchange.replayed_from}, not spent")
    if exchange.error is not None:
        parts.append("failed")
    return ", ".join(parts)


def _inside(parts: Mapping[str, int | None]) -> str:
    said = [f"{count:,} {name}" for name, count in parts.items() if count is not None]
    return f" ({', '.join(said)})" if said else ""


def _message(message: Any) -> tuple[str, str]:
    if not isinstance(message, dict):
        return "", _cut(str(message))
    rest = {name: one for name, one in message.items() if name not in {"role", "content"}}
    texts = [_content(message.get("content"))]
    if rest:
        texts.append(json.dumps(rest, ensure_ascii=False, indent=1))
    return str(message.get("role", "")), _cut("\n".join(text for text in texts if text))


def _content(content: Any) -> str:
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [one if isinstance(one, dict) else {} for one in content]
    return "\n".join(
        str(one["text"]) if "text" in one else f"[{one.get('image_url', {}).get('url', 'a part')}]"
        for one in parts
    )


def _reply(reply: str) -> str:
    """Return the message of a reply; the whole body where it holds none."""
    try:
        message = json.loads(reply)["choices"][0]["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return reply
    said = {name: one for name, one in message.items() if one not in (None, "", [])}
    return json.dumps(said, ensure_ascii=False, indent=1)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} letters)"
