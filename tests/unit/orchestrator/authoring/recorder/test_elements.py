"""Elements are found again by the CSS paths that the watcher gives them."""

from __future__ import annotations

import pytest
from support.recorder.made_recording import event, page_of

from orchestrator.authoring.recorder.elements import FORMS, PATHS, PageElements, Target
from orchestrator.browser.observation import AXTREE, AxTree, Node, Observation
from orchestrator.browser.observations.forms import PageNode, PageSnapshot, Rect


class Page:
    """A page as a form reads it: elements with the ids of their nodes."""

    url = "http://wiki.arena.test/"
    dialogs = ()

    def __init__(self, root: PageNode, named: dict[int, PageNode]) -> None:
        self.root = root
        self.named = named

    async def axtree(self) -> AxTree:
        nodes = (Node(id=one, depth=0, role="button", name=f"b{one}") for one in self.named)
        return AxTree(tuple(nodes))

    async def snapshot(self) -> PageSnapshot:
        return PageSnapshot(
            root=self.root,
            viewport=Rect(0, 0, 1, 1),
            scrolled=0,
            height=1,
            find=self.named.get,
        )


def element(tag: str, *children: PageNode, **attributes: str) -> PageNode:
    made = PageNode(tag=tag, attributes=attributes, children=list(children))
    for one in children:
        one.parent = made
    return made


async def paths_in(root: PageNode, *named: PageNode) -> list[str]:
    page = Page(root, dict(enumerate(named, start=1)))
    found = await FORMS[PATHS].observe(page)  # type: ignore[arg-type]
    assert isinstance(found, dict)
    return list(found)


async def test_a_path_counts_twins_and_begins_at_an_id() -> None:
    first, second, alone = element("button"), element("button"), element("a")
    main = element("main", element("p", first), element("p", second, alone), id="m")
    root = element("#document", element("html", element("body", main)))
    assert await paths_in(root, first, second, alone, main) == [
        "#m > p:nth-of-type(1) > button",
        "#m > p:nth-of-type(2) > button",
        "#m > p:nth-of-type(2) > a",
        "#m",
    ]


async def test_an_id_that_stands_twice_is_none() -> None:
    inner = element("button")
    root = element(
        "#document", element("html", element("div", id="x"), element("div", inner, id="x"))
    )
    assert await paths_in(root, inner) == ["html > div:nth-of-type(2) > button"]


@pytest.mark.parametrize(
    ("name", "path"),
    [("7up", r"#\37 up"), ("a b", r"#a\ b"), ("-1", r"#-\31 "), ("é:x", r"#é\:x"), ("-", r"#\-")],
)
async def test_ids_are_escaped_as_css_does(name: str, path: str) -> None:
    button = element("button", id=name)
    assert await paths_in(element("#document", element("html", button)), button) == [path]


async def test_a_path_that_fits_two_frames_names_nothing() -> None:
    one, other = element("button"), element("button")
    frames = [
        element("iframe", element("#document", element("html", button))) for button in (one, other)
    ]
    root = element("#document", element("html", *frames))
    assert await paths_in(root, one, other) == []


def test_a_target_is_counted_among_those_of_its_name() -> None:
    page = page_of(("button", "Add", "#a"), ("button", "Add", "#b"))
    assert page.target(event("click", path="#b", name="ADD")) == Target("button", "Add", 1)
    inside = page_of(("button", "Add", "#host > button"))
    shadow = event("click", path="#host >>> button", name="")
    assert inside.target(shadow) == Target("button", "Add")


def test_an_element_that_was_not_seen_is_called_as_the_watcher_calls_it() -> None:
    page = page_of(("button", "Add", "#a"))
    assert page.target(event("click", name="New", path="#new")) == Target("button", "New")


def test_a_form_that_a_page_refused_leaves_the_tree() -> None:
    seen = Observation(step=0, url="", title="", tabs=(), parts={AXTREE: AxTree()})
    assert PageElements.of(seen, None) == PageElements()
    assert page_of(("heading", "Kettle", "h1")).heading == "Kettle"
