"""WebArena's `StringEvaluator`: answers by equality, by inclusion, and by a model's verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from evaluators.judgements import JudgeQuestion
from evaluators.scorers.base import NotInEvidenceError, PublishedCrashError, Worth
from evaluators.scorers.webarena.words import words

FUZZY: Final = "webarena-fuzzy-match"
UNACHIEVABLE: Final = "webarena-ua-match"


def clean_answer(answer: str) -> str:
    """Strip white space, then one pair of outer quotes of the same kind, and lower the case."""
    answer = _text(answer, "answer", "clean_answer").strip()
    for quote in ("'", '"'):
        if answer.startswith(quote) and answer.endswith(quote):
            answer = answer[1:-1]
            break
    return answer.lower()


def exact_match(ref: str, pred: str) -> float:
    """Return 1 where both are equal when they are clean."""
    return float(clean_answer(pred) == clean_answer(_text(ref, "ref", "exact_match")))


def must_include(ref: str, pred: str, *, tokenize: bool = False) -> float:
    """Return 1 where one clean text is in the other, anywhere.

    With `tokenize`, a reference of one character must be a whole token.
    """
    clean_ref = clean_answer(_text(ref, "ref", "must_include"))
    clean_pred = clean_answer(pred)
    if tokenize and len(clean_ref) == 1 and len(words(clean_ref)) == 1:
        return float(clean_ref in words(clean_pred))
    return float(clean_ref in clean_pred)


def questions(record: Mapping[str, Any], answer: str) -> Iterator[JudgeQuestion]:
    """Yield what the published code asks its model about an answer, in its order."""
    pred = clean_answer(answer)
    for approach, value in record["eval"]["reference_answers"].items():
        if approach != "fuzzy_match":
            continue
        if value == "N/A":
            if not exact_match(value, pred) or len(record["eval"]["reference_answers"]) > 1:
                yield _unachievable(record, pred)
        else:
            yield from (_fuzzy(record, one, pred) for one in value)


def string_match(record: Mapping[str, Any], answer: str, judged: Mapping[str, str]) -> Worth:
    """Score an answer as `StringEvaluator.__call__` does."""
    pred = clean_answer(answer)
    score, because = 1.0, "nothing is asked of the answer"
    awaited: JudgeQuestion | None = None
    for approach, value in record["eval"]["reference_answers"].items():
        match approach:
            case "exact_match":
                factor, says = exact_match(value, pred), f"exact_match {value!r}"
            case "must_include":
                factor, says = _include_all(value, pred)
            case "fuzzy_match" if value == "N/A":
                factor, says = exact_match(value, pred), "fuzzy_match 'N/A'"
                if score * factor != 1:
                    # It assigns: what was decided before is forgotten.
                    score, awaited = 1.0, None
                    factor, asked = _judged(
                        _unachievable(record, pred), judged, "different", "same"
                    )
                    awaited = asked
                    says = "the reported reason, by the model"
            case "fuzzy_match":
                factor, says, asked = _fuzzy_all(record, value, pred, judged)
                awaited = awaited or asked
            case _:
                continue  # a key that it does not know passes
        score, because = _times(score, because, factor, says)
    if awaited is not None and score:
        message = f"no model has judged what is asked with the prompt {awaited.prompt}"
        raise NotInEvidenceError(message)
    return Worth(score, because)


def _include_all(value: Any, pred: str) -> tuple[float, str]:
    _assert_list(value)
    factors = {one: must_include(one, pred, tokenize=len(value) == 1) for one in value}
    missing = [one for one, factor in factors.items() if not factor]
    return float(not missing), f"must_include {missing or value}"


def _fuzzy_all(
    record: Mapping[str, Any], value: Any, pred: str, judged: Mapping[str, str]
) -> tuple[float, str, JudgeQuestion | None]:
    """Return the product of the verdicts, what they are about, and a question without a reply."""
    _assert_list(value)
    score, awaited = 1.0, None
    for one in value:
        factor, asked = _judged(_fuzzy(record, one, pred), judged, "incorrect", "correct")
        score, awaited = score * factor, awaited or asked
    return score, f"fuzzy_match {value}, by the model", awaited


def _judged(
    question: JudgeQuestion, judged: Mapping[str, str], no: str, yes: str
) -> tuple[float, JudgeQuestion | None]:
    """Return a verdict, whose words are searched anywhere in the reply; 1 where there is none."""
    reply = judged.get(question.key)
    if reply is None:
        return 1.0, question
    reply = reply.lower()
    if no in reply or (yes == "correct" and "partially correct" in reply):
        return 0.0, None
    if yes not in reply:
        message = f"AssertionError: neither {yes!r} nor {no!r} is in the model's reply"
        raise PublishedCrashError(message)
    return 1.0, None


def _fuzzy(record: Mapping[str, Any], reference: Any, pred: str) -> JudgeQuestion:
    inputs = {
        "question": _text(record["intent"], "intent", "fuzzy_match"),
        "reference": _text(reference, "ref", "fuzzy_match"),
        "answer": pred,
    }
    return JudgeQuestion(prompt=FUZZY, version=1, inputs=inputs)


def _unachievable(record: Mapping[str, Any], pred: str) -> JudgeQuestion:
    inputs = {
        "task": _text(record["intent"], "intent", "ua_match"),
        "actual": _text(record["eval"]["string_note"], "ref", "ua_match"),
        "reported": pred,
    }
    return JudgeQuestion(prompt=UNACHIEVABLE, version=1, inputs=inputs)


def _times(score: float, because: str, factor: float, says: str) -> tuple[float, str]:
    if not score:
        return score * factor, because
    if factor:
        return score * factor, f"{says} holds"
    return 0.0, f"{says} does not hold"


def _assert_list(value: Any) -> None:
    if not isinstance(value, list):
        raise PublishedCrashError("AssertionError")


def _text(value: Any, name: str, function: str) -> str:
    if not isinstance(value, str):
        kind = type(value).__name__
        message = f"BeartypeCallHintParamViolation: {function}() takes a str as {name}, not {kind}"
        raise PublishedCrashError(message)
    return value
