"""What one machine of several is: its versions, hardware, clock and images; and how two compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from arena_core.errors import ImageError, InputError, NodeDiffersError
from arena_core.foreign import first_fault
from arena_core.names import counted
from arena_core.regular_files import MEGABYTE, read_regular
from orchestrator.runs.store.lock import HostEnvelope, NodeClock, RunLock
from orchestrator.runs.store.merging import Allowed
from orchestrator.runs.store.run_folder import RunFolder, write_atomically
from sites.fields import Strict, written

_LOCK: Final = "lock.json"
_WRITES_ONE: Final = "arena node check --write FILE writes one; of a run, name its folder"
_TO_SEND: Final = (
    "send the other node's: arena images save FILE there, arena node prepare --images FILE here"
)
_NAMED: Final = 5

ImageTag = Annotated[str, written(r"[A-Za-z0-9][A-Za-z0-9._/:-]{0,254}", "the tag of an image")]
ImageId = Annotated[str, written(r"sha256:[0-9a-f]{64}", "sha256: and 64 hexadecimal digits")]
Line = Annotated[str, Field(max_length=300)]


class NodeImage(Strict):
    """An image as a node has it.

    Attributes:
        id: its digest.
        golden: digest of the state that it was sealed with; None of a staged live origin.
    """

    id: ImageId
    golden: Line | None = None


class NodeEngine(Strict):
    """The Docker engine of a node."""

    version: Line
    storage: Line
    cpus: int
    memory_mb: int


class NodeFacts(Strict):
    """What a node is, as `arena node check --write` writes it down.

    Attributes:
        node: the name of the machine.
        at: when it was looked at; UTC, to the second.
        packages: versions of Arena and of what it depends on.
        browser: version of the Chromium that runs start by default.
        images: by tag.
    """

    kind: Literal["arena node"] = "arena node"
    version: Literal[1] = 1
    node: Line
    at: Line
    packages: dict[Line, Line]
    host: HostEnvelope
    engine: NodeEngine
    browser: Line
    clock: NodeClock
    images: dict[ImageTag, NodeImage]


@dataclass(frozen=True, slots=True)
class NodeFault:
    """An image that is wanted and cannot be used as it is.

    Attributes:
        image: its tag.
        why: in words: `not here`.
        hint: the next step.
    """

    image: str
    why: str
    hint: str


@dataclass(frozen=True, slots=True)
class NodeDifference:
    """Something that is otherwise on another node, or was when a run began.

    Attributes:
        what: `image arena/shop:1`, `golden state of arena/shop:1`, `browser`.
        here, there: its values; None where there is none.
        allow: what `arena merge --allow` calls it; None where the node is refused for it.
    """

    what: str
    here: str | None
    there: str | None
    allow: str | None

    @property
    def image(self) -> str:
        """The tag of the image that differs, or whose golden state does."""
        return self.what.rpartition(" ")[2] if self.allow is None else ""

    def __str__(self) -> str:
        return f"{self.what} is {_shown(self.here)} here, {_shown(self.there)} there"


def _shown(value: str | None) -> str:
    return "not known" if value is None else value


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCheck:
    """What was found on a node.

    Attributes:
        facts: of the images those that are wanted and here.
        faults: what is wanted and cannot be used.
        like: what it was compared with; None where with nothing.
        differences: from that; those without `allow` refuse the node.
        clock_there: what is known of that one's clock; None where nothing is.
    """

    facts: NodeFacts
    faults: tuple[NodeFault, ...]
    like: str | None = None
    differences: tuple[NodeDifference, ...] = ()
    clock_there: NodeClock | None = None

    @property
    def refused(self) -> tuple[NodeDifference, ...]:
        """The differences with which the node must not play."""
        return tuple(one for one in self.differences if one.allow is None)

    @property
    def is_good(self) -> bool:
        """Whether all that is wanted is here, and as it is there."""
        return not self.faults and not self.refused

    def require_good(self) -> None:
        """Refuse the node where it lacks an image, or has others than the node it shall be like.

        Raises:
            ImageError: an image is missing, or cannot be used as it is.
            NodeDiffersError: an image or a golden state is another one.
        """
        if self.faults:
            said = "; ".join(f"{one.image}: {one.why}" for one in self.faults[:_NAMED])
            message = f"{counted(len(self.faults), 'image')} cannot be used: {said}"
            hints = list(dict.fromkeys(one.hint for one in self.faults))
            more = f" (and {len(self.faults) - _NAMED} more)" if len(self.faults) > _NAMED else ""
            raise ImageError(message + more, hint="; ".join(hints[:_NAMED]))
        if self.refused:
            others = len(self.refused) - 1
            said = f"{self.refused[0]}{f'; and {others} more' if others else ''}"
            raise NodeDiffersError(f"this node is not like {self.like}: {said}", hint=_TO_SEND)


@dataclass(frozen=True, slots=True)
class Likeness:
    """What a node is held to.

    Attributes:
        name: of the file or run that says so.
        images: by tag.
        beside: by field, what else is known, and what `arena merge --allow` calls it.
        clock: None where nothing is known of it.
    """

    name: str
    images: Mapping[str, NodeImage]
    beside: Mapping[str, tuple[str, Allowed]]
    clock: NodeClock | None = None

    def differences(
        self, facts: NodeFacts, missing: frozenset[str] = frozenset()
    ) -> Iterator[NodeDifference]:
        """Yield in what a node differs from it, without the images that are missing here."""
        for tag, here in sorted(facts.images.items()):
            there = self.images.get(tag)
            there_id = None if there is None else there.id
            if here.id != there_id:
                yield NodeDifference(f"image {tag}", here.id, there_id, None)
            golden = None if there is None else there.golden
            if golden is not None and golden != here.golden:
                yield NodeDifference(f"golden state of {tag}", here.golden, golden, None)
        for name, (here_is, allow) in _beside_of(facts).items():
            if name in self.beside and self.beside[name][0] != here_is:
                yield NodeDifference(name, here_is, self.beside[name][0], str(allow))
        for tag in sorted(self.images.keys() - facts.images.keys() - missing):
            yield NodeDifference(f"image {tag}", None, self.images[tag].id, None)


def read_likeness(path: Path) -> Likeness:
    """Read what a node shall be like: facts of another one, or a run's folder or lock.

    Raises:
        InputError: it is no such file, or names no image.
        StoreError: it is a run's, and cannot be read.
    """
    if path.is_dir() or path.name == _LOCK:
        lock = RunFolder.open(path if path.is_dir() else path.parent).lock()
        images, beside = _images_of(path, lock), _beside_of_lock(lock)
        found = Likeness(f"run {lock.run}", images, beside, lock.clock)
    else:
        facts = read_facts(path)
        name = f"node {facts.node!a} in {path}"
        found = Likeness(name, facts.images, _beside_of(facts), facts.clock)
    if not found.images:
        raise InputError(f"{path}: names no image: nothing can be compared", hint=_WRITES_ONE)
    return found


def read_facts(path: Path) -> NodeFacts:
    """Read what `write_facts` wrote.

    Raises:
        InputError: it is no such file.
    """
    try:
        return NodeFacts.model_validate_json(read_regular(path, follow=True, most=MEGABYTE))
    except OSError as cause:
        raise InputError(f"{path}: cannot be read: {cause.strerror or cause}") from cause
    except ValidationError as cause:
        message = f"{path}: holds no facts of a node: {ascii(first_fault(cause))[1:-1]}"
        raise InputError(message, hint=_WRITES_ONE) from cause


def write_facts(facts: NodeFacts, path: Path) -> None:
    """Write down what a node is; facts that lie there are replaced, any other file is kept.

    Raises:
        InputError: another file is there, or it cannot be written.
    """
    if path.exists() or path.is_symlink():
        read_facts(path)
    try:
        write_atomically(path, facts.model_dump_json(indent=1))
    except OSError as cause:
        raise InputError(f"{path}: cannot be written: {cause.strerror or cause}") from cause


def _images_of(path: Path, lock: RunLock) -> dict[str, NodeImage]:
    try:
        goldens = lock.goldens
        return {tag: NodeImage(id=one, golden=goldens.get(tag)) for tag, one in lock.images.items()}
    except ValidationError as cause:
        raise InputError(
            f"{path}: names an image by no digest: {ascii(first_fault(cause))[1:-1]}"
        ) from cause


def _beside_of_lock(lock: RunLock) -> dict[str, tuple[str, Allowed]]:
    return _beside(lock.packages, lock.host, lock.engine, lock.browser)


def _beside_of(facts: NodeFacts) -> dict[str, tuple[str, Allowed]]:
    return _beside(facts.packages, facts.host, facts.engine.version, facts.browser)


def _beside(
    packages: Mapping[str, str], host: HostEnvelope, engine: str, browser: str
) -> dict[str, tuple[str, Allowed]]:
    """Return what merged shards may differ in where that is allowed, by the lock's fields."""
    return {
        **{f"packages.{name}": (one, Allowed.PACKAGES) for name, one in packages.items()},
        **{f"host.{name}": (str(one), Allowed.HARDWARE) for name, one in host},
        "engine": (engine, Allowed.HARDWARE),
        "browser": (browser, Allowed.BROWSER),
    }
