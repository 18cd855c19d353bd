"""What an agent saw, as a line beside the evidence: a step can be understood and asked again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass

from orchestrator.model.messages import ImagePart
from orchestrator.observation import (
    AriaSnapshot,
    AxTree,
    Html,
    MarkedPicture,
    Observation,
    Picture,
    PrunedHtml,
)

# Of every picture that agents see: one pixel for each CSS pixel.
_DEVICE_SCALE = 1


def picture_name(picture: Picture) -> str:
    """Return the file that a picture is kept in: equal pictures are one file."""
    return ImagePart(picture.data).file_name


def pictures_in(observation: Observation) -> tuple[Picture, ...]:
    """Return the pictures that an agent was shown, plain ones first."""
    parts = observation.parts.values()
    plain = [part for part in parts if isinstance(part, Picture)]
    return (*plain, *(part.picture for part in parts if isinstance(part, MarkedPicture)))


def seen_line(observation: Observation) -> dict[str, object]:
    """Return an observation as JSON, texts whole, pictures by the names of their files.

    `step` is how many actions were done before: what the agent saw when it decided the next one.
    """
    return {
        "step": observation.step,
        "url": observation.url,
        "title": observation.title,
        "tabs": [asdict(tab) for tab in observation.tabs],
        "last_error": observation.last_error,
        "parts": {name: _part(part) for name, part in observation.parts.items()},
    }


def _part(part: object) -> object:
    match part:
        case AxTree() | AriaSnapshot() | Html():
            return {"text": part.text}
        case PrunedHtml():
            return {"text": part.text, "ids": dict(part.ids), "viewports": list(part.viewports)}
        case Picture():
            return _picture(part)
        case MarkedPicture():
            return _picture(part.picture) | {"marks": [asdict(mark) for mark in part.marks]}
        case _:
            return _plain(part)


def _picture(picture: Picture) -> dict[str, object]:
    return {
        "picture": picture_name(picture),
        "width": picture.width,
        "height": picture.height,
        "device_scale": _DEVICE_SCALE,
    }


def _plain(part: object) -> object:
    """Return what a form of somebody else's yielded, as far as it is JSON; the kind of the rest."""
    if isinstance(part, Mapping):
        return {str(key): _plain(value) for key, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [_plain(one) for one in part]
    if is_dataclass(part) and not isinstance(part, type):
        return {name: _plain(getattr(part, name)) for name in part.__dataclass_fields__}
    is_json = part is None or isinstance(part, (bool, int, float, str))
    return part if is_json else {"kind": type(part).__qualname__}
