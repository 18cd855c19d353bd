"""Gunicorn for a replica: the application loaded once, one process with threads."""

from __future__ import annotations

import logging
from typing import Any

workers = 1
worker_class = "gthread"
threads = 4
preload_app = True
worker_tmp_dir = "/tmp"
accesslog = None
loglevel = "warning"
timeout = 60
graceful_timeout = 5
keepalive = 30


def on_starting(server: Any) -> None:
    """Keep quiet about workers that a rewind killed: that is no lack of memory."""
    server.log.error_log.addFilter(_tells_news)


def _tells_news(record: logging.LogRecord) -> bool:
    return "was sent SIGKILL" not in record.getMessage()
