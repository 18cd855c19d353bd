"""`arena.nodes`: this machine as one of several that play a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena_core.errors import EngineError, InputError
from orchestrator.api.opened import OpenArena
from orchestrator.api.sites import Sites

if TYPE_CHECKING:
    from orchestrator.runs.node_facts import Likeness, NodeCheck
    from orchestrator.sandbox.images.recipes import Recipe
    from sites.manifest import Site


class Nodes:
    """This machine as one of several that play a run: what it is, has and lacks."""

    def __init__(self, opened: OpenArena, sites: Sites) -> None:
        self._opened, self._sites = opened, sites

    async def check(
        self,
        names: Sequence[str] = (),
        *,
        suite: str | None = None,
        staged: bool = False,
        like: Path | str | None = None,
        write: Path | str | None = None,
    ) -> NodeCheck:
        """Look at this machine's engine, browser, clock and images; what `arena node check` does.

        Args:
            names: of the sites that it shall play; `all`, or nothing, for every site there is, or
                for those that `like` has.
            suite: instead of names, the sites that this suite's tasks play on.
            staged: their staged live origins too.
            like: what another node wrote, or a run's folder or lock: images and golden states must
                be the same.
            write: where this node's facts go, if nothing is wrong with it.

        Returns:
            What was found; its `require_good` raises where the node cannot play.

        Raises:
            UsageError, UnknownNameError: as in `sites.list`; `like` has an image of no site here.
            InputError, StoreError: `like` is no such file, or `write` cannot be written.
            EngineMissingError, BrowserMissingError: one of them is missing.
        """
        from orchestrator.runs.node_facts import write_facts

        held_to, wanted = self._asked(names, suite, like, staged=staged)
        found = await self._look(wanted, held_to)
        if write is not None and found.is_good:
            write_facts(found.facts, Path(write))
        return found

    async def prepare(
        self,
        names: Sequence[str] = (),
        *,
        suite: str | None = None,
        staged: bool = False,
        images: Path | str | None = None,
        like: Path | str | None = None,
    ) -> NodeCheck:
        """Bring the images that are missing here, and look again; what `arena node prepare` does.

        Args:
            names: as in `check`, and so `suite`, `staged` and `like`.
            suite: as in `check`.
            staged: as in `check`.
            images: a file of `sites.save_images`, or a folder of such files, to load from; where
                omitted, images are built or pulled, unless they must be those of `like`.
            like: as in `check`.

        Returns:
            What was found in the end, as of `check`.

        Raises:
            InputError: `images` holds no file of images, or a damaged one.
            ImageError: an image could not be built, pulled or loaded.
            ArenaError: as in `check`.
        """
        held_to, wanted = self._asked(names, suite, like, staged=staged)
        files = None if images is None else _files_at(Path(images))
        found = await self._look(wanted, held_to)
        lacking = {one.image for one in found.faults} | {one.image for one in found.refused}
        if not lacking:
            return found
        if files is not None:
            await self._load(files, lacking)
        elif held_to is None:
            await self._make([one for one in wanted if one.image.tag in lacking])
        return await self._look(wanted, held_to)

    async def down(self) -> tuple[str, ...]:
        """Remove every container, volume and network of Arena here, and make sure none is left.

        Images and run folders stay. The next start of a container makes the network again.

        Returns:
            The names of the containers that were removed, and `network arena` if it was there.

        Raises:
            EngineError: something is there still, as where a run starts more, or a container that
                is not Arena's is in its network.
        """
        from orchestrator.sandbox.engine import network
        from orchestrator.sandbox.engine.containers import Labels

        removed, engine = await self._sites.down(), await self._opened.engine()
        left = await engine.containers({Labels.OWNER: None})
        if left:
            names = ", ".join(one.name for one in left[:5])
            message = f"{len(left)} containers of Arena came while others were removed: {names}"
            raise EngineError(message, hint="end the run that starts them, then arena node down")
        if await engine.remove_network():
            return (*removed, f"network {network.NAME}")
        return removed

    def _asked(
        self, names: Sequence[str], suite: str | None, like: Path | str | None, *, staged: bool
    ) -> tuple[Likeness | None, tuple[Recipe, ...]]:
        from orchestrator.runs.node_facts import read_likeness
        from orchestrator.runs.node_look import recipes_wanted

        held_to = None if like is None else read_likeness(Path(like))
        sites: tuple[Site, ...] | None = None
        if names or suite is not None:
            sites = self._sites.list(names, suite=suite)
        return held_to, recipes_wanted(self._opened.registry, sites, held_to, staged=staged)

    async def _look(self, wanted: Sequence[Recipe], like: Likeness | None) -> NodeCheck:
        from orchestrator.runs.node_look import look_at_node

        return await look_at_node(await self._opened.engine(), self._opened.registry, wanted, like)

    async def _load(self, files: Sequence[Path], lacking: set[str]) -> None:
        """Load the files that hold an image that is lacking, and no other."""
        from orchestrator.sandbox.images.image_file import tags_in

        for file in files:
            if lacking & set(tags_in(file)):
                await self._sites.load_images(file)

    async def _make(self, recipes: Sequence[Recipe]) -> None:
        """Build or pull images; one that comes from a file of others is left to its next step."""
        for staged in (False, True):
            chosen = [one for one in recipes if one.staged is staged]
            built = [one.site.name for one in chosen if one.image.build is not None]
            pulled = [one.site.name for one in chosen if one.image.published is not None]
            if built:
                await self._sites.build(built, staged=staged)
            if pulled:
                await self._sites.pull(pulled, staged=staged)


def _files_at(path: Path) -> tuple[Path, ...]:
    """Return the file of images at a path, or those in a folder, by name."""
    from orchestrator.sandbox.images.bill import bill_beside

    if not path.exists():
        raise InputError(f"{path}: is not there", hint="`arena images save` writes one")
    if not path.is_dir():
        return (path,)
    bills = {bill_beside(one) for one in path.iterdir()}
    found = tuple(
        sorted(one for one in path.iterdir() if ".tar" in one.suffixes and one not in bills)
    )
    if not found:
        raise InputError(f"{path}: holds no file of images", hint="`arena images save` writes one")
    return found
