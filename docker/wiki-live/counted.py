"""What the staged articles say of their own number (articles/ on path)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from model import Article, Text

# The pages that tell how many there are, the first in its box: a fact by this name.
TELLING: Final = ("About this encyclopedia", "Main Page")
NUMBER: Final = "Pages"


def counted(articles: Iterable[Article]) -> Iterator[Article]:
    """Yield the articles of an excerpt, the whole's number replaced by theirs where it is told."""
    held = tuple(articles)
    by_title = {article.title: article for article in held}
    box = {fact.label: fact.value for fact in by_title[TELLING[0]].facts}
    (whole,) = (span.words for span in box[NUMBER] if isinstance(span, Text))
    told = re.compile(rf"\b{whole}\b")
    for article in held:
        if article.title in TELLING:
            changed = _retold(article, told, str(len(held)))
            if changed == article:
                message = f"{article.title} no longer says how many articles there are"
                raise ValueError(message)
            yield changed
        else:
            yield article


def _retold(part: Any, old: re.Pattern[str], new: str) -> Any:
    if isinstance(part, Text):
        return Text(old.sub(new, part.words))
    if isinstance(part, tuple):
        return tuple(_retold(one, old, new) for one in part)
    if is_dataclass(part) and not isinstance(part, type):
        return replace(
            part, **{one.name: _retold(getattr(part, one.name), old, new) for one in fields(part)}
        )
    return part
