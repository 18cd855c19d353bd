"""Forums: their front pages, the lists of them, and how they are made, edited and subscribed."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.views.decorators.http import require_POST

from waypost.forms import ForumForm
from waypost.listing import Listing, Period, Sort, listing, visible
from waypost.models import Forum, Member, Moderator, Subscription
from waypost.rights import keeps, require_keeper
from waypost.session import for_members
from waypost.templating import page
from waypost.threads import choices
from waypost.views.lookup import back, forum_named, page_number
from waypost.writing import subscribe as write_subscription

PER_PAGE = 25
ORDERS = {
    "by_name": ("name",),
    "by_title": ("title", "name"),
    "by_subscribers": ("-subscriber_count", "name"),
    "by_submissions": ("-submission_count", "name"),
    "by_creation_date": ("-created", "-id"),
}


def forum_context(forum: Forum, member: Member | None) -> dict[str, object]:
    """Return what the sidebar of a forum's pages shows."""
    return {
        "forum": forum,
        "is_keeper": keeps(member, forum),
        "is_subscribed": member is not None
        and Subscription.objects.filter(member=member, forum=forum).exists(),
    }


def front(request: HttpRequest, forum: str, sort: Sort = Sort.HOT) -> HttpResponse:
    """Show a forum's submissions."""
    place = forum_named(forum)
    rows = visible(request.member).filter(forum=place)
    found: Listing = listing(rows, sort, request.GET, sticky=True)
    return page(
        request,
        "forum.html",
        listing=found,
        votes=choices(request.member, found.rows),
        base=place.path,
        sorts=list(Sort),
        periods=list(Period),
        **forum_context(place, request.member),
    )


def catalogue(
    request: HttpRequest, order: str = "by_submissions", number: str = "1"
) -> HttpResponse:
    """List the forums, page by page."""
    if order not in ORDERS:
        raise Http404
    current = page_number(request, number)
    start = (current - 1) * PER_PAGE
    rows = list(Forum.objects.order_by(*ORDERS[order])[start : start + PER_PAGE + 1])
    return page(
        request,
        "forums.html",
        forums=rows[:PER_PAGE],
        order=order,
        orders=list(ORDERS),
        number=current,
        has_more=len(rows) > PER_PAGE,
        subscribed=_subscribed(request.member),
    )


def _subscribed(member: Member | None) -> set[int]:
    if member is None:
        return set()
    return set(Subscription.objects.filter(member=member).values_list("forum_id", flat=True))


def alphabet(request: HttpRequest) -> HttpResponse:
    """List all forums from A to Z."""
    rows = list(Forum.objects.order_by("name"))
    return page(request, "forums_all.html", forums=rows)


def tagged(request: HttpRequest, tag: str) -> HttpResponse:
    """List the forums that have a tag."""
    rows = Forum.objects.filter(tags__contains=tag).order_by("name")
    found = [forum for forum in rows if tag in forum.tag_list]
    if not found:
        raise Http404
    return page(request, "forums_all.html", forums=found, tag=tag)


@for_members
def create(request: HttpRequest) -> HttpResponse:
    """Make a forum; who makes it is its first moderator and reader."""
    form = ForumForm(request.POST or None, prefix="forum")
    if request.method == "POST" and form.is_valid():
        made = Forum.objects.create(**form.cleaned_data)
        Moderator.objects.create(forum=made, member=request.member)
        write_subscription(request.member, made, wanted=True)
        return HttpResponseRedirect(made.path)
    return page(request, "forum_form.html", form=form, forum=None)


@for_members
def edit(request: HttpRequest, forum: str) -> HttpResponse:
    """Change a forum's texts."""
    place = forum_named(forum)
    require_keeper(request.member, place)
    fields = ("name", "title", "description", "sidebar", "tags")
    initial = {name: getattr(place, name) for name in fields}
    form = ForumForm(request.POST or None, prefix="forum", initial=initial, forum=place)
    if request.method == "POST" and form.is_valid():
        for name in fields:
            setattr(place, name, form.cleaned_data[name])
        place.save()
        messages.success(request, "The changes have been saved.")
        return HttpResponseRedirect(f"{place.path}/edit")
    shown = forum_context(forum_named(forum) if form.is_bound else place, request.member)
    return page(request, "forum_form.html", form=form, **shown)


@require_POST
@for_members
def subscribe(
    request: HttpRequest, forum: str, *, wanted: bool, json: bool = False
) -> HttpResponse:
    """Subscribe to a forum, or end it."""
    place = forum_named(forum)
    write_subscription(request.member, place, wanted=wanted)
    if json:
        return JsonResponse({"subscribed": wanted, "subscriberCount": place.subscriber_count})
    return back(request, place.path)
