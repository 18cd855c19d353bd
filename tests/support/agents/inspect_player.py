"""Plays Arena's samples with Inspect's mock model: `python -m support.agents.inspect_player`.

It is a program of its own: Inspect keeps an event loop and logging of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from inspect_ai import eval as play
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.log._samples import active_samples
from inspect_ai.model import (
    ChatMessage,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ModelOutput,
    ModelUsage,
    get_model,
)

import orchestrator
from arena_core.actions import Infeasible, Stop
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.serve.inspect_task import arena
from support.agents.reference_player import (
    Seen,
    decided,
    observation_of,
    oracle_of,
    task_of,
    tool_call,
)

MODEL = "mockllm/model"
_AFTER_ONE_CALL = 3
_DOWN = {"coordinate": [1360, 760], "scroll_direction": "down", "scroll_amount": 2}


def call(tool: str, arguments: dict[str, Any]) -> ModelOutput:
    """Return a reply that calls a tool."""
    return counted(ModelOutput.for_tool_call(MODEL, tool, arguments))


def counted(output: ModelOutput) -> ModelOutput:
    """Say what it cost: the mock model would fetch a tokenizer to count."""
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def seen_in(text: str, *, step: int) -> Seen:
    """Return what a tool's answer shows."""
    url = re.search(r"^- Page URL: (.*)$", text, re.MULTILINE)
    error = re.match(r"### Error\n(.*)", text)
    return Seen(step=step, url=url[1] if url else "", text=text, error=error[1] if error else None)


class Oracle:
    """Plays the reference of whichever sample it is asked for, as `oracle_of` has it."""

    def __init__(self, names: list[str], who: str = "oracle") -> None:
        self._who = who
        self._tasks = [task_of(name) for name in names]
        self._playing: dict[str, OracleAgent] = {}

    def __call__(self, asked: list[ChatMessage], *_: object) -> ModelOutput:
        goal = _goal(asked)
        if not isinstance(asked[-1], ChatMessageTool):
            self._playing[goal] = self._agent(goal)
            return call("browser_snapshot", {})
        action = decided(
            self._playing[goal], observation_of(seen_in(asked[-1].text, step=len(asked) - 3))
        )
        if isinstance(action, Stop):
            return call("submit_answer", {"answer": action.answer})
        if isinstance(action, Infeasible):
            return call("submit_answer", {"status": "infeasible", "reason": action.reason})
        return call(*tool_call(action))

    def _agent(self, said: str) -> OracleAgent:
        [task] = [one for one in self._tasks if said.startswith(one.intent)]
        return oracle_of(task, self._who)


def _goal(asked: list[ChatMessage]) -> str:
    return next(one for one in asked if isinstance(one, ChatMessageUser)).text


def idle(asked: list[ChatMessage], *_: object) -> ModelOutput:
    """Say that all is done."""
    return counted(ModelOutput.from_content(MODEL, "I am done."))


def by_computer(asked: list[ChatMessage], *_: object) -> ModelOutput:
    """Open an article by Inspect's computer, and answer in plain words as such models do."""
    pictures = [part for one in asked for part in one.content if isinstance(part, ContentImage)]
    if pictures:
        return counted(ModelOutput.from_content(MODEL, "47"))
    url = "http://wiki.arena.test/wiki/A/Bruges"
    typed = {"action": "navigate", "text": url, "coordinate": None}
    return call("computer", {"actions": [{"action": "scroll", **_DOWN}, typed]})


class KillsTheShop(Oracle):
    """Plays the reference, but for the shop's replicas, which are gone after the first look."""

    def __call__(self, asked: list[ChatMessage], *_: object) -> ModelOutput:
        if len(asked) == _AFTER_ONE_CALL:
            owned = ["docker", "ps", "--filter", "label=arena.site=shop"]
            owner = f"episodes-{os.getpid()}-"
            form = '{{.Label "arena.owner"}} {{.ID}}'
            listed = subprocess.check_output([*owned, "--format", form], text=True).splitlines()
            mine = [one.split()[1] for one in listed if one.startswith(owner)]
            assert mine
            subprocess.check_call(["docker", "rm", "-f", *mine], stdout=subprocess.DEVNULL)
        return super().__call__(asked)


class IsKilled(Oracle):
    """Plays references, but for the first sample: that is cancelled in the middle of a wait."""

    def __call__(self, asked: list[ChatMessage], *_: object) -> ModelOutput:
        first = next((one for one in active_samples() if one.sample.id == self._tasks[0].id), None)
        if first is None or not _goal(asked).startswith(self._tasks[0].intent):
            return super().__call__(asked)
        loop = asyncio.get_running_loop()
        loop.call_later(2, lambda: first.interrupt("cancel"))
        return call("browser_wait_for", {"time": 30, "text": "what never comes"})


_MODELS: dict[str, Callable[[list[str]], Any]] = {
    "oracle": Oracle,
    "mistaken": partial(Oracle, who="mistaken"),
    "idle-by-tools": partial(Oracle, who="idle"),
    "idle": lambda _: idle,
    "computer": lambda _: by_computer,
    "kills-the-shop": KillsTheShop,
    "is-killed": IsKilled,
}


def said_of(log: EvalLog) -> dict[str, Any]:
    """Return what a log says of each sample, and of all."""
    assert log.results is not None
    [score] = log.results.scores
    samples = {str(one.id): _of_sample(one) for one in log.samples or ()}
    return {
        "log": log.location,
        "status": log.status,
        "samples": samples,
        "unscored": score.unscored_samples,
        "metrics": {name: one.value for name, one in score.metrics.items()},
    }


def _of_sample(sample: EvalSample) -> dict[str, Any]:
    if sample.error is not None:
        return {"error": sample.error.message}
    [score] = (sample.scores or {}).values()
    return score.model_dump(include={"value", "reason", "explanation", "metadata"})


def main(who: str, suite: str, *patterns: str) -> None:
    """Play tasks by one of the models, and print what Inspect's log says."""
    asked: dict[str, Any] = {
        "suite": suite,
        "tasks": list(patterns),
        "tools": "computer" if who == "computer" else "browser",
        "workers": 1 if who == "is-killed" else 2,
        "out": "evidence",
    }
    is_installed = "site-packages" in orchestrator.__file__
    names = [f"{suite}/{one}" for one in patterns]
    [log] = play(
        "orchestrator/arena" if is_installed else arena(**asked),
        task_args=asked if is_installed else {},
        model=get_model(MODEL, custom_outputs=_MODELS[who](names)),
        log_dir="logs",
        display="none",
    )
    print(json.dumps(said_of(log)))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
