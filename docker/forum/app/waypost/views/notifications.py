"""Notifications: who answered a member. To look at them writes nothing."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST

from waypost import notices
from waypost.models import Comment
from waypost.session import for_members
from waypost.templating import page
from waypost.threads import choices, latest_comments

PER_PART = 25


@for_members
def unread(request: HttpRequest) -> HttpResponse:
    """Show the unread replies, with `?show=all` those that were read too, the newest first."""
    shows_all = request.GET.get("show") == "all"
    fresh = notices.unread(request.member)
    ids = notices.replies_to(request.member) if shows_all else fresh
    rows = Comment.objects.filter(id__in=ids)
    found = latest_comments(rows, request.GET.get("next[id]", ""), PER_PART + 1)
    return page(
        request,
        "notifications.html",
        comments=found[:PER_PART],
        fresh=fresh,
        shows_all=shows_all,
        more=f"next[id]={found[PER_PART].id}" if len(found) > PER_PART else "",
        comment_votes=choices(request.member, found),
    )


@require_POST
@for_members
def mark_read(request: HttpRequest) -> HttpResponse:
    """Mark one reply as read, `comment`, or all of them up to the id `up_to`."""
    one, up_to = request.POST.get("comment", ""), request.POST.get("up_to", "")
    if one.isdecimal():
        notices.mark(request.member, int(one))
        messages.success(request, "The notification was marked as read.")
    elif up_to.isdecimal():
        notices.mark_all(request.member, int(up_to))
        messages.success(request, "All notifications were marked as read.")
    return HttpResponseRedirect("/notifications")
