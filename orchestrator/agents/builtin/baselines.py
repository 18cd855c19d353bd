"""Agents that measure the benchmark: one stops at once, one acts at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from arena_core.actions import Action, Back, Click, Scroll, ScrollDirection, Select, Stop, Type
from orchestrator.agents.builtin.elements import descendants
from orchestrator.agents.interface import Agent, AgentClass, Assignment, Decision, episode_seed
from orchestrator.agents.spec import Agents, AgentSpec
from orchestrator.browser.observation import Node, Observation


class IdleAgent:
    """Does nothing."""

    async def decide(self, observation: Observation) -> Decision:  # noqa: ARG002
        return Decision(Stop())


def _open_idle() -> Agents:
    return Agents(make=lambda _: IdleAgent())


IDLE: Final = AgentSpec(open=_open_idle, agent_class=AgentClass.BASELINE, observations=frozenset())


STOP_PROBABILITY = 0.02

_CLICKED = frozenset(
    {"button", "checkbox", "link", "menuitem", "option", "radio", "switch", "tab", "treeitem"}
)
_TYPED = frozenset({"combobox", "searchbox", "spinbutton", "textbox"})


class RandomAgent:
    """Chooses uniformly among what the page offers; the seed and the pages decide everything."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 (an experiment, no secret)

    async def decide(self, observation: Observation) -> Decision:
        if self._random.random() < STOP_PROBABILITY:
            return Decision(Stop())
        return Decision(self._random.choice(tuple(self._offered(observation))))

    def _offered(self, observation: Observation) -> Iterator[Action]:
        """Yield what can sensibly be done, once per element; scrolling always can."""
        ways = (ScrollDirection.UP, ScrollDirection.DOWN)
        yield from (Scroll(direction=direction) for direction in ways)
        if observation.step > 0:
            yield Back()
        # A word that stands on the page, so that searches find something at times.
        words = [word for node in observation.nodes for word in node.name.split()] or ["a"]
        for position, node in enumerate(observation.nodes):
            if "disabled" in node.states:
                continue
            options = _options(observation.nodes, position)
            if options:
                yield Select(element=node.id, option=self._random.choice(options))
            elif node.role in _CLICKED:
                yield Click(element=node.id)
            elif node.role in _TYPED:
                yield Type(element=node.id, text=self._random.choice(words))


def _options(nodes: Sequence[Node], position: int) -> tuple[str, ...]:
    """Return the labels to choose from, none where the node is no select element."""
    if nodes[position].role not in {"combobox", "listbox"}:
        return ()
    inside = descendants(nodes, position)
    return tuple(node.name for node in inside if node.role == "option" and node.name)


def _open_random(*, seed: int = 0) -> Agents:
    def make(assignment: Assignment) -> Agent:
        return RandomAgent(episode_seed(seed, assignment))

    return Agents(make=make, settings={"seed": seed})


RANDOM: Final = AgentSpec(open=_open_random, agent_class=AgentClass.BASELINE)
