"""The first files of a site or a suite of your own, from templates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import yaml

from arena_core.errors import UsageError
from arena_core.names import offered
from orchestrator.authoring.schemas.kinds import SchemaKind, file_name, shipped_text
from sites.registry import OWN_SITES, RESERVED_NAMES, load_registry, own_site_folders

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,29}[a-z0-9]")
_TITLE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .,()-]{0,59}")
YAML_WORDS: Final = frozenset({"yes", "no", "on", "off", "true", "false", "null"})
_SUFFIX: Final = ".in"  # keeps linters and importers away from what is not part of Arena
_SCHEMAS: Final = ".schemas"  # beside the sites, so that all of them name it alike
_SHARED: Final = "test_site.py"
_SUITE_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,60}")
_SUFFIXES: Final = frozenset({".yaml", ".yml"})
_SUITE_TEMPLATE: Final = "suite.yaml.in"


class SiteKind(StrEnum):
    """What a new site is made of."""

    APP = "app"  # Flask on MariaDB, with a login
    PHP = "php"  # PHP that keeps its state in files, with a login
    STATIC = "static"  # files


class PublishedSites(StrEnum):
    """Sites whose images others publish, and whose manifests Arena can write."""

    WEBARENA = "webarena"  # the original images, by `arena load`
    WEBARENA_VERIFIED = "webarena-verified"  # the slim ones, by `arena pull`


def write_published(which: PublishedSites, sites: Path) -> tuple[Path, ...]:
    """Write the manifests of published sites into a folder of sites; return their paths."""
    folder = files("orchestrator.authoring.scaffold") / "templates" / "published" / which.value
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    written: list[Path] = []
    for name in names:
        site = NewSite(name=name, title=name, kind=SiteKind.STATIC, sites=sites)
        written += site.write_from(folder / name)
    return tuple(written)


def published_images() -> frozenset[str]:
    """Return where the images of published sites come from: archives, and names in registries."""
    manifests = (files("orchestrator.authoring.scaffold") / "templates" / "published").iterdir()
    return frozenset(
        source
        for folder in manifests
        for site in folder.iterdir()
        for source in _sources((site / f"site.yaml{_SUFFIX}").read_text(encoding="utf-8"))
    )


def _sources(template: str) -> Iterator[str]:
    image = yaml.safe_load(template.replace("@", ""))["image"]
    yield from (image[way] for way in ("archive", "published") if way in image)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSite:
    """A site to be written.

    Attributes:
        name: its folder's, its image's and its host's name.
        sites: the folder of sites of one's own, in which its folder is made.
    """

    name: str
    title: str
    kind: SiteKind
    sites: Path

    @property
    def folder(self) -> Path:
        return self.sites / self.name

    def write(self) -> tuple[Path, ...]:
        """Write the folder; return its files."""
        if not _NAME.fullmatch(self.name) or self.name in YAML_WORDS:
            message = (
                f"'{self.name}' cannot be a site's name: use lower-case letters, digits and '-'"
            )
            raise UsageError(message, hint="for example: arena site new my-shop")
        if not _TITLE.fullmatch(self.title):
            raise UsageError(
                f"'{self.title}' cannot be a title: use letters, digits and .,()- (60 at most)"
            )
        templates = files("orchestrator.authoring.scaffold") / "templates"
        test = self.folder / _SHARED
        try:
            self._refuse_what_is_there()
            written = self._write_all(templates / self.kind.value, self.folder)
            self._write_one(templates / f"{_SHARED}{_SUFFIX}", test)
            self._write_schemas()
        except OSError as cause:
            raise self._not_made(cause) from cause
        return (*written, test)

    def write_from(self, template: Traversable) -> tuple[Path, ...]:
        """Write the folder as a template has it, without a test; return its files."""
        try:
            self._refuse_what_is_there()
            written = self._write_all(template, self.folder)
            self._write_schemas()
        except OSError as cause:
            raise self._not_made(cause) from cause
        return written

    def _not_made(self, cause: OSError) -> UsageError:
        message = f"{self.folder} cannot be made: {cause.strerror} ({cause.filename})"
        return UsageError(message, hint="name a folder in which you may write: --sites FOLDER")

    def _refuse_what_is_there(self) -> None:
        if self.folder.exists():
            message = f"{self.folder} exists already, and nothing in it was touched"
            raise UsageError(message, hint="choose another name, or move that folder away")

    def _write_all(self, source: Traversable, target: Path) -> tuple[Path, ...]:
        target.mkdir(parents=True)
        written: list[Path] = []
        for entry in sorted(source.iterdir(), key=lambda entry: entry.name):
            if entry.is_dir():
                written += self._write_all(entry, target / entry.name)
            elif entry.name.endswith(_SUFFIX):
                path = target / entry.name.removesuffix(_SUFFIX)
                self._write_one(entry, path)
                written.append(path)
        return tuple(written)

    def _write_one(self, source: Traversable, target: Path) -> None:
        text = source.read_text(encoding="utf-8")
        for mark, value in self._marks().items():
            text = text.replace(mark, value)
        target.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            target.chmod(0o755)

    def _write_schemas(self) -> None:
        """Write the schemas that the first lines name, for editors to complete by."""
        folder = self.sites / _SCHEMAS
        folder.mkdir(exist_ok=True)
        for kind in (SchemaKind.SITE, SchemaKind.SUITE):
            (folder / file_name(kind)).write_text(shipped_text(kind), encoding="utf-8")

    def _marks(self) -> dict[str, str]:
        return {
            "@NAME@": self.name,
            "@TITLE@": self.title,
            "@HOST@": f"{self.name}.arena.test",
            "@SITE_SCHEMA@": file_name(SchemaKind.SITE),
            "@SUITE_SCHEMA@": file_name(SchemaKind.SUITE),
            "@FOLDER@": self.folder.as_posix(),
        }


def write_suite(path: Path) -> Path:
    """Write a suite into a new file, with the name of the file; return its path."""
    path = path if path.suffix else path.with_suffix(".yaml")
    is_name = _SUITE_NAME.fullmatch(path.stem) and path.stem not in YAML_WORDS
    if path.suffix not in _SUFFIXES or not is_name:
        message = f"'{path.name}' cannot be a suite's file: use lower-case letters, digits and '-'"
        raise UsageError(message, hint="for example: arena tasks new my-suite.yaml")
    text = (files("orchestrator.authoring.scaffold") / "templates" / _SUITE_TEMPLATE).read_text(
        encoding="utf-8"
    )
    marks = {
        "@FILE@": path.as_posix(),
        "@NAME@": path.stem,
        "@TITLE@": path.stem.replace("-", " ").capitalize(),
    }
    for mark, value in marks.items():
        text = text.replace(mark, value)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as cause:
        message = f"{path} exists already, and nothing in it was touched"
        raise UsageError(message, hint="choose another name, or move that file away") from cause
    except OSError as cause:
        message = f"{path} cannot be written: {cause.strerror}"
        raise UsageError(message, hint="name a file in a folder in which you may write") from cause
    return path


def write_site(name: str, kind: str, title: str | None, folder: Path | None) -> tuple[Path, ...]:
    """Write the folder of a new site; arguments and errors are those of `arena.sites.new`."""
    if kind not in set(SiteKind):
        message = f"there is no kind of site '{kind}'"
        raise UsageError(message, hint=offered(kind, list(SiteKind), intro="kinds"))
    site = NewSite(
        name=name,
        title=title or name.replace("-", " ").capitalize(),
        kind=SiteKind(kind),
        sites=_home(folder),
    )
    if name in {*load_registry(()).sites, *RESERVED_NAMES}:
        raise UsageError(f"Arena has a site '{name}' of its own", hint="choose another name")
    return site.write()


def write_published_sites(which: str, folder: Path | None) -> tuple[Path, ...]:
    """Write manifests of published sites; arguments are those of `arena.sites.published`."""
    if which not in set(PublishedSites):
        message = f"Arena has no manifests for '{which}'"
        raise UsageError(message, hint=offered(which, list(PublishedSites)))
    return write_published(PublishedSites(which), _home(folder))


def _home(folder: Path | None) -> Path:
    """Return a folder of own sites; one below this one by its short name, as people type it."""
    home = folder or next(iter(own_site_folders()), Path(OWN_SITES))
    try:
        here = Path.cwd()
    except OSError as cause:
        message = f"the folder that this runs in cannot be used: {cause.strerror}"
        raise UsageError(message, hint="change to another folder") from cause
    return home.relative_to(here) if home.is_relative_to(here) else home
