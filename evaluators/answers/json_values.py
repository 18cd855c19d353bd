"""Answers that are JSON: their values, each with the keys that it stands under."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from evaluators.answers.cleaning import LONGEST

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
