"""What all agents that ask a model share: its options, the client, and what a decision cost."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena_core.actions import Action
from orchestrator.agent_interface import Agent, Assignment, Decision, Told
from orchestrator.agents.seeds import episode_seed
from orchestrator.agents.spec import Agents, AgentSpec, Kept, Metered
from orchestrator.model.client import ModelClient
from orchestrator.model.completion import Completion
from orchestrator.model.options import DEADLINE_S, ModelOptions
from orchestrator.model.prices import KnownPrice
from orchestrator.observation import AXTREE

_PINNED: Final = frozenset({"model_url", "model_deadline"})
_FILES: Final = frozenset({"prices", "replay"})
_GIVEN: Final = 2  # parameters of a maker that are no options: the client and the assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedModel:
    """A model that agents share, with the seed of their run.

    Attributes:
        settings: what counts where an option was left out, for the run's lock.
        price: None where nobody knows it.
    """

    client: ModelClient
    name: str
    seed: int
    settings: Mapping[str, Kept]
    price: KnownPrice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What agents are shown, where their options decide it: see `Agents`."""

    observations: frozenset[str] | None = None
    told: frozenset[Told] = frozenset()


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
    """Return a client for a model; the parameters are the options of every model agent.

    Raises:
        UsageError: a value is none, or the endpoint asks for a key that is not set.
    """
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

    Raises:
        TypeError: an option of its own has the name of one that all model agents share.
    """
    return AgentSpec(open=_Opening(name, make, shown), observations=observations)


def decision_of(action: Action, thought: str | None, said: Sequence[Completion]) -> Decision:
    """Return a decision with the tokens, the cost and the exchanges of the replies that led to it.

    The cost is None where that of one reply is unknown.
    """
    costs = [one.usd for one in said if one.usd is not None]
    return Decision(
        action,
        thought,
        input_tokens=sum(one.input_tokens or 0 for one in said),
        output_tokens=sum(one.output_tokens or 0 for one in said),
        exchanges=tuple(one.exchange for one in said),
        usd=math.fsum(costs) if costs and len(costs) == len(said) else None,
    )


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
            message = f"{name}: {', '.join(twice)} is an option of every model agent"
            raise TypeError(message)
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
            settings=opened.settings,
            pinned=_PINNED | {name for name in _FILES if opened.settings[name] is not None},
            metered=frozenset(Metered if opened.price else {Metered.TOKENS}),
            price=str(opened.price) if opened.price else None,
            replay=shared.get("replay"),
            observations=shown.observations,
            told=shown.told,
        )

    def _decide(self, own: Mapping[str, object]) -> Shown:
        if self._shown is None:
            return Shown()
        deciding = inspect.signature(self._shown).parameters
        return self._shown(**{name: value for name, value in own.items() if name in deciding})
