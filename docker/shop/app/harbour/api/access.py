"""Who asks: HTTP Basic with e-mail and password, or, to read, the cookie of a logged-in browser."""

from __future__ import annotations

import base64
import binascii
from functools import partial
from typing import Any

from django.contrib.auth import authenticate
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_exempt
from django.views.generic import View

CHALLENGE = {"WWW-Authenticate": 'Basic realm="Harbour & Pine API"'}
pretty = partial(JsonResponse, json_dumps_params={"indent": 1, "ensure_ascii": False})


def refusal(status: int, detail: object) -> HttpResponse:
    """Return an error as JSON."""
    answer = pretty({"detail": detail}, status=status)
    for name, value in CHALLENGE.items() if status == 401 else ():
        answer[name] = value
    return answer


def caller(request: HttpRequest) -> Any | None:
    """Return the user of the Authorization header, else of the session; None for a wrong header.

    A session counts for reading alone: a page of another site could write with it.
    """
    header = request.headers.get("Authorization", "")
    if not header:
        return request.user
    scheme, _, credentials = header.partition(" ")
    try:
        name, _, password = base64.b64decode(credentials, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    if scheme.lower() != "basic":
        return None
    return authenticate(request, username=name, password=password)


@method_decorator(csrf_exempt, name="dispatch")
class ApiView(View):
    """A JSON view; `needs` says who may use it."""

    needs: str = "nobody"  # nobody in particular, "customer" or "merchant"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Find out who asks before anything is looked up."""
        user = caller(request)
        if user is None:
            return refusal(401, "Wrong e-mail or password.")
        is_reading = request.method in {"GET", "HEAD", "OPTIONS"}
        if not is_reading and "Authorization" not in request.headers:
            return refusal(401, "Writing needs HTTP Basic with e-mail and password.")
        if self.needs != "nobody" and not user.is_authenticated:
            return refusal(401, "Log in with HTTP Basic, e-mail and password.")
        if (self.needs == "merchant" or not is_reading) and not user.is_staff:
            return refusal(403, "This is for the merchant.")
        self.user = user
        try:
            return super().dispatch(request, *args, **kwargs)
        except Http404:
            return refusal(404, "There is no such thing.")
