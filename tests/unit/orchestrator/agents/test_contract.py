"""What every agent owes the episode, whatever it is shown."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
from pydantic import TypeAdapter
from quick_cases import ONE_QUICK, SLOW
from support.agents.scripted_model import Calls, Says, Script, ScriptedModel, ScriptedReply
from support.worlds.seen_pages import PICTURE

from arena_core.actions import Action, Click, FocusTab, Hover, Select, Stop, Type
from arena_core.errors import AgentError, UnknownNameError, UsageError
from orchestrator.agents.choice import AGENTS, make_agent
from orchestrator.agents.interface import AgentMaker, Assignment, Decision, Reference
from orchestrator.agents.options import FLAGS
from orchestrator.browser.observation import SCREENSHOT, SOM, Box, Mark, MarkedPicture, Observation
from tasks.reference import OnElement, StopWith

Page = Callable[..., Observation]
StartModel = Callable[[Script], ScriptedModel]

REFERENCE = Reference(
    (OnElement(do="click", role="link", name="Kettles"), StopWith(do="stop", answer="19.99")),
    lambda logical: f"http://shop.test/{logical}",
)
OUTLINES = {
    "empty": "",
    "tiny": 'link "Kettles"',
    "large": 'main "Shop"\n' + "\n".join(f'  link "Kettle {number}"' for number in range(5_000)),
}
_ACTION: TypeAdapter[Action] = TypeAdapter(Action)


# What a model says that clicks the first element, in the words of each agent.
CLICKS: dict[str, ScriptedReply] = {
    "chat": Says.action(Click(element=1)),
    "webarena": Says("```click [1]```"),
    "webcanvas": Says('{"action": "click", "element_id": 1}'),
    "autowebglm": Says("click(A)"),
    "tools": Calls.one("click", element=1),
    "vision": Calls.one("click", element=1),
    "computer": Calls.one("mouse_click", x=1, y=1),
}
OWN = ("oracle", "idle", "random", *CLICKS)


@pytest.fixture(params=OWN)
async def maker(
    request: pytest.FixtureRequest, scripted_model: StartModel
) -> AsyncIterator[AgentMaker]:
    options: dict[str, object] = {} if request.param in {"oracle", "idle"} else {"seed": 1}
    if request.param in CLICKS:
        model = scripted_model(lambda _: CLICKS[request.param])
        options |= {"model": "scripted", "model_url": model.url}
    made = make_agent(request.param, options)
    yield made
    await made.close()
    await made.close()


def as_asked(maker: AgentMaker, observation: Observation) -> Observation:
    """Add to a drawn page the pictures that the agent asked for."""
    box = Box(10, 20, 100, 30, visible=True)
    marks = tuple(Mark(node.id, node.role, node.name, box) for node in observation.nodes)
    pictures = {SOM: MarkedPicture(PICTURE, marks), SCREENSHOT: PICTURE}
    asked = {form: part for form, part in pictures.items() if form in maker.observations}
    return replace(observation, parts={**observation.parts, **asked})


@ONE_QUICK
@pytest.mark.parametrize("outline", list(OUTLINES))
async def test_an_agent_decides_on_a_valid_action_or_gives_up(
    maker: AgentMaker, assignment: Assignment, page: Page, outline: str
) -> None:
    agent = maker(assignment, REFERENCE)
    for step in range(3):
        observation = as_asked(maker, page(OUTLINES[outline], step=step))
        try:
            decision = await agent.decide(observation)
        except AgentError:
            return
        assert isinstance(decision, Decision)
        assert _ACTION.validate_json(_ACTION.dump_json(decision.action)) == decision.action
        assert _is_possible(decision.action, observation)
        assert decision.input_tokens >= 0
        assert decision.output_tokens >= 0


async def test_agents_of_one_maker_share_no_memory(
    maker: AgentMaker, assignment: Assignment, page: Page
) -> None:
    decisions = []
    tiny = as_asked(maker, page(OUTLINES["tiny"]))
    for _ in range(2):
        agent = maker(assignment, REFERENCE)
        decisions.append([await agent.decide(tiny) for _ in range(2)])
    assert decisions[0] == decisions[1]


def test_a_maker_has_the_name_that_reports_show(maker: AgentMaker) -> None:
    with_model = {f"{name} (scripted)" for name in CLICKS}
    assert maker.name in {"oracle", "idle", "random"} | with_model


async def test_idle_stops_without_an_answer(assignment: Assignment, page: Page) -> None:
    agent = make_agent("idle")(assignment, REFERENCE)
    assert await agent.decide(page(OUTLINES["tiny"])) == Decision(Stop())


def test_an_unknown_agent_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError) as caught:
        make_agent("genius")
    assert "'genius'" in caught.value.message
    assert sum(name in caught.value.hint for name in AGENTS.names()) >= 9


def test_chat_without_a_model_says_which_option_is_missing() -> None:
    with pytest.raises(UsageError) as caught:
        make_agent("chat")
    assert "--model" in caught.value.message


GIVEN: dict[str, object] = {
    "seed": 0,
    "model": "gpt-4o",
    "model_url": "http://127.0.0.1:9/v1",
    "model_deadline": 120.0,
    "temperature": 0.0,
    "reasoning_effort": "low",
    "max_completion_tokens": 900,
    "prices": "prices.yaml",
    "replay": "run",
}
TAKEN = {"oracle": ("seed",), "idle": (), "random": ("seed",)} | dict.fromkeys(CLICKS, FLAGS)


@pytest.mark.parametrize("option", FLAGS)
@pytest.mark.parametrize("name", OWN)
def test_an_option_that_an_agent_does_not_take_is_refused_with_those_that_do(
    name: str, option: str
) -> None:
    if option in TAKEN[name]:
        assert option in {one.name for one in AGENTS.load(name).options}
        return
    with pytest.raises(UsageError) as caught:
        make_agent(name, {option: GIVEN[option]})
    assert f"--{option.replace('_', '-')} has no effect" in caught.value.message
    assert "--agent chat" in caught.value.hint


@SLOW
def test_making_agents_imports_no_heavy_library() -> None:
    code = (
        "import sys; from orchestrator.agents.choice import make_agent;"
        "make_agent('chat', {'model': 'm', 'model_url': 'http://127.0.0.1:9/v1'});"
        "sys.exit('openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=30).returncode == 0


def _is_possible(action: Action, observation: Observation) -> bool:
    match action:
        case Click() | Hover() | Type() | Select():
            return any(node.id == action.element for node in observation.nodes)
        case FocusTab():
            return any(tab.index == action.index for tab in observation.tabs)
        case _:
            return True
