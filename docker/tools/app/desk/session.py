"""Who is asking: the member named by the signed session cookie, or by HTTP Basic in the API."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from functools import wraps
from urllib.parse import urlencode

from django.contrib.auth.hashers import check_password
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from desk.models import Member

_MEMBER = "member"
View = Callable[..., HttpResponse]


class MemberMiddleware:
    """Sets `request.member`, None for a visitor."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request as the member whose cookie it carries."""
        number = request.session.get(_MEMBER)
        request.member = Member.objects.filter(id=number).first() if number else None
        return self._get_response(request)


def authenticate(username: str, password: str) -> Member | None:
    """Return the member with that name and password."""
    member = Member.objects.filter(username=username).first()
    return member if member and check_password(password, member.password) else None


def basic_member(request: HttpRequest) -> Member | None:
    """Return the member that a request's Authorization field names (RFC 7617)."""
    scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        username, _, password = base64.b64decode(sent, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return authenticate(username, password)


def log_in(request: HttpRequest, member: Member) -> None:
    """Make the answer's cookie name the member."""
    request.session.cycle_key()
    request.session[_MEMBER] = member.id
    request.member = member


def log_out(request: HttpRequest) -> None:
    """Make the answer take the cookie away."""
    request.session.flush()
    request.member = None


def for_members(view: View) -> View:
    """Send visitors to the login page first, and back to the page they wanted after it."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if request.member is None:
            wanted = request.get_full_path() if request.method == "GET" else "/notes"
            return HttpResponseRedirect("/login?" + urlencode({"next": wanted}))
        return view(request, *args, **kwargs)

    return guarded
