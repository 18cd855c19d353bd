"""The kiosk, a small real site, and the engine that runs it."""

from __future__ import annotations

from kiosk_site import atlas, engine, kiosk

__all__ = ["atlas", "engine", "kiosk"]
