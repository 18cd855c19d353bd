"""The scorers `webcanvas`, as v0.0.3 computes it, and `webcanvas-paper`, as its paper says it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlparse

from arena_core.actions import Click, MouseClick, Select, Type, Write
from evaluators.evidence import ActedElement, Ended, Evidence, StepEvidence
from evaluators.judgements import JudgeQuestion
from evaluators.scorers.base import (
    NotInEvidenceError,
    OriginalTask,
    PublishedCrashError,
    ScorerResult,
    Worth,
    as_published,
    scorer_result,
)

_LABELLED = (Click, MouseClick, Select)


SEMANTIC: Final = "webcanvas-semantic"
_ANCESTORS: Final = 3
_LAST_TAG: Final = re.compile(r"(?:^|[\s>+~])([A-Za-z][A-Za-z0-9]*)[^\s>+~]*\s*$")
_CLIMBED: Final = frozenset("span h1 h2 h3 h4 h5 h6 div li ul p".split())  # noqa: SIM905
_SEMANTIC: Final = frozenset({"url_semantic_match", "element_value_semantic_match"})
_FENCED: Final = re.compile(r"```(.*?)```", re.DOTALL)
_SIGNALS: Final = frozenset({Ended.STOPPED, Ended.INFEASIBLE})


@dataclass(frozen=True, slots=True)
class Turn:
    """One check of the key nodes.

    Attributes:
        urls: which pages are looked at.
        url: the page that the action's element is on.
        acted: the element of the action; None for an action on none, or that could not be done.
        value: what the action types, or the label of what it clicks or chooses in.
    """

    urls: tuple[str, ...]
    url: str
    acted: ActedElement | None
    value: str | None


def turns(evidence: Evidence, bases: Mapping[str, str], *, after: bool) -> Iterator[Turn]:
    """Yield a turn for each action.

    Args:
        bases: the replicas' URLs by published host, which the published URLs are made of again.
        after: the pages that the action led to are looked at; else the one that the action before
            it left, as v0.0.3 does: it checks before it executes.
    """
    left = _published(evidence.steps[0].url, bases) if evidence.steps else ""
    for step in evidence.steps:
        if step.action is None:
            continue
        now = left if step.is_forged else _published(step.url, bases)
        visited = tuple(_published(one.url, bases) for one in step.visits if one.counts)
        acted = step.acted[0] if step.acted else None
        yield Turn(
            urls=(*visited, now) if after else (left,),
            url=left,
            acted=acted,
            value=_value(step, acted),
        )
        left = now


def _published(url: str, bases: Mapping[str, str]) -> str:
    for host, base in bases.items():
        rest = url.removeprefix(base)
        if rest != url and (not rest or rest[0] in "/?#"):
            return f"https://{host}{rest}"
    return url


def _value(step: StepEvidence, acted: ActedElement | None) -> str | None:
    """Return the text that was meant to be typed, never read back; else the element's label."""
    if isinstance(step.action, (Type, Write)):
        return step.action.text
    if isinstance(step.action, _LABELLED) and acted is not None:
        return acted.text or acted.name
    return None


def compared(url: str, key: str, *, is_whole: bool) -> str | None:
    """Return the text that is compared: a parameter's, or the URL's; None where there is none.

    Only the first of repeated parameters is seen, and none with an empty value. Without a name it
    is the whole raw URL, or host, path and fragment. All is decoded once more.
    """
    try:
        parsed = urlparse(url)
        if key:
            return unquote(parse_qs(parsed.query)[key][0])
    except (KeyError, ValueError):
        return None
    if is_whole:
        return unquote(url)
    fragment = f"#{parsed.fragment}" if parsed.fragment else ""
    return unquote(parsed.netloc + parsed.path + fragment)


def netloc_label(url: str) -> str:
    """Return what it calls a netloc: the first label of the host, a leading `www…` left out."""
    host = urlparse(url).netloc
    found = re.match(r".*?\.(.*?)\." if host.startswith("www") else r"(.*?)\.", host)
    return found.group(1) if found else ""


def matched(node: Mapping[str, Any], turn: Turn, judged: Mapping[str, str]) -> float:
    """Return what a key node scores at a turn, 0 to 1."""
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


@dataclass(frozen=True, slots=True)
class _Progress:
    nodes: tuple[float, ...]
    steps: int

    @property
    def score(self) -> float:
        return sum(self.nodes)

    @property
    def is_finished(self) -> bool:
        return self.score == len(self.nodes)


class WebCanvasScorer:
    """Scores episodes of Mind2Web-Live tasks by their key nodes.

    Whether an acted element is a key node's stands in the evidence (`ActedElement.fits`), where a
    check of the task names the node's selector.
    """

    formats = frozenset({"mind2web-live"})

    def __init__(self, name: str, *, of_paper: bool) -> None:
        self.name = name
        self._of_paper = of_paper

    def questions(self, original: OriginalTask, evidence: Evidence) -> Sequence[JudgeQuestion]:
        """Return what a model would be asked at every turn, each question once."""
        found: dict[str, JudgeQuestion] = {}
        try:
            with as_published():
                for turn in turns(evidence, original.bases, after=self._of_paper):
                    for node in _nodes(original):
                        for one in semantic_questions(node, turn):
                            found[one.key] = one
        except (PublishedCrashError, NotInEvidenceError):
            pass  # the score says so
        return tuple(found.values())

    def score(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> ScorerResult:
        """Score one episode: 1 where every key node was met, else 0; `metrics` has the rest."""
        return scorer_result(evidence, lambda: self._worth(original, evidence, judged))

    def aggregate(self, scores: Sequence[ScorerResult]) -> Mapping[str, float | None]:
        """Return the figures of `result.json`, or those of the paper."""
        rows = [one.metrics for one in scores if one.value is not None]
        if not rows:
            return {}
        return _of_the_paper(rows) if self._of_paper else _of_the_code(rows)

    def _worth(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> Worth:
        with as_published():
            nodes = _nodes(original)
            found = self._progress(nodes, original, evidence, judged)
        missing = [number for number, one in enumerate(found.nodes) if one != 1]
        because = (
            f"key nodes {missing} of {len(nodes)} were not met, counted from 0"
            if missing
            else f"all {len(nodes)} key nodes were met after {found.steps} steps"
        )
        return Worth(float(found.is_finished), because, _metrics(found, evidence))

    def _progress(
        self,
        nodes: Sequence[Mapping[str, Any]],
        original: OriginalTask,
        evidence: Evidence,
        judged: Mapping[str, str],
    ) -> _Progress:
        scores, steps = [0.0] * len(nodes), 0
        for turn in turns(evidence, original.bases, after=self._of_paper):
            steps += 1
            for number, node in enumerate(nodes):
                if scores[number] != 1:  # what is met is never lost
                    scores[number] = max(scores[number], matched(node, turn, judged))
            if not self._of_paper and sum(scores) == len(nodes):
                break  # the harness stops the agent there
        return _Progress(tuple(scores), steps)


def _nodes(original: OriginalTask) -> list[Mapping[str, Any]]:
    evaluation: Any = original.record["evaluation"]
    return list(evaluation)


def _metrics(found: _Progress, evidence: Evidence) -> Mapping[str, float]:
    score, total = found.score, len(found.nodes)
    rate = score / total if total else 0.0
    signalled = evidence.ended in _SIGNALS
    if found.is_finished:
        alignment = 1.0 if signalled else 0.95
    else:
        alignment = rate if signalled else 0.8 * rate
    return {
        "step_score": score,
        "key_nodes": float(total),
        "step_score_rate": rate,
        "steps": float(found.steps),
        "efficiency_score": found.steps / score if score else 0.0,
        "human_alignment": alignment,
    }


def _of_the_code(rows: Sequence[Mapping[str, float]]) -> dict[str, float | None]:
    n, total = len(rows), sum(one["key_nodes"] for one in rows)
    return {
        "task_counts": float(n),
        "average_step_score_rate": sum(one["step_score_rate"] for one in rows) / n,
        "key_node_completion_rate": sum(one["step_score"] for one in rows) / total,
        "task_success_rate": _share(rows, 0.0),
        "task_near_success_rate": _share(rows, 1.0),
        # A task with no key node met counts as 0 here, which is the best there is.
        "average_efficiency_score": sum(one["efficiency_score"] for one in rows) / n,
    }


def _of_the_paper(rows: Sequence[Mapping[str, float]]) -> dict[str, float | None]:
    n, total = len(rows), sum(one["key_nodes"] for one in rows)
    met = sum(one["step_score"] for one in rows)
    success = _share(rows, 0.0)
    return {
        "completion_rate_macro": sum(one["step_score_rate"] for one in rows) / n,
        "completion_rate_micro": met / total,
        "task_success_rate": success,
        "task_success_rate_1": success + _share(rows, 1.0),
        "efficiency": sum(one["steps"] for one in rows) / met if met else None,
        "human_alignment": sum(one["human_alignment"] for one in rows) / n,
    }


def _share(rows: Sequence[Mapping[str, float]], left: float) -> float:
    return sum(one["key_nodes"] - one["step_score"] == left for one in rows) / len(rows)


WEBCANVAS_SCORER: Final = WebCanvasScorer("webcanvas", of_paper=False)
WEBCANVAS_PAPER_SCORER: Final = WebCanvasScorer("webcanvas-paper", of_paper=True)
