"""Data in a form that a page may hold: JSON in which nothing can end a script or break a line."""

from __future__ import annotations

import json
from typing import Any, Final

_SPECIAL: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def as_json(document: Any) -> str:
    """Return compact JSON of ASCII letters, without `<`, `>` and `&`.

    It may stand in a script of HTML, whatever its texts say: they can neither end the script nor
    open a comment in it, and line separators that JavaScript knows (U+2028) are escaped.

    Raises:
        ValueError: a number is not finite: JSON has no word for it.
    """
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.translate(_SPECIAL)


def as_call(function: str, name: str, document: Any) -> str:
    """Return a script that calls a function of the page with a name and a document.

    A page that was opened from a disk may load scripts, and may fetch nothing. The document is
    handed over as text for `JSON.parse`: no key of it can mean something to JavaScript.
    """
    return f"{function}({as_json(name)},{as_json(as_json(document))});\n"
