"""Sites' images in one file: saved on one machine, loaded on others, which then build nothing."""

from __future__ import annotations

import asyncio
import hashlib
import tarfile
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from arena_core.errors import ImageError, InputError
from arena_core.work_events import OnWork, WorkEnded, WorkPlanned, WorkStep, ignore_work
from orchestrator.sandbox.docker_files import docker_folder
from orchestrator.sandbox.engine.containers import ImageInfo
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.images.bill import (
    SavedImage,
    bill_beside,
    require_as_billed,
    write_bill,
)
from orchestrator.sandbox.images.build import (
    BASE_TAG,
    BuildOutcome,
    BuildResult,
    is_current,
)
from orchestrator.sandbox.images.oci_archive import LISTING, write_oci_archive
from orchestrator.sandbox.images.recipes import Recipe, RecipeBook
from sites.manifest import Site
from sites.registry import SiteRegistry

_MOST_LISTING_BYTES: Final = 1_000_000
_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFile:
    """A file of images, and what it has.

    Attributes:
        sha256: of the whole file, as hex.
        images: one result for each image of Arena's in it: `saved`; or `loaded`, `unchanged` where
            the same image was here, `of other sources` where `arena build` would build it anew.
        bill: the bill of materials beside it; None where a file that is loaded has none.
    """

    path: Path
    sha256: str
    size_bytes: int
    images: tuple[BuildResult, ...]
    bill: Path | None = None


async def save_images(
    engine: Engine,
    registry: SiteRegistry,
    sites: Iterable[Site],
    path: Path,
    *,
    staged: bool = False,
    on_line: Callable[[str], None],
    on_work: OnWork = ignore_work,
) -> ImageFile:
    """Write the images of sites, what they need and the base image to one OCI archive.

    Layers that several share are in it once, and the same images always give the same file. A bill
    of materials is written beside it.

    Raises:
        InputError: one of the two files is there already, or cannot be written.
        ImageError: an image is missing, or older than its sources.
    """
    for one in (path, bill_beside(path)):
        if await asyncio.to_thread(one.exists):
            raise InputError(f"{one}: is there already", hint="name a new file")
    base = await engine.image(BASE_TAG)
    if base is None:
        raise ImageError(f"the base image {BASE_TAG} is not here", hint="arena build")
    book = RecipeBook(registry, docker_folder(), base.id)
    recipes = book.in_order(sites, staged=staged)
    on_work(WorkPlanned(1))
    began = time.monotonic()
    results = [await _to_save(engine, book, recipe, began) for recipe in recipes]
    label = f"saving {len(recipes)} images"
    on_line(f"{label} to {path}")

    def on_bytes(count: int) -> None:
        on_work(WorkStep(label, f"{count // _MB} MB"))

    tags = (BASE_TAG, *(one.image.tag for one in recipes))
    saved = path.with_name(f"{path.name}.saved")
    try:
        await engine.save(tags, saved, on_bytes)
        on_work(WorkStep(label, "as an OCI archive"))
        found = await asyncio.to_thread(_listed, saved)
        sha256, size = await asyncio.to_thread(write_oci_archive, saved, found, path)
    finally:
        await asyncio.to_thread(saved.unlink, missing_ok=True)
    on_work(WorkStep(label, "listing packages"))
    listed = await asyncio.to_thread(_listed, path)
    bill = await asyncio.to_thread(write_bill, path, sha256, listed)
    on_work(WorkEnded(label))
    return ImageFile(path=path, sha256=sha256, size_bytes=size, images=tuple(results), bill=bill)


async def _to_save(engine: Engine, book: RecipeBook, recipe: Recipe, began: float) -> BuildResult:
    image = await engine.image(recipe.image.tag)
    built_here = recipe.image.build is not None
    if image is None or (built_here and not is_current(image, recipe, book.source_hash(recipe))):
        why = "is not here" if image is None else "is older than its sources"
        raise ImageError(f"image {recipe.image.tag} {why}", hint=recipe.command)
    return BuildResult.of(recipe, BuildOutcome.SAVED, began, image)


async def load_images(
    engine: Engine,
    registry: SiteRegistry,
    path: Path,
    *,
    sha256: str | None = None,
    on_line: Callable[[str], None],
    on_work: OnWork = ignore_work,
) -> ImageFile:
    """Load a file of `save_images`; nothing of it is loaded unless all of it is Arena's.

    Where a bill of materials lies beside it, the file and its images must have the digests there.

    Args:
        sha256: what the file's digest must be; any where omitted.

    Raises:
        InputError: it is no such file, is damaged, has another digest, or is not as its bill says.
        ImageError: it holds an image that no site here has.
    """
    on_work(WorkPlanned(1))
    began = time.monotonic()
    found, size = await asyncio.to_thread(_digest, path)
    if sha256 is not None and sha256.lower() != found:
        raise InputError(f"{path}: its SHA-256 is {found}, not {sha256}", hint="fetch it again")
    listed = await asyncio.to_thread(_listed, path)
    bill = await asyncio.to_thread(require_as_billed, path, found, listed)
    tags = [one.tag for one in listed]
    known = RecipeBook(registry, docker_folder(), "").by_tag
    if foreign := sorted(set(tags) - {*known, BASE_TAG}):
        message = f"{path}: holds images of no site here: {', '.join(foreign)}"
        raise ImageError(message, hint="`arena images save` writes these files")
    tags = [tag for tag in tags if tag != BASE_TAG]
    before = {tag: await engine.image(tag) for tag in tags}
    label = f"loading {len(tags)} images"
    on_work(WorkStep(label, str(path)))
    on_line(f"{label} of {path}")
    await engine.load_all(path)
    base = await engine.image(BASE_TAG)
    book = RecipeBook(registry, docker_folder(), base.id if base else "")
    results = [await _loaded(engine, book, tag, before[tag], began) for tag in tags]
    on_work(WorkEnded(label))
    return ImageFile(path=path, sha256=found, size_bytes=size, images=tuple(results), bill=bill)


async def _loaded(
    engine: Engine, book: RecipeBook, tag: str, before: ImageInfo | None, began: float
) -> BuildResult:
    image, recipe = await engine.image(tag), book.by_tag[tag]
    if image is None:
        raise ImageError(f"the engine has no image {tag} although it just loaded it")
    outcome = BuildOutcome.LOADED
    if recipe.image.build and not is_current(image, recipe, book.source_hash(recipe)):
        outcome = BuildOutcome.OUTDATED
    elif before is not None and before.id == image.id:
        outcome = BuildOutcome.UNCHANGED
    return BuildResult.of(recipe, outcome, began, image)


class _Listed(BaseModel):
    """One image in a file's listing.

    Attributes:
        configuration: its file, which is named after its digest.
    """

    RepoTags: list[str] | None = None
    configuration: str = Field(default="", alias="Config")
    Layers: list[str] = Field(default_factory=list)


_LISTED: Final = TypeAdapter(list[_Listed])


def tags_in(path: Path) -> list[str]:
    """Return the tags of what a file of images holds, the base image's among them.

    Raises:
        InputError: it is no such file, or is damaged.
    """
    return [one.tag for one in _listed(path)]


def _digest(path: Path) -> tuple[str, int]:
    """Return the SHA-256 of a file and its size."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
    except OSError as cause:
        raise _unreadable(path, cause) from cause


def _listed(path: Path) -> list[SavedImage]:
    """Return the images of a file, each under its tags."""
    try:
        with tarfile.open(path) as archive:
            listing = archive.extractfile(LISTING)
            text = listing.read(_MOST_LISTING_BYTES) if listing else b""
        listed = _LISTED.validate_json(text)
    except OSError as cause:
        raise _unreadable(path, cause) from cause
    except (tarfile.TarError, KeyError, EOFError, zlib.error, ValidationError) as cause:
        hint = "`arena images save` writes one"
        why = str(cause).partition("\n")[0].rstrip(":")  # tarfile lists what it tried
        raise InputError(f"{path}: is no file of images: {why}", hint=hint) from cause
    found = [
        SavedImage(tag=tag, configuration=image.configuration, layers=tuple(image.Layers))
        for image in listed
        for tag in image.RepoTags or ()
    ]
    if not found:
        raise InputError(f"{path}: names no image", hint="`arena images save` writes one")
    return sorted(found, key=lambda one: one.tag)


def _unreadable(path: Path, cause: OSError) -> InputError:
    return InputError(f"{path}: cannot be read: {cause.strerror or cause}")
