"""The agents by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from orchestrator.agents.chance import RandomAgent
from orchestrator.agents.chat import ChatAgent, ChatLimits
from orchestrator.agents.idle import IdleAgent
from orchestrator.agents.oracle import OracleAgent
from orchestrator.agents.seeds import episode_seed
from orchestrator.model.client import ModelClient
from orchestrator.model.options import ModelOptions
from orchestrator.observation import Agent, AgentMaker, Assignment, Reference
from sites.errors import UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """What the command line says about an agent; each agent takes what concerns it.

    Attributes:
        seed: of `random`, and passed on to the model of `chat`; per episode one is derived.
        model: of `chat`, by the name that its endpoint knows.
        model_url: of `chat`; None takes the environment's, then OpenAI's.
        model_deadline_s: for one reply of the model with all attempts, in seconds.
    """

    seed: int = 0
    model: str | None = None
    model_url: str | None = None
    temperature: float = 0.0
    model_deadline_s: float = 120.0
    chat: ChatLimits = field(default_factory=ChatLimits)


def agent_names() -> tuple[str, ...]:
    """Return the names that `make_agent` knows."""
    return tuple(_AGENTS)


def make_agent(name: str, options: AgentOptions) -> AgentMaker:
    """Return what makes agents of that name, one per episode.

    Raises:
        UnknownNameError: there is no such agent.
        UsageError: the agent needs an option that is missing.
    """
    if name not in _AGENTS:
        message = f"there is no agent {name!r}"
        raise UnknownNameError(message, hint=f"known agents: {', '.join(_AGENTS)}")
    return _AGENTS[name](options)


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
        return RandomAgent(episode_seed(options.seed, assignment))

    return _ContestantMaker("random", make)


def _chat(options: AgentOptions) -> AgentMaker:
    model = ModelClient(
        ModelOptions.of(
            options.model,
            options.model_url,
            os.environ,
            temperature=options.temperature,
            deadline_s=options.model_deadline_s,
        )
    )

    def make(assignment: Assignment) -> Agent:
        seed = episode_seed(options.seed, assignment)
        return ChatAgent(model, assignment, seed=seed, limits=options.chat)

    return _ContestantMaker(f"chat ({options.model})", make, model)


_AGENTS: Mapping[str, Callable[[AgentOptions], AgentMaker]] = {
    "oracle": _oracle,
    "idle": _idle,
    "random": _random,
    "chat": _chat,
}
