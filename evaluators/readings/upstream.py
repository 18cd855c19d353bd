"""What the readings of published code share: how it crashes, and what evidence cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from pydantic import JsonValue

from evaluators.evidence import Ended, Evidence
from evaluators.readings.base import ReadingScore, ReadingStatus

# What Python raises on a record that is not as the published code takes it for.
_OF_PYTHON = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)


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

    Raises:
        PublishedCrashError: in place of it.
    """
    try:
        yield
    except _OF_PYTHON as raised:
        said = f"{type(raised).__name__}: {raised}" if str(raised) else type(raised).__name__
        raise PublishedCrashError(said) from raised


def reading_score(evidence: Evidence, compute: Callable[[], Worth]) -> ReadingScore:
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
    return ReadingScore(
        status=ReadingStatus.SCORED,
        value=worth.value,
        because=worth.because,
        metrics=worth.metrics,
    )


def crash(because: str) -> ReadingScore:
    """Return the score of an episode on which the published code gives none."""
    return ReadingScore(status=ReadingStatus.CRASH, value=None, because=because)


def unscored(because: str) -> ReadingScore:
    """Return the score of an episode whose evidence does not hold what is needed."""
    return ReadingScore(status=ReadingStatus.UNSCORED, value=None, because=because)


def mean_of_scored(scores: Sequence[ReadingScore]) -> float | None:
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
