"""What a compatible scorer is: the published arithmetic of a benchmark over Arena's evidence.

The scorers share how the published code crashes, and what evidence cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final, Protocol, runtime_checkable

from pydantic import Field, JsonValue

from arena_core.plugins import ExtensionPoint, Group, filling
from evaluators.evidence import Ended, Evidence
from evaluators.fields import Slug
from evaluators.judgements import JudgeQuestion
from sites.fields import Strict, written

Sha256 = Annotated[str, written(r"[0-9a-f]{64}", "a SHA-256 in 64 hexadecimal digits")]


# What Python raises on a record that is not as the published code takes it for.
_OF_PYTHON = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)


class OriginalTask(Strict):
    """One task as its publisher wrote it, unchanged: all that a compatible scorer scores by.

    Attributes:
        format: of the published set, as `arena tasks import` names it: `webarena`.
        id: the task's own id, as text.
        file_sha256: of the file that it was read from.
        revision: the publisher's version or commit, where the file says one.
        template: the publisher's id of the template that it is an instance of.
        record: the whole entry.
        bases: what a placeholder or host of the record stands for in the URLs of the replicas, as a
            browser shows them and without a slash at the end: `__SHOPPING_ADMIN__` is
            `http://shop.arena.test/admin`.
        untranslated: what of it Arena's own checks do not say, and why, one line each.
        errata: what Arena's own checks say otherwise than the record, since that is wrong.
    """

    format: Slug
    id: str
    file_sha256: Sha256
    revision: str | None = None
    template: str | None = None
    record: dict[str, JsonValue]
    bases: dict[str, str] = Field(default_factory=dict)
    untranslated: tuple[str, ...] = Field(default=())
    errata: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)


class ScorerStatus(StrEnum):
    """Whether the published code gives a score.

    `crash`: it would raise, and `because` says what. `unscored`: what it would have looked at is
    not in the evidence, the attempt broke off, or a judge is missing; the published code has no
    such case, so no number stands for it.
    """

    SCORED = "scored"
    CRASH = "crash"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerResult:
    """What an episode is worth by a scorer.

    Attributes:
        value: the published score of the episode; None unless `status` is `scored`.
        because: one sentence that names what decided it.
        metrics: further figures of the published code, by its names.
    """

    status: ScorerStatus
    value: float | None
    because: str
    metrics: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class Scorer(Protocol):
    """Scores episodes of imported tasks; a pure function of what it is given.

    Attributes:
        name: as `arena score --scorer` takes it.
        formats: of the tasks that it can read, as in `OriginalTask.format`.
    """

    name: str
    formats: frozenset[str]

    def questions(self, original: OriginalTask, evidence: Evidence) -> Sequence[JudgeQuestion]:
        """Return what a model must judge before the episode can be scored."""

    def score(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> ScorerResult:
        """Score one episode.

        Args:
            original: the published task.
            evidence: of the episode.
            judged: the model's reply by the key of its question.
        """

    def aggregate(self, scores: Sequence[ScorerResult]) -> Mapping[str, float | None]:
        """Return the published figures of a whole run, by their published names."""


class UnjudgedScorer:
    """The part of scorers for which no model judges."""

    def questions(self, original: OriginalTask, evidence: Evidence) -> Sequence[JudgeQuestion]:
        """Return nothing."""
        del original, evidence
        return ()


SCORERS: Final[ExtensionPoint[Scorer]] = ExtensionPoint(Group.SCORERS, "scorer", filling(Scorer))


class PublishedCrashError(Exception):
    """The published code would raise; the message is its exception, `KeyError: 'url'`."""


class NotInEvidenceError(Exception):
    """What the published code would look at was not recorded."""


@dataclass(frozen=True, slots=True)
class Worth:
    """A value, and the one sentence that says what decided it."""

    value: float
    because: str
    metrics: Mapping[str, float] = field(default_factory=dict)


@contextmanager
def as_published() -> Iterator[None]:
    """Take an exception of Python's inside for one that the published code would raise there.

    Only a restatement of published statements, one by one over the unchanged record, stands inside.
    """
    try:
        yield
    except _OF_PYTHON as raised:
        said = f"{type(raised).__name__}: {raised}" if str(raised) else type(raised).__name__
        raise PublishedCrashError(said) from raised


def scorer_result(evidence: Evidence, compute: Callable[[], Worth]) -> ScorerResult:
    """Score an episode that was played to its end by `compute`; what it raises says how it went."""
    if evidence.fault is not None:
        return unscored(f"the attempt broke off: {evidence.fault.because}")
    if evidence.ended is Ended.NOT_STARTED:
        return unscored("the episode did not start: what the task requires did not hold")
    if evidence.ended is Ended.AGENT_CRASHED:
        return crash(
            f"the agent's own exception ends the published runner: {evidence.ended_because}"
        )
    try:
        worth = compute()
    except PublishedCrashError as crashed:
        return crash(f"the published code raises {crashed}")
    except NotInEvidenceError as missing:
        return unscored(str(missing))
    return ScorerResult(
        status=ScorerStatus.SCORED,
        value=worth.value,
        because=worth.because,
        metrics=worth.metrics,
    )


def crash(because: str) -> ScorerResult:
    """Return the score of an episode on which the published code gives none."""
    return ScorerResult(status=ScorerStatus.CRASH, value=None, because=because)


def unscored(because: str) -> ScorerResult:
    """Return the score of an episode whose evidence does not hold what is needed."""
    return ScorerResult(status=ScorerStatus.UNSCORED, value=None, because=because)


def mean_of_scored(scores: Sequence[ScorerResult]) -> float | None:
    """Return the mean value of those that have one; None where none has."""
    values = [one.value for one in scores if one.value is not None]
    return sum(values) / len(values) if values else None


def replaced(value: JsonValue, by: Mapping[str, str]) -> JsonValue:
    """Replace every text of `by` in all strings of a JSON value, as the published scripts do."""
    match value:
        case str():
            for text, other in by.items():
                value = value.replace(text, other)
            return value
        case list():
            return [replaced(one, by) for one in value]
        case dict():
            return {name: replaced(one, by) for name, one in value.items()}
        case _:
            return value
