"""One episode as its page shows it: steps, checks, changes, resets, in words and cut to a size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from arena_core.actions import Action, Stop
from arena_core.errors import StoreError
from evaluators.changes import read_change, said
from evaluators.evidence import Located, Receipt, RequestNote, StepEvidence
from evaluators.network import RequestRecord
from evaluators.responses import answer_of
from evaluators.scores import Score
from evaluators.verdicts import Verdict
from orchestrator.report.wording import action_in_words
from orchestrator.store.rescoring import ScoredTrial
from orchestrator.store.step_lines import OBSERVATIONS_FILE, read_lines
from orchestrator.study_report.episode_index import shown_status

_LONGEST_TEXT: Final = 4000  # letters of what an agent saw in one form; the evidence has all of it
_LONGEST_LINE: Final = 1000
_MOST_REQUESTS: Final = 40  # of one step
_MOST_CHANGES: Final = 200
_PLAIN: Final = frozenset({"document", "xhr", "fetch", "websocket", "eventsource", "other"})

Document = dict[str, Any]


def episode_document(
    scored: ScoredTrial, shots: Mapping[str, str | None], evidence_folder: Path
) -> Document:
    """Return an episode for the page; each of its names is the page's own, never the evidence's.

    Args:
        scored: the episode.
        shots: by the name in the evidence, the name of the screenshot that is there.
        evidence_folder: where its observations are read from.
    """
    evidence, score = scored.evidence, scored.score
    seen = _seen_by_step(evidence_folder)
    asked = _requests_by_step(evidence.network or ())
    return {
        "attempt": evidence.attempt,
        "startedAt": evidence.started_at,
        "seconds": evidence.seconds,
        "because": _cut(score.because),
        "ended": None if evidence.ended is None else evidence.ended.value.replace("_", " "),
        "endedBecause": _cut(evidence.ended_because),
        "answer": _cut(evidence.answer),
        "tokens": [evidence.input_tokens, evidence.output_tokens],
        "usd": evidence.usd,
        "replayedFrom": evidence.replayed_from,
        "staged": list(evidence.staged),
        "checks": [_check(one, "before", None) for one in score.required]
        + [_check(one, one.when.value, score) for one in score.verdicts],
        "changes": _changes((*evidence.required, *evidence.located)),
        "networkKept": evidence.network is not None,
        "networkFault": _cut(evidence.network_fault),
        "resets": [_reset(one) for one in evidence.receipts],
        "unread": seen.get(-1, ""),
        "steps": [
            _step(step, shots, seen.get(step.index, []), asked.get(step.index, ()))
            for step in evidence.steps
        ],
    }


def _check(verdict: Verdict, when: str, score: Score | None) -> Document:
    status = verdict.status if score is None else shown_status(verdict, score)
    return {
        "name": verdict.check,
        "when": when,
        "status": status.value,
        "decides": verdict.decides,
        "step": verdict.step,
        "reason": _cut(verdict.reason),
        "found": [_cut(one) for one in verdict.found[:5] if read_change(one) is None],
    }


def _changes(located: Iterable[Located]) -> list[Document]:
    """Return what checks found changed in databases and files; those that found none too."""
    found = []
    for one in located:
        changes = [change for value in one.values if (change := read_change(value)) is not None]
        if changes:
            lines = [_cut(said(change)) for change in changes[:_MOST_CHANGES]]
            found.append(
                {"check": one.check, "lines": lines, "more": max(0, len(changes) - _MOST_CHANGES)}
            )
    return found


def _reset(receipt: Receipt) -> Document:
    return {
        "site": receipt.site,
        "rung": receipt.strategy,
        "seconds": receipt.seconds,
        "waited": receipt.waited,
        "proven": receipt.proven,
        "proof": receipt.proof.value,
        "swapped": receipt.swapped,
        "fallbacks": [_cut(one) for one in receipt.fallbacks],
        "undone": [_cut(one) for one in receipt.differences[:20]],
    }


def _step(
    step: StepEvidence,
    shots: Mapping[str, str | None],
    seen: Any,
    requests: Sequence[RequestRecord],
) -> Document:
    times = step.timings
    kept = [one for one in requests if one.resource_type in _PLAIN or one.method != "GET"]
    return {
        "index": step.index,
        "action": _cut(_action(step.action, step)),
        "error": _cut(step.error),
        "thought": _cut(step.thought),
        "url": _cut(step.logical or step.url),
        "title": _cut(step.title),
        "status": step.status,
        "login": step.login,
        "shot": shots.get(step.screenshot or ""),
        "requests": step.requests,
        "settled": step.settled,
        "notes": [_note(one) for one in step.notes[:_MOST_REQUESTS]],
        "network": [_request(one) for one in kept[:_MOST_REQUESTS]],
        "moreNetwork": len(requests) - len(kept[:_MOST_REQUESTS]),
        "seen": seen,
        "ms": [
            round(one)
            for one in (
                times.decide_ms,
                times.act_ms,
                times.settle_ms,
                times.locate_ms,
                times.observe_ms,
            )
        ],
    }


def _action(action: Action | None, step: StepEvidence) -> str:
    if action is None:
        return "opened the start pages"
    if isinstance(action, Stop) and (answer := answer_of(action)) is not None:
        return f"answered: {answer}"
    return action_in_words(action, step)


def _note(note: RequestNote) -> list[str]:
    what = f"refused: {note.refused}" if note.refused else "may have written"
    return [_cut(f"{note.method} {note.url}") or "", _cut(what) or ""]


def _request(request: RequestRecord) -> list[str]:
    status = "no answer" if request.status is None else str(request.status)
    return [_cut(f"{request.method} {request.url}") or "", _cut(request.failed) or status]


def _requests_by_step(requests: Iterable[RequestRecord]) -> Mapping[int, list[RequestRecord]]:
    found: dict[int, list[RequestRecord]] = {}
    for one in requests:
        found.setdefault(one.step, []).append(one)
    return found


def _seen_by_step(folder: Path) -> Mapping[int, Any]:
    """Return what the agent saw after each step, by form; under -1 why that cannot be read."""
    try:
        return {int(line["step"]): _parts(line["parts"]) for line in _lines(folder)}
    except (StoreError, LookupError, TypeError, ValueError, AttributeError) as cause:
        why = cause.message if isinstance(cause, StoreError) else "its lines are no observations"
        return {-1: f"What the agent saw cannot be read: {_cut(why)}"}


def _lines(folder: Path) -> Iterable[Document]:
    return read_lines(folder / OBSERVATIONS_FILE)


def _parts(parts: Mapping[str, Any]) -> list[list[str | int]]:
    """Return name, beginning and the count of what was cut, of each form that has a text."""
    texts = {name: str(one["text"]) for name, one in parts.items() if one.get("text")}
    return [
        [name, text[:_LONGEST_TEXT], max(0, len(text) - _LONGEST_TEXT)]
        for name, text in texts.items()
    ]


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= _LONGEST_LINE:
        return text
    return f"{text[:_LONGEST_LINE]}… ({len(text):,} letters)"
