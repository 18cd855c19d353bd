"""WSGI entry point; pages that matter are rendered from warm templates after the first request."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "harbour.settings")
application = get_wsgi_application()
