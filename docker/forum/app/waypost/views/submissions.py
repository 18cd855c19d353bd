"""Submissions: written, read with their comments, edited and deleted."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_GET, require_POST

from waypost import clock, pictures
from waypost.forms import CommentForm, SubmissionForm
from waypost.models import Flag, Forum, Submission, Visibility
from waypost.rights import ban_of, keeps, may_edit, may_read, require_author, why_not_comment
from waypost.session import for_members
from waypost.templating import page
from waypost.threads import blocked_by, choices, comments_of, tree
from waypost.views.forums import forum_context
from waypost.views.lookup import submission_at
from waypost.writing import set_visibility
from waypost.writing import submit as write_submission


def flag_of(request: HttpRequest, forum: Forum) -> Flag:
    """Return the role a text is posted in: `Post as` counts for moderators of the forum only."""
    wants = request.POST.get("post_as") == Flag.MODERATOR
    return Flag.MODERATOR if wants and keeps(request.member, forum) else Flag.NONE


def shortcut(request: HttpRequest, number: int) -> HttpResponse:
    """Lead from `/ID` to the submission."""
    found = Submission.objects.select_related("forum").filter(id=number).first()
    if found is None:
        raise Http404
    return HttpResponseRedirect(found.path)


@require_GET
def thread(
    request: HttpRequest, forum: str, number: int, slug: str = "-", view: str = "nested"
) -> HttpResponse:
    """Show a submission and its comments: as a tree, or one after the other as they came."""
    shown = submission_at(forum, number)
    side = forum_context(shown.forum, request.member)
    comments = comments_of(shown)
    nodes = tree(comments, blocked_by(request.member))
    if view == "linear":
        nodes = tree([], set())
    return page(
        request,
        "thread.html",
        submission=shown,
        nodes=nodes,
        linear=sorted(comments, key=lambda one: one.id) if view == "linear" else [],
        view=view,
        votes=choices(request.member, [shown]),
        comment_votes=choices(request.member, comments),
        may_read=may_read(request.member, shown, keeper=bool(side["is_keeper"])),
        why_not=why_not_comment(request.member, shown) if request.member else "",
        form=CommentForm(prefix="reply_to_submission"),
        **side,
    )


@for_members
def submit(request: HttpRequest, forum: str = "") -> HttpResponse:
    """Write a submission."""
    form = SubmissionForm(
        request.POST or None, request.FILES or None, prefix="submission", initial={"forum": forum}
    )
    if request.method == "POST" and form.is_valid():
        place = form.cleaned_data["forum"]
        ban = ban_of(request.member, place)
        if ban is None:
            text = form.cleaned_data
            made = write_submission(
                request.member,
                place,
                title=text["title"],
                url=text["url"],
                body=text["body"],
                image=pictures.keep(*text["image"]) if text["image"] else "",
                image_alt=(text["image_alt"] or text["title"]) if text["image"] else "",
                flag=flag_of(request, place),
            )
            return HttpResponseRedirect(made.path)
        form.add_error("forum", f"You are banned from /f/{place.name}. Reason: {ban.reason}")
    place = Forum.objects.filter(name=forum).first() if forum else None
    if forum and place is None:
        raise Http404
    return page(
        request,
        "submission_form.html",
        form=form,
        names=list(Forum.objects.order_by("name").values_list("name", flat=True)),
        forum=place,
        may_flag=keeps(request.member, place) if place else False,
    )


@for_members
def edit(request: HttpRequest, forum: str, number: int, slug: str) -> HttpResponse:
    """Change a submission; a moderator's change is marked as such."""
    held = submission_at(forum, number)
    if not may_edit(request.member, held, keeper=keeps(request.member, held.forum)):
        require_author(request.member, held)
    initial = {name: getattr(held, name) for name in ("title", "url", "body", "image_alt")}
    data = request.POST.copy() if request.method == "POST" else None
    if data is not None:
        data["submission[forum]"] = held.forum.name
        if held.image:  # its title leads there
            data["submission[url]"] = ""
    form = SubmissionForm(data, prefix="submission", initial=initial)
    if form.is_bound and form.is_valid():
        held.title = form.cleaned_data["title"]
        held.url = form.cleaned_data["url"]
        held.body = form.cleaned_data["body"]
        if held.image:
            held.image_alt = form.cleaned_data["image_alt"] or held.title
        held.edited = clock.now()
        held.edited_by_moderator = held.author_id != request.member.id
        held.save(
            update_fields=["title", "url", "body", "image_alt", "edited", "edited_by_moderator"]
        )
        messages.success(request, "The submission was edited.")
        return HttpResponseRedirect(held.path)
    return page(
        request,
        "submission_form.html",
        form=form,
        submission=held,
        **forum_context(held.forum, request.member),
    )


@require_POST
@for_members
def delete(request: HttpRequest, forum: str, number: int, slug: str) -> HttpResponse:
    """Delete one's own submission."""
    held = submission_at(forum, number)
    require_author(request.member, held)
    set_visibility(held, Visibility.DELETED)
    messages.success(request, "The submission was deleted.")
    return HttpResponseRedirect(held.forum.path)
