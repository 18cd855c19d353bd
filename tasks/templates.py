"""Templates: one task written once, with placeholders, for values that are listed or drawn."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from types import MappingProxyType
from typing import Annotated, Final, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    model_validator,
)

from arena_core.names import listed, offered
from evaluators.fields import Slug
from sites.fields import Strict, written

Item = TypeVar("Item")
_MOST: Final = 10_000


class Dice:
    """Draws numbers from a seed and the name of what is drawn, equal on every machine.

    Python promises no equal numbers of `random` across its versions; of SHA-256 it does.
    """

    def __init__(self, seed: int, *names: str | int) -> None:
        self._key = "\n".join(map(str, (seed, *names)))
        self._drawn = 0

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to `bound` - 1."""
        self._drawn += 1
        digest = hashlib.sha256(f"{self._key}\n{self._drawn}".encode()).digest()
        return int.from_bytes(digest) % bound

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in another order (Fisher and Yates)."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in items]


class DrawOne(Strict):
    """One of several values."""

    one_of: tuple[JsonValue, ...] = Field(min_length=1, max_length=_MOST)

    def value(self, dice: Dice) -> object:
        """Return one of them."""
        return self.one_of[dice.below(len(self.one_of))]


class DrawSample(Strict):
    """A list of `count` different ones of several values, in the order drawn."""

    sample: tuple[JsonValue, ...] = Field(min_length=1, max_length=_MOST)
    count: int = Field(ge=1)

    @model_validator(mode="after")
    def _has_enough(self) -> Self:
        if self.count > len(self.sample):
            raise ValueError(f"`count` is {self.count}, of {len(self.sample)} values in `sample`")
        return self

    def value(self, dice: Dice) -> object:
        """Return the list."""
        return dice.shuffled(self.sample)[: self.count]


class DrawInteger(Strict):
    """A whole number between two, both included."""

    integer: tuple[int, int]

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        return _ascending(self, *self.integer)

    def value(self, dice: Dice) -> object:
        """Return the number."""
        low, high = self.integer
        return low + dice.below(high - low + 1)


class DrawAmount(Strict):
    """An amount between two, both included, written with as many decimals as `decimals` says."""

    amount: tuple[Decimal, Decimal]
    decimals: int = Field(default=2, ge=0, le=6)

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        scaled = [bound.scaleb(self.decimals) for bound in self.amount]
        if any(bound != bound.to_integral_value() for bound in scaled):
            raise ValueError(f"`amount` has bounds with more decimals than {self.decimals}")
        return _ascending(self, *self.amount)

    def value(self, dice: Dice) -> object:
        """Return the amount as text: `19.90`."""
        low, high = (int(bound.scaleb(self.decimals)) for bound in self.amount)
        return str(Decimal(low + dice.below(high - low + 1)).scaleb(-self.decimals))


class DrawDay(Strict):
    """A day between two, both included."""

    day: tuple[date, date]

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        return _ascending(self, *self.day)

    def value(self, dice: Dice) -> object:
        """Return the day as text: `2026-03-01`."""
        low, high = self.day
        return (low + timedelta(days=dice.below((high - low).days + 1))).isoformat()


_KINDS: Final = ("one_of", "sample", "integer", "amount", "day")


def _tag_of(rule: object) -> str:
    has = rule.__contains__ if isinstance(rule, Mapping) else partial(hasattr, rule)
    return next((f"drawn {kind}" for kind in _KINDS if has(kind)), "")


def _is_a_rule(rule: object) -> object:
    if not _tag_of(rule):
        raise ValueError(f"says from what is drawn: one of {', '.join(_KINDS)}")
    return rule


Draw = Annotated[
    Annotated[DrawOne, Tag("drawn one_of")]
    | Annotated[DrawSample, Tag("drawn sample")]
    | Annotated[DrawInteger, Tag("drawn integer")]
    | Annotated[DrawAmount, Tag("drawn amount")]
    | Annotated[DrawDay, Tag("drawn day")],
    Discriminator(_tag_of),
    BeforeValidator(_is_a_rule),
]
Rule = TypeVar("Rule")


def _ascending(rule: Rule, low: object, high: object) -> Rule:
    if low > high:  # type: ignore[operator]  # both are of one ordered type
        raise ValueError(f"its first bound, {low}, is above its second, {high}")
    return rule


# As the value of a check: what the check's own `computed` finds, once a task's world is set up.
COMPUTED: Final = "computed"
_MOST_INSTANCES: Final = 10_000
_TRIES: Final = 100
_NULL: Final = "null"
# `{name}` stands for a parameter, `{{name}}` for itself; other braces, such as CSS's, stay.
_PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}|\{([a-z][a-z0-9_]*)\}")

Parameter = Annotated[
    str, written(r"[a-z][a-z0-9_]*", "lower-case letters, digits and '_', a letter first")
]


class PlaceholderError(ValueError):
    """A placeholder names no parameter, or its value does not fit there."""


class RowsOfSite(Strict):
    """Rows that a site's database holds, asked before anything is drawn.

    Attributes:
        sql: one SELECT; its columns are the parameters that `names` lists, in this order.
    """

    site: Slug
    sql: str = Field(min_length=1)
    names: tuple[Parameter, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"`names` has a name twice: {listed(self.names)}")
        return self

    def read(self, answered: Sequence[str]) -> tuple[dict[str, object], ...]:
        """Return the parameters of each row, in an order that no database decides.

        Args:
            answered: the rows, their columns joined with ` | `.

        Raises:
            PlaceholderError: no row, too many, or one that does not have these columns.
        """
        rows = sorted({tuple(row.split(" | ")) for row in answered})
        if not rows or len(rows) > _MOST:
            raise PlaceholderError(f"`rows` finds {len(rows)} rows, wanted 1 to {_MOST:,}")
        for row in rows:
            if len(row) != len(self.names) or _NULL in row or "" in row:
                wanted = f"{len(self.names)} values, none of them empty and none with ' | ' in it"
                raise PlaceholderError(f"`rows` finds '{' | '.join(row)}', wanted {wanted}")
        return tuple(dict(zip(self.names, row, strict=True)) for row in rows)


class Template(BaseModel):
    """A task with placeholders, and what the values of its instances are, or are drawn from.

    Attributes:
        params: rows of values, each with a value for the same placeholders.
        rows: in place of `params`, from where their rows are taken; `instances` are drawn of them.
        draw: by placeholder, from what a seed draws its value.
        instances: how many a seed makes, each from a row of `params` that it draws, one after the
            other; where omitted, each row makes one.
        twin_of: the template whose words it shares, for example that of tasks which can be done: an
            agent cannot tell their instances apart, so all count as that template's.
        task: as tasks are written, without id; `filled` says more of the placeholders.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Slug
    params: tuple[dict[Parameter, object], ...] = Field(default=(), min_length=1)
    rows: RowsOfSite | None = None
    draw: dict[Parameter, Draw] = Field(default_factory=dict)
    instances: int | None = Field(default=None, ge=1, le=_MOST_INSTANCES)
    twin_of: Slug | None = None
    task: dict[str, object]

    @model_validator(mode="after")
    def _has_values(self) -> Self:
        if self.rows is not None and (self.params or self.instances is None):
            raise ValueError("`rows` stands in place of `params`, and `instances` says how many")
        if not self.params and not self.draw and self.rows is None:
            message = "has neither `params` nor `rows` nor `draw`: a task of its own says the same"
            raise ValueError(message)
        return self

    def with_rows(self, answered: Sequence[str] | None) -> Self:
        """Return the template with the rows that its site answered with, where it was asked.

        Raises:
            PlaceholderError: as `RowsOfSite.read`.
        """
        if self.rows is None or answered is None:
            return self
        return self.model_copy(update={"rows": None, "params": self.rows.read(answered)})

    @property
    def is_drawn(self) -> bool:
        """Whether other seeds make other instances."""
        return bool(self.draw) or self.instances is not None

    def written(
        self,
        seeds: Sequence[int],
        passed_over: Mapping[str, int] = MappingProxyType({}),
        *,
        computes: bool = False,
    ) -> Iterator[dict[str, object]]:
        """Yield the instances as they would be written out.

        Those of `params` alone are called `ID-1` and so on; those that are drawn by a seed,
        `ID-sSEED-1`.

        Args:
            passed_over: by instance, how many of the values drawn for it are left out.
            computes: leave `{computed}` as it is, for what a replica is asked for later.

        Raises:
            PlaceholderError: a placeholder cannot be filled, or a seed cannot draw enough.
        """
        if self.rows is not None:
            message = "its `rows` are asked of a site: `arena tasks instantiate` writes tasks out"
            raise PlaceholderError(message)
        if "id" in self.task or "template" in self.task:
            message = "an instance takes its id from the template: say neither `id` nor `template`"
            raise PlaceholderError(message)
        names = [set(row) for row in self.params] or [set[str]()]
        for number, named in enumerate(names):
            if named != names[0]:
                message = f"instance {number + 1} names the parameters {listed(sorted(named))},"
                raise PlaceholderError(f"{message} the first one {listed(sorted(names[0]))}")
        twice = names[0] & set(self.draw)
        if twice:
            message = f"`params` and `draw` both say what {listed(sorted(twice))} is"
            raise PlaceholderError(message)
        sets: dict[str, Sequence[Mapping[str, object]]] = {"": self.params}
        if self.is_drawn:
            sets = {f"-s{seed}": self._drawn(seed, passed_over) for seed in seeds}
        for suffix, rows in sets.items():
            for number, row in enumerate(rows):
                filled = self._filled(row, computes=computes)
                name = f"{self.id}{suffix}-{number + 1}"
                yield {**filled, "id": name, "template": self.twin_of or self.id}

    def _drawn(self, seed: int, passed_over: Mapping[str, int]) -> list[Mapping[str, object]]:
        """Return the values of a seed's instances, each different from the others.

        Where nothing but rows is drawn, an instance whose row is left out takes a later one.
        """
        rows: Sequence[Mapping[str, object]] = self.params or ({},)
        if self.instances is not None:
            rows = Dice(seed, self.id).shuffled(rows)
        wanted = self.instances or len(rows)
        found: list[Mapping[str, object]] = []
        for number in range(wanted):
            left_out = passed_over.get(f"{self.id}-s{seed}-{number + 1}", 0)
            for again in range(_TRIES + left_out):
                dice = partial(Dice, seed, self.id, number, again)
                drawn = {name: rule.value(dice(name)) for name, rule in self.draw.items()}
                row = rows[(number if self.draw else number + again) % len(rows)]
                values = {**row, **drawn}
                if values in found:
                    continue
                if left_out == 0:
                    found.append(values)
                    break
                left_out -= 1
            else:
                message = f"seed {seed} makes {len(found)} different instances, of {wanted} wanted"
                raise PlaceholderError(message)
        return found

    def _filled(self, values: Mapping[str, object], *, computes: bool) -> dict[str, object]:
        later = {COMPUTED: f"{{{COMPUTED}}}"} if computes and COMPUTED not in values else {}
        return filled(self.task, values, later)


def filled(
    task: Mapping[str, object],
    values: Mapping[str, object],
    later: Mapping[str, object] = MappingProxyType({}),
) -> dict[str, object]:
    """Return a task with its placeholders filled.

    Text that is nothing but `{name}` becomes the parameter's value with its type; inside other
    text the value is written out.

    Args:
        later: values that need not be used.

    Raises:
        PlaceholderError: a placeholder cannot be filled, or a value has none.
    """
    used: set[str] = set()
    found = {name: _filled(value, {**values, **later}, used) for name, value in task.items()}
    if used - set(later) != set(values):
        message = f"no placeholder uses the parameters {listed(sorted(set(values) - used))}"
        raise PlaceholderError(message)
    return found


def _filled(written: object, values: Mapping[str, object], used: set[str]) -> object:
    match written:
        case str():
            return _text(written, values, used)
        case Mapping():
            return {
                _key(name, values, used): _filled(value, values, used)
                for name, value in written.items()
            }
        case Sequence():
            return [_filled(value, values, used) for value in written]
        case _:
            return written


def _key(name: object, values: Mapping[str, object], used: set[str]) -> object:
    return str(_text(name, values, used)) if isinstance(name, str) else name


def _text(text: str, values: Mapping[str, object], used: set[str]) -> object:
    alone = _PLACEHOLDER.fullmatch(text)
    if alone is not None and alone[2] is not None:
        return _value(alone[2], values, used)

    def inside(found: re.Match[str]) -> str:
        if found[1] is not None:
            return "{" + found[1] + "}"
        value = _value(found[2], values, used)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            message = f"'{found[0]}' stands inside text, where only text and numbers can"
            raise PlaceholderError(message)
        return str(value)

    return _PLACEHOLDER.sub(inside, text)


def _value(name: str, values: Mapping[str, object], used: set[str]) -> object:
    if name not in values and name == COMPUTED:
        message = "'{computed}' is asked of a site: `arena tasks instantiate` writes the tasks out"
        raise PlaceholderError(message)
    if name not in values:
        message = (
            f"'{{{name}}}' names no parameter; {offered(name, values)};"
            f" to mean the text itself, write '{{{{{name}}}}}'"
        )
        raise PlaceholderError(message)
    used.add(name)
    return values[name]
