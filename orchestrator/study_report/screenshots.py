"""Where a page finds the screenshots of a run: in its folder, or in a copy beside the page."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from arena_core.errors import StoreError

_PICTURES: Final = frozenset({".png", ".webp", ".jpg", ".jpeg"})


@dataclass(frozen=True, slots=True)
class Screenshots:
    """The screenshots of one run, for a page in `page`.

    They are left where they are if the run lies in the folder that holds the page's, as the runs of
    a study do: both are moved and sent together. Otherwise they are placed beside the page, in
    `copies`: as hard links on the same disk, which take no room, else as copies.
    """

    run: Path
    page: Path
    copies: Path

    @property
    def stay(self) -> bool:
        """Whether the run's files are referred to where they are."""
        return self.run.resolve().is_relative_to(self.page.resolve().parent)

    def base(self, attempt: str, names: tuple[str, ...]) -> str:
        """Return where an attempt's screenshots are, as a relative URL that ends in a slash.

        Raises:
            StoreError: they cannot be copied.
        """
        folder = self.run / "evidence" / attempt
        if not self.stay:
            copies = self.copies / attempt
            for name in names:
                _place(folder / name, copies / name)
            folder = copies
        return f"{_url(folder, self.page)}/"

    def there(self, attempt: str, name: str | None) -> str | None:
        """Return the name of a screenshot that is there; None for any other.

        Evidence may be somebody else's: a name that is no plain one of a picture is none.
        """
        if name is None or Path(name).name != name or "\\" in name:
            return None
        if Path(name).suffix.lower() not in _PICTURES:
            return None
        path = self.run / "evidence" / attempt / name
        return name if path.is_file() and not path.is_symlink() else None


def _url(path: Path, page: Path) -> str:
    relative = os.path.relpath(path.resolve(), page.resolve())
    return "/".join(quote(part, safe="") for part in Path(relative).parts)


def _place(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        with suppress(OSError):  # another disk, or one without links
            os.link(source, target)
            return
        shutil.copyfile(source, target)
    except OSError as cause:
        message = f"{target}: a screenshot cannot be copied there: {cause.strerror}"
        raise StoreError(message) from cause
