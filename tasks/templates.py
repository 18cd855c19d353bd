"""Templates: one task written once, with placeholders, for values that are listed or drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from arena_core.names import listed, offered
from evaluators.fields import Slug
from sites.fields import written
from tasks.draws import Dice, Draw

# As the value of a check: what the check's own `computed` finds, once a task's world is set up.
COMPUTED: Final = "computed"
_MOST_INSTANCES: Final = 10_000
_TRIES: Final = 100
# `{name}` stands for a parameter, `{{name}}` for itself; other braces, such as CSS's, stay.
_PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}|\{([a-z][a-z0-9_]*)\}")

Parameter = Annotated[
    str, written(r"[a-z][a-z0-9_]*", "lower-case letters, digits and '_', a letter first")
]


class PlaceholderError(ValueError):
    """A placeholder names no parameter, or its value does not fit there."""


class Template(BaseModel):
    """A task with placeholders, and what the values of its instances are, or are drawn from.

    Attributes:
        params: rows of values, each with a value for the same placeholders.
        draw: by placeholder, from what a seed draws its value.
        instances: how many a seed makes, each from a row of `params` that it draws, one after the
            other; where omitted, each row makes one.
        task: as tasks are written, without id; `_filled` says more of the placeholders.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Slug
    params: tuple[dict[Parameter, object], ...] = Field(default=(), min_length=1)
    draw: dict[Parameter, Draw] = Field(default_factory=dict)
    instances: int | None = Field(default=None, ge=1, le=_MOST_INSTANCES)
    task: dict[str, object]

    @model_validator(mode="after")
    def _has_values(self) -> Self:
        if not self.params and not self.draw:
            raise ValueError("has neither `params` nor `draw`: a task of its own says the same")
        return self

    @property
    def is_drawn(self) -> bool:
        """Whether other seeds make other instances."""
        return bool(self.draw) or self.instances is not None

    def written(
        self, seeds: Sequence[int], *, computes: bool = False
    ) -> Iterator[dict[str, object]]:
        """Yield the instances as they would be written out.

        Those of `params` alone are called `ID-1` and so on; those that are drawn by a seed,
        `ID-sSEED-1`.

        Args:
            computes: leave `{computed}` as it is, for what a replica is asked for later.

        Raises:
            PlaceholderError: a placeholder cannot be filled, or a seed cannot draw enough.
        """
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
            sets = {f"-s{seed}": self._drawn(seed) for seed in seeds}
        for suffix, rows in sets.items():
            for number, row in enumerate(rows):
                filled = self._filled(row, computes=computes)
                yield {**filled, "id": f"{self.id}{suffix}-{number + 1}", "template": self.id}

    def _drawn(self, seed: int) -> list[Mapping[str, object]]:
        """Return the values of a seed's instances, each different from the others."""
        rows: Sequence[Mapping[str, object]] = self.params or ({},)
        if self.instances is not None:
            rows = Dice(seed, self.id).shuffled(rows)
        wanted = self.instances or len(rows)
        found: list[Mapping[str, object]] = []
        for number in range(wanted):
            for again in range(_TRIES):
                dice = partial(Dice, seed, self.id, number, again)
                drawn = {name: rule.value(dice(name)) for name, rule in self.draw.items()}
                values = {**rows[number % len(rows)], **drawn}
                if values not in found:
                    found.append(values)
                    break
            else:
                message = f"seed {seed} makes {len(found)} different instances, of {wanted} wanted"
                raise PlaceholderError(message)
        return found

    def _filled(self, values: Mapping[str, object], *, computes: bool) -> dict[str, object]:
        """Return the task with its placeholders filled.

        Text that is nothing but `{name}` becomes the parameter's value with its type; inside other
        text the value is written out.
        """
        later = {COMPUTED: f"{{{COMPUTED}}}"} if computes and COMPUTED not in values else {}
        used: set[str] = set()
        filled = {
            name: _filled(value, {**values, **later}, used) for name, value in self.task.items()
        }
        if used - set(later) != set(values):
            message = f"no placeholder uses the parameters {listed(sorted(set(values) - used))}"
            raise PlaceholderError(message)
        return filled


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
