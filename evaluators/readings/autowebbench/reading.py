"""The reading `autowebbench`: one recorded step, as `eval.py` counts it, and strictly beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from evaluators.evidence import Evidence
from evaluators.judgements import JudgeQuestion
from evaluators.original import OriginalTask
from evaluators.readings.autowebbench.commands import (
    Command,
    NoCommandError,
    NoValuesError,
    read_command,
)
from evaluators.readings.autowebbench.overlap import overlap
from evaluators.readings.base import ReadingScore
from evaluators.readings.upstream import (
    NotInEvidenceError,
    PublishedCrashError,
    Worth,
    as_published,
    reading_score,
)

_MEANS: Final = ("type", "label", "param", "all")
_REPLY: Final = "A: "


class AutoWebBenchReading:
    """Scores recorded steps by what a model replied, which is the episode's answer.

    `metrics` of a step are `type`, `label` (the element), `param` (ROUGE-1 of the text) and `all`,
    each where `eval.py` records it, and `strict`, which every step has.
    """

    name = "autowebbench"
    formats = frozenset({"autowebbench"})

    def questions(self, original: OriginalTask, evidence: Evidence) -> Sequence[JudgeQuestion]:
        """Return nothing: no model judges."""
        del original, evidence
        return ()

    def score(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> ReadingScore:
        """Score one step: 1 where type and element are right; only element steps have a value."""
        del judged
        found = reading_score(evidence, lambda: _step(original.record, evidence.answer or ""))
        if evidence.fault is not None:
            return found
        strict = {"strict": _strict(original.record, evidence.answer or "")}
        return replace(found, metrics={**_metrics(original, evidence), **found.metrics, **strict})

    def aggregate(self, scores: Sequence[ReadingScore]) -> Mapping[str, float | None]:
        """Return `eval.py`'s four means (SSR is `all`), and the strict rate over all steps."""
        figures: dict[str, float | None] = {}
        for name in (*_MEANS, "strict"):
            values = [one.metrics[name] for one in scores if name in one.metrics]
            figures[name] = sum(values) / len(values) if values else None
            figures[f"{name}_n"] = float(len(values))
        return {"ssr": figures["all"], **figures}


def _step(record: Mapping[str, Any], answer: str) -> Worth:
    metrics = _compared(record, answer)
    if "all" not in metrics:
        message = "eval.py takes only steps on an element into its step success rate"
        raise NotInEvidenceError(message)
    said = "right" if metrics["all"] else "wrong"
    return Worth(metrics["all"], f"type and element are {said}: {record['target']!r}", metrics)


def _metrics(original: OriginalTask, evidence: Evidence) -> Mapping[str, float]:
    """Return what is recorded of a step that has no value: its type."""
    try:
        return _compared(original.record, evidence.answer or "")
    except PublishedCrashError:
        return {}


def _compared(record: Mapping[str, Any], answer: str) -> dict[str, float]:
    """Compare a reply with the gold as `eval.py` does, its omissions included.

    Raises:
        PublishedCrashError: it drops the step.
    """
    with as_published():
        gold = _gold(record)
        if gold.name == "finish" and not gold.arguments:
            message = "list index out of range"
            raise IndexError(message)
    try:
        said = read_command(answer.rsplit(_REPLY, 1)[-1])
    except NoValuesError as raised:
        raise PublishedCrashError(str(raised)) from None
    except NoCommandError:
        return (
            {"type": 0.0} if gold.element is None else dict.fromkeys(("type", "label", "all"), 0.0)
        )
    metrics = {"type": float(said.name == gold.name)}
    if gold.element is not None:
        metrics["label"] = float(said.element == gold.element)
        metrics["all"] = metrics["type"] * metrics["label"]
    text = _text(gold)
    if text is not None and metrics["type"]:
        shared = overlap(_text(said) or "", text)
        if shared:  # nought is not recorded there, which raises the mean
            metrics["param"] = shared
    return metrics


def _text(command: Command) -> str | None:
    texts = [one for one in command.others if isinstance(one, str)]
    return texts[0] if texts else None


def _gold(record: Mapping[str, Any]) -> Command:
    try:
        return read_command(record["target"])
    except (NoCommandError, NoValuesError) as cause:
        message = f"the recorded target is no command: {cause}"
        raise NotInEvidenceError(message) from None


def _strict(record: Mapping[str, Any], answer: str) -> float:
    """Return 1 where type, element and every argument are right, blanks and case aside."""
    try:
        gold, said = _gold(record), read_command(answer.rsplit(_REPLY, 1)[-1])
    except (NoCommandError, NoValuesError, NotInEvidenceError):
        return 0.0
    same = [_plain(one) for one in gold.others] == [_plain(one) for one in said.others]
    return float((gold.name, gold.element) == (said.name, said.element) and same)


def _plain(argument: object) -> object:
    return " ".join(argument.split()).casefold() if isinstance(argument, str) else argument


AUTOWEBBENCH_READING: Final = AutoWebBenchReading()
