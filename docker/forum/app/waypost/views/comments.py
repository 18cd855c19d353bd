"""Comments: written, read alone, edited and deleted; and the latest of all."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_GET, require_POST

from waypost import clock
from waypost.forms import CommentForm
from waypost.models import Comment, Submission, Visibility
from waypost.rights import keeps, may_edit, may_read, require_author, why_not_comment
from waypost.session import for_members
from waypost.templating import page
from waypost.threads import blocked_by, choices, comments_of, latest_comments, tree
from waypost.views.forums import forum_context
from waypost.views.lookup import comment_at, forum_named, submission_at
from waypost.views.submissions import flag_of
from waypost.writing import comment as write_comment
from waypost.writing import set_visibility

LATEST = 25


def latest(request: HttpRequest, forum: str = "") -> HttpResponse:
    """Show the newest comments of all forums, or of one."""
    rows = Comment.objects.filter(visibility=Visibility.VISIBLE)
    rows = rows.exclude(author_id__in=blocked_by(request.member))
    place = forum_named(forum) if forum else None
    if place:
        rows = rows.filter(submission__in=Submission.objects.filter(forum=place).values("id"))
    found = latest_comments(rows, request.GET.get("next[id]", ""), LATEST + 1)
    return page(
        request,
        "comments.html",
        comments=[one for one in found[:LATEST] if one.submission.is_visible],
        more=f"next[id]={found[LATEST].id}" if len(found) > LATEST else "",
        comment_votes=choices(request.member, found),
        **(forum_context(place, request.member) if place else {"forum": None}),
    )


def permalink(
    request: HttpRequest, forum: str, number: int, slug: str, comment: int
) -> HttpResponse:
    """Show one comment and what was answered to it; an answer is posted here too."""
    if request.method == "POST":
        return write(request, forum, number, slug, comment)
    return _alone(request, comment_at(forum, number, comment), None)


def _alone(request: HttpRequest, target: Comment, form: CommentForm | None) -> HttpResponse:
    shown = target.submission
    side = forum_context(shown.forum, request.member)
    comments = comments_of(shown, below=target)
    return page(
        request,
        "thread.html",
        submission=shown,
        nodes=tree(comments, blocked_by(request.member) - {target.author_id}),
        linear=[],
        view="comment",
        target=target,
        votes=choices(request.member, [shown]),
        comment_votes=choices(request.member, comments),
        may_read=may_read(request.member, shown, keeper=bool(side["is_keeper"])),
        why_not=why_not_comment(request.member, shown) if request.member else "",
        form=form or CommentForm(prefix=f"reply_to_comment_{target.id}"),
        **side,
    )


@require_POST
@for_members
def write(
    request: HttpRequest, forum: str, number: int, slug: str, comment: int = 0
) -> HttpResponse:
    """Write a comment on a submission, or an answer to the comment with that id."""
    above = comment_at(forum, number, comment) if comment else None
    shown = above.submission if above else submission_at(forum, number)
    prefix = f"reply_to_comment_{comment}" if above else "reply_to_submission"
    form = CommentForm(request.POST, prefix=prefix)
    why_not = why_not_comment(request.member, shown, above)
    if why_not or not form.is_valid():
        messages.error(request, why_not or "The comment must not be empty.")
        return HttpResponseRedirect(above.link if above else shown.path)
    made = write_comment(
        request.member, shown, above, form.cleaned_data["comment"], flag_of(request, shown.forum)
    )
    made.submission = shown
    return HttpResponseRedirect(made.link)


@require_GET
@for_members
def form(request: HttpRequest, forum: str, number: int, comment: int) -> HttpResponse:
    """Answer with the form for a reply alone, which a script puts below the comment."""
    target = comment_at(forum, number, comment)
    return page(
        request,
        "reply_form.html",
        target=target,
        form=CommentForm(prefix=f"reply_to_comment_{target.id}"),
        is_keeper=keeps(request.member, target.submission.forum),
        why_not=why_not_comment(request.member, target.submission),
    )


@for_members
def edit(request: HttpRequest, forum: str, number: int, slug: str, comment: int) -> HttpResponse:
    """Change a comment; a moderator's change is marked as such."""
    held = comment_at(forum, number, comment)
    if not may_edit(request.member, held, keeper=keeps(request.member, held.submission.forum)):
        require_author(request.member, held)
    form = CommentForm(request.POST or None, prefix="comment", initial={"comment": held.body})
    if request.method == "POST" and form.is_valid():
        held.body = form.cleaned_data["comment"]
        held.edited = clock.now()
        held.edited_by_moderator = held.author_id != request.member.id
        held.save(update_fields=["body", "edited", "edited_by_moderator"])
        messages.success(request, "The comment was edited.")
        return HttpResponseRedirect(held.link)
    side = forum_context(held.submission.forum, request.member)
    return page(request, "comment_form.html", form=form, comment=held, **side)


@require_POST
@for_members
def delete(request: HttpRequest, forum: str, number: int, slug: str, comment: int) -> HttpResponse:
    """Delete one's own comment; what was answered to it stays."""
    held = comment_at(forum, number, comment)
    require_author(request.member, held)
    set_visibility(held, Visibility.DELETED)
    messages.success(request, "The comment was deleted.")
    return HttpResponseRedirect(held.submission.path)
