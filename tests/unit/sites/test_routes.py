from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sites.routes import RouteForm, RouteRule, concrete_path, logical_path

RULES = (
    RouteRule(
        logical="/product/{id}/{slug}", replica="/catalogue/{slug}_{id}/", live="/p/{id}/{slug}"
    ),
    RouteRule(
        logical="/product/{id}/{slug}/reviews",
        replica="/catalogue/{slug}_{id}/reviews/",
        live="/p/{id}/{slug}/reviews/",
    ),
    RouteRule(logical="/article/{title*}", replica="/content/book/{title*}", live="/wiki/{title*}"),
    RouteRule(logical="/basket", replica="/basket/", live="/bag/"),
    RouteRule(logical="/sale", replica="/sale/{season}/", live="/sale"),
    RouteRule(logical="/user/{name}", replica="/u/{id}/{name}", live="/user/{name}"),
)
SLUG = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=20)
TITLE = st.lists(st.text("abcXYZ_%20()'", min_size=1), min_size=1, max_size=3).map("/".join)


@given(st.integers(1, 10**6), SLUG, st.sampled_from(RouteForm))
def test_a_pages_path_survives_the_way_there_and_back(
    number: int, slug: str, form: RouteForm
) -> None:
    for logical in (f"/product/{number}/{slug}", f"/product/{number}/{slug}/reviews"):
        concrete = concrete_path(RULES, logical, form)
        assert concrete is not None
        assert logical_path(RULES, concrete, form) == logical


@given(TITLE, st.sampled_from(RouteForm))
def test_the_rest_of_a_path_survives_too(title: str, form: RouteForm) -> None:
    concrete = concrete_path(RULES, f"/article/{title}", form)
    assert concrete in (f"/content/book/{title}", f"/wiki/{title}")
    assert logical_path(RULES, concrete, form) == f"/article/{title}"


@given(st.integers(1, 10**6), SLUG)
def test_both_worlds_have_one_logical_path(number: int, slug: str) -> None:
    offline = logical_path(RULES, f"/catalogue/{slug}_{number}/", RouteForm.REPLICA)
    online = logical_path(RULES, f"/p/{number}/{slug}", RouteForm.LIVE)
    assert offline == online == f"/product/{number}/{slug}"


@given(
    st.text("abc/_{}.*+?()[]\\ é", max_size=30).map(lambda rest: f"/{rest}"),
    st.sampled_from(RouteForm),
)
def test_a_path_that_no_rule_knows_is_its_own(path: str, form: RouteForm) -> None:
    assert logical_path((), path, form) == path
    assert concrete_path((), path, form) == path


@given(st.text(max_size=40), st.sampled_from(RouteForm))
def test_no_path_makes_mapping_raise(path: str, form: RouteForm) -> None:
    logical_path(RULES, path, form)
    concrete_path(RULES, path, form)


def test_a_rule_is_one_worlds_own() -> None:
    assert logical_path(RULES, "/p/12/kettle", RouteForm.REPLICA) == "/p/12/kettle"
    assert logical_path(RULES, "/bag/", RouteForm.LIVE) == "/basket"


@pytest.mark.parametrize("path", ["/p/12/kettle", "/p/12/kettle/"])
def test_a_trailing_slash_makes_no_other_page(path: str) -> None:
    assert logical_path(RULES, path, RouteForm.LIVE) == "/product/12/kettle"
    assert concrete_path(RULES, "/basket/", RouteForm.LIVE) == "/bag/"
    assert concrete_path(RULES, "/basket", RouteForm.LIVE) == "/bag/"


def test_a_path_that_fits_as_it_stands_is_not_respelled() -> None:
    rules = (
        RouteRule(logical="/list", replica="/c", live="/c"),
        RouteRule(logical="/list/all", replica="/c/", live="/c/"),
    )
    assert logical_path(rules, "/c/", RouteForm.REPLICA) == "/list/all"
    assert logical_path(rules, "/c", RouteForm.REPLICA) == "/list"


def test_a_form_that_needs_more_than_the_logical_path_holds_is_none() -> None:
    assert concrete_path(RULES, "/sale", RouteForm.REPLICA) is None
    assert concrete_path(RULES, "/sale", RouteForm.LIVE) == "/sale"


def test_what_only_one_side_has_is_dropped_on_the_way_to_the_logical_path() -> None:
    assert logical_path(RULES, "/sale/spring/", RouteForm.REPLICA) == "/sale"
    assert logical_path(RULES, "/u/7/emma", RouteForm.REPLICA) == "/user/emma"


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (("/user/{id}/{name}", "/u/{name}", "/user/{id}/{name}"), "{id}, which `replica` has not"),
        (("/user/{id}", "/u/{id}", "/user/{ident}"), "{id}, which `live` has not"),
        (("/article/{a*}", "/content/{a}", "/wiki/{a*}"), "{a*}, which `replica` has not"),
        (("/search?q={q}", "/s/{q}", "/s/{q}"), "neither '?' nor '#'"),
        (("/../{q}", "/s/{q}", "/s/{q}"), "'.' or '..' between slashes"),
    ],
)
def test_a_rule_that_no_visit_could_fit_is_refused(rule: tuple[str, str, str], says: str) -> None:
    logical, replica, live = rule
    with pytest.raises(ValidationError) as caught:
        RouteRule(logical=logical, replica=replica, live=live)
    assert says in str(caught.value)


def test_a_rules_own_letters_are_no_pattern() -> None:
    rules = (
        RouteRule(logical="/a", replica="/x.php", live="/a"),
        RouteRule(logical="/b/{id}", replica="/b.x/{id}", live="/b/{id}"),
    )
    for path in ("/xyphp", "/b-x/1"):
        assert logical_path(rules, path, RouteForm.REPLICA) == path
