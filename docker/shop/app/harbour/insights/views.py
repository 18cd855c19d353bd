"""A visitor who found nothing may say so: the one way in which a search is recorded."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from harbour.insights.models import Search


@require_POST
def wanted(request: HttpRequest) -> HttpResponse:
    """Record the words that found nothing, for the report on search terms."""
    query = request.POST.get("q", "").strip().lower()[:120]
    if query:
        user = request.user if request.user.is_authenticated else None
        Search.objects.create(query=query, results=0, user=user)
        messages.success(request, f"Thank you: we have noted “{query}”.")
    return redirect(f"{reverse('search:search')}?{urlencode({'q': query})}")
