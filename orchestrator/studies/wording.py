"""What a study asks and answers in short words, the same in the terminal, tables and figures."""

from __future__ import annotations

from typing import Final, assert_never

from orchestrator.stats.equivalence import Decision
from orchestrator.studies.findings import Answer
from orchestrator.studies.questions import Question, QuestionKind

_SMALL_P: Final = 0.001


def points(share: float | None, *, signed: bool = True) -> str:
    """Return a difference of shares in percentage points, a dash where there is none."""
    if share is None:
        return "–"
    value = 100 * share
    # A whole number where it is one or large; small ones keep a digit, so that 0.4 is no 0.
    digits = 0 if abs(value - round(value)) < 1e-9 or abs(value) >= 10 else 1  # noqa: PLR2004
    said = f"{value:+.{digits}f}" if signed else f"{abs(value):.{digits}f}"
    return said.lstrip("+-") if float(said) == 0 else said.replace("-", "−")


def p_value(p: float) -> str:
    """Return a p with three digits; a smaller one as `< 0.001`."""
    return "< 0.001" if p < _SMALL_P else f"{p:.3f}"


def p_said(p: float | None) -> str:
    """Return `p = 0.012`, or that there is none."""
    if p is None:
        return "no p"
    said = p_value(p)
    return f"p {said}" if said.startswith("<") else f"p = {said}"


def held_at(question: Question) -> str:
    """Return what a question is held at: ` (hasty, demo)`; nothing where at nothing."""
    parts = [
        question.agent,
        None if question.world is None else question.world.value,
        question.suite,
        "+".join(question.agents) or None,
        None if question.repeats is None else f"first {question.repeats} repeats",
        "with what was added" if question.is_with_added else None,
    ]
    said = ", ".join(part for part in parts if part is not None)
    return f" ({said})" if said else ""


def question_title(question: Question) -> str:
    """Return a question in a few words: `A − B (offline)`, `offline ≈ online (A): within 5`."""
    first, second, at = question.first, question.second, held_at(question)
    margin = points(question.margin, signed=False)
    match question.kind:
        case QuestionKind.DIFFERENCE:
            return f"{first} − {second}{at}"
        case QuestionKind.EQUIVALENCE:
            return f"{first} − {second}{at}: within {margin} points?"
        case QuestionKind.NON_INFERIORITY:
            return f"{first} − {second}{at}: at most {margin} points worse?"
        case _:
            assert_never(question.kind)


def short_answer(answer: Answer) -> str:
    """Return an answer in two or three words; `undecided` where there is none."""
    if answer.decision is Decision.UNDECIDED:
        return "undecided"
    is_yes = answer.decision is Decision.YES
    match answer.question.kind:
        case QuestionKind.DIFFERENCE:
            better = "first" if (answer.effect or 0) > 0 else "second"
            return f"{better} better" if is_yes else "undecided"
        case QuestionKind.EQUIVALENCE:
            return "equivalent" if is_yes else "not equivalent"
        case QuestionKind.NON_INFERIORITY:
            return "not inferior" if is_yes else "inferior"
        case _:
            assert_never(answer.question.kind)
