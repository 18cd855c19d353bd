"""Why an episode failed: where it left every path known to succeed, and classes, by rule.

No model judges. What the evidence does not show gets no label, and an episode may have several.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby
from typing import Final

from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence, StepEvidence
from evaluators.fields import in_world
from evaluators.verdicts import CheckStatus, OutcomeKind, Verdict
from orchestrator.analysis.run_report.run_report import RunReport, TaskRow
from orchestrator.analysis.wording import step_in_words
from orchestrator.runs.store.rescoring import ScoredEpisode
from tasks.reference import GotoPage, ReferenceAction
from tasks.schema import Task

_REFERENCE: Final = "the reference"
_MOST_KNOWN: Final = 3
_LOOP: Final = 3
_AN_ERROR: Final = 500
_LONGEST: Final = 120
# Done again and again for good reasons, and what ends an episode.
_FREE: Final = frozenset({"scroll", "wait", "back", "forward", "press", "stop", "infeasible"})
_ENDS: Final = frozenset({"stop", "infeasible"})

Deed = tuple[str, ...]


class FailureClass(StrEnum):
    """What an episode failed by.

    `no effect`: the step that left the known paths could not be done, or several could not.
    `misread page`: all that decides is met but the answer, which is another value.
    `wrong page`: a check wanted another page, or it went where no success went.
    `wrong answer form`: the answer holds what was asked for, in words that the check does not take.
    `stopped early`: it ended itself on a known path that continues, or said that the task cannot be
    done. `loop`: the same deed on the same page, three times in a row, led nowhere. `limit`: its
    steps or its time ran out. `forbidden`: it changed what the task does not allow, or a write was
    refused. `environment`: a page answered 5xx or was not ready at the step that left the known
    paths. `harness`: the agent's own program crashed or gave up. `unexplained`: none of these.
    """

    NO_EFFECT = "no effect"
    MISREAD = "misread page"
    WRONG_PAGE = "wrong page"
    ANSWER_FORM = "wrong answer form"
    STOPPED_EARLY = "stopped early"
    LOOP = "loop"
    LIMIT = "limit"
    FORBIDDEN = "forbidden"
    ENVIRONMENT = "environment"
    HARNESS = "harness"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class FailureLabel:
    """A class of failure, and the evidence for it in one sentence."""

    kind: FailureClass
    because: str


@dataclass(frozen=True, slots=True)
class Left:
    """Where an episode left the path known to succeed that it followed furthest.

    A detour from which it came back is no leaving.

    Attributes:
        step: its index; the last one where it did no more.
        path: `the reference`, or the world and repeat of a success.
        did: what it did there.
        instead: what that path does next; None where it ends there too.
    """

    step: int
    path: str
    did: str
    instead: str | None

    def __str__(self) -> str:
        there = "ends" if self.instead is None else f"continues with: {self.instead}"
        return f"step {self.step}: {self.did}; {self.path} {there}"


@dataclass(frozen=True, slots=True)
class FailureCause:
    """Why an episode failed; `left` is None where no path is known to succeed."""

    left: Left | None
    labels: tuple[FailureLabel, ...]

    @property
    def kinds(self) -> str:
        """The classes in words."""
        return ", ".join(one.kind for one in self.labels)


@dataclass(frozen=True, slots=True)
class _Known:
    """A path that succeeds; `pages` is empty where it says none."""

    name: str
    deeds: tuple[Deed, ...]
    words: tuple[str, ...]
    pages: frozenset[str] = frozenset()


def failure_causes(report: RunReport) -> dict[str, FailureCause]:
    """Return why episodes failed, by the folder of the evidence of each that did."""
    found: dict[str, FailureCause] = {}
    for row in report.rows:
        for world, played in row.episodes.items():
            failed = [one for one in played if one.score.outcome.kind is OutcomeKind.FAILURE]
            known = _known(row, world) if failed else ()
            found |= {one.folder: failure_cause(one, known) for one in failed}
    return found


def counted_causes(found: Iterable[FailureCause]) -> dict[FailureClass, int]:
    """Count episodes by class, the most frequent first; one with several counts in each."""
    return dict(Counter(label.kind for one in found for label in one.labels).most_common())


def causes_in_words(found: Iterable[FailureCause]) -> str:
    """Return the count of episodes by class in words."""
    return ", ".join(f"{kind} {count}" for kind, count in counted_causes(found).items())


def failure_cause(episode: ScoredEpisode, known: Sequence[_Known]) -> FailureCause:
    """Return why an episode failed, held against the paths of its task that succeed."""
    found = _Failure.of(episode, known)
    labels = tuple(found.labels())
    if not labels:
        labels = (FailureLabel(FailureClass.UNEXPLAINED, episode.score.because),)
    return FailureCause(found.left, labels)


def _known(row: TaskRow, world: World) -> tuple[_Known, ...]:
    """Return the reference, and the first successes of the run in that world."""
    won = [one for one in row.episodes[world] if one.score.outcome.kind is OutcomeKind.SUCCESS]
    reference = _reference(row.task, world)
    return (
        *(() if reference is None else (reference,)),
        *(_success(one) for one in won[:_MOST_KNOWN]),
    )


def _success(episode: ScoredEpisode) -> _Known:
    steps = [one for one in episode.evidence.steps[1:] if _kind(one) not in _ENDS]
    return _Known(
        f"repeat {episode.key.repeat}, a success,",
        tuple(map(_deed, steps)),
        tuple(map(step_in_words, steps)),
        frozenset(map(_page, episode.evidence.steps)),
    )


def _reference(task: Task, world: World) -> _Known | None:
    actions = [one for one in task.reference_actions if one.only in {None, world}]
    if not actions or any(one.do == "wob" for one in actions):
        return None
    done = [one for one in actions if one.do not in _ENDS]
    deeds = tuple(_said(one, world) for one in done)
    return _Known(_REFERENCE, deeds, tuple(" ".join(filter(None, one)) for one in deeds))


def _said(action: ReferenceAction, world: World) -> Deed:
    if isinstance(action, GotoPage):
        return ("goto", _in(action.page, world))
    words = (getattr(action, name, "") for name in ("role", "name", "text", "option"))
    return (str(action.do), *(_in(one, world) for one in words))


def _in(text: object, world: World) -> str:
    return str(in_world(text, world))


def _deed(step: StepEvidence) -> Deed:
    """Return what was done in the words of a reference: by role and name, not by number."""
    kind = _kind(step)
    if kind == "goto":
        return (kind, _page(step))
    element = step.acted[0] if step.acted else None
    said = step.action.model_dump(include={"text", "options"}) if step.action else {}
    option = " ".join(said.get("options") or ())
    role, name = (element.role, element.name) if element else ("", "")
    return (kind, role, name, str(said.get("text") or ""), option)


def _kind(step: StepEvidence) -> str:
    return "" if step.action is None else str(step.action.kind)


def _page(step: StepEvidence) -> str:
    return step.logical or step.url


@dataclass(frozen=True, slots=True)
class _Failure:
    """A failed episode beside the known path that it followed furthest.

    Attributes:
        steps: what the agent did, without the opening and without its end.
        same: how many of them stand on that path, up to the last that does.
        path: None where none is known; `next`: what it does there, empty where it ends.
    """

    episode: ScoredEpisode
    evidence: Evidence
    steps: tuple[StepEvidence, ...]
    same: int
    path: _Known | None
    next: str
    pages: frozenset[str]

    @classmethod
    def of(cls, episode: ScoredEpisode, known: Sequence[_Known]) -> _Failure:
        evidence = episode.evidence
        steps = tuple(one for one in evidence.steps[1:] if _kind(one) not in _ENDS)
        mine = tuple(map(_deed, steps))
        best, path, same, following = -1, None, 0, ""
        for one in known:
            blocks = SequenceMatcher(None, mine, one.deeds, autojunk=False).get_matching_blocks()
            count, last = sum(block.size for block in blocks), blocks[-2:-1]
            if count > best:
                at = last[0].b + last[0].size if last else 0
                best, path = count, one
                same = last[0].a + last[0].size if last else 0
                following = one.words[at] if at < len(one.words) else ""
        pages = frozenset(page for one in known for page in one.pages)
        return cls(episode, evidence, steps, same, path, following, pages)

    @property
    def parted(self) -> StepEvidence | None:
        """The step that left the known path; None where it did no more, or none is known."""
        return self.steps[self.same] if self.path and self.same < len(self.steps) else None

    @property
    def left(self) -> Left | None:
        if self.path is None or not self.evidence.steps:
            return None
        step = self.parted or self.evidence.steps[-1]
        ending = self.evidence.ended or "nothing more"
        did = step_in_words(step) if _kind(step) in _ENDS or self.parted else str(ending)
        return Left(step.index, self.path.name, _short(did), self.next or None)

    def labels(self) -> Iterator[FailureLabel]:
        """Yield each class that the evidence shows."""
        for kind, rule in (
            (FailureClass.HARNESS, self._harness),
            (FailureClass.ENVIRONMENT, self._environment),
            (FailureClass.NO_EFFECT, self._no_effect),
            (FailureClass.LOOP, self._loop),
            (FailureClass.LIMIT, self._limit),
            (FailureClass.FORBIDDEN, self._forbidden),
            (FailureClass.WRONG_PAGE, self._wrong_page),
            (FailureClass.STOPPED_EARLY, self._stopped_early),
            (FailureClass.ANSWER_FORM, self._answer_form),
            (FailureClass.MISREAD, self._misread),
        ):
            because = rule()
            if because is not None:
                yield FailureLabel(kind, _short(because))

    def _harness(self) -> str | None:
        if self.evidence.ended in {Ended.AGENT_CRASHED, Ended.AGENT_GAVE_UP}:
            return f"{self.evidence.ended}: {self.evidence.ended_because or 'no reason given'}"
        return None

    def _environment(self) -> str | None:
        broken = next((one for one in self.evidence.steps if (one.status or 0) >= _AN_ERROR), None)
        if broken is not None:
            return f"step {broken.index}: the page answered {broken.status}"
        if self.parted is not None and not self.parted.settled:
            return f"step {self.parted.index}: the page was not ready in time"
        return None

    def _no_effect(self) -> str | None:
        failed = [one for one in self.steps if one.error is not None]
        if self.parted is not None and self.parted.error is not None:
            failed = [self.parted]
        elif len(failed) < 2:  # noqa: PLR2004 - one may be put right
            return None
        return f"step {failed[0].index} could not be done: {failed[0].error}"

    def _loop(self) -> str | None:
        before = (*self.evidence.steps[:1], *self.steps)
        keys = [
            (_deed(step), _page(last)) if _page(last) == _page(step) else (("", str(at)), "")
            for at, (last, step) in enumerate(zip(before, self.steps, strict=False))
        ]
        for (deed, page), group in groupby(keys):
            count = len(list(group))
            if count >= _LOOP and deed[0] not in _FREE:
                return f"{count} times in a row on {page}: {' '.join(filter(None, deed))}"
        return None

    def _limit(self) -> str | None:
        if self.evidence.ended in {Ended.STEP_LIMIT, Ended.DEADLINE}:
            return self.evidence.ended_because or str(self.evidence.ended)
        return None

    def _forbidden(self) -> str | None:
        found = self.episode.collateral
        if found is not None and found.counts:
            changed = ", ".join(f"{count} {kind}" for kind, count in found.counts)
            return f"changed beside what the task allows: {changed}"
        notes = [note for one in self.steps for note in one.notes if note.may_write]
        refused = next((note for note in notes if note.refused), None)
        return None if refused is None else f"a write was refused: {refused.refused}"

    def _wrong_page(self) -> str | None:
        for verdict in self._unmet():
            if self._located_by(verdict) == "url":
                return f"check {verdict.check} wants {verdict.expected}: {verdict.reason}"
        step = self.parted
        if self.pages and step is not None and not step.error and _page(step) not in self.pages:
            return f"step {step.index} came to {_page(step)}, where no success went"
        return None

    def _stopped_early(self) -> str | None:
        if self.evidence.ended is Ended.INFEASIBLE and self._may_be_done:
            return "it said that the task cannot be done"
        is_unmet = any(self._located_by(one) != "answer" for one in self._unmet())
        if self.evidence.ended is Ended.STOPPED and self.next and self.parted is None and is_unmet:
            return f"{self.path.name if self.path else ''} continues with: {self.next}"
        return None

    @property
    def _may_be_done(self) -> bool:
        return not any(one.do == "infeasible" for one in self.episode.task.reference_actions)

    def _answer_form(self) -> str | None:
        said = " ".join(_tokens(self.evidence.answer or ""))
        for verdict in self._unmet():
            wanted = " ".join(_tokens(verdict.expected))
            if self._located_by(verdict) == "answer" and wanted and f" {wanted} " in f" {said} ":
                return f"the answer holds {verdict.expected!r}: {verdict.reason}"
        return None

    def _misread(self) -> str | None:
        unmet = list(self._unmet())
        answered = [one for one in unmet if self._located_by(one) == "answer"]
        score = self.episode.score
        is_there = len(answered) == len(unmet) and score.key_nodes_met == score.key_nodes
        if not answered or not is_there or not self.evidence.answer or self._answer_form():
            return None
        return f"all else is met, and it answered {self.evidence.answer!r}"

    def _unmet(self) -> Iterator[Verdict]:
        for one in self.episode.score.verdicts:
            if one.decides and one.status is CheckStatus.UNMET:
                yield one

    def _located_by(self, verdict: Verdict) -> str:
        checks = self.episode.task.checks
        return next((str(one.locate.by) for one in checks if one.name == verdict.check), "")


def _tokens(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
