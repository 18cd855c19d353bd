"""Episodes on a study's page: one compact table, one document each, their screenshots."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from arena_core.errors import StoreError
from arena_core.worlds import World
from evaluators.changes import read_change, said
from evaluators.evidence import Located, Receipt, RequestNote, StepEvidence
from evaluators.network import RequestRecord
from evaluators.scores import Score
from evaluators.verdicts import CheckStatus, OutcomeKind, Verdict
from orchestrator.analysis.run_report.evidence import seen_texts
from orchestrator.analysis.stats.results import moment_of
from orchestrator.analysis.study_report.times import milliseconds
from orchestrator.analysis.wording import step_in_words
from orchestrator.runs.store.evidence_files import picture_path
from orchestrator.runs.store.rescoring import ScoredEpisode
from tasks.schema import Task

_LONGEST: Final = 240  # letters of a reason; the episode's own file has more of it
_STATUS: Final = {CheckStatus.MET: "m", CheckStatus.UNMET: "u", CheckStatus.UNKNOWN: "?"}
COLUMNS: Final = [
    "run",
    "agent",
    "task",
    "world",
    "repeat",
    "attempt",
    "outcome",
    "met",
    "nodes",
    "steps",
    "seconds",
    "usd",
    "tokens",
    "started",
    "because",
    "verdicts",
]
_LONGEST_TEXT: Final = 4000  # letters of what an agent saw in one form; the evidence has all of it
_LONGEST_LINE: Final = 1000
_MOST_REQUESTS: Final = 40  # of one step
_MOST_CHANGES: Final = 200
_PLAIN: Final = frozenset({"document", "xhr", "fetch", "websocket", "eventsource", "other"})
Document = dict[str, Any]


@dataclass(slots=True)
class EpisodeIndex:
    """The table as it grows, an episode at a time.

    A row is a list in the order of `COLUMNS`; what repeats stands once in a list of its own, and
    its place in a row.
    """

    agents: dict[str, int] = field(default_factory=dict)
    tasks: dict[tuple[str, str], int] = field(default_factory=dict)
    about_tasks: list[dict[str, Any]] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    rows: list[list[Any]] = field(default_factory=list)

    def add(self, *, run: int, agent: str, suite: str, scored: ScoredEpisode) -> None:
        """Add an episode of the run with this number."""
        evidence, score = scored.outline, scored.score
        began = None if scored.is_unreadable else moment_of(evidence.started_at)
        verdicts = {one.check: _STATUS[shown_status(one, score)] for one in score.verdicts}
        checks = self._checks(suite, scored.task)
        self.rows.append(
            [
                run,
                _place(self.agents, agent),
                self.tasks[suite, scored.task.id],
                tuple(World).index(scored.key.world),
                scored.key.repeat,
                evidence.attempt,
                _place(self.outcomes, str(score.outcome)),
                score.key_nodes_met,
                score.key_nodes,
                score.steps,
                round(evidence.played_seconds, 1),
                evidence.usd,
                evidence.input_tokens + evidence.output_tokens,
                None if began is None else round(began, 1),
                _place(self.reasons, _cut_reason(score.because)),
                "".join(verdicts.get(name, "-") for name in checks),
            ]
        )

    def document(self) -> dict[str, Any]:
        """Return the table for the page."""
        return {
            "columns": COLUMNS,
            "agents": list(self.agents),
            "worlds": [world.value for world in World],
            "tasks": self.about_tasks,
            "outcomes": list(self.outcomes),
            "reasons": list(self.reasons),
            "rows": self.rows,
        }

    def _checks(self, suite: str, task: Task) -> list[str]:
        """Return the names of a task's checks; the task is entered where it is new.

        Runs of other versions of a suite may have further checks: these follow the first ones.
        """
        key = (suite, task.id)
        if key not in self.tasks:
            self.tasks[key] = len(self.tasks)
            self.about_tasks.append(
                {
                    "id": task.id,
                    "suite": suite,
                    "intent": task.intent,
                    "sites": list(task.sites),
                    "family": task.family.value,
                    "template": task.template,
                    "checks": [],
                }
            )
        checks: list[str] = self.about_tasks[self.tasks[key]]["checks"]
        checks += [check.name for check in task.checks if check.name not in checks]
        return checks


def shown_status(verdict: Verdict, score: Score) -> CheckStatus:
    """Return whether a check is met; what an unscored episode left unmet is not known.

    It broke off, or should not have begun: that something is not there says nothing of the agent.
    """
    if verdict.status is CheckStatus.UNMET and score.outcome.kind is OutcomeKind.UNSCORED:
        return CheckStatus.UNKNOWN
    return verdict.status


def _place(known: dict[str, int], text: str) -> int:
    return known.setdefault(text, len(known))


def _cut_reason(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def episode_document(
    scored: ScoredEpisode, shots: Mapping[str, str | None], evidence_folder: Path
) -> Document:
    """Return an episode for the page; each of its names is the page's own, never the evidence's.

    Args:
        evidence_folder: where its observations are read from.
    """
    evidence, score = scored.evidence, scored.score
    seen = _seen_by_step(evidence_folder)
    asked = _requests_by_step(evidence.network or ())
    return {
        "attempt": evidence.attempt,
        "startedAt": evidence.started_at,
        "seconds": evidence.played_seconds,
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
        "strategy": receipt.strategy,
        "seconds": receipt.seconds,
        "waited": receipt.waited,
        "proven": receipt.proven,
        "start": receipt.is_start,
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
    kept = [one for one in requests if one.resource_type in _PLAIN or one.method != "GET"]
    return {
        "index": step.index,
        "action": _cut(step_in_words(step)),
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
        "ms": [round(one) for one in milliseconds(step.timings)],
    }


def _note(note: RequestNote) -> list[str]:
    what = f"refused: {note.refused}" if note.refused else "may have written"
    return [_cut(f"{note.method} {note.url}") or "", _cut(what) or ""]


def _request(request: RequestRecord) -> list[str]:
    status = "no answer" if request.status is None else str(request.status)
    return [
        _cut(f"{request.method} {request.url}") or "",
        _cut(request.blocked or request.failed) or status,
    ]


def _requests_by_step(requests: Iterable[RequestRecord]) -> Mapping[int, list[RequestRecord]]:
    found: dict[int, list[RequestRecord]] = {}
    for one in requests:
        found.setdefault(one.step, []).append(one)
    return found


def _seen_by_step(folder: Path) -> Mapping[int, Any]:
    """Return what the agent saw after each step; under -1 why that cannot be read.

    Of each form, its name, its beginning and the count of what was cut.
    """
    try:
        found = seen_texts(folder)
    except StoreError as unreadable:
        return {-1: f"What the agent saw cannot be read: {_cut(unreadable.message)}"}
    return {
        step: [
            [form, text[:_LONGEST_TEXT], max(0, len(text) - _LONGEST_TEXT)]
            for form, text in texts.items()
        ]
        for step, texts in found.items()
    }


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= _LONGEST_LINE:
        return text
    return f"{text[:_LONGEST_LINE]}… ({len(text):,} characters)"


@dataclass(frozen=True, slots=True)
class Screenshots:
    """The screenshots of one run, for a page in `page`.

    They are left where they are if the run lies in the folder that holds the page's, as the runs of
    a study do: both are moved and sent together. Otherwise they are placed beside the page, in
    `copies`: as hard links on the same disk, which take no room, else as copies.
    """

    run: Path
    page: Path
    copies: Path

    @property
    def stay(self) -> bool:
        """Whether the run's files are referred to where they are."""
        return self.run.resolve().is_relative_to(self.page.resolve().parent)

    def base(self, attempt: str, names: tuple[str, ...]) -> str:
        """Return where an attempt's screenshots are, as a relative URL that ends in a slash."""
        folder = self.run / "evidence" / attempt
        if not self.stay:
            copies = self.copies / attempt
            for name in names:
                _target(folder / name, copies / name)
            folder = copies
        return f"{_url(folder, self.page)}/"

    def there(self, attempt: str, name: str | None) -> str | None:
        """Return the name of a screenshot that is there; None for any other."""
        found = picture_path(self.run / "evidence" / attempt, name)
        return None if found is None else found.name


def _url(path: Path, page: Path) -> str:
    relative = os.path.relpath(path.resolve(), page.resolve())
    return "/".join(quote(part, safe="") for part in Path(relative).parts)


def _target(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        with suppress(OSError):  # another disk, or one without links
            os.link(source, target)
            return
        shutil.copyfile(source, target)
    except OSError as cause:
        message = f"{target}: a screenshot cannot be copied there: {cause.strerror}"
        raise StoreError(message) from cause
