"""URLs, in Postmill's shapes."""

from __future__ import annotations

from django.urls import path, re_path, register_converter

from waypost import paths
from waypost.listing import Sort
from waypost.views import (
    api,
    atom,
    comments,
    errors,
    feeds,
    forums,
    front,
    members,
    messages,
    moderation,
    notifications,
    search,
    sessions,
    submissions,
    votes,
)


class Name:
    """A forum's or a member's name."""

    regex = paths.NAME

    def to_python(self, value: str) -> str:
        """Keep the text."""
        return value

    to_url = to_python


class Order:
    """One of the orders of a list."""

    regex = "|".join(Sort)

    def to_python(self, value: str) -> Sort:
        """Name the order."""
        return Sort(value)

    def to_url(self, value: Sort) -> str:
        """Name it as in paths."""
        return value.value


register_converter(Name, "name")
register_converter(Order, "order")

THREAD = "f/<name:forum>/<int:number>/<slug>"
COMMENT = f"{THREAD}/comment/<int:comment>"

urlpatterns = [
    path("health/", front.health),
    path("", front.home),
    path("<order:sort>", front.home),
    *[
        path(f"{scope}{tail}", front.scoped, {"scope": scope})
        for scope in ("featured", "all", "subscribed", "moderated")
        for tail in ("", "/<order:sort>")
    ],
    path("comments", comments.latest),
    path("<int:number>", submissions.shortcut),
    path("search", search.results),
    # Forums
    path("forums", forums.catalogue),
    path("forums/all", forums.alphabet),
    re_path(r"^forums/(?P<order>by_\w+)(?:/(?P<number>\d+))?$", forums.catalogue),
    path("tag/<slug:tag>", forums.tagged),
    path("create_forum", forums.create),
    path("f/<name:forum>", forums.front),
    path("f/<name:forum>/<order:sort>", forums.front),
    path("f/<name:forum>.json", feeds.forum),
    path("f/<name:forum>.atom", atom.forum),
    path("f/<name:forum>/comments", comments.latest),
    path("f/<name:forum>/edit", forums.edit),
    path("f/<name:forum>/subscribe", forums.subscribe, {"wanted": True}),
    path("f/<name:forum>/unsubscribe", forums.subscribe, {"wanted": False}),
    path("f/<name:forum>/subscribe.json", forums.subscribe, {"wanted": True, "json": True}),
    path("f/<name:forum>/unsubscribe.json", forums.subscribe, {"wanted": False, "json": True}),
    # Moderation
    path("f/<name:forum>/moderators", moderation.moderators),
    path("f/<name:forum>/add_moderator", moderation.add_moderator),
    path("f/<name:forum>/remove_moderator/<int:row>", moderation.remove_moderator),
    path("f/<name:forum>/bans", moderation.bans),
    path("f/<name:forum>/ban/<name:username>", moderation.ban),
    path("f/<name:forum>/unban/<name:username>", moderation.unban),
    path("f/<name:forum>/moderation_log", moderation.log),
    path("f/<name:forum>/trash", moderation.trash),
    *[path(f"{THREAD}/{word}", moderation.mark, {"mark": word}) for word in moderation.MARKS],
    path(f"{THREAD}/mod_delete", moderation.remove_submission),
    path(f"{THREAD}/restore", moderation.restore_submission),
    path(f"{COMMENT}/mod_delete", moderation.remove_comment),
    path(f"{COMMENT}/restore", moderation.restore_comment),
    # Submissions and comments
    path("submit", submissions.submit),
    path("submit/<name:forum>", submissions.submit),
    path("f/<name:forum>/<int:number>.json", feeds.submission),
    path("f/<name:forum>/<int:number>", submissions.thread),
    path(THREAD, submissions.thread),
    path(f"{THREAD}/linear", submissions.thread, {"view": "linear"}),
    path(f"{THREAD}/edit", submissions.edit),
    path(f"{THREAD}/delete", submissions.delete),
    path(f"{THREAD}/comment", comments.write),
    path(f"{COMMENT}.json", feeds.comment),
    path(COMMENT, comments.permalink),
    path(f"{COMMENT}/edit", comments.edit),
    path(f"{COMMENT}/delete", comments.delete),
    path("comment_form/<name:forum>/<int:number>/<int:comment>", comments.form),
    path("sv/<int:number>", votes.submission),
    path("sv/<int:number>.json", votes.submission, {"json": True}),
    path("cv/<int:number>", votes.comment),
    path("cv/<int:number>.json", votes.comment, {"json": True}),
    # Programs
    path("api/users/self", api.myself),
    path("api/submissions", api.submit),
    path("api/submissions/<int:number>", api.submission),
    path("api/submissions/<int:number>/comments", api.comment),
    # Members
    path("login", sessions.login),
    path("login_check", sessions.login_check),
    path("logout", sessions.logout),
    path("log_out", sessions.logout),
    path("registration", sessions.registration),
    path("u/<name:username>", members.shortcut),
    path("user/<name:username>", members.overview),
    path("user/<name:username>.json", feeds.user),
    path("user/<name:username>.atom", atom.user),
    path("user/<name:username>/submissions", members.submissions),
    path("user/<name:username>/comments", members.comments),
    path("user/<name:username>/edit_biography", members.edit_biography),
    path("user/<name:username>/account", members.account),
    path("user/<name:username>/block_list", members.block_list),
    path("user/<name:username>/block_user", members.block),
    path("unblock/<int:row>", members.unblock),
    path("user/<name:username>/compose_message", messages.compose),
    path("notifications", notifications.unread),
    path("notifications/read", notifications.mark_read),
    path("messages", messages.inbox),
    path("messages/thread/<int:number>", messages.thread),
]
handler404 = errors.not_found
handler403 = errors.forbidden
handler500 = errors.broken
