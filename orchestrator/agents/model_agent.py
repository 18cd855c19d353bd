"""What agents that ask a model share: options, client, one session an episode, and its cost."""

from __future__ import annotations

import inspect
import json
import math
import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from arena_core.actions import Action
from arena_core.errors import AgentError, ContextExceededError
from orchestrator.agents.action_spaces.functions import LONGEST
from orchestrator.agents.interface import Agent, Assignment, Decision, Hint, episode_seed
from orchestrator.agents.model.client import ModelClient, check_model
from orchestrator.agents.model.completion import Completion, split_thinking
from orchestrator.agents.model.messages import ChatRole, Message, ToolCall, ToolSpec
from orchestrator.agents.model.options import DEADLINE_S, KnownPrice, ModelOptions
from orchestrator.agents.spec import Agents, AgentSpec, Kept, Metered
from orchestrator.browser.observation import AXTREE

_PINNED: Final = frozenset({"model_url", "model_deadline"})
_FILES: Final = frozenset({"prices", "replay"})
_GIVEN: Final = 2  # parameters of a maker that are no options: the client and the assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedModel:
    """A model that agents share, with the seed of their run.

    Attributes:
        check: asks it one cheap question, unless a run's replies answer.
        settings: what counts where an option was left out, for the run's lock.
    """

    client: ModelClient
    check: Callable[[], Awaitable[object]]
    name: str
    seed: int
    settings: Mapping[str, Kept]
    price: KnownPrice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What agents are shown, where their options decide it: see `Agents`."""

    observations: frozenset[str] | None = None
    hints: frozenset[Hint] = frozenset()


def open_model(
    *,
    model: str,
    model_url: str | None = None,
    model_deadline: float = DEADLINE_S,
    temperature: float | None = None,
    seed: int | None = None,
    reasoning_effort: str | None = None,
    max_completion_tokens: int | None = None,
    prices: str | None = None,
    replay: str | None = None,
) -> OpenedModel:
    """Return a client for a model; the parameters are the options of every model agent."""
    options = ModelOptions.of(
        model,
        model_url,
        os.environ,
        temperature=temperature,
        has_seed=seed is not None,
        reasoning_effort=reasoning_effort,
        max_completion_tokens=max_completion_tokens,
        prices=prices,
        is_replay=replay is not None,
        deadline_s=model_deadline,
    )
    return OpenedModel(
        client=ModelClient(options),
        check=partial(_check, options),
        name=options.name,
        seed=seed or 0,
        settings={
            "seed": seed or 0,
            "model": options.name,
            "model_url": options.url,
            "model_deadline": options.deadline_s,
            "temperature": options.temperature,
            "prices": None if prices is None else str(Path(prices).absolute()),
            "replay": None if replay is None else str(Path(replay).absolute()),
        },
        price=options.price,
    )


async def _check(options: ModelOptions) -> None:
    if not options.is_replay:
        await check_model(options)


def model_agent(
    name: str,
    make: Callable[..., Agent],
    *,
    observations: frozenset[str] = frozenset({AXTREE}),
    shown: Callable[..., Shown] | None = None,
) -> AgentSpec:
    """Return the spec of an agent that asks a model.

    It takes the options of `open_model` and its own; reports name it `NAME (MODEL)`.

    Args:
        name: as reports show it.
        make: a function or class, called for each episode as
            `make(client, assignment, seed=…, **own)`: its keyword parameters beside `seed`, the
            episode's own, are the agent's own options.
        observations: as of `AgentSpec`.
        shown: called once with those of the own options that are its parameters too, by name, where
            they decide what the agents are shown. It raises `UsageError` for values that do not go
            together.
    """
    return AgentSpec(open=_Opening(name, make, shown), observations=observations)


class _Opening:
    """Opens the model and makes agents; its signature holds the shared options and their own."""

    def __init__(
        self, name: str, make: Callable[..., Agent], shown: Callable[..., Shown] | None
    ) -> None:
        self._name = name
        self._make = make
        self._shown = shown
        shared = inspect.signature(open_model, eval_str=True).parameters
        taken = list(inspect.signature(make, eval_str=True).parameters.values())[_GIVEN:]
        own = [one for one in taken if one.name != "seed"]
        self._own = frozenset(one.name for one in own)
        twice = sorted(self._own & set(shared))
        if twice:
            raise TypeError(f"{name}: {', '.join(twice)} is an option of every model agent")
        self.__signature__ = inspect.Signature([*shared.values(), *own])

    def __call__(self, **options: Any) -> Agents:
        own = {name: value for name, value in options.items() if name in self._own}
        shared = {name: value for name, value in options.items() if name not in self._own}
        shown = self._decide(own)
        opened = open_model(**shared)

        def make(assignment: Assignment) -> Agent:
            seed = episode_seed(opened.seed, assignment)
            return self._make(opened.client, assignment, seed=seed, **own)

        return Agents(
            make=make,
            name=f"{self._name} ({opened.name})",
            close=opened.client.close,
            check=opened.check,
            settings=opened.settings,
            pinned=_PINNED | {name for name in _FILES if opened.settings[name] is not None},
            metered=frozenset(Metered if opened.price else {Metered.TOKENS}),
            price=str(opened.price) if opened.price else None,
            replay=shared.get("replay"),
            observations=shown.observations,
            hints=shown.hints,
        )

    def _decide(self, own: Mapping[str, object]) -> Shown:
        if self._shown is None:
            return Shown()
        deciding = inspect.signature(self._shown).parameters
        return self._shown(**{name: value for name, value in own.items() if name in deciding})


_EMPTY_REPLIES: Final = 3


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model said, without its thinking.

    Attributes:
        is_cut: it ended at a length limit.
        calls: the functions that it called, of those that it was offered or of none.
    """

    text: str
    is_cut: bool = False
    calls: tuple[ToolCall, ...] = ()


class ModelSession:
    """One agent's questions to a model during an episode.

    Args:
        least: the shortest conversation with which the agent could play at all.
    """

    def __init__(self, client: ModelClient, *, seed: int, least: Sequence[Message]) -> None:
        self._client = client
        self._seed = seed
        self._least = tuple(least)
        self._replies: list[Completion] = []

    async def ask(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> ModelReply:
        """Return what the model says; where it says nothing, it is asked again.

        What it calls counts only where functions were offered.
        """
        asked = list(messages)
        for _ in range(_EMPTY_REPLIES):
            reply = await self.complete(asked, tools)
            text = split_thinking(reply.text).reply.strip()
            calls = reply.tool_calls if tools else ()
            if text or calls or reply.is_cut:
                return ModelReply(text, reply.is_cut, calls)
            # Some endpoints refuse an empty message.
            asked += [
                Message(ChatRole.ASSISTANT, "(nothing)"),
                Message(ChatRole.USER, "Your reply is empty. Reply in the form that is asked for."),
            ]
        raise self._client.no_content(_EMPTY_REPLIES)

    def decision(self, action: Action, thought: str | None = None) -> Decision:
        """Return a decision with tokens, cost and exchanges of all replies since the last one.

        The cost is None if that of one reply is unknown.
        """
        said, self._replies = self._replies, []
        costs = [one.usd for one in said if one.usd is not None]
        return Decision(
            action,
            thought,
            input_tokens=sum(one.input_tokens or 0 for one in said),
            output_tokens=sum(one.output_tokens or 0 for one in said),
            exchanges=tuple(one.exchange for one in said),
            usd=math.fsum(costs) if costs and len(costs) == len(said) else None,
        )

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()
    ) -> Completion:
        """Ask once; a prompt that is too long is the agent's fault, where a shorter one fits."""
        try:
            reply = await self._client.ask(messages, tools, seed=self._seed)
        except ContextExceededError as exceeded:
            if not self._client.has_replied:
                await self._ask_the_least(exceeded, tools)
            raise AgentError(exceeded.message) from exceeded
        self._replies.append(reply)
        return reply

    async def _ask_the_least(
        self, exceeded: ContextExceededError, tools: Sequence[ToolSpec]
    ) -> None:
        """Raise if not even the shortest prompt fits: then no episode can be played."""
        try:
            await self._client.ask(self._least, tools, seed=self._seed)
        except ContextExceededError:
            raise self._client.never_fits(exceeded) from exceeded


# Of what cannot be used, as much is repeated as tells the model what it said.
REPEATED: Final = 2_000
_MOST_CALLS: Final = 8
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LATER: Final = (
    "This call was not looked at: one call a reply. Choose anew, on what you are shown now."
)


class CallHistory:
    """Writes calls into a conversation, in the form that every endpoint takes again.

    Endpoints refuse a conversation with broken arguments, with names that no function can have, or
    with ids that are missing or used twice; what a model said so is repeated in a form that is
    whole.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def said(self, text: str, calls: Sequence[ToolCall]) -> Message:
        whole = tuple(self._whole(call) for call in calls[:_MOST_CALLS])
        return Message(ChatRole.ASSISTANT, text[:REPEATED], tool_calls=whole)

    @staticmethod
    def answers(said: Message, outcome: str) -> list[Message]:
        """Return an answer to each call: what came of the first, and that no other was played."""
        return [
            Message(ChatRole.TOOL, _LATER if number else outcome, tool_call_id=call.id)
            for number, call in enumerate(said.tool_calls)
        ]

    def _whole(self, call: ToolCall) -> ToolCall:
        name = call.name if _NAME.fullmatch(call.name) else "unknown"
        return ToolCall(self._id(call.id), name, _whole_arguments(call.arguments))

    def _id(self, said: str) -> str:
        own = said if said and said not in self._ids else f"call_{len(self._ids)}"
        while own in self._ids:
            own += "_"
        self._ids.add(own)
        return own


def _whole_arguments(said: str) -> str:
    try:
        if len(said) <= LONGEST and isinstance(json.loads(said), dict):
            return said
    except (ValueError, RecursionError):
        pass
    return json.dumps({"unreadable": said[:REPEATED]}) if said.strip() else "{}"
