""""""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena_core.errors import ImageError, ManifestError
from orchestrator.api.opened import OpenArena
from orchestrator.sandbox.images.recipes import RecipeBook, command_for, recipes_of
from sites.manifest import Image, Site
from sites.registry import SiteRegistry

MakeSite = Callable[..., Site]
MakeRegistry = Callable[..., SiteRegistry]


def staged(tag: str, folder: str, *needs: str) -> dict[str, Any]:
    return {
        "origin": "https://www.example.org",
        "staged": {
            "image": {
                "tag": tag,
                "build": {"dockerfile": f"{folder}/Dockerfile", "context": [folder]},
                "needs": list(needs),
            },
            "port": 8443,
            "health": {"path": "/", "contains": "x"},
        },
    }


def image(name: str, *needs: str) -> dict[str, Any]:
    build = {"dockerfile": f"{name}/Dockerfile", "context": [name]}
    return {"tag": f"arena-test/{name}:1", "build": build, "needs": list(needs)}


def hash_of(
    registry: SiteRegistry, folder: Path, base: str = "sha256:b", name: str = "alpha"
) -> str:
    [recipe] = recipes_of(registry.site(name), staged=False)
    return RecipeBook(registry, folder, base).source_hash(recipe)


def test_what_is_needed_comes_first_and_once(
    folder: Path, site: MakeSite, registry: MakeRegistry
) -> None:
    alpha = site("alpha", live=staged("arena-test/alpha-live:1", "shared", "arena-test/alpha:1"))
    beta = site("beta", image=image("beta", "arena-test/alpha:1"))
    book = RecipeBook(registry(alpha, beta), folder, "")

    plain = [recipe.image.tag for recipe in book.in_order([beta], staged=False)]
    both = [recipe.image.tag for recipe in book.in_order([beta, alpha], staged=True)]

    assert plain == ["arena-test/alpha:1", "arena-test/beta:1"]
    assert both == ["arena-test/alpha:1", "arena-test/beta:1", "arena-test/alpha-live:1"]


def test_an_image_that_needs_itself_is_refused(
    folder: Path, site: MakeSite, registry: MakeRegistry
) -> None:
    alpha = site("alpha", image=image("alpha", "arena-test/beta:1"))
    beta = site("beta", image=image("beta", "arena-test/alpha:1"))

    with pytest.raises(ManifestError, match=r"needs itself: .*alpha.* → .*beta.* → .*alpha"):
        RecipeBook(registry(alpha, beta), folder, "").in_order([alpha], staged=False)


def test_a_need_that_no_site_has_is_named(
    folder: Path, site: MakeSite, registry: MakeRegistry
) -> None:
    alpha = site("alpha", image=image("alpha", "arena-test/none:1"))

    with pytest.raises(ManifestError, match="needs arena-test/none:1"):
        RecipeBook(registry(alpha), folder, "").in_order([alpha], staged=False)


def test_the_source_hash_moves_with_everything_an_image_is_made_from(
    folder: Path, site: MakeSite, registry: MakeRegistry
) -> None:
    plain = registry(site("alpha"))
    hashes = [
        hash_of(plain, folder),
        hash_of(plain, folder, base="sha256:other"),
        hash_of(registry(site("alpha", warm=["/more"])), folder),
        hash_of(registry(site("alpha", fingerprint={"files": ["/srv"]})), folder),
        hash_of(registry(site("alpha", health={"path": "/", "contains": "x"})), folder),
    ]
    (folder / "alpha" / "data.txt").write_text("changed\n")
    hashes.append(hash_of(plain, folder))

    assert len(set(hashes)) == len(hashes)


def test_the_source_hash_stays_where_only_words_and_accounts_change(
    folder: Path, site: MakeSite, registry: MakeRegistry
) -> None:
    role = {
        "username": "u",
        "password": "p",
        "login": {"path": "/login", "fields": {"u": "{username}"}},
        "proof": {"path": "/me", "contains": "u"},
    }
    before = hash_of(registry(site("alpha")), folder)
    (folder / "beta" / "data.txt").write_text("another image's\n")

    assert hash_of(registry(site("alpha", title="Other", roles={"user": role})), folder) == before


def test_a_change_below_moves_the_hash_of_what_stands_on_it(
    folder: Path, site: MakeSite, registry: MakeRegistry
) -> None:
    both = registry(site("alpha"), site("beta", image=image("beta", "arena-test/alpha:1")))
    before = hash_of(both, folder, name="beta")
    (folder / "alpha" / "data.txt").write_text("changed\n")

    assert hash_of(both, folder, name="beta") != before


def test_what_was_hashed_is_what_is_built_even_if_a_file_changes_meanwhile(
    folder: Path, site: MakeSite, registry: MakeRegistry
) -> None:
    book = RecipeBook(registry(site("alpha")), folder, "")
    [recipe] = recipes_of(site("alpha"), staged=False)
    book.source_hash(recipe)
    (folder / "alpha" / "data.txt").write_text("edited during the build\n")

    contents = {file.path: file.content for file in book.files(recipe)}

    assert contents["alpha/data.txt"] == b"alpha\n"


Call = Callable[..., Any]

BUILT = {"tag": "own/a:1", "build": {"dockerfile": "a/Dockerfile", "context": ["a"]}}
PULLED = {"tag": "own/a:1", "published": "registry.example/a:1"}
LOADED = {"tag": "own/a:1", "archive": "shopping_final_0712.tar"}


class EmptyEngine:
    """A Docker engine without a single image."""

    async def image(self, tag: str) -> None:
        assert tag

    async def aclose(self) -> None:
        """Close nothing."""


@pytest.mark.parametrize(
    ("image", "command"),
    [
        (BUILT, "arena build a"),
        (PULLED, "arena pull a"),
        (LOADED, "arena load a shopping_final_0712.tar"),
    ],
)
def test_a_missing_image_is_brought_by_what_its_manifest_says(
    image: dict[str, Any], command: str
) -> None:
    assert command_for(Image.model_validate(image), "a") == command


def test_a_staged_origin_is_built_with_an_option() -> None:
    assert command_for(Image.model_validate(BUILT), "a", staged=True) == "arena build a --staged"


def test_pulling_an_image_that_is_nowhere_fails_and_names_the_next_step(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def engine(_: OpenArena) -> EmptyEngine:
        return EmptyEngine()

    monkeypatch.setattr(OpenArena, "engine", engine)
    assert call("site", "published", "webarena").code == 0
    ended = call("pull", "webarena-shopping")
    assert ended.code == ImageError.exit_code
    assert "not here" in ended.out
    assert "built locally" not in ended.out
    assert "→ arena load webarena-shopping shopping_final_0712.tar" in ended.err
