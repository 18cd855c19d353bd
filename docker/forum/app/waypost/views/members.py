"""Profiles, biographies, passwords and blocked members."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.hashers import make_password
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from waypost.forms import AccountForm, BiographyForm, BlockForm
from waypost.listing import Sort, listing, loaded, visible
from waypost.models import Block, Comment, Forum, Member, Submission, Visibility
from waypost.session import for_members, log_in
from waypost.templating import page
from waypost.threads import choices, latest_comments
from waypost.views.lookup import member_named

PER_PART = 25
OVERVIEW = 13


def _side(request: HttpRequest, owner: Member) -> dict[str, object]:
    submissions = Submission.objects.filter(author=owner, visibility=Visibility.VISIBLE)
    comments = Comment.objects.filter(author=owner, visibility=Visibility.VISIBLE)
    return {
        "owner": owner,
        "moderates": list(Forum.objects.filter(moderator__member=owner).order_by("name")),
        "submission_count": submissions.count(),
        "comment_count": comments.count(),
        "is_self": request.member is not None and request.member.id == owner.id,
        "is_blocked": request.member is not None
        and Block.objects.filter(blocker=request.member, blocked=owner).exists(),
    }


def _comments_of(owner: Member, before: str = "") -> list[Comment]:
    rows = Comment.objects.filter(author=owner, visibility=Visibility.VISIBLE)
    return latest_comments(rows, before, PER_PART + 1)


def shortcut(request: HttpRequest, username: str) -> HttpResponse:
    """Lead from `/u/NAME` to the profile."""
    return HttpResponseRedirect(member_named(username).path)


def overview(request: HttpRequest, username: str) -> HttpResponse:
    """Show a profile: biography, and the latest submissions and comments."""
    owner = member_named(username)
    written = loaded(visible(None).filter(author=owner).order_by("-id")[:OVERVIEW])
    comments = [one for one in _comments_of(owner) if one.submission.is_visible][:OVERVIEW]
    latest = sorted([*written, *comments], key=lambda one: one.created, reverse=True)
    return page(
        request,
        "user.html",
        tab="overview",
        entries=[(isinstance(one, Submission), one) for one in latest],
        votes=choices(request.member, written),
        comment_votes=choices(request.member, comments),
        **_side(request, owner),
    )


def submissions(request: HttpRequest, username: str) -> HttpResponse:
    """Show what a member submitted, newest first."""
    owner = member_named(username)
    found = listing(visible(None).filter(author=owner), Sort.NEW, request.GET)
    return page(
        request,
        "user.html",
        tab="submissions",
        entries=[(True, one) for one in found.rows],
        more=found.more,
        votes=choices(request.member, found.rows),
        comment_votes={},
        **_side(request, owner),
    )


def comments(request: HttpRequest, username: str) -> HttpResponse:
    """Show a member's comments, newest first."""
    owner = member_named(username)
    found = _comments_of(owner, request.GET.get("next[id]", ""))
    return page(
        request,
        "user.html",
        tab="comments",
        entries=[(False, one) for one in found[:PER_PART] if one.submission.is_visible],
        more=f"next[id]={found[PER_PART].id}" if len(found) > PER_PART else "",
        votes={},
        comment_votes=choices(request.member, found),
        **_side(request, owner),
    )


def _own(request: HttpRequest, username: str) -> Member:
    owner = member_named(username)
    if owner.id != request.member.id:
        message = "This page is for its owner only."
        raise PermissionDenied(message)
    return owner


@for_members
def edit_biography(request: HttpRequest, username: str) -> HttpResponse:
    """Change one's own biography."""
    owner = _own(request, username)
    form = BiographyForm(
        request.POST or None, prefix="user_biography", initial={"biography": owner.biography}
    )
    if request.method == "POST" and form.is_valid():
        owner.biography = form.cleaned_data["biography"]
        owner.save(update_fields=["biography"])
        messages.success(request, "The biography was updated.")
        return HttpResponseRedirect(owner.path)
    return page(request, "biography.html", form=form, **_side(request, owner))


@for_members
def account(request: HttpRequest, username: str) -> HttpResponse:
    """Change one's own password."""
    owner = _own(request, username)
    form = AccountForm(request.POST or None, prefix="user", member=owner)
    if request.method == "POST" and form.is_valid():
        salt = f"waypost{owner.username:_>25}"
        owner.password = make_password(form.cleaned_data["password"], salt=salt)
        owner.save(update_fields=["password"])
        log_in(request, owner)
        messages.success(request, "Your password has been updated.")
        return HttpResponseRedirect(f"{owner.path}/account")
    return page(request, "account.html", form=form, **_side(request, owner))


@for_members
def block_list(request: HttpRequest, username: str) -> HttpResponse:
    """Show whom one blocks."""
    owner = _own(request, username)
    rows = owner.blocks.select_related("blocked").order_by("-id")
    return page(request, "block_list.html", blocks=list(rows), **_side(request, owner))


@for_members
def block(request: HttpRequest, username: str) -> HttpResponse:
    """Block a member: their submissions leave one's lists, and they cannot write messages."""
    blocked = member_named(username)
    if blocked.id == request.member.id:
        message = "You cannot block yourself."
        raise PermissionDenied(message)
    form = BlockForm(request.POST or None, prefix="user_block")
    if request.method == "POST" and form.is_valid():
        Block.objects.update_or_create(
            blocker=request.member,
            blocked=blocked,
            defaults={"comment": form.cleaned_data["comment"]},
        )
        messages.success(request, f"{blocked.username} is now blocked.")
        return HttpResponseRedirect(f"{request.member.path}/block_list")
    return page(request, "block.html", form=form, **_side(request, blocked))


@require_POST
@for_members
def unblock(request: HttpRequest, row: int) -> HttpResponse:
    """End a block."""
    held = get_object_or_404(Block, id=row, blocker=request.member)
    held.delete()
    messages.success(request, "The user is no longer blocked.")
    return HttpResponseRedirect(f"{request.member.path}/block_list")
