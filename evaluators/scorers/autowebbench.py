"""The scorer `autowebbench`: one recorded step, as `eval.py` counts it, and strictly beside it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from evaluators.evidence import Evidence
from evaluators.matchers.command import NoCommandError, read_command
from evaluators.scorers.base import (
    NotInEvidenceError,
    OriginalTask,
    PublishedCrashError,
    ScorerResult,
    UnjudgedScorer,
    Worth,
    scorer_result,
)

# One line, from its first letter up to its last closing bracket.
_CALL: Final = re.compile(r"(\w+)\((.*)\)")
_ELEMENT: Final = frozenset({"click", "hover"})
_ELEMENT_AND_TEXT: Final = frozenset({"select", "type_string"})
_TEXT: Final = frozenset({"scroll_page", "go", "jump_to", "switch_tab", "user_input", "finish"})
_CALLED: Final = "return_args"
# What a bare name finds where `eval.py` evaluates arguments: its own variables beside Python's.
_NAMES: Final = frozenset(dir(builtins)).union(
    ("json", "sys", "re", "np", "Rouge", "jieba", "get_rouge_score", "parse_function_call"),
    ("extract", "result_path", "res_list", "ix", "r_str", "r", "labels", "res", "label", "pred"),
    ("function_call", "pattern", "match", "function_name", _CALLED),
)


# jieba 0.42 cuts a text into runs of these signs, then numbers and letters out of each run; every
# other sign that is no white space is a word of its own.
_RUN: Final = re.compile(r"[a-zA-Z0-9+#&._%-]+|\S")
_WORD: Final = re.compile(r"([a-zA-Z0-9]+(?:\.\d+)?%?)")
_HAN: Final = re.compile(r"[\u4e00-\u9fd5]")
_MEANS: Final = ("type", "label", "param", "all")
_REPLY: Final = "A: "


@dataclass(frozen=True, slots=True)
class Extracted:
    """The three parts that `eval.py` compares; each is None where a command has none.

    Attributes:
        type: the command's name.
        label: the element, as Python reads the argument.
        param: the text, direction or tab, as Python reads the argument.
    """

    type: str | None = None
    label: object = None
    param: object = None


def extract(text: str) -> Extracted:
    """Take the parts of the command that a text begins with; none of a text without one."""
    found = _CALL.match(text)
    if found is None:
        return Extracted()
    name, arguments = found[1], _evaluated(found[2])
    if name in _ELEMENT:
        return Extracted(name, label=_at(arguments, 0))
    if name in _ELEMENT_AND_TEXT:
        return Extracted(name, label=_at(arguments, 0), param=_at(arguments, 1))
    if name in _TEXT:
        return Extracted(name, param=_at(arguments, 0))
    return Extracted(name)


def _at(arguments: tuple[object, ...], place: int) -> object:
    if place >= len(arguments):
        raise PublishedCrashError("IndexError: tuple index out of range")
    return arguments[place]


def _evaluated(arguments: str) -> tuple[object, ...]:
    """Return what Python makes of arguments that stand between brackets."""
    try:
        body = ast.parse(f"{_CALLED}({arguments})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as raised:
        raise PublishedCrashError(f"{type(raised).__name__}: {raised}") from None
    value = _value(body)
    if isinstance(value, tuple):
        return value
    raise NotInEvidenceError(f"eval.py would run `{arguments[:80]}`, which Arena does not")


def _value(node: ast.expr) -> object:
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Name(id=name) if name not in _NAMES:
            raise PublishedCrashError(f"NameError: name {name!r} is not defined")
        case ast.Call(func=ast.Name(id="return_args"), keywords=[], args=given):
            return tuple(_value(one) for one in given)
        case ast.Call(func=ast.Name(id="return_args")):
            raise PublishedCrashError("TypeError: return_args() got an unexpected keyword argument")
        case ast.Name():
            return object()  # equal to nothing that a gold names
        case ast.Tuple(elts=parts):
            return tuple(_value(one) for one in parts)
        case ast.BoolOp(op=joined, values=parts):  # `click('A') and then (so)`
            return _joined(joined, parts)
        case _:
            return _literal(node)


def _joined(operator: ast.boolop, parts: list[ast.expr]) -> object:
    value: object = None
    for value in map(_value, parts):
        if bool(value) is isinstance(operator, ast.Or):
            break
    return value


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        message = f"eval.py would run `{ast.unparse(node)[:80]}`, which Arena does not"
        raise NotInEvidenceError(message) from None


class EmptyTextError(ValueError):
    """The published code raises: one of the texts has no word."""


def overlap(said: str, wanted: str) -> float | None:
    """Return the F score of the sets of words; None for Chinese, whose words need a dictionary."""
    if _HAN.search(said + wanted):
        return None
    gold, mine = set(_words(wanted)), set(_words(said))
    if not gold or not mine:
        raise EmptyTextError(f"{'Reference' if gold else 'Hypothesis'} is empty.")
    both = len(mine & gold)
    precision, recall = both / len(gold), both / len(mine)
    return 2.0 * ((precision * recall) / (precision + recall + 1e-8))


def _words(text: str) -> Iterator[str]:
    for run in _RUN.findall(text):
        yield from filter(None, _WORD.split(run))


class AutoWebBenchScorer(UnjudgedScorer):
    """Scores recorded steps by what a model replied, which is the episode's answer.

    `metrics` of a step are `type`, `label` (the element), `param` (ROUGE-1 of the text) and `all`,
    each where `eval.py` records it, and `strict`, which every step has.
    """

    name = "autowebbench"
    formats = frozenset({"autowebbench"})

    def score(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> ScorerResult:
        """Score one step: 1 where type and element are right; only element steps have a value."""
        del judged
        found = scorer_result(evidence, lambda: _step(original.record, evidence.answer or ""))
        if evidence.fault is not None:
            return found
        strict = {"strict": _strict(original.record, evidence.answer or "")}
        return replace(found, metrics={**_metrics(original, evidence), **found.metrics, **strict})

    def aggregate(self, scores: Sequence[ScorerResult]) -> Mapping[str, float | None]:
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
    """Return what is recorded of a step that has no value: its type and its text."""
    try:
        return _compared(original.record, evidence.answer or "")
    except (PublishedCrashError, NotInEvidenceError):
        return {}


def _compared(record: Mapping[str, Any], answer: str) -> dict[str, float]:
    """Compare a reply with the gold as `eval.py` does, its omissions included."""
    gold, said = extract(record["target"]), extract(answer.rsplit(_REPLY, 1)[-1].strip())
    metrics: dict[str, float] = {}
    if gold.type is not None:
        metrics["type"] = float(said.type == gold.type)
    if gold.label is not None:
        metrics["label"] = float(said.label == gold.label)
        metrics["all"] = metrics["type"] * metrics["label"]
    if gold.param is not None and said.param is not None:
        shared = _shared(gold.param, said.param)
        if shared:  # nought is not recorded there, which raises the mean
            metrics["param"] = shared
    return metrics


def _shared(gold: object, said: object) -> float | None:
    for one in (gold, said):
        if not isinstance(one, str):
            message = f"AttributeError: '{type(one).__name__}' object has no attribute 'decode'"
            raise PublishedCrashError(message)
    try:
        return overlap(str(said), str(gold))
    except EmptyTextError as raised:
        raise PublishedCrashError(f"ValueError: {raised}") from None


def _strict(record: Mapping[str, Any], answer: str) -> float:
    """Return 1 where the matcher `command`, which decides the outcome, takes the reply."""
    try:
        return float(read_command(answer) == read_command(record["target"]))
    except NoCommandError:
        return 0.0


AUTOWEBBENCH_SCORER: Final = AutoWebBenchScorer()
