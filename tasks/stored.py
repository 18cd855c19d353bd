"""Suites as run folders of earlier versions keep them, in the names of today."""

from __future__ import annotations

import copy
from typing import Any

# By the version that a folder was written with these were called otherwise.
_TASK_NAMES = {"parts": "expected_divergence"}
_MATCH_NAMES = {"parts": "substring"}


def in_todays_names(suite: dict[str, Any]) -> dict[str, Any]:
    """Return a stored suite with its fields called as they are now."""
    document = copy.deepcopy(suite)
    for task in _mappings(document, "tasks"):
        _rename(task, _TASK_NAMES)
        for check in (*_mappings(task, "checks"), *_mappings(task, "requires")):
            match = check.get("match")
            if isinstance(match, dict) and match.get("how") == "include":
                _rename(match, _MATCH_NAMES)
    return document


def _mappings(holder: object, name: str) -> list[dict[str, Any]]:
    listed = holder.get(name) if isinstance(holder, dict) else None
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _rename(mapping: dict[str, Any], names: dict[str, str]) -> None:
    for old, new in names.items():
        if old in mapping and new not in mapping:
            mapping[new] = mapping.pop(old)
