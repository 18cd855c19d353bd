"""What an agent is given, what it answers, and the interface that every agent implements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field

from arena_core.actions import Action
from arena_core.worlds import World
from evaluators.checks import Check
from orchestrator.agents.model_exchange import ModelExchange
from orchestrator.browser.observation import Observation
from orchestrator.gateway.variations import Variation
from tasks.reference import ReferenceAction


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What an agent gets to know about its task.

    Attributes:
        sites: title and start URL of each site by name, as the agent may know them.
        repeat: which repeat of the same task this is, from 0; parts the seeds of repeats.
        site_urls: the same URLs by the sites' names in tasks, such as `shop`.
        files: names of the files that `Upload` can choose.
        can_ask: whether anybody answers `AskUser`.
        reference: how the task is done; None for every agent but a reference agent.
        guide: the parts of the solution that the agent gets; None unless it says which it needs.
    """

    task: str
    intent: str
    world: World
    sites: Mapping[str, str]
    step_limit: int
    repeat: int = 0
    files: tuple[str, ...] = ()
    can_ask: bool = False
    site_urls: Mapping[str, str] = field(default_factory=dict)
    reference: Reference | None = None
    guide: Guide | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """How the task is done: for the oracle alone, never shown to a contestant.

    Attributes:
        actions: the task's reference, with the actions of both worlds.
        url_of: turns a logical URL (`site:/path`) into the URL of the assignment's world.
        key_nodes: the checks of the assignment's world that may be met at any step.
        seed: what a MiniWoB++ page draws its problem from; None for every other task.
        vary: the arm that it is played in; what stands in its way there, the oracle gets past.
        labels: what the arm calls elements: a new name by the site's own.
        attack: the actions of an agent that does what the task's attack asks for.
    """

    actions: tuple[ReferenceAction, ...]
    url_of: Callable[[str], str]
    key_nodes: tuple[Check, ...] = ()
    seed: int | None = None
    vary: tuple[Variation, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    attack: tuple[ReferenceAction, ...] = ()


class Hint(StrEnum):
    """A part of the solution that an agent may be given, where its configuration says so.

    `key_nodes`: the states on the way to the goal; an agent that is given these is no contestant.
    `length`: how many actions the reference takes, which some published step limits are made of.
    """

    KEY_NODES = "key_nodes"
    LENGTH = "length"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """The parts of a task's solution that an agent is given.

    Attributes:
        key_nodes: empty where the agent is not given them.
        url_of: see `Reference`.
        length: how many actions the reference takes in this world, `stop` not counted; None where
            the agent is not given it.
    """

    url_of: Callable[[str], str]
    key_nodes: tuple[Check, ...] = ()
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent does next.

    Attributes:
        thought: why, as the agent put it.
        input_tokens, output_tokens: what deciding cost, 0 for agents without a model.
        exchanges: what was asked of models for it; kept in the evidence. Arena's own client has
            handed in its own already, and none is kept twice.
        usd: what deciding cost in money; None where nobody knows.
    """

    action: Action
    thought: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    exchanges: tuple[ModelExchange, ...] = field(default=(), compare=False, repr=False)
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A step that was done before the agent began.

    Attributes:
        seen: what was seen before it.
        thought: why, in the words of whoever did it; None where nobody may know.
        error: why it could not be done.
        reply: what the user answered to it; None where it asked them nothing.
    """

    seen: Observation
    action: Action
    thought: str | None
    error: str | None
    reply: str | None = None


class Agent(Protocol):
    """One agent for one episode: made fresh for each."""

    async def decide(self, observation: Observation) -> Decision:
        """Choose the next action.

        Raises:
            AgentError: the agent gives up for a reason of its own; the episode ends and is scored.
            ModelError: its model is unavailable; the episode is unscored.
        """


@runtime_checkable
class Recalls(Protocol):
    """An `Agent` of Arena's that takes what was done before it began as a past of its own."""

    def recall(self, past: Sequence[PastTurn]) -> None:
        """Take these steps, of which there is one at least, before the first decision."""


class AgentClass(StrEnum):
    """What an agent's figures stand for.

    `reference`: it plays the task's own solution. `baseline`: it shows what nothing or chance
    achieves. `guided`: it is given the key nodes of the task. `contestant`: it is what a study
    measures. `person`: somebody who plays by hand, for a human baseline.
    """

    REFERENCE = "reference"
    GUIDED = "guided"
    BASELINE = "baseline"
    CONTESTANT = "contestant"
    PERSON = "person"


@runtime_checkable
class AgentMaker(Protocol):
    """Makes one agent per episode; its agents may share what is costly to open."""

    @property
    def name(self) -> str:
        """The name that runs and reports show, with the model where there is one."""

    @property
    def observations(self) -> frozenset[str]:
        """The forms of observation that its agents read."""

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:
        """Make the agent for an episode; only a reference agent is given all of it."""

    async def close(self) -> None:
        """Give back what the agents shared, such as connections to a model; safe to repeat."""


@runtime_checkable
class ChecksBeforehand(Protocol):
    """An `AgentMaker` that can find out before a run whether its agents could play at all."""

    async def check(self) -> None:
        """Find out, cheaply.

        Raises:
            ModelError: their model cannot be reached, or refuses.
        """


@runtime_checkable
class SeesByReference(Protocol):
    """An `AgentMaker` whose agents read further forms of observation for some references."""

    def observations_of(self, actions: Sequence[ReferenceAction]) -> frozenset[str]:
        """The forms that the agent of these reference actions reads beside `observations`."""


class AgentLock(BaseModel):
    """Which agent ran, without its secrets.

    Attributes:
        name: as reports show it, the model included.
        kind: what it was chosen by: a registered name, or `package.module:Factory`.
        options: what counted, by name, also where it was left out; secrets are `(redacted)`.
        given: the options that a run that goes on is given again.
        hints: the parts of each task's solution that it was given; `told` on disk.
        distribution, version: what installed it; None for a module that belongs to none.
        source_hash: SHA-256 of the file of such a module.
        price: what its model cost, in words, with date and source; None where nobody knew.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True
    )

    name: str
    kind: str
    options: dict[str, str | int | float | bool | None]
    given: tuple[str, ...] = ()
    agent_class: AgentClass
    hints: tuple[Hint, ...] = Field((), alias="told")  # as locks have it
    import_path: str | None = None
    distribution: str | None = None
    version: str | None = None
    source_hash: str | None = None
    price: str | None = None


def episode_seed(seed: int, assignment: Assignment) -> int:
    """Return a seed of 31 bits (what most endpoints take) for one task, world and repeat.

    Hashed, not added up: with sums, repeat 1 of seed 0 would be repeat 0 of seed 1.
    """
    name = f"{seed}/{assignment.task}/{assignment.world}/{assignment.repeat}"
    return int.from_bytes(sha256(name.encode()).digest()[:4], "big") >> 1
