from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Callable
from typing import Protocol

import pytest
from support.agents.scripted_model import (
    ChatRequest,
    Fails,
    Says,
    Script,
    ScriptedModel,
    Sends,
    Stalls,
)

from arena_core.actions import Action, Click, Goto, Scroll, ScrollDirection, Stop, Type
from arena_core.errors import AgentError, ModelError
from orchestrator.agents.builtin.chat import ChatAgent, ChatLimits
from orchestrator.agents.choice import make_agent
from orchestrator.agents.interface import Agent, Assignment, Decision, Reference, episode_seed
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.options import ModelOptions
from orchestrator.browser.observation import Observation
from tasks.reference import StopWith

Page = Callable[..., Observation]
StartModel = Callable[[Script], ScriptedModel]


class NewAgent(Protocol):
    def __call__(self, url: str, deadline_s: float = ...) -> Agent: ...


HOME = 'searchbox "Search"\nlink "Kettles"'
DOWN = Scroll(direction=ScrollDirection.DOWN)
UP = Scroll(direction=ScrollDirection.UP)
CANARY = "the-answer-is-1999"


@pytest.fixture
async def new_chat(assignment: Assignment) -> AsyncIterator[NewAgent]:
    opened: list[ModelClient] = []

    def make(url: str, deadline_s: float = 20.0) -> Agent:
        options = ModelOptions.of("scripted", url, {}, deadline_s=deadline_s)
        limits = ChatLimits(past_steps=2, page_characters=200)
        opened.append(ModelClient(options))
        seed = episode_seed(0, assignment)
        return ChatAgent(opened[-1], assignment, seed=seed, limits=limits)

    yield make
    for client in opened:
        await client.close()


def told(request: ChatRequest) -> str:
    return request.messages[-1].content


async def test_an_episode_goes_from_page_to_page_to_the_answer(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    model = scripted_model(
        [
            Says.action(Type(element=1, text="kettle", submit=True), "search first"),
            Says.action(Click(element=1), "the cheapest"),
            Says.action(Stop(answer="19.99"), "that is its price"),
        ]
    )
    agent = new_chat(model.url)
    decisions = [
        await agent.decide(page(HOME)),
        await agent.decide(page('link "Red kettle 19.99"', step=1, url="http://shop.test/s?q=k")),
        await agent.decide(page('heading "Red kettle"', step=2, last_error="it is covered")),
    ]
    assert decisions == [
        Decision(Type(element=1, text="kettle", submit=True), "search first", 100, 10),
        Decision(Click(element=1), "the cheapest", 100, 10),
        Decision(Stop(answer="19.99"), "that is its price", 100, 10),
    ]
    first, second, third = map(told, model.requests)
    assert "Find the cheapest kettle in the shop" in first
    assert '[2] link "Kettles"' in first
    assert "- nothing yet" in first
    assert "http://shop.test/s?q=k" in second
    assert "- step 1: search first" in second
    assert "FAILED" not in second
    assert "- step 2: the cheapest" in third
    assert "FAILED: it is covered" in third


@pytest.mark.parametrize("is_asked", [False, True])
async def test_a_chat_agent_says_how_sure_it_is_where_it_is_asked(
    scripted_model: StartModel, assignment: Assignment, page: Page, *, is_asked: bool
) -> None:
    sure = '{"action": {"kind": "stop", "answer": "19.99", "confidence": %s}}'
    model = scripted_model([Says(sure % "90"), Says(sure % "0.9")])
    options = {"model": "scripted", "model_url": model.url}
    maker = make_agent("chat", options | ({"confidence": "true"} if is_asked else {}))
    agent = maker(assignment, Reference((), str))
    decision = await agent.decide(page(HOME))
    await maker.close()
    assert decision.action == Stop(answer="19.99", confidence=0.9 if is_asked else None)
    # 90 is no share: who was asked for one is asked again, of anybody else it is no matter.
    assert len(model.requests) == 1 + is_asked
    assert ("confidence" in model.requests[0].messages[0].content) is is_asked


async def test_only_the_last_steps_are_recalled(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    model = scripted_model(lambda _: Says.action(Click(element=1)))
    agent = new_chat(model.url)
    for step in range(4):
        await agent.decide(page(HOME, step=step))
    last = told(model.requests[-1])
    assert "- step 1:" not in last
    assert "- step 2:" in last
    assert "- step 3:" in last


async def test_nonsense_is_asked_again_with_what_is_wrong(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    model = scripted_model(
        [
            Says("Let me click on Kettles!"),
            Says('{"action": {"kind": "click", "element": 99}}', finish_reason="length"),
            Says.action(Click(element=2)),
        ]
    )
    decision = await new_chat(model.url).decide(page(HOME))
    assert decision == Decision(Click(element=2), "because", 300, 30)
    assert [message.role for message in model.requests[2].messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert "no JSON object" in told(model.requests[1])
    assert "there is no element 99" in told(model.requests[2])
    assert "length limit" in told(model.requests[2])


async def test_asking_again_is_bounded_and_the_agent_gives_up(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    model = scripted_model(lambda _: Says('{"action": {"kind": "click", "element": 99}}'))
    with pytest.raises(AgentError) as caught:
        await new_chat(model.url).decide(page(HOME))
    assert len(model.requests) == 3
    assert "no valid action in 3 replies" in caught.value.message
    assert "there is no element 99" in caught.value.message


EMPTY = [
    Sends.message(content=None),
    Sends.message(content=""),
    Sends.message(content=[], tool_calls=[]),
    Sends.message(content=None, reasoning_content="I wonder."),
    Sends.message(content="<think>I wonder.</think>"),
]


@pytest.mark.parametrize("reply", EMPTY)
async def test_a_reply_without_content_is_asked_again(
    scripted_model: StartModel, new_chat: NewAgent, page: Page, reply: Sends
) -> None:
    model = scripted_model([reply, reply, Says.action(Click(element=1))])
    assert (await new_chat(model.url).decide(page(HOME))).action == Click(element=1)
    assert "it is empty" in told(model.requests[2])


@pytest.mark.parametrize("reply", EMPTY)
async def test_a_model_without_any_content_is_no_failure_of_the_agent(
    scripted_model: StartModel, new_chat: NewAgent, page: Page, reply: Sends
) -> None:
    model = scripted_model(lambda _: reply)
    with pytest.raises(ModelError, match="3 replies without content") as caught:
        await new_chat(model.url).decide(page(HOME))
    assert not caught.value.is_permanent
    assert len(model.requests) == 3


@pytest.mark.parametrize(
    "reply",
    [
        Sends.message(content=None, finish_reason="length", reasoning_content="I wonder"),
        Sends.message(content="I cannot help with that."),
        Sends.message(content=None, refusal="I will not."),
    ],
    ids=["thought without end", "prose", "refused"],
)
async def test_what_a_model_said_without_an_action_is_the_agents_failure(
    scripted_model: StartModel, new_chat: NewAgent, page: Page, reply: Sends
) -> None:
    model = scripted_model(lambda _: reply)
    with pytest.raises(AgentError, match="no valid action in 3 replies"):
        await new_chat(model.url).decide(page(HOME))


@pytest.mark.parametrize(
    "reply",
    [
        Sends.message(content=[{"type": "text", "text": '{"kind": "click", "element": 1}'}]),
        Sends.message(
            content=[
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": '{"action": {"kind": "click", "element": 1}}'},
            ]
        ),
        Sends.message(content=None, reasoning='So {"kind": "click", "element": 1}'),
        Sends.message(content=None, reasoning_content='{"kind": "click", "element": 1}'),
        Sends.message(
            content=None,
            tool_calls=[
                {"type": "function", "function": {"name": "click", "arguments": '{"element": 1}'}}
            ],
        ),
        Sends.message(
            content="", tool_calls=[{"function": {"name": "click", "arguments": {"element": 1}}}]
        ),
        Sends.message(
            content=None, function_call={"name": "click", "arguments": '{"element": 1, "why": ""}'}
        ),
    ],
)
async def test_an_action_is_read_wherever_a_server_puts_it(
    scripted_model: StartModel, new_chat: NewAgent, page: Page, reply: Sends
) -> None:
    model = scripted_model([reply])
    assert (await new_chat(model.url).decide(page(HOME))).action == Click(element=1)


async def test_thinking_is_not_sent_back_with_an_objection(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    model = scripted_model(
        [Says(f"<think>{'hm ' * 50_000}</think>So?"), Says.action(Click(element=1))]
    )
    await new_chat(model.url).decide(page(HOME))
    assert model.requests[1].messages[-2].content == "So?"


TOO_LONG = Fails(400, "This model's maximum context length is 4096 tokens.")


async def test_a_context_that_is_exhausted_later_is_the_agents_matter(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    model = scripted_model([Says.action(Click(element=1)), TOO_LONG])
    agent = new_chat(model.url)
    await agent.decide(page(HOME))
    with pytest.raises(AgentError, match=r"context window .* is exhausted.* 4096 tokens"):
        await agent.decide(page(HOME, step=1))


async def test_a_first_page_that_is_too_long_is_the_agents_matter(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    model = scripted_model([TOO_LONG, Says("fits")])
    with pytest.raises(AgentError, match="context window"):
        await new_chat(model.url).decide(page(HOME))
    assert "Kettles" not in model.requests[1].prompt


async def test_a_context_that_not_even_the_task_fits_refuses_for_good(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    model = scripted_model(lambda _: TOO_LONG)
    agent = new_chat(model.url)
    for _ in range(2):
        with pytest.raises(ModelError, match="shortest prompt") as caught:
            await agent.decide(page(HOME))
        assert caught.value.is_permanent
    assert len(model.requests) == 2


async def test_scrolling_turns_the_pages_of_a_long_tree(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    outline = "\n".join(f'link "{number}"' for number in range(40))
    actions: list[Action] = [
        DOWN,
        DOWN,
        UP,
        Click(element=40),
        Goto(url="http://shop.test/b"),
        Stop(),
    ]
    model = scripted_model(Says.action(action) for action in actions)
    agent = new_chat(model.url)
    urls = [*["http://shop.test/"] * 5, "http://shop.test/b"]
    decided = [await agent.decide(page(outline, step=i, url=url)) for i, url in enumerate(urls)]
    # An element of a part that is not shown can be acted on: it is on the page.
    assert [decision.action for decision in decided] == actions
    shown = [told(request).split("this is part ")[1].split(" of ")[0] for request in model.requests]
    assert shown == ["1", "2", "3", "2", "2", "1"]


async def test_scrolling_beyond_the_end_stays_at_the_end(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    model = scripted_model(Says.action(action) for action in (DOWN, DOWN, UP, DOWN))
    agent = new_chat(model.url)
    for step in range(4):
        await agent.decide(page("\n".join(f'link "{number}"' for number in range(20)), step=step))
    shown = [told(request).split("this is part ")[1][:6] for request in model.requests]
    assert shown == ["1 of 2", "2 of 2", "2 of 2", "1 of 2"]


async def test_scrolling_reads_one_long_text_to_its_end(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    words = [f"word{number}" for number in range(60)]
    model = scripted_model(lambda _: Says.action(DOWN))
    agent = new_chat(model.url)
    for step in range(6):
        await agent.decide(page(f'text "{" ".join(words)}"\nbutton "Buy"', step=step))
    assert 'button "Buy"' in told(model.requests[0])
    shown = " ".join(map(told, model.requests))
    assert [word for word in words if f"{word} " not in shown and f'{word}"' not in shown] == []


async def test_a_server_error_passes_unseen_by_the_agent(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    model = scripted_model([Fails(500), Says.action(Stop())])
    assert (await new_chat(model.url).decide(page(HOME))).action == Stop()


async def test_an_endpoint_that_refuses_is_no_failure_of_the_agent(
    new_chat: NewAgent, page: Page
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        agent = new_chat(url, deadline_s=0.3)
        with pytest.raises(ModelError):
            await agent.decide(page(HOME))


@pytest.mark.parametrize("reply", [Stalls(), Sends(b"<html>"), Sends(b'{"choices": []}')])
async def test_a_stall_or_garbage_is_no_failure_of_the_agent(
    scripted_model: StartModel, new_chat: NewAgent, page: Page, reply: Stalls | Sends
) -> None:
    model = scripted_model(lambda _: reply)
    with pytest.raises(ModelError):
        await new_chat(model.url, deadline_s=0.3).decide(page(HOME))


async def test_the_model_is_never_told_the_reference(
    scripted_model: StartModel, assignment: Assignment, page: Page
) -> None:
    model = scripted_model(lambda _: Says("nonsense"))
    maker = make_agent("chat", {"model": "scripted", "model_url": model.url})
    reference = Reference((StopWith(do="stop", answer=CANARY),), lambda page: CANARY)
    with pytest.raises(AgentError):
        await maker(assignment, reference).decide(page(HOME))
    await maker.close()
    assert CANARY not in json.dumps([request.model_dump(mode="json") for request in model.requests])


async def test_closing_the_maker_closes_the_connections_to_the_model(
    scripted_model: StartModel, page: Page, assignment: Assignment
) -> None:
    model = scripted_model([Says.action(Stop())])
    maker = make_agent("chat", {"model": "scripted", "model_url": model.url})
    agent = maker(assignment, Reference((), str))
    assert isinstance(agent, ChatAgent)
    await agent.decide(page(HOME))
    connections = agent._model._sdk
    assert connections is not None
    await maker.close()
    assert connections.is_closed()


async def test_temperature_is_zero_and_the_seed_is_the_episodes(
    scripted_model: StartModel, new_chat: NewAgent, page: Page
) -> None:
    model = scripted_model(lambda _: Says.action(Click(element=1)))
    for _ in range(2):
        await new_chat(model.url).decide(page(HOME))
    first, second = model.requests
    assert (first.temperature, first.model) == (0.0, "scripted")
    assert first.seed is not None
    assert first.seed == second.seed
