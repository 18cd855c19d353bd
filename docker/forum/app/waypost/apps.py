"""The one application of the forum."""

from __future__ import annotations

from django.apps import AppConfig


class WaypostConfig(AppConfig):
    """Forums, their submissions and comments, and who writes them."""

    name = "waypost"
    label = "waypost"
