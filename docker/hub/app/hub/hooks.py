"""Runs Git's hooks in the application itself: a hook's own process would load all of Pagure.

`hookrunner`, which every repository's hooks are links to, sends what Git gave it as one line of
JSON to a socket, and ends as it is told.
"""

from __future__ import annotations

import io
import json
import socketserver
from contextlib import redirect_stdout
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import pagure.hooks
import pagure.lib.git
import pagure.lib.model_base
import pagure.lib.query
from pagure.config import config

SOCKET = Path("/run/hub/hooks.sock")
_one = Lock()


class _Asked(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        """Run a hook, and send back its output and exit code."""
        asked = json.loads(self.rfile.readline())
        said = io.StringIO()
        with _one, redirect_stdout(said):
            code = _run(asked)
        self.wfile.write(json.dumps({"code": code, "said": said.getvalue()}).encode())


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


def listen() -> None:
    """Answer hooks from now on, beside the requests."""
    SOCKET.unlink(missing_ok=True)
    Thread(target=_Server(str(SOCKET), _Asked).serve_forever, daemon=True).start()


def _run(asked: dict[str, Any]) -> int:
    """As pagure.hooks.run_hook_file, with what was sent in place of the process's own."""
    told = asked["environment"]
    changes = {
        name: (old, new)
        for old, new, name in (line.split(" ", 2) for line in asked["lines"].splitlines())
    }
    folder = str((Path(asked["folder"]) / told["GIT_DIR"]).resolve())
    session = pagure.lib.model_base.create_session(config["DB_URL"])
    try:
        kind, user, namespace, name = pagure.lib.git.get_repo_info_from_path(folder)
        uid = told.get("pull_request_uid")
        pagure.hooks.run_project_hooks(
            session,
            told.get("GL_USER"),
            pagure.lib.query._get_project(  # noqa: SLF001 - as Pagure's own hooks do
                session, name, user=user, namespace=namespace
            ),
            asked["hook"],
            kind,
            folder,
            changes,
            told.get("internal") == "yes",
            pagure.lib.query.get_request_by_uid(session, uid) if uid else None,
        )
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        session.remove()
    return 0
