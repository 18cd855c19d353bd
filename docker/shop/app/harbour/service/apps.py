"""Customer service: the contact form and the newsletter."""

from __future__ import annotations

from django.apps import AppConfig


class ServiceConfig(AppConfig):
    """Messages from visitors, and who reads the newsletter."""

    name = "harbour.service"
    label = "service"
