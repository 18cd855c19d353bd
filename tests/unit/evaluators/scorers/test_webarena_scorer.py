"""The scorer around WebArena's evaluators: what it reads, what it cannot, whom it asks."""

from __future__ import annotations

from typing import Any

import pytest
from support.tasks.make_original import BASES, make_original, played, published, webarena_task

from arena_core.worlds import World
from evaluators.evidence import Ended, EpisodeFault, Evidence, Located, UnscoredReason
from evaluators.scorers.base import OriginalTask, ScorerResult, ScorerStatus
from evaluators.scorers.webarena.scorer import WEBARENA_SCORER

FUZZY = webarena_task("string_match", answers={"fuzzy_match": ["red", "blue"]})
IMPOSSIBLE = webarena_task(
    "string_match", answers={"fuzzy_match": "N/A"}, string_note="there is no such shop"
)


def score(task: OriginalTask, evidence: Evidence, *replies: str) -> ScorerResult:
    asked = WEBARENA_SCORER.questions(task, evidence)
    judged = {question.key: reply for question, reply in zip(asked, replies, strict=False)}
    return WEBARENA_SCORER.score(task, evidence, judged)


class TestTheModel:
    @pytest.mark.parametrize(
        ("replies", "value"),
        [
            (("correct", "Correct."), 1.0),
            (("correct", "incorrect"), 0.0),
            (("partially correct", "correct"), 0.0),
            (("It is correct, not incorrect", "correct"), 0.0),  # searched anywhere
            (("not correct", "correct"), 1.0),
        ],
    )
    def test_verdict_words_are_searched_anywhere(
        self, replies: tuple[str, ...], value: float
    ) -> None:
        assert score(FUZZY, played("Red and blue"), *replies).value == value

    def test_a_reply_without_a_verdict_is_a_crash(self) -> None:
        found = score(FUZZY, played("x"), "I cannot say", "correct")
        assert found.status is ScorerStatus.CRASH
        assert "AssertionError" in found.because

    @pytest.mark.parametrize(("reply", "value"), [("same", 1.0), ("not the same: different", 0.0)])
    def test_the_impossible_is_judged_by_its_reason(self, reply: str, value: float) -> None:
        [question] = WEBARENA_SCORER.questions(IMPOSSIBLE, played("It is shut"))
        assert question.inputs["actual"] == "there is no such shop"
        assert question.inputs["reported"] == "it is shut"
        assert score(IMPOSSIBLE, played("It is shut"), reply).value == value

    def test_a_bare_na_asks_nobody(self) -> None:
        assert WEBARENA_SCORER.questions(IMPOSSIBLE, played(" 'N/A' ")) == ()
        assert score(IMPOSSIBLE, played("N/A")).value == 1.0

    def test_the_verdict_on_a_reason_forgets_what_was_decided_before(self) -> None:
        task = webarena_task(
            "string_match",
            answers={"exact_match": "never", "fuzzy_match": "N/A"},
            string_note="no shop",
        )
        assert score(task, played("no shop"), "same").value == 1.0

    def test_without_a_reply_there_is_no_score(self) -> None:
        found = score(FUZZY, played("red"), "correct")
        assert found.status is ScorerStatus.UNSCORED
        assert "no model has judged" in found.because

    def test_no_reply_is_needed_where_another_factor_is_zero(self) -> None:
        task = webarena_task(
            ["string_match", "url_match"],
            answers={"fuzzy_match": ["red"]},
            reference_url="__MAP__/x",
        )
        assert score(task, played("red")).value == 0.0


TARGET: Any = {"url": "last", "locator": "", "required_contents": {"must_include": ["a"]}}


class TestWhatTheEvidenceMustHold:
    def test_a_target_that_was_not_looked_at_is_no_score(self) -> None:
        found = score(webarena_task("program_html", html=[TARGET]), played())
        assert found.status is ScorerStatus.UNSCORED
        assert "no record of target 0" in found.because

    def test_a_target_that_could_not_be_looked_at_is_no_score(self) -> None:
        lost = Located(check="original-html-0", error="the page did not open in 30 s")
        evidence = played().model_copy(update={"located": (lost,)})
        found = score(webarena_task("program_html", html=[TARGET]), evidence)
        assert found.status is ScorerStatus.UNSCORED
        assert "did not open" in found.because

    def test_a_url_after_targets_that_navigate_is_not_the_agents(self) -> None:
        target = {**TARGET, "url": "__MAP__/a"}
        task = webarena_task(["program_html", "url_match"], html=[target], reference_url="")
        assert score(task, played(selected=["a"])).status is ScorerStatus.UNSCORED
        stays = webarena_task(["program_html", "url_match"], html=[TARGET], reference_url="")
        assert score(stays, played(selected=["a"])).value == 1.0

    def test_an_address_that_a_script_of_the_agents_set_is_not_where_it_ended(self) -> None:
        task = webarena_task("url_match", reference_url=f"{BASES['__MAP__']}/x")
        first, *_ = played().steps
        last = first.model_copy(update={"index": 1, "url": f"{BASES['__MAP__']}/x"})
        for is_forged, value in ((False, 1.0), (True, 0.0)):
            steps = (first, last.model_copy(update={"is_forged": is_forged}))
            assert score(task, played().model_copy(update={"steps": steps})).value == value

    def test_a_placeholder_without_a_base_is_no_score(self) -> None:
        record = webarena_task("url_match", reference_url="__MAP__/x").record
        bases = {name: base for name, base in BASES.items() if name != "__MAP__"}
        found = score(make_original(record, bases=bases), played())
        assert found.status is ScorerStatus.UNSCORED
        assert "__MAP__" in found.because

    def test_an_episode_on_live_sites_is_no_score(self) -> None:
        evidence = played().model_copy(update={"world": World.ONLINE})
        assert score(webarena_task(), evidence).status is ScorerStatus.UNSCORED

    def test_an_attempt_that_broke_off_is_no_score(self) -> None:
        fault = EpisodeFault(reason=UnscoredReason.INFRA, message="the shop is down")
        found = score(webarena_task(), played().model_copy(update={"fault": fault}))
        assert (found.status, found.because) == (
            ScorerStatus.UNSCORED,
            "the attempt broke off: the shop is down",
        )


class TestHowAnEpisodeEnds:
    def test_the_runner_makes_up_an_answer_at_the_step_limit(self) -> None:
        task = webarena_task("string_match", answers={"must_include": ["30", "max"]})
        assert score(task, played(ended=Ended.STEP_LIMIT, steps=30)).value == 1.0
        assert score(task, played(ended=Ended.DEADLINE, steps=30)).value == 0.0

    def test_an_agent_that_gives_up_as_infeasible_has_said_na(self) -> None:
        assert score(IMPOSSIBLE, played(ended=Ended.INFEASIBLE)).value == 1.0

    def test_an_agent_that_crashes_has_no_score(self) -> None:
        found = score(webarena_task(), played(ended=Ended.AGENT_CRASHED))
        assert found.status is ScorerStatus.CRASH


def test_a_run_is_the_mean_of_what_has_a_score() -> None:
    task = webarena_task("string_match", answers={"exact_match": "a"})
    scores = [score(task, played(answer)) for answer in ("a", "b")]
    crashed = score(webarena_task("string_match"), played())
    assert WEBARENA_SCORER.aggregate([*scores, crashed]) == {"average_score": 0.5}
    assert WEBARENA_SCORER.aggregate([crashed]) == {"average_score": None}


def test_every_published_task_has_a_score_on_an_empty_episode() -> None:
    """Of the tasks with an even id, none crashes; what lacks its targets or a judge says so."""
    for record in published("webarena-tasks.json"):
        task = make_original(record)
        kinds = record["eval"]["eval_types"]
        found = score(task, played("something else"))
        assert found.status is not ScorerStatus.CRASH, (record["task_id"], found.because)
        if kinds == ["program_html"]:
            assert found.status is ScorerStatus.UNSCORED, record["task_id"]
        elif found.status is ScorerStatus.SCORED:
            assert found.value == 0.0, record["task_id"]


def gold(record: dict[str, Any]) -> Evidence:
    """Make what an episode leaves behind that does what a published task asks for."""
    evaluation = record["eval"]
    answers = evaluation["reference_answers"] or {}
    parts = [answers.get("exact_match", ""), *answers.get("must_include", [])]
    if answers.get("fuzzy_match") == "N/A":
        parts = ["N/A"]
    url = (evaluation["reference_url"] or "__SHOPPING__").split(" |OR| ")[0]
    for name, base in BASES.items():
        url = url.replace(name, base)
    selected = []
    for target in evaluation["program_html"]:
        required = target["required_contents"]
        wanted = required.get("exact_match") or "\n".join(
            one.split(" |OR| ")[0] for one in required["must_include"]
        )
        for name, base in BASES.items():
            wanted = wanted.replace(name, base)
        selected.append(wanted)
    return played(" ".join(part for part in parts if part), url=url, selected=selected)


def test_every_published_task_is_passed_by_its_own_gold() -> None:
    failed = []
    for record in published("webarena-tasks.json"):
        task, evidence = make_original(record), gold(record)
        replies = ["correct"] * len(WEBARENA_SCORER.questions(task, evidence))
        if score(task, evidence, *replies).value != 1.0:
            failed.append(record["task_id"])
    assert failed == []
