"""Who is asking: the member named by the signed session cookie."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from urllib.parse import urlencode

from django.contrib.auth.hashers import check_password
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.crypto import constant_time_compare, salted_hmac

from waypost.models import Member

_MEMBER, _SEAL = "member", "seal"
View = Callable[..., HttpResponse]


class MemberMiddleware:
    """Sets `request.member`, None for a visitor."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request as the member whose cookie it carries."""
        request.member = _member_of(request)
        return self._get_response(request)


def _seal(member: Member) -> str:
    return salted_hmac("waypost.session", member.password).hexdigest()[:16]


def _member_of(request: HttpRequest) -> Member | None:
    number = request.session.get(_MEMBER)
    if number is None:
        return None
    member = Member.objects.filter(id=number).first()
    # A new password ends the sessions that were opened with the old one.
    if member is None or not constant_time_compare(request.session.get(_SEAL, ""), _seal(member)):
        request.session.flush()
        return None
    return member


def authenticate(username: str, password: str) -> Member | None:
    """Return the member with that name and password."""
    member = Member.objects.filter(username=username).first()
    return member if member and check_password(password, member.password) else None


def log_in(request: HttpRequest, member: Member) -> None:
    """Make the answer's cookie name the member."""
    request.session.cycle_key()
    request.session[_MEMBER] = member.id
    request.session[_SEAL] = _seal(member)
    request.member = member


def log_out(request: HttpRequest) -> None:
    """Make the answer take the cookie away."""
    request.session.flush()
    request.member = None


def for_members(view: View) -> View:
    """Send visitors to the login page first, and back to the page they came from after it."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if request.member is None:
            is_page = request.method == "GET"
            wanted = request.get_full_path() if is_page else _path_of_referer(request)
            return HttpResponseRedirect("/login?" + urlencode({"next": wanted}))
        return view(request, *args, **kwargs)

    return guarded


def _path_of_referer(request: HttpRequest) -> str:
    came_from = request.META.get("HTTP_REFERER", "")
    here = f"{request.scheme}://{request.get_host()}"
    return came_from.removeprefix(here) if came_from.startswith(here + "/") else "/"
