"""A page for a new file: Pagure's editor opens files that are there, and saves under any name."""

from __future__ import annotations

import posixpath

import flask
import pagure.forms
import pagure.lib.query
import pagure.utils
import pygit2
from werkzeug.wrappers import Response

RULES = tuple(
    f"{project}/new/<path:branchname>/"
    for project in (
        "/<repo>",
        "/<namespace>/<repo>",
        "/fork/<username>/<repo>",
        "/fork/<username>/<namespace>/<repo>",
    )
)


def may_push(branchname: str) -> bool:
    """Tell whether the visitor may push to a branch, as Git's hook would, which knows no admin."""
    if not pagure.utils.authenticated():
        return False
    return pagure.utils.is_repo_collaborator(
        flask.g.repo, f"refs/heads/{branchname}", flask.g.fas_user.username, flask.g.session
    )


@pagure.utils.login_required
def new_file(
    repo: str, branchname: str, username: str | None = None, namespace: str | None = None
) -> Response | str:
    """Show an empty editor for the file that is asked for, or the editor of one that is there."""
    if not may_push(branchname):
        flask.abort(403, description="You are not allowed to edit files in this project")
    if branchname not in flask.g.repo_obj.listall_branches():
        flask.abort(404, description="Branch not found")
    folder, name = (flask.request.args.get(one, "").strip() for one in ("folder", "name"))
    path = posixpath.normpath(posixpath.join(folder, name))
    where = {"repo": repo, "username": username, "namespace": namespace}
    if not name or path.startswith(("/", "..")) or ".git" in path.split("/"):
        flask.flash("A file needs a name below the project's folder", "error")
        return flask.redirect(flask.url_for("ui_ns.view_tree", identifier=branchname, **where))
    tree = flask.g.repo_obj.lookup_branch(branchname).peel(pygit2.Commit).tree
    if path in tree:
        flask.flash(f"{path} is there already", "error")
        return flask.redirect(
            flask.url_for("ui_ns.view_file", identifier=branchname, filename=path, **where)
        )
    user = pagure.lib.query.search_user(flask.g.session, username=flask.g.fas_user.username)
    form = pagure.forms.EditFileForm(emails=user.emails)
    form.email.data, form.commit_title.data = user.default_email, f"Add {path}"
    return flask.render_template(
        "edit_file.html",
        select="tree",
        repo=flask.g.repo,
        username=username,
        branchname=branchname,
        data="",
        filename=path,
        form=form,
        user=user,
    )
