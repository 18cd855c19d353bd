"""What an agent sees before it decides, and the seam every agent fills."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol, runtime_checkable

from arena_core.actions import Action
from arena_core.errors import UsageError
from arena_core.plugins import Group, Seam, filling
from arena_core.worlds import World
from evaluators.checks import Check
from orchestrator.model_exchange import ModelExchange
from tasks.schema import ReferenceAction

# The forms of observation that travel with Arena; an agent that names none gets the first.
AXTREE: Final = "axtree"
ARIA: Final = "aria"
HTML: Final = "html"
PRUNED_HTML: Final = "pruned_html"
PRUNED_HTML_XML: Final = "pruned_html_xml"
SCREENSHOT: Final = "screenshot"
SOM: Final = "som"
BOXES: Final = "boxes"
# Follows a form's name where only what the viewport shows is wanted: `axtree@viewport`.
IN_VIEWPORT: Final = "@viewport"
# The role of what is drawn or can be clicked but has no name: no role of ARIA's.
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
        login: site and role that it is logged in as, `shop: merchant`, where the task has several
            roles of a site and this tab's is none of the first; tabs of another login share no
            cookies with it. Empty for the first roles.
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
        step: how many actions were done before.
        parts: by the name of its form, what the agent asked to see; nothing else is computed.
        last_error: why the last action could not be done, None where it could.
    """

    step: int
    url: str
    title: str
    tabs: tuple[Tab, ...]
    parts: Mapping[str, object] = field(default_factory=dict)
    last_error: str | None = None

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
            message = f"this observation has no `{AXTREE}`: the agent did not ask for that form"
            raise UsageError(message, hint=f"add '{AXTREE}' to the agent's `observations`")
        return part


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
    """The agent's current page, for a form of observation to read; nothing here changes it."""

    @property
    def url(self) -> str:
        """The document's URL."""

    @property
    def dialogs(self) -> tuple[str, ...]:
        """What the page asked or said in dialogs since the last observation, and the answer."""

    async def axtree(self) -> AxTree:
        """Return the accessibility tree, read once for each observation.

        Raises:
            BrowserError: the browser does not answer.
        """

    async def snapshot(self) -> PageSnapshot:
        """Return the document with its layout, read once for each observation.

        Raises:
            BrowserError: the browser does not answer.
        """

    async def picture(self) -> Picture:
        """Return what the viewport shows, taken once for each observation.

        Raises:
            BrowserError: the browser does not answer.
        """

    async def call(
        self, method: str, parameters: Mapping[str, object] | None = None
    ) -> Mapping[str, Any]:
        """Call a method of the DevTools protocol, such as `DOMSnapshot.captureSnapshot`.

        A form changes nothing by it: what the page could notice is no observation.

        Raises:
            BrowserError: the browser refuses, or does not answer.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What an agent gets to know about its task.

    Attributes:
        sites: title and start URL of each site by name, as the agent may know them.
        repeat: which repeat of the same task this is, from 0; parts the seeds of repeats.
        files: names of the files that `Upload` can choose.
        reference: how the task is done; None for every agent but a reference agent.
        guide: the parts of the solution that the agent is told; None unless it says which it needs.
    """

    task: str
    intent: str
    world: World
    sites: Mapping[str, str]
    step_limit: int
    repeat: int = 0
    files: tuple[str, ...] = ()
    reference: Reference | None = None
    guide: Guide | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """How the task is done: for the oracle alone, never shown to a contestant.

    Attributes:
        actions: the task's reference, with the actions of both worlds.
        url_of: turns a logical URL (`site:/path`) into the URL of the assignment's world.
        key_nodes: the checks of the assignment's world that may be met at any step.
    """

    actions: tuple[ReferenceAction, ...]
    url_of: Callable[[str], str]
    key_nodes: tuple[Check, ...] = ()


class Told(StrEnum):
    """A part of the solution that an agent may be told, where its configuration says so.

    `key_nodes`: the states on the way to the goal; an agent that is told these is no contestant.
    `length`: how many actions the reference takes, which some published step limits are made of.
    """

    KEY_NODES = "key_nodes"
    LENGTH = "length"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """The parts of a task's solution that an agent is told.

    Attributes:
        key_nodes: empty where the agent is not told them.
        url_of: see `Reference`.
        length: how many actions the reference takes in this world, `stop` not counted; None where
            the agent is not told.
    """

    url_of: Callable[[str], str]
    key_nodes: tuple[Check, ...] = ()
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent does next.

    Attributes:
        thought: why, as the agent put it.
        input_tokens, output_tokens: what deciding cost, 0 for agents without a model.
        exchanges: what was asked of models for it; kept in the evidence. Arena's own client has
            handed in its own already, and none is kept twice.
        usd: what deciding cost in money; None where nobody knows.
    """

    action: Action
    thought: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    exchanges: tuple[ModelExchange, ...] = field(default=(), compare=False, repr=False)
    usd: float | None = None


class Agent(Protocol):
    """One agent for one episode: made fresh for each."""

    async def decide(self, observation: Observation) -> Decision:
        """Choose the next action.

        Raises:
            AgentError: the agent gives up for a reason of its own; the episode ends and is scored.
            ModelError: its model is unavailable; the episode is unscored.
        """


class AgentClass(StrEnum):
    """What an agent's figures stand for.

    `reference`: it plays the task's own solution. `baseline`: it shows what nothing or chance
    achieves. `guided`: it is told the key nodes of the task. `contestant`: it is what a study
    measures.
    """

    REFERENCE = "reference"
    GUIDED = "guided"
    BASELINE = "baseline"
    CONTESTANT = "contestant"


@runtime_checkable
class AgentMaker(Protocol):
    """Makes one agent per episode; its agents may share what is costly to open."""

    @property
    def name(self) -> str:
        """The name that runs and reports show, with the model where there is one."""

    @property
    def observations(self) -> frozenset[str]:
        """The forms of observation that its agents read."""

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:
        """Make the agent for an episode; only a reference agent is given all of it."""

    async def close(self) -> None:
        """Give back what the agents shared, such as connections to a model; safe to repeat."""


@runtime_checkable
class SeesByReference(Protocol):
    """An `AgentMaker` whose agents read further forms of observation for some references."""

    def observations_of(self, actions: Sequence[ReferenceAction]) -> frozenset[str]:
        """The forms that the agent of these reference actions reads beside `observations`."""


OBSERVATIONS: Final[Seam[ObservationForm]] = Seam(
    Group.OBSERVATIONS, "form of observation", filling(ObservationForm)
)
