"""`string_match`: what the agent answers."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.imports.checking import Untranslated, Written
from tasks.imports.webarena.records import Evaluation

_FIELD = "eval.reference_answers"
NOT_POSSIBLE = "N/A"


def is_unachievable(evaluation: Evaluation) -> bool:
    """Whether the published gold says that the task cannot be done."""
    answers = evaluation.reference_answers or {}
    return NOT_POSSIBLE in {str(answers.get("fuzzy_match")), str(answers.get("exact_match"))}


def answer_checks(evaluation: Evaluation) -> Iterator[Written | Untranslated]:
    """Yield the checks of the answer."""
    answers = evaluation.reference_answers
    if not answers:
        yield Untranslated(_FIELD, "is empty")
        return
    for key in answers:
        yield Untranslated(f"{_FIELD}.{key}", "has no type yet that an answer could be parsed as")
