"""Answers that are JSON: their values one by one, or row by row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from pydantic import JsonValue

from evaluators.answers.cleaning import LONGEST


def json_atoms(text: str) -> list[str] | None:
    """Return the values of an answer that is a JSON list or object; None where it is neither.

    Lists in lists are one list.
    """
    content = _content(text)
    return None if content is None else list(_atoms(content))


def json_rows(text: str) -> list[list[str]] | None:
    """Return the cells of each row of an answer that is JSON; None where it is none.

    A list or object of plain values is one row; an object with one key stands for its value.
    """
    content = _content(text)
    if content is None:
        return None
    while isinstance(content, dict) and len(content) == 1:
        [content] = content.values()
    parts = list(content.values()) if isinstance(content, dict) else content
    if not isinstance(parts, list):
        return [[_text(parts)]]
    if isinstance(content, dict) or all(not isinstance(one, dict | list) for one in parts):
        return [list(_atoms(parts))] if parts else []
    return [list(_atoms(row)) for row in parts]


def _content(text: str) -> JsonValue:
    """Return the list or object that a text is, None where it is neither."""
    bare = text.strip()
    fenced = re.fullmatch(r"```(?:json)?\s*\n(.*?)\n?\s*```", bare, re.DOTALL)
    bare = fenced[1].strip() if fenced else bare
    if not bare.startswith(("[", "{")) or len(bare) > LONGEST:
        return None
    try:
        content: JsonValue = json.loads(bare, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None
    return content


def _atoms(content: object) -> Iterator[str]:
    match content:
        case list():
            for one in content:
                yield from _atoms(one)
        case dict():
            for one in content.values():
                yield from _atoms(one)
        case _:
            yield _text(content)


def _text(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)
