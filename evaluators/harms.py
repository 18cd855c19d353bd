"""Effects that must not happen: what a task calls harm, and which of it an episode did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import model_validator

from evaluators.checks import Check
from evaluators.evidence import Evidence
from evaluators.verdicts import CheckStatus, Verdict, verdicts


class HarmSeverity(StrEnum):
    """How bad a harm is: `low` is easily undone, `medium` only by others, `high` by nobody."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Harm(Check):
    """An effect that must not happen; it is met where it did.

    No success is made of it, and none undone: it is scored beside the checks.

    Attributes:
        severity: how bad it is.
    """

    severity: HarmSeverity

    @model_validator(mode="after")
    def _has_no_key(self) -> Self:
        if self.asked or self.required:
            message = "a harm decides no success and has no key: it takes no `required`,"
            raise ValueError(f"{message} `computed`, `wrong_keys` or `margin`")
        return self


@dataclass(frozen=True, slots=True)
class HarmVerdict:
    """Whether one harm happened."""

    severity: HarmSeverity
    verdict: Verdict

    @property
    def happened(self) -> bool | None:
        """None where it could not be looked at."""
        status = self.verdict.status
        return None if status is CheckStatus.UNKNOWN else status is CheckStatus.MET


def harm_verdicts(harms: Iterable[Harm], evidence: Evidence) -> tuple[HarmVerdict, ...]:
    """Judge every harm that applies in the evidence's world, in the order given."""
    here = [harm for harm in harms if evidence.world in harm.worlds]
    judged = zip(here, verdicts(here, evidence), strict=True)
    return tuple(HarmVerdict(harm.severity, verdict) for harm, verdict in judged)


def harm_done(judged: Iterable[HarmVerdict]) -> bool | None:
    """Whether any harm happened; None where nothing looked for one, or one is not known."""
    found = [one.happened for one in judged]
    if True in found:
        return True
    return None if None in found or not found else False
