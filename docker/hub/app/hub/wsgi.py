"""The application that gunicorn serves: Pagure with this folder's changes."""

from __future__ import annotations

import functools
from typing import Any

import celery.app.task
import flask
import pagure.flask_app
import pagure.lib.git
import pagure.lib.query
import pagure.lib.tasks
import pagure.ui.login
from sqlalchemy import text
from werkzeug.wrappers import Response

from hub import logins, new_files
from hub.queue import Answer, Landing, TaskQueue

QUEUE = TaskQueue()


def _later(task: Any, *args: Any, **kwargs: Any) -> Answer:
    return QUEUE.later(functools.partial(task.run, *args, **kwargs))


def _nothing(*args: Any, **kwargs: Any) -> None:
    del args, kwargs


def _avatar(email: str, size: int = 64, **_more: object) -> str:
    """Return a picture of this site's: Pagure would load it from another."""
    return f"/avatar/{(email or '?')[0].lower()}.svg?s={size}"


def avatar(letter: str) -> Response:
    """Draw the first letter of somebody's address."""
    letter, size = letter[:1], flask.request.args.get("s", default=64, type=int)
    hue = ord(letter) * 47 % 360
    drawn = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10" '
        f'width="{size}" height="{size}">'
        f'<rect width="10" height="10" fill="hsl({hue},45%,45%)"/>'
        '<text x="5" y="7.3" font-family="sans-serif" font-size="7" fill="#fff" '
        f'text-anchor="middle">{letter.upper() if letter.isalnum() else "?"}</text></svg>'
    )
    return flask.Response(drawn, mimetype="image/svg+xml")


def health() -> str:
    """Say that the database answers too."""
    flask.g.session.execute(text("SELECT 1"))
    return "ready"


def drop_odd_key() -> None:
    """Ignore a header that is no "token KEY": Pagure takes whatever stands after "token" in it."""
    given = flask.request.headers.get("Authorization", "")
    if "token" in given and not given.startswith(("token ", "Basic ")):
        del flask.request.environ["HTTP_AUTHORIZATION"]


celery.app.task.Task.delay = _later
pagure.lib.tasks.get_result = QUEUE.answer
# Copies of issues and pull requests as files in further repositories: nobody reads them here.
pagure.lib.git.update_git = _nothing
pagure.lib.git.clean_git = _nothing
pagure.lib.query.get_repotypes = lambda: ("main",)
pagure.lib.query.avatar_url_from_email = _avatar
pagure.ui.login._check_session_cookie = logins.check_session_cookie  # noqa: SLF001

application = pagure.flask_app.create_app()
application.view_functions["ui_ns.do_login"] = logins.do_login
application.before_request(drop_odd_key)
application.add_url_rule("/health", view_func=health)
application.add_url_rule("/avatar/<letter>.svg", view_func=avatar)
application.jinja_env.globals["may_push"] = new_files.may_push
for rule in new_files.RULES:
    application.add_url_rule(rule, "new_file", new_files.new_file, methods=["GET"])
# Pagure answers it to POST alone, which looks like a change.
application.add_url_rule("/api/0/-/me", view_func=application.view_functions["api_ns.api_whoami"])
application.wsgi_app = Landing(application.wsgi_app, QUEUE)
