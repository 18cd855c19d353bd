"""The forge's people as accounts of the hub, their groups and the keys of programs."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

import bcrypt
from forgeseed.clock import OPENED, stamp
from forgeseed.people import Person
from pagure.config import config

from hubseed.rows import Rows
from hubseed.sources import token, words

_COST = b"$2b$06$"
_FOR_EVER = datetime(2036, 1, 1, tzinfo=UTC)


def add_accounts(rows: Rows, people: tuple[Person, ...]) -> dict[str, int]:
    """Add everybody; return ids by login."""
    ids: dict[str, int] = {}
    for person in people:
        number = rows.add(
            "users",
            user=person.login,
            fullname=person.name,
            default_email=person.mail,
            password=_hashed(person) if person.password else "",
            created=stamp(person.since),
            updated_on=stamp(person.since),
        )
        rows.of("users")[-1]["id"] = number
        rows.add("user_emails", user_id=number, email=person.mail)
        ids[person.login] = number
        if person.password:
            _add_key(rows, person, number)
    return ids


def add_groups(
    rows: Rows, people: tuple[Person, ...], ids: dict[str, int], projects: dict[str, int]
) -> None:
    """Add groups of people who work for the same house, and what they may commit to."""
    rng = Random("hub/groups")
    for number, told in enumerate(words()["group"], start=1):
        own = [one for one in people if one.org == told["org"]]
        members = rng.sample(own, min(len(own), rng.randint(6, 11)))
        rows.add(
            "pagure_group",
            id=number,
            group_name=told["name"],
            display_name=told["title"],
            description=told["about"],
            group_type="user",
            user_id=ids[members[0].login],
            created=stamp(OPENED),
        )
        for person in members:
            rows.add("pagure_user_group", user_id=ids[person.login], group_id=number)
        for name in told["projects"]:
            rows.add("projects_groups", project_id=projects[name], group_id=number, access="commit")


def _hashed(person: Person) -> str:
    password = f"hub-{person.first.lower()}-2026"
    salt = _COST + token(f"salt/{person.login}", 21).encode() + b"e"
    return "$2$" + bcrypt.hashpw(password.encode(), salt).decode()


def _add_key(rows: Rows, person: Person, number: int) -> None:
    key = token(f"key/{person.login}", 64).upper()
    rows.add(
        "tokens",
        id=key,
        user_id=number,
        description="Programs",
        expiration=stamp(_FOR_EVER),
        created=stamp(person.since),
    )
    names = sorted(config["ACLS"])  # in the order in which Pagure numbers them
    for place, name in enumerate(names, start=1):
        if name in config["USER_ACLS"]:
            rows.add("tokens_acls", token_id=key, acl_id=place)
