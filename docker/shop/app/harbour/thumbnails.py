"""Pictures are small already: the thumbnail of a picture is the picture itself."""

from __future__ import annotations

from oscar.core.thumbnails import AbstractThumbnailer


class OriginalImage(AbstractThumbnailer):
    """Answers every size with the original, so that a GET writes no file and no row."""

    def generate_thumbnail(self, source: object, **_options: object) -> object:
        """Return the picture as it is."""
        return source

    def delete_thumbnails(self, source: object) -> None:
        """Do nothing: there are none."""
