"""A test's own agent: plays a task's reference from what an adapter's client is shown as text.

The reference comes from the task's file, on the test's side; no service ever hands it out.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from arena_core.actions import (
    Action,
    Click,
    CloseTab,
    FocusTab,
    Goto,
    Hover,
    Infeasible,
    NewTab,
    Press,
    Select,
    Stop,
    Type,
)
from arena_core.worlds import World
from orchestrator.agents.builtin.oracle import Mistakes, OracleAgent
from orchestrator.agents.interface import Assignment, Reference
from orchestrator.browser.observation import AXTREE, AxTree, Node, Observation
from sites.registry import load_registry
from tasks.loader import load_suite
from tasks.reference import StopWith
from tasks.schema import Task

_LINE = re.compile(r'^(?P<indent> *)\[(?P<id>\d+)\] (?P<role>\S+)(?: "(?P<name>.*?)"(?= |$))?')
_ARIA = re.compile(
    r"^(?P<indent> *)- '?(?P<role>[\w/]+)"
    r'(?: "(?P<name>(?:[^"\\]|\\.)*)")?.*?\[ref=e(?P<id>\d+)\]'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a client was shown."""

    step: int
    url: str
    text: str
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a client was told of its episode in the end."""

    outcome: str
    reason: str | None
    reward: float | None


class Client(Protocol):
    """One agent's connection to one episode through an adapter."""

    async def begin(self, task: str) -> Seen: ...

    async def act(self, action: Action) -> Seen | Verdict: ...

    async def finish(self, answer: str | None) -> Verdict: ...


def task_of(name: str) -> Task:
    """Return a task by `suite/task`."""
    suite, _, task = name.rpartition("/")
    (found,) = [one for one in load_suite(suite).tasks if one.id == task]
    return found


IDLE: Final = "I am done."


def oracle_of(task: Task, who: str = "oracle") -> OracleAgent:
    """Return an agent that plays a task's reference offline.

    Args:
        task: whose reference it plays.
        who: `oracle`; `mistaken`: the oracle of `error_rate=1`, wrong in every episode; `idle`: it
            does nothing, and says that it is done.
    """
    upstreams = load_registry().upstreams(task.sites, World.OFFLINE)
    actions = (StopWith(do="stop", answer=IDLE),) if who == "idle" else task.reference_actions
    reference = Reference(actions, upstreams.url)
    mistaken = None
    if who == "mistaken":
        assigned = Assignment(
            task=task.id, intent=task.intent, world=World.OFFLINE, sites={}, step_limit=30
        )
        mistaken = partial(Mistakes(share=1, seed=0).made_in, assigned)
    return OracleAgent(reference, World.OFFLINE, task.intent, mistaken)


def decided(agent: OracleAgent, seen: Observation) -> Action:
    """Return what an agent decides that awaits nothing: a mock model is asked outside a task."""
    deciding = agent.decide(seen)
    try:
        deciding.send(None)
    except StopIteration as decision:
        action: Action = decision.value.action
        return action
    raise AssertionError("the oracle awaited something")


async def play_reference(client: Client, name: str) -> Verdict:
    """Play a task's reference through a client to its end."""
    oracle = oracle_of(task_of(name))
    seen: Seen | Verdict = await client.begin(name)
    while isinstance(seen, Seen):
        action = (await oracle.decide(observation_of(seen))).action
        if isinstance(action, Stop):
            return await client.finish(action.answer)
        if isinstance(action, Infeasible):  # in WebArena's word, which every client can say
            return await client.finish(f"N/A: {action.reason}")
        seen = await client.act(action)
    return seen


async def stay_idle(client: Client, name: str) -> Verdict:
    """Do nothing, and say that it is done."""
    await client.begin(name)
    return await client.finish(None)


Play = Callable[[Client, str], Awaitable[Verdict]]


def observation_of(seen: Seen) -> Observation:
    """Return what a client was shown as the observation that Arena's own agents read."""
    return Observation(
        step=seen.step,
        url=seen.url,
        title="",
        tabs=(),
        parts={AXTREE: AxTree(nodes_in(seen.text), seen.text)},
        last_error=seen.error,
    )


def nodes_in(text: str) -> tuple[Node, ...]:
    """Return the nodes of an accessibility tree as text, in either of its forms."""
    found = [_LINE.match(line) or _ARIA.match(line) for line in text.splitlines()]
    return tuple(
        Node(
            id=int(one["id"]),
            depth=len(one["indent"]) // 2,
            role=one["role"],
            name=(one["name"] or "").replace('\\"', '"').replace("\\\\", "\\"),
        )
        for one in found
        if one is not None
    )


_NAMES = {
    "click": "browser_click",
    "hover": "browser_hover",
    "type": "browser_type",
    "select": "browser_select_option",
    "press": "browser_press_key",
    "goto": "browser_navigate",
    "back": "browser_navigate_back",
    "new_tab": "browser_tabs",
    "focus_tab": "browser_tabs",
    "close_tab": "browser_tabs",
}


def tool_call(action: Action) -> tuple[str, dict[str, Any]]:
    """Return the tool, and its arguments, that do what an action says."""
    target = {"target": f"e{getattr(action, 'element', 0)}"}
    arguments: dict[str, Any] = {}
    match action:
        case Click() | Hover():
            arguments = target
        case Type():
            arguments = {**target, "text": action.text, "submit": action.submit}
        case Select():
            arguments = {**target, "values": list(action.options)}
        case Press():
            arguments = {"key": action.keys}
        case Goto():
            arguments = {"url": action.url}
        case NewTab():
            arguments = {"action": "new", "url": action.url}
        case FocusTab():
            arguments = {"action": "select", "index": action.index}
        case CloseTab():
            arguments = {"action": "close"}
        case _:
            assert action.kind == "back", f"no tool does '{action.kind}'"
    return _NAMES[action.kind], arguments
