"""From a template to the folder of a site of one's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from arena_core.errors import UsageError
from orchestrator.schemas.files import file_name, shipped_text
from orchestrator.schemas.kinds import SchemaKind

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,29}[a-z0-9]")
_TITLE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .,()-]{0,59}")
_YAML_WORDS: Final = frozenset({"yes", "no", "on", "off", "true", "false", "null"})
_SUFFIX: Final = ".in"  # keeps linters and importers away from what is no part of Arena
_SCHEMAS: Final = ".schemas"  # beside the sites, so that all of them name it alike
_SHARED: Final = "test_site.py"


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
    """Write the manifests of published sites into a folder of sites; return their paths.

    Raises:
        UsageError: one of them is there already, or none can be made there.
    """
    folder = files("orchestrator.scaffold") / "templates" / "published" / which.value
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    written: list[Path] = []
    for name in names:
        site = NewSite(name=name, title=name, kind=SiteKind.STATIC, sites=sites)
        written += site.write_from(folder / name)
    return tuple(written)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSite:
    """A site to be written.

    Attributes:
        name: its folder's, its image's and its host's name.
        title: what people call it.
        kind: which template.
        sites: the folder of sites of one's own, in which its folder is made.
    """

    name: str
    title: str
    kind: SiteKind
    sites: Path

    @property
    def folder(self) -> Path:
        """The site's own folder."""
        return self.sites / self.name

    def write(self) -> tuple[Path, ...]:
        """Write the folder; return its files.

        Raises:
            UsageError: the name or the title will not do, there is such a folder already, or none
                can be made there.
        """
        if not _NAME.fullmatch(self.name) or self.name in _YAML_WORDS:
            message = f"'{self.name}' is no name for a site: lower-case letters, digits and '-'"
            raise UsageError(message, hint="for example: arena site new my-shop")
        if not _TITLE.fullmatch(self.title):
            message = f"'{self.title}' is no title: letters, digits and .,()- (60 at most)"
            raise UsageError(message)
        templates = files("orchestrator.scaffold") / "templates"
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
        """Write the folder as a template has it, without a test; return its files.

        Raises:
            UsageError: there is such a folder already, or none can be made there.
        """
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
