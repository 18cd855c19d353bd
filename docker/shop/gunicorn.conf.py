"""Gunicorn for a replica: the application loaded once, one small process with threads per core."""

from __future__ import annotations

workers = 2
worker_class = "gthread"
threads = 4
preload_app = True
worker_tmp_dir = "/tmp"
control_socket_disable = True
accesslog = None
loglevel = "warning"
timeout = 60
graceful_timeout = 5
keepalive = 30
