"""Fills the migrated database: `python3 -m deskseed`."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import django

django.setup()

from desk.clock import NOW  # noqa: E402  (models exist after setup)
from desk.models import Member, Note  # noqa: E402
from django.contrib.auth.hashers import make_password  # noqa: E402
from django.db import connection, transaction  # noqa: E402

NOTES = Path(__file__).parents[1] / "notes"


def main() -> None:
    """Write members and their notes, ids in the order of time, in one transaction."""
    with transaction.atomic():
        drafts = [draft for path in sorted(NOTES.glob("*.toml")) for draft in _member(path)]
        drafts.sort(key=lambda draft: (draft.created, draft.title))
        for number, draft in enumerate(drafts, start=1):
            draft.id = number
        Note.objects.bulk_create(drafts)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE django_migrations SET applied = %s", [NOW])
        # What was deleted while baking must not move the first id that an episode gets.
        cursor.execute(f"ALTER TABLE desk_note AUTO_INCREMENT = {len(drafts) + 1}")
    print(f"seeded {len(drafts)} notes", flush=True)


def _member(path: Path) -> list[Note]:
    known = tomllib.loads(path.read_text(encoding="utf-8"))
    username = known["username"]
    password = make_password(known["password"], salt=f"desk{username:_>18}")
    member = Member.objects.create(username=username, name=known["name"], password=password)
    rng = Random(f"desk/{username}")
    return [_note(member, told, rng) for told in known["note"]]


def _note(member: Member, told: dict[str, Any], rng: Random) -> Note:
    created = _moment(told["written"], rng)
    updated = _moment(told["edited"], rng) if "edited" in told else created
    if not created <= updated < NOW:
        message = f"{member.username}: '{told['title']}' is not in the order of time"
        raise ValueError(message)
    return Note(
        member=member,
        title=told["title"],
        label=told.get("label", ""),
        body=told["body"].strip(),
        pinned=told.get("pinned", False),
        created=created,
        updated=updated,
    )


def _moment(day: date, rng: Random) -> datetime:
    start = datetime(day.year, day.month, day.day, 7, tzinfo=UTC)
    return start + timedelta(minutes=rng.randrange(15 * 60))


if __name__ == "__main__":
    main()
