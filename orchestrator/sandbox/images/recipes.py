"""All images that Arena can make, what each is made from, and in which order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from arena_core.errors import ManifestError
from orchestrator.sandbox.images.contexts import (
    ContextFile,
    context_files,
    context_hash,
    named_path,
)
from sites.manifest import Image, Site
from sites.registry import SiteRegistry


def command_for(image: Image, site: str, *, staged: bool = False) -> str:
    """Return the command that brings an image: built, pulled, or loaded, as its manifest says."""
    option = " --staged" if staged else ""
    if image.build is not None:
        return f"arena build {site}{option}"
    if image.published is not None:
        return f"arena pull {site}{option}"
    return f"arena load {site} {image.archive}"


# Part of every source hash: raise it when images are sealed in another way.
_SEALING: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One image to be made: a site's replica, or its staged live origin.

    Attributes:
        staged: whether it is the staged live origin; only replicas are sealed.
    """

    image: Image
    site: Site
    staged: bool

    @property
    def label(self) -> str:
        return f"{self.site.name} (staged live origin)" if self.staged else self.site.name

    @property
    def command(self) -> str:
        return command_for(self.image, self.site.name, staged=self.staged)


class RecipeBook:
    """The recipes of an registry by tag, and the hashes of what they are made from.

    Attributes:
        base_id: the id of the base image; part of every source hash.
    """

    def __init__(self, registry: SiteRegistry, folder: Path, base_id: str) -> None:
        self.registry = registry
        self.folder = folder
        self.base_id = base_id
        self._files: dict[str, tuple[ContextFile, ...]] = {}
        self._hashes: dict[str, str] = {}

    @cached_property
    def by_tag(self) -> Mapping[str, Recipe]:
        return {
            recipe.image.tag: recipe
            for site in self.registry.sites.values()
            for recipe in recipes_of(site, staged=True)
        }

    def in_order(self, sites: Iterable[Site], *, staged: bool) -> tuple[Recipe, ...]:
        """Return the recipes of the sites with all that they need, the needed ones first."""
        ordered: dict[str, Recipe] = {}
        for site in sites:
            for recipe in recipes_of(site, staged=staged):
                for needed in self._with_needs(recipe, ()):
                    ordered.setdefault(needed.image.tag, needed)
        return tuple(ordered.values())

    def files(self, recipe: Recipe) -> tuple[ContextFile, ...]:
        """Return the files of a build context, read once: what is hashed is what is built."""
        build = recipe.image.build
        if build is None:
            return ()
        tag = recipe.image.tag
        if tag not in self._files:
            self._files[tag] = context_files(build, self.folder, self._own())
        return self._files[tag]

    def dockerfile(self, recipe: Recipe) -> Path:
        build = recipe.image.build
        if build is None:
            raise ManifestError(f"image {recipe.image.tag} is published, not built here")
        return named_path(build.dockerfile, self.folder, self._own())

    def source_hash(self, recipe: Recipe) -> str:
        """Return the hash of everything an image is made from, as hex.

        That is its context's files (without the CA bundle, which is the machine's, not the
        image's), the base image, the hashes of the images it needs, and, since it is sealed with
        them, the manifest's health page, warm-up, database account and fingerprint probes.
        """
        tag = recipe.image.tag
        if tag not in self._hashes:
            *needs, _ = self._with_needs(recipe, ())
            build = recipe.image.build
            parts = {
                "sealing": None if recipe.staged else _sealed_with(recipe.site),
                "dockerfile": build.dockerfile if build else recipe.image.published,
                "context": context_hash(self.files(recipe)),
                "base": self.base_id,
                "needs": [self.source_hash(needed) for needed in needs],
            }
            document = json.dumps(parts, sort_keys=True).encode()
            self._hashes[tag] = hashlib.sha256(document).hexdigest()
        return self._hashes[tag]

    def _own(self) -> Mapping[str, Path]:
        return {name: folder / "docker" for name, folder in self.registry.own.items()}

    def _with_needs(self, recipe: Recipe, above: tuple[str, ...]) -> Iterator[Recipe]:
        """Yield what a recipe needs, deepest first, and then the recipe."""
        tag = recipe.image.tag
        if tag in above:
            raise ManifestError(f"image {tag} needs itself: {' → '.join((*above, tag))}")
        for need in recipe.image.needs:
            if need not in self.by_tag:
                raise ManifestError(f"image {tag} needs {need}, which is no site's image")
            yield from self._with_needs(self.by_tag[need], (*above, tag))
        yield recipe


def recipes_of(site: Site, *, staged: bool) -> Iterator[Recipe]:
    """Yield the recipe of a site's image and, if asked for, that of its staged live origin."""
    yield Recipe(image=site.image, site=site, staged=False)
    if staged and site.live and site.live.staged:
        yield Recipe(image=site.live.staged.image, site=site, staged=True)


def taken_hash(site: Site, image_id: str) -> str:
    """Return the source hash of an image that others made: itself, and how it is sealed here."""
    document = {"image": image_id, "sealing": _sealed_with(site)}
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _sealed_with(site: Site) -> dict[str, object]:
    sealing = site.model_dump(include={"port", "host", "health", "warm", "database"}, mode="json")
    probes = site.fingerprint
    if site.bake:
        sealing["bake"] = [step.model_dump(mode="json") for step in site.bake]
    return {
        "version": _SEALING,
        **sealing,
        "volatile_tables": sorted(probes.volatile_tables),
        "volatile_columns": {
            table: sorted(columns) for table, columns in sorted(probes.volatile_columns.items())
        },
        "files": list(probes.files),
    }
