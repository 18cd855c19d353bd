"""The books that the library serves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """One ZIM: its name in addresses, and what every page of it shows.

    letter stands on its icon; footer holds the titles of pages that every page links.
    """

    name: str
    title: str
    description: str
    tagline: str
    footer: tuple[str, ...]
    main: str
    letter: str


WIKI = Book(
    name="wiki",
    title="Wikipedia",
    description="An encyclopedia on everyday things, on places and on the county of Merrowshire",
    tagline="From Wikipedia, the free encyclopedia",
    footer=("Main Page", "About this encyclopedia"),
    main="Main Page",
    letter="W",
)
MANUALS = Book(
    name="manuals",
    title="Manuals",
    description="The users' handbooks of the shop, the newspaper's editors and the forge",
    tagline="From the users' handbooks",
    footer=("Handbooks",),
    main="Handbooks",
    letter="M",
)
