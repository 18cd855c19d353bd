"""What every type of answer is: how it is found in a text, and when two values are the same."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Span(Generic[Value]):
    """A piece of a text that is a value.

    Attributes:
        start, end: where it stands.
        value: None where the piece looks like a value of the type and cannot be read as one.
        fault: why it cannot, as words that follow the piece: `may be 3 April or 4 March`.
        has_unit: whether it ends with its unit, so that another noun may follow.
    """

    start: int
    end: int
    value: Value | None
    fault: str = ""
    has_unit: bool = False


class AnswerKind(ABC, Generic[Value]):
    """A type of answer.

    Attributes:
        noun: what it is called in a reason: `a number`.
        such_as: what follows its name where an expected value cannot be read: `, such as '19:30'`.
        is_words: whether its values are words among words, so that nothing but the expected ones
            can be told from the sentence around them.
        whole: what an expected value is from end to end.
    """

    noun: ClassVar[str]
    such_as: ClassVar[str] = ""
    is_words: ClassVar[bool] = False
    whole: ClassVar[re.Pattern[str] | None] = None

    def read(self, written: str) -> Value:
        """Read an expected value."""
        text = written.strip()
        spans = self.find(text, ()) if self.whole is None or self.whole.fullmatch(text) else ()
        if len(spans) == 1 and spans[0].value is not None:
            return spans[0].value
        why = "".join(f"; it {span.fault}" for span in spans[:1] if span.fault)
        raise ValueError(f"is no {self.noun.split(' ', 1)[1]}{self.such_as}: {written!r}{why}")

    def prepare(self, plain: str) -> str:
        """Bring a plain text into the form in which `find` reads it."""
        return plain

    @abstractmethod
    def find(self, text: str, wanted: Sequence[Value]) -> Sequence[Span[Value]]:
        """Return every value of the type in a prepared text, those that cannot be read too.

        Spans are in the order of the text and do not overlap. A type of words finds `wanted` alone.
        """

    def is_same(self, found: Value, wanted: Value) -> bool:
        """Say whether a value that was found is the expected one."""
        return found == wanted


def is_free(start: int, end: int, spans: Sequence[Span[Value]]) -> bool:
    """Say whether a piece of a text overlaps none of these."""
    return not any(span.start < end and start < span.end for span in spans)


def with_unread(
    pattern: re.Pattern[str], text: str, spans: Sequence[Span[Value]], fault: str
) -> list[Span[Value]]:
    """Return spans, and those pieces that look like a value and are in none, in their order."""
    unread: Iterator[Span[Value]] = (
        Span(*found.span(), None, fault)
        for found in pattern.finditer(text)
        if is_free(*found.span(), spans)
    )
    return sorted([*spans, *unread], key=lambda span: span.start)
