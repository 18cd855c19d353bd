from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena_core.errors import ManifestError
from orchestrator.images.recipes import RecipeBook, recipes_of
from sites.atlas import Atlas
from sites.manifest import Site

MakeSite = Callable[..., Site]
MakeAtlas = Callable[..., Atlas]


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


def hash_of(atlas: Atlas, folder: Path, base: str = "sha256:b", name: str = "alpha") -> str:
    [recipe] = recipes_of(atlas.site(name), staged=False)
    return RecipeBook(atlas, folder, base).source_hash(recipe)


def test_what_is_needed_comes_first_and_once(
    folder: Path, site: MakeSite, atlas: MakeAtlas
) -> None:
    alpha = site("alpha", live=staged("arena-test/alpha-live:1", "shared", "arena-test/alpha:1"))
    beta = site("beta", image=image("beta", "arena-test/alpha:1"))
    book = RecipeBook(atlas(alpha, beta), folder, "")

    plain = [recipe.image.tag for recipe in book.in_order([beta], staged=False)]
    both = [recipe.image.tag for recipe in book.in_order([beta, alpha], staged=True)]

    assert plain == ["arena-test/alpha:1", "arena-test/beta:1"]
    assert both == ["arena-test/alpha:1", "arena-test/beta:1", "arena-test/alpha-live:1"]


def test_an_image_that_needs_itself_is_refused(
    folder: Path, site: MakeSite, atlas: MakeAtlas
) -> None:
    alpha = site("alpha", image=image("alpha", "arena-test/beta:1"))
    beta = site("beta", image=image("beta", "arena-test/alpha:1"))

    with pytest.raises(ManifestError, match=r"needs itself: .*alpha.* → .*beta.* → .*alpha"):
        RecipeBook(atlas(alpha, beta), folder, "").in_order([alpha], staged=False)


def test_a_need_that_no_site_has_is_named(folder: Path, site: MakeSite, atlas: MakeAtlas) -> None:
    alpha = site("alpha", image=image("alpha", "arena-test/none:1"))

    with pytest.raises(ManifestError, match="needs arena-test/none:1"):
        RecipeBook(atlas(alpha), folder, "").in_order([alpha], staged=False)


def test_the_source_hash_moves_with_everything_an_image_is_made_from(
    folder: Path, site: MakeSite, atlas: MakeAtlas
) -> None:
    plain = atlas(site("alpha"))
    hashes = [
        hash_of(plain, folder),
        hash_of(plain, folder, base="sha256:other"),
        hash_of(atlas(site("alpha", warm=["/more"])), folder),
        hash_of(atlas(site("alpha", fingerprint={"files": ["/srv"]})), folder),
        hash_of(atlas(site("alpha", health={"path": "/", "contains": "x"})), folder),
    ]
    (folder / "alpha" / "data.txt").write_text("changed\n")
    hashes.append(hash_of(plain, folder))

    assert len(set(hashes)) == len(hashes)


def test_the_source_hash_stays_where_only_words_and_accounts_change(
    folder: Path, site: MakeSite, atlas: MakeAtlas
) -> None:
    role = {
        "username": "u",
        "password": "p",
        "login": {"path": "/login", "fields": {"u": "{username}"}},
        "proof": {"path": "/me", "contains": "u"},
    }
    before = hash_of(atlas(site("alpha")), folder)
    (folder / "beta" / "data.txt").write_text("another image's\n")

    assert hash_of(atlas(site("alpha", title="Other", roles={"user": role})), folder) == before


def test_a_change_below_moves_the_hash_of_what_stands_on_it(
    folder: Path, site: MakeSite, atlas: MakeAtlas
) -> None:
    both = atlas(site("alpha"), site("beta", image=image("beta", "arena-test/alpha:1")))
    before = hash_of(both, folder, name="beta")
    (folder / "alpha" / "data.txt").write_text("changed\n")

    assert hash_of(both, folder, name="beta") != before


def test_what_was_hashed_is_what_is_built_even_if_a_file_changes_meanwhile(
    folder: Path, site: MakeSite, atlas: MakeAtlas
) -> None:
    book = RecipeBook(atlas(site("alpha")), folder, "")
    [recipe] = recipes_of(site("alpha"), staged=False)
    book.source_hash(recipe)
    (folder / "alpha" / "data.txt").write_text("edited during the build\n")

    contents = {file.path: file.content for file in book.files(recipe)}

    assert contents["alpha/data.txt"] == b"alpha\n"
