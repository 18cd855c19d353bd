"""The application that gunicorn loads: Tryton with its modules, and the pages beside it.

Modules are loaded once, from the pristine database, before a worker is forked; the workers open the
live one.
"""

from __future__ import annotations

from typing import Any

from trytond import security
from trytond.config import config
from trytond.pool import Pool

DATABASE = "erp"
_PRISTINE = "/srv/erp/pristine/db"


def _write_nothing(*_asked: object, **_more: object) -> None:
    """Leave a session's row as it is, where Tryton dates it anew with each call that only reads."""


def _load() -> Any:
    from trytond.wsgi import app  # the routes of modules are added to it while they load

    live = config.get("database", "path")
    config.set("database", "path", _PRISTINE)
    Pool.start()
    Pool(DATABASE).init()
    config.set("database", "path", live)
    security.reset = _write_nothing  # sessions last as long as an episode
    return app


tryton = _load()

from frontdoor import pages  # noqa: E402  its routes need Tryton's

application = pages.with_cookie(tryton)
