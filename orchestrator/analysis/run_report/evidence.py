"""What a report shows of evidence: model calls, observations and resets, in words."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from arena_core.errors import StoreError
from evaluators.evidence import Receipt, Verification
from orchestrator.agents.model_exchange import ModelExchange
from orchestrator.analysis.wording import money
from orchestrator.episode.jsonl_files import OBSERVATIONS_FILE, read_exchanges, read_lines
from orchestrator.runs.store.rescoring import ScoredEpisode
from orchestrator.runs.store.run_folder import RunFolder

_LONGEST: Final = 20_000  # characters of one text; the evidence has all of it
LONGEST: Final = 2000


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
        asked=tuple(message_in_words(one) for one in messages[before:]),
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


def message_in_words(message: Any) -> tuple[str, str]:
    """Return role and text of a request's message; an image as its file's name in brackets."""
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
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"


def seen_texts(evidence_folder: Path) -> Mapping[int, Mapping[str, str]]:
    """Return the texts that an agent saw after each step, by form; none where none was kept."""
    path = evidence_folder / OBSERVATIONS_FILE
    try:
        return {
            int(line["step"]): {
                form: str(one["text"]) for form, one in line["parts"].items() if one.get("text")
            }
            for line in read_lines(path)
        }
    except (LookupError, TypeError, ValueError, AttributeError) as cause:
        raise StoreError(f"{path}: its lines are not observations") from cause


class SeenTexts:
    """Shows the observations of a run's attempts, one attempt at a time."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._attempt = ""
        self._texts: Mapping[int, Mapping[str, str]] = {}

    def text(self, episode: ScoredEpisode, step: int) -> str:
        """Return what the agent saw after a step; empty where no text of it was kept."""
        if episode.folder != self._attempt:
            self._attempt = episode.folder
            try:
                self._texts = seen_texts(self._folder.evidence_folder(episode.folder))
            except StoreError as unreadable:
                self._texts = {0: {"(not readable)": unreadable.message}}
        texts = self._texts.get(step, {})
        return "\n\n".join(f"{form}\n{_cut_part(text)}" for form, text in texts.items())


def _cut_part(text: str) -> str:
    left = len(text) - LONGEST
    return (
        text if left <= 0 else f"{text[:LONGEST]}\n({left} more characters in {OBSERVATIONS_FILE})"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetFigures:
    """The receipts of one site and strategy.

    Attributes:
        share: of the median in the longest median of the run, 0 to 1: the length of its bar.
        proven: how many ended golden, by the whole fingerprint or by counters that did not move.
        by_counters: how many of `proven` by counters.
        swapped: how many replicas were handed over at once, the reset being done behind an episode.
        longest_wait_s: of an episode for the replica.
    """

    site: str
    strategy: str
    count: int
    median_s: float
    max_s: float
    share: float
    proven: int
    by_counters: int
    swapped: int
    longest_wait_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """A strategy that was not enough, and how often it was so."""

    site: str
    reason: str
    count: int


def reset_figures(receipts: Iterable[Receipt]) -> tuple[ResetFigures, ...]:
    """Sum up receipts by site and strategy."""
    grouped: dict[tuple[str, str], list[Receipt]] = {}
    for receipt in receipts:
        grouped.setdefault((receipt.site, receipt.strategy), []).append(receipt)
    medians = {key: median(one.seconds for one in found) for key, found in grouped.items()}
    longest = max(medians.values(), default=0.0)
    return tuple(
        ResetFigures(
            site=key[0],
            strategy=key[1],
            count=len(found),
            median_s=medians[key],
            max_s=max(one.seconds for one in found),
            share=medians[key] / longest if longest else 0.0,
            proven=sum(one.proven for one in found),
            by_counters=sum(one.proven and one.proof is Verification.COUNTERS for one in found),
            swapped=sum(one.swapped for one in found),
            longest_wait_s=max(one.waited for one in found),
        )
        for key, found in sorted(grouped.items())
    )


def fallbacks(receipts: Iterable[Receipt]) -> tuple[Fallback, ...]:
    """Count what was tried and not enough, the most frequent first."""
    counts = Counter((receipt.site, reason) for receipt in receipts for reason in receipt.fallbacks)
    return tuple(
        Fallback(site=site, reason=reason, count=count)
        for (site, reason), count in counts.most_common()
    )
