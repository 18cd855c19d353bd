"""The file of a state: what was taken of each site, and the fingerprint that proves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from orchestrator.sandbox.reset.state import Fingerprint, TakenState
from orchestrator.sandbox.states.archive import (
    Digest,
    Kind,
    Parts,
    digest_of,
    opened_archive,
    packed_archive,
    write_archive,
)

MOST_SITES: Final = 100

ImageId = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
SiteName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,62}$")]


class SiteEntry(BaseModel):
    """What a manifest says of one site; digests are of the parts `SITE/taken` and so on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    image_id: ImageId
    taken: Digest
    fingerprint: Digest
    clock: AwareDatetime | None = None
    rows: Digest | None = None

    @classmethod
    def of(cls, taken: TakenState) -> SiteEntry:
        return cls(
            image_id=taken.image_id,
            taken=digest_of(taken.packed),
            fingerprint=digest_of(taken.fingerprint.to_json()),
            clock=taken.clock,
            rows=None if taken.rows is None else digest_of(taken.rows),
        )

    def read(self, parts: Parts, folder: str, site: str) -> TakenState:
        """Return a site's state from the parts in a folder."""
        return TakenState(
            site=site,
            image_id=self.image_id,
            packed=parts.read(f"{folder}/taken", self.taken),
            fingerprint=Fingerprint.from_json(
                parts.read(f"{folder}/fingerprint", self.fingerprint)
            ),
            clock=self.clock,
            rows=None if self.rows is None else parts.read(f"{folder}/rows", self.rows),
        )


def site_parts(folder: str, taken: TakenState) -> Mapping[str, bytes]:
    """Return the parts of a site's state, as they stand in a folder of a file."""
    rows = {} if taken.rows is None else {f"{folder}/rows": taken.rows}
    return {
        f"{folder}/taken": taken.packed,
        f"{folder}/fingerprint": taken.fingerprint.to_json(),
        **rows,
    }


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["arena-state"] = "arena-state"
    version: Literal[1] = 1
    made: AwareDatetime
    sites: Annotated[dict[SiteName, SiteEntry], Field(min_length=1, max_length=MOST_SITES)]


@dataclass(frozen=True, slots=True)
class SavedState:
    """The states of some sites, taken one right after the other.

    Attributes:
        sites: by name.
    """

    made: datetime
    sites: Mapping[str, TakenState]


def write_state(state: SavedState, path: Path) -> None:
    """Write a state as one file, which appears whole or not at all."""
    parts: dict[str, bytes] = {}
    for name, taken in state.sites.items():
        parts |= site_parts(name, taken)
    sites = {name: SiteEntry.of(taken) for name, taken in state.sites.items()}
    manifest = _Manifest(made=state.made, sites=sites)
    write_archive(path, packed_archive(Kind.STATE, manifest, parts))


def read_state(path: Path) -> SavedState:
    """Read the file of a state, which may come from anybody."""
    with opened_archive(path, Kind.STATE) as parts:
        manifest = _Manifest.model_validate_json(parts.manifest(Kind.STATE))
        sites = {name: one.read(parts, name, name) for name, one in manifest.sites.items()}
    return SavedState(manifest.made, sites)
