"""Checks by what is found on a page."""

from __future__ import annotations

from typing import Any

import pytest
from support.runs.make_evidence import make_check

from evaluators.episode_view import HttpAnswer, PageLook, PageSeen
from evaluators.locators.page import PageLocator, PageOfLastUrl


@pytest.mark.parametrize(
    ("pattern", "url", "opened"),
    [
        ("/f/*/*/", "http://forum/f/books/12/my-post?x=1#c", "http://forum/f/books/12/"),
        ("/f/*/*/", "http://forum/f/books/12", "http://forum/f/books/12/"),
        ("/f/*/*", "http://forum/f/books/12/a", "http://forum/f/books/12"),
        ("/f/*/*/", "http://forum/f/books", "http://forum/f/books"),
        ("/f/*/*/", "http://forum/u/ada/12/", "http://forum/u/ada/12/"),
        ("/f/*/*/", "about:blank", "about:blank"),
    ],
)
def test_the_page_of_the_last_url(pattern: str, url: str, opened: str) -> None:
    assert PageOfLastUrl(last_url=pattern).of(url) == opened


class View:
    """An episode with one page, and an API that knows the newest order."""

    def __init__(self, url: str = "http://forum/f/books/12/post", order: str = '"00012"') -> None:
        self.own_page = self.fresh_pages = self.apis = self
        self.url = url
        self.order = order
        self.opened: list[str] = []

    async def look(self, *page: Any) -> PageSeen:
        self.opened += [str(page[0])] if isinstance(page[0], str) else []
        return PageSeen(("one", "two", "three"), {"thrown": "no"})

    async def look_at(self, url: str, what: PageLook) -> PageSeen:
        return await self.look(url, what)

    async def get(self, *_: object) -> HttpAnswer:
        return HttpAnswer("http://shop/orders", 200, f'{{"items": [{{"id": {self.order}}}]}}')


async def found(view: View, **locate: Any) -> tuple[str, ...]:
    told = {"script": "1", **locate}
    return (await PageLocator(**told).look(view)).values  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pick", "values"),
    [
        ("all", ("one", "two", "three")),
        ("first", ("one",)),
        ("last", ("three",)),
        (2, ("two",)),
        (9, ()),
        ("joined", ("one two three",)),
    ],
)
async def test_which_of_the_values_count(pick: Any, values: tuple[str, ...]) -> None:
    assert await found(View(), pick=pick) == values


async def test_a_page_that_an_api_names() -> None:
    api = {"site": "shop", "path": "/orders", "role": "admin", "json_path": "$.items[*].id"}
    view = View()
    assert await found(view, at={"api": api, "page": "shop:/order/{int}/"})
    assert await found(view, at={"api": api, "page": "shop:/order/{}/"})
    assert view.opened == ["shop:/order/12/", "shop:/order/00012/"]
    assert await found(View(order='"none"'), at={"api": api, "page": "shop:/order/{int}/"}) == ()


async def test_a_page_of_the_last_url() -> None:
    view = View()
    assert await found(view, at={"last_url": "/f/*/*/"})
    assert view.opened == ["http://forum/f/books/12/"]
    assert await found(View("about:blank"), at={"last_url": "/f/*/*/"}) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"selector": "h1", "script": "1"},
        {"script": "1", "attribute": "x"},
        {"selector": "h1", "attribute": "x", "element_property": "value"},
        {"selector": "h1", "spelling": "python"},
        {"html": True, "at": {"last_url": "f"}},
        {"html": True, "at": {"api": {"site": "shop", "path": "/x"}, "page": "shop:/y"}},
        {"html": True, "at": {"last_url": "/f"}, "role": "x"},
        {"script": "1", "pick": 0},
    ],
)
def test_a_locator_that_says_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        make_check({"by": "page", **wrong}, "x")


@pytest.mark.parametrize(
    "wrong", [{"script": "1", "prep": ["x"]}, {"script": "1", "at": {"last_url": "/f"}}]
)
def test_a_key_node_changes_nothing_and_opens_nothing(wrong: dict[str, Any]) -> None:
    make_check({"by": "page", **wrong}, "x")
    with pytest.raises(ValueError, match=r"key node|when: end"):
        make_check({"by": "page", **wrong}, "x", when="step")
