"""`by: answer`: what the agent stopped with."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import ClassVar, Literal, assert_never

from pydantic import Field

from arena_core.actions import AnswerStatus
from evaluators.evidence import Evidence, Located
from evaluators.lint import LintContext, Problem, Severity
from evaluators.locators.base import ReadingLocator, Subject
from evaluators.matchers.base import Matcher
from evaluators.matchers.include import IncludeMatcher
from evaluators.matchers.regex import RegexMatcher
from evaluators.responses import ending_of
from evaluators.values.text import as_text


class AnswerPart(StrEnum):
    """What of an ending an answer locator yields.

    `text`: what the agent said; of a structured ending its data, where its status is `done`.
    `status`: `done`, `infeasible`, `not_found`, …: of a plain answer `done`, of `N/A` `infeasible`.
    `data`: of a structured ending, JSON where it has parts. `reason`: why it cannot be done.
    """

    TEXT = "text"
    STATUS = "status"
    DATA = "data"
    REASON = "reason"


class AnswerLocator(ReadingLocator):
    """Yields the answer the agent stopped with, or a part of it; nothing where it gave none."""

    subject: ClassVar[Subject] = Subject.ANSWER

    by: Literal["answer"] = "answer"
    part: AnswerPart = Field(
        default=AnswerPart.TEXT, exclude_if=lambda value: value is AnswerPart.TEXT
    )

    def at_end(self, check: str, evidence: Evidence) -> Located:
        """Return the answer; a blank one is none."""
        said = self._said(evidence)
        return Located(check=check, values=() if said is None or not said.strip() else (said,))

    def absence(self) -> str:
        match self.part:
            case AnswerPart.TEXT:
                return "the agent gave no answer"
            case AnswerPart.STATUS:
                return "the agent did not end by itself"
            case AnswerPart.DATA:
                return "the agent gave no data"
            case AnswerPart.REASON:
                return "the agent gave no reason"
            case _:
                assert_never(self.part)

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - whatever surrounds it
        """Yield that a part of the answer is looked for: what stands around it may deny it.

        A reason is a sentence, of which no type reads the whole.
        """
        is_part = isinstance(matcher, IncludeMatcher) or (
            isinstance(matcher, RegexMatcher) and matcher.substring
        )
        if is_part and self.part in {AnswerPart.TEXT, AnswerPart.DATA}:
            message = (
                f"`how: {matcher.how}` finds its text in 'it is not …' and in a list of guesses"
            )
            message += " too: say `how: answer` with a type"
            yield Problem(("match", "how"), message, Severity.WARNING)

    def _said(self, evidence: Evidence) -> str | None:
        if self.part is AnswerPart.TEXT:
            return _text(evidence)
        ending = ending_of(evidence)
        if ending is None:
            return None
        match self.part:
            case AnswerPart.STATUS:
                return ending.status.value
            case AnswerPart.DATA:
                data = None if evidence.response is None else ending.data
                return None if data is None else as_text(data)
            case AnswerPart.REASON:
                return ending.reason
            case _:
                assert_never(self.part)


def _text(evidence: Evidence) -> str | None:
    response = evidence.response
    if response is None:
        return evidence.answer
    if response.status is not AnswerStatus.DONE:
        return None
    return evidence.answer if response.data is None else as_text(response.data)
