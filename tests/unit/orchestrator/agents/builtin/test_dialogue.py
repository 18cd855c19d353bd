"""Agents that hold a conversation: whole episodes against a scripted endpoint, on made pages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from quick_cases import ONE_QUICK, SLOW
from support.agents.scripted_model import (
    Calls,
    ChatRequest,
    Fails,
    Says,
    Script,
    ScriptedModel,
    Sends,
)
from support.worlds.seen_pages import seen

from arena_core.actions import (
    Action,
    AskUser,
    Click,
    Goto,
    MouseClick,
    Press,
    Scroll,
    ScrollDirection,
    Stop,
    Type,
    Upload,
    Write,
)
from arena_core.errors import AgentError, UsageError
from orchestrator.agents.choice import make_agent
from orchestrator.agents.interface import Agent, AgentMaker, Assignment, Reference
from orchestrator.browser.observation import AXTREE, SCREENSHOT, SOM, Observation

StartModel = Callable[[Script], ScriptedModel]
NewAgent = Callable[..., Agent]
NO_REFERENCE = Reference((), lambda logical: logical)
FORMS = {"tools": AXTREE, "vision": SOM, "computer": SCREENSHOT}
AGENTS = list(FORMS)
# One sound call in each agent's words, and its action.
SOUND: dict[str, tuple[Calls, Action]] = {
    "tools": (Calls.one("click", element=11), Click(element=11)),
    "vision": (Calls.one("click", element=11), Click(element=11)),
    "computer": (Calls.one("mouse_click", x=5, y=6), MouseClick(x=5, y=6)),
}


@pytest.fixture
async def new_agent(assignment: Assignment) -> AsyncIterator[NewAgent]:
    made: list[AgentMaker] = []

    def make(name: str, model: ScriptedModel, task: Assignment = assignment, **more: Any) -> Agent:
        options = {"model": "scripted", "model_url": model.url, **more}
        made.append(make_agent(name, options))
        return made[-1](task, NO_REFERENCE)

    yield make
    for one in made:
        await one.close()


def page(name: str, step: int = 0, last_error: str | None = None) -> Observation:
    return seen(FORMS[name], step=step, last_error=last_error)


def told(request: ChatRequest) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in request.messages]


@pytest.mark.parametrize("name", AGENTS)
async def test_an_episode_goes_from_page_to_page_to_the_answer(
    name: str, scripted_model: StartModel, new_agent: NewAgent
) -> None:
    sound, action = SOUND[name]
    model = scripted_model([sound, Calls.one("goto", url="http://wiki.test/"), Calls.one("stop")])
    agent = new_agent(name, model)
    first = await agent.decide(page(name))
    assert first.action == action
    assert (first.input_tokens, first.output_tokens, len(first.exchanges)) == (100, 10, 1)
    second = await agent.decide(page(name, 1))
    assert second.action == Goto(url="http://wiki.test/")
    assert (await agent.decide(page(name, 2, "it is down"))).action == Stop()
    last = told(model.requests[-1])
    assert [role for role, _ in last] == ["system", *["user", "assistant", "tool"] * 2, "user"]
    assert "cheapest kettle" in last[1][1]
    assert "Step 1 of 20" in last[1][1]
    assert last[3][1].startswith("Done")
    assert last[6] == ("tool", "Not done: it is down")
    assert "Step 3 of 20" in last[7][1]


@ONE_QUICK
@pytest.mark.parametrize("name", AGENTS)
async def test_a_conversation_only_grows(
    name: str, scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model(lambda _: SOUND[name][0])
    agent = new_agent(name, model, observations_kept=10)
    for step in range(4):
        await agent.decide(page(name, step))
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
        assert after.tools == before.tools


@ONE_QUICK
@pytest.mark.parametrize("name", AGENTS)
async def test_old_observations_are_left_out_with_a_note(
    name: str, scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model(lambda _: SOUND[name][0])
    agent = new_agent(name, model, observations_kept=2)
    for step in range(4):
        await agent.decide(page(name, step))
    shown = [message for message in model.requests[-1].messages if message.role == "user"]
    left_out = ["is left out" in message.content for message in shown]
    assert left_out == [True, True, False, False]
    assert "cheapest kettle" in shown[0].content
    pictures = 0 if name == "tools" else 2
    assert len(model.requests[-1].images) == pictures
    assert len(model.requests[1].images) == pictures


def refusing(text: str) -> Sends:
    return Sends.message(role="assistant", content=None, refusal=text)


WRONG: dict[str, tuple[Any, str]] = {
    "no such function": (Calls.one("fly"), "no function 'fly'"),
    "a name that no function can have": (Calls.one("cli ck/\n" * 40), "no function"),
    "no JSON": (Calls((("stop", "answer: 5"),)), "are no JSON"),
    "no object": (Calls((("stop", "[1]"),)), "no JSON object"),
    "200 KB": (Calls.one("stop", answer="x" * 200_000), "longer than 20000"),
    "prose": (Says("The cheapest kettle costs 19.99."), "no function was called"),
    "200 KB of prose": (Says("kettle " * 30_000), "no function was called"),
    "HTML": (Says("<!doctype html><title>502</title>"), "no function was called"),
    "a refusal": (refusing("I cannot help with that."), "no function was called"),
    "JSON": (Says.action(Stop(answer="19.99")), "no function was called"),
    "cut off": (Says("I think", finish_reason="length"), "be brief"),
    "another field": (Calls.one("stop", answer="5", sure=True), "sure: Extra inputs"),
    "no end that was offered": (Calls.one("infeasible", reason="x"), "no function 'infeasible'"),
}


@SLOW
async def test_a_reply_without_a_valid_action_is_answered_and_costs_no_step(
    scripted_model: StartModel, new_agent: NewAgent
) -> None:
    sound, action = SOUND["tools"]
    model = scripted_model(reply for wrong, _ in WRONG.values() for reply in (wrong, sound))
    agent = new_agent("tools", model)
    for step, (case, (_, why)) in enumerate(WRONG.items()):
        decision = await agent.decide(page("tools", step))
        assert decision.action == action, case
        assert len(decision.exchanges) == 2, case
        assert why in model.requests[-1].messages[-1].content, case
    # What was wrong stays in the conversation in a form that every endpoint takes again.
    assert all(len(text) < 30_000 for _, text in told(model.requests[-1]))
    for message in model.requests[-1].messages:
        for call in message.tool_calls or ():
            assert isinstance(json.loads(call.function.arguments), dict)
            assert len(call.function.arguments) < 30_000


@ONE_QUICK
@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("tools", "prose"),
        ("tools", "200 KB"),
        ("vision", "a refusal"),
        ("computer", "no such function"),
    ],
)
async def test_after_three_such_replies_the_agent_gives_up(
    name: str, case: str, scripted_model: StartModel, new_agent: NewAgent
) -> None:
    wrong, why = WRONG[case]
    model = scripted_model(lambda _: wrong)
    with pytest.raises(AgentError) as caught:
        await new_agent(name, model).decide(page(name))
    assert len(model.requests) == 3
    assert why in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 2_000


@pytest.mark.parametrize(
    ("name", "wrong", "why"),
    [
        ("tools", Calls.one("click", element=404), "no element 404"),
        ("vision", Calls.one("click", element=404), "no element 404"),
        ("tools", Calls.one("mouse_click", x=5, y=6), "no function 'mouse_click'"),
        ("tools", Calls.one("focus_tab", index=7), "no tab 7"),
        ("tools", Calls.one("upload", element=3, files=["x"]), "no function 'upload'"),
        ("computer", Calls.one("mouse_click", x=1280, y=6), "outside of the picture"),
        ("computer", Calls.one("click", element=11), "no function 'click'"),
    ],
)
async def test_what_the_page_does_not_have_is_not_played(
    name: str, wrong: Calls, why: str, scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model([wrong, Calls.one("stop")])
    assert (await new_agent(name, model).decide(page(name))).action == Stop()
    assert why in model.requests[1].messages[-1].content


async def test_of_several_calls_the_first_is_played_and_the_others_are_told_why_not(
    scripted_model: StartModel, new_agent: NewAgent
) -> None:
    several = Calls((("click", '{"element": 11}'), ("stop", "{}"), ("fly", "{")), text="both")
    model = scripted_model([several, Calls.one("stop", answer="5")])
    agent = new_agent("tools", model)
    decision = await agent.decide(page("tools"))
    assert (decision.action, decision.thought) == (Click(element=11), "both")
    assert (await agent.decide(page("tools", 1))).action == Stop(answer="5")
    answers = [text for role, text in told(model.requests[1]) if role == "tool"]
    assert [text.split(".")[0] for text in answers] == [
        "Done",
        "This call was not looked at: one call a reply",
        "This call was not looked at: one call a reply",
    ]


async def test_a_hundred_calls_are_no_hundred_messages(
    scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model([Calls((("back", "{}"),) * 100), Calls.one("stop")])
    agent = new_agent("tools", model)
    await agent.decide(page("tools"))
    await agent.decide(page("tools", 1))
    assert len(model.requests[1].messages) < 15


@pytest.mark.parametrize("ids", [("", ""), ("call", "call"), ("call_1", "")])
async def test_calls_without_ids_of_their_own_get_some(
    ids: tuple[str, str], scripted_model: StartModel, new_agent: NewAgent
) -> None:
    """The endpoint refuses calls and answers that do not go together."""

    def calling(called: str) -> Sends:
        function = {"name": "back", "arguments": "{}"}
        call = {"id": called, "type": "function", "function": function}
        return Sends.message(role="assistant", content=None, tool_calls=[call, call])

    model = scripted_model([calling(ids[0]), calling(ids[1]), Calls.one("stop")])
    agent = new_agent("tools", model)
    for step in range(3):
        await agent.decide(page("tools", step))
    called = [
        call.id for message in model.requests[-1].messages for call in message.tool_calls or ()
    ]
    assert len(set(called)) == len(called) == 4


BATCH = Calls.one(
    "computer",
    actions=[
        {"type": "click", "x": 5, "y": 6},
        {"type": "type", "text": "tea"},
        {"type": "keypress", "keys": ["ENTER"]},
    ],
)


async def test_a_batch_is_played_one_action_a_step_without_asking_between(
    scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model([BATCH, Calls.one("stop")])
    agent = new_agent("computer", model, action_space="openai")
    played = [await agent.decide(page("computer", step)) for step in range(4)]
    assert [one.action for one in played] == [
        MouseClick(x=5, y=6),
        Write(text="tea"),
        Press(keys="Enter"),
        Stop(),
    ]
    assert [one.input_tokens for one in played] == [100, 0, 0, 100]
    assert len(model.requests) == 2
    assert len(model.requests[1].images) == 2


@pytest.mark.parametrize(
    ("failed", "outcome"),
    [
        (1, "action 1 of 3 (mouse_click): no. What came after it was not tried."),
        (2, "action 2 of 3 (write): no. What came after it was not tried."),
        (3, "action 3 of 3 (press): no."),
    ],
)
async def test_a_batch_ends_with_what_cannot_be_done(
    failed: int, outcome: str, scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model([BATCH, Calls.one("stop")])
    agent = new_agent("computer", model, action_space="openai")
    for step in range(failed):
        await agent.decide(page("computer", step))
    assert (await agent.decide(page("computer", failed, "no"))).action == Stop()
    answers = [text for role, text in told(model.requests[1]) if role == "tool"]
    assert answers == [f"Not done: {outcome}"]


@pytest.mark.parametrize(
    ("action_space", "call", "place"),
    [
        ("generic", Calls.one("mouse_click", x=320, y=90), (640, 180)),
        (
            "openai",
            Calls.one("computer", actions=[{"type": "click", "x": 320, "y": 90}]),
            (640, 180),
        ),
        ("anthropic", Calls.one("computer", action="left_click", coordinate=[320, 90]), (640, 180)),
        ("gemini", Calls.one("click", x=500, y=250), (640, 180)),
    ],
)
async def test_places_are_scaled_back_from_the_picture_that_was_sent(
    action_space: str,
    call: Calls,
    place: tuple[int, int],
    scripted_model: StartModel,
    new_agent: NewAgent,
) -> None:
    model = scripted_model([call])
    agent = new_agent("computer", model, action_space=action_space, picture="640x640")
    assert (await agent.decide(page("computer"))).action == MouseClick(x=place[0], y=place[1])
    (sent,) = model.requests[0].images
    assert Image.open(BytesIO(sent)).size == (640, 360)
    says_size = "The picture is 640x360 pixels." in model.requests[0].prompt
    assert says_size == (action_space != "gemini")
    assert ("from 0 to 1000 over" in model.requests[0].prompt) == (action_space == "gemini")


async def test_a_picture_is_sent_as_it_is_where_no_size_is_asked_for(
    scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model([Calls.one("stop")])
    await new_agent("computer", model).decide(page("computer"))
    (sent,) = model.requests[0].images
    shown: Any = page("computer").parts[SCREENSHOT]
    assert sent == shown.data


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"picture": "large"}, "picture=large is not a size"),
        ({"picture": "0x5"}, "picture=0x5 is not a size"),
        ({"action_space": "klingon"}, "'generic', 'openai', 'anthropic' or 'gemini'"),
        (
            {"dialect": "klingon"},
            "'generic', 'openai', 'anthropic' or 'gemini'",
        ),  # as it was called
        ({"observations_kept": "0"}, "greater than 0"),
        ({"replies": "json"}, "does not take it"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_before_anything_starts(
    options: dict[str, object], why: str
) -> None:
    with pytest.raises(UsageError) as caught:
        make_agent("computer", {"model": "m", "model_url": "http://127.0.0.1:9/v1", **options})
    assert why in caught.value.message


async def test_vision_sees_numbered_boxes_and_their_list(
    scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model([Calls.one("stop")])
    await new_agent("vision", model).decide(page("vision"))
    assert '[11] link "Red kettle"' in model.requests[0].prompt
    assert len(model.requests[0].images) == 1


async def test_vision_takes_json_where_no_functions_are_called(
    scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model(
        [
            Says.action(Click(element=11), "go"),
            Says("I am done."),
            Says.action(Click(element=404)),
            Says.action(Stop(answer="5")),
        ]
    )
    agent = new_agent("vision", model, replies="json")
    assert (await agent.decide(page("vision"))).action == Click(element=11)
    assert (await agent.decide(page("vision", 1, "it moved"))).action == Stop(answer="5")
    assert model.requests[0].tools == ()
    assert '{"kind":"click","element":12}' in model.requests[0].prompt
    last = told(model.requests[-1])
    assert [role for role, _ in last] == ["system", *["user", "assistant"] * 4][:8]
    assert last[3][1].startswith("Not done: it moved")
    assert "no JSON object" in last[5][1]
    assert "no element 404" in last[7][1]


async def test_tools_turns_the_parts_of_a_long_page_by_scrolling(
    scripted_model: StartModel, new_agent: NewAgent, page: Callable[..., Observation]
) -> None:
    outline = "\n".join(f'link "Kettle {number} {"x" * 60}"' for number in range(1_000))
    model = scripted_model([Calls.one("scroll", direction="down"), Calls.one("stop")])
    agent = new_agent("tools", model)
    scroll = Scroll(direction=ScrollDirection.DOWN)
    assert (await agent.decide(page(outline))).action == scroll
    await agent.decide(page(outline, step=1))
    shown = [text for role, text in told(model.requests[-1]) if role == "user"]
    assert "part 1 of" in shown[0]
    assert "Kettle 0 " in shown[0]
    assert "part 2 of" in shown[1]
    assert "Kettle 0 " not in shown[1]


async def test_files_can_be_uploaded_where_the_task_has_some(
    assignment: Assignment, scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model([Calls.one("upload", element=3, files=["cat.png"])])
    agent = new_agent("tools", model, replace(assignment, files=("cat.png",)))
    assert (await agent.decide(page("tools"))).action == Upload(element=3, files=("cat.png",))
    assert "cat.png" in model.requests[0].prompt


@pytest.mark.parametrize("name", AGENTS)
async def test_the_user_is_asked_where_somebody_answers_and_the_answer_is_shown(
    name: str, assignment: Assignment, scripted_model: StartModel, new_agent: NewAgent
) -> None:
    model = scripted_model([Calls.one("ask_user", question="Which?"), SOUND[name][0]])
    agent = new_agent(name, model, replace(assignment, can_ask=True))
    assert (await agent.decide(page(name))).action == AskUser(question="Which?")
    await agent.decide(replace(page(name, 1), reply="It is the red one."))
    assert ("tool", "The user answered: It is the red one.") in told(model.requests[-1])
    silent = scripted_model([SOUND[name][0]])
    await new_agent(name, silent).decide(page(name))
    assert "ask_user" not in str(silent.requests[0].tools)


@pytest.mark.parametrize("name", AGENTS)
async def test_a_conversation_that_outgrows_the_window_is_the_agents_matter(
    name: str, scripted_model: StartModel, new_agent: NewAgent
) -> None:
    full = Fails(400, "maximum context length is 9 tokens", code="context_length_exceeded")
    model = scripted_model([SOUND[name][0], full])
    agent = new_agent(name, model)
    await agent.decide(page(name))
    with pytest.raises(AgentError):
        await agent.decide(page(name, 1))


async def test_thinking_is_no_thought_and_a_call_in_it_is_not_played(
    scripted_model: StartModel, new_agent: NewAgent
) -> None:
    thinking = "<think>Perhaps I call stop.</think>Search first."
    model = scripted_model([Calls((("type", '{"element": 2, "text": "tea"}'),), text=thinking)])
    decision = await new_agent("tools", model).decide(page("tools"))
    assert decision.action == Type(element=2, text="tea")
    assert decision.thought == "Search first."
