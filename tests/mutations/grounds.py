"""Where in a site's database and folder the mutations may dig."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Grounds:
    """What mutations by SQL and files need to know of a site.

    Attributes:
        prose: a text column of each of some tables; all of them number their rows by `id`.
        copied: of those, the tables where a row may stand twice.
        aside: tables that are no state.
    """

    prose: Mapping[str, str]
    copied: tuple[str, ...]
    aside: frozenset[str] = frozenset()


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
    "kiosk": Grounds(prose={"note": "text"}, copied=("note",), aside=frozenset({"visit"})),
}
