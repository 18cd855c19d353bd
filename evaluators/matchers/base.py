"""What every matcher is, what it answers, and the words that the reasons of several share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from arena_core.worlds import World
from evaluators.fields import Expected
from evaluators.judgements import JudgeQuestion, Replies
from evaluators.lint import LintContext, Place, Problem
from evaluators.values.text import shown, shown_all
from sites.fields import Strict

# What most locators yield and most matchers compare; a locator of other values names them.
TEXTS: Final = "texts"
_LISTED: Final = 20

# How an expected text is brought into the form of the values before both are normalised.
Form = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class UrlForm:
    """The form of values that are logical URLs: a part of one is whole segments and parameters."""

    spell: Form

    def __call__(self, text: str) -> str:
        """Bring an expected text into this form."""
        return self.spell(text)


@dataclass(frozen=True, slots=True)
class ExpectedText:
    """One whole text that a matcher asks for.

    Attributes:
        at: its place in the check: `("match", "value", "online")`.
        world: the one world that it is asked for in; None for each.
    """

    at: Place
    text: str
    world: World | None = None


class Matcher(Strict):
    """A way to compare what a locator found with what a check expects.

    A subclass is all there is to a matcher: its fields are its schema in a task, where `how` (a
    `Literal` with its one name as the default) says which it is. Add it to the entry-point group
    `arena.matchers`, under that name.

    Attributes:
        compares: what values it compares: only locators that yield these go with it.
        is_whole: whether an expected text is a whole value, not a part of one.
        is_computable: whether a check with it may say where its value is `computed` from.
    """

    compares: ClassVar[str] = TEXTS
    is_whole: ClassVar[bool] = True
    is_computable: ClassVar[bool] = True

    how: str

    @abstractmethod
    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:
        """Compare values with what is expected in a world; no text makes it raise."""

    def answering(self, question: str) -> Self:  # noqa: ARG002 - for subclasses
        """Return it as it compares answers to a question; itself where that makes no difference."""
        return self

    @property
    def one_is_enough(self) -> bool:
        """Whether it is met by some values just where one of them alone meets it."""
        return False

    @property
    def asks_for_nothing(self) -> bool:
        """Whether it is met where nothing was found, in one of the worlds at least."""
        return False

    def computed_counts(self) -> frozenset[int]:
        """Return how many values may be computed for it."""
        return frozenset({1})

    def whole_texts(self) -> Iterator[ExpectedText]:
        """Yield the texts that it expects a whole value to equal; none for other comparisons."""
        return iter(())

    def lint(self, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - for subclasses
        """Yield what is wrong with it in its surroundings, at places in the check."""
        return iter(())


class JudgedMatcher(Matcher):
    """A matcher that needs to know what judges reply to its questions.

    It asks nobody: the questions are put while a run is scored for the first time, and the replies
    are part of the evidence.
    """

    @abstractmethod
    def questions(self, values: Sequence[str], world: World) -> Iterator[JudgeQuestion]:
        """Yield what must be judged before these values can be compared."""

    @abstractmethod
    def match_judged(
        self, values: Sequence[str], world: World, replies: Replies, form: Form = str
    ) -> Matched:
        """Compare values by the replies; `is_undecided` where they give no verdict."""

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:
        """Compare as far as it goes without a judge."""
        return self.match_judged(values, world, {}, form)


@dataclass(frozen=True, slots=True)
class Matched:
    """Whether values match, and why, in one sentence without a full stop.

    Attributes:
        expected: what was asked for in this world, as text for readers.
        is_undecided: no judge said it: `met` says nothing then.
    """

    met: bool
    reason: str
    expected: str
    is_undecided: bool = False


def found_or_wanted(values: Sequence[str], wanted: str, *, met: bool) -> Matched:
    """Return a result whose reason says what was found, and what was wanted where it is not met."""
    if met:
        reason = f"found {shown_all(values)}" if values else "found nothing, as wanted"
    else:
        reason = f"found {shown_all(values) or 'nothing'}, wanted {wanted}"
    return Matched(met=met, reason=reason, expected=wanted)


def listed(expected: Sequence[Expected]) -> str:
    """Return expected values in quotes, one after the other: the first few, then a count."""
    more = len(expected) - _LISTED
    first = ", ".join(shown(str(wanted)) for wanted in expected[:_LISTED])
    return f"{first} and {more} more" if more > 0 else first
