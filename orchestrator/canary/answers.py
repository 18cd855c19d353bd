"""Whether the pages that a reference visits still say what it answers.

An oracle says its answer by heart: its answer checks are met whatever the site says now. What keeps
an answer honest is that it stands on a page that the play saw.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from arena_core.worlds import World
from orchestrator.canary.reference import here, played_in
from orchestrator.episode.page_view import PageView
from tasks.reference import StopWith
from tasks.schema import Task

_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_GROUPED: Final = re.compile(r"(?<=\d)[,\u00a0\u202f ](?=\d{3}(?!\d))")


def answer_is_seen(task: Task, world: World, pages: Sequence[PageView]) -> bool | None:
    """Whether the reference's answer stands on a page; None where it gives none in words.

    Of an answer with figures, all figures must stand there as whole numbers; of any other, its
    words, in this order.
    """
    answers = [
        here(action.answer, world)
        for _, action in played_in(task, world)
        if isinstance(action, StopWith) and action.answer
    ]
    if not answers:
        return None
    text = " ".join(f"{page.title} {page.text}" for page in pages)
    wanted = _numbers(answers[-1])
    if wanted:
        return wanted <= _numbers(text)
    return _plain(answers[-1]) in _plain(text)


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(_GROUPED.sub("", text)))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!?")
