"""Log in and log out."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from desk.session import authenticate, log_in, log_out


def login(request: HttpRequest) -> HttpResponse:
    """Show the form; log in who gives a name and its password."""
    if request.method != "POST":
        return render(request, "login.html", {"next": _next(request)})
    username = request.POST.get("username", "")
    member = authenticate(username, request.POST.get("password", ""))
    if member is None:
        shown = {"next": _next(request), "username": username, "failed": True}
        return render(request, "login.html", shown)
    log_in(request, member)
    return HttpResponseRedirect(_next(request))


def logout(request: HttpRequest) -> HttpResponse:
    """Log out by POST; a GET asks first, so that a link alone ends no session."""
    if request.method != "POST":
        return render(request, "logout.html")
    log_out(request)
    return HttpResponseRedirect("/")


def _next(request: HttpRequest) -> str:
    """Return where to go on: a path of this host, or the notes."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    is_local = re.match(r"/(?![/\\])", wanted) and not re.search(r"[\x00-\x20\\]", wanted)
    return wanted if is_local else "/notes"
