"""Who writes and who reads: 200 accounts, three of them with a password that people know."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

from gazette.clock import NOW, moments
from gazette.sources import World, slug, vocabulary

TOTAL = 200
LOCKED = "!"  # nobody logs in with it
LEVELS = {"administrator": 10, "editor": 7, "author": 2, "contributor": 1, "subscriber": 0}
_PEOPLE = vocabulary("accounts")
KNOWN = tuple(
    (one["first"], one["last"], one["role"], one["password"], one["about"])
    for one in _PEOPLE["known"]
)
BEATS: tuple[str, ...] = tuple(_PEOPLE["beats"])
SHOPPERS = tuple((one["first"], one["last"], one["email"]) for one in _PEOPLE["shopper"])
APPLICATION_PASSWORD = (
    "Rope Walk 1871 Tide Kttl Pink"  # of the administrator; WordPress ignores the blanks
)
STAFF = ("editor",) * 5 + ("author",) * 15 + ("contributor",) * 4


@dataclass(frozen=True, slots=True)
class Account:
    """One row of wp_users and its meta."""

    id: int
    first: str
    last: str
    login: str
    email: str
    role: str
    password: str
    about: str
    since: datetime

    @property
    def name(self) -> str:
        """Return the name that the site shows."""
        return f"{self.first} {self.last}"


def accounts(world: World) -> list[Account]:
    """Return all accounts by id: those that are known, the rest of the staff, the readers."""
    rng = Random("accounts")
    dates = moments(rng, TOTAL, last=datetime(2026, 9, 1, tzinfo=UTC))
    made = [
        Account(
            number,
            first,
            last,
            f"{first}.{last}".lower(),
            f"{first}.{last}@merrowgazette.example".lower(),
            role,
            password,
            about,
            dates[0],
        )
        for number, (first, last, role, password, about) in enumerate(KNOWN, start=1)
    ]
    taken = {(one.first, one.last) for one in made}
    for first, last, email in SHOPPERS:
        made.append(
            Account(
                len(made) + 1,
                first,
                last,
                f"{first}.{last}".lower(),
                email,
                "subscriber",
                "",
                "",
                dates[len(made)],
            )
        )
        taken.add((first, last))
    while len(made) < TOTAL:
        first, last = rng.choice(world.first), rng.choice(world.last)
        if (first, last) in taken:
            continue
        taken.add((first, last))
        place = len(made) - len(KNOWN) - len(SHOPPERS)
        role = STAFF[place] if place < len(STAFF) else "subscriber"
        login = slug(f"{first} {last}").replace("-", ".")
        host = (
            "merrowgazette.example"
            if role != "subscriber"
            else rng.choice(("example.com", "example.org", "example.net"))
        )
        about = f"Writes about {rng.choice(BEATS)} for the Gazette." if role != "subscriber" else ""
        made.append(
            Account(
                len(made) + 1,
                first,
                last,
                login,
                f"{login}@{host}",
                role,
                "",
                about,
                min(dates[len(made)], NOW),
            )
        )
    return made
