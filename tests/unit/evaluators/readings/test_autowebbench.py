"""AutoWebBench's `eval.py` as it was seen to count when it was run, and a strict rate beside it."""

from __future__ import annotations

import pytest
from make_original import make_original, played, published

from evaluators.readings.autowebbench.reading import AUTOWEBBENCH_READING
from evaluators.readings.base import ReadingScore, ReadingStatus


def step(target: str, reply: str | None) -> ReadingScore:
    original = make_original({"source": "…", "target": target}, "autowebbench")
    return AUTOWEBBENCH_READING.score(original, played(reply), {})


@pytest.mark.parametrize(
    ("fact", "target", "reply", "value", "strict"),
    [
        ("right", "click('A')", "click('A') # because", 1.0, 1.0),
        ("another element", "click('A')", "click('B')", 0.0, 0.0),
        ("another type", "click('A')", "hover('A')", 0.0, 0.0),
        ("after the last A:", "click('A')", "Q: x\n\nA: click('A')", 1.0, 1.0),
        ("prose before it", "click('A')", "I will click('A')", 0.0, 0.0),
        ("no reply", "click('A')", None, 0.0, 0.0),
        (
            "typed text is no part",
            "type_string('A', 'kettle', False)",
            "type_string('A', 'x', 1)",
            1.0,
            0.0,
        ),
        (
            "typed text, strictly",
            "type_string('A', 'kettle', False)",
            "type_string('A', ' Kettle', False)",
            1.0,
            1.0,
        ),
    ],
)
def test_ssr_is_type_and_element_of_element_steps(
    fact: str, target: str, reply: str | None, value: float, strict: float
) -> None:
    found = step(target, reply)
    assert (found.value, found.metrics["strict"]) == (value, strict), fact


@pytest.mark.parametrize("target", ["scroll_page('down')", "go('backward')", "finish('7')"])
def test_steps_without_an_element_are_left_out_of_ssr(target: str) -> None:
    found = step(target, target)
    assert (found.status, found.value) == (ReadingStatus.UNSCORED, None)
    assert (found.metrics["type"], found.metrics["strict"]) == (1.0, 1.0)
    assert "all" not in found.metrics


def test_a_gold_finish_without_an_answer_drops_the_step() -> None:
    found = step("finish()", "finish()")
    assert found.status is ReadingStatus.CRASH
    assert "IndexError" in found.because
    assert found.metrics == {"strict": 1.0}


def test_a_reply_whose_arguments_are_no_values_is_skipped_and_not_wrong() -> None:
    found = step("click('A')", "click(A)")
    assert found.status is ReadingStatus.CRASH
    assert "NameError: name 'A' is not defined" in found.because
    assert found.metrics == {"strict": 0.0}


def test_nothing_that_a_model_says_is_run() -> None:
    found = step("click('A')", "click(__import__('os').getcwd())")
    assert found.status is ReadingStatus.CRASH


def test_an_overlap_of_nought_is_not_recorded_which_raises_the_mean() -> None:
    target = "type_string('A', 'red kettle', False)"
    none, half = (
        step(target, "type_string('A', 'x', False)"),
        step(target, "type_string('A', 'red', False)"),
    )
    assert "param" not in none.metrics
    assert half.metrics["param"] == pytest.approx(2 / 3)
    figures = AUTOWEBBENCH_READING.aggregate([none, half])
    assert figures["param"] == pytest.approx(2 / 3)
    assert figures["param_n"] == 1.0


def test_both_rates_are_given_with_what_they_are_of() -> None:
    scores = [
        step("click('A')", "click('A')"),
        step("click('A')", "click('B')"),
        step("click('A')", "click(A)"),
        step("go('backward')", "go('backward')"),
        step("finish()", "finish()"),
    ]
    figures = AUTOWEBBENCH_READING.aggregate(scores)
    assert (figures["ssr"], figures["all_n"]) == (0.5, 2.0)
    assert (figures["strict"], figures["strict_n"]) == (0.6, 5.0)


def test_gold_replies_are_right_on_every_published_step() -> None:
    scores = [
        step(record["target"], record["target"])
        for record in published("autowebbench-en-in-domain.json")
    ]
    figures = AUTOWEBBENCH_READING.aggregate(scores)
    assert len(scores) == 175
    assert (figures["ssr"], figures["all_n"]) == (1.0, 113.0)
    assert (figures["strict"], figures["strict_n"]) == (1.0, 175.0)
    assert {one.status for one in scores} == set(ReadingStatus)
