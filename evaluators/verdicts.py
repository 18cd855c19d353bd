"""The result of one check, and the outcome of an episode."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from evaluators.checks import When
from evaluators.evidence import UnscoredReason


class Standing(StrEnum):
    """Whether a check is met; `unknown` where it could not be looked at."""

    MET = "met"
    UNMET = "unmet"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of one check, with its reason.

    Attributes:
        step: the first step that met a key node; None otherwise.
        found: what the locator found, shortened for reading.
        expected: what was asked for, as text.
    """

    check: str
    when: When
    standing: Standing
    reason: str
    step: int | None = None
    found: tuple[str, ...] = ()
    expected: str = ""


class OutcomeKind(StrEnum):
    """The three outcomes an episode can have."""

    SUCCESS = "success"
    FAILURE = "failure"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Success, failure, or unscored with its reason. An exception never becomes a zero."""

    kind: OutcomeKind
    reason: UnscoredReason | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}" if self.reason else str(self.kind)
