"""Makes the wiki as an episode finds it: pages with a history, accounts, a search index.

Everything has a fixed time, so that two builds give the same files.
"""

from __future__ import annotations

import crypt
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

STATE = Path("/srv/site/state")
DATA = STATE / "data"
PAGES = Path("/data/pages")
WRITTEN = int(datetime(2026, 9, 1, 9, 0, tzinfo=UTC).timestamp())
ACCOUNTS = (  # name, password, full name, mail, groups
    ("helen", "handbook-helen-2026", "Helen Fairweather", "helen@portmerrow.example", "admin,user"),
    ("omar", "handbook-omar-2026", "Omar Rahman", "omar@portmerrow.example", "user"),
)
RIGHTS = "*\t@ALL\t1\n*\t@user\t8\nmoorings:*\t@user\t1\nmoorings:*\t@admin\t16\n"


def main() -> None:
    """Fill the state."""
    shutil.copytree("/srv/site/package", DATA)
    for folder in ("pages", "meta", "cache"):
        shutil.rmtree(DATA / folder)
        (DATA / folder).mkdir()
    write_accounts()
    write_pages()
    # A salt that is not there would be drawn at random, and every container would have its own.
    for name in ("_htcookiesalt", "_htcookiesalt2"):
        (DATA / "meta" / name).write_text("a-replica-has-no-secrets")
    index = ["php", "/usr/share/dokuwiki/bin/indexer.php", "--quiet"]
    subprocess.run(index, check=True, timeout=120)
    for path in (STATE, *STATE.rglob("*")):
        os.utime(path, (WRITTEN, WRITTEN))


def write_accounts() -> None:
    """Write who may log in, and who may write where."""
    folder = STATE / "acl"
    folder.mkdir()
    users = "".join(
        f"{name}:{crypt.crypt(password, f'$1${name:x>8}$')}:{full}:{mail}:{groups}\n"
        for name, password, full, mail, groups in ACCOUNTS
    )
    (folder / "users.auth.php").write_text(f"# users.auth.php\n# <?php exit()?>\n{users}")
    (folder / "acl.auth.php").write_text(f"# acl.auth.php\n# <?php exit()?>\n{RIGHTS}")


def write_pages() -> None:
    """Write pages, each with the one line of history that its first edit leaves."""
    everything = []
    for path in sorted(PAGES.rglob("*.txt")):
        inside = path.relative_to(PAGES)
        page = ":".join(inside.with_suffix("").parts)
        text = path.read_text()
        target = DATA / "pages" / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        os.utime(target, (WRITTEN, WRITTEN))
        line = f"{WRITTEN}\t127.0.0.1\tC\t{page}\thelen\tcreated\t\t{len(text.encode())}\n"
        history = (DATA / "meta" / inside).with_suffix(".changes")
        history.parent.mkdir(parents=True, exist_ok=True)
        history.write_text(line)
        everything.append(line)
    (DATA / "meta" / "_dokuwiki.changes").write_text("".join(everything))


if __name__ == "__main__":
    main()
