"""From a site's sealed image to all it takes to start a replica of it."""

from __future__ import annotations

from dataclasses import dataclass

from arena_core.errors import ImageError
from orchestrator.engine.containers import ImageInfo, Labels
from orchestrator.engine.engine import Engine
from orchestrator.images.golden import golden_of, is_sealed
from orchestrator.reset.replica import Placement
from orchestrator.reset.state import Fingerprint
from sites.manifest import Site


@dataclass(frozen=True, slots=True)
class SealedState:
    """The golden state of an image: the digest is at hand, the parts are read when asked for."""

    engine: Engine
    image: ImageInfo

    @property
    def digest(self) -> str:
        """The digest of its fingerprint."""
        return self.image.labels[Labels.GOLDEN]

    async def parts(self) -> Fingerprint:
        """Read the whole fingerprint out of the image.

        Raises:
            ImageError: it cannot be read.
        """
        golden = await golden_of(self.engine, self.image)
        return Fingerprint.from_json(golden.document)


async def place(
    engine: Engine, site: Site, *, owner: str, slot: int | None, port: int | None = None
) -> Placement:
    """Look the site's image up.

    Raises:
        ImageError: it is not there, or it was never sealed as golden.
    """
    image = await engine.image(site.image.tag)
    if image is None or not is_sealed(image):
        what = "there is no image" if image is None else "never sealed as golden: image"
        message = f"site '{site.name}': {what} {site.image.tag}"
        raise ImageError(message, hint=f"arena build {site.name}")
    return Placement(
        site=site,
        image_id=image.id,
        golden=SealedState(engine, image),
        owner=owner,
        slot=slot,
        port=port,
    )
