"""The images of submissions: files called by what they hold, kept beside the database."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

FOLDER = Path("/srv/forum/state/media")
MOST_BYTES = 4 * 1024 * 1024
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpg",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
}


def name_of(content: bytes) -> str | None:
    """Return the name of the file that holds an image; None where it is none that browsers show."""
    kinds = [kind for begin, kind in _BEGINNINGS.items() if content.startswith(begin)]
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        kinds = ["webp"]
    return f"{sha256(content).hexdigest()}.{kinds[0]}" if kinds else None


def keep(name: str, content: bytes) -> str:
    """Write the file where there is none of that name, whole or not at all; return the name."""
    if not (FOLDER / name).exists():
        with NamedTemporaryFile(dir=FOLDER, delete=False) as file:
            file.write(content)
        Path(file.name).chmod(0o644)
        Path(file.name).replace(FOLDER / name)
    return name
