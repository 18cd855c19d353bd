"""WSGI entry point: loads views and templates before the workers fork."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.wsgi import get_wsgi_application
from django.template.loader import get_template
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "desk.settings")
application = get_wsgi_application()

get_resolver().url_patterns  # noqa: B018  (a cached property: reading it imports all views)
for template in sorted((Path(__file__).parent / "templates").glob("*.html")):
    get_template(template.name)
