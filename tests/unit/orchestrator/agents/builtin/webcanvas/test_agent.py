"""WebCanvas's agent against a scripted endpoint: its four modules, its modes, and where it ends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
from quick_cases import SLOW
from support.agents.scripted_model import ChatRequest, Says, Script, ScriptedModel, ScriptedReply

from arena_core.actions import Action, Back, Click, Goto, MouseClick, Select, Stop, Type, Wait
from arena_core.errors import AgentError, UsageError
from evaluators.checks import Check
from orchestrator.agents.choice import find_agent, make_agent, open_agent
from orchestrator.agents.interface import Agent, AgentClass, AgentMaker, Assignment, Hint, Reference
from orchestrator.browser.observation import (
    SCREENSHOT,
    SOM,
    Box,
    Mark,
    MarkedPicture,
    Observation,
    Picture,
)
from tasks.reference import ScrollPage, StopWith

Page = Callable[..., Observation]
StartModel = Callable[[Script], ScriptedModel]
Begin = Callable[..., Agent]
HOME = 'searchbox "Search"\nlink "Kettles"\nlink ""'
NOTHING = Wait(seconds=0)
NODE = Check.model_validate(
    {
        "name": "kettles",
        "when": "step",
        "locate": {"by": "url"},
        "match": {"how": "exact", "value": "shop:/kettles"},
    }
)
SCROLL = ScrollPage(do="scroll", direction="down")
REFERENCE = Reference(
    (SCROLL, SCROLL, StopWith(do="stop", answer="CANARY")),
    lambda logical: logical.replace("shop:", "http://shop.test"),
    (NODE,),
)
JUDGE = "You judge how far somebody has come"


@pytest.fixture
async def begin(assignment: Assignment) -> AsyncIterator[Begin]:
    makers: list[AgentMaker] = []

    def make(model: ScriptedModel, *, step_limit: int = 20, **options: object) -> Agent:
        given: dict[str, object] = {"model": "scripted", "model_url": model.url, **options}
        makers.append(make_agent("webcanvas", given))
        return makers[-1](replace(assignment, step_limit=step_limit), REFERENCE)

    yield make
    for maker in makers:
        await maker.close()


def asked(request: ChatRequest) -> str:
    return request.messages[-1].content


def plans(action: str, text: object = "", element: object = None, **more: object) -> Says:
    planned = {"thought": "because", "action": action, "action_input": text, "element_id": element}
    return Says(json.dumps({**planned, "description": f"{action} now", **more}))


def judges(status: str, description: str = "", score: int = 7) -> Says:
    return Says(json.dumps({"status": status, "score": score, "description": description}))


def by_module(planning: Script, reward: Callable[[ChatRequest], ScriptedReply]) -> Script:
    """Answer as two models would: the one that judges and the one that plans."""
    steps = iter(planning) if not callable(planning) else None

    def answer(request: ChatRequest) -> ScriptedReply:
        if JUDGE in request.messages[0].content:
            return reward(request)
        assert steps is not None
        return next(steps)

    return answer


async def test_an_episode_goes_from_page_to_page_to_the_answer(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    model = scripted_model(
        [
            plans("fill_search", "kettle", 1),
            plans("click", element="1"),
            plans("click", element=2),
            plans("get_final_answer", "19.99"),
        ]
    )
    agent = begin(model)
    decisions = [
        await agent.decide(page(HOME)),
        await agent.decide(page('link "Red kettle"', step=1)),
        await agent.decide(page(HOME, step=2, last_error="it is covered")),
        await agent.decide(page('heading "Red kettle"', step=3)),
    ]
    assert [one.action for one in decisions] == [
        Type(element=1, text="kettle", submit=True),
        Click(element=1),
        Click(element=2),
        Stop(answer="19.99"),
    ]
    assert [(one.input_tokens, len(one.exchanges)) for one in decisions] == [(100, 1)] * 4
    first, second, third, fourth = map(asked, model.requests)
    assert "Done so far:\nnothing yet" in first
    assert "current web tab name is 'Shop'\n[1] searchbox 'Search'\n[2] link 'Kettles'" in first
    assert "[3]" not in first, "what has no label is not printed"
    assert "1. fill_search now (because: because)" in second
    assert "It failed: it is covered" in third
    assert "2." not in third.split("Remembered:")[0], "a step that failed is no part of the trace"
    assert "It failed" not in fourth


@pytest.mark.parametrize(
    ("said", "action"),
    [
        (plans("goto", "http://shop.test/a"), Goto(url="http://shop.test/a")),
        (plans("fill_form", 1891, 1), Type(element=1, text="1891")),
        (plans("fill_form", "john.doe@x.com", 1), Type(element=1, text="john.doe@x.com")),
        (plans("select_option", "Low to high", 2), Select(element=2, option="Low to high")),
        (plans("go_back"), Back()),
        (Says('Well:\n```json\n{"action": "go_back"}\n```'), Back()),
    ],
)
async def test_actions_are_read(
    scripted_model: StartModel, begin: Begin, page: Page, said: Says, action: Action
) -> None:
    assert (await begin(scripted_model([said])).decide(page(HOME))).action == action


@pytest.mark.parametrize(
    "said",
    [
        Says("I would click."),
        Says('{"action": "click"'),
        Says("{" * 5_000 + "}"),
        Says('{"action": 7}'),
        plans("click"),
        plans("click", element=99),
        plans("click", element="one"),
        plans("click", position=[10, 10]),
        plans("switch_tab", "9"),
        plans("google_search", "kettles"),
        plans("cache_data", " "),
        plans("__import__('os')"),
        Says("x" * 20_001),
    ],
    ids=range(13),
)
async def test_three_replies_without_a_possible_step_are_the_agents_failure(
    scripted_model: StartModel, begin: Begin, page: Page, said: Says
) -> None:
    model = scripted_model(lambda _: said)
    with pytest.raises(AgentError, match="no possible step in 3 replies"):
        await begin(model).decide(page(HOME))
    assert len(model.requests) == 3
    assert "That cannot be used" in asked(model.requests[2])


async def test_what_is_to_be_remembered_is_shown_from_then_on(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    model = scripted_model([plans("cache_data", "red: 19.99"), plans("go_back")])
    agent = begin(model)
    assert (await agent.decide(page(HOME))).action == NOTHING
    await agent.decide(page(HOME, step=1))
    assert "Remembered:\n- red: 19.99" in asked(model.requests[1])


async def test_the_reward_module_speaks_from_the_second_step_on_and_planning_hears_it(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    planning = [plans("click", element=2), plans("go_back"), plans("go_back")]
    model = scripted_model(by_module(planning, lambda _: judges("loop", "You go in circles.")))
    agent = begin(model, reward="self")
    first = await agent.decide(page(HOME))
    second = await agent.decide(page(HOME, step=1))
    await agent.decide(page(HOME, step=2))
    assert (len(first.exchanges), len(second.exchanges)) == (1, 2)
    assert second.input_tokens == 200
    assert "You go in circles." in asked(model.requests[2])
    assert "→ The last steps repeat themselves" in asked(model.requests[4])
    told = "\n".join(request.prompt for request in model.requests)
    assert "kettles is" not in told.lower()
    assert "http://shop.test/kettles" not in told


async def test_when_it_is_judged_finished_one_more_action_runs(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    planning = [plans("click", element=2), plans("go_back")]
    model = scripted_model(by_module(planning, lambda _: judges("finished")))
    agent = begin(model, reward="self")
    actions = [(await agent.decide(page(HOME, step=step))).action for step in range(3)]
    assert actions == [Click(element=2), Back(), Stop(answer=None)]
    assert len(model.requests) == 3


async def test_a_judgement_that_cannot_be_read_is_none(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    planning = [plans("click", element=2), plans("go_back")]
    model = scripted_model(by_module(planning, lambda _: Says("Looks good!")))
    agent = begin(model, reward="self")
    await agent.decide(page(HOME))
    second = await agent.decide(page(HOME, step=1))
    assert second.action == Back()
    assert len(second.exchanges) == 4


async def test_the_golden_reference_is_the_key_nodes_and_only_the_reward_module_sees_it(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    planning = [plans("click", element=2), plans("go_back")]
    model = scripted_model(by_module(planning, lambda _: judges("doing")))
    agent = begin(model, reward="golden")
    await agent.decide(page(HOME))
    await agent.decide(page(HOME, step=1))
    first, judging, second = model.requests
    assert "1. kettles: the address of the page is 'http://shop.test/kettles'" in judging.prompt
    assert "Find the cheapest kettle in the shop" in judging.messages[0].content
    assert "kettles: the address" not in first.prompt + second.prompt
    assert "CANARY" not in first.prompt + judging.prompt + second.prompt


def seen(page: Observation) -> Observation:
    """Show a page as a picture, with a form around its field and a list around its link."""
    box = Box(0, 0, 300, 200, visible=True)
    marks = (
        Mark(7, "list", "All", box),
        Mark(1, "searchbox", "Search", Box(10, 10, 100, 20, visible=True)),
        Mark(2, "link", "Kettles", Box(10, 50, 100, 20, visible=True)),
    )
    picture = Picture(b"picture", 640, 480)
    return replace(page, parts={SCREENSHOT: picture, SOM: MarkedPicture(picture, marks)})


@pytest.mark.parametrize(
    ("said", "action"),
    [
        (plans("click", position=[20, 60]), Click(element=2)),
        (plans("fill_form", "x", position=[20, 15]), Type(element=1, text="x")),
        (plans("click", position=[20, 150]), Click(element=7)),
        (plans("click", position=[600, 400]), MouseClick(x=600, y=400)),
    ],
)
async def test_in_mode_vision_the_model_sees_a_picture_and_names_places(
    scripted_model: StartModel, begin: Begin, page: Page, said: Says, action: Action
) -> None:
    model = scripted_model([said])
    assert (await begin(model, mode="vision").decide(seen(page(HOME)))).action == action
    assert model.requests[0].images == (b"picture",)
    assert "640 by 480" in model.requests[0].prompt
    assert "searchbox" not in model.requests[0].prompt
    assert '"position"' in model.requests[0].prompt


@pytest.mark.parametrize(
    "said",
    [
        plans("fill_form", "x", position=[600, 400]),
        plans("click", position=[-1, 4]),
        plans("click", element=2),
    ],
)
async def test_in_mode_vision_there_is_no_element_without_a_place(
    scripted_model: StartModel, begin: Begin, page: Page, said: Says
) -> None:
    with pytest.raises(AgentError):
        await begin(scripted_model(lambda _: said), mode="vision").decide(seen(page(HOME)))


async def test_in_mode_both_the_model_sees_tree_and_picture(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    both = page(HOME)
    both = replace(both, parts={**both.parts, SCREENSHOT: Picture(b"picture", 640, 480)})
    model = scripted_model([plans("click", element=2)])
    assert (await begin(model, mode="both").decide(both)).action == Click(element=2)
    assert model.requests[0].images == (b"picture",)
    assert "[2] link 'Kettles'" in model.requests[0].prompt


async def test_the_reward_module_may_see_otherwise_than_planning(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    both = page(HOME)
    both = replace(both, parts={**both.parts, SCREENSHOT: Picture(b"picture", 640, 480)})
    planning = [plans("go_back"), plans("go_back")]
    model = scripted_model(by_module(planning, lambda _: judges("doing")))
    agent = begin(model, reward="self", reward_mode="vision")
    await agent.decide(both)
    await agent.decide(replace(both, step=1))
    assert [len(request.images) for request in model.requests] == [0, 1, 0]
    assert "Kettles" not in asked(model.requests[1])


async def steps_until_the_end(agent: Agent, page: Page, url: str = "http://shop.test/") -> int:
    for step in range(60):
        decision = await agent.decide(page(HOME, step=step, url=url))
        if isinstance(decision.action, Stop):
            return step
    return -1


@SLOW
@pytest.mark.parametrize(
    ("options", "url", "steps"),
    [
        ({}, "http://shop.test/", -1),
        ({"rules": "code"}, "http://shop.test/", 10),
        ({"rules": "code"}, "http://shop.test/error", 15),
        ({"rules": "paper"}, "http://shop.test/", 3),  # 1.2 times the reference's two steps
    ],
)
async def test_step_limits_are_those_of_the_rules(
    scripted_model: StartModel,
    begin: Begin,
    page: Page,
    options: dict[str, object],
    url: str,
    *,
    steps: int,
) -> None:
    agent = begin(scripted_model(lambda _: plans("go_back")), step_limit=100, **options)
    assert await steps_until_the_end(agent, page, url) == steps


@SLOW
async def test_by_the_codes_rules_the_final_answer_does_not_end_the_loop_and_is_not_lost(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    def answers_once(request: ChatRequest) -> ScriptedReply:
        is_first = "nothing yet" in asked(request)
        return plans("get_final_answer", "19.99") if is_first else plans("go_back")

    agent = begin(scripted_model(answers_once), rules="code", step_limit=4)
    actions = [(await agent.decide(page(HOME, step=step))).action for step in range(4)]
    assert actions == [NOTHING, Back(), Back(), Stop(answer="19.99")]
    longer = begin(scripted_model(answers_once), rules="code", step_limit=30)
    actions = [(await longer.decide(page(HOME, step=step))).action for step in range(11)]
    assert actions[-1] == Stop(answer="19.99")
    assert Stop(answer="19.99") not in actions[:-1]


async def test_by_the_codes_rules_a_step_without_a_plan_is_a_step_lost(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    model = scripted_model([Says("no"), Says("no"), Says("no"), plans("go_back")])
    agent = begin(model, rules="code")
    assert (await agent.decide(page(HOME))).action == NOTHING
    assert (await agent.decide(page(HOME, step=1))).action == Back()
    assert "nothing yet" in asked(model.requests[3])


GIVEN: dict[str, object] = {"model": "m", "model_url": "http://127.0.0.1:9/v1"}


@pytest.mark.parametrize(
    ("options", "observations", "hints", "agent_class"),
    [
        ({}, {"axtree"}, set(), AgentClass.CONTESTANT),
        ({"mode": "vision"}, {"screenshot", "som"}, set(), AgentClass.CONTESTANT),
        ({"mode": "both"}, {"axtree", "screenshot"}, set(), AgentClass.CONTESTANT),
        ({"reward": "self"}, {"axtree"}, set(), AgentClass.CONTESTANT),
        ({"reward": "golden"}, {"axtree"}, {Hint.KEY_NODES}, AgentClass.GUIDED),
        ({"rules": "paper"}, {"axtree"}, {Hint.LENGTH}, AgentClass.CONTESTANT),
        ({"rules": "code"}, {"axtree"}, {Hint.LENGTH}, AgentClass.CONTESTANT),
    ],
)
def test_options_decide_what_it_sees_and_is_with_hints(
    options: dict[str, object], observations: set[str], hints: set[Hint], agent_class: AgentClass
) -> None:
    opened = open_agent(find_agent("webcanvas"), {**GIVEN, **options})
    assert opened.maker.observations == observations
    assert opened.agents.hints == hints
    assert opened.agent_class is agent_class


@pytest.mark.parametrize(
    "options",
    [{"mode": "smell"}, {"reward": "gold"}, {"rules": "mine"}, {"reward_mode": "vision"}],
)
def test_options_without_effect_and_unknown_values_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))):
        make_agent("webcanvas", {**GIVEN, **options})


async def test_what_is_said_of_a_step_that_failed_is_not_noted_of_the_one_before(
    scripted_model: StartModel, begin: Begin, page: Page
) -> None:
    planning = [plans("click", element=2), plans("go_back"), plans("go_back")]
    model = scripted_model(by_module(planning, lambda _: judges("doing", "Seen.")))
    agent = begin(model, reward="self")
    await agent.decide(page(HOME))
    await agent.decide(page(HOME, step=1))
    await agent.decide(page(HOME, step=2, last_error="there is nothing before"))
    told = asked(model.requests[-1])
    assert told.count("→") == 1
    assert "It failed: there is nothing before\nThe task is not done yet. Seen." in told
