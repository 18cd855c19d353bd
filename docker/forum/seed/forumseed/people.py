"""The members: their names, and who is who among those that people log in as."""

from __future__ import annotations

import re
from random import Random

from shopseed.vocabulary import phrases

from forumseed.vocabulary import Lists, load

MEMBERS = 5000
MODERATOR, MEMBER = 1, 2  # ids
DEMO = {
    MODERATOR: ("tom_ashworth", "waypost-tom-2026"),
    MEMBER: ("anna_fairweather", "waypost-anna-2026"),
    3: ("HarbourAndPine", "waypost-shop-2026"),
    4: ("emma_hartley", "waypost-emma-2026"),
}
_NICKNAMES: Lists = load("people")
FIRST, SECOND = _NICKNAMES["first"], _NICKNAMES["second"]


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z]", "", name)


def usernames() -> list[str]:
    """Return all members' names, in the order of their ids."""
    rng = Random("forum/people")
    people = phrases("people")
    firsts = [_plain(name) for name in people["first"].split()]
    lasts = [_plain(name) for name in people["last"].split()]
    names = [name for name, _ in DEMO.values()]
    seen = {name.lower() for name in names}
    while len(names) < MEMBERS:
        first, last = rng.choice(firsts), rng.choice(lasts)
        number = rng.randint(2, 99)
        made = rng.choice(
            (
                f"{first}{last}", f"{first}{last[0]}{number}", f"{first[0]}{last}",
                f"{rng.choice(FIRST)}{rng.choice(SECOND)}", f"{rng.choice(SECOND)}Of{last}",
                f"{first.lower()}{rng.choice(SECOND).lower()}", f"{rng.choice(SECOND)}{number}",
                f"{rng.choice(FIRST)}{first}", f"{last}{number}", f"just{first}",
            )
        )  # fmt: skip
        if 3 <= len(made) <= 25 and made.lower() not in seen:
            seen.add(made.lower())
            names.append(made)
    return names


def given_names() -> list[str]:
    """Return first names that people drop in their texts."""
    return phrases("people")["first"].split()
