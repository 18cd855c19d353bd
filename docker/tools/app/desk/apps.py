"""The one application of the desk."""

from __future__ import annotations

from django.apps import AppConfig


class DeskConfig(AppConfig):
    """Members and their notes."""

    name = "desk"
    label = "desk"
