"""`how: answer`: the answer is a value of a type, the expected one, and says nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, Field, FiniteFloat, PrivateAttr, model_validator

from arena_core.worlds import World
from evaluators.answers.asked import Asked, Wanted
from evaluators.answers.judging import list_fault, one_fault
from evaluators.answers.kinds import KNOWN, AnswerType, Options, kind_of, surroundings_of
from evaluators.answers.question import NO_QUESTION, Question, read_question
from evaluators.answers.rows import Row, rows_fault
from evaluators.fields import PerWorld, by_world, in_world
from evaluators.matchers.base import ExpectedText, Form, Matched, Matcher
from evaluators.values.text import shown
from sites.fields import Strict

_MOST_SAID: Final = 6


def _as_tuple(given: object) -> object:
    """Take one text where several may stand."""
    return (given,) if isinstance(given, str) else given


def _as_text(given: object) -> object:
    """Return the date that YAML made of `2023-05-23` as the text that it was."""
    is_day = isinstance(given, date) and not isinstance(given, datetime)
    return given.isoformat() if is_day and isinstance(given, date) else given


Words = Annotated[
    tuple[str, ...],
    BeforeValidator(_as_tuple, json_schema_input_type=str | tuple[str, ...]),
]
Said = Annotated[str | bool | int | FiniteFloat, BeforeValidator(_as_text)]


class AnyOf(Strict):
    """One value of several that are all right."""

    any_of: Annotated[tuple[Said, ...], Field(min_length=1)]


Item = AnyOf | Said
Items = Annotated[tuple[Item, ...], Field(min_length=1)]
Rows = Annotated[tuple[Items, ...], Field(min_length=1)]


class _Reading(Strict):
    """How values are read, beside their type.

    Attributes:
        unit: of a number, what may stand with it: `km`, `%`, `bells`, one spelling of each. Of a
            duration or distance, the unit of a bare number, which is neither without it.
        currency: codes or signs; an amount in another is not right. Without, any is.
        tolerance: how far off a value may be, the limit included: a number, `5 %`, `2 min`, `10 m`.
            An answer may be an estimate then (`about 47`).
        date_order: how `03/04/2023` is read; it is no date without.
        half_known: of a time, whether the question says which half of the day is meant, so that
            `7:30` is 19:30 too.
        means_yes, means_no: of a boolean, other words for it: `closed`, `open`.
        case: of texts, codes and names, whether letters of another case differ.
        accents: of these, `any` where letters with other accents are the same: `Krakow`.
        may_say: words that an answer may hold beside its value, in any case, beyond those of the
            question: what is as true (`Poland` beside Kraków).
    """

    unit: Words = ()
    currency: Words = ()
    tolerance: FiniteFloat | str = 0.0
    date_order: Literal["day_first", "month_first"] | None = None
    half_known: bool = False
    means_yes: Words = ()
    means_no: Words = ()
    case: bool = False
    accents: Literal["any"] | None = None
    may_say: Words = ()


_OPTIONS: Final[Mapping[str, object]] = {
    name: field.default for name, field in _Reading.model_fields.items() if name != "may_say"
}


class AnswerColumn(_Reading):
    """What the cells of one column are read as."""

    type: AnswerType

    @model_validator(mode="after")
    def _options_fit_type(self) -> Self:
        _asked(self.type, self, NO_QUESTION)
        return self


class AnswerMatcher(_Reading, Matcher):
    """Met where the answer, read as a type, is the expected value, and says nothing else.

    One of `value`, `any_of`, `all_of` and `rows` says what is expected. Beside it an answer may
    hold words of the question and of `may_say`, the type's own, politeness and the frames of
    sentences that give an answer. Any other word puts it in doubt: the reason says which.

    Attributes:
        type: what the answer is read as; of rows, `columns` says it of each cell.
        value: the one value.
        any_of: values each of which is right alone.
        all_of: all of these and no others, in any order unless `ordered`.
        rows: all of these rows and no others, in any order unless `ordered`.
    """

    how: Literal["answer"] = "answer"
    type: AnswerType | None = None
    value: Said | PerWorld[Said] | None = None
    any_of: tuple[Said, ...] | PerWorld[tuple[Said, ...]] | None = None
    all_of: Items | PerWorld[Items] | None = None
    rows: Rows | PerWorld[Rows] | None = None
    columns: tuple[AnswerColumn, ...] = ()
    ordered: bool = False

    _question: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _asks_one_way(self) -> Self:
        given = [
            name
            for name in ("value", "any_of", "all_of", "rows")
            if getattr(self, name) is not None
        ]
        if len(given) != 1:
            message = "is expected by one of `value`, `any_of`, `all_of` and `rows`"
        elif (self.rows is not None) != bool(self.columns):
            message = "`rows` and `columns` belong together"
        elif (self.rows is None) == (self.type is None):
            message = "`type` says what the answer is read as; of `rows`, `columns` does"
        elif self.ordered and given[0] in {"value", "any_of"}:
            message = f"`ordered` says nothing of `{given[0]}`"
        else:
            for world in World:
                _Expectation(self, world)
            return self
        raise ValueError(message)

    def answering(self, question: str) -> Self:
        """Return it as it reads answers to a question."""
        asked = self.model_copy()
        asked._question = question  # noqa: SLF001 - a copy of its own
        return asked

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:  # noqa: ARG002 - a value has one form
        """Read each value as a whole answer; the values of a list may be several."""
        expected = _read(_Itself(self), world)
        if not values:
            reason = f"found nothing, wanted {expected.said}"
            return Matched(met=False, reason=reason, expected=expected.said)
        fault = expected.fault(values)
        found = ", ".join(shown(value) for value in values[:_MOST_SAID])
        more = f" and {len(values) - _MOST_SAID} more" if len(values) > _MOST_SAID else ""
        if fault is None:
            return Matched(met=True, reason=f"found {found}{more}", expected=expected.said)
        reason = f"found {found}{more}, wanted {expected.said}: it {fault.rstrip('.')}"
        return Matched(met=False, reason=" ".join(reason.split()), expected=expected.said)

    def computed_counts(self) -> frozenset[int]:
        """Return as many values as are listed, or one."""
        listed = in_world(self.all_of, World.OFFLINE)
        return frozenset({1, len(listed)} if listed is not None else {1})

    def whole_texts(self) -> Iterator[ExpectedText]:
        """Yield each value that is right alone, as text."""
        for name in ("value", "any_of"):
            for world, branch in by_world(getattr(self, name)):
                at = ("match", name) if world is None else ("match", name, world.value)
                if branch is None:
                    continue
                for one in branch if isinstance(branch, tuple) else (branch,):
                    yield ExpectedText(at, _written(one), world)


class _Expectation:
    """What a matcher asks for in one world, read."""

    def __init__(self, matcher: AnswerMatcher, world: World) -> None:
        question = read_question(matcher._question)  # noqa: SLF001 - its own reading
        self._ordered = matcher.ordered
        self._is_list = matcher.all_of is not None
        self._columns = tuple(_asked(column.type, column, question) for column in matcher.columns)
        rows = in_world(matcher.rows, world)
        self._rows = tuple(self._row(row) for row in rows) if isinstance(rows, tuple) else ()
        self._asked = None if matcher.type is None else _asked(matcher.type, matcher, question)
        given = in_world(matcher.all_of, world) or in_world(matcher.any_of, world)
        items = given if isinstance(given, tuple) else (in_world(matcher.value, world),)
        self._items: tuple[Wanted, ...] = ()
        if self._asked is not None and self._is_list:
            self._items = tuple(_wanted(item, self._asked) for item in items)
        elif self._asked is not None:
            one = AnyOf(any_of=items)
            self._items = (_wanted(one, self._asked),)
        self.said = self._said(matcher, items, rows)

    def fault(self, values: Sequence[str]) -> str | None:
        if self._asked is None:
            return rows_fault(values, self._columns, self._rows, ordered=self._ordered)
        if self._is_list:
            return list_fault(values, self._asked, self._items, ordered=self._ordered)
        faults = [one_fault(value, self._asked, self._items[0]) for value in values]
        return None if None in faults else faults[0]

    def _row(self, cells: tuple[Item, ...]) -> Row:
        if len(cells) != len(self._columns):
            raise ValueError(f"a row of {len(cells)} cells has not one for each of the `columns`")
        pairs = zip(cells, self._columns, strict=True)
        return Row(tuple(_wanted(cell, asked) for cell, asked in pairs))

    def _said(self, matcher: AnswerMatcher, items: tuple[object, ...], rows: object) -> str:
        order = " in this order" if self._ordered else ""
        if isinstance(rows, tuple):
            told = "; ".join(" | ".join(map(_shown, row)) for row in rows[:_MOST_SAID])
            return f"exactly the rows {told}{' …' if len(rows) > _MOST_SAID else ''}{order}"
        told = ", ".join(map(_shown, items[:_MOST_SAID]))
        told += " …" if len(items) > _MOST_SAID else ""
        if self._is_list:
            return f"exactly {told}{order}, each a {matcher.type}"
        which = "any of " if len(items) > 1 else ""
        within = f" ± {matcher.tolerance}" if matcher.tolerance else ""
        return f"the {matcher.type} {which}{told}{within}"


class _Itself:
    """A matcher as a key: `1` and `true` are equal, and are not read alike."""

    def __init__(self, matcher: AnswerMatcher) -> None:
        self.matcher = matcher

    def __hash__(self) -> int:
        return id(self.matcher)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.matcher is self.matcher


@lru_cache(maxsize=16)  # the linter holds dozens of answers against one matcher
def _read(itself: _Itself, world: World) -> _Expectation:
    return _Expectation(itself.matcher, world)


def _asked(kind: AnswerType, reading: _Reading, question: Question) -> Asked:
    for name, default in _OPTIONS.items():
        if name not in KNOWN[kind] and getattr(reading, name) != default:
            raise ValueError(f"`{name}` says nothing of `type: {kind}`")
    options = Options(
        unit=reading.unit,
        currency=reading.currency,
        tolerance=reading.tolerance,
        order=reading.date_order,
        half_known=reading.half_known,
        means_yes=reading.means_yes,
        means_no=reading.means_no,
        case=reading.case,
        accents=reading.accents is not None,
    )
    return Asked(
        kind_of(kind, options, question), reading.may_say, surroundings_of(kind, options, question)
    )


def _wanted(item: object, asked: Asked) -> Wanted:
    values = item.any_of if isinstance(item, AnyOf) else (item,)
    return Wanted(tuple(asked.kind.read(_written(value)) for value in values))


def _written(value: object) -> str:
    """Return a value as a task writes it in quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _shown(value: object) -> str:
    if isinstance(value, AnyOf):
        return " or ".join(map(_shown, value.any_of))
    return shown(_written(value))
