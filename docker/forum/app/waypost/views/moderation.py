"""What a forum's moderators do: lock, pin, remove, restore, ban, and who they are."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET, require_POST

from waypost import clock
from waypost.forms import BanForm, MemberNameForm, ReasonForm
from waypost.models import (
    Action,
    Ban,
    Comment,
    Forum,
    LogEntry,
    Moderator,
    Submission,
    Visibility,
)
from waypost.rights import keeps, require_keeper
from waypost.session import for_members
from waypost.templating import page
from waypost.views.forums import forum_context
from waypost.views.lookup import comment_at, forum_named, member_named, page_number, submission_at
from waypost.writing import hold, set_visibility
from waypost.writing import log as write_log

PER_PAGE = 50
MARKS = {
    "lock": ("is_locked", True, Action.LOCK),
    "unlock": ("is_locked", False, Action.UNLOCK),
    "pin": ("is_sticky", True, Action.PIN),
    "unpin": ("is_sticky", False, Action.UNPIN),
}


def _kept(request: HttpRequest, name: str) -> Forum:
    place = forum_named(name)
    require_keeper(request.member, place)
    if request.method == "POST":
        hold(place)
    return place


@require_POST
@for_members
def mark(request: HttpRequest, forum: str, number: int, slug: str, mark: str) -> HttpResponse:
    """Lock, unlock, pin or unpin a submission."""
    place = _kept(request, forum)
    target = submission_at(forum, number)
    column, value, action = MARKS[mark]
    if getattr(target, column) != value:
        setattr(target, column, value)
        target.save(update_fields=[column])
        write_log(request.member, place, action, submission=target)
    messages.success(request, f"The submission was {action.value}.")
    return HttpResponseRedirect(target.path)


@for_members
def remove_submission(request: HttpRequest, forum: str, number: int, slug: str) -> HttpResponse:
    """Remove a submission for a reason."""
    place = _kept(request, forum)
    target = submission_at(forum, number)
    form = ReasonForm(request.POST or None, prefix="delete_reason")
    if request.method == "POST" and form.is_valid():
        _only(target, Visibility.VISIBLE)
        set_visibility(target, Visibility.REMOVED)
        reason = form.cleaned_data["reason"]
        write_log(request.member, place, Action.REMOVE, submission=target, reason=reason)
        messages.success(request, "The submission was removed.")
        return HttpResponseRedirect(place.path)
    return page(
        request,
        "remove.html",
        form=form,
        submission=target,
        comment=None,
        **forum_context(place, request.member),
    )


@require_POST
@for_members
def restore_submission(request: HttpRequest, forum: str, number: int, slug: str) -> HttpResponse:
    """Bring a removed submission back."""
    place = _kept(request, forum)
    target = submission_at(forum, number)
    _only(target, Visibility.REMOVED)
    set_visibility(target, Visibility.VISIBLE)
    write_log(request.member, place, Action.RESTORE, submission=target)
    messages.success(request, "The submission was restored.")
    return HttpResponseRedirect(target.path)


@for_members
def remove_comment(
    request: HttpRequest, forum: str, number: int, slug: str, comment: int
) -> HttpResponse:
    """Remove a comment for a reason; what was answered to it stays."""
    place = _kept(request, forum)
    target = comment_at(forum, number, comment)
    form = ReasonForm(request.POST or None, prefix="delete_reason")
    if request.method == "POST" and form.is_valid():
        _only(target, Visibility.VISIBLE)
        set_visibility(target, Visibility.REMOVED)
        write_log(
            request.member,
            place,
            Action.REMOVE_COMMENT,
            submission=target.submission,
            member=target.author,
            reason=form.cleaned_data["reason"],
        )
        messages.success(request, "The comment was removed.")
        return HttpResponseRedirect(target.submission.path)
    return page(
        request,
        "remove.html",
        form=form,
        submission=target.submission,
        comment=target,
        **forum_context(place, request.member),
    )


@require_POST
@for_members
def restore_comment(
    request: HttpRequest, forum: str, number: int, slug: str, comment: int
) -> HttpResponse:
    """Bring a removed comment back."""
    place = _kept(request, forum)
    target = comment_at(forum, number, comment)
    _only(target, Visibility.REMOVED)
    set_visibility(target, Visibility.VISIBLE)
    write_log(
        request.member,
        place,
        Action.RESTORE_COMMENT,
        submission=target.submission,
        member=target.author,
    )
    messages.success(request, "The comment was restored.")
    return HttpResponseRedirect(target.link)


def _only(target: Submission | Comment, visibility: Visibility) -> None:
    if target.visibility != visibility:
        message = f"It is not {visibility.label.lower()}."
        raise PermissionDenied(message)


@require_GET
def bans(request: HttpRequest, forum: str) -> HttpResponse:
    """List who may not write in the forum, and why."""
    place = forum_named(forum)
    rows = Ban.in_force().filter(forum=place).select_related("member", "banned_by")
    side = forum_context(place, request.member)
    return page(request, "bans.html", bans=list(rows.order_by("-created", "-id")), **side)


@for_members
def ban(request: HttpRequest, forum: str, username: str) -> HttpResponse:
    """Ban a member from the forum."""
    place = _kept(request, forum)
    target = member_named(username)
    if keeps(target, place):
        message = f"{target.username} is a moderator of /f/{place.name}."
        raise PermissionDenied(message)
    form = BanForm(request.POST or None, prefix="forum_ban")
    if request.method == "POST" and form.is_valid():
        days = form.cleaned_data["days"]
        reason = form.cleaned_data["reason"]
        Ban.objects.update_or_create(
            forum=place,
            member=target,
            defaults={
                "reason": reason,
                "banned_by": request.member,
                "created": clock.now(),
                "expires": clock.now() + timedelta(days=days) if days else None,
            },
        )
        write_log(request.member, place, Action.BAN, member=target, reason=reason)
        messages.success(request, f"{target.username} was banned.")
        return HttpResponseRedirect(f"{place.path}/bans")
    side = forum_context(place, request.member)
    return page(request, "ban.html", form=form, target=target, **side)


@require_POST
@for_members
def unban(request: HttpRequest, forum: str, username: str) -> HttpResponse:
    """Lift a ban."""
    place = _kept(request, forum)
    target = member_named(username)
    get_object_or_404(Ban, forum=place, member=target).delete()
    write_log(request.member, place, Action.UNBAN, member=target)
    messages.success(request, f"{target.username} was unbanned.")
    return HttpResponseRedirect(f"{place.path}/bans")


@require_GET
def moderators(request: HttpRequest, forum: str) -> HttpResponse:
    """List the forum's moderators."""
    place = forum_named(forum)
    rows = Moderator.objects.filter(forum=place).select_related("member").order_by("since", "id")
    side = forum_context(place, request.member)
    return page(request, "moderators.html", moderators=list(rows), **side)


@for_members
def add_moderator(request: HttpRequest, forum: str) -> HttpResponse:
    """Make a member a moderator."""
    place = _kept(request, forum)
    form = MemberNameForm(request.POST or None, prefix="moderator")
    if request.method == "POST" and form.is_valid():
        target = form.cleaned_data["username"]
        _, is_new = Moderator.objects.get_or_create(forum=place, member=target)
        if is_new:
            write_log(request.member, place, Action.ADD_MODERATOR, member=target)
        messages.success(request, f"{target.username} is now a moderator.")
        return HttpResponseRedirect(f"{place.path}/moderators")
    side = forum_context(place, request.member)
    return page(request, "add_moderator.html", form=form, **side)


@require_POST
@for_members
def remove_moderator(request: HttpRequest, forum: str, row: int) -> HttpResponse:
    """Take the role from a moderator."""
    place = _kept(request, forum)
    held = get_object_or_404(Moderator.objects.select_related("member"), id=row, forum=place)
    if Moderator.objects.filter(forum=place).count() == 1:
        message = "A forum keeps at least one moderator."
        raise PermissionDenied(message)
    held.delete()
    write_log(request.member, place, Action.REMOVE_MODERATOR, member=held.member)
    messages.success(request, f"{held.member.username} is no longer a moderator.")
    return HttpResponseRedirect(f"{place.path}/moderators")


@require_GET
def log(request: HttpRequest, forum: str) -> HttpResponse:
    """Show what the moderators did, newest first."""
    place = forum_named(forum)
    number = page_number(request)
    rows = LogEntry.objects.filter(forum=place).select_related(
        "moderator", "member", "submission__forum"
    )
    start = (number - 1) * PER_PAGE
    found = list(rows.order_by("-created", "-id")[start : start + PER_PAGE + 1])
    if number > 1 and not found:
        raise Http404
    return page(
        request,
        "moderation_log.html",
        entries=found[:PER_PAGE],
        number=number,
        has_more=len(found) > PER_PAGE,
        **forum_context(place, request.member),
    )


@require_GET
@for_members
def trash(request: HttpRequest, forum: str) -> HttpResponse:
    """Show what was removed, to whom may restore it."""
    place = _kept(request, forum)
    gone = Visibility.REMOVED
    submissions = Submission.objects.filter(forum=place, visibility=gone)
    comments = Comment.objects.filter(submission__forum=place, visibility=gone)
    related = comments.select_related(
        "author", "submission__forum", "submission__author", "parent__author"
    )
    return page(
        request,
        "trash.html",
        submissions=list(submissions.select_related("author", "forum").order_by("-id")),
        comments=list(related.order_by("-id")),
        **forum_context(place, request.member),
    )
