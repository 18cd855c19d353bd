"""The front pages: featured, all, subscribed and moderated; and the health probe."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from waypost.listing import Listing, Period, Sort, listing, visible
from waypost.models import Forum, Member, Submission
from waypost.session import for_members
from waypost.templating import page
from waypost.threads import choices

SHOWN_FORUMS = 30


def health(request: HttpRequest) -> HttpResponse:
    """Answer `ready` and the number of submissions, which only a working database can tell."""
    return HttpResponse(
        f"ready {Submission.objects.count()} submissions\n", content_type="text/plain"
    )


def home(request: HttpRequest, sort: Sort = Sort.HOT) -> HttpResponse:
    """Show a member's subscribed forums, everybody else the featured ones."""
    forums = _forums("subscribed", request.member) if request.member else Forum.objects.none()
    if forums.exists():
        return _front(request, "subscribed", sort, forums, is_home=True)
    return _front(request, "featured", sort, _forums("featured", request.member), is_home=True)


def scoped(request: HttpRequest, scope: str, sort: Sort = Sort.HOT) -> HttpResponse:
    """Show the submissions of all forums, or of those the scope names."""
    if scope in {"subscribed", "moderated"}:
        return _members_scope(request, scope, sort)
    return _front(request, scope, sort, _forums(scope, request.member))


@for_members
def _members_scope(request: HttpRequest, scope: str, sort: Sort) -> HttpResponse:
    return _front(request, scope, sort, _forums(scope, request.member))


def _forums(scope: str, member: Member | None) -> QuerySet[Forum]:
    rows = Forum.objects.order_by("name")
    match scope:
        case "featured":
            return rows.filter(featured=True)
        case "subscribed":
            return rows.filter(subscription__member=member)
        case "moderated":
            return rows.filter(moderator__member=member)
        case _:
            return rows


def _front(
    request: HttpRequest,
    scope: str,
    sort: Sort,
    forums: QuerySet[Forum],
    *,
    is_home: bool = False,
) -> HttpResponse:
    rows = visible(request.member)
    if scope != "all":
        rows = rows.filter(forum__in=list(forums.values_list("id", flat=True)))
    found: Listing = listing(rows, sort, request.GET)
    return page(
        request,
        "front.html",
        listing=found,
        votes=choices(request.member, found.rows),
        scope=scope,
        base="" if is_home else f"/{scope}",
        sorts=list(Sort),
        periods=list(Period),
        forums=list(forums[:SHOWN_FORUMS]) if scope != "all" else [],
    )
