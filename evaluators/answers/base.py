"""What every type of answer is: how it is found in a text, and when two values are the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Span(Generic[Value]):
    """A piece of a text that is a value.

    Attributes:
        start, end: where it stands.
        value: None where the piece looks like a value of the type and cannot be read as one.
        fault: why it cannot, as words that follow the piece: `may be 3 April or 4 March`.
    """

    start: int
    end: int
    value: Value | None
    fault: str = ""


class AnswerKind(Protocol[Value]):
    """A type of answer.

    Attributes:
        noun: what it is called in a reason: `a number`.
        is_words: whether its values are words among words, so that nothing but the expected ones
            can be told from the sentence around them.
    """

    @property
    def noun(self) -> str:
        """What it is called in a reason."""

    @property
    def is_words(self) -> bool:
        """Whether its values cannot be told from the words around them."""

    def read(self, written: str) -> Value:
        """Read an expected value.

        Raises:
            ValueError: it is none of this type, with the reason.
        """

    def prepare(self, plain: str) -> str:
        """Bring a plain text into the form in which `find` reads it."""

    def find(self, text: str, wanted: Sequence[Value]) -> Sequence[Span[Value]]:
        """Return every value of the type in a prepared text, those that cannot be read too.

        Spans are in the order of the text and do not overlap. A type of words finds `wanted` alone.
        """

    def is_same(self, found: Value, wanted: Value) -> bool:
        """Say whether a value that was found is the expected one."""
