"""WebCanvas' URL functions (`evaluate/step_score.py`): what of a URL is compared."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlparse


def compared(url: str, key: str, *, is_whole: bool) -> str | None:
    """Return the text that is compared: a parameter's, or the URL's; None where there is none.

    Only the first of repeated parameters is seen, and none with an empty value. Without a name it
    is the whole raw URL, or host, path and fragment. All is decoded once more.
    """
    try:
        parsed = urlparse(url)
        if key:
            return unquote(parse_qs(parsed.query)[key][0])
    except (KeyError, ValueError):
        return None
    if is_whole:
        return unquote(url)
    fragment = f"#{parsed.fragment}" if parsed.fragment else ""
    return unquote(parsed.netloc + parsed.path + fragment)


def netloc_label(url: str) -> str:
    """Return what it calls a netloc: the first label of the host, a leading `www…` left out."""
    host = urlparse(url).netloc
    found = re.match(r".*?\.(.*?)\." if host.startswith("www") else r"(.*?)\.", host)
    return found.group(1) if found else ""
