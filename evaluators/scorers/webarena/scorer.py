"""The scorer `webarena`: the product of its evaluators, in the record's order."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qs, urlparse

from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence
from evaluators.judgements import JudgeQuestion
from evaluators.scorers.base import (
    NotInEvidenceError,
    OriginalTask,
    PublishedCrashError,
    ScorerResult,
    Worth,
    as_published,
    mean_of_scored,
    replaced,
    scorer_result,
)
from evaluators.scorers.webarena import strings
from evaluators.scorers.webarena.strings import exact_match, must_include

_RULE: Final = "GOLD in PRED"


_PLACEHOLDER: Final = re.compile(r"__[A-Z]+(?:_[A-Z]+)*__")
_EVALUATORS: Final = ("string_match", "url_match", "program_html")
LOOK = "original-html-{}"


def url_match(record: Mapping[str, Any], url: str) -> Worth:
    """Score a URL as `URLEvaluator.__call__` does.

    Host and path of any alternative must be inside the URL's, anywhere. The parameters of all
    alternatives lie in one pool: of each name any pooled value will do. Scheme, fragment, further
    parameters and those without a value are not looked at.
    """
    pred = _clean(url)
    references = [_clean(one) for one in record["eval"]["reference_url"].split(" |OR| ")]
    rule = record["eval"].get("url_note", _RULE)
    if rule != _RULE:
        raise ValueError(f"Unknown matching rule: {rule}")
    bases: list[str] = []
    pooled: defaultdict[str, set[str]] = defaultdict(set)
    for reference in references:
        base, query = _parts(reference)
        bases.append(base)
        for name, values in query.items():
            pooled[name].update(values)
    at, said = _parts(pred)
    if not any(base in at for base in bases):
        return Worth(0.0, f"{at!r} holds none of {bases}")
    for name, wanted in pooled.items():
        if wanted.isdisjoint(said.get(name, [])):
            return Worth(0.0, f"the parameter {name!r} of the URL is none of {sorted(wanted)}")
    return Worth(1.0, f"{at!r} holds one of {bases}")


def _clean(url: str) -> str:
    return str(url).rstrip("/")


def _parts(url: str) -> tuple[str, dict[str, list[str]]]:
    parsed = urlparse(url)
    return parsed.netloc + parsed.path, parse_qs(parsed.query)


class WebArenaScorer:
    """Scores episodes of imported WebArena tasks as WebArena's own evaluators would.

    What the published evaluators look at stands in the evidence: the answer, the last URL, and what
    each `program_html` target selected (`original-html-N`).
    """

    name = "webarena"
    formats = frozenset({"webarena", "visualwebarena"})

    def questions(self, original: OriginalTask, evidence: Evidence) -> Sequence[JudgeQuestion]:
        """Return what its model would be asked about the answer."""
        try:
            with as_published():
                record = _expanded(original, evidence)
                if "string_match" not in record["eval"]["eval_types"]:
                    return ()
                return tuple(strings.questions(record, _answer(evidence)))
        except (PublishedCrashError, NotInEvidenceError):
            return ()  # the score says so

    def score(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> ScorerResult:
        """Score one episode: 0 or 1, `metrics` by evaluator."""
        return scorer_result(evidence, lambda: _product(original, evidence, judged))

    def aggregate(self, scores: Sequence[ScorerResult]) -> Mapping[str, float | None]:
        """Return `average_score`: crashed and unscored episodes fall out of it, as there."""
        return {"average_score": mean_of_scored(scores)}


def _product(original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]) -> Worth:
    record = _expanded(original, evidence)
    score, because, metrics = 1.0, "no evaluator is named", dict[str, float]()
    missing: NotInEvidenceError | None = None
    has_moved = False
    with as_published():
        kinds = list(record["eval"]["eval_types"])
        for kind in kinds:
            if kind not in _EVALUATORS:
                raise ValueError(f"eval_type {kind} is not supported")
    for kind in kinds:
        try:
            with as_published():
                worth = _evaluated(kind, record, evidence, judged, has_moved=has_moved)
                has_moved = has_moved or (kind == "program_html" and navigates(record))
        except NotInEvidenceError as cause:
            missing = missing or cause
            continue
        metrics[kind] = metrics.get(kind, 1.0) * worth.value
        if score:
            because = f"{kind}: {worth.because}"
        score *= worth.value
    if missing is not None and score:
        raise missing
    return Worth(score, because, metrics)


def _evaluated(
    kind: str,
    record: Mapping[str, Any],
    evidence: Evidence,
    judged: Mapping[str, str],
    *,
    has_moved: bool,
) -> Worth:
    match kind:
        case "string_match":
            return strings.string_match(record, _answer(evidence), judged)
        case "url_match":
            if has_moved:
                message = "url_match would see the page that program_html has left open"
                raise NotInEvidenceError(message)
            return url_match(record, _last_url(evidence))
        case _:
            return program_html(record, evidence)


def _answer(evidence: Evidence) -> str:
    """Return what the published runner would take for the answer.

    An episode that Arena ended at its step limit has the answer that the runner makes up there; one
    that gives up as infeasible has the answer that its prompts ask for.
    """
    if evidence.ended is Ended.STEP_LIMIT:
        steps = sum(step.action is not None for step in evidence.steps)
        return f"Early stop: Reach max steps {steps}"
    if evidence.ended is Ended.INFEASIBLE and not evidence.answer:
        return "N/A"
    return evidence.answer or ""


def _last_url(evidence: Evidence) -> str:
    """Return where the agent ended; an address that a script of its own set is passed over."""
    if not evidence.steps:
        raise NotInEvidenceError("the evidence has no step, so no last URL")
    return next((step.url for step in reversed(evidence.steps) if not step.is_forged), "")


def _expanded(original: OriginalTask, evidence: Evidence) -> dict[str, Any]:
    """Return the record with the URLs of the replicas in place of its placeholders."""
    record = replaced(original.record, original.bases)
    if not isinstance(record, dict):
        raise TypeError
    named = {*_PLACEHOLDER.findall(repr(record.get("eval")))} - {"__last_url__", "__page__"}
    if named:
        message = f"the task does not say what {', '.join(sorted(named))} is (original.bases)"
        raise NotInEvidenceError(message)
    if original.bases and evidence.world is not World.OFFLINE:
        message = "its URLs are those of replicas, and the episode was played on live sites"
        raise NotInEvidenceError(message)
    return record


WEBARENA_SCORER: Final = WebArenaScorer()


def program_html(record: Mapping[str, Any], evidence: Evidence) -> Worth:
    """Score what was recorded for each target as `HTMLContentEvaluator.__call__` does."""
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
        raise ValueError(f"Unknown locator: {locator}")


def _selected(evidence: Evidence, number: int) -> str:
    name = LOOK.format(number)
    found = next((one for one in evidence.located if one.check == name), None)
    if found is None:
        raise NotInEvidenceError(f"the evidence has no record of target {number} ('{name}')")
    if found.error is not None:
        raise NotInEvidenceError(f"target {number} could not be looked at: {found.error}")
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
            raise PublishedCrashError("AssertionError")
        missing = [one for one in contents if not _includes(one, selected)]
        says = f"the text lacks {missing}" if missing else f"the text holds {contents}"
        return float(not missing), says
    raise ValueError(f"Unknown required_contents: {required.keys()}")


def _includes(content: str, selected: str) -> bool:
    return any(must_include(one, selected) for one in content.split(" |OR| "))
