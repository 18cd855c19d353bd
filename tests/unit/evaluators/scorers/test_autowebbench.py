"""AutoWebBench's `eval.py` as it was seen to count when it was run, and a strict rate beside it."""

from __future__ import annotations

import pytest
from quick_cases import ONE_QUICK
from support.tasks.make_original import make_original, played, published

from arena_core.worlds import World
from evaluators.matchers.command import CommandMatcher
from evaluators.scorers.autowebbench import AUTOWEBBENCH_SCORER, overlap
from evaluators.scorers.base import ScorerResult, ScorerStatus


def step(target: str, reply: str | None) -> ScorerResult:
    original = make_original({"source": "…", "target": target}, "autowebbench")
    return AUTOWEBBENCH_SCORER.score(original, played(reply), {})


@pytest.mark.parametrize(
    ("fact", "target", "reply", "value", "strict"),
    [
        ("right", "click('A')", "click('A') # because", 1.0, 1.0),
        ("another element", "click('A')", "click('B')", 0.0, 0.0),
        ("another type", "click('A')", "hover('A')", 0.0, 0.0),
        ("after the last A:", "click('A')", "Q: x\n\nA: click('A')", 1.0, 1.0),
        ("thoughts, then A:", "click('A')", "Think. A: click('A')", 1.0, 1.0),
        ("another call before A:", "click('A')", "click('B')\nA: click('A')", 1.0, 0.0),
        ("a comment with brackets", "click('A')", "click('A') # so (x)", 1.0, 1.0),
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
    assert (found.status, found.value) == (ScorerStatus.UNSCORED, None)
    assert (found.metrics["type"], found.metrics["strict"]) == (1.0, 1.0)
    assert "all" not in found.metrics


def test_a_gold_finish_without_an_answer_drops_the_step() -> None:
    found = step("finish()", "finish()")
    assert found.status is ScorerStatus.CRASH
    assert "IndexError" in found.because
    assert found.metrics == {"strict": 1.0}


def test_a_reply_whose_arguments_are_no_values_is_skipped_and_not_wrong() -> None:
    found = step("click('A')", "click(A)")
    assert found.status is ScorerStatus.CRASH
    assert "NameError: name 'A' is not defined" in found.because
    assert found.metrics == {"strict": 0.0}


@pytest.mark.parametrize("reply", ["click(__import__('os').getcwd())", "click(1 + 1)"])
def test_nothing_that_a_model_says_is_run(reply: str) -> None:
    found = step("click('A')", reply)
    assert found.status is ScorerStatus.UNSCORED
    assert "would run" in found.because


@pytest.mark.parametrize(
    ("reply", "raises"),
    [
        ("click('A') and then (so)", "NameError"),
        ("click('A') as said (so)", "SyntaxError"),
        ("click('A'), hover('B')", "NameError"),
        ("click(element_id='A')", "TypeError"),
        ("type_string('A')", "IndexError"),
        ("click()", "IndexError"),
    ],
)
def test_calls_that_eval_py_drops_are_not_counted(reply: str, raises: str) -> None:
    found = step("click('A')", reply)
    assert found.status is ScorerStatus.CRASH
    assert raises in found.because
    assert set(found.metrics) == {"strict"}


def test_a_builtin_in_place_of_the_element_is_wrong_and_not_dropped() -> None:
    assert step("click('A')", "click(id)").value == 0.0


def test_a_gold_with_a_line_end_in_it_is_not_read() -> None:
    target = "type_string('A', 'one\ntwo', False)"
    found = step(target, target)
    assert found.status is ScorerStatus.UNSCORED
    assert found.metrics == {"strict": 1.0}


def test_the_text_is_compared_after_a_wrong_type_too() -> None:
    found = step("type_string('A', 'red kettle', False)", "select('A', 'red')")
    assert (found.value, found.metrics["type"]) == (0.0, 0.0)
    assert found.metrics["param"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("said", "raises"), [("finish(7)", "AttributeError"), ("finish('')", "ValueError")]
)
def test_an_answer_that_ends_eval_py_is_counted_nowhere(said: str, raises: str) -> None:
    found = step("finish('seven')", said)
    assert (found.status, found.metrics) == (ScorerStatus.CRASH, {"strict": 0.0})
    assert raises in found.because


@ONE_QUICK
@pytest.mark.parametrize("reply", ["Think. A: {}", "```python\n{}\n```", "{} # because"])
def test_the_strict_rate_and_the_outcome_go_by_one_matcher(reply: str) -> None:
    for record in published("autowebbench-en-in-domain.json"):
        said = reply.format(record["target"])
        matcher = CommandMatcher(value=record["target"])
        met = matcher.match((said,), World.OFFLINE).met
        assert step(record["target"], said).metrics["strict"] == float(met)
        assert met, said


def test_the_overlap_is_that_of_the_published_word_cutter() -> None:
    assert overlap("best...", "best ...") == pytest.approx(1.0)  # one word of three stops
    assert overlap("$1.50", "$1.50 more") == pytest.approx(0.8)


def test_an_overlap_of_nought_is_not_recorded_which_raises_the_mean() -> None:
    target = "type_string('A', 'red kettle', False)"
    none, half = (
        step(target, "type_string('A', 'x', False)"),
        step(target, "type_string('A', 'red', False)"),
    )
    assert "param" not in none.metrics
    assert half.metrics["param"] == pytest.approx(2 / 3)
    figures = AUTOWEBBENCH_SCORER.aggregate([none, half])
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
    figures = AUTOWEBBENCH_SCORER.aggregate(scores)
    assert (figures["ssr"], figures["all_n"]) == (0.5, 2.0)
    assert (figures["strict"], figures["strict_n"]) == (0.6, 5.0)


def test_gold_replies_are_right_on_every_published_step() -> None:
    scores = [
        step(record["target"], record["target"])
        for record in published("autowebbench-en-in-domain.json")
    ]
    figures = AUTOWEBBENCH_SCORER.aggregate(scores)
    assert len(scores) == 175
    assert (figures["ssr"], figures["all_n"]) == (1.0, 113.0)
    assert (figures["strict"], figures["strict_n"]) == (1.0, 175.0)
    assert {one.status for one in scores} == set(ScorerStatus)
