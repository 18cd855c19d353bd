"""JSON objects in what a model said, read as the module asks for them; nothing is evaluated."""

from __future__ import annotations

import json
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from orchestrator.grammars.grammar import Misread
from orchestrator.grammars.reading import problems

_LONGEST: Final = 20_000
_FAULTS_NAMED: Final = 3

Form = TypeVar("Form", bound=BaseModel)


def read_object(said: str, form: type[Form]) -> Form | Misread:
    """Return the object from the first `{` to the last `}`, as WebCanvas looks for it."""
    if len(said) > _LONGEST:
        return Misread(f"it is longer than {_LONGEST} characters")
    start, end = said.find("{"), said.rfind("}")
    if not 0 <= start < end:
        return Misread("it holds no JSON object")
    try:
        # Python's parser says best what is wrong; pydantic refuses half a code point.
        json.loads(said[start : end + 1])
        return form.model_validate_json(said[start : end + 1])
    except ValidationError as cause:
        return Misread("; ".join(problems(cause, "reply")[:_FAULTS_NAMED]))
    except (ValueError, RecursionError) as cause:
        return Misread(f"its JSON is broken: {cause}")
