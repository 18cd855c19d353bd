"""The browser that episodes run in: Chromium through Playwright, watched from an isolated world."""

from __future__ import annotations
