"""Pages from templates, and what a request says about the visitor's map."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote, unquote

import falcon
from falcon.asgi import Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from mapsite.atlas import View

_COOKIE = "_osm_location"
_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_templates.filters["asjson"] = lambda value: Markup(json.dumps(value).replace("<", "\\u003c"))  # noqa: S704
_templates.filters["quoted"] = lambda text: quote(str(text), safe="")


def show(resp: Response, template: str, title: str, **values: object) -> None:
    """Answer with a page.

    Args:
        resp: what is answered.
        template: its file.
        title: the page's, before the site's name.
        values: what the template is filled with; `shape` is what the map shows and zooms to.
    """
    page = _templates.get_template(template)
    resp.content_type = falcon.MEDIA_HTML
    resp.text = page.render(title=title, **{"query": "", "shape": None, **values})


def view_of(req: Request) -> View | None:
    """Return what the visitor's map showed last, as the page remembers it in a cookie."""
    parts = unquote((req.cookies or {}).get(_COOKIE, "")).split("|")
    try:
        return View(lon=float(parts[0]), lat=float(parts[1]), zoom=max(3, min(19, int(parts[2]))))
    except (ValueError, IndexError):
        return None


def number_of(req: Request, name: str) -> float | None:
    """Return a parameter as a number, or None where it is none."""
    try:
        return float(req.get_param(name) or "")
    except ValueError:
        return None
