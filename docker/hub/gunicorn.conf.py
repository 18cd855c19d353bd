"""Gunicorn for a replica: the application loaded once, one process with threads."""

from __future__ import annotations

import gc
import logging
from typing import Any

workers = 1
worker_class = "gthread"
threads = 4
preload_app = True
worker_tmp_dir = "/tmp"
accesslog = None
loglevel = "warning"
timeout = 90
graceful_timeout = 5
keepalive = 30


def on_starting(server: Any) -> None:
    """Keep quiet about workers that a rewind killed: that is no lack of memory."""
    server.log.error_log.addFilter(_tells_news)


def pre_fork(server: Any, worker: Any) -> None:
    """Leave what was loaded out of later collections: Pagure collects after each request."""
    del server, worker
    gc.collect()
    gc.freeze()


def post_worker_init(worker: Any) -> None:
    """Answer Git's hooks in the process that serves."""
    del worker
    from hub.hooks import listen  # noqa: PLC0415 - after the application, which changes Pagure

    listen()


def _tells_news(record: logging.LogRecord) -> bool:
    return "was sent SIGKILL" not in record.getMessage()
