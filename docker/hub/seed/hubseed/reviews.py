"""The words of pull requests: titles, descriptions and reviews that speak of what the diff changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from forgeseed.code import Function, cased
from forgeseed.sources import vocabulary

from hubseed.sources import reviews

_KINDS = ("select", "limit", "total", "find", "load")  # of functions, in the order of code.toml
_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five")
_REPEATS = {"again", "attempts"}
_SHOWN = 3  # changes that a title names


@dataclass(frozen=True, slots=True)
class Edit:
    """What one commit changes: grow, raise, lower, say or drop, and which function.

    Attributes:
        function: as it is afterwards; as it was, where it is taken out.
        old: the limit that it had before, where that changes.
    """

    kind: str
    function: Function
    old: int = 0


@dataclass(frozen=True, slots=True)
class Diff:
    """What a pull request changes altogether, in one file."""

    edits: Sequence[Edit]
    thing: str
    path: str
    language: str
    commits: int


def edit_between(before: Sequence[Function], after: Sequence[Function]) -> Edit | None:
    """Return what differs between a module's functions before and after one change."""
    known = {one.words: one for one in before}
    kept = {one.words for one in after}
    for one in after:
        other = known.get(one.words)
        if other is None:
            return Edit("grow", one)
        if one.limit != other.limit:
            return Edit("raise" if one.limit > other.limit else "lower", one, other.limit)
        if one.said != other.said:
            return Edit("say", one)
    return next((Edit("drop", one) for one in before if one.words not in kept), None)


def net(edits: Sequence[Edit]) -> list[Edit]:
    """Return what is left of several edits: a function that was added and changed was added."""
    made: dict[tuple[str, ...], Edit] = {}
    for edit in edits:
        words = edit.function.words
        first = made.pop(words, None)
        if first is None:
            made[words] = edit
        elif edit.kind == "drop":
            if first.kind != "grow":
                made[words] = edit
        elif first.kind == "grow":
            made[words] = Edit("grow", edit.function)
        elif old := first.old or edit.old:
            if edit.function.limit != old:
                kind = "raise" if edit.function.limit > old else "lower"
                made[words] = Edit(kind, edit.function, old)
        else:
            made[words] = edit
    return list(made.values()) or list(edits)[-1:]


class Words:
    """The words of one pull request; they come from a stream of their own."""

    def __init__(self, key: str, diff: Diff) -> None:
        self._rng = Random(f"hub/reviews/{key}")
        self._diff = replace(diff, edits=net(diff.edits))
        edits = [one for one in self._diff.edits if one.kind not in ("say", "drop")]
        self._main = self._rng.choice(edits or self._diff.edits)
        self._used: set[str] = set()

    def title(self) -> str:
        """Return a title that names what changes."""
        said = [self._phrase(one) for one in self._diff.edits]
        whole = f"{self._thing()}: {', '.join(said[:_SHOWN])}"
        more = len(said) - _SHOWN
        return f"{whole} and {more} more" if more > 0 else whole

    def merged(self) -> str:
        """Return the description of a branch of the project's own."""
        lines = [self._body(one) for one in self._diff.edits[:_SHOWN]]
        if (more := len(self._diff.edits) - _SHOWN) > 0:
            lines.append(f"{_NUMBERS[min(more, 5)]} more of the same kind, see the commits.")
        return self._paragraphs(lines, self._pick(reviews()["whole"]["merged"], self._main))

    def asked(self) -> str:
        """Return the description of work in a fork."""
        lines = [self._body(self._main)]
        said = [one for one in self._diff.edits if one.kind == "say" and one is not self._main]
        lines += [self._pick(reviews()["whole"]["second"], one) for one in said]
        last = self._pick(reviews()["whole"][f"fork_{self._about()}"], self._main)
        return self._paragraphs(lines, last)

    def approval(self) -> str:
        """Return what a reviewer says who has nothing against it."""
        return self._pick(self._told(self._main, "approve"), self._main)

    def question(self) -> tuple[str, str]:
        """Return what a reviewer asks, and what the author answers."""
        told = reviews()[self._main.kind][_KINDS[self._main.function.kind]]
        pairs = told["review"]
        if self._main.function.low == 1:  # a single attempt is not made again
            pairs = [pair for pair in pairs if not _REPEATS & set(pair[0].split())] or pairs
        question, answer = self._rng.choice(pairs)
        return self._filled(question, self._main), self._filled(answer, self._main)

    def inline(self) -> tuple[str, str]:
        """Return a remark at a line of the diff, and what that line holds."""
        grows = self._main.kind == "grow"
        line = self._name(self._main) if grows else str(self._main.function.limit)
        return self._pick(self._told(self._main, "inline"), self._main), line

    def closing(self) -> str:
        """Return why it is closed without a merge."""
        return self._pick(reviews()["whole"][f"closing_{self._about()}"], self._main)

    def _about(self) -> str:
        return "grow" if self._main.kind == "grow" else "turn"

    def _told(self, edit: Edit, name: str) -> Sequence[str]:
        of = reviews()
        if edit.kind in ("say", "drop"):
            found: Sequence[str] = of[edit.kind][name]
        elif edit.kind == "grow":
            found = of["grow"][_KINDS[edit.function.kind]][name]
        else:
            found = of["turn"][name]
        return found

    def _body(self, edit: Edit) -> str:
        of: Mapping[str, Any] = reviews()[edit.kind]
        told = of if edit.kind in ("say", "drop") else of[_KINDS[edit.function.kind]]
        return self._pick(told["body"], edit)

    def _paragraphs(self, lines: Sequence[str], last: str) -> str:
        if len(lines) > 1:
            return "\n".join(f"- {one}" for one in lines) + f"\n\n{last}"
        return f"{lines[0]} {last}" if self._rng.random() < 0.5 else f"{lines[0]}\n\n{last}"

    def _phrase(self, edit: Edit) -> str:
        name, limit = edit.function.label, edit.function.limit
        return {
            "grow": f"add {name}",
            "raise": f"{name} up to {limit}",
            "lower": f"{name} down to {limit}",
            "say": f"comment on {name}",
            "drop": f"remove {name}",
        }[edit.kind]

    def _pick(self, choices: Sequence[str], edit: Edit) -> str:
        fresh = [one for one in choices if one not in self._used]
        chosen = self._rng.choice(fresh or choices)
        self._used.add(chosen)
        return self._filled(chosen, edit)

    def _filled(self, text: str, edit: Edit) -> str:
        one, diff = edit.function, self._diff
        commits = _NUMBERS[min(diff.commits, 5)] + (" commit" if diff.commits == 1 else " commits")
        whole = text.format(
            fn=self._name(edit),
            thing=diff.thing,
            path=diff.path,
            limit=one.limit,
            to=one.limit,
            old=edit.old,
            low=one.low,
            attempts="one attempt" if one.low == 1 else f"{one.low} attempts",
            commits=commits,
        )
        return whole[0].upper() + whole[1:]

    def _name(self, edit: Edit) -> str:
        case: str = vocabulary("code")[self._diff.language]["case"]
        return cased(edit.function.words, case)

    def _thing(self) -> str:
        return self._diff.thing[0].upper() + self._diff.thing[1:]
