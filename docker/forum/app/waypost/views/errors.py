"""Pages that say what went wrong."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from waypost.templating import page


def _error(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    if not hasattr(request, "member"):
        request.member = None
    return page(request, "error.html", status=status, title=title, text=text)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404."""
    return _error(request, 404, "Page not found", "The requested page was not found.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403 with the reason that was raised."""
    text = str(exception) or "You are not allowed to do this."
    return _error(request, 403, "Access denied", text)


def broken(request: HttpRequest) -> HttpResponse:
    """Answer 500 without the template environment, which may be what broke."""
    return HttpResponse("Something went wrong.\n", status=500, content_type="text/plain")


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form without the token of this session."""
    text = "The form has expired. Go back, load the page again and send it once more."
    return _error(request, 403, "Access denied", text)
