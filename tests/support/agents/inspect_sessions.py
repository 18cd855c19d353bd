"""Plays one evaluation of Inspect, as clients ask: `python -m support.agents.inspect_sessions N`.

The model is the clients: each says for one sample what the model calls.
"""

from __future__ import annotations

import asyncio
import math
import sys
from dataclasses import dataclass, field
from typing import Any, TypeVar

from inspect_ai import eval_async
from inspect_ai.log import EvalSample
from inspect_ai.log._samples import sample_active
from inspect_ai.model import ChatMessage, ChatMessageTool, ModelOutput, get_model
from pydantic import TypeAdapter

from arena_core.actions import Action, Stop
from orchestrator.serve.inspect_task import arena
from support.agents.inspect_player import MODEL, call, idle, seen_in
from support.agents.line_player import asked_in_lines
from support.agents.reference_player import tool_call

Found = TypeVar("Found")
_ACTION: TypeAdapter[Action] = TypeAdapter(Action)


@dataclass(frozen=True, slots=True)
class Sample:
    """What its client decides, and what it is shown then."""

    epoch: int
    replies: asyncio.Queue[ModelOutput] = field(default_factory=asyncio.Queue)
    shown: asyncio.Queue[str] = field(default_factory=asyncio.Queue)


class Evaluation:
    """One run of Inspect's, with a sample for each client.

    Args:
        clients: how many there are, all for one task.
    """

    def __init__(self, clients: int) -> None:
        self._clients = clients
        self._samples: dict[int, Sample] = {}
        self._begun: asyncio.Queue[Sample] = asyncio.Queue()
        self._log: asyncio.Task[dict[int, EvalSample]] | None = None

    async def begin(self, task: str) -> Sample:
        """Return the next sample that Inspect begins."""
        if self._log is None:
            self._log = asyncio.create_task(self._played(task))
        found = await self._unless_over(self._begun)
        assert found is not None, self._log.result()
        return found

    async def decided(self, sample: Sample, reply: ModelOutput) -> dict[str, Any]:
        """Let the model say something, and return what it is shown, or the verdict."""
        sample.replies.put_nowait(reply)
        text = await self._unless_over(sample.shown)
        if text is not None:
            seen = seen_in(text, step=0)
            return {"url": seen.url, "text": seen.text, "error": seen.error}
        assert self._log is not None
        [score] = (self._log.result()[sample.epoch].scores or {}).values()
        reward = score.as_float()
        said = {name: (score.metadata or {})[name] for name in ("outcome", "reason")}
        return {"verdict": {**said, "reward": None if math.isnan(reward) else reward}}

    async def end(self) -> None:
        """Wait for the run's end, which removes the replicas."""
        if self._log is not None:
            await self._log

    async def _played(self, task: str) -> dict[int, EvalSample]:
        suite, _, name = task.rpartition("/")
        clients = self._clients
        [log] = await eval_async(
            arena(suite, tasks=name, repeats=clients, workers=clients),
            model=get_model(MODEL, custom_outputs=self._model),
            log_dir="logs",
            max_samples=clients,
            max_connections=clients,
        )
        assert log.status == "success", log.error
        return {one.epoch: one for one in log.samples or ()}

    async def _model(self, asked: list[ChatMessage], *_: object) -> ModelOutput:
        active = sample_active()
        assert active is not None
        if active.epoch not in self._samples:
            self._samples[active.epoch] = sample = Sample(active.epoch)
            self._begun.put_nowait(sample)
        sample = self._samples[active.epoch]
        if isinstance(asked[-1], ChatMessageTool):
            sample.shown.put_nowait(asked[-1].text)
        return await sample.replies.get()

    async def _unless_over(self, queue: asyncio.Queue[Found]) -> Found | None:
        """Return what comes next; None where the run ends before."""
        assert self._log is not None
        coming = asyncio.create_task(queue.get())
        await asyncio.wait([coming, self._log], return_when=asyncio.FIRST_COMPLETED)
        if coming.done():
            return coming.result()
        coming.cancel()
        return None


class Session:
    """A sample, as `asked_in_lines` asks it."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._sample: Sample | None = None

    async def begin(self, task: str) -> dict[str, Any]:
        self._sample = await self._evaluation.begin(task)
        return await self._called("browser_snapshot", {})

    async def act(self, action: str) -> dict[str, Any]:
        read = _ACTION.validate_json(action)
        if isinstance(read, Stop):
            return await self._called("submit_answer", {"answer": read.answer})
        return await self._called(*tool_call(read))

    async def close(self) -> None:
        if self._sample is not None:
            self._sample.replies.put_nowait(idle([]))  # nobody reads it where the sample is over

    async def _called(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        assert self._sample is not None
        return await self._evaluation.decided(self._sample, call(tool, arguments))


async def sessions(clients: int) -> None:
    """Play as many samples as there are clients."""
    evaluation = Evaluation(clients)
    await asked_in_lines(lambda: Session(evaluation))
    await evaluation.end()


if __name__ == "__main__":
    asyncio.run(sessions(int(sys.argv[1])))
