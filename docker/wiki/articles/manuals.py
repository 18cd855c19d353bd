"""The users' handbooks of the other sites, written by hand: manuals/ beside this folder."""

from __future__ import annotations

from pathlib import Path

from draft import Draft, DraftBullets, DraftSection
from handwritten import entries, paragraphs
from linking import Linker
from model import Article, Layout

HERE = Path(__file__).parents[1] / "manuals"
CONTENTS = "Handbooks"
# A handbook's file, its name, and what it is about, in the order of the contents.
BOOKS = (
    ("shop", "Shop handbook", "buying, and running the shop, at Harbour & Pine"),
    ("cms", "Newsroom handbook", "writing and publishing for the Merrow Gazette"),
    ("forge", "Forge handbook", "projects, issues, code and time in the forge"),
)


def handbooks() -> tuple[Article, ...]:
    """Return all pages of the handbooks, in title order; the same at every call."""
    pages = [page for stem, name, _ in BOOKS for page in _pages(stem, name)]
    drafts = [*pages, _contents(pages)]
    linker = Linker(drafts)
    return tuple(linker.article(draft) for draft in sorted(drafts, key=lambda one: one.title))


def _pages(stem: str, name: str) -> list[Draft]:
    return [
        Draft(
            title=f"{name}: {entry.name}",
            lead=paragraphs(entry.lead),
            facts=entry.facts,
            sections=entry.sections,
            see_also=tuple(f"{name}: {title}" for title in entry.see),
            topic=stem,
            proper=True,
            autolink=False,
            marked=True,
        )
        for entry in entries(HERE / f"{stem}.yaml")
    ]


def _contents(pages: list[Draft]) -> Draft:
    sections = tuple(
        DraftSection(
            name,
            (
                f"On {about}.",
                DraftBullets(
                    tuple(
                        f"[[{page.title}|{page.title.removeprefix(f'{name}: ')}]]"
                        for page in pages
                        if page.topic == stem
                    )
                ),
            ),
        )
        for stem, name, about in BOOKS
    )
    return Draft(
        title=CONTENTS,
        lead=(f"The **handbooks** tell in {len(pages)} pages how the sites are used.",),
        sections=sections,
        topic="front",
        autolink=False,
        marked=True,
        layout=Layout.PORTAL,
    )
