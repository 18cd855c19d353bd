"""What the keys of a JSON answer say of its values: a unit, yes or no, or another thing."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from evaluators.answers.amounts import currency_codes
from evaluators.answers.base import AnswerKind
from evaluators.answers.clock import DurationKind
from evaluators.answers.conversions import UNITS
from evaluators.answers.json_values import Leaf
from evaluators.answers.question import Question
from evaluators.answers.roles import is_agent
from evaluators.answers.truth import BooleanKind
from evaluators.answers.wording import Surroundings
from evaluators.answers.words import normal, words

_UNITS: Final = (UNITS.keys() | DurationKind.sizes.keys()) - {"in"}
_THINGS: Final = words("product item name title article order place city person subject question")
_FIGURES: Final = frozenset(
    map(normal, words("total number count amount name answer result value"))
)


def with_its_key(leaf: Leaf, kind: AnswerKind[Any]) -> Leaf:
    """Return a value of JSON with what its key says of it: `{"minutes": 90}` is 90 minutes."""
    *before, last = leaf.label.split() or [""]
    if isinstance(kind, BooleanKind) and leaf.text in {"true", "false"}:
        means = kind.meaning(leaf.label)
        if means is not None:
            return Leaf("", "yes" if means is (leaf.text == "true") else "no")
    is_unit = last.casefold() in _UNITS or currency_codes(last)
    if is_unit and re.fullmatch(r"[\d.,]+", leaf.text):
        return Leaf(" ".join(before), f"{leaf.text} {last}")
    return leaf


def names_the_thing(leaf: Leaf, question: Question) -> bool:
    """Say whether a value of JSON only repeats what the question asks about."""
    said = [normal(word) for word in re.findall(r"[\w'-]+", leaf.text)]
    return leaf.label.casefold() in _THINGS and said != [] and question.stems.issuperset(said)


def key_fault(label: str, around: Surroundings, may_say: Collection[str]) -> str | None:
    """Say that a key names another thing of the question than it asks for."""
    key = re.split(r"\b(?:of|in|from|to|for|at|on|by|per)\b", label)[0].split()
    if not key:
        return None
    head, last, roles = normal(key[-1]), key[-1].casefold(), around.question.roles
    does = is_agent(last) and last.removesuffix("s") not in roles.agents
    if does or last in around.question.names or last in may_say:
        return None
    fits = roles.asked | roles.deeds | roles.bases | around.own
    if not around.is_called:
        fits |= roles.others | (frozenset() if around.question.counted else roles.subjects)
    if len(key) == 1 and head in around.own:  # `latitude`, whatever else asks for that key
        return None
    is_tied = head not in roles.asked and not roles.dependent.isdisjoint(map(normal, key))
    return f"has the key '{label}'" if is_tied or head in roles.nouns - fits - _FIGURES else None
