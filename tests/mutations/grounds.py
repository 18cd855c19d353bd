"""Where in a site's database and folder the mutations may dig."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Grounds:
    """What mutations by SQL and files need to know of a site.

    Attributes:
        prose: a text column of each of some tables that number their rows.
        copied: of those, the tables where a row may stand twice.
        aside: tables that are no state.
        keys: the columns of the rows' numbers, where they are not called `id`.
    """

    prose: Mapping[str, str]
    copied: tuple[str, ...]
    aside: frozenset[str] = frozenset()
    keys: Mapping[str, str] = field(default_factory=dict)

    def key(self, table: str) -> str:
        """Return the column that numbers a table's rows."""
        return self.keys.get(table, "id")


GROUNDS: Final = {
    "shop": Grounds(
        prose={
            "catalogue_category": "description",
            "catalogue_product": "description",
            "catalogue_productimage": "caption",
            "order_ordernote": "message",
            "reviews_productreview": "body",
        },
        copied=("catalogue_productimage", "order_ordernote"),
    ),
    "forum": Grounds(
        prose={
            "waypost_comment": "body",
            "waypost_forum": "sidebar",
            "waypost_logentry": "reason",
            "waypost_member": "biography",
            "waypost_message": "body",
            "waypost_submission": "body",
        },
        copied=("waypost_logentry", "waypost_submission"),
    ),
    "cms": Grounds(
        prose={
            "wp_comments": "comment_content",
            "wp_posts": "post_content",
            "wp_usermeta": "meta_value",
        },
        copied=("wp_comments", "wp_posts"),
        keys={"wp_comments": "comment_ID", "wp_posts": "ID", "wp_usermeta": "umeta_id"},
    ),
    "kiosk": Grounds(prose={"note": "text"}, copied=("note",), aside=frozenset({"visit"})),
}
