"""Variations: named, versioned changes of the world that an agent meets, as `--vary` names them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NoReturn, Self

from arena_core.errors import UsageError
from arena_core.names import offered

_FORM: Final = re.compile(r"(?P<kind>[^@]*)(?:@(?P<rest>.*))?", re.DOTALL)
_CHOSEN: Final = re.compile(r"(?P<kind>content|labels)=(?P<choice>[a-z0-9]+(-[a-z0-9]+)*)")


class VariationKind(StrEnum):
    """What is changed: a name and one of its values, which a suite may have chosen."""

    LOOK_DARK = "look=dark"
    LOOK_LARGE = "look=large"
    LOOK_MOBILE = "look=mobile"
    NETWORK_FLAKY = "network=flaky"
    NETWORK_SLOW = "network=slow"
    PAGE_MOVED = "page=moved"
    PAGE_NOTICE = "page=notice"
    PAGE_WALL = "page=wall"
    CONTENT = "content"
    LABELS = "labels"

    @property
    def name_of(self) -> str:
        """The name without its value: two values of one name exclude each other."""
        return self.value.partition("=")[0]


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A whole number that a kind takes."""

    says: str
    default: int
    least: int
    most: int


_PARAMETERS: Final = {
    VariationKind.LOOK_LARGE: _Parameter("the size in percent", 150, 110, 300),
    VariationKind.NETWORK_FLAKY: _Parameter("the share that is refused in percent", 10, 1, 100),
    VariationKind.NETWORK_SLOW: _Parameter("the longest wait in milliseconds", 400, 10, 5000),
    VariationKind.PAGE_NOTICE: _Parameter("which document shows it", 1, 1, 1000),
    VariationKind.PAGE_WALL: _Parameter("which document shows it", 1, 1, 1000),
}
# Raised whenever a kind does something else than before: its earlier runs are of another arm.
_VERSIONS: Final = dict.fromkeys(VariationKind, 1)
_SEEDED: Final = frozenset(
    {VariationKind.NETWORK_FLAKY, VariationKind.NETWORK_SLOW, VariationKind.PAGE_MOVED}
)
# These have a value that a suite names.
_OF_SUITES: Final = (VariationKind.CONTENT, VariationKind.LABELS)
_WHOLE: Final = tuple(kind for kind in VariationKind if kind not in _OF_SUITES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """One change, with all that decides what it does; `str` gives what locks and evidence hold.

    Attributes:
        parameter: None where the kind takes none.
        seed: of what is drawn; None where nothing is.
        version: of what the kind does.
        choice: the name of the suite's content, or of the table of labels; None for other kinds.
    """

    kind: VariationKind
    parameter: int | None
    seed: int | None
    version: int
    choice: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `NAME=VALUE`, or `NAME=VALUE@PARAM` with `seed=N` and `vN` after a comma.

        Raises:
            UsageError: there is no such variation, or it takes no such parameter.
        """
        found = _FORM.fullmatch(text.strip())
        named = "" if found is None else found["kind"].strip().lower()
        chosen = _CHOSEN.fullmatch(named)
        if chosen is None and named not in _WHOLE:
            message = f"--vary {text!r}: there is no such variation"
            of_suites = [f"{kind}=NAME" for kind in _OF_SUITES]
            raise UsageError(message, hint=offered(named, [*_WHOLE, *of_suites]))
        kind = VariationKind(named if chosen is None else chosen["kind"])
        rest = None if found is None else found["rest"]
        said = {} if rest is None else _parts(text, rest)
        version = said.get("v", _VERSIONS[kind])
        if version != _VERSIONS[kind]:
            why = f"version {version} is not this Arena's, which has version {_VERSIONS[kind]}"
            _refuse(text, f"{why}: the two are different arms")
        return cls(
            kind=kind,
            parameter=_parameter(text, kind, said.get("")),
            seed=_seed(text, kind, said.get("seed")),
            version=version,
            choice=None if chosen is None else chosen["choice"],
        )

    @property
    def label(self) -> str:
        """What reports call it: as it was asked for, with its parameter."""
        seed = f"seed={self.seed}" if self.seed else None
        return _joined(self._named, self.parameter, seed)

    @property
    def _named(self) -> str:
        return self.kind.value if self.choice is None else f"{self.kind.value}={self.choice}"

    def __str__(self) -> str:
        seed = None if self.seed is None else f"seed={self.seed}"
        return _joined(self._named, self.parameter, seed, f"v{self.version}")


def content_in(variations: Iterable[Variation]) -> str | None:
    """Return the name of the content that an arm has in place of the suite's own."""
    return _choice(variations, VariationKind.CONTENT)


def labels_in(variations: Iterable[Variation]) -> str | None:
    """Return the name of the table by which an arm renames labels."""
    return _choice(variations, VariationKind.LABELS)


def _choice(variations: Iterable[Variation], kind: VariationKind) -> str | None:
    return next((one.choice for one in variations if one.kind is kind), None)


def arm_label(vary: tuple[str, ...]) -> str | None:
    """Return what reports call the arm of a run's lock; None for the clean one.

    A lock may be of another version of Arena's, so nothing is refused here.
    """
    return " ".join(_short(one) for one in vary) or None


def in_arm(agent: str, arm: str | None) -> str:
    """Return what reports call an agent in an arm; the clean one is its own name."""
    return f"{agent} [{arm}]" if arm else agent


def _short(text: str) -> str:
    kind, _, rest = text.partition("@")
    shown = [part for part in rest.split(",") if part not in {"", "v1", "seed=0"}]
    return f"{kind}@{','.join(shown)}" if shown else kind


def _joined(named: str, *parts: object) -> str:
    said = [str(part) for part in parts if part is not None]
    return f"{named}@{','.join(said)}" if said else named


def _parts(text: str, rest: str) -> dict[str, int]:
    """Return the numbers behind the `@`: of the parameter (named ''), of `seed`, of `v`."""
    said: dict[str, int] = {}
    for part in rest.split(","):
        named = re.fullmatch(r"\s*(seed\s*=|v)?\s*([0-9]{1,18})\s*", part)
        if named is None:
            _refuse(text, f"{part!r} is no number, `seed=N` or `vN`")
        name = (named[1] or "").rstrip("= \t")
        if name in said:
            _refuse(text, f"{part!r} says a second time what stands before it")
        said[name] = int(named[2])
    return said


def _parameter(text: str, kind: VariationKind, said: int | None) -> int | None:
    takes = _PARAMETERS.get(kind)
    if takes is None:
        if said is not None:
            _refuse(text, f"{kind.value} takes no parameter, so {said} has no effect")
        return None
    if said is None:
        return takes.default
    if not takes.least <= said <= takes.most:
        _refuse(text, f"{said} is not from {takes.least} to {takes.most} ({takes.says})")
    return said


def _seed(text: str, kind: VariationKind, said: int | None) -> int | None:
    if kind in _SEEDED:
        return said or 0
    if said is not None:
        _refuse(text, f"nothing in {kind.value} is drawn, so its seed has no effect")
    return None


def _refuse(text: str, why: str) -> NoReturn:
    raise UsageError(f"--vary {text!r}: {why}")


def variations_of(texts: tuple[str, ...]) -> tuple[Variation, ...]:
    """Read variations that go together.

    Raises:
        UsageError: one is none, or two are of one name.
    """
    found = tuple(map(Variation.parse, texts))
    for number, one in enumerate(found):
        for other in found[:number]:
            if other.kind.name_of == one.kind.name_of:
                message = f"--vary {one.label} and {other.label} exclude each other"
                hint = "play a run for each, and compare both with a clean one"
                raise UsageError(message, hint=hint)
    return found
