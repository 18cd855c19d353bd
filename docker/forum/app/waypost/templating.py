"""The template environment, and the answer that a page is."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.contrib.messages import get_messages
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from jinja2 import Environment
from markupsafe import Markup, escape

from waypost import clock, markdown, notices, paths

MINUS = "\N{MINUS SIGN}"


def environment(**options: object) -> Environment:
    """Return Jinja's environment with the filters that pages use."""
    made = Environment(trim_blocks=True, lstrip_blocks=True, **options)  # noqa: S701  Django sets autoescape
    made.globals.update(site_name=settings.SITE_NAME, paths=paths)
    made.filters.update(
        markdown=lambda text: Markup(markdown.render(text)),  # noqa: S704  it escapes what it is given
        time=_time,
        count=_count,
        score=_score,
    )
    return made


def page(
    request: HttpRequest, template: str, *, status: int = 200, **context: object
) -> HttpResponse:
    """Answer with a page that knows its reader."""
    context |= {
        "request": request,
        "member": request.member,
        "token": get_token(request),
        "alerts": list(get_messages(request)),
        "unread": len(notices.unread(request.member)) if request.member else 0,
    }
    return HttpResponse(render_to_string(template, context), status=status)


def _time(moment: datetime) -> Markup:
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        moment.isoformat(timespec="seconds"), clock.full(moment), clock.ago(moment)
    )


def _score(number: int) -> str:
    return f"{number:,}" if number >= 0 else f"{MINUS}{-number:,}"


def _count(number: int, singular: str, plural: str = "") -> Markup:
    noun = singular if number == 1 else plural or f"{singular}s"
    return escape(f"{f'{number:,}' if number else 'No'} {noun}")
