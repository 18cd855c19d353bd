"""Returns: a customer asks, the merchant decides and refunds."""

from __future__ import annotations

from django.apps import AppConfig


class ReturnsConfig(AppConfig):
    """What comes back, line by line."""

    name = "harbour.returns"
    label = "returns"
