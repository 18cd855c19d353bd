from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image

from orchestrator.browser.observation import (
    ARIA,
    AXTREE,
    BOXES,
    HTML,
    PRUNED_HTML,
    SCREENSHOT,
    SOM,
    AriaSnapshot,
    AxTree,
    Box,
    Html,
    Mark,
    MarkedPicture,
    Node,
    Observation,
    Picture,
    PrunedHtml,
    Tab,
)
from orchestrator.browser.observations.axtree import tree_text
from orchestrator.browser.observations.equality import first_difference

BOX = Box(0.0, 0.0, 9.0, 9.0, visible=True)


def picture(*, width: int = 0, height: int = 0, grey: int = 0) -> Picture:
    """Return a white picture with a black or grey patch."""
    image = Image.new("RGB", (40, 120), "white")
    image.paste((grey, grey, grey), (5, 5, 5 + width, 5 + height))
    written = BytesIO()
    image.save(written, "png")
    return Picture(written.getvalue(), 40, 120)


def seen(element: int = 7, name: str = "Save") -> Observation:
    nodes = (
        Node(id=1, depth=0, role="main", name=""),
        Node(id=element, depth=1, role="button", name=name),
    )
    parts = {
        AXTREE: AxTree(nodes, tree_text(nodes, ["alert (accepted)"])),
        ARIA: AriaSnapshot(f'- button "{name}" [ref=e{element}]'),
        HTML: Html(f'<button arena="{element}">{name}</button>'),
        PRUNED_HTML: PrunedHtml("<button[A]| Save >", {"A": element}),
        SCREENSHOT: picture(),
        SOM: MarkedPicture(picture(), (Mark(element, "button", name, BOX),)),
        BOXES: {element: BOX},
    }
    tab = Tab(index=0, title="Shop", url="http://shop/", is_current=True)
    return Observation(step=3, url="http://shop/", title="Shop", tabs=(tab,), parts=parts)


def test_the_same_page_at_another_step_is_equal() -> None:
    assert first_difference(seen(), replace(seen(), step=9, last_error="no")) is None


def test_other_ids_are_a_difference_of_every_text() -> None:
    assert first_difference(seen(), seen(8)) == (
        "axtree differs: line 3 is '[8] button \"Save\"' instead of '[7] button \"Save\"'"
    )
    for name in (ARIA, HTML, PRUNED_HTML, SOM, BOXES):
        one, two = (replace(seen(n), parts={name: seen(n).parts[name]}) for n in (7, 8))
        assert (first_difference(one, two) or "").startswith(f"{name} differs: ")


def test_where_a_link_leads_is_compared_though_no_text_says_it() -> None:
    one, two = (
        replace(
            seen(),
            parts={
                AXTREE: AxTree((Node(id=7, depth=0, role="link", name="Log out", url=url),), "")
            },
        )
        for url in ("http://shop/out?nonce=1", "http://shop/out?nonce=2")
    )
    assert "is 'http://shop/out?nonce=2 (level None) of link Log out'" in (
        first_difference(one, two) or ""
    )


@pytest.mark.parametrize("name", [AXTREE, ARIA, HTML, SOM])
def test_another_name_is_a_difference_of_every_form(name: str) -> None:
    one, two = (
        replace(made, parts={name: made.parts[name]}) for made in (seen(), seen(name="Buy"))
    )
    assert "Buy" in (first_difference(one, two) or "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"url": "http://shop/x"}, "the URL is 'http://shop/x' instead of 'http://shop/'"),
        ({"title": "Basket"}, "the title is 'Basket' instead of 'Shop'"),
        (
            {"tabs": ()},
            "the tabs differ: line 1 is missing: 'tab 0 \"Shop\" http://shop/ (current)'",
        ),
        ({"parts": {}}, "forms are [] instead of "),
        (
            {"parts": {**seen().parts, AXTREE: AxTree((), "")}},
            "axtree differs: line 1 is '' instead",
        ),
    ],
)
def test_the_first_difference_is_said_in_words(change: dict[str, object], words: str) -> None:
    other = replace(seen(), **change)  # type: ignore[arg-type]
    assert (first_difference(seen(), other) or "").startswith(words)


@pytest.mark.parametrize(
    ("width", "height", "grey", "is_equal"),
    [
        (1, 16, 0, True),
        (2, 80, 0, True),
        (3, 16, 0, False),
        (1, 90, 0, False),
        (10, 20, 239, True),
        (10, 20, 238, False),
        (10, 21, 239, False),
    ],
)
def test_of_a_picture_only_the_caret_and_what_no_eye_sees_may_differ(
    width: int,
    height: int,
    grey: int,
    is_equal: bool,  # noqa: FBT001
) -> None:
    other_picture = picture(width=width, height=height, grey=grey)
    marked = seen().parts[SOM]
    assert isinstance(marked, MarkedPicture)
    for name, part in (
        (SCREENSHOT, other_picture),
        (SOM, replace(marked, picture=other_picture)),
    ):
        other = replace(seen(), parts={**seen().parts, name: part})
        said = None if is_equal else f"{name} differs: the pictures are not the same"
        assert first_difference(seen(), other) == said
