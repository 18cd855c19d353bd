"""`dpo`: a pair is only what little else than the two actions can explain."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from quick_cases import SLOW
from support.agents.scripted_model import Says
from support.runs.sampled_runs import GOLDEN, RIGHT, TO_KETTLE, TO_TEAPOT, WRONG, Sampled, removals
from support.worlds.fake_world import browsing_task

from arena_core.actions import Goto, Scroll, ScrollDirection, Stop
from arena_core.worlds import World
from evaluators.evidence import Ended, MiniWobRecord
from evaluators.scorers.base import OriginalTask
from evaluators.verdicts import Outcome, OutcomeKind
from orchestrator.export.training.preferences import NoPair, Pair, pairs_of
from orchestrator.export.training.rollouts import rollouts_by_task
from tasks.schema import Task

Play = Callable[..., Any]
Export = Callable[..., Any]

ALIKE = "all scored continuations of the state ended alike"
UNCLEAR = "no action of the state always succeeded, or none always failed"
STILL_OPEN = "after the rejected action an episode saw a page that successful ones saw"
OTHER_REASON = "the rejected action's episodes ended by a limit, a crash or giving up"
TOO_FEW = "too few scored continuations of a rejected action that did not end the episode"
DOWN = Says.action(Scroll(direction=ScrollDirection.DOWN), "look below")
ASIDE = Says.action(Goto(url="http://wiki.arena.test/wiki/A/Spoon"), "or here")
HOME = Says.action(Goto(url="http://wiki.arena.test/"), "back to where I was")


@SLOW
async def test_right_and_wrong_replies_to_one_prompt_in_one_state_are_a_pair(
    play: Play, export: Export, task: Task
) -> None:
    run = await play([Sampled(task, [TO_KETTLE, RIGHT]), Sampled(task, [TO_KETTLE, WRONG])])
    written, [pair], card = export("dpo", run)
    assert pair["chosen"][0]["content"] == RIGHT.text
    assert pair["rejected"][0]["content"] == WRONG.text
    assert pair["prompt"][-1]["role"] == "user"
    assert (pair["step"], pair["state_n"], pair["state_right"], pair["is_final"]) == (2, 2, 1, True)
    assert (pair["chosen_from"]["repeat"], pair["rejected_from"]["repeat"]) == (0, 1)
    assert written.episodes == 2
    # At the start both did the same, and that led to both ends.
    assert removals(card)[UNCLEAR] == 1


@SLOW
@pytest.mark.parametrize("replies", [(RIGHT, RIGHT), (WRONG, WRONG)])
async def test_where_none_or_all_succeeded_there_is_no_pair(
    play: Play, export: Export, task: Task, replies: Sequence[Says]
) -> None:
    run = await play([Sampled(task, [TO_KETTLE, one]) for one in replies])
    _, records, card = export("dpo", run)
    assert records == []
    assert removals(card)[ALIKE] == 2


@SLOW
async def test_equal_actions_in_other_words_are_no_pair(play: Play, export: Export) -> None:
    task = browsing_task()
    same = [Stop(answer=answer) for answer in ("1791", " 1791. ", "1791")]
    run = await play([Sampled(task, [RIGHT]), *(Sampled(task, [Says.action(s)]) for s in same)])
    _, records, _ = export("dpo", run)
    assert [json.loads(one["rejected_action"])["answer"] for one in records] == ["1791"]
    assert records[0]["rejected_n"] == 3


@SLOW
async def test_an_action_that_once_led_to_success_is_never_rejected(
    play: Play, export: Export, task: Task
) -> None:
    by_teapot = Sampled(task, [TO_TEAPOT, TO_KETTLE, RIGHT])
    run = await play(
        [Sampled(task, [TO_KETTLE, RIGHT]), by_teapot, *[Sampled(task, [TO_TEAPOT, WRONG])] * 3]
    )
    _, records, _ = export("dpo", run)
    assert all("Teapot" not in one["rejected_action"] for one in records)


@SLOW
async def test_a_fine_action_before_a_later_mistake_is_not_rejected_on_one_failure(
    play: Play, export: Export, task: Task
) -> None:
    episodes = [Sampled(task, [TO_KETTLE, RIGHT]), Sampled(task, [TO_TEAPOT, WRONG])]
    _, records, card = export("dpo", await play(episodes))
    assert records == []
    assert removals(card)[TOO_FEW] == 1
    again = await play([*episodes, Sampled(task, [TO_TEAPOT, WRONG])], name="again")
    _, [pair], _ = export("dpo", again)
    assert (pair["rejected_n"], pair["is_final"]) == (2, False)
    _, records, _ = export("dpo", again, continuations=3)
    assert records == []


@SLOW
async def test_an_action_after_which_all_was_still_open_is_not_rejected(
    play: Play, export: Export, task: Task
) -> None:
    """The detour did no harm: the failure came on a page from which others succeeded."""
    failed = Sampled(task, [ASIDE, TO_KETTLE, WRONG])
    back = Sampled(task, [ASIDE, HOME, WRONG])
    run = await play([Sampled(task, [TO_KETTLE, RIGHT]), failed, failed, back])
    _, records, card = export("dpo", run)
    assert all(one["step"] != 1 for one in records)
    assert removals(card)[STILL_OPEN] == 1


@SLOW
async def test_two_ways_to_one_page_are_no_pair(play: Play, export: Export) -> None:
    """Where the failures came on a page that only some successes missed, the way made none."""
    task = browsing_task(limits={"steps": 2})
    by_scroll = Sampled(task, [DOWN, RIGHT])
    by_home = [Sampled(task, [HOME, WRONG])] * 2
    _, records, card = export("dpo", await play([by_scroll, *by_home]))
    assert all(one["step"] != 1 for one in records)
    assert removals(card)[STILL_OPEN] == 1


@SLOW
async def test_a_limit_or_giving_up_shows_no_action_to_be_wrong(play: Play, export: Export) -> None:
    task = browsing_task(limits={"steps": 2})
    nonsense = [Says("hm"), Says("hm"), Says("hm")]
    run = await play(
        [
            Sampled(task, [RIGHT]),
            *[Sampled(task, [TO_TEAPOT, ASIDE])] * 2,
            *[Sampled(task, [DOWN, *nonsense])] * 2,
        ]
    )
    _, records, card = export("dpo", run)
    assert records == []
    assert removals(card)[OTHER_REASON] == 2


@SLOW
async def test_an_action_that_could_not_be_done_is_no_side_of_a_pair(
    play: Play, export: Export
) -> None:
    task = browsing_task()
    failed = Sampled(task, [TO_TEAPOT, WRONG], refuses={"goto": "no way"})
    _, records, card = export("dpo", await play([Sampled(task, [RIGHT]), failed, failed]))
    assert records == []
    assert removals(card)["the action could not be done"] == 2


@SLOW
@pytest.mark.parametrize(
    "other",
    [
        {"receipts": (GOLDEN.model_copy(update={"golden": "two", "after": "two"}),)},
        {"receipts": (GOLDEN.model_copy(update={"after": "dirty"}),)},
        {"world": World.ONLINE},
    ],
    ids=["another golden state", "not golden", "the live web"],
)
async def test_states_that_are_not_proven_to_be_the_same_give_no_pair(
    play: Play, export: Export, other: dict[str, Any]
) -> None:
    task = browsing_task()
    run = await play([Sampled(task, [RIGHT]), Sampled(task, [WRONG], **other)])
    _, records, _ = export("dpo", run)
    assert records == []


@SLOW
async def test_the_live_web_proves_no_state(play: Play, export: Export) -> None:
    task = browsing_task()
    replies = (RIGHT, WRONG)
    live = [Sampled(task, [one], world=World.ONLINE, receipts=()) for one in replies]
    _, records, card = export("dpo", await play(live))
    assert records == []
    assert removals(card) == {}


@SLOW
async def test_an_action_with_which_episodes_ended_both_ways_is_on_neither_side(
    play: Play,
) -> None:
    task = browsing_task()
    run = await play([Sampled(task, [one]) for one in (RIGHT, RIGHT, WRONG, WRONG)])
    [(_, found)] = rollouts_by_task([run])

    def ended(*kinds: OutcomeKind) -> list[Pair | NoPair]:
        told = []
        for rollout, kind in zip(found, kinds, strict=True):
            score = replace(rollout.scored.score, outcome=Outcome(kind))
            told.append(replace(rollout, scored=replace(rollout.scored, score=score)))
        return list(pairs_of(told, continuations=1, removed=Counter()))

    right, wrong = OutcomeKind.SUCCESS, OutcomeKind.FAILURE
    assert ended(right, wrong, wrong, wrong) == [NoPair.NONE_CLEAR]
    assert ended(right, right, right, wrong) == [NoPair.NONE_CLEAR]
    [pair] = ended(right, right, wrong, wrong)
    assert isinstance(pair, Pair)


@SLOW
async def test_another_task_of_the_same_name_is_another_state(play: Play, export: Export) -> None:
    one = await play([Sampled(browsing_task(), [RIGHT])], name="one")
    same = await play([Sampled(browsing_task(), [WRONG])], name="same")
    _, records, _ = export("dpo", one, same)
    assert len(records) == 1
    other = browsing_task(limits={"steps": 9})
    _, records, _ = export("dpo", one, await play([Sampled(other, [WRONG])], name="other"))
    assert records == []


@SLOW
@pytest.mark.parametrize(
    "changes",
    [
        {"images": {"arena/wiki:1": "sha256:" + "cd" * 32}},
        {"vary": ("network=slow@400,seed=0,v1",)},
    ],
    ids=["image", "arm"],
)
async def test_another_image_or_arm_is_another_state(
    play: Play, export: Export, changes: dict[str, object]
) -> None:
    one = await play([Sampled(browsing_task(), [RIGHT])], name="one")
    two = await play([Sampled(browsing_task(), [WRONG])], name="two")
    lock = two.lock.model_copy(update=changes)
    _, records, _ = export("dpo", one, replace(two, lock=lock))
    assert records == []


@SLOW
async def test_the_same_page_by_another_way_is_another_state(play: Play, export: Export) -> None:
    """What was done before may have changed what no page shows."""
    task = browsing_task()
    ways = [Sampled(task, [TO_TEAPOT, TO_KETTLE, RIGHT]), Sampled(task, [ASIDE, TO_KETTLE, WRONG])]
    _, records, card = export("dpo", await play(ways))
    assert records == []
    # Not even the prompts were compared: only the start is a state of both.
    assert removals(card) == {STILL_OPEN: 1, ALIKE: 4}


@SLOW
async def test_other_thoughts_before_make_another_prompt_and_no_pair(
    play: Play, export: Export, task: Task
) -> None:
    otherwise = Says.action(Goto(url="http://wiki.arena.test/wiki/A/Kettle"), "another reason")
    run = await play([Sampled(task, [TO_KETTLE, RIGHT]), Sampled(task, [otherwise, WRONG])])
    _, records, card = export("dpo", run)
    assert records == []
    assert removals(card)["the prompts of the two continuations differ"] == 1


@SLOW
async def test_unscored_continuations_count_for_neither_side(play: Play, export: Export) -> None:
    task = browsing_task()
    run = await play([Sampled(task, [RIGHT]), Sampled(task, [Says("x", 1, 1), Says(""), Says("")])])
    # The second episode broke off: its model said nothing three times.
    _, records, card = export("dpo", run)
    assert records == []
    assert card["tasks"][0]["unscored"] == 1


@SLOW
async def test_of_a_recorded_step_the_prompt_is_the_state_and_a_comment_makes_no_difference(
    play: Play, export: Export
) -> None:
    prompt = "<html> <a[A]| Kettle > </html> #Task: open it"
    task = Task.model_validate(
        {
            "id": "step",
            "family": "interaction",
            "intent": "Say the next command.",
            "recorded": "source",
            "sites": [],
            "start": [],
            "checks": [
                {
                    "name": "answer",
                    "when": "end",
                    "locate": {"by": "answer"},
                    "match": {"how": "include", "value": "click(A)"},
                }
            ],
            "original": OriginalTask(
                format="autowebbench", id="1", file_sha256="0" * 64, record={"source": prompt}
            ).model_dump(),
        }
    )
    replies = ["click(A)", "click(A) # open it", "click(B)", "click( B ) # no", "go('backward')"]
    episodes = [Sampled(task, [Says(one)], receipts=()) for one in replies]
    run = await play(episodes, agent="recorded")
    _, records, _ = export("dpo", run)
    assert sorted(one["rejected"][0]["content"] for one in records) == [
        "click(B)",
        "go('backward')",
    ]
    assert {one["chosen"][0]["content"] for one in records} == {"click(A)"}
    _, texts, _ = export("dpo", run, shape="autowebglm")
    assert {one["prompt"] for one in texts} == {prompt}
    assert {one["chosen"] for one in texts} == {"click(A)"}


async def test_a_page_that_ran_out_of_time_shows_no_action_to_be_wrong(play: Play) -> None:
    task = browsing_task()
    run = await play([Sampled(task, [RIGHT]), Sampled(task, [WRONG])])
    [(_, (good, bad))] = rollouts_by_task([run])

    def pairs(reason: str) -> list[Pair | NoPair]:
        page = MiniWobRecord(page="click-test", seed=1, utterance="click", raw=-1.0, reason=reason)
        outline = bad.outline.model_copy(update={"miniwob": page, "ended": Ended.PAGE_ENDED})
        ended = replace(bad, scored=replace(bad.scored, outline=outline))
        # The other one is on the same page, or they would not have begun in the same state.
        same = good.outline.model_copy(update={"miniwob": page})
        other = replace(good, scored=replace(good.scored, outline=same))
        return list(pairs_of([other, ended], continuations=2, removed=Counter()))

    assert pairs("timed out") == [NoPair.OTHER_REASON]
    [pair] = pairs("wrong button")
    assert isinstance(pair, Pair)
