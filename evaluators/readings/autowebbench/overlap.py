"""ROUGE-1 of two short texts, as `eval.py` takes it of typed and answered texts."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[a-zA-Z0-9]+(?:\.\d+)?%?|[^\sa-zA-Z0-9]")
_HAN: Final = re.compile(r"[\u4e00-\u9fd5]")


def overlap(said: str, wanted: str) -> float | None:
    """Return the F score of the sets of words; None for Chinese, whose words need a dictionary."""
    if _HAN.search(said + wanted):
        return None
    mine, gold = set(_WORD.findall(said)), set(_WORD.findall(wanted))
    if not mine or not gold:
        return 0.0
    both = len(mine & gold)
    precision, recall = both / len(mine), both / len(gold)
    return 2 * precision * recall / (precision + recall + 1e-8)
