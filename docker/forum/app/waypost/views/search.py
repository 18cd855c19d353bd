"""The search page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from waypost import search
from waypost.templating import page
from waypost.threads import choices
from waypost.views.lookup import page_number

PER_PAGE = 25
KINDS = ("submissions", "comments")


def results(request: HttpRequest) -> HttpResponse:
    """Show the submissions, or with `?type=comments` the comments, that hold every word."""
    words = request.GET.get("q", "").strip()
    kind = request.GET.get("type", KINDS[0])
    number = page_number(request)
    found = search.comments(words) if kind == KINDS[1] else search.submissions(words)
    start = (number - 1) * PER_PAGE
    shown = found[start : start + PER_PAGE]
    votes = choices(request.member, shown)
    return page(
        request,
        "search.html",
        words=words,
        kind=KINDS[1] if kind == KINDS[1] else KINDS[0],
        total=len(found),
        most=search.MOST,
        shown=shown,
        number=number,
        has_more=len(found) > start + PER_PAGE,
        votes=votes,
        comment_votes=votes,
    )
