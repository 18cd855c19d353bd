"""What programs do: read and write as a member, by HTTP basic authentication and JSON.

Cookies count for nothing here, so no form's token is asked for.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import wraps

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from waypost.forms import CommentForm, NamedForm, SubmissionForm
from waypost.models import Comment, Flag, Member, Submission
from waypost.rights import ban_of, may_read, why_not_comment
from waypost.session import authenticate
from waypost.views import feeds
from waypost.writing import comment as write_comment
from waypost.writing import submit as write_submission

View = Callable[..., HttpResponse]


def for_programs(view: View) -> View:
    """Set `request.member` by the request's own login; answer 401 without one."""

    @csrf_exempt
    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        request.member = _member_of(request)
        if request.member is None:
            refused = _refused(401, "This needs a member's name and password.")
            refused["WWW-Authenticate"] = 'Basic realm="Waypost", charset="UTF-8"'
            return refused
        try:
            return view(request, *args, **kwargs)
        except Http404:
            return _refused(404, "There is no such submission.")

    return guarded


def _member_of(request: HttpRequest) -> Member | None:
    scheme, _, pair = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, _, password = b64decode(pair, validate=True).decode().partition(":")
    except ValueError:
        return None
    return authenticate(name, password)


def _refused(status: int, reason: str) -> JsonResponse:
    return JsonResponse({"error": reason}, status=status)


def _sent(request: HttpRequest) -> Mapping[str, object] | None:
    """Return the JSON object that was sent, None where it is none."""
    try:
        found = json.loads(request.body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _filled(form: type[NamedForm], prefix: str, given: Mapping[str, object]) -> NamedForm:
    texts = {name: value for name, value in given.items() if isinstance(value, str)}
    return form({f"{prefix}[{name}]": text for name, text in texts.items()}, prefix=prefix)


def _faults(form: NamedForm) -> JsonResponse:
    return JsonResponse({"errors": form.errors}, status=400)


@require_GET
@for_programs
def myself(request: HttpRequest) -> HttpResponse:
    """Tell of the member who asks."""
    return feeds.user(request, request.member.username)


@require_GET
@for_programs
def submission(request: HttpRequest, number: int) -> HttpResponse:
    """Tell of a submission with all its comments."""
    found = get_object_or_404(Submission.objects.select_related("forum"), id=number)
    return feeds.submission(request, found.forum.name, number)


@require_POST
@for_programs
def submit(request: HttpRequest) -> HttpResponse:
    """Write a submission: `forum`, `title`, and `url` or `body` or both."""
    given = _sent(request)
    if given is None:
        return _refused(400, "The body must be a JSON object.")
    form = _filled(SubmissionForm, "submission", given)
    if not form.is_valid():
        return _faults(form)
    text = form.cleaned_data
    ban = ban_of(request.member, text["forum"])
    if ban is not None:
        return _refused(403, f"You are banned from /f/{text['forum'].name}. Reason: {ban.reason}")
    made = write_submission(
        request.member,
        text["forum"],
        title=text["title"],
        url=text["url"],
        body=text["body"],
        flag=Flag.NONE,
    )
    return JsonResponse(feeds.told_submission(made), status=201)


@require_POST
@for_programs
def comment(request: HttpRequest, number: int) -> HttpResponse:
    """Write a comment: `body`, and `parent` where it answers another comment's id."""
    rows = Submission.objects.select_related("author", "forum")
    shown = get_object_or_404(rows, id=number)
    given = _sent(request)
    if given is None:
        return _refused(400, "The body must be a JSON object.")
    above = None
    parent = given.get("parent")
    if parent is not None:
        is_id = isinstance(parent, int)
        above = Comment.objects.filter(id=parent, submission=shown).first() if is_id else None
        if above is None:
            return _refused(400, "The submission has no comment with the id that `parent` names.")
    form = _filled(CommentForm, "reply", {"comment": given.get("body")})
    if not form.is_valid():
        return _faults(form)
    if not may_read(request.member, shown, keeper=False):
        raise Http404
    why_not = why_not_comment(request.member, shown, above)
    if why_not:
        return _refused(403, why_not)
    made = write_comment(request.member, shown, above, form.cleaned_data["comment"], Flag.NONE)
    return JsonResponse(feeds.told_comment(made), status=201)
