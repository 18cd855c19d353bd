"""The application server: `python3 -m harbour.serve --config … harbour.wsgi:application`."""

from __future__ import annotations

import gc
import io
import signal
import sys

from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError, connections
from gunicorn.app.wsgiapp import WSGIApplication
from gunicorn.arbiter import Arbiter


class WarmArbiter(Arbiter):
    """The parent of the workers: it draws the main pages once, so that workers fork warm.

    The first worker serves ahead of that, and is then replaced by a warm one.
    """

    warm = False

    def manage_workers(self) -> None:
        """Keep the workers at their number; called at least once a second."""
        super().manage_workers()
        if self.warm or not self.WORKERS:
            return
        self.warm = all(self._draw(page) for page in settings.WARM_PAGES)
        _forget_rows()
        gc.collect()
        gc.freeze()
        if self.warm:
            self.kill_workers(signal.SIGTERM)

    def _draw(self, page: str) -> bool:
        """Draw one page; say no where the database is on its way: it is tried again later."""
        try:
            connections["default"].ensure_connection()
        except DatabaseError:
            return False
        path, _, query = page.partition("?")
        told: list[str] = []
        environment = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(),
            "wsgi.errors": sys.stderr,
        }
        answer = self.app.wsgi()(environment, lambda status, _: told.append(status))
        for _ in answer:
            pass
        answer.close()
        return not told[0].startswith("5")


def _forget_rows() -> None:
    """Forget all that was read from the database: it may be another one after a rewind."""
    from django.contrib.contenttypes.models import ContentType  # needs the loaded application
    from django.contrib.sites.models import Site

    connections.close_all()
    caches["default"].clear()
    ContentType.objects.clear_cache()
    Site.objects.clear_cache()


class Shop(WSGIApplication):
    """gunicorn with the parent from above."""

    def run(self) -> None:
        """Serve until TERM."""
        WarmArbiter(self).run()


if __name__ == "__main__":
    Shop("%(prog)s [OPTIONS] [APP_MODULE]", prog="serve").run()
