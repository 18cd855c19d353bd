"""The frames of one page: which document each holds, and the way into its isolated world."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.browser.tabs.cdp_channel import CdpChannel, RefusedError, Reply
from orchestrator.browser.tabs.watcher import WORLD, page_source

ERROR_PAGE = "chrome-error://"


@dataclass(slots=True)
class Frame:
    """A frame and the document in it.

    Attributes:
        loader: the document's loader id: another document, another loader.
        url: of the document now; the requested one if it could not be reached.
        opened_url: what the document was opened by, whatever its scripts made of its address.
        world: execution context of Arena's isolated world, None until it is known.
    """

    id: str
    parent: str | None
    loader: str
    url: str
    opened_url: str = ""
    world: int | None = None


class FrameTable:
    """Follows a page's frames by its events.

    Args:
        channel: the page's CDP session.
        visited: called with the URL and whether the document stayed, for the main frame only.
        hears_scripts, selectors: see `watcher.page_source`.

    Attributes:
        commits: how often the main frame went to a document or history entry.
    """

    def __init__(
        self,
        channel: CdpChannel,
        visited: Callable[[str, bool], None],
        *,
        hears_scripts: bool = False,
        selectors: tuple[str, ...] = (),
    ) -> None:
        self._channel = channel
        self._source = page_source(hears_scripts=hears_scripts, selectors=selectors)
        self._visited = visited
        self._frames: dict[str, Frame] = {}
        self._worlds: dict[int, str] = {}
        self._early: dict[str, int] = {}
        self.commits = 0
        self._committed = asyncio.Event()
        self.main_id = ""
        channel.on("Page.frameAttached", self._attached)
        channel.on("Page.frameNavigated", self._navigated)
        channel.on("Page.navigatedWithinDocument", self._moved)
        channel.on("Page.frameDetached", self._detached)
        channel.on("Runtime.executionContextCreated", self._world_made)
        channel.on("Runtime.executionContextDestroyed", self._world_gone)
        channel.on("Runtime.executionContextsCleared", self._worlds_gone)

    async def start(self) -> None:
        """Read the present frames; `Page` and `Runtime` must be enabled."""
        tree = (await self._channel.send("Page.getFrameTree"))["frameTree"]
        self.main_id = tree["frame"]["id"]
        self._read_tree(tree)

    @property
    def main(self) -> Frame:
        return self._frames[self.main_id]

    async def committed_after(self, commits: int) -> None:
        """Return once `commits` is greater; the caller sets the deadline."""
        while self.commits <= commits:
            self._committed.clear()
            await self._committed.wait()

    def get(self, frame_id: str) -> Frame | None:
        return self._frames.get(frame_id)

    def all(self) -> tuple[Frame, ...]:
        """Return every frame, parents before their children."""
        return tuple(self._frames.values())

    async def world(self, frame: Frame) -> int:
        """Return the execution context of Arena's world in a frame; make it if missing."""
        if frame.world is None:
            made = await self._channel.send(
                "Page.createIsolatedWorld", {"frameId": frame.id, "worldName": WORLD}
            )
            context = int(made["executionContextId"])
            await self._channel.send(
                "Runtime.evaluate", {"expression": self._source, "contextId": context}
            )
            self._enter(frame.id, context)
            return context
        return frame.world

    async def evaluate(self, frame: Frame, expression: str, *, within_s: float = 15.0) -> Reply:
        """Evaluate an expression in Arena's world of a frame; a promise is awaited.

        The key `value` of the reply holds the result, by JSON.
        """
        reply = await self._channel.send(
            "Runtime.evaluate",
            {
                "expression": expression,
                "contextId": await self.world(frame),
                "returnByValue": True,
                "awaitPromise": True,
            },
            within_s=within_s,
        )
        return _result(reply)

    async def call(self, object_id: str, function: str, *arguments: object) -> Reply:
        """Call a function of the isolated world on an object of it, as `evaluate` does."""
        reply = await self._channel.send(
            "Runtime.callFunctionOn",
            {
                "objectId": object_id,
                "functionDeclaration": function,
                "arguments": [{"value": argument} for argument in arguments],
                "returnByValue": True,
                "awaitPromise": True,
            },
        )
        return _result(reply)

    def _commit(self) -> None:
        self.commits += 1
        self._committed.set()

    def _read_tree(self, tree: Reply) -> None:
        self._put(tree["frame"])
        for child in tree.get("childFrames", ()):
            self._read_tree(child)

    def _put(self, frame: Reply) -> None:
        frame_id = frame["id"]
        opened = frame["url"] + frame.get("urlFragment", "")
        url = frame.get("unreachableUrl") or opened
        known = self._frames.get(frame_id)
        if known is None:
            known = Frame(frame_id, frame.get("parentId"), frame["loaderId"], url)
            known.world = self._early.pop(frame_id, None)
            self._frames[frame_id] = known
        known.loader = frame["loaderId"]
        known.url = url
        known.opened_url = opened

    def _attached(self, event: Reply) -> None:
        frame_id = event["frameId"]
        if frame_id not in self._frames:
            self._frames[frame_id] = Frame(frame_id, event["parentFrameId"], "", "")

    def _navigated(self, event: Reply) -> None:
        frame = event["frame"]
        self._put(frame)
        if "parentId" not in frame:
            self.main_id = frame["id"]
            self._commit()
            if not frame["url"].startswith(ERROR_PAGE):
                self._visited(self.main.url, False)  # noqa: FBT003

    def _moved(self, event: Reply) -> None:
        frame = self._frames.get(event["frameId"])
        if frame is not None:
            frame.url = event["url"]
            if frame.id == self.main_id:
                self._commit()
                self._visited(frame.url, True)  # noqa: FBT003

    def _detached(self, event: Reply) -> None:
        gone = event["frameId"]
        if event.get("reason") == "swap":
            return
        for child in [frame.id for frame in self._frames.values() if frame.parent == gone]:
            self._detached({"frameId": child})
        self._frames.pop(gone, None)

    def _enter(self, frame_id: str, context: int) -> None:
        self._worlds[context] = frame_id
        frame = self._frames.get(frame_id)
        if frame is None:
            self._early[frame_id] = context
        else:
            frame.world = context

    def is_world(self, context: int) -> bool:
        return context in self._worlds

    def _world_made(self, event: Reply) -> None:
        context = event["context"]
        if context["name"] == WORLD:
            self._enter(context["auxData"]["frameId"], context["id"])

    def _world_gone(self, event: Reply) -> None:
        frame = self._frames.get(self._worlds.pop(event["executionContextId"], ""))
        if frame is not None and frame.world == event["executionContextId"]:
            frame.world = None

    def _worlds_gone(self, _event: Reply) -> None:
        self._worlds.clear()
        self._early.clear()
        for frame in self._frames.values():
            frame.world = None


def _result(reply: Reply) -> Reply:
    if "exceptionDetails" in reply:
        details = reply["exceptionDetails"]
        raise RefusedError(details.get("exception", {}).get("description", details["text"]))
    result: Reply = reply["result"]
    return result
