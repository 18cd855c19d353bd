from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from string import ascii_uppercase

import pytest
from support.agents.scripted_model import ScriptedModel

from arena_core.worlds import World
from orchestrator.agents.choice import make_agent
from orchestrator.agents.interface import Agent, AgentMaker, Assignment, Reference
from orchestrator.browser.observation import (
    AXTREE,
    PRUNED_HTML,
    AxTree,
    Node,
    Observation,
    PrunedHtml,
    Tab,
)

_LABELS = ascii_uppercase
_LINE = re.compile(r'(?P<indent> *)(?P<role>\w+) "(?P<name>[^"]*)"(?P<states>( [\w=]+)*)')


def draw(
    outline: str, *, step: int = 0, url: str = "http://shop.test/", last_error: str | None = None
) -> Observation:
    """Make an observation of an outline: one `role "name" states` a line, two blanks a level."""
    matches = [_LINE.fullmatch(line) for line in outline.splitlines() if line.strip()]
    nodes = tuple(
        Node(
            id=number,
            depth=len(match["indent"]) // 2,
            role=match["role"],
            name=match["name"],
            states=tuple(match["states"].split()),
        )
        for number, match in enumerate(matches, start=1)
        if match is not None
    )
    few = nodes[: len(_LABELS)]
    return Observation(
        step=step,
        url=url,
        title="Shop",
        tabs=(Tab(0, "Shop", url, is_current=True),),
        parts={
            AXTREE: AxTree(
                nodes,
                "\n".join(
                    f'{"  " * node.depth}[{node.id}] {node.role} "{node.name}"' for node in nodes
                ),
            ),
            PRUNED_HTML: PrunedHtml(
                " ".join(f"<{node.role}[{_LABELS[node.id - 1]}]| {node.name} >" for node in few),
                {_LABELS[node.id - 1]: node.id for node in few},
            ),
        },
        last_error=last_error,
    )


@pytest.fixture
def page() -> Callable[..., Observation]:
    return draw


@pytest.fixture
def assignment() -> Assignment:
    return Assignment(
        task="find-kettle",
        intent="Find the cheapest kettle in the shop",
        world=World.OFFLINE,
        sites={"shop": "Harbour shop, http://shop.test/"},
        step_limit=20,
    )


@pytest.fixture
async def begin_as(assignment: Assignment) -> AsyncIterator[Callable[..., Agent]]:
    """An agent by its name, with a scripted model's address and options, in an episode."""
    makers: list[AgentMaker] = []

    def make(name: str, model: ScriptedModel, **options: object) -> Agent:
        given: dict[str, object] = {"model": "scripted", "model_url": model.url, **options}
        makers.append(make_agent(name, given))
        return makers[-1](assignment, Reference((), str))

    yield make
    for maker in makers:
        await maker.close()
