"""Building: each image from its sources, sealed where it is a replica's, and only when needed."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

from arena_core.errors import (
    ArenaError,
    DiskFullError,
    EngineError,
    ImageError,
    NotAllBuiltError,
    PrerequisiteError,
    SiteError,
)
from arena_core.work_events import (
    OnWork,
    WorkEnded,
    WorkOutput,
    WorkPlanned,
    WorkStep,
    ignore_work,
)
from orchestrator.sandbox.docker_files import bootstrap_script, docker_folder
from orchestrator.sandbox.engine.containers import ImageInfo, Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.golden import ROWS_LABEL, is_sealed
from orchestrator.sandbox.images.contexts import ca_bundle, context_tar
from orchestrator.sandbox.images.recipes import Recipe, RecipeBook
from orchestrator.sandbox.images.seal import seal
from sites.manifest import Site
from sites.registry import SiteRegistry

BASE_TAG: Final = "debian:bookworm-slim"
# What an image begins with that needs a newer release: Pagure is in no other.
_NEWER_BASE_TAG: Final = "debian:trixie-slim"
_PULL_S: Final = 180.0
_BUILD_S: Final = 1200.0
_LAST_LINES: Final = 20
_MISSING_TOOL: Final = 4  # build.sh's exit code


async def ensure_base(
    engine: Engine, folder: Path, on_line: Callable[[str], None], tag: str | None = None
) -> ImageInfo:
    """Return a base image; pull it, or else build it with debootstrap under the same tag."""
    tag = tag or BASE_TAG
    found = await engine.image(tag)
    if found is not None:
        return found
    on_line(f"base: pulling {tag}")
    try:
        return await engine.pull(tag, tag, lambda _: None, deadline_s=_PULL_S)
    except (ImageError, EngineError) as unreachable:
        on_line(f"base: no registry ({unreachable.message}); building it with debootstrap")
    await _run_script(folder / "base" / "build.sh", tag, on_line)
    built = await engine.image(tag)
    if built is None:
        message = f"the build of the base image ended well, but the engine has no {tag}"
        raise ImageError(message, hint="is DOCKER_HOST another engine than the `docker` command's?")
    return built


async def _run_script(script: Path, tag: str, on_line: Callable[[str], None]) -> None:
    process = await asyncio.create_subprocess_exec(
        "bash",
        str(script),
        tag,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    last: deque[str] = deque(maxlen=_LAST_LINES)
    try:
        async with asyncio.timeout(_BUILD_S):
            while process.stdout and (line := await process.stdout.readline()):
                last.append(line.decode("utf-8", errors="replace").rstrip())
                on_line(last[-1])
            code = await process.wait()
    except TimeoutError as cause:
        raise ImageError(f"the build of the base image took longer than {_BUILD_S:g} s") from cause
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    if code:
        shown = "\n".join(f"  {line}" for line in last)
        leaf = PrerequisiteError if code == _MISSING_TOOL else ImageError
        message = f"the base image {tag} could not be built (exit code {code}):\n{shown}"
        raise leaf(message, hint=f"{bootstrap_script()} installs what it needs")


_ESCAPE: Final = re.compile(r"#\s*escape\s*=\s*(\S)", re.IGNORECASE)
_PARSING: Final = re.compile(r"dockerfile parse error (?:on )?line (\d+)", re.IGNORECASE)


def failed_line(dockerfile: str, step: int, failure: str) -> int:
    """Return the line, from 1, at which a build failed.

    Args:
        step: how many steps had begun, the failed one included; 0 for none.
        failure: what the engine said: of a mistake in the file itself it names the line.
    """
    said = _PARSING.search(failure)
    if said is not None:
        return int(said[1])
    begun = list(_instructions(dockerfile))
    return begun[min(step, len(begun)) - 1] if begun and step else 1


def _instructions(dockerfile: str) -> Iterator[int]:
    """Yield the line on which each instruction begins: one step of a build each."""
    escape = _ESCAPE.match(dockerfile)
    mark = escape[1] if escape else "\\"
    goes_on = False
    for number, line in enumerate(dockerfile.splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue  # inside an instruction too
        if not goes_on:
            yield number
        goes_on = text.endswith(mark)


_STEP: Final = re.compile(r"^Step (\d+/\d+) : (.*)")
_STEP_WIDTH: Final = 70


class BuildOutcome(StrEnum):
    """What a command did about one image."""

    BUILT = "built"
    SEALED = "sealed"
    PULLED = "pulled"
    LOADED = "loaded"
    SAVED = "saved"
    OUTDATED = "of other sources"
    UNCHANGED = "unchanged"
    LOCAL = "built locally"
    ABSENT = "not here"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """One row of what `arena build`, `arena pull` and `arena images` report.

    Attributes:
        golden: digest of the state its containers start with; None for a staged live origin.
    """

    recipe: Recipe
    outcome: BuildOutcome
    seconds: float
    size_bytes: int
    golden: str | None

    @classmethod
    def of(
        cls, recipe: Recipe, outcome: BuildOutcome, began: float, image: ImageInfo | None
    ) -> Self:
        """Return the row of an image as it is here now; None where there is none."""
        return cls(
            recipe=recipe,
            outcome=outcome,
            seconds=time.monotonic() - began,
            size_bytes=image.size_bytes if image else 0,
            golden=image.labels.get(Labels.GOLDEN) if image else None,
        )


async def build_images(
    engine: Engine,
    registry: SiteRegistry,
    sites: Iterable[Site],
    *,
    staged: bool = False,
    force: bool = False,
    on_line: Callable[[str], None],
    on_work: OnWork = ignore_work,
) -> tuple[BuildResult, ...]:
    """Bring the images of sites up to date, one after the other; what is needed comes first.

    Where one of several cannot be built, those that do not need it are built all the same.

    Args:
        registry: all sites: an image may need one of another site.
        force: also what is unchanged, and without the engine's cache of build steps.
        on_work: gets what each image is at, with the build's own output.
    """
    folder = docker_folder()
    bundle = ca_bundle()
    base = await ensure_base(engine, folder, on_line)
    book = RecipeBook(registry, folder, base.id)
    builder = _Builder(engine, book, bundle, force=force)
    recipes = tuple(book.in_order(sites, staged=staged))
    on_work(WorkPlanned(len(recipes)))
    results: list[BuildResult] = []
    failures: dict[str, ArenaError] = {}
    for recipe in recipes:
        note = _Progress(recipe, time.monotonic(), on_line, on_work)
        try:
            _require_needed(recipe, failures)
            results.append(await builder.make(recipe, note))
        except (ImageError, SiteError, EngineError) as failure:
            if isinstance(failure, DiskFullError) or len(recipes) == 1:
                raise
            failures[recipe.image.tag] = failure
            results.append(note.failed(failure))
        on_work(WorkEnded(recipe.label))
    if failures:
        raise _not_all_built(results, failures)
    return tuple(results)


def _require_needed(recipe: Recipe, failures: Mapping[str, ArenaError]) -> None:
    """Refuse to build on an image that could not be built: an older one may be there."""
    for need in recipe.image.needs:
        if need in failures:
            raise ImageError(f"image {recipe.image.tag} needs {need}, which could not be built")


def _not_all_built(
    results: Sequence[BuildResult], failures: Mapping[str, ArenaError]
) -> NotAllBuiltError:
    failed = [one.recipe for one in results if one.recipe.image.tag in failures]
    lines = [f"{one.label}: {failures[one.image.tag].message}" for one in failed]
    hints = dict.fromkeys(one.hint for one in failures.values() if one.hint)
    names = " ".join(dict.fromkeys(one.site.name for one in failed))
    message = f"{len(failed)} of {len(results)} images could not be built:\n" + "\n".join(lines)
    hint = "; ".join([*hints, f"arena build {names}"])
    return NotAllBuiltError(message, hint=hint, results=results)


def is_current(image: ImageInfo | None, recipe: Recipe, source: str) -> bool:
    if image is None or image.labels.get(Labels.SOURCE) != source:
        return False
    return recipe.staged or is_sealed(image)


def why_unusable(image: ImageInfo | None, recipe: Recipe, source: str) -> str:
    """Say why no run should use an image as it is; nothing where one may."""
    if image is None:
        return "not here"
    if not recipe.staged and not is_sealed(image):
        return "built, but not sealed"
    if recipe.image.build is not None and not is_current(image, recipe, source):
        return "outdated: its sources changed since"
    return ""


class _Builder:
    """Makes recipes on one engine."""

    def __init__(self, engine: Engine, book: RecipeBook, bundle: bytes, *, force: bool) -> None:
        self._engine = engine
        self._book = book
        self._bundle = bundle
        self._force = force

    async def make(self, recipe: Recipe, note: _Progress) -> BuildResult:
        began = time.monotonic()
        source = self._book.source_hash(recipe)
        present = await self._engine.image(recipe.image.tag)
        if present is not None and not self._force and is_current(present, recipe, source):
            return BuildResult.of(recipe, BuildOutcome.UNCHANGED, began, present)
        if recipe.staged:
            image = await self._build(recipe, recipe.image.tag, source, note)
            return BuildResult.of(recipe, BuildOutcome.BUILT, began, image)
        unsealed, outcome = await self._unsealed(recipe, source, note)
        sealed = await seal(
            self._engine,
            recipe.site,
            unsealed,
            source,
            on_line=note.say,
            manifest=self._book.registry.manifest(recipe.site.name),
        )
        await self._engine.remove_image(unsealed.tag)
        note.say("ready")
        return BuildResult.of(recipe, outcome, began, sealed)

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
            raise ImageError(message, hint=recipe.command)
        if f"FROM {_NEWER_BASE_TAG}" in self._book.dockerfile(recipe).read_text(encoding="utf-8"):
            await ensure_base(self._engine, self._book.folder, note.say, _NEWER_BASE_TAG)
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
            raise ImageError(f"{path}:{line}: {failure.message}", hint=failure.hint) from failure


class _Progress:
    """Lines of progress about one image, each with the seconds since it was begun.

    Attributes:
        steps: how many steps of the build have begun.
    """

    def __init__(
        self, recipe: Recipe, began: float, on_line: Callable[[str], None], on_work: OnWork
    ) -> None:
        self._on_work = on_work
        self._recipe = recipe
        self._label = recipe.label
        self._began = began
        self._on_line = on_line
        self.steps = 0

    def failed(self, failure: ArenaError) -> BuildResult:
        self.say(f"failed: {failure.message.splitlines()[0]}")
        return BuildResult.of(self._recipe, BuildOutcome.FAILED, self._began, None)

    def say(self, text: str) -> None:
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
