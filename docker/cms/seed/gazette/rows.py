"""Rows of WordPress' tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from gazette.accounts import APPLICATION_PASSWORD, LEVELS, LOCKED, Account
from gazette.chrome import FOOTER_PAGES, Term
from gazette.clock import NOW, OPENED, stamp
from gazette.pages import Page
from gazette.php import Value, hashed, serialised
from gazette.pictures import Picture
from gazette.sources import slug
from gazette.story import Story
from gazette.talk import Comment

SITE = "http://cms.arena.test"
NEVER = "0000-00-00 00:00:00"
TABLES = {
    "users": "ID user_login user_pass user_nicename user_email user_url user_registered user_activation_key user_status display_name",
    "usermeta": "umeta_id user_id meta_key meta_value",
    "posts": "ID post_author post_date post_date_gmt post_content post_title post_excerpt post_status comment_status ping_status"
    " post_password post_name to_ping pinged post_modified post_modified_gmt post_content_filtered post_parent guid menu_order"
    " post_type post_mime_type comment_count",
    "postmeta": "meta_id post_id meta_key meta_value",
    "comments": "comment_ID comment_post_ID comment_author comment_author_email comment_author_url comment_author_IP comment_date"
    " comment_date_gmt comment_content comment_karma comment_approved comment_agent comment_type comment_parent user_id",
    "terms": "term_id name slug term_group",
    "term_taxonomy": "term_taxonomy_id term_id taxonomy description parent count",
    "term_relationships": "object_id term_taxonomy_id term_order",
}
Cell = int | str


class Rows:
    """Collects the rows of all tables in the order in which they are written."""

    def __init__(self) -> None:
        self.tables: dict[str, list[tuple[Cell, ...]]] = {name: [] for name in TABLES}

    def account(self, one: Account, prefer: dict[str, Value]) -> None:
        """Add an account; `prefer` holds further meta."""
        password = hashed(one.password) if one.password else LOCKED
        nice = one.login.replace(".", "-")
        self.tables["users"].append(
            (one.id, one.login, password, nice, one.email, "", stamp(one.since), "", 0, one.name)
        )
        level = LEVELS[one.role]
        meta: dict[str, Value] = {
            "nickname": one.login,
            "first_name": one.first,
            "last_name": one.last,
            "description": one.about,
            "rich_editing": "true",
            "syntax_highlighting": "true",
            "comment_shortcuts": "false",
            "admin_color": "fresh",
            "use_ssl": "0",
            "show_admin_bar_front": "true",
            "locale": "",
            "wp_capabilities": {one.role: True},
            "wp_user_level": str(level),
            "dismissed_wp_pointers": "",
            **prefer,
        }
        self._meta("usermeta", one.id, meta)

    def post(
        self,
        number: int,
        *,
        author: int,
        date: datetime,
        title: str,
        name: str,
        kind: str,
        content: str = "",
        excerpt: str = "",
        status: str = "publish",
        comments: bool = False,
        parent: int = 0,
        order: int = 0,
        mime: str = "",
        count: int = 0,
        guid: str = "",
        meta: dict[str, Value] | None = None,
    ) -> None:
        """Add a row of wp_posts, and its meta."""
        at = stamp(date)
        open_or_closed = "open" if comments else "closed"
        unborn = status in {"draft", "pending", "auto-draft"}
        self.tables["posts"].append(
            (
                number,
                author,
                at,
                NEVER if unborn else at,
                content,
                title,
                excerpt,
                status,
                open_or_closed,
                "closed",
                "",
                name,
                "",
                "",
                at,
                at,
                "",
                parent,
                guid or f"{SITE}/?p={number}",
                order,
                kind,
                mime,
                count,
            )
        )
        self._meta("postmeta", number, meta or {})

    def comment(self, one: Comment) -> None:
        """Add a comment."""
        at = stamp(one.date)
        self.tables["comments"].append(
            (
                one.id,
                one.story.id,
                one.name,
                one.reader.email,
                one.reader.url,
                one.address,
                at,
                at,
                one.text,
                0,
                one.approved,
                one.agent,
                "comment",
                one.parent.id if one.parent else 0,
                one.reader.account,
            )
        )

    def term(self, one: Term) -> None:
        """Add a term; its taxonomy row has the same id."""
        self.tables["terms"].append((one.id, one.name.replace("&", "&amp;"), one.slug, 0))
        self.tables["term_taxonomy"].append(
            (one.id, one.id, one.taxonomy, one.about, one.parent, one.count)
        )

    def relate(self, number: int, terms: Iterable[Term]) -> None:
        """Say which terms a post has."""
        for term in sorted(terms, key=lambda one: one.id):
            self.tables["term_relationships"].append((number, term.id, 0))

    def _meta(self, table: str, owner: int, meta: dict[str, Value]) -> None:
        rows = self.tables[table]
        for key, value in meta.items():
            rows.append(
                (
                    len(rows) + 1,
                    owner,
                    key,
                    value
                    if isinstance(value, str)
                    else str(value)
                    if type(value) is int
                    else serialised(value),
                )
            )


def add_accounts(
    rows: Rows, accounts: Sequence[Account], drafts: dict[int, int], menu: Term
) -> None:
    """Add all accounts; `drafts` is the empty draft of the dashboard, by account.

    What WordPress would note when somebody first looks at a page of the administration is there.
    """
    calm: Value = {
        "core/edit-post": {"welcomeGuide": False, "isComplementaryAreaVisible": True},
        "core/edit-widgets": {"welcomeGuide": False, "isComplementaryAreaVisible": True},
        "core/customize-widgets": {"welcomeGuide": False},
        "_modified": "2026-10-01T09:00:00.000Z",
    }
    for one in accounts:
        prefer: dict[str, Value] = {}
        if one.role != "subscriber":
            prefer["wp_persisted_preferences"] = calm
        if one.id in drafts:
            prefer["wp_dashboard_quick_press_last_post_id"] = str(drafts[one.id])
        if one.role == "administrator":
            prefer["show_welcome_panel"] = "0"
            prefer["nav_menu_recently_edited"] = str(menu.id)
            prefer["managenav-menuscolumnshidden"] = [
                "link-target",
                "css-classes",
                "xfn",
                "description",
                "title-attribute",
            ]
            prefer["metaboxhidden_nav-menus"] = ["add-post_tag"]
            prefer["_application_passwords"] = [
                {
                    "uuid": "4b1d6f0e-5a51-4a63-9d0e-6f1c2b7a8d90",
                    "app_id": "",
                    "name": "Arena",
                    "password": hashed(APPLICATION_PASSWORD.replace(" ", "")),
                    "created": int(OPENED.timestamp()),
                    "last_used": None,
                    "last_ip": None,
                }
            ]
        rows.account(one, prefer)


def add_pictures(
    rows: Rows, saved: Sequence[tuple[int, Picture, str, dict[str, Any], datetime]], author: int
) -> None:
    """Add the media library: id, picture, folder below uploads, its files by size, and when it was uploaded."""
    for number, picture, folder, files, date in saved:
        name, wide, high, size = files["full"]
        sizes: dict[str | int, Value] = {
            key: {
                "file": file,
                "width": w,
                "height": h,
                "mime-type": "image/png",
                "filesize": length,
            }
            for key, (file, w, h, length) in files.items()
            if key != "full"
        }
        exif: dict[str | int, Value] = dict.fromkeys(
            (
                "aperture",
                "credit",
                "camera",
                "caption",
                "created_timestamp",
                "copyright",
                "focal_length",
                "iso",
                "shutter_speed",
                "title",
                "orientation",
            ),
            "0",
        )
        exif.update(dict.fromkeys(("credit", "camera", "caption", "copyright", "title"), ""))
        meta: dict[str, Value] = {
            "_wp_attached_file": f"{folder}/{name}",
            "_wp_attachment_metadata": {
                "width": wide,
                "height": high,
                "file": f"{folder}/{name}",
                "filesize": size,
                "sizes": sizes,
                "image_meta": {**exif, "keywords": []},
            },
            "_wp_attachment_image_alt": picture.alt,
        }
        rows.post(
            number,
            author=author,
            date=date,
            title=picture.title,
            name=picture.slug,
            kind="attachment",
            excerpt=picture.caption,
            content=f"{picture.alt}.",
            status="inherit",
            mime="image/png",
            comments=False,
            guid=f"{SITE}/wp-content/uploads/{folder}/{name}",
            meta=meta,
        )


def add_stories(
    rows: Rows, stories: Sequence[Story], categories: Sequence[Term], tags: Sequence[Term]
) -> None:
    """Add the articles with their terms; counts the published ones in the terms."""
    by_key = {term.key: term for term in categories}
    by_slug = {term.slug: term for term in tags}
    for story in stories:
        terms = [
            by_key[story.category],
            *{slug(tag): by_slug[slug(tag)] for tag in story.tags}.values(),
        ]
        rows.post(
            story.id,
            author=story.author,
            date=story.date,
            title=story.title,
            name="" if story.status in {"draft", "pending"} else story.slug,
            kind="post",
            content="\n\n".join(story.blocks),
            excerpt=story.excerpt,
            status=story.status,
            comments=True,
            count=story.comments,
            meta={"_thumbnail_id": str(story.picture)} if story.picture else {},
        )
        rows.relate(story.id, terms)
        for term in terms:
            term.count += story.status == "publish"


def add_pages(rows: Rows, pages: Sequence[Page], first: int, author: int) -> None:
    """Add the standing pages and give them their ids."""
    for number, page in enumerate(pages, start=first):
        page.id = number
        rows.post(
            number,
            author=author,
            date=OPENED,
            title=page.title,
            name=page.slug,
            kind="page",
            content="\n\n".join(page.blocks),
            parent=page.parent.id if page.parent else 0,
            order=page.order,
        )


def add_menus(
    rows: Rows, menus: Sequence[Term], sections: Sequence[Term], pages: Sequence[Page], first: int
) -> None:
    """Add both menus: the sections with what is below them, and the small print."""
    number = first
    made: dict[int, int] = {}
    below: dict[int, list[Term]] = defaultdict(list)
    for term in sections:
        below[term.parent].append(term)
    number = _item(
        rows,
        menus[0],
        number,
        1,
        "Home",
        {"type": "custom", "object": "custom", "object_id": number, "url": "/"},
        0,
    )
    for top in below[0]:
        for term in (top, *below[top.id]) if top.key else ():
            made[term.id] = number
            what: dict[str, Value] = {
                "type": "taxonomy",
                "object": "category",
                "object_id": term.id,
                "url": "",
            }
            number = _item(
                rows, menus[0], number, number - first + 1, "", what, made.get(term.parent, 0)
            )
    guide = next(page for page in pages if page.title == "Visitors' guide")
    for page in (guide, *(one for one in pages if one.parent is guide)):
        made[page.id] = number
        what = {"type": "post_type", "object": "page", "object_id": page.id, "url": ""}
        number = _item(
            rows,
            menus[0],
            number,
            number - first + 1,
            "",
            what,
            made[guide.id] if page is not guide else 0,
        )
    for place, title in enumerate(FOOTER_PAGES, start=1):
        page = next(one for one in pages if one.title == title)
        what = {"type": "post_type", "object": "page", "object_id": page.id, "url": ""}
        number = _item(rows, menus[1], number, place, "", what, 0)


def _item(
    rows: Rows, menu: Term, number: int, order: int, title: str, what: dict[str, Value], parent: int
) -> int:
    meta: dict[str, Value] = {
        "_menu_item_type": what["type"],
        "_menu_item_menu_item_parent": str(parent),
        "_menu_item_object_id": str(what["object_id"]),
        "_menu_item_object": what["object"],
        "_menu_item_target": "",
        "_menu_item_classes": [""],
        "_menu_item_xfn": "",
        "_menu_item_url": what["url"],
    }
    rows.post(
        number,
        author=1,
        date=OPENED,
        title=title,
        name=str(number),
        kind="nav_menu_item",
        order=order,
        meta=meta,
    )
    rows.relate(number, [menu])
    menu.count += 1
    return number + 1


def add_dashboard_drafts(rows: Rows, drafts: dict[int, int]) -> None:
    """Add the empty draft that WordPress would make when an account first sees the dashboard."""
    for account, number in drafts.items():
        rows.post(
            number,
            author=account,
            date=NOW,
            title="Auto Draft",
            name="",
            kind="post",
            status="auto-draft",
            comments=True,
        )
