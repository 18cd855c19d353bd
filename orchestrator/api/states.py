"""`arena.states`: save the states of running sites under a name, and bring sites back to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.api.opened import OpenArena

if TYPE_CHECKING:
    from orchestrator.sandbox.standing_sites import ResetOutcome
    from orchestrator.sandbox.states.store import NamedState


class States:
    """States that have a name: each is what some running sites were at one moment."""

    def __init__(self, opened: OpenArena) -> None:
        self._opened = opened

    def list(self) -> tuple[NamedState, ...]:
        """Return all states that are kept on this machine, by name."""
        from orchestrator.sandbox.states import store

        return store.every()

    async def save(
        self, name: str, sites: Sequence[str] = (), *, slot: int = 0, replace: bool = False
    ) -> NamedState:
        """Take the states of running sites and keep them under a name.

        Every process of a site stands still for some 50 ms meanwhile; nothing is restarted.

        Args:
            name: letters, digits, `.`, `_` and `-`.
            sites: all that are up and hold state where none is named.
            slot: of which slot.
            replace: overwrite a state of that name.

        Raises:
            UsageError: the name cannot be used, or is taken.
            SiteGoneError: a named site is not up.
            StateError: a site holds no state, is written to all the time, or the state cannot be
                taken or written.
        """
        from orchestrator.sandbox.command_lock import command_lock
        from orchestrator.sandbox.pool.slot_pool import UP
        from orchestrator.sandbox.states import store
        from orchestrator.sandbox.states.standing_states import take_states

        store.require_free(name, replace=replace)
        engine = await self._opened.engine()
        async with command_lock(UP, self._opened.note, sites=sites):
            taken = await take_states(
                engine, self._opened.registry, sites, slot, self._opened.on_event
            )
        return store.keep(name, taken)

    async def restore(self, name: str, *, slot: int = 0, check: bool = True) -> ResetOutcome:
        """Bring the sites of a state back to it, each with a receipt that proves it.

        A replica that cannot be brought there is removed; the others go on. `sites.reset` leads
        back to golden.

        Args:
            name: of the state; all its sites must be up, with the images that it was taken of.
            slot: of which slot.
            check: raise the first failure when all are done; otherwise the outcome has them.

        Raises:
            UnknownNameError: there is no such state.
            StateError: it is damaged, or was taken of another image; nothing was changed.
            SiteGoneError: one of its sites is not up.
            ArenaError: with `check`, a replica could not be brought back.
        """
        from orchestrator.sandbox.command_lock import command_lock
        from orchestrator.sandbox.pool.slot_pool import UP
        from orchestrator.sandbox.states import store
        from orchestrator.sandbox.states.standing_states import restore_states

        saved = store.kept(name)
        engine = await self._opened.engine()
        async with command_lock(UP, self._opened.note, sites=tuple(saved.sites)):
            outcome = await restore_states(
                engine, self._opened.registry, saved, slot, self._opened.on_event
            )
        if check and outcome.failures:
            raise outcome.failures[0]
        return outcome

    async def diff(self, name: str, other: str | None = None) -> Mapping[str, tuple[str, ...]]:
        """Return in what a state differs from another, by site: tables, files, settings.

        Args:
            name: of the state.
            other: what it is compared with; the golden states of its images where omitted.

        Raises:
            UnknownNameError: there is no such state.
            StateError: one is damaged, or both have no site in common.
            ImageError: the engine has no such image any more.
        """
        from orchestrator.sandbox.states import store
        from orchestrator.sandbox.states.store import differences, differences_from_golden

        saved = store.kept(name)
        if other is not None:
            return differences(saved, store.kept(other))
        return await differences_from_golden(await self._opened.engine(), saved)

    def export(self, name: str, path: Path | str) -> Path:
        """Copy a state's file, for another machine with the same images.

        Raises:
            UnknownNameError: there is no such state.
            StateError: it is damaged, or cannot be written there.
        """
        from orchestrator.sandbox.states import store
        from orchestrator.sandbox.states.state_file import write_state

        write_state(store.kept(name), Path(path))
        return Path(path)

    def add(
        self, path: Path | str, name: str | None = None, *, replace: bool = False
    ) -> NamedState:
        """Keep a state that `export` wrote, here or elsewhere.

        Args:
            path: of the file.
            name: the file's own where omitted.
            replace: overwrite a state of that name.

        Raises:
            UsageError: the name cannot be used, or is taken.
            StateError: the file is missing, damaged, or not the file of a state.
        """
        from orchestrator.sandbox.states import store
        from orchestrator.sandbox.states.state_file import read_state

        name = name or Path(path).name.removesuffix(store.SUFFIX)
        store.require_free(name, replace=replace)
        return store.keep(name, read_state(Path(path)))

    def remove(self, name: str) -> None:
        """Forget a state; sites that are in it stay as they are.

        Raises:
            UnknownNameError: there is no such state.
            StateError: its file cannot be removed.
        """
        from orchestrator.sandbox.states import store

        store.remove(name)
