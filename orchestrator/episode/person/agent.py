"""A person in an agent's place: what a run's lock says of them, and who asks them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Protocol

from arena_core.errors import UsageError
from orchestrator.agents.interface import (
    Agent,
    AgentClass,
    AgentLock,
    Assignment,
    Reference,
)
from orchestrator.episode.external.episode import Finish
from orchestrator.episode.person.stopwatch import Stopwatch

KIND: Final = "human"
_PSEUDONYM: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a person is told of a task before they start it.

    Attributes:
        limit_s: how long they may take, pauses not counted.
    """

    task: str
    intent: str
    limit_s: float


class Desk(Protocol):
    """Where a person is asked."""

    async def invite(self, card: Card) -> bool:
        """Return whether the person starts the task; False where they leave it for later."""

    async def play(self, card: Card, clock: Stopwatch) -> Finish:
        """Show that the clock runs, and return how the person says that they ended."""

    def tell(self, text: str) -> None:
        """Tell the person how a task ended that they did not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """The text that a person agrees to before anything is recorded."""

    version: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAgent:
    """A person who plays episodes by hand. It fills `AgentMaker`, and makes no agent.

    Attributes:
        person: a pseudonym.
        limit_s: how long they may take for a task; None for the task's own seconds.
    """

    person: str
    consent: Consent
    desk: Desk
    limit_s: float | None = None
    observations: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not _PSEUDONYM.fullmatch(self.person):
            message = f"--person {self.person[:40]!r} is no pseudonym"
            hint = "up to 32 letters, digits, - and _, such as P07; never a name or an address"
            raise UsageError(message, hint=hint)

    @property
    def name(self) -> str:
        return f"human (person {self.person})"

    @property
    def lock(self) -> AgentLock:
        return AgentLock(
            name=self.name,
            kind=KIND,
            options={
                "person": self.person,
                "limit_seconds": self.limit_s,
                "consent_version": self.consent.version,
                "consent_sha256": self.consent.sha256,
            },
            agent_class=AgentClass.PERSON,
        )

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:  # noqa: ARG002
        """Refuse: the person acts by themselves."""
        raise UsageError(f"{self.name} drives the browser by hand: Arena makes no agent of them")

    async def close(self) -> None:
        """Close nothing."""
