"""In what a saved state differs from another one, or from golden."""

from __future__ import annotations

from collections.abc import Mapping

from arena_core.errors import ImageError, StateError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.golden import golden_of
from orchestrator.sandbox.reset.state import Fingerprint
from orchestrator.sandbox.states.state_file import SavedState

Differences = Mapping[str, tuple[str, ...]]


def differences(saved: SavedState, other: SavedState) -> Differences:
    """Say for each site that both have in what the first differs from the other.

    Raises:
        StateError: they have no site in common.
    """
    both = saved.sites.keys() & other.sites.keys()
    if not both:
        raise StateError("the two states have no site in common")
    return {
        name: saved.sites[name].fingerprint.differences(other.sites[name].fingerprint)
        for name in sorted(both)
    }


async def differences_from_golden(engine: Engine, saved: SavedState) -> Differences:
    """Say for each site in what its state differs from the golden state of its image.

    Raises:
        ImageError: the engine has no such image any more.
    """
    found = {}
    for name, one in sorted(saved.sites.items()):
        image = await engine.image(one.image_id)
        if image is None:
            message = f"site '{name}': the image {one.image_id[:19]}… of its state is gone"
            raise ImageError(message, hint="arena state diff NAME OTHER compares two states")
        golden = await golden_of(engine, image)
        found[name] = one.fingerprint.differences(Fingerprint.from_json(golden.document))
    return found
