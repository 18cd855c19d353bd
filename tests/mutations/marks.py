"""Data of the shop that says who wrote it, and finding every such mark wherever it would show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mutations.files import write_file
from mutations.shop import (
    CUSTOMER,
    MERCHANT,
    rename_product,
    reviews_of,
    title_of,
    write_review,
)
from mutations.subject import Subject
from mutations.visitor import Visitor

_PRODUCT: Final = 60  # none of those that the random changes draw: a customer reviews one once
_MARK: Final = re.compile(r"zqmark-\d+-\d+")
_SQL: Final = (
    "SELECT title FROM catalogue_product WHERE title LIKE 'zqmark-%'"
    " UNION SELECT body FROM reviews_productreview WHERE body LIKE 'zqmark-%'"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """What one slot writes in one lease: nobody else ever writes the same.

    Attributes:
        slot: who writes it.
        lease: which of its leases it is.
    """

    slot: int
    lease: int

    def __str__(self) -> str:
        return f"zqmark-{self.slot}-{self.lease}"

    async def leave(self, subject: Subject) -> None:
        """Write it as a product's title, as a review, and as a file."""
        text = str(self)
        await subject.http(MERCHANT, lambda visitor: rename_product(visitor, _PRODUCT, text))
        await subject.http(CUSTOMER, lambda visitor: write_review(visitor, _PRODUCT, text))
        await write_file(subject, f"{text}.txt", text)


@dataclass(frozen=True, slots=True)
class Sighting:
    """Whose marks a replica shows, by the way they were looked for."""

    pages: frozenset[str]
    rows: frozenset[str]
    files: frozenset[str]

    @classmethod
    def of(cls, *marks: Mark) -> Sighting:
        """Return how a replica looks that holds just these."""
        texts = frozenset(map(str, marks))
        return cls(pages=texts, rows=texts, files=texts)


async def look(subject: Subject) -> Sighting:
    """Look for marks on pages, in tables and among files; every way finds them all."""
    pages = await subject.http(CUSTOMER, _on_pages)
    rows = await subject.sql(_SQL)
    files = await subject.shell('ls "$1"', subject.folder)
    return Sighting(pages, *(frozenset(_MARK.findall(text)) for text in ("\n".join(rows), files)))


def _on_pages(visitor: Visitor) -> frozenset[str]:
    seen = title_of(visitor, _PRODUCT) + reviews_of(visitor, _PRODUCT)
    return frozenset(_MARK.findall(seen))
