"""Who works on the forge: 300 accounts, a few of which people log in as."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from random import Random

from forgeseed.clock import OPENED, moments
from forgeseed.sources import names, plain, vocabulary

TOTAL = 300
FIRST_ID = 5  # 1 is Redmine's administrator, 2 to 4 are its groups of strangers
_PEOPLE = vocabulary("people")
HOSTS: Mapping[str, str] = _PEOPLE["hosts"]
KNOWN = tuple(
    (one["first"], one["last"], one["host"], one["password"], one["about"])
    for one in _PEOPLE["known"]
)
HOMES: Mapping[str, str] = {
    f"{one['first']} {one['last']}": one["town"] for one in _PEOPLE["known"] if "town" in one
}
TRADES: tuple[str, ...] = tuple(_PEOPLE["trades"])
TOWNS: tuple[str, ...] = tuple(_PEOPLE["towns"])


@dataclass(frozen=True, slots=True)
class Person:
    """One account."""

    id: int
    first: str
    last: str
    org: str
    password: str
    about: str
    town: str
    locked: bool
    since: datetime

    @property
    def name(self) -> str:
        """The name that pages show."""
        return f"{self.first} {self.last}"

    @property
    def login(self) -> str:
        """What they log in as."""
        return f"{plain(self.first)}.{plain(self.last)}"

    @property
    def mail(self) -> str:
        """Their address, the one in their commits too."""
        return f"{self.login}@{HOSTS[self.org]}"

    @property
    def salt(self) -> str:
        """A salt that follows from the name."""
        return _digest(f"salt/{self.login}")[:32]

    @property
    def hashed_password(self) -> str:
        """SHA1(salt + SHA1(password)), as Redmine keeps it; nothing where nobody knows one."""
        if not self.password:
            return ""
        inner = _digest(self.password)
        return _digest(self.salt + inner)

    def key(self, action: str) -> str:
        """Return the account's key for the API or for feeds."""
        return _digest(f"forge/{action}/{self.login}")


def people() -> tuple[Person, ...]:
    """Return all accounts, the administrator first, in the order of their ids."""
    rng = Random("forge/people")
    dates = moments(rng, TOTAL, OPENED, datetime(2026, 8, 1, tzinfo=OPENED.tzinfo))
    known = list(KNOWN)
    taken = {(first, last) for first, last, *_ in known}
    orgs = tuple(HOSTS)
    while len(known) < TOTAL:
        first, last = rng.choice(names().first), rng.choice(names().last)
        if (first, last) in taken:
            continue
        taken.add((first, last))
        about = f"Interested in {rng.choice(TRADES)} and {rng.choice(TRADES)}."
        known.append((first, last, rng.choice(orgs), "", about if rng.random() < 0.6 else ""))
    return tuple(
        Person(
            id=1 if place == 0 else FIRST_ID + place - 1,
            first=first,
            last=last,
            org=org,
            password=password,
            about=about,
            town=HOMES.get(f"{first} {last}", drawn),
            locked=place > len(KNOWN) and rng.random() < 0.03,
            since=dates[place],
        )
        for place, (first, last, org, password, about) in enumerate(known)
        for drawn in (rng.choice(TOWNS),)
    )


def _digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
