"""What the page of a run and the page of a study share: templates, filters, style and policy.

A page shows what agents and web pages wrote: everything is escaped, and its content security policy
lets nothing run or load but the page's own.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from orchestrator.analysis.wording import duration, interval, money, p_said, percent, points

_SHARED: Final = "orchestrator.analysis"
_FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "percent": percent,
    "interval": interval,
    "duration": duration,
    "money": money,
    "p_said": p_said,
    "points": points,
    "count": "{:,.0f}".format,
}


def render_page(
    package: str,
    template: str,
    *,
    style: str,
    images: str,
    scripts: Sequence[str] = (),
    filters: Mapping[str, Callable[..., Any]] | None = None,
    **context: Any,
) -> str:
    """Return a page as HTML; its template extends `base.html`.

    Args:
        package: whose folder `templates` holds the page's own template, style and scripts.
        style: name of its style sheet, which follows the shared one.
        images: where its images may come from, as the policy says it.
        filters: its own, beside the shared ones.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(_SHARED)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {**_FILTERS, **(filters or {})}
    sheet = _source(_SHARED, "base.css") + _source(package, style)
    script = "\n".join(_source(package, name) for name in scripts)
    return environment.get_template(template).render(
        style=Markup(sheet),  # noqa: S704 - our own files
        script=Markup(script),  # noqa: S704 - our own files
        policy=content_policy(sheet, images=images, script=script),
        **context,
    )


def content_policy(style: str, *, images: str, script: str) -> str:
    """Return a policy that lets nothing run or load but the page's own, by their hashes.

    `strict-dynamic` lets the page's own script load further files, also from a disk, and nothing
    else run: no markup that found its way into the page can.
    """
    scripts = (f"script-src '{_hash(script)}' 'strict-dynamic'",) if script else ()
    return "; ".join(
        (
            "default-src 'none'",
            *scripts,
            f"style-src '{_hash(style)}'",
            f"img-src {images}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _source(package: str, name: str) -> str:
    return (files(package) / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
