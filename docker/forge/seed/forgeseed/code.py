"""Source files made of functions that can be added, changed and taken out, in several languages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from forgeseed.sources import vocabulary

LIMITS = (5, 8, 10, 12, 15, 20, 25, 30, 40, 45, 50, 60, 64, 80, 90, 100, 120, 128, 200, 250, 300)
LOWS = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Function:
    """One function: of which kind, called what, with which numbers.

    Attributes:
        words: its name as words, `select basket entries`.
    """

    kind: int
    words: tuple[str, ...]
    limit: int
    low: int
    said: bool = False
    guarded: bool = False

    @property
    def label(self) -> str:
        """The name as people write it in a commit."""
        return "_".join(self.words)


@dataclass(slots=True)
class Module:
    """One source file: the functions of one thing."""

    path: str
    thing: str
    language: str
    project: str
    functions: list[Function] = field(default_factory=list)

    def text(self) -> str:
        """Return the file's content."""
        told = vocabulary("code")[self.language]
        head = _filled(told["head"], thing=self.thing, name=self.project)
        return "\n".join([head, *(self._function(told, one) for one in self.functions)])

    def _function(self, told: dict[str, Any], one: Function) -> str:
        numbers = {"limit": str(one.limit), "low": str(one.low)}
        guard = _filled(told["guard"][one.kind], **numbers) if one.guarded else ""
        body = _filled(told["body"][one.kind], name=cased(one.words, told["case"]), guard=guard)
        said = vocabulary("code")["says"][one.kind] if one.said else ""
        comment = f"{told['comment']}{_filled(said, thing=self.thing)}\n" if said else ""
        return comment + _filled(body, **numbers)


def module(project: str, thing: str, language: str, folder: str) -> Module:
    """Return an empty module for a thing."""
    stem = "_".join(word for word in thing.lower().replace("-", " ").replace("'", "").split())
    suffix = vocabulary("code")[language]["suffix"]
    return Module(f"{folder}/{stem}.{suffix}", thing, language, project)


def added(rng: Random, held: Module) -> Function | None:
    """Put a new function at the end of a module; None where its names are used up."""
    told = vocabulary("code")
    taken = {one.words for one in held.functions}
    for _ in range(20):
        kind = rng.randrange(len(told["verbs"]))
        last = held.thing.replace("-", " ").replace("'", "").lower().split()[-1]
        words = (told["verbs"][kind], last, rng.choice(told["attributes"]))
        if words not in taken:
            made = Function(kind, words, rng.choice(LIMITS), rng.choice(LOWS))
            held.functions.append(made)
            return made
    return None


def changed(held: Module, place: int, **to: int | bool) -> None:
    """Give a function other numbers, a comment or a guard."""
    held.functions[place] = replace(held.functions[place], **to)  # type: ignore[arg-type]


def cased(words: tuple[str, ...], case: str) -> str:
    """Return the name of a function as its language writes it."""
    if case == "snake":
        return "_".join(words)
    name = "".join(word.capitalize() for word in words)
    return name if case == "pascal" else name[0].lower() + name[1:]


def _filled(text: str, **slots: str) -> str:
    for name, value in slots.items():
        text = text.replace(f"@{name}@", value)
    return text
