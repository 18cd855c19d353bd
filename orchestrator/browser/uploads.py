"""Uploads: the task's own files, given to a file field by their names."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator.browser import mouse
from orchestrator.browser.choosers import next_chooser
from orchestrator.browser.pointer import NotDoneError, PointerTarget, demand, spot_of


class UploadFiles:
    """The files that an agent may upload, laid out on disk for the browser when first asked for.

    Args:
        contents: by name; names have no path.
    """

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents
        self._folder: Path | None = None

    def paths(self, names: Sequence[str]) -> list[str]:
        """Return where the files lie.

        Raises:
            NotDoneError: a name that the task does not provide.
        """
        for name in names:
            if name not in self._contents:
                there = ", ".join(f"'{one}'" for one in self._contents) or "none"
                message = f"the task provides no file '{name}'; it provides: {there}"
                raise NotDoneError(message)
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="arena-upload-"))
            for name, content in self._contents.items():
                (self._folder / name).write_bytes(content)
        return [str(self._folder / name) for name in names]

    def close(self) -> None:
        """Remove them from disk again."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


async def upload(target: PointerTarget, names: Sequence[str], files: UploadFiles) -> None:
    """Choose files in a file field; elsewhere by a click, in the chooser that it asks for.

    Raises:
        NotDoneError: no such file, disabled, no chooser came, or it takes fewer files.
    """
    paths = files.paths(names)
    found = await target.call("fileField")
    demand(target, found)
    send = target.tab.channel.send
    if found["isField"]:
        _demand_room(target, paths, is_multiple=found["isMultiple"])
        await send("DOM.setFileInputFiles", {"files": paths, "objectId": target.handle})
        return
    async with target.tab.choosers.expected() as opened:
        await mouse.click(target.tab, await spot_of(target))
        chooser = await next_chooser(opened)
    if chooser is None:
        message = f"element [{target.id}] asks for no file: it is a {found['role']}"
        raise NotDoneError(message)
    _demand_room(target, paths, is_multiple=chooser.is_multiple)
    await send("DOM.setFileInputFiles", {"files": paths, "backendNodeId": chooser.backend})


def _demand_room(target: PointerTarget, paths: Sequence[str], *, is_multiple: bool) -> None:
    if len(paths) > 1 and not is_multiple:
        message = f"element [{target.id}] takes one file, not {len(paths)}"
        raise NotDoneError(message)
