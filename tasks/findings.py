"""What the linter reports."""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.linting import Severity

Location = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake in a suite.

    Attributes:
        task: the task's id.
        where: file and line where the suite's file is known, the field's path otherwise.
    """

    severity: Severity
    task: str
    where: str
    message: str

    @property
    def is_error(self) -> bool:
        """Whether the task cannot be used as it is."""
        return self.severity is Severity.ERROR

    def __str__(self) -> str:
        return f"{self.where}: {self.severity}: task '{self.task}': {self.message}"


@dataclass(frozen=True, slots=True)
class TaskFault:
    """A mistake inside one task, at a field's path: `("checks", 2, "locate")`."""

    at: Location
    message: str
    severity: Severity = Severity.ERROR


def warning(at: Location, message: str) -> TaskFault:
    """Return a fault that asks to look again."""
    return TaskFault(at, message, Severity.WARNING)
