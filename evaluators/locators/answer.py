"""`by: answer`: what the agent stopped with."""

from __future__ import annotations

from typing import ClassVar, Literal

from evaluators.evidence import Evidence, Located
from evaluators.locators.base import ReadingLocator, Subject


class AnswerLocator(ReadingLocator):
    """Yields the answer the agent stopped with; nothing where it gave none."""

    subject: ClassVar[Subject] = Subject.ANSWER

    by: Literal["answer"] = "answer"

    def at_end(self, check: str, evidence: Evidence) -> Located:
        """Return the answer."""
        answer = () if evidence.answer is None else (evidence.answer,)
        return Located(check=check, values=answer)

    def absence(self) -> str:
        """Say that there was no answer."""
        return "the agent gave no answer"
