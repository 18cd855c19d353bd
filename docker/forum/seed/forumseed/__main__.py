"""Fills the migrated database: `python3 -m forumseed`."""

from __future__ import annotations

import time

import django

django.setup()

from django.db import connection, transaction  # noqa: E402  (models exist after setup)
from waypost.clock import NOW  # noqa: E402

from forumseed import (  # noqa: E402
    bodies,
    comments,
    demo,
    moderation,
    people,
    pictures,
    places,
    rows,
    threads,
)
from forumseed.vocabulary import load  # noqa: E402


def main() -> None:
    """Seed the forum, in one transaction, and tell how long each part took."""
    started = time.monotonic()
    words = load("threads")
    names, forums = people.usernames(), places.places()
    read = rows.subscribers(forums, len(names))
    kept = rows.keepers(forums, read)
    writers = threads.crowds(read)
    drafts = threads.plan(forums, writers)
    threads.pin(drafts, kept)
    threads.write(drafts, words)
    bodies.write(drafts)
    pictures.draw(drafts)
    remarks = comments.plan(drafts, writers)
    comments.write(remarks, names, drafts)
    votes = demo.cast_votes(drafts, remarks)
    log = moderation.Moderation(kept, words)
    log.took_away(drafts, remarks)
    log.banned(forums, read)
    print(f"written in {time.monotonic() - started:.1f} s", flush=True)
    with transaction.atomic():
        rows.write_members(names, drafts, remarks, forums, words, demo.read_up_to(remarks))
        rows.write_forums(forums, read, kept, drafts, words)
        rows.write_submissions(drafts, remarks)
        rows.write_comments(remarks)
        for table, made in votes:
            rows.bulk(table, made)
        demo.write_messages(names, forums, words)
        log.write()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE django_migrations SET applied = %s", [NOW])
    print(f"seeded {len(drafts)} submissions in {time.monotonic() - started:.1f} s", flush=True)


main()
