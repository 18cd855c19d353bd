"""Answers that are JSON: their values, each with the keys that it stands under."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from evaluators.answers.amounts import currency_codes
from evaluators.answers.asides import ASKED_OF
from evaluators.answers.base import AnswerKind
from evaluators.answers.cleaning import LONGEST
from evaluators.answers.clock import DurationKind
from evaluators.answers.conversions import UNITS
from evaluators.answers.question import Question
from evaluators.answers.roles import is_agent
from evaluators.answers.truth import BooleanKind
from evaluators.answers.wording import Surroundings
from evaluators.answers.words import normal, words

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```[ \t]*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A plain value of a JSON text.

    Attributes:
        label: the keys that lead to it, as words.
        text: the value; `null`, `true` and `false` as JSON writes them.
    """

    label: str
    text: str

    def __str__(self) -> str:
        return f"{self.label}: {self.text}" if self.label else self.text


def json_leaves(text: str) -> list[Leaf] | None:
    """Return the values of an answer that is a JSON list or object; None where it is neither."""
    content = json_content(text)
    return None if content is None else list(leaves_of(content))


def json_content(text: str) -> JsonValue:
    """Return the list or object that a text is, with or without a fence; None for another text."""
    bare = text.strip()
    fenced = re.fullmatch(_FENCED, bare)
    bare = fenced[1].strip() if fenced else bare
    if not bare.startswith(("[", "{")) or len(bare) > LONGEST:
        return None
    try:
        content: JsonValue = json.loads(bare, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None
    return content


def without_lead(text: str) -> tuple[str, str]:
    """Return the words before a fenced JSON text, and that text; no words for any other text."""
    found = _FENCED.search(text)
    if found is None or json_content(found[1]) is None:
        return "", text
    return text[: found.start()].strip(), found[1]


def leaves_of(content: JsonValue, label: str = "") -> Iterator[Leaf]:
    """Yield the plain values of a JSON value, in its order."""
    match content:
        case list():
            for one in content:
                yield from leaves_of(one, label)
        case dict():
            for key, one in content.items():
                yield from leaves_of(one, f"{label} {key_words(key)}".strip())
        case None:
            yield Leaf(label, "null")
        case bool():
            yield Leaf(label, "true" if content else "false")
        case _:
            yield Leaf(label, str(content))


def key_words(key: str) -> str:
    """Return a key as words: `finalAnswer` and `final_answer` are `final answer`."""
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key.replace("_", " ")).split())


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
    label = leaf.label.casefold()
    label = re.sub(r"(?<=\w) (?:id|number|name)$", "", label)
    is_thing = label in _THINGS or (label in ASKED_OF and normal(label) not in question.roles.asked)
    if leaf.text in question.phrases:
        return is_thing
    said = [normal(word) for word in re.findall(r"[\w'-]+", leaf.text)]
    return is_thing and said != [] and question.stems.issuperset(said)


def key_fault(label: str, around: Surroundings, may_say: Collection[str]) -> str | None:
    """Say that a key names another thing of the question than it asks for."""
    key = re.split(r"\b(?:of|in|from|to|for|at|on|by|per)\b", label)[0].split()
    if not key:
        return None
    head, last, roles = normal(key[-1]), key[-1].casefold(), around.question.roles
    if len(key) > 1 and last in _UNITS | {"percent"}:
        head, last = normal(key[-2]), key[-2].casefold()
    does = (
        is_agent(last)
        and normal(last) not in around.question.verbs
        and last.removesuffix("s") not in roles.agents
    )
    if does or last in around.question.names or last in may_say:
        return None
    fits = roles.asked | roles.deeds | roles.bases | around.own
    if not around.is_called:
        fits |= roles.others | (frozenset() if around.question.counted else roles.subjects)
    if len(key) == 1 and head in around.own:  # `latitude`, whatever else asks for that key
        return None
    is_tied = head not in roles.asked and not roles.dependent.isdisjoint(map(normal, key))
    return f"has the key '{label}'" if is_tied or head in roles.nouns - fits - _FIGURES else None
