"""Pages that say what went wrong."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def _error(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    if not hasattr(request, "member"):
        request.member = None
    return render(request, "error.html", {"title": title, "text": text}, status=status)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404."""
    return _error(request, 404, "Page not found", "There is nothing of yours at this address.")


def broken(request: HttpRequest) -> HttpResponse:
    """Answer 500 without the templates, which may be what broke."""
    return HttpResponse("Something went wrong.\n", status=500, content_type="text/plain")


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form without the token of this session."""
    text = "The form has expired. Go back, load the page again and send it once more."
    return _error(request, 403, "Form expired", text)
