"""What agents that hold a conversation are shown of a page: its tree, its marks, its picture."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO

from arena_core.actions import Action
from arena_core.errors import UsageError
from orchestrator.agent_interface import Assignment
from orchestrator.agents.pages import PageTurner
from orchestrator.agents.prompt import page_of, place_of
from orchestrator.grammars.pixels import Size
from orchestrator.model.messages import ImagePart, Part, TextPart
from orchestrator.observation import SCREENSHOT, SOM, Mark, MarkedPicture, Observation, Picture

_NAME_SHOWN = 200


class TreeSight:
    """The accessibility tree, a long one in parts.

    Args:
        budget: how many characters a part has at most.
    """

    def __init__(self, assignment: Assignment, budget: int) -> None:
        self._steps = assignment.step_limit
        self._pages = PageTurner(budget)

    def show(self, observation: Observation, done: Action | None) -> tuple[Part, ...]:
        """Return one text."""
        part = self._pages.turn(observation.text, observation.url, done)
        return (TextPart(f"{_heading(observation, self._steps)}\n{page_of(part)}"),)


@dataclass(frozen=True, slots=True)
class MarksSight:
    """The picture with numbered boxes, and the list of what is numbered."""

    assignment: Assignment

    def show(self, observation: Observation, done: Action | None) -> tuple[Part, ...]:  # noqa: ARG002
        """Return the list and the picture."""
        marked = observation.parts.get(SOM)
        if not isinstance(marked, MarkedPicture):
            raise UsageError(_missing(SOM))
        marks = "\n".join(_line(mark) for mark in marked.marks) or "(nothing)"
        text = f"{_heading(observation, self.assignment.step_limit)}\nNumbered in it:\n{marks}"
        return TextPart(text), ImagePart(marked.picture.data)


@dataclass(frozen=True, slots=True)
class PictureSight:
    """The picture alone.

    Attributes:
        most: how large it is sent at most; None for as it is.
        says_size: whether its size is said beside it, for a model that names places in pixels.
    """

    assignment: Assignment
    most: Size | None = None
    says_size: bool = True

    def show(self, observation: Observation, done: Action | None) -> tuple[Part, ...]:  # noqa: ARG002
        """Return where the page is, and the picture."""
        picture = observation.parts.get(SCREENSHOT)
        if not isinstance(picture, Picture):
            raise UsageError(_missing(SCREENSHOT))
        sent = Size(picture.width, picture.height).within(self.most)
        size = f"\nThe picture is {sent} pixels." if self.says_size else ""
        text = f"{_heading(observation, self.assignment.step_limit)}{size}"
        return TextPart(text), ImagePart(resized(picture, sent))


def resized(picture: Picture, size: Size) -> bytes:
    """Return a picture's PNG at another size; as it is where that is its own."""
    if (picture.width, picture.height) == (size.width, size.height):
        return picture.data
    from PIL import Image  # noqa: PLC0415 - only agents that shrink pictures pay for it

    written = BytesIO()
    with Image.open(BytesIO(picture.data)) as image:
        image.convert("RGB").resize((size.width, size.height), Image.Resampling.LANCZOS).save(
            written, format="PNG"
        )
    return written.getvalue()


def _missing(form: str) -> str:
    return f"this observation has no `{form}`: an episode must be opened with what its agent needs"


def _heading(observation: Observation, steps: int) -> str:
    return f"Step {observation.step + 1} of {steps}.\n\n{place_of(observation)}"


def _line(mark: Mark) -> str:
    name = " ".join(mark.name.split())
    shown = name if len(name) <= _NAME_SHOWN else f"{name[: _NAME_SHOWN - 1]}…"
    return f'[{mark.id}] {mark.role} "{shown}"'
