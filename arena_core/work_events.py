"""What long work reports about each of its units (an image, a replica, a point of the contract)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkPlanned:
    """So many units more are to be done."""

    units: int


@dataclass(frozen=True, slots=True)
class WorkStep:
    """A unit is at a step: number `step` of `steps`, where they are counted."""

    unit: str
    text: str
    step: int = 0
    steps: int = 0


@dataclass(frozen=True, slots=True)
class WorkOutput:
    """A line that a program printed while a unit was done, such as a build's."""

    unit: str
    line: str


@dataclass(frozen=True, slots=True)
class WorkEnded:
    """A unit is done, or has failed."""

    unit: str


@dataclass(frozen=True, slots=True)
class WorkLine:
    """The same as a line of text, for whoever shows no live display."""

    text: str


WorkEvent = WorkPlanned | WorkStep | WorkOutput | WorkEnded | WorkLine
OnWork = Callable[[WorkEvent], None]


def ignore_work(event: WorkEvent) -> None:
    """Report nothing to anybody."""
