"""Votes: by form, or by a script that wants to know the new score only."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from waypost.models import Comment, Submission, Visibility
from waypost.rights import ban_of
from waypost.session import for_members
from waypost.views.lookup import back
from waypost.writing import vote

CHOICES = {"1": 1, "0": 0, "-1": -1}


@require_POST
@for_members
def submission(request: HttpRequest, number: int, *, json: bool = False) -> HttpResponse:
    """Vote on a submission."""
    rows = Submission.objects.select_related("forum")
    target = get_object_or_404(rows, id=number, visibility=Visibility.VISIBLE)
    return _voted(request, target, target.path, json=json)


@require_POST
@for_members
def comment(request: HttpRequest, number: int, *, json: bool = False) -> HttpResponse:
    """Vote on a comment."""
    rows = Comment.objects.select_related("submission__forum")
    target = get_object_or_404(rows, id=number, visibility=Visibility.VISIBLE)
    return _voted(request, target, target.link, json=json)


def _voted(
    request: HttpRequest, target: Submission | Comment, path: str, *, json: bool
) -> HttpResponse:
    choice = CHOICES.get(request.POST.get("choice", ""))
    if choice is None:
        return HttpResponseBadRequest("choice: 1, 0 or -1\n", content_type="text/plain")
    forum = target.forum if isinstance(target, Submission) else target.submission.forum
    if ban_of(request.member, forum):
        return HttpResponse("You are banned from this forum.\n", status=403)
    vote(request.member, target, choice)
    if json:
        return JsonResponse({"netScore": target.net_score, "choice": choice})
    return back(request, path)
