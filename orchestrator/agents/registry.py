"""The agents by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from arena_core.errors import UnknownNameError, UsageError
from orchestrator.agents.chat import ChatAgent, ChatLimits
from orchestrator.agents.idle import IdleAgent
from orchestrator.agents.oracle import OracleAgent
from orchestrator.agents.random_agent import RandomAgent
from orchestrator.agents.seeds import episode_seed
from orchestrator.model.client import ModelClient
from orchestrator.model.options import DEADLINE_S, ModelOptions
from orchestrator.observation import Agent, AgentClass, AgentMaker, Assignment, Reference


class AgentOption(StrEnum):
    """An option of the command line that is about the agent."""

    SEED = "--seed"
    MODEL = "--model"
    MODEL_URL = "--model-url"
    MODEL_DEADLINE = "--model-deadline"
    TEMPERATURE = "--temperature"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """What the command line says about an agent; None where it says nothing.

    Attributes:
        seed: of `random`, and passed on to the model of `chat`; per episode one is derived.
        model: of `chat`, by the name that its endpoint knows.
        model_url: of `chat`; None takes the environment's, then OpenAI's.
        model_deadline_s: for one reply of the model with all attempts, in seconds.
        temperature: of the model of `chat`; None asks for 0, or for none where it takes none.
    """

    seed: int | None = None
    model: str | None = None
    model_url: str | None = None
    model_deadline_s: float | None = None
    temperature: float | None = None
    chat: ChatLimits = field(default_factory=ChatLimits)

    def given(self) -> tuple[AgentOption, ...]:
        """Return the options that the command line names."""
        values = {
            AgentOption.SEED: self.seed,
            AgentOption.MODEL: self.model,
            AgentOption.MODEL_URL: self.model_url,
            AgentOption.MODEL_DEADLINE: self.model_deadline_s,
            AgentOption.TEMPERATURE: self.temperature,
        }
        return tuple(option for option, value in values.items() if value is not None)


def agent_names() -> tuple[str, ...]:
    """Return the names that `make_agent` knows."""
    return tuple(_AGENTS)


def make_agent(name: str, options: AgentOptions) -> AgentMaker:
    """Return what makes agents of that name, one per episode.

    Raises:
        UnknownNameError: there is no such agent.
        UsageError: the agent needs an option that is missing, or does not take one that is given.
    """
    kind = _kind(name)
    for option in options.given():
        if option not in kind.takes:
            message = f"{option} has no effect: the agent {name!r} does not take it"
            raise UsageError(message, hint=_who_takes(option))
    return kind.make(options)


def class_of(name: str) -> AgentClass:
    """Return what the figures of an agent of that name stand for.

    Raises:
        UnknownNameError: there is no such agent.
    """
    return _kind(name).stands_for


def takes(name: str, option: AgentOption) -> bool:
    """Whether an agent of that name takes an option.

    Raises:
        UnknownNameError: there is no such agent.
    """
    return option in _kind(name).takes


def _kind(name: str) -> _Kind:
    if name not in _AGENTS:
        message = f"there is no agent {name!r}"
        raise UnknownNameError(message, hint=f"known agents: {', '.join(_AGENTS)}")
    return _AGENTS[name]


def _who_takes(option: AgentOption) -> str:
    names = [f"--agent {name}" for name, kind in _AGENTS.items() if option in kind.takes]
    return f"leave it away, or choose an agent that takes it: {', '.join(names)}"


@dataclass(frozen=True, slots=True)
class _OracleMaker:
    name: str = "oracle"

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:
        return OracleAgent(reference, assignment.world, assignment.intent)

    async def close(self) -> None:
        """Close nothing: the oracle holds nothing open."""


@dataclass(frozen=True, slots=True)
class _ContestantMaker:
    """Keeps the reference from every agent but the oracle: it ends here."""

    name: str
    make: Callable[[Assignment], Agent]
    model: ModelClient | None = None

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:  # noqa: ARG002
        return self.make(assignment)

    async def close(self) -> None:
        if self.model is not None:
            await self.model.close()


def _oracle(options: AgentOptions) -> AgentMaker:  # noqa: ARG001
    return _OracleMaker()


def _idle(options: AgentOptions) -> AgentMaker:  # noqa: ARG001
    return _ContestantMaker("idle", lambda _: IdleAgent())


def _random(options: AgentOptions) -> AgentMaker:
    def make(assignment: Assignment) -> Agent:
        return RandomAgent(episode_seed(options.seed or 0, assignment))

    return _ContestantMaker("random", make)


def _chat(options: AgentOptions) -> AgentMaker:
    model = ModelClient(
        ModelOptions.of(
            options.model,
            options.model_url,
            os.environ,
            temperature=options.temperature,
            has_seed=options.seed is not None,
            deadline_s=DEADLINE_S if options.model_deadline_s is None else options.model_deadline_s,
        )
    )

    def make(assignment: Assignment) -> Agent:
        seed = episode_seed(options.seed or 0, assignment)
        return ChatAgent(model, assignment, seed=seed, limits=options.chat)

    return _ContestantMaker(f"chat ({options.model})", make, model)


@dataclass(frozen=True, slots=True)
class _Kind:
    """An agent as it is registered.

    Attributes:
        takes: the options that it honours; any other is refused.
    """

    make: Callable[[AgentOptions], AgentMaker]
    stands_for: AgentClass
    takes: frozenset[AgentOption] = frozenset()


_AGENTS: Mapping[str, _Kind] = {
    "oracle": _Kind(_oracle, AgentClass.REFERENCE),
    "idle": _Kind(_idle, AgentClass.BASELINE),
    "random": _Kind(_random, AgentClass.BASELINE, frozenset({AgentOption.SEED})),
    "chat": _Kind(_chat, AgentClass.CONTESTANT, frozenset(AgentOption)),
}
