"""A WebArena task as `config_files/test.raw.json` has it; what is not read here may be there."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Text = Annotated[str, Field(min_length=1)]


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class HtmlTarget(_Lenient):
    """One page that `program_html` looks at.

    Attributes:
        url: a page, `last`, or `func:` and a call of a helper.
        locator: JavaScript that begins with `document.`, `func:` and a call, or nothing for the
            whole page.
        required_contents: `exact_match` with a text, or `must_include` with a list; VisualWebArena
            has more.
        prep_actions: JavaScript that is run before.
    """

    url: Text
    locator: str
    required_contents: dict[str, JsonValue]
    prep_actions: tuple[str, ...] = ()


class Evaluation(_Lenient):
    """How the task is evaluated: the product of `eval_types`, in their order."""

    eval_types: tuple[str, ...]
    reference_answers: dict[str, JsonValue] | None = None
    reference_url: str | None = None
    program_html: tuple[HtmlTarget, ...] | None = ()
    string_note: str | None = None
    url_note: str | None = None


class WebArenaRecord(_Lenient):
    """One task."""

    sites: tuple[Text, ...] = Field(min_length=1)
    task_id: int = Field(ge=0)
    start_url: Text | None
    storage_state: str | None = None
    intent: Text
    intent_template_id: int | None = None
    evaluation: Evaluation = Field(alias="eval")
