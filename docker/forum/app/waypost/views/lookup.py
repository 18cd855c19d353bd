"""Find what a path names, or answer that it is not there."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404

from waypost import paths
from waypost.models import Comment, Forum, Member, Submission


def forum_named(name: str) -> Forum:
    """Return the forum of that name, whatever its case."""
    return get_object_or_404(Forum, name=name)


def member_named(name: str) -> Member:
    """Return the member of that name, whatever its case."""
    return get_object_or_404(Member, username=name)


def submission_at(forum: str, number: int) -> Submission:
    """Return a submission of a forum, also one that was taken away."""
    rows = Submission.objects.select_related("author", "forum")
    return get_object_or_404(rows, id=number, forum__name=forum)


def comment_at(forum: str, number: int, comment: int) -> Comment:
    """Return a comment of a thread, also one that was taken away."""
    rows = Comment.objects.select_related("author", "submission__forum", "submission__author")
    return get_object_or_404(rows, id=comment, submission=number, submission__forum__name=forum)


def page_number(request: HttpRequest, given: str | int | None = None) -> int:
    """Return which page is asked for, by path or `?page=`; 1 where none is."""
    text = str(given or request.GET.get("page", "1"))
    if not text.isdecimal() or not 1 <= int(text) <= 10_000:
        message = "There is no such page."
        raise Http404(message)
    return int(text)


def back(request: HttpRequest, otherwise: str) -> HttpResponse:
    """Send the reader back to the page they came from, where that is one of this site."""
    here = f"{request.scheme}://{request.get_host()}"
    came_from = request.META.get("HTTP_REFERER", "").removeprefix(here)
    return HttpResponseRedirect(came_from if paths.is_local(came_from) else otherwise)
