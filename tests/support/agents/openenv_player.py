"""Plays Arena with OpenEnv's own client: `python -m support.agents.openenv_player JSON`.

It is a program of an environment without Arena's dependencies.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import AsyncExitStack
from typing import Any

from openenv.core.generic_client import GenericEnvClient
from websockets.exceptions import ConnectionClosed

from support.agents.line_player import asked_in_lines


async def play(url: str, reset: dict[str, Any], actions: list[str]) -> list[Any]:
    """Reset, do actions, and say what each led to: an observation with its reward, or an error."""
    async with GenericEnvClient(base_url=url) as env:
        said = [_said(await env.reset(**reset))]
        for action in actions:
            if action.startswith("kill "):
                print(action, flush=True)  # noqa: T201
                await asyncio.to_thread(sys.stdin.readline)
                continue
            try:
                said.append(_said(await env.step({"action_str": action})))
            except RuntimeError as error:  # what its client makes of an error frame
                said.append({"error_frame": str(error)})
        return [*said, await env.state()]


async def together(url: str, tasks: list[str]) -> list[Any]:
    """Play several tasks side by side, a session each, and one session too many."""
    async with AsyncExitStack() as stack:
        envs = [await stack.enter_async_context(GenericEnvClient(base_url=url)) for _ in tasks]
        await asyncio.gather(
            *(env.reset(task_name=task) for env, task in zip(envs, tasks, strict=True))
        )
        states = [(await env.state())["task_name"] for env in envs]
        try:
            async with GenericEnvClient(base_url=url) as late:
                await late.reset()
        except (RuntimeError, ConnectionClosed):  # the error frame, or the end that follows it
            return [*states, "refused"]
        return states


async def hang(url: str) -> None:
    """Begin an episode, say so, and wait to be killed."""
    async with GenericEnvClient(base_url=url) as env:
        await env.reset()
        print("begun", flush=True)  # noqa: T201
        time.sleep(600)  # noqa: ASYNC251  nothing else happens


class Session:
    """A session of OpenEnv's, as `asked_in_lines` asks it."""

    def __init__(self, url: str) -> None:
        self._env = GenericEnvClient(base_url=url)

    async def begin(self, task: str) -> dict[str, Any]:
        await self._env.__aenter__()
        return self._seen(await self._env.reset(task_name=task))

    async def act(self, action: str) -> dict[str, Any]:
        try:
            result = await self._env.step({"action_str": action})
        except RuntimeError:  # what its client makes of an error frame
            return await self._verdict(None)
        return await self._verdict(result.reward) if result.done else self._seen(result)

    async def close(self) -> None:
        await self._env.__aexit__(None, None, None)

    async def _verdict(self, reward: float | None) -> dict[str, Any]:
        state = await self._env.state()
        said = {"outcome": state["outcome"], "reason": state["reason"], "reward": reward}
        return {"verdict": said}

    def _seen(self, result: Any) -> dict[str, Any]:
        seen = result.observation
        return {"url": seen["url"], "text": seen["axtree_txt"], "error": seen["error"] or None}


async def sessions(url: str) -> None:
    """Play as many sessions as are asked for."""
    await asked_in_lines(lambda: Session(url))


def _said(result: Any) -> dict[str, Any]:
    return {**result.observation, "reward": result.reward, "done": result.done}


_PLAYS: dict[str, Any] = {"play": play, "together": together, "hang": hang, "sessions": sessions}

if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(asyncio.run(_PLAYS[asked.pop("what")](**asked))))  # noqa: T201
