"""The first page, and the health probe."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from desk.models import Note


def home(request: HttpRequest) -> HttpResponse:
    """Show what there is."""
    return render(request, "home.html")


def health(request: HttpRequest) -> HttpResponse:
    """Answer `ready` and the number of notes, which only a working database can tell."""
    return HttpResponse(f"ready {Note.objects.count()} notes\n", content_type="text/plain")
