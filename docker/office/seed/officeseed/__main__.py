"""usage: python3 -m officeseed FOLDER     writes FOLDER/mail, FOLDER/rows.sql and FOLDER/accounts."""

from __future__ import annotations

import sys
from pathlib import Path

from officeseed.mailboxes import write_mailboxes
from officeseed.people import PEOPLE
from officeseed.rows import statements


def main() -> None:
    """Write everything."""
    folder = Path(sys.argv[1])
    count = write_mailboxes(folder / "mail")
    (folder / "rows.sql").write_text("\n".join(statements()) + "\n", encoding="utf-8")
    accounts = [f"{one.login}:{one.password}" for one in PEOPLE.values()]
    (folder / "accounts").write_text("\n".join(accounts) + "\n", encoding="ascii")
    sys.stdout.write(f"{count} letters of {len(PEOPLE)} people\n")


if __name__ == "__main__":
    main()
