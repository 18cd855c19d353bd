from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest

from arena_core.actions import Action, AskUser, Back, Click
from orchestrator.agents.builtin.prompt import (
    EXAMPLES,
    PastStep,
    correction,
    part_of_page,
    step_prompt,
    system_prompt,
)
from orchestrator.agents.interface import Assignment
from orchestrator.browser.observation import Observation

Page = Callable[..., Observation]


# Coordinates need a picture; what cannot be done is said in an answer.
NOT_OFFERED = {
    *("mouse_move", "mouse_click", "mouse_down", "mouse_up", "mouse_drag", "mouse_wheel"),
    *("key_down", "key_up", "write", "focus", "clear", "infeasible"),
}
ON_CONDITION = {"upload", "ask_user"}


def test_the_rules_show_every_action_of_use_and_the_way_out(assignment: Assignment) -> None:
    prompt = system_prompt(assignment)
    kinds = {model.model_fields["kind"].default for model in get_args(get_args(Action)[0])}
    assert {action.kind for action, _ in EXAMPLES} == kinds - NOT_OFFERED - ON_CONDITION
    assert all(prompt.count(f'{{"kind":"{kind}"') == 0 for kind in NOT_OFFERED | ON_CONDITION)
    assert '"N/A: "' in prompt
    assert "20 steps" in prompt


def test_files_are_offered_where_the_task_has_some(assignment: Assignment) -> None:
    prompt = system_prompt(replace(assignment, files=("photo.png", "bill.pdf")))
    assert '{"kind":"upload","element":12,"files":["photo.png"]}' in prompt
    assert "photo.png, bill.pdf" in prompt


def test_a_question_is_offered_where_somebody_answers(page: Page, assignment: Assignment) -> None:
    prompt = system_prompt(replace(assignment, can_ask=True))
    assert '{"kind":"ask_user","question":' in prompt
    assert '"status":"needs_input"' in prompt
    observation = page('link "Kettles"', step=1)
    asked = PastStep(0, "two fit", AskUser(question="Which?"), None, "It is the red one.")
    shown = step_prompt(assignment, observation, (asked,), part_of_page(observation.text, 1000, 0))
    assert "THE USER ANSWERED: It is the red one." in shown


def test_a_step_shows_task_sites_tabs_past_and_page(page: Page, assignment: Assignment) -> None:
    observation = page('link "Kettles"', step=2)
    past = (
        PastStep(0, "look around", Click(element=4), "it is covered"),
        PastStep(1, "return", Back(), None),
    )
    prompt = step_prompt(assignment, observation, past, part_of_page(observation.text, 1000, 0))
    for part in (
        "Task: Find the cheapest kettle in the shop",
        "- shop: Harbour shop, http://shop.test/",
        "Step 3 of 20",
        '- step 1: look around → {"kind":"click","element":4} FAILED: it is covered\n',
        '- step 2: return → {"kind":"back"}\n',
        "- 0: Shop http://shop.test/ (current)",
        '<page>\n[1] link "Kettles"\n</page>',
    ):
        assert part in prompt
    assert "part 1 of" not in prompt


def test_a_long_page_says_which_part_is_shown(page: Page, assignment: Assignment) -> None:
    observation = page("\n".join(f'link "{number}"' for number in range(100)))
    part = part_of_page(observation.text, 500, 1)
    prompt = step_prompt(assignment, observation, (), part)
    assert f"this is part 2 of {part.count}" in prompt
    assert '[1] link "0"' not in prompt


def test_what_was_done_is_cut_to_a_line(page: Page, assignment: Assignment) -> None:
    past = (PastStep(0, "word\n" * 5000, Back(), "error\n" * 5000),)
    prompt = step_prompt(assignment, page(""), past, part_of_page("", 1000, 0))
    assert len(prompt) < 2000
    assert "(an empty page)" in prompt


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_correction_says_what_was_wrong(is_cut: bool) -> None:  # noqa: FBT001 (a parameter)
    text = correction(["element: Field required", "b", "c", "d"], is_cut=is_cut)
    assert "element: Field required; b; c. " in text.replace(" Your reply", " Your reply")
    assert ("length limit" in text) == is_cut
