from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import ONE_QUICK

from arena_core.errors import ManifestError, UnknownNameError
from arena_core.worlds import World
from sites.manifest import Site
from sites.registry import RESERVED_NAMES, SiteRegistry, load_registry, own_site_fault

SHIPPED = load_registry()


def _site(name: str, **fields: object) -> Site:
    return Site.model_validate(
        {
            "name": name,
            "title": name,
            "summary": "a site",
            "host": f"{name}.arena.test",
            "stateful": False,
            "image": {"tag": f"arena/{name}:1", "published": f"registry.test/{name}:1"},
            "port": 8000,
            "health": {"path": "/", "contains": "x"},
            "resources": {"memory_mb": 64, "cpus": 1, "pids": 8},
            **fields,
        }
    )


ATLAS = SiteRegistry(
    {
        "shop": _site(
            "shop",
            routes=[
                {"logical": "/product/{id}", "replica": "/catalogue/{id}/", "live": "/p/{id}"},
                {"logical": "/sale", "replica": "/sale/{season}", "live": "/sale"},
            ],
            live={"origin": "https://www.shop.example"},
        ),
        "forum": _site("forum"),
    }
)


@pytest.mark.parametrize(
    ("url", "logical"),
    [
        ("http://shop.arena.test/catalogue/12/?a=1&b=%20#top", "shop:/product/12?a=1&b=%20#top"),
        ("https://www.shop.example/p/12", "shop:/product/12"),
        ("https://WWW.Shop.Example/p/12", "shop:/product/12"),
        ("http://shop.arena.test", "shop:/"),
        ("http://forum.arena.test/f/books", "forum:/f/books"),
        ("http://shop.arena.test/p/12", "shop:/p/12"),
        ("https://evil.example/http://shop.arena.test/", None),
        ("https://shop.arena.test.evil.example/", None),
        ("https://evilwww.shop.example/", None),
        ("about:blank", None),
        ("data:text/html,x", None),
        ("chrome-error://chromewebdata/", None),
        ("http://[broken/", None),
        ("http://[::1", None),
        ("http://shop.arena.test\u2100/", None),
        ("", None),
    ],
)
def test_a_url_has_one_logical_form_in_both_worlds(url: str, logical: str | None) -> None:
    assert ATLAS.logical(url) == logical


@given(st.text(max_size=60))
def test_no_url_makes_mapping_raise(text: str) -> None:
    ATLAS.logical(text)
    ATLAS.logical(f"http://{text}")
    ATLAS.logical(f"http://shop.arena.test/{text}")


@given(
    st.integers(1, 10**6),
    st.sampled_from(["", "?q=kettle&q=pot", "?a=%2520", "#reviews", "?q=1#top"]),
    st.sampled_from(World),
)
def test_a_logical_url_survives_the_way_there_and_back(
    number: int, tail: str, world: World
) -> None:
    logical = f"shop:/product/{number}{tail}"
    assert ATLAS.logical(ATLAS.url(logical, world)) == logical


def test_each_world_has_its_own_url() -> None:
    assert ATLAS.url("shop:/product/12?q=1", World.OFFLINE) == (
        "http://shop.arena.test/catalogue/12/?q=1"
    )
    assert ATLAS.url("shop:/product/12?q=1", World.ONLINE) == "https://www.shop.example/p/12?q=1"


def test_a_site_without_a_live_origin_stays_a_replica_online() -> None:
    assert ATLAS.url("forum:/f/books", World.ONLINE) == "http://forum.arena.test/f/books"


def test_a_site_alone_is_its_start_page() -> None:
    assert ATLAS.url("shop:", World.OFFLINE) == "http://shop.arena.test/"


def test_a_page_without_a_form_in_a_world_is_a_clear_error() -> None:
    with pytest.raises(ManifestError, match="site 'shop': '/sale' has no form on its replica"):
        ATLAS.url("shop:/sale", World.OFFLINE)


def test_an_unknown_site_is_answered_with_those_there_are() -> None:
    for call in (lambda: ATLAS.url("mall:/", World.OFFLINE), lambda: ATLAS.select(["mall"])):
        with pytest.raises(UnknownNameError, match="unknown site 'mall'; there are: forum, shop"):
            call()


def test_sites_are_selected_in_the_order_given_all_if_none_is() -> None:
    assert [site.name for site in ATLAS.select(["shop", "forum", "shop"])] == ["shop", "forum"]
    assert [site.name for site in ATLAS.select([])] == ["forum", "shop"]


def test_there_is_a_shipped_site() -> None:
    assert SHIPPED.sites


@pytest.mark.parametrize("name", sorted(SHIPPED.sites))
def test_every_shipped_manifest_maps_its_own_pages(name: str) -> None:
    site = SHIPPED.site(name)
    for world in World:
        for path in (site.health.path, "/", *(role.proof.path for role in site.roles.values())):
            url = SHIPPED.url(f"{name}:{path}", world)
            logical = SHIPPED.logical(url)
            assert logical is not None
            assert logical.rstrip("/") == f"{name}:{path}".rstrip("/")
            assert SHIPPED.url(logical, world) == url


@pytest.mark.parametrize("name", sorted(SHIPPED.sites))
@given(value=st.text("abcxyz0189-", min_size=1, max_size=12), world=st.sampled_from(World))
def test_every_shipped_route_leads_there_and_back(name: str, value: str, world: World) -> None:
    for rule in SHIPPED.site(name).routes:
        path = _filled(rule.logical, value)
        url = SHIPPED.url(f"{name}:{path}", world)
        assert SHIPPED.logical(url) == f"{name}:{path}"


def _filled(template: str, value: str) -> str:
    filled = template
    while "{" in filled:
        before, _, rest = filled.partition("{")
        filled = f"{before}{value}{rest.partition('}')[2]}"
    return filled


def _write(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir()
    (folder / name / "site.yaml").write_text(text, encoding="utf-8")


def _manifest(name: str, host: str, **more: str) -> str:
    image = f"{{tag: '{more.get('tag', f'own/{name}:1')}', published: 'r.test/{name}:1'}}"
    return (
        f"name: {name}\ntitle: x\nsummary: x\nhost: {host}\nstateful: false\nport: 80\n"
        f"image: {more.get('image', image)}\nhealth: {{path: /, contains: x}}\n"
        "resources: {memory_mb: 64, cpus: 1, pids: 8}\n" + more.get("rest", "")
    )


def test_a_folder_of_ones_own_adds_its_sites(tmp_path: Path) -> None:
    _write(tmp_path, "mine", _manifest("mine", "mine.arena.test"))
    registry = load_registry([tmp_path])
    assert set(registry.sites) == {*SHIPPED.sites, "mine"}
    assert registry.manifest("mine") == str(tmp_path / "mine" / "site.yaml")
    assert Path(registry.manifest("shop")).is_file()


def _refusal(folder: Path, name: str) -> str:
    """Return why a site cannot be used; all others can."""
    registry = load_registry([folder])
    assert set(registry.broken) == {name}
    assert set(SHIPPED.sites) <= set(registry.sites)
    assert name not in registry.own
    return registry.broken[name].message


def test_a_broken_site_of_ones_own_stands_in_nobodys_way_who_does_not_ask_for_it(
    tmp_path: Path,
) -> None:
    _write(tmp_path, "good", _manifest("good", "good.arena.test"))
    _write(tmp_path, "bad", "name: [bad\n")
    registry = load_registry([tmp_path])
    assert registry.site("good").name == "good"
    assert [site.name for site in registry.select(["shop", "good"])] == ["shop", "good"]
    with pytest.raises(ManifestError, match=r"bad/site\.yaml:2: not valid YAML"):
        registry.select(["bad"])


def test_a_manifest_carries_its_folders_name(tmp_path: Path) -> None:
    _write(tmp_path, "mine", _manifest("yours", "mine.arena.test"))
    assert _refusal(tmp_path, "mine").endswith(
        "mine/site.yaml:1: name: must equal the folder's name (found 'yours')"
    )


def test_a_manifest_is_called_site_yaml(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "site.yml").write_text(_manifest("mine", "mine.arena.test"))
    assert "must be called site.yaml" in _refusal(tmp_path, "mine")


def test_two_sites_cannot_have_one_host(tmp_path: Path) -> None:
    _write(tmp_path, "mine", _manifest("mine", "mine.arena.test"))
    _write(tmp_path, "yours", _manifest("yours", "mine.arena.test"))
    refusal = _refusal(tmp_path, "yours")
    assert "yours/site.yaml:4: host: 'mine.arena.test' belongs to site 'mine'" in refusal


LIVE = "live: {origin: 'https://%s'}\n"
STAGED = (
    "live:\n  origin: https://mine.example\n  staged:\n"
    "    image: {tag: '%s', published: 'r.test/x:1'}\n"
    "    port: 8443\n    health: {path: /, contains: x}\n"
)
PUBLISHED = "{tag: 'own/mine:1', published: '%s'}"


@ONE_QUICK
@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        ({"tag": "arena/shop:1"}, "image.tag: 'arena/shop:1' must begin with own/"),
        ({"tag": "docker.io/arena/shop:1"}, "must begin with own/"),
        ({"tag": "library/own/mine:1"}, "must begin with own/"),
        ({"tag": "arena/mine:1"}, "must begin with own/"),
        ({"tag": "debian:bookworm-slim"}, "must begin with own/"),
        ({"tag": "ARENA/shop:1"}, "image.tag: must be a local image's name and version"),
        ({"tag": "arena/shop"}, "image.tag: must be a local image's name and version"),
        ({"tag": "own/../arena/shop:1"}, "image.tag: must be a local image's name and version"),
        ({"tag": "own//shop:1"}, "image.tag: must be a local image's name and version"),
        ({"tag": "own/other:1"}, "'own/other:1' belongs to site 'another' already"),
        ({"tag": "docker.io/own/other:1"}, "must begin with own/"),
        ({"tag": "own/mine:1-unsealed"}, "must not end as images under way"),
        ({"tag": "own/mine:1-pulled"}, "must not end as images under way"),
        ({"image": "{tag: 'own/mine:1', published: 'arena/shop:1'}"}, "pulling would replace it"),
        (
            {"image": PUBLISHED % f"docker.io/arena/shop:1@sha256:{0:064}"},
            "image.published: 'docker.io/arena/shop:1@",
        ),
        (
            {"image": "{tag: 'own/mine:1', published: 'docker.io/library/debian:bookworm-slim'}"},
            "is an image of Arena's",
        ),
        ({"image": "{tag: 'own/mine:1', published: 'own/other:1'}"}, "an image of another's"),
        ({"rest": STAGED % "arena/shop-live:1"}, "live.staged.image.tag: 'arena/shop-live:1' must"),
        ({"rest": STAGED % "own/mine:1"}, "live.staged.image.tag: 'own/mine:1' belongs to site"),
        ({"host": "shop.arena.test"}, "host: 'shop.arena.test' belongs to site 'shop'"),
        ({"host": "Shop.arena.test"}, "host: must be a host name of lower-case letters"),
        ({"host": "shop.arena.test."}, "host: must be a host name"),
        ({"host": "a.shop.arena.test"}, "would share cookies"),
        ({"host": "arena.test"}, "would share cookies"),
        (
            {"rest": LIVE % "en.wikipedia.org"},
            "live.origin: 'en.wikipedia.org' belongs to site 'wiki'",
        ),
        (
            {"rest": LIVE % "shop.arena.test"},
            "live.origin: 'shop.arena.test' belongs to site 'shop'",
        ),
        ({"rest": LIVE % "en.wikipedia.org:8443"}, "belongs to site 'wiki'"),
        ({"rest": LIVE % "mine.arena.test"}, "is the replica's host"),
    ],
)
def test_what_belongs_to_another_site_is_refused_however_it_is_spelled(
    tmp_path: Path, manifest: dict[str, str], says: str
) -> None:
    _write(tmp_path, "another", _manifest("another", "another.arena.test", tag="own/other:1"))
    host = manifest.pop("host", "mine.arena.test")
    _write(tmp_path, "mine", _manifest("mine", host, **manifest))
    assert says in _refusal(tmp_path, "mine")


@ONE_QUICK
@pytest.mark.parametrize("name", ["shop", "all", "base", "supervisor", "talk", "wiki-live"])
def test_a_site_of_ones_own_cannot_take_the_name_of_another(tmp_path: Path, name: str) -> None:
    _write(tmp_path, name, _manifest(name, "mine.arena.test"))
    registry = load_registry([tmp_path])
    assert registry.own == {}
    assert name in registry.broken
    if name in SHIPPED.sites:
        assert registry.site(name) == SHIPPED.site(name)


def test_the_folders_of_arenas_own_images_are_reserved() -> None:
    docker = Path(__file__).parents[3] / "docker"
    folders = {one.name for one in docker.iterdir() if one.is_dir()}
    assert folders <= {*SHIPPED.sites, *RESERVED_NAMES}


def test_no_two_sites_of_arena_share_a_host_or_an_image() -> None:
    for site in SHIPPED.sites.values():
        others = [one for one in SHIPPED.sites.values() if one is not site]
        image = site.image.model_copy(update={"tag": f"own/{site.name}:1", "published": None})
        own = site.model_copy(update={"image": image})
        if own.live is None or own.live.staged is None:
            assert own_site_fault(own, others) is None


def test_sites_of_ones_own_are_found_from_the_folder_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "arena-sites").mkdir()
    _write(tmp_path / "arena-sites", "mine", _manifest("mine", "mine.arena.test"))
    monkeypatch.delenv("ARENA_SITES", raising=False)
    monkeypatch.chdir(tmp_path)
    assert load_registry().own == {"mine": tmp_path / "arena-sites" / "mine"}


def test_a_variable_names_the_folders_of_ones_own_sites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        _write(tmp_path / name, f"my{name}", _manifest(f"my{name}", f"my{name}.arena.test"))
    monkeypatch.setenv("ARENA_SITES", f"{tmp_path / 'one'}{os.pathsep}{tmp_path / 'two'}")
    assert set(load_registry().own) == {"myone", "mytwo"}


@pytest.mark.parametrize("what", ["nowhere", "file", "mine"])
def test_what_the_variable_names_must_be_a_folder_of_sites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    (tmp_path / "file").touch()
    _write(tmp_path, "mine", _manifest("mine", "mine.arena.test"))
    monkeypatch.setenv("ARENA_SITES", str(tmp_path / what))
    with pytest.raises(ManifestError, match=f"ARENA_SITES names .*{what}, which is") as caught:
        load_registry()
    assert "name the folder" in caught.value.hint
