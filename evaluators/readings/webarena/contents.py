"""WebArena's `HTMLContentEvaluator`: what scripts, helper functions and whole pages said."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from evaluators.evidence import Evidence
from evaluators.readings.upstream import NotInEvidenceError, PublishedCrashError, Worth
from evaluators.readings.webarena.strings import exact_match, must_include

LOOK = "original-html-{}"


def program_html(record: Mapping[str, Any], evidence: Evidence) -> Worth:
    """Score what was recorded for each target as `HTMLContentEvaluator.__call__` does.

    Raises:
        NotInEvidenceError: what a target selects was not recorded.
    """
    score, because = 1.0, "no target is given"
    for number, target in enumerate(record["eval"]["program_html"]):
        _refuse_locator(target["url"], target["locator"])
        selected = html.unescape(_selected(evidence, number))
        factor, says = _holds(target["required_contents"], selected)
        if score:
            because = f"target {number}: {says}"
        score *= factor
    return Worth(score, because)


def navigates(record: Mapping[str, Any]) -> bool:
    """Whether the evaluator itself leaves the page that the agent left open."""
    return any(target["url"] != "last" for target in record["eval"]["program_html"])


def _refuse_locator(url: str, locator: str) -> None:
    url.startswith("func")
    known = ("document.", "[...document.", "func:")
    if locator.strip() and not locator.startswith(known):
        message = f"Unknown locator: {locator}"
        raise ValueError(message)


def _selected(evidence: Evidence, number: int) -> str:
    name = LOOK.format(number)
    found = next((one for one in evidence.located if one.check == name), None)
    if found is None:
        message = f"the evidence has no record of target {number} ('{name}')"
        raise NotInEvidenceError(message)
    if found.error is not None:
        message = f"target {number} could not be looked at: {found.error}"
        raise NotInEvidenceError(message)
    if len(found.values) != 1:
        message = f"'{name}' holds {len(found.values)} values in the evidence, and not one"
        raise NotInEvidenceError(message)
    return found.values[0]


def _holds(required: Mapping[str, Any], selected: str) -> tuple[float, str]:
    if "exact_match" in required:
        expected = required["exact_match"]
        factor = exact_match(expected, selected)
        return factor, f"the text is {'' if factor else 'not '}{expected!r}"
    if "must_include" in required:
        contents = required["must_include"]
        if not isinstance(contents, list):
            message = "AssertionError"
            raise PublishedCrashError(message)
        missing = [one for one in contents if not _includes(one, selected)]
        says = f"the text lacks {missing}" if missing else f"the text holds {contents}"
        return float(not missing), says
    message = f"Unknown required_contents: {required.keys()}"
    raise ValueError(message)


def _includes(content: str, selected: str) -> bool:
    return any(must_include(one, selected) for one in content.split(" |OR| "))
