"""Feeds for readers: the newest of a forum or of a member, in Atom."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from waypost.listing import loaded, visible
from waypost.models import Comment, Submission, Visibility
from waypost.threads import latest_comments
from waypost.views.lookup import forum_named, member_named

NEWEST = 25
Entry = tuple[bool, Submission | Comment]  # whether it is a submission


def _feed(
    request: HttpRequest, title: str, path: str, entries: list[Entry], began: datetime
) -> HttpResponse:
    host = f"{request.scheme}://{request.get_host()}"
    text = render_to_string(
        "feed.xml",
        {
            "host": host,
            "title": title,
            "path": path,
            "entries": entries,
            "updated": max((one.edited or one.created for _, one in entries), default=began),
        },
    )
    return HttpResponse(text, content_type="application/atom+xml; charset=utf-8")


def forum(request: HttpRequest, forum: str) -> HttpResponse:
    """Answer with a forum's newest submissions."""
    place = forum_named(forum)
    rows = loaded(visible(None).filter(forum=place).order_by("-id")[:NEWEST])
    return _feed(
        request, f"/f/{place.name}: {place.title}", place.path, [(True, one) for one in rows],
        place.created,
    )  # fmt: skip


def user(request: HttpRequest, username: str) -> HttpResponse:
    """Answer with a member's newest submissions and comments."""
    owner = member_named(username)
    written = loaded(visible(None).filter(author=owner).order_by("-id")[:NEWEST])
    rows = Comment.objects.filter(
        author=owner, visibility=Visibility.VISIBLE, submission__visibility=Visibility.VISIBLE
    )
    entries: list[Entry] = [(True, one) for one in written]
    entries += [(False, one) for one in latest_comments(rows, "", NEWEST)]
    entries.sort(key=lambda entry: entry[1].created, reverse=True)
    return _feed(
        request, f"{owner.username} on Waypost", owner.path, entries[:NEWEST], owner.joined
    )
