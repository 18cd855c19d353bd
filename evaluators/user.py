"""A user by rule: answers a question from the task's typed slots, and says nothing else.

No model and no persona: a question fits a slot by the words that the slot declares. What fits no
slot, or more than one, gets nothing, so a question about everything is a question about nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)

from arena_core.foreign_fields import Text
from evaluators.values.text import normalise
from sites.fields import Strict

MOST_QUESTIONS: Final = 5
_MOST_WORDS: Final = 60
CANNOT_SAY: Final = "I cannot say."
_UNKNOWN: Final = "I do not know."
_NOBODY: Final = "Nobody is there to answer."
_NO_MORE: Final = "I answer no more questions."
# "Which of them shall I delete?" asks for a choice, and no yes to it is consent.
_CHOICE: Final = re.compile(r"\b(?:which|what|who|whom|whose|when|where|why|how)\b")


class SlotType(StrEnum):
    """What a slot's value is: `text`, `number`, `date` (ISO) or `yes-no` (true or false)."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    YES_NO = "yes-no"


_Words = Annotated[tuple[Annotated[str, Field(min_length=2)], ...], Field(max_length=50)]


class UserSlot(Strict):
    """One fact that the user may be asked for.

    Attributes:
        says: a question must hold one of these, each the beginning of a word or of several.
        about: and one of these; where empty, any question that holds one of `says` fits.
        value: the fact; null where the user does not know it either.
        asks: questions in the words of several people, which the linter holds the slot to.
    """

    type: SlotType
    says: Annotated[_Words, Field(min_length=1)]
    about: _Words = ()
    value: StrictBool | StrictInt | FiniteFloat | StrictStr | None
    asks: Annotated[tuple[str, ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _value_has_the_type(self) -> Self:
        value, kind = self.value, self.type
        if value is None:
            return self
        is_flag, is_text = isinstance(value, bool), isinstance(value, str)
        if (kind is SlotType.YES_NO) != is_flag or (kind is SlotType.NUMBER) is (
            is_flag or is_text
        ):
            raise ValueError(f"the value of a slot of type '{kind}' is no {type(value).__name__}")
        if isinstance(value, str) and not (0 < len(value) <= 200 and value.isprintable()):  # noqa: PLR2004
            raise ValueError("a value is one line of at most 200 characters")
        if kind is SlotType.DATE:
            date.fromisoformat(str(value))
        return self

    def is_named_by(self, question: str) -> bool:
        """Whether a question holds its words, among whatever else."""
        said = normalise(question)
        return _holds(said, self.says) and (not self.about or _holds(said, self.about))

    def takes(self, question: str) -> bool:
        """Whether a question has its form: a choice between things is none of yes or no."""
        return self.type is not SlotType.YES_NO or _CHOICE.search(normalise(question)) is None

    @property
    def answer(self) -> str:
        match self.value:
            case None:
                return _UNKNOWN
            case bool():
                return "Yes." if self.value else "No."
            case _:
                return f"It is {self.value}."


class UserReply(BaseModel):
    """What the user answered at a step, and which slot that was; None where it was none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: Text
    slot: Text | None = None


def reply_to(question: str, slots: Mapping[str, UserSlot], asked: int) -> UserReply:
    """Answer a question by rule, after so many others; without slots, nobody is there."""
    if not slots:
        return UserReply(text=_NOBODY)
    if asked >= MOST_QUESTIONS:
        return UserReply(text=_NO_MORE)
    named = named_by(question, slots)
    if (
        len(named) != 1
        or len(question.split()) > _MOST_WORDS
        or not slots[named[0]].takes(question)
    ):
        return UserReply(text=CANNOT_SAY)
    return UserReply(text=slots[named[0]].answer, slot=named[0])


def named_by(question: str, slots: Mapping[str, UserSlot]) -> tuple[str, ...]:
    """Return the slots whose words a question holds, in order."""
    return tuple(name for name, slot in slots.items() if slot.is_named_by(question))


def _holds(said: str, words: tuple[str, ...]) -> bool:
    return any(re.search(rf"\b{re.escape(normalise(one))}", said) for one in words)
