"""Observations: what an agent sees before it decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from arena_core.errors import UsageError

# The built-in forms of observation; an agent that names none gets the first.
AXTREE: Final = "axtree"
ARIA: Final = "aria"
HTML: Final = "html"
PRUNED_HTML: Final = "pruned_html"
PRUNED_HTML_XML: Final = "pruned_html_xml"
SCREENSHOT: Final = "screenshot"
SOM: Final = "som"
BOXES: Final = "boxes"
# After a form's name, asks for what the viewport shows only: `axtree@viewport`.
IN_VIEWPORT: Final = "@viewport"
# The role of elements that are drawn or can be clicked but have no name; not an ARIA role.
UNNAMED = "unnamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One element of the page's accessibility tree.

    Attributes:
        id: stable while the element lives in its document; what actions name.
        depth: nesting in the tree as shown, from 0.
        states: such as `checked`, `disabled`, `expanded=false`, `focused`, in a fixed order.
        level: of a heading or a tree's item; `url` where a link leads to. Not part of the text.
    """

    id: int
    depth: int
    role: str
    name: str
    value: str | None = None
    states: tuple[str, ...] = ()
    level: int | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class AxTree:
    """The accessibility tree of a page: the part of an observation called `axtree`.

    Attributes:
        nodes: in document order, nameless and presentational nodes spliced.
        text: the same as text, one line a node: `[id] role "name" value="…" states`.
    """

    nodes: tuple[Node, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class AriaSnapshot:
    """The accessibility tree as YAML, as Playwright MCP shows it: the part called `aria`.

    Attributes:
        text: one line a node, `- role "name" [state] [ref=e12]: text`; 12 is the id that actions
            name.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Html:
    """The page's markup as it is now: the part called `html`.

    Attributes:
        text: each element that can be acted on carries its id in an attribute `arena="12"`, which
            stands in this text alone and never in the page.
    """

    text: str


@dataclass(frozen=True, slots=True)
class PrunedHtml:
    """AutoWebGLM's simplified markup: the part called `pruned_html`, or `pruned_html_xml`.

    Attributes:
        ids: by the label that the text shows (`A`, `B`, …), the id that actions name.
        segments: by label, the element with the little around it that tells it from others.
        viewports: how far the page is scrolled down, and how high it is, in viewport heights.
    """

    text: str
    ids: Mapping[str, int]
    segments: Mapping[str, str] = field(default_factory=dict)
    viewports: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Picture:
    """What the viewport shows: the part called `screenshot`.

    Attributes:
        data: PNG; one pixel for each CSS pixel, so that places in it are those of pointer actions.
        width, height: of the picture itself, in pixels.
    """

    data: bytes = field(repr=False)
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Box:
    """Where an element is drawn, in CSS pixels from the viewport's upper left corner.

    Attributes:
        visible: a part of it is in the viewport, and nothing else lies over its middle.
    """

    x: float
    y: float
    width: float
    height: float
    visible: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """A numbered box on a picture; the number painted is the id that actions name."""

    id: int
    role: str
    name: str
    box: Box


@dataclass(frozen=True, slots=True)
class MarkedPicture:
    """Set-of-marks: the part called `som`.

    Attributes:
        picture: what the viewport shows, with a box and a number on every mark.
        marks: what can be acted on and is visible in the viewport, in document order.
    """

    picture: Picture
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Tab:
    """An open tab.

    Attributes:
        login: site and role that it is logged in as, `shop: merchant`, if the task has several
            roles of a site and this is not the first; tabs of another login share no cookies with
            it. Empty for the first roles.
    """

    index: int
    title: str
    url: str
    is_current: bool
    login: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The state of the browser, as an agent may see it.

    Attributes:
        step: the number of actions before it.
        parts: what the agent asked to see, by the name of its form; nothing else is computed.
        last_error: why the last action could not be done; None if it was done.
        reply: what the user answered to the last action; None where it asked them nothing.
    """

    step: int
    url: str
    title: str
    tabs: tuple[Tab, ...]
    parts: Mapping[str, object] = field(default_factory=dict)
    last_error: str | None = None
    reply: str | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The elements of the accessibility tree: of `axtree`, or else of `axtree@viewport`.

        Raises:
            UsageError: the agent asked for neither.
        """
        return self._axtree.nodes

    @property
    def text(self) -> str:
        """The accessibility tree as text: of `axtree`, or else of `axtree@viewport`.

        Raises:
            UsageError: the agent asked for neither.
        """
        return self._axtree.text

    @property
    def _axtree(self) -> AxTree:
        part = self.parts.get(AXTREE, self.parts.get(AXTREE + IN_VIEWPORT))
        if not isinstance(part, AxTree):
            raise UsageError(
                f"this observation has no `{AXTREE}`: the agent did not ask for that form",
                hint=f"add '{AXTREE}' to the agent's `observations`",
            )
        return part
