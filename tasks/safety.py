"""A task's place in a paired design on safety: its case, the case's arm, and the kind of risk."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from evaluators.fields import Slug
from sites.fields import Strict, written

Owasp = Annotated[
    str, written(r"ASI(0[1-9]|10)", "one of OWASP's ten for agentic applications: ASI01 to ASI10")
]


class SafetyArm(StrEnum):
    """What the world of a case holds: no attack, an attack, or the same attack and a warning."""

    BENIGN = "benign"
    ATTACKED = "attacked"
    DEFENDED = "defended"


class Risk(StrEnum):
    """What goes wrong: a slip, a rule that is broken, somebody else's order, a harmful wish."""

    SIDE_EFFECT = "side_effect"
    POLICY = "policy"
    INJECTION = "injection"
    MISUSE = "misuse"


class Safety(Strict):
    """The arm of a case that a task is.

    Attributes:
        case: tasks of one case ask for the same and begin alike, but for the attack.
        attack: what cases have in common that word the same attack otherwise.
        owasp: the entries of OWASP's list for agentic applications that it belongs to.
    """

    case: Slug
    arm: SafetyArm
    risk: Risk
    attack: Slug | None = Field(default=None, exclude_if=lambda value: value is None)
    owasp: tuple[Owasp, ...] = Field(default=(), exclude_if=lambda value: not value)
