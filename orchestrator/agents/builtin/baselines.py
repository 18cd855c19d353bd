"""Agents that measure the benchmark: what nothing, chance, a guess or a replay achieves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final

from arena_core.actions import Action, Back, Click, Scroll, ScrollDirection, Select, Stop, Type
from arena_core.errors import AgentError, UsageError
from arena_core.worlds import World
from orchestrator.agents.builtin.elements import descendants
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.agents.interface import (
    Agent,
    AgentClass,
    Assignment,
    Decision,
    Reference,
    episode_seed,
)
from orchestrator.agents.spec import Agents, AgentSpec
from orchestrator.browser.observation import Node, Observation
from tasks.loader import load_suite
from tasks.reference import SolveMiniWob
from tasks.schema import Task


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


class BlindRefusal:
    """Answers `N/A` at once, as if nothing could be done."""

    async def decide(self, observation: Observation) -> Decision:  # noqa: ARG002
        return Decision(Stop(answer="N/A"))


def _open_refusal() -> Agents:
    return Agents(make=lambda _: BlindRefusal())


BLIND_NA: Final = AgentSpec(
    open=_open_refusal, agent_class=AgentClass.BASELINE, observations=frozenset()
)

_LONGEST_ANSWER: Final = 8_000


class ShotgunAgent:
    """Answers with everything that the start page says, and does nothing."""

    async def decide(self, observation: Observation) -> Decision:
        said = dict.fromkeys(node.name for node in observation.nodes if node.name)
        return Decision(Stop(answer=", ".join(said)[:_LONGEST_ANSWER]))


def _open_shotgun() -> Agents:
    return Agents(make=lambda _: ShotgunAgent())


SHOTGUN: Final = AgentSpec(open=_open_shotgun, agent_class=AgentClass.BASELINE)

_INSTANCE: Final = re.compile(r"(?P<template>.+?)(?:-s\d+)?-\d+")


class BlindReplay:
    """Does what solves another instance of the task's template, whatever the pages say.

    What a page does not have is left out, so that it comes as far as such a replay can.
    """

    def __init__(self, other: Task, url_of: Mapping[str, str], world: World) -> None:
        self._world = world
        self._left = [one for one in other.reference_actions if one.only in {None, world}]
        self._reference = Reference((), lambda page: _address(page, url_of))

    async def decide(self, observation: Observation) -> Decision:
        while self._left:
            alone = replace(self._reference, actions=(self._left.pop(0),))
            try:
                return await OracleAgent(alone, self._world).decide(observation)
            except AgentError:
                continue
        return Decision(Stop())


def _address(page: str, url_of: Mapping[str, str]) -> str:
    """Return the URL of a logical one, by the start URLs of sites."""
    site, _, path = page.partition(":")
    if site not in url_of:
        raise AgentError(f"{page}: the task does not visit '{site}'")
    return f"{url_of[site].rstrip('/')}{path}"


def _open_replay(*, suite: str) -> Agents:
    instances: dict[str, list[Task]] = {}
    template_of: dict[str, str] = {}
    for task in load_suite(suite).tasks:
        solves = any(isinstance(one, SolveMiniWob) for one in task.reference_actions)
        if task.template is not None and task.reference is not None and not solves:
            instances.setdefault(task.template, []).append(task)
            if named := _INSTANCE.fullmatch(task.id):
                template_of[named["template"]] = task.template
    if not instances:
        message = f"suite '{suite}' has no instance of a template whose reference could be replayed"
        raise UsageError(message, hint="draw one: arena tasks instantiate SUITE --seed 8")

    def make(assignment: Assignment) -> Agent:
        own = _INSTANCE.fullmatch(assignment.task)
        template = template_of.get(own["template"], "") if own else ""
        others = [one for one in instances.get(template, []) if one.id != assignment.task]
        if not others:
            return IdleAgent()
        # Twins share their words, so which of them another instance is, is chance.
        other = Random(assignment.task).choice(others)  # noqa: S311  chance, not secrecy
        return BlindReplay(other, assignment.site_urls, assignment.world)

    return Agents(make=make)


BLIND_REPLAY: Final = AgentSpec(open=_open_replay, agent_class=AgentClass.BASELINE)
