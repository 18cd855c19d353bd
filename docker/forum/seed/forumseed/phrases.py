"""Templates into text: `{slot}` is asked of a context, `[one|another]` is chosen."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

_CHOICE = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeiouAEIOU](?!ne\b|u[aio]))")


def fill(template: str, rng: Random, slot: Callable[[str], str]) -> str:
    """Return a template's text; a slot whose name has a capital gives its value one."""
    text = _CHOICE.sub(lambda found: rng.choice(found.group(1).split("|")), template)
    for _ in range(3):  # a slot's value may hold slots
        if "{" not in text:
            break
        text = _SLOT.sub(lambda found: _value(found.group(1), slot), text)
    return articles_agree(re.sub(r"([.!?])\.(?=\s|$)", r"\1", text))


def articles_agree(text: str) -> str:
    """Return a text in which "a" before a vowel is "an"."""
    return _ARTICLE.sub(r"\1n ", text)


def _value(name: str, slot: Callable[[str], str]) -> str:
    value = slot(name[0].lower() + name[1:])
    return capital(value) if name[0].isupper() else value


def capital(text: str) -> str:
    """Return the text with its first letter large."""
    return text[:1].upper() + text[1:]


def small(text: str) -> str:
    """Return the text with its first letter small, where the second is not large (`I`, `LED`)."""
    is_name = text[1:2].isupper() or text[:2] in {"I ", "I'"}
    return text if is_name else text[:1].lower() + text[1:]


def some(rng: Random, pool: Sequence[str], least: int, most: int) -> list[str]:
    """Return some different members of a pool, in the pool's order."""
    chosen = rng.sample(range(len(pool)), min(len(pool), rng.randint(least, most)))
    return [pool[number] for number in sorted(chosen)]
