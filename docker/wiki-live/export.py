"""`export.py TARGET.xml`: write what is staged of the wiki as MediaWiki exports it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from collection import staged
from counted import counted
from render_wikitext import export

HERE: Final = Path(__file__).parent
NS_MEDIAWIKI: Final = 8


if __name__ == "__main__":
    everything = tuple(counted(staged()))
    style = (HERE / "common.css").read_text(encoding="utf-8")
    pages = [("MediaWiki:Common.css", style, NS_MEDIAWIKI)]
    Path(sys.argv[1]).write_text(export(everything, pages), encoding="utf-8")
    sys.stdout.write(f"{len(everything)} articles\n")
