"""Whose office this is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from officeseed import words


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a mailbox.

    Attributes:
        key: what the words call them.
        number: counted from 1.
        folders: by topic, where they file its mails.
    """

    key: str
    number: int
    first: str
    last: str
    mail: str
    phone: str
    work: str
    folders: Mapping[str, str] = field(hash=False)

    @property
    def name(self) -> str:
        """The name that people read."""
        return f"{self.first} {self.last}"

    @property
    def login(self) -> str:
        """What they log in as; the name of their mailbox, too."""
        return f"{self.first}.{self.last}".lower()

    @property
    def password(self) -> str:
        """It is public: people log in with it."""
        return f"office-{self.key}-2026"

    @property
    def written(self) -> str:
        """How a header names them."""
        return f"{self.name} <{self.mail}>"

    @property
    def calendar(self) -> int:
        """The id of their calendar."""
        return 2 * self.number - 1

    @property
    def cards(self) -> int:
        """The id of their address book."""
        return 2 * self.number


PEOPLE: Mapping[str, Person] = {
    one["key"]: Person(number=number, **one)
    for number, one in enumerate(words("people")["person"], start=1)
}
