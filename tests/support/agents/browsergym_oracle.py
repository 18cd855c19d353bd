"""A model for AgentLab's `GenericAgent` that plays references, from its prompts as they are."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from arena_core.actions import (
    Action,
    Back,
    Click,
    CloseTab,
    FocusTab,
    Forward,
    Goto,
    Hover,
    Infeasible,
    NewTab,
    Press,
    Select,
    Stop,
    Type,
)
from arena_core.errors import AgentError
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.browser.observation import AXTREE, AxTree, Node, Observation
from support.agents.reference_player import decided, oracle_of, task_of
from support.agents.scripted_model import ChatRequest, Says

_LINE = re.compile(
    r"(?P<tabs>\t*)(?:\[(?P<bid>\w+)\] )?(?P<role>\w+)"
    r""" (?P<name>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
)
_TREE = re.compile(r"^#+ AXTree:\n(.*?)^#+ ", re.MULTILINE | re.DOTALL)
_URL = re.compile(r"\(active tab\):\n +Title: .*\n +URL: (.*)")


@dataclass(slots=True)
class Typed:
    """Where an agent typed last: BrowserGym presses keys in an element."""

    bid: str = ""


@dataclass(slots=True)
class _Playing:
    oracle: OracleAgent
    calls: deque[str] = field(default_factory=deque)
    steps: int = 0
    typed: Typed = field(default_factory=Typed)


class PlaysReferences:
    """A script of `ScriptedModel`: each goal's reference, an action a prompt.

    Args:
        names: tasks, as `suite/task`.
        who: plays them, as `oracle_of` has it.
    """

    def __init__(self, names: Sequence[str], who: str = "oracle") -> None:
        self._who = who
        self._tasks = {task.intent: task for task in map(task_of, names)}
        self._playing: dict[str, _Playing] = {}

    def __call__(self, asked: ChatRequest) -> Says:
        # A model may be asked by several agents at once: nothing here awaits.
        prompt = asked.prompt
        [goal] = [one for one in self._tasks if one in prompt]
        if goal not in self._playing:
            self._playing[goal] = _Playing(oracle_of(self._tasks[goal], self._who))
        playing = self._playing[goal]
        if not playing.calls:
            bids, seen = seen_in(prompt, playing.steps)
            try:
                action = decided(playing.oracle, seen)
                playing.calls.extend(calls_of(action, bids.__getitem__, playing.typed))
                playing.steps += 1
            except AgentError:  # the page is not there yet; the step limit ends it if it never is
                playing.calls.append("noop(1000)")
        return says(playing.calls.popleft())


def says(call: str) -> Says:
    """Return a reply in the form that `GenericAgent` asks for."""
    return Says(f"<think>\nas the reference says\n</think>\n<action>\n{call}\n</action>")


def seen_in(prompt: str, step: int) -> tuple[tuple[str, ...], Observation]:
    """Return what a prompt shows of the page; its ids are places in the bids beside it."""
    found = _TREE.search(prompt)
    assert found is not None, prompt
    lines = [one for line in found[1].splitlines() if (one := _LINE.match(line))]
    nodes = tuple(
        Node(
            id=number,
            depth=len(one["tabs"]),
            role=one["role"],
            name=ast.literal_eval(one["name"]),
        )
        for number, one in enumerate(lines)
    )
    url = _URL.search(prompt)
    assert url is not None, prompt
    seen = Observation(
        step=step, url=url[1], title="", tabs=(), parts={AXTREE: AxTree(nodes, found[1])}
    )
    return tuple(one["bid"] or "" for one in lines), seen


def calls_of(  # noqa: C901, PLR0911, PLR0912  a case each
    action: Action, bid_of: Callable[[int], str], typed: Typed
) -> list[str]:
    """Return the calls of BrowserGym's action space that do what an action says."""
    bid = bid_of(element) if (element := getattr(action, "element", None)) is not None else ""
    match action:
        case Click():
            return [f"click({bid!r})"]
        case Hover():
            return [f"hover({bid!r})"]
        case Type():
            typed.bid = bid
            enter = [f"press({bid!r}, 'Enter')"] if action.submit else []
            return [f"fill({bid!r}, {action.text!r})", *enter]
        case Select():
            return [f"select_option({bid!r}, {list(action.options)!r})"]
        case Press():
            return [f"press({typed.bid!r}, {action.keys!r})"]
        case Goto():
            return [f"goto({action.url!r})"]
        case Back():
            return ["go_back()"]
        case Forward():
            return ["go_forward()"]
        case NewTab():
            return ["new_tab()", *([f"goto({action.url!r})"] if action.url else [])]
        case FocusTab():
            return [f"tab_focus({action.index})"]
        case CloseTab():
            return ["tab_close()"]
        case Stop():
            return [f"send_msg_to_user({action.answer or ''!r})"]
        case Infeasible():
            return [f"report_infeasible({action.reason!r})"]
        case _:
            raise AssertionError(f"no call of BrowserGym does '{action.kind}'")
