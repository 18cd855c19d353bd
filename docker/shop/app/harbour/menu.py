"""Who sees the entries that this shop adds to the dashboard's menu."""

from __future__ import annotations

from typing import Any


def is_merchant(user: Any, *_url: object) -> bool:
    """Tell whether a user sees such an entry, as Oscar asks for it."""
    return bool(user.is_active and user.is_staff)
