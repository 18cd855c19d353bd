"""WebCanvas' match functions, one key node at one turn."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from evaluators.judgements import JudgeQuestion
from evaluators.readings.upstream import NotInEvidenceError
from evaluators.readings.webcanvas.turns import Turn
from evaluators.readings.webcanvas.urls import compared, netloc_label

SEMANTIC: Final = "webcanvas-semantic"
_ANCESTORS: Final = 3
_LAST_TAG: Final = re.compile(r"(?:^|[\s>+~])([A-Za-z][A-Za-z0-9]*)[^\s>+~]*\s*$")
_CLIMBED: Final = frozenset("span h1 h2 h3 h4 h5 h6 div li ul p".split())  # noqa: SIM905
_SEMANTIC: Final = frozenset({"url_semantic_match", "element_value_semantic_match"})
_FENCED: Final = re.compile(r"```(.*?)```", re.DOTALL)


def matched(node: Mapping[str, Any], turn: Turn, judged: Mapping[str, str]) -> float:
    """Return what a key node scores at a turn, 0 to 1.

    Raises:
        NotInEvidenceError: its element was not looked at, or no model has judged.
        KeyError, TypeError: the record is none of WebCanvas'.
    """
    name, content = node["match_function_name"], node["content"]
    if name in _SEMANTIC:
        asked = semantic_questions(node, turn)
        return max((_rated(one, judged) for one in asked), default=0.0)
    return float(_holds(name, content, turn))


def _holds(name: str, content: Mapping[str, Any], turn: Turn) -> bool:
    wanted = content["reference_answer"]
    match name:
        case "url_exactly_match":
            return wanted in _of_urls(turn, content, is_whole=True)
        case "url_included_match":
            return any(wanted in one for one in _of_urls(turn, content, is_whole=False))
        case "element_path_exactly_match":
            return _is_element(wanted, content, turn)
        case "element_value_exactly_match":
            return _has_value(content, turn) and turn.value == wanted
        case "element_value_included_match":
            return _has_value(content, turn) and wanted in (turn.value or "")
        case _:
            return False  # it has functions that it never calls


def semantic_questions(node: Mapping[str, Any], turn: Turn) -> Iterator[JudgeQuestion]:
    """Yield what a model is asked about a key node at a turn."""
    content = node["content"]
    match node["match_function_name"]:
        case "url_semantic_match":
            texts = _of_urls(turn, content, is_whole=True)
        case "element_value_semantic_match" if _has_value(content, turn) and turn.value:
            texts = [turn.value]
        case _:
            texts = []
    for text in dict.fromkeys(texts):
        inputs = {"rule": str(content["reference_answer"]), "answer": text}
        yield JudgeQuestion(prompt=SEMANTIC, version=1, inputs=inputs)


def _of_urls(turn: Turn, content: Mapping[str, Any], *, is_whole: bool) -> list[str]:
    found = (compared(url, content.get("key") or "", is_whole=is_whole) for url in turn.urls)
    return [one for one in found if one is not None]


def _is_element(selector: str, content: Mapping[str, Any], turn: Turn) -> bool:
    """Whether the element is the selector's first match, or of some tags one of 3 ancestors."""
    if turn.acted is None or netloc_label(turn.url) != content["netloc"]:
        return False
    fit = next((one for one in turn.acted.fits if one.selector == selector.strip()), None)
    if fit is None:
        message = f"the evidence does not say whether an element is '{selector.strip()}'"
        raise NotInEvidenceError(message)
    if not fit.first or fit.first > _ANCESTORS:
        return fit.first == 0
    tag = _LAST_TAG.search(selector)
    if tag is None:
        message = f"whether an ancestor of '{selector.strip()}' counts hangs on its tag"
        raise NotInEvidenceError(message)
    return tag[1].lower() in _CLIMBED


def _has_value(content: Mapping[str, Any], turn: Turn) -> bool:
    if turn.value is None or netloc_label(turn.url) != content["netloc"]:
        return False
    path = content.get("path")
    return not path or _is_element(path, content, turn)


def _rated(question: JudgeQuestion, judged: Mapping[str, str]) -> float:
    """Return the number in a reply's first fence, cut to 0 to 1; 0 where there is none."""
    reply = judged.get(question.key)
    if reply is None:
        message = f"no model has judged what is asked with the prompt {question.prompt}"
        raise NotInEvidenceError(message)
    fenced = _FENCED.findall(reply)
    try:
        said = ast.literal_eval(fenced[0].strip()) if fenced else None
    except (SyntaxError, ValueError):
        return 0.0
    if not isinstance(said, (int, float)):
        return 0.0
    return round(max(0.0, min(1.0, float(said))), 2)
