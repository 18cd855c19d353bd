"""What every agent owes the episode, whatever it is shown."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable

import pytest
from pydantic import TypeAdapter
from scripted_model import Says, Script, ScriptedModel

from arena_core.actions import Action, Click, FocusTab, Hover, Select, Stop, Type
from arena_core.errors import AgentError, UnknownNameError, UsageError
from orchestrator.agents.registry import AgentOption, AgentOptions, agent_names, make_agent, takes
from orchestrator.observation import AgentMaker, Assignment, Decision, Observation, Reference
from tasks.schema import OnElement, StopWith

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


@pytest.fixture(params=agent_names())
async def maker(
    request: pytest.FixtureRequest, scripted_model: StartModel
) -> AsyncIterator[AgentMaker]:
    model = scripted_model(lambda _: Says.action(Click(element=1)))
    options = {
        "random": AgentOptions(seed=1),
        "chat": AgentOptions(seed=1, model="scripted", model_url=model.url),
    }
    made = make_agent(request.param, options.get(request.param, AgentOptions()))
    yield made
    await made.close()
    await made.close()


@pytest.mark.parametrize("outline", list(OUTLINES))
async def test_an_agent_decides_on_a_valid_action_or_gives_up(
    maker: AgentMaker, assignment: Assignment, page: Page, outline: str
) -> None:
    agent = maker(assignment, REFERENCE)
    for step in range(3):
        observation = page(OUTLINES[outline], step=step)
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
    for _ in range(2):
        agent = maker(assignment, REFERENCE)
        decisions.append([await agent.decide(page(OUTLINES["tiny"])) for _ in range(2)])
    assert decisions[0] == decisions[1]


def test_a_maker_has_the_name_that_reports_show(maker: AgentMaker) -> None:
    assert maker.name in {"oracle", "idle", "random", "chat (scripted)"}


async def test_idle_stops_without_an_answer(assignment: Assignment, page: Page) -> None:
    agent = make_agent("idle", AgentOptions())(assignment, REFERENCE)
    assert await agent.decide(page(OUTLINES["tiny"])) == Decision(Stop())


def test_an_unknown_agent_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError) as caught:
        make_agent("genius", AgentOptions())
    assert "'genius'" in caught.value.message
    assert "oracle, idle, random, chat" in caught.value.hint


def test_chat_without_a_model_says_which_option_is_missing() -> None:
    with pytest.raises(UsageError) as caught:
        make_agent("chat", AgentOptions())
    assert "--model" in caught.value.hint


GIVEN = {
    AgentOption.SEED: AgentOptions(seed=0),
    AgentOption.MODEL: AgentOptions(model="gpt-4o"),
    AgentOption.MODEL_URL: AgentOptions(model_url="http://127.0.0.1:9/v1"),
    AgentOption.MODEL_DEADLINE: AgentOptions(model_deadline_s=120.0),
    AgentOption.TEMPERATURE: AgentOptions(temperature=0.0),
}
TAKEN = {"oracle": set(), "idle": set(), "random": {AgentOption.SEED}, "chat": set(AgentOption)}


@pytest.mark.parametrize("option", list(AgentOption))
@pytest.mark.parametrize("name", agent_names())
def test_an_option_that_an_agent_does_not_take_is_refused_with_those_that_do(
    name: str, option: AgentOption
) -> None:
    assert GIVEN[option].given() == (option,)
    if option in TAKEN[name]:
        assert takes(name, option)
        return
    with pytest.raises(UsageError) as caught:
        make_agent(name, GIVEN[option])
    assert option in caught.value.message
    assert "--agent chat" in caught.value.hint


def test_making_agents_imports_no_heavy_library() -> None:
    code = (
        "import sys; from orchestrator.agents.registry import AgentOptions, make_agent;"
        "make_agent('chat', AgentOptions(model='m', model_url='http://127.0.0.1:9/v1'));"
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
