"""What a mutation is, and drawing some at random."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from mutations.subject import Subject


class Kind(StrEnum):
    """The way a mutation goes in. A round keeps this order: pages need what SQL may break."""

    HTTP = "http"
    FILES = "files"
    SQL = "sql"
    SCHEMA = "schema"


@dataclass(frozen=True, slots=True)
class Mutation:
    """One kind of change.

    Attributes:
        work: makes the change, checks that it is there, and says in one line what it did.
    """

    name: str
    kind: Kind
    work: Callable[[Subject, Random], Awaitable[str]]

    async def make(self, subject: Subject, dice: Random) -> str:
        """Change the subject; return one line that says how.

        Raises:
            AssertionError: it had no effect.
        """
        return f"{self.kind} {self.name}: {await self.work(subject, dice)}"


def draw(
    mutations: Sequence[Mutation], dice: Random, *, most: int, kinds: Iterable[Kind] = Kind
) -> tuple[Mutation, ...]:
    """Return one to `most` different mutations; those of one kind are in random order."""
    wanted = set(kinds)
    chosen = [mutation for mutation in mutations if mutation.kind in wanted]
    drawn = dice.sample(chosen, k=dice.randint(1, min(most, len(chosen))))
    return tuple(sorted(drawn, key=lambda mutation: list(Kind).index(mutation.kind)))


async def make_all(
    mutations: Iterable[Mutation], subject: Subject, dice: Random
) -> tuple[str, ...]:
    """Make one mutation after the other; return their lines."""
    return tuple([await mutation.make(subject, dice) for mutation in mutations])
