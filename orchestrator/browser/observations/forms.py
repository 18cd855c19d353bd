"""The page as forms of observation read it, what a form is, and how forms are named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

from arena_core.errors import UnknownNameError
from arena_core.plugins import ExtensionPoint, Group, filling
from orchestrator.browser.observation import IN_VIEWPORT, AxTree, Picture


@dataclass(frozen=True, slots=True)
class Rect:
    """A part of the plane, in CSS pixels from the viewport's upper left corner."""

    x: float
    y: float
    width: float
    height: float

    def meet(self, other: Rect) -> Rect | None:
        """Return what both cover; None where that is nothing."""
        left, top = max(self.x, other.x), max(self.y, other.y)
        right = min(self.x + self.width, other.x + other.width)
        bottom = min(self.y + self.height, other.y + other.height)
        if right <= left or bottom <= top:
            return None
        return Rect(left, top, right - left, bottom - top)

    def holds(self, x: float, y: float) -> bool:
        """Whether a point lies in it."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass(slots=True, eq=False, kw_only=True)
class PageNode:
    """An element, a text, a document or a shadow root, as it was at one moment.

    Attributes:
        tag: of an element, in small letters; `#text`, `#document`, `#shadow-root` for what is none.
        attributes: an element's; `value`, `checked` and `selected` as they are now, with a dot for
            each letter of a password.
        text: of a `#text`.
        id: of an element that can be acted on, as actions name it; None for every other node.
        rect: where it is drawn; None where it is not.
        shown: the part of it in the viewport that no frame and no scrolled box cuts off.
        paint: what has a greater one is drawn over it.
        takes_clicks: a click at its place can be its own; False where the page lets them through.
    """

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    parent: PageNode | None = None
    children: list[PageNode] = field(default_factory=list)
    id: int | None = None
    rect: Rect | None = None
    shown: Rect | None = None
    paint: int = 0
    takes_clicks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSnapshot:
    """A page with its frames and shadow roots at one moment, layout included.

    Attributes:
        root: the main document.
        viewport: what the window shows of it.
        scrolled, height: how far the document is scrolled down, and how high it is, in CSS pixels.
        find: returns the node of an id, of texts as well; None where it is not in the page now.
    """

    root: PageNode
    viewport: Rect
    scrolled: float
    height: float
    find: Callable[[int], PageNode | None]


class ObservedPage(Protocol):
    """The agent's current page, for a form of observation to read; nothing here changes it.

    Every call raises `BrowserError` if the browser does not answer, or refuses.
    """

    @property
    def url(self) -> str:
        """The document's URL."""

    @property
    def dialogs(self) -> tuple[str, ...]:
        """What the page asked or said in dialogs since the last observation, and the answer."""

    async def axtree(self) -> AxTree:
        """Return the accessibility tree, read once for each observation."""

    async def snapshot(self) -> PageSnapshot:
        """Return the document with its layout, read once for each observation."""

    async def picture(self) -> Picture:
        """Return what the viewport shows, taken once for each observation."""

    async def call(
        self, method: str, parameters: Mapping[str, object] | None = None
    ) -> Mapping[str, Any]:
        """Call a method of the DevTools protocol, such as `DOMSnapshot.captureSnapshot`.

        A form changes nothing by it: what the page could notice is no observation.
        """


@runtime_checkable
class ObservationForm(Protocol):
    """One way to see a page: what is registered in the group `arena.observations`."""

    async def observe(self, page: ObservedPage) -> object:
        """Return this form's part of an observation, under its name in `Observation.parts`."""


@runtime_checkable
class ViewportForm(ObservationForm, Protocol):
    """A form that can leave out what the viewport does not show, asked for as `NAME@viewport`."""

    async def observe_viewport(self, page: ObservedPage) -> object:
        """Return the part with nothing in it that is outside the viewport."""


OBSERVATIONS: Final[ExtensionPoint[ObservationForm]] = ExtensionPoint(
    Group.OBSERVATIONS, "form of observation", filling(ObservationForm)
)


@dataclass(frozen=True, slots=True)
class _InViewport:
    """Fills `ObservationForm` with what another shows of the viewport alone."""

    form: ViewportForm

    async def observe(self, page: ObservedPage) -> object:
        return await self.form.observe_viewport(page)


def require_form(name: str) -> None:
    """Refuse a form of observation that there is not; what is plain is not imported for that."""
    if name.endswith(IN_VIEWPORT):
        load_form(name)
    else:
        OBSERVATIONS.find(name)


def load_form(name: str) -> ObservationForm:
    """Return the form of observation of a name, with or without `@viewport`."""
    if not name.endswith(IN_VIEWPORT):
        return OBSERVATIONS.load(name)
    plain = name.removesuffix(IN_VIEWPORT)
    form = OBSERVATIONS.load(plain)
    if not isinstance(form, ViewportForm):
        raise UnknownNameError(
            f"the observation '{plain}' shows the whole page only: there is no '{name}'",
            hint=f"ask for '{plain}'",
        )
    return _InViewport(form)
