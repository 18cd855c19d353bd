"""Logins that leave no row: the cookie says who it is and is signed; a new password ends it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import flask
import pagure.config
import pagure.lib.login
import pagure.lib.model_base
import pagure.lib.query
import pagure.login_forms
import pagure.ui.login
import pagure.utils
from itsdangerous import BadSignature, URLSafeSerializer
from pagure.exceptions import PagureException
from werkzeug.wrappers import Response

_SIGNED = URLSafeSerializer(pagure.config.config["SECRET_KEY"], salt="hub-login")
_MARK = 12  # the end of a password's hash


def check_session_cookie() -> None:
    """Say who asks; in place of Pagure's, which looks up a row and moves its end on each page."""
    if not flask.g.get("session"):
        flask.g.session = pagure.lib.model_base.create_session(flask.current_app.config["DB_URL"])
    flask.g.fas_session_id = None
    cookie = flask.request.cookies.get(
        f"{pagure.config.config['SESSION_COOKIE_NAME']}_local_cookie"
    )
    if not cookie:
        return
    try:
        told = _SIGNED.loads(cookie)
    except BadSignature:
        return
    user = pagure.lib.query.search_user(flask.g.session, username=told["user"])
    if user is None or told["mark"] != user.password[-_MARK:]:
        return
    flask.g.fas_session_id = cookie
    _be(user, dt.datetime.fromisoformat(told["at"]))


def do_login() -> Response:
    """Log in; in place of Pagure's, which writes a row."""
    pagure.ui.login.logout()
    form = pagure.login_forms.LoginForm()
    following = flask.request.form.get("next_url")
    if not following or following == "None" or not pagure.utils.is_safe_url(following):
        following = flask.url_for("ui_ns.index")
    if not form.validate_on_submit():
        flask.flash("Insufficient information provided", "error")
        return flask.redirect(flask.url_for("auth_login"))
    name = form.username.data
    try:
        pagure.lib.login.check_username_and_password(flask.g.session, name, form.password.data)
    except PagureException as error:
        flask.flash(str(error), "error")
        return flask.redirect(flask.url_for("auth_login"))
    user = pagure.lib.query.search_user(flask.g.session, username=name)
    now = dt.datetime.now(dt.UTC).replace(tzinfo=None, microsecond=0)
    told = {"user": user.user, "at": now.isoformat(), "mark": user.password[-_MARK:]}
    flask.g.fas_session_id = _SIGNED.dumps(told)
    _be(user, now)
    flask.flash(f"Welcome {user.user}")
    return flask.redirect(following)


def _be(user: Any, since: dt.datetime) -> None:
    flask.g.fas_user = user
    user.email = user.default_email
    user.login_time = since
    flask.g.authenticated = pagure.utils.authenticated()
