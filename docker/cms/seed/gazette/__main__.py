"""Writes the newspaper: `python3 -m gazette TARGET`: content.sql, uploads/ and avatars/ there."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from multiprocessing import Pool
from pathlib import Path
from random import Random

from gazette import avatars, chrome, drawing, pages, rows, sql, talk
from gazette.accounts import KNOWN, accounts
from gazette.clock import OPENED, moments
from gazette.newsroom import FIRST_PICTURE, Issue, edition
from gazette.pictures import Picture, gallery
from gazette.sources import vocabulary, world

FIRST_PAGE, FIRST_DRAFT, FIRST_MENU_ITEM = 11, 2601, 2701


def main(target: Path) -> None:
    """Write everything below `target`, and tell how much."""
    started = time.monotonic()
    known, town = world(), vocabulary("town")["slots"]
    people = accounts(known)
    drawn = gallery(known)
    dates = moments(Random("uploads"), len(drawn), last=OPENED + timedelta(days=1250))
    folders = [f"{date:%Y/%m}" for date in dates]
    with Pool() as pool:
        files = pool.starmap(
            _save,
            [
                (one, target / "uploads" / folder)
                for one, folder in zip(drawn, folders, strict=True)
            ],
        )
    library = [
        Issue(number, one, f"/wp-content/uploads/{folder}/{saved['large'][0]}")
        for number, (one, folder, saved) in enumerate(
            zip(drawn, folders, files, strict=True), start=FIRST_PICTURE
        )
    ]
    stories = edition(known, town, people, library)
    published = [one for one in stories if one.status == "publish"]
    comments = talk.comments(known, published, people)

    made = rows.Rows()
    drafts = {number: FIRST_DRAFT + number for number in range(1, len(KNOWN) + 1)}
    menus = [
        chrome.Term(91 + place, name, name.lower().replace(" ", "-"), "nav_menu", name)
        for place, name in enumerate((chrome.MENU, chrome.FOOTER))
    ]
    rows.add_accounts(made, people, drafts, menus[0])
    standing = pages.pages(known, town)
    rows.add_pages(made, standing, FIRST_PAGE, author=1)
    rows.add_pictures(
        made,
        [
            (one.id, one.picture, folder, saved, date)
            for one, folder, saved, date in zip(library, folders, files, dates, strict=True)
        ],
        author=2,
    )
    sections = chrome.categories(known)
    tags = chrome.tags((tag for one in stories for tag in one.tags), first=101)
    rows.add_stories(made, stories, sections, tags)
    rows.add_dashboard_drafts(made, drafts)
    rows.add_menus(made, menus, sections, standing, FIRST_MENU_ITEM)
    for term in (*sections, *menus, *tags):
        made.term(term)
    for comment in comments:
        made.comment(comment)
    privacy = next(page.id for page in standing if page.title == "Privacy policy")
    settings = chrome.options(menus, privacy, [one.id for one in stories if one.sticky])
    (target / "content.sql").write_text(
        "\n".join(sql.statements(made, settings)) + "\n", encoding="utf-8"
    )
    avatars.draw_all(target / "avatars")
    counts = ", ".join(f"{len(held)} {name}" for name, held in made.tables.items())
    sys.stdout.write(f"{counts}; {len(drawn)} pictures; {time.monotonic() - started:.1f} s\n")


def _save(picture: Picture, folder: Path) -> dict[str, tuple[str, int, int, int]]:
    return drawing.save(picture, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
