"""Every path of the forum, in Postmill's shapes."""

from __future__ import annotations

import re
import unicodedata

NAME = r"\w{3,25}"
SLUG_LENGTH = 60
STEP_DIGITS = 6
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def slug(title: str) -> str:
    """Return a title as it stands in a path: `-` where nothing readable is left."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain.replace("'", "")).strip("-")
    if len(words) > SLUG_LENGTH:
        words = words[:SLUG_LENGTH].rsplit("-", 1)[0]
    return words or "-"


def forum(name: str) -> str:
    """Return the path of a forum."""
    return f"/f/{name}"


def submission(forum_name: str, number: int, title: str) -> str:
    """Return the path of a submission's thread."""
    return f"/f/{forum_name}/{number}/{slug(title)}"


def comment(forum_name: str, submission_number: int, number: int) -> str:
    """Return the path of one comment and what was answered to it."""
    return f"/f/{forum_name}/{submission_number}/-/comment/{number}"


def user(name: str) -> str:
    """Return the path of a member's profile."""
    return f"/user/{name}"


def image(name: str) -> str:
    """Return the path of a submission's image."""
    return f"/submission_images/{name}"


def step(number: int) -> str:
    """Return a comment's own step of its materialised path: sorts as the number does."""
    if not 0 <= number < 36**STEP_DIGITS:
        message = f"comment {number} does not fit {STEP_DIGITS} digits"
        raise ValueError(message)
    digits = []
    for _ in range(STEP_DIGITS):
        number, digit = divmod(number, 36)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


def is_local(target: str) -> bool:
    """Tell whether a redirect target stays on this host: one slash first, no backslash."""
    return bool(re.match(r"/(?![/\\])", target)) and not re.search(r"[\x00-\x20\\]", target)
