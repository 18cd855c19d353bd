"""WSGI entry point: loads URLs and the templates of the main pages before the workers fork."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application
from django.template.loader import get_template
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "harbour.settings")
application = get_wsgi_application()

MAIN_PAGES = ("harbour/home.html", "oscar/catalogue/browse.html", "oscar/catalogue/detail.html")
get_resolver().url_patterns  # noqa: B018  (a cached property: reading it imports all views)
for page in MAIN_PAGES:
    get_template(page)
