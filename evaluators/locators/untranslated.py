"""`by: untranslated`: what a published task asks for and no check of Arena's says yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from evaluators.evidence import Evidence, Located, StepEvidence
from evaluators.fields import When
from evaluators.lint import LintContext, Problem, Severity
from evaluators.locators.base import ReadingLocator, Subject
from evaluators.matchers.base import Matcher


class UntranslatedLocator(ReadingLocator):
    """Yields nothing, and says that nobody could look: the check is never met, and never unmet.

    So an imported task that is translated in part fails where the part fails, and is `unscored:
    check_error` where only the rest could tell; it never counts as a success. Compatible scorers
    do not look at it.

    Attributes:
        what: the field of the published task.
        why: why it is not translated.
    """

    phases: ClassVar[frozenset[When]] = frozenset(When)
    subject: ClassVar[Subject] = Subject.STATE

    by: Literal["untranslated"] = "untranslated"
    what: str
    why: str

    def at_step(self, check: str, step: StepEvidence) -> Located:  # noqa: ARG002 - the same at each
        return self._located(check)

    def at_end(self, check: str, evidence: Evidence) -> Located:  # noqa: ARG002 - the same always
        return self._located(check)

    def absence(self) -> str:
        """Say that the published task says it and the check does not."""
        return f"{self.what} is not translated: {self.why}"

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - none of it matters
        """Yield that the task cannot be a success of the strict score."""
        message = f"{self.what} is not translated ({self.why}): an episode that meets all else"
        yield Problem(("locate",), f"{message} is unscored, never a success", Severity.WARNING)

    def _located(self, check: str) -> Located:
        return Located(check=check, error=f"{self.what} is not translated: {self.why}")
