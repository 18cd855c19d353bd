"""`phrases.py FILE`: write phrases.txt as the CSV that Nominatim imports, for "cafe", "cafe near X", "cafe in X"."""

from __future__ import annotations

import csv
import sys
from pathlib import Path


def main(target: Path) -> None:
    """Write one line for each phrase and operator."""
    with target.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["phrase", "class", "type", "operator", "plural"])
        for line in (
            (Path(__file__).parent / "phrases.txt").read_text(encoding="utf-8").splitlines()
        ):
            tag, _, phrases = line.partition(": ")
            for phrase in phrases.split(", "):
                for words, operator in (
                    (phrase, "-"),
                    (f"{phrase} near", "near"),
                    (f"{phrase} in", "in"),
                ):
                    rows.writerow([words, *tag.split(), operator, "N"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
