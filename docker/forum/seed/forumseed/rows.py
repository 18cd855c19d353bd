"""Writes what was planned into the database, in bulk and with given ids."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import models
from waypost.clock import NOW
from waypost.models import (
    Comment,
    Flag,
    Forum,
    Member,
    Moderator,
    Submission,
    Subscription,
)
from waypost.writing import rank

from forumseed import places as forums
from forumseed.comments import Remark
from forumseed.context import Context
from forumseed.people import DEMO, MEMBER, MODERATOR
from forumseed.phrases import capital, fill
from forumseed.places import Place
from forumseed.threads import Draft
from forumseed.timing import OPENED

BATCH = 2000
KEPT_BY_MODERATOR = ("coffee", "fountainpens", "Bristol")
READ_BY_MEMBER = (
    "AskWaypost", "coffee", "tea", "books", "boardgames", "Bristol", "London", "cycling",
    "gardening", "fountainpens", "todayilearned", "cooking", "Kyoto", "mugs",
)  # fmt: skip
BIOGRAPHIES = {
    MODERATOR: "Keeps an eye on /f/coffee, /f/fountainpens and /f/Bristol. "
    "Write to me before you write about me.",
    MEMBER: "Librarian in Bristol. Tea before nine, coffee after. "
    "Collects mugs and second-hand atlases.",
    3: "The shop on the quay. We answer questions on what we sell, on weekdays.",
}


def subscribers(places: list[Place], members: int) -> dict[int, list[int]]:
    """Return the ids of each forum's subscribers, in order."""
    rng = Random("forum/subscriptions")
    shares = [place.share * rng.uniform(0.4, 1.6) for place in places]
    read: dict[int, set[int]] = defaultdict(set)
    for member in range(1, members + 1):
        for place in rng.choices(places, weights=shares, k=rng.randint(2, 9)):
            read[place.id].add(member)
    wanted = {place.name: place.id for place in places}
    for forum in read.values():
        forum -= {MODERATOR, MEMBER}
    for member, names in (
        (MODERATOR, KEPT_BY_MODERATOR + READ_BY_MEMBER[:4]),
        (MEMBER, READ_BY_MEMBER),
    ):
        for name in names:
            read[wanted[name]].add(member)
    return {place.id: sorted(read[place.id]) for place in places}


def keepers(places: list[Place], read: dict[int, list[int]]) -> dict[int, list[int]]:
    """Return the ids of each forum's moderators, its founder first."""
    rng = Random("forum/keepers")
    kept = {}
    for place in places:
        pool = [one for one in read[place.id] if one not in DEMO]
        kept[place.id] = rng.sample(pool, rng.randint(1, 3))
        if place.name in KEPT_BY_MODERATOR:
            kept[place.id].insert(0, MODERATOR)
    return kept


def bulk(model: type[models.Model], rows: list[models.Model]) -> None:
    """Insert rows."""
    model.objects.bulk_create(rows, batch_size=BATCH)


def write_members(
    names: list[str],
    drafts: list[Draft],
    remarks: list[Remark],
    places: list[Place],
    words: dict[str, Any],
    read_up_to: int,
) -> None:
    """Insert the members; nobody wrote before they joined."""
    rng = Random("forum/joined")
    first = {}
    for written in (*drafts, *remarks):
        held = first.get(written.author)
        first[written.author] = min(held, written.created) if held else written.created
    rows = []
    for number, name in enumerate(names, start=1):
        password = DEMO.get(number, ("", f"waypost-{number}"))[1]
        begin = first.get(number, NOW - timedelta(days=rng.randint(3, 900)))
        joined = begin - timedelta(hours=rng.randint(1, 2000), minutes=rng.randrange(60))
        rows.append(
            Member(
                id=number, username=name, joined=max(joined, OPENED - timedelta(days=30)),
                password=make_password(password, salt=f"waypostforumarena{number:05d}"),
                read_up_to=read_up_to,
                biography=BIOGRAPHIES.get(number, "") or _biography(rng, places, words),
            )
        )  # fmt: skip
    bulk(Member, rows)


def _biography(rng: Random, places: list[Place], words: dict[str, Any]) -> str:
    if rng.random() < 0.4:
        return ""
    context = Context.of(rng.choice(places).setting, rng, lambda: "")
    return capital(fill(rng.choice(words["message"]["biography"]), rng, context))


def write_forums(
    places: list[Place], read: dict[int, list[int]], kept: dict[int, list[int]],
    drafts: list[Draft], words: dict[str, Any],
) -> None:  # fmt: skip
    """Insert the forums with their moderators and subscribers."""
    rng = Random("forum/forums")
    visible = Counter(draft.place.id for draft in drafts if draft.visibility == "visible")
    names = [place.name for place in places]
    rows, roles, subscriptions = [], [], []
    for place in places:
        created = OPENED - timedelta(days=rng.randint(1, 28), minutes=rng.randrange(1440))
        rows.append(
            Forum(
                id=place.id, name=place.name, title=place.title, description=place.description,
                sidebar=forums.sidebar(place, names, words), tags=forums.tags(place),
                featured=place.name in forums.FEATURED, created=created,
                subscriber_count=len(read[place.id]), submission_count=visible[place.id],
            )
        )  # fmt: skip
        for member in kept[place.id]:
            since = created + timedelta(days=rng.randint(0, 700) * (member != kept[place.id][0]))
            roles.append(Moderator(forum_id=place.id, member_id=member, since=since))
        subscriptions += [Subscription(forum_id=place.id, member_id=one) for one in read[place.id]]
    bulk(Forum, rows)
    bulk(Moderator, roles)
    bulk(Subscription, subscriptions)


def _later(rng: Random, moment: datetime) -> datetime:
    return min(moment + timedelta(minutes=rng.randint(2, 900)), NOW)


def write_submissions(drafts: list[Draft], remarks: list[Remark]) -> None:
    """Insert the submissions, their ranks computed as the application does."""
    count: Counter[int] = Counter()
    active = {}
    for remark in remarks:
        active[remark.draft.id] = remark.created
        count[remark.draft.id] += remark.visibility == "visible"
    rng = Random("forum/edited")
    rows = []
    for draft in drafts:
        is_edited = bool(draft.body) and rng.random() < 0.06
        row = Submission(
            id=draft.id, forum_id=draft.place.id, author_id=draft.author, title=draft.title,
            url=draft.url, body=draft.body, image=draft.image, image_alt=draft.image_alt,
            created=draft.created, ups=draft.ups, downs=draft.downs,
            edited=_later(rng, draft.created) if is_edited else None,
            is_sticky=draft.is_pinned, is_locked=draft.is_locked, visibility=draft.visibility,
            comment_count=count[draft.id], last_active=active.get(draft.id, draft.created),
            flag=Flag.MODERATOR if draft.is_pinned else Flag.NONE,
        )  # fmt: skip
        rank(row)
        rows.append(row)
    bulk(Submission, rows)


def write_comments(remarks: list[Remark]) -> None:
    """Insert the comments, in order of time."""
    rng = Random("forum/edited comments")
    rows = []
    for remark in remarks:
        is_edited = rng.random() < 0.03
        rows.append(
            Comment(
                id=remark.id, submission_id=remark.draft.id, author_id=remark.author,
                parent_id=remark.parent.id if remark.parent else None, path=remark.path,
                body=remark.body, created=remark.created, visibility=remark.visibility,
                edited=_later(rng, remark.created) if is_edited else None,
                ups=remark.ups, downs=remark.downs, net_score=remark.ups - remark.downs,
            )
        )  # fmt: skip
    bulk(Comment, rows)
