"""What goes over the wire: an observation as JSON, pictures as data URIs and never as pixels."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from pydantic_core import to_jsonable_python

from orchestrator.observation import AriaSnapshot, AxTree, Html, MarkedPicture, Observation, Picture
from tasks.schema import Task


def observation_as_json(observation: Observation) -> dict[str, Any]:
    """Return an observation as JSON: its own fields, and `parts` by the names of their forms.

    Text forms (`axtree`, `aria`, `html`) are text. A picture is `{image, width, height}`, `image` a
    data URI of a PNG. Every other form has the fields of its Python type.
    """
    return {
        "step": observation.step,
        "url": observation.url,
        "title": observation.title,
        "tabs": to_jsonable_python(observation.tabs),
        "last_error": observation.last_error,
        "parts": {name: part_as_json(part) for name, part in observation.parts.items()},
    }


def part_as_json(part: object) -> Any:
    """Return one form's part of an observation as JSON."""
    match part:
        case AxTree() | AriaSnapshot() | Html():
            return part.text
        case Picture():
            return {"image": data_uri(part), "width": part.width, "height": part.height}
        case MarkedPicture():
            marks = to_jsonable_python(part.marks)
            return {**part_as_json(part.picture), "marks": marks}
        case _:
            return to_jsonable_python(part, bytes_mode="base64")


def data_uri(picture: Picture) -> str:
    """Return a picture as a data URI."""
    return f"data:image/png;base64,{b64encode(picture.data).decode()}"


def task_as_json(suite: str, task: Task) -> dict[str, Any]:
    """Return what an agent may know of a task: no keys, no reference, no checks.

    Nor its family: one of them says that the task cannot be done.
    """
    return {
        "id": f"{suite}/{task.id}",
        "goal": task.intent,
        "sites": list(task.sites),
        "roles": {site: list(task.roles_of(site)) for site in task.roles},
        "worlds": [str(world) for world in task.worlds],
        "start": list(task.start_pages),
        "template": task.template,
        "max_steps": task.limits.steps,
        "max_seconds": task.limits.seconds,
    }
