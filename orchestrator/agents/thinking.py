"""Parts what a model said from what it thought aloud before it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_TAG = re.compile(r"<(?P<close>/?)(?:think|thinking)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """A model's text in two: `reply` is what it said, `thinking` what it thought aloud."""

    reply: str
    thinking: str


def put_aside(text: str) -> Said:
    """Part the thinking from the reply, whatever the length of either.

    Thinking stands between `<think>` and `</think>`; before a `</think>` that was never opened,
    since some templates open it in the prompt; and after a `<think>` that was never closed.
    """
    if _is_one_object(text):
        return Said(text, "")  # a tag inside a string of it is no tag
    reply: list[str] = []
    thinking: list[str] = []
    start, is_thinking = 0, False
    for tag in _TAG.finditer(text):
        passage = text[start : tag.start()]
        is_end = bool(tag["close"])
        if is_thinking:
            thinking.append(passage)
        elif is_end:
            thinking += [*reply, passage]
            reply = []
        else:
            reply.append(passage)
        start, is_thinking = tag.end(), not is_end
    (thinking if is_thinking else reply).append(text[start:])
    return Said("\n".join(reply).strip(), "\n".join(thinking).strip())


def _is_one_object(text: str) -> bool:
    if not text.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
