"""The kiosk, a small real site, and the engine that runs it."""

from __future__ import annotations

from support.sites.kiosk_site import engine, kiosk, registry

__all__ = ["engine", "kiosk", "registry"]
