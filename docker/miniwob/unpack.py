"""Take the pages out of the wheel, and write a front page that links to each."""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path
from zipfile import ZipFile

PAGES = "miniwob/html/"
LEFT_OUT = f"{PAGES}flight/"  # copies of airlines' sites, no page of the 130
LICENSE = "miniwob-1.1.0.dist-info/licenses/LICENSE"
FRONT = """\
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>MiniWoB++</title>
<style>body{{font-family:sans-serif;margin:2em}}ul{{columns:5 12em;padding:0;list-style:none}}</style>
</head>
<body><h1>MiniWoB++</h1><p>{count} pages, each a small task on its own.</p>
<ul>
{links}
</ul></body></html>
"""


def main(wheel: Path, target: Path) -> None:
    """Unpack the wheel's pages and license below the target."""
    with ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(PAGES) and not name.startswith(LEFT_OUT) and not name.endswith("/"):
                write(target / "html" / name.removeprefix(PAGES), archive.read(name))
        write(target / "LICENSE", archive.read(LICENSE))
    write(target / "html" / "index.html", front_page(target / "html" / "miniwob").encode())


def front_page(folder: Path) -> str:
    """Return a page with a link to every page of a folder, by name and with its title."""
    pages = sorted(folder.glob("*.html"))
    links = "\n".join(
        f'<li><a href="/miniwob/{page.name}" title="{escape(title_of(page))}">{page.stem}</a></li>'
        for page in pages
    )
    return FRONT.format(count=len(pages), links=links)


def title_of(page: Path) -> str:
    """Return a page's title."""
    found = re.search(r"<title>(.*?)</title>", page.read_text("utf-8"), re.DOTALL)
    return " ".join(found[1].split()) if found else page.stem


def write(path: Path, content: bytes) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
