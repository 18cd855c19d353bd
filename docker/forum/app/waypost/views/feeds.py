"""The same facts as JSON."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse

from waypost.listing import Sort, listing, loaded, visible
from waypost.models import Comment, Forum, Moderator, Submission, Visibility
from waypost.rights import may_read
from waypost.threads import Node, comments_of, tree
from waypost.views.lookup import comment_at, forum_named, member_named, submission_at


def told_submission(one: Submission) -> dict[str, object]:
    """Return what is told of a submission."""
    return {
        "id": one.id,
        "title": one.title,
        "url": one.url or None,
        "body": one.body or None,
        "image": one.image_path or None,
        "imageAlt": one.image_alt or None,
        "forum": one.forum.name,
        "user": one.author.username,
        "timestamp": one.created.isoformat(),
        "editedAt": one.edited.isoformat() if one.edited else None,
        "netScore": one.net_score,
        "upvotes": one.ups,
        "downvotes": one.downs,
        "commentCount": one.comment_count,
        "lastActive": one.last_active.isoformat(),
        "sticky": one.is_sticky,
        "locked": one.is_locked,
        "path": one.path,
    }


def told_comment(one: Comment) -> dict[str, object]:
    """Return what is told of a comment."""
    is_visible = one.visibility == Visibility.VISIBLE
    return {
        "id": one.id,
        "parent": one.parent_id,
        "body": one.body if is_visible else None,
        "user": one.author.username if is_visible else None,
        "timestamp": one.created.isoformat(),
        "editedAt": one.edited.isoformat() if one.edited else None,
        "netScore": one.net_score,
        "upvotes": one.ups,
        "downvotes": one.downs,
        "visibility": one.visibility,
    }


def _node(node: Node) -> dict[str, object]:
    return told_comment(node.comment) | {"replies": [_node(one) for one in node.replies]}


def forum(request: HttpRequest, forum: str) -> HttpResponse:
    """Tell of a forum and its hottest submissions."""
    place: Forum = forum_named(forum)
    keepers = Moderator.objects.filter(forum=place).order_by("id")
    found = listing(visible(None).filter(forum=place), Sort.HOT, request.GET, sticky=True)
    return JsonResponse(
        {
            "id": place.id,
            "name": place.name,
            "title": place.title,
            "description": place.description,
            "sidebar": place.sidebar,
            "tags": place.tag_list,
            "featured": place.featured,
            "created": place.created.isoformat(),
            "subscriberCount": place.subscriber_count,
            "submissionCount": place.submission_count,
            "moderators": list(keepers.values_list("member__username", flat=True)),
            "submissions": [told_submission(one) for one in found.rows],
        }
    )


def submission(request: HttpRequest, forum: str, number: int) -> HttpResponse:
    """Tell of a submission with all its comments."""
    found = submission_at(forum, number)
    if not may_read(None, found, keeper=False):
        raise Http404
    nodes = tree(comments_of(found), set())
    return JsonResponse(told_submission(found) | {"comments": [_node(node) for node in nodes]})


def comment(request: HttpRequest, forum: str, number: int, slug: str, comment: int) -> HttpResponse:
    """Tell of one comment."""
    found = comment_at(forum, number, comment)
    return JsonResponse(told_comment(found) | {"submission": found.submission_id})


def user(request: HttpRequest, username: str) -> HttpResponse:
    """Tell of a member."""
    owner = member_named(username)
    written = visible(None).filter(author=owner)
    comments = Comment.objects.filter(author=owner, visibility=Visibility.VISIBLE)
    return JsonResponse(
        {
            "id": owner.id,
            "username": owner.username,
            "biography": owner.biography,
            "joined": owner.joined.isoformat(),
            "submissionCount": written.count(),
            "commentCount": comments.count(),
            "submissions": [told_submission(one) for one in loaded(written.order_by("-id")[:25])],
        }
    )
