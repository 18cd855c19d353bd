"""Building: each image from its sources, sealed where it is a replica's, and only when needed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from arena_core.errors import DiskFullError, EngineError, ImageError
from orchestrator.engine.containers import ImageInfo, Labels
from orchestrator.engine.engine import Engine
from orchestrator.images.base import ensure_base
from orchestrator.images.contexts import ca_bundle, context_tar, docker_folder
from orchestrator.images.dockerfiles import failed_line
from orchestrator.images.golden import ROWS_LABEL, is_sealed
from orchestrator.images.recipes import Recipe, RecipeBook
from orchestrator.images.sealing import StateT, Take, TakeRows, seal
from orchestrator.work_events import (
    OnWork,
    WorkEnded,
    WorkOutput,
    WorkPlanned,
    WorkStep,
    ignore_work,
)
from sites.atlas import Atlas
from sites.manifest import Site

_STEP: Final = re.compile(r"^Step (\d+/\d+) : (.*)")
_STEP_WIDTH: Final = 70


class BuildOutcome(StrEnum):
    """What a command did about one image."""

    BUILT = "built"
    SEALED = "sealed"
    PULLED = "pulled"
    LOADED = "loaded"
    UNCHANGED = "unchanged"
    LOCAL = "built locally"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """One row of what `arena build` and `arena pull` report.

    Attributes:
        golden: digest of the state its containers start with; None for a staged live origin.
    """

    recipe: Recipe
    outcome: BuildOutcome
    seconds: float
    size_bytes: int
    golden: str | None


async def build(
    engine: Engine,
    atlas: Atlas,
    sites: Iterable[Site],
    *,
    take: Take[StateT],
    take_rows: TakeRows,
    staged: bool = False,
    force: bool = False,
    on_line: Callable[[str], None],
    on_work: OnWork = ignore_work,
) -> tuple[BuildResult, ...]:
    """Bring the images of sites up to date, one after the other; what is needed comes first.

    Args:
        engine: the engine.
        atlas: all sites: an image may need one of another site.
        sites: whose images.
        take: takes the fingerprint of a running container.
        take_rows: takes its rows.
        staged: the staged live origins too.
        force: also what is unchanged, and without the engine's cache of build steps.
        on_line: gets lines of progress.
        on_work: gets what each image is at, with the build's own output.

    Raises:
        ImageError: an image could not be built or sealed; with the last lines.
        PrerequisiteError: the base image cannot be had, or the CA bundle is not there.
        ManifestError: a build names files that do not exist.
    """
    folder = docker_folder()
    bundle = ca_bundle()
    base = await ensure_base(engine, folder, on_line)
    book = RecipeBook(atlas, folder, base.id)
    builder = _Builder(engine, book, bundle, force=force)
    recipes = tuple(book.in_order(sites, staged=staged))
    on_work(WorkPlanned(len(recipes)))
    results: list[BuildResult] = []
    for recipe in recipes:
        note = _Progress(recipe, time.monotonic(), on_line, on_work)
        results.append(await builder.make(recipe, take, take_rows, note))
        on_work(WorkEnded(recipe.label))
    return tuple(results)


def is_current(image: ImageInfo | None, recipe: Recipe, source: str) -> bool:
    """Whether an image is made from the present sources and, if it must be, sealed."""
    if image is None or image.labels.get(Labels.SOURCE) != source:
        return False
    return recipe.staged or is_sealed(image)


class _Builder:
    """Makes recipes on one engine."""

    def __init__(self, engine: Engine, book: RecipeBook, bundle: bytes, *, force: bool) -> None:
        self._engine = engine
        self._book = book
        self._bundle = bundle
        self._force = force

    async def make(
        self,
        recipe: Recipe,
        take: Take[StateT],
        take_rows: TakeRows,
        note: _Progress,
    ) -> BuildResult:
        """Make one image, unless it is current."""
        began = time.monotonic()
        source = self._book.source_hash(recipe)
        present = await self._engine.image(recipe.image.tag)
        if present is not None and not self._force and is_current(present, recipe, source):
            return _outcome(recipe, BuildOutcome.UNCHANGED, began, present)
        if recipe.staged:
            image = await self._build(recipe, recipe.image.tag, source, note)
            return _outcome(recipe, BuildOutcome.BUILT, began, image)
        unsealed, outcome = await self._unsealed(recipe, source, note)
        sealed = await seal(
            self._engine,
            recipe.site,
            unsealed,
            source,
            take=take,
            take_rows=take_rows,
            on_line=note.say,
            manifest=self._book.atlas.manifest(recipe.site.name),
        )
        await self._engine.remove_image(unsealed.tag)
        note.say("ready")
        return _outcome(recipe, outcome, began, sealed)

    async def _unsealed(
        self, recipe: Recipe, source: str, note: _Progress
    ) -> tuple[ImageInfo, BuildOutcome]:
        """Return the image that is to be sealed; an earlier try may have left it."""
        tag = f"{recipe.image.tag}-unsealed"
        left = await self._engine.image(tag)
        if left is not None and not self._force and left.labels.get(Labels.SOURCE) == source:
            return left, BuildOutcome.SEALED
        return await self._build(recipe, tag, source, note), BuildOutcome.BUILT

    async def _build(self, recipe: Recipe, tag: str, source: str, note: _Progress) -> ImageInfo:
        build = recipe.image.build
        if build is None:
            message = f"site '{recipe.site.name}': its image is not built here"
            how = "pull" if recipe.image.published else "load"
            file = "" if recipe.image.published else f" {recipe.image.archive}"
            raise ImageError(message, hint=f"arena {how} {recipe.site.name}{file}")
        context = context_tar(self._book.files(recipe), self._bundle)
        # A Dockerfile that starts FROM a sealed image inherits its labels: the golden state is
        # that image's, not this one's.
        labels = {
            Labels.SOURCE: source,
            Labels.SITE: recipe.site.name,
            Labels.GOLDEN: "",
            ROWS_LABEL: "",
        }
        note.say(f"building {tag}")
        try:
            return await self._engine.build(
                tag, context, build.dockerfile, labels, note.step, cached=not self._force
            )
        except (ImageError, EngineError) as failure:
            if isinstance(failure, DiskFullError):
                raise
            path = self._book.dockerfile(recipe)
            text = path.read_text(encoding="utf-8", errors="replace")
            line = failed_line(text, note.steps, failure.message)
            message = f"{path}:{line}: {failure.message}"
            raise ImageError(message, hint=failure.hint) from failure


class _Progress:
    """Lines of progress about one image, each with the seconds since it was begun.

    Attributes:
        steps: how many steps of the build have begun.
    """

    def __init__(
        self, recipe: Recipe, began: float, on_line: Callable[[str], None], on_work: OnWork
    ) -> None:
        self._on_work = on_work
        self._label = recipe.label
        self._began = began
        self._on_line = on_line
        self.steps = 0

    def say(self, text: str) -> None:
        """Write one line."""
        self._on_work(WorkStep(self._label, text))
        self._write(text)

    def _write(self, text: str) -> None:
        self._on_line(f"{self._label}: {text} [{time.monotonic() - self._began:.0f} s]")

    def step(self, line: str) -> None:
        """Write a line of the build's output, if a step begins with it."""
        self._on_work(WorkOutput(self._label, line))
        begun = _STEP.match(line)
        if begun:
            step, _, steps = begun.group(1).partition("/")
            self.steps = int(step)
            text = f"step {begun.group(1)} {begun.group(2)[:_STEP_WIDTH]}"
            self._on_work(WorkStep(self._label, text, self.steps, int(steps)))
            self._write(text)


def _outcome(recipe: Recipe, outcome: BuildOutcome, began: float, image: ImageInfo) -> BuildResult:
    return BuildResult(
        recipe=recipe,
        outcome=outcome,
        seconds=time.monotonic() - began,
        size_bytes=image.size_bytes,
        golden=image.labels.get(Labels.GOLDEN),
    )
