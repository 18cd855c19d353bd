"""What answers for a site in a world, and what can be asked of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.errors import ManifestError, UnknownNameError, UsageError
from arena_core.worlds import World
from sites.manifest import Site
from sites.registry import SiteRegistry, load_registry
from sites.routes import RouteForm
from sites.upstreams import (
    LiveUpstream,
    ReplicaUpstream,
    StagedUpstream,
    Upstream,
    Upstreams,
    api_login_fault,
    changes_fault,
    is_visited_live,
    kind_in_words,
    sql_fault,
    upstream_of,
)

SHIPPED = load_registry(())
MEMBER = {
    "username": "anna",
    "password": "a-secret-of-anna",
    "login": {"path": "/login", "fields": {"user": "{username}"}},
    "proof": {"path": "/me", "contains": "anna"},
}
API = {"scheme": "basic", "username": "a", "secret": "s", "proof": {"path": "/", "contains": "x"}}
IMAGE = {"tag": "arena/x:1", "published": "registry.test/x:1"}
HEALTH = {"path": "/", "contains": "x"}
DATABASE = {"engine": "mariadb", "port": 3306, "name": "d", "user": "u", "password": "p"}
ORIGIN = "https://www.shop.example"


def site(name: str = "shop", **more: object) -> Site:
    return Site.model_validate(
        {
            "name": name,
            "title": name,
            "summary": "a site",
            "host": f"{name}.arena.test",
            "stateful": True,
            "image": IMAGE,
            "port": 8000,
            "health": HEALTH,
            "resources": {"memory_mb": 64, "cpus": 1, "pids": 8},
            **more,
        }
    )


STAGED = {"image": IMAGE, "port": 443, "health": HEALTH}
PLAIN = site("forum", database=DATABASE, roles={"member": MEMBER | {"api": API}, "guest": MEMBER})
LIVE = site(live={"origin": ORIGIN}, database=DATABASE)
STAGEABLE = site(live={"origin": ORIGIN, "staged": STAGED})

sites = st.sampled_from([PLAIN, LIVE, STAGEABLE, *SHIPPED.sites.values()])


@given(sites, st.booleans())
def test_offline_only_a_replica_ever_answers(any_site: Site, staged: bool) -> None:  # noqa: FBT001
    upstream = upstream_of(any_site, World.OFFLINE, staged=staged)
    assert upstream == ReplicaUpstream(any_site)
    assert upstream.origin == f"http://{any_site.host}"
    assert not is_visited_live(upstream)


@given(sites)
def test_online_nothing_is_staged_unless_asked_for(any_site: Site) -> None:
    upstream = upstream_of(any_site, World.ONLINE)
    assert isinstance(upstream, LiveUpstream if any_site.live else ReplicaUpstream)
    assert is_visited_live(upstream) == (any_site.live is not None)


@given(sites)
def test_what_is_to_be_staged_never_leads_to_the_real_web(any_site: Site) -> None:
    try:
        upstream = upstream_of(any_site, World.ONLINE, staged=True)
    except UsageError:
        assert any_site.live is not None
        assert any_site.live.staged is None
    else:
        assert isinstance(upstream, StagedUpstream if any_site.live else ReplicaUpstream)


def test_a_live_origin_that_cannot_be_staged_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="site 'shop' has no staged live origin") as refused:
        upstream_of(LIVE, World.ONLINE, staged=True)
    assert "--staged" in refused.value.hint


@pytest.mark.parametrize(
    ("upstream", "origin", "form", "called"),
    [
        (upstream_of(LIVE, World.OFFLINE), "http://shop.arena.test", RouteForm.REPLICA, "replica"),
        (upstream_of(LIVE, World.ONLINE), ORIGIN, RouteForm.LIVE, "live origin"),
        (
            upstream_of(STAGEABLE, World.ONLINE, staged=True),
            ORIGIN,
            RouteForm.LIVE,
            "staged live origin",
        ),
    ],
    ids=["replica", "live", "staged"],
)
def test_an_upstream_says_where_it_is_and_whose_paths_it_has(
    upstream: Upstream, origin: str, form: RouteForm, called: str
) -> None:
    assert (upstream.origin, upstream.route_form) == (origin, form)
    assert kind_in_words(upstream) == called


def test_who_can_log_in_is_said_by_what_answers() -> None:
    live = {**MEMBER, "password": "env:A"}
    shop = site(roles={"a": MEMBER, "b": MEMBER}, live={"origin": ORIGIN, "roles": {"a": live}})
    assert set(upstream_of(shop, World.OFFLINE).roles) == {"a", "b"}
    assert set(upstream_of(shop, World.ONLINE).roles) == {"a"}


@given(sites, st.sampled_from(World), st.booleans())
def test_only_a_replica_answers_questions_beyond_its_pages(
    any_site: Site,
    world: World,
    staged: bool,  # noqa: FBT001
) -> None:
    if staged and (any_site.live is None or any_site.live.staged is None):
        return
    upstream = upstream_of(any_site, world, staged=staged)
    faults = [sql_fault(upstream), changes_fault(upstream)]
    faults += [api_login_fault(upstream, role) for role in any_site.roles]
    if is_visited_live(upstream):
        assert all(fault and f"behind the live '{any_site.name}'" in fault for fault in faults)
    else:
        assert (faults[0] is None) == (any_site.database is not None)
        assert faults[1] is None


def test_an_api_is_asked_by_roles_that_have_a_login_to_it() -> None:
    replica = upstream_of(PLAIN, World.OFFLINE)
    assert api_login_fault(replica, "member") is None
    wanted = "site 'forum' has no API login of role 'guest'; there are: member"
    assert api_login_fault(replica, "guest") == wanted


def test_the_upstreams_of_a_task_are_those_of_its_sites_in_order() -> None:
    registry = SiteRegistry({"shop": STAGEABLE, "forum": PLAIN})
    found = registry.upstreams(["forum", "shop"], World.ONLINE, staged=True)
    assert list(found.by_site) == ["forum", "shop"]
    assert found.replicas == ("forum",)
    assert [one.site.name for one in found.staged] == ["shop"]
    assert found.only(["shop"]).by_site == {"shop": found.of("shop")}


def test_a_page_is_found_at_what_answers() -> None:
    rules = [{"logical": "/product/{id}", "replica": "/catalogue/{id}/", "live": "/p/{id}"}]
    registry = SiteRegistry({"shop": site(routes=rules, live={"origin": ORIGIN})})
    online = registry.upstreams(["shop"], World.ONLINE)
    assert online.url("shop:/product/7?q=1#top") == f"{ORIGIN}/p/7?q=1#top"
    offline = registry.upstreams(["shop"], World.OFFLINE)
    assert offline.url("shop:/product/7") == "http://shop.arena.test/catalogue/7/"


def test_a_page_that_a_route_cannot_fill_says_at_what() -> None:
    rules = [{"logical": "/sale", "replica": "/sale/{season}", "live": "/sale"}]
    registry = SiteRegistry({"shop": site(routes=rules, live={"origin": ORIGIN})})
    with pytest.raises(ManifestError, match="'/sale' has no form on its replica"):
        registry.upstreams(["shop"], World.OFFLINE).url("shop:/sale")


def test_a_site_that_is_not_visited_is_none_of_the_upstreams() -> None:
    found = Upstreams(World.OFFLINE, {"shop": ReplicaUpstream(LIVE)})
    for ask in (lambda: found.of("wiki"), lambda: found.url("wiki:/"), lambda: found.only(["x"])):
        with pytest.raises(UnknownNameError, match="is not visited here; there are: shop"):
            ask()
