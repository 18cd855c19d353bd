"""Steps of other recorders: Playwright codegen and the Chrome DevTools Recorder.

Nothing of a file is run. Each of its steps becomes one call in Playwright's words, which Arena's
own reader of these resolves on the page; a step that has no such words is named, and none is
dropped without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena_core.errors import InputError
from arena_core.foreign import ForeignError, first_fault, read_json
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.agents.action_spaces.playwright_calls import PlaywrightCalls
from orchestrator.authoring.recorder.capture import PersonCapture
from orchestrator.browser.observation import Observation

_MOST_BYTES: Final = 2_000_000
_MOST_STEPS: Final = 500
_SHOWN: Final = 120
_AWAITED: Final = re.compile(r"(?:await\s+)?(page\d*\..+?);?")
_ASSERTS: Final = re.compile(r"(?:await\s+)?expect\(.*")
_CAMEL: Final = re.compile(r"(?<=[a-z])([A-Z])")
_CALLED: Final = re.compile(r"\.([a-zA-Z_]+)(?=\()")
_OPTION: Final = re.compile(
    r"\{((?:\s*[a-zA-Z]+:\s*(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|true|false|\d+),?)+\s*)\}"
)
_PAIR: Final = re.compile(r"([a-zA-Z]+):\s*('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|true|false|\d+)")
_ARIA: Final = re.compile(r'aria/(?P<name>.*?)(?:\[role="(?P<role>[a-z]+)"\])?')
_BARE: Final = frozenset({"setViewport", "scroll"})  # what a reference need not do
_KEYS: Final = frozenset({"keyDown", "keyUp"})
_ACTING: Final = ("click", "dblclick", "fill", "check", "uncheck", "press", "select_option", "goto")


@dataclass(frozen=True, slots=True)
class ImportedStep:
    """One step of a file.

    Attributes:
        where: the line or the number of the step.
        call: in Playwright's words, as Python writes them.
    """

    where: str
    call: str


@dataclass(frozen=True, slots=True)
class ImportedSteps:
    """The steps of a file, and a sentence for each that cannot be taken over."""

    actions: tuple[ImportedStep, ...]
    left_out: tuple[str, ...]


class _ChromeStep(BaseModel):
    """A step of the Chrome DevTools Recorder; what else stands in it is not needed."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: Annotated[str, Field(max_length=100)]
    url: Annotated[str, Field(max_length=20_000)] | None = None
    value: Annotated[str, Field(max_length=100_000)] | None = None
    selectors: tuple[tuple[str, ...] | str, ...] = ()
    button: Literal["primary", "auxiliary", "secondary"] | None = None


class _ChromeRecording(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    title: str = ""
    steps: Annotated[tuple[_ChromeStep, ...], Field(max_length=_MOST_STEPS)]


def import_steps(path: Path) -> ImportedSteps:
    """Read the steps of a file."""
    text = _text(path)
    if text.lstrip().startswith("{") and '"steps"' in text:
        return _of_chrome(path, text)
    found = [*_of_lines(text)]
    if len(found) > _MOST_STEPS:
        raise InputError(f"{path}: holds {len(found)} steps, and at most {_MOST_STEPS} are read")
    actions = tuple(one for one in found if isinstance(one, ImportedStep))
    left_out = tuple(one for one in found if isinstance(one, str))
    if not found:
        message = f"{path}: is no recording of Playwright codegen or of Chrome DevTools"
        raise InputError(message, hint="codegen writes one with --target jsonl, python or test")
    return ImportedSteps(actions, left_out)


async def play_steps(capture: PersonCapture, steps: ImportedSteps) -> str | None:
    """Do the steps in the recorder's browser; why one could not be done, which is the last then."""
    for step in steps.actions:
        seen = capture.seen
        if seen is None or capture.stopped.is_set():
            return f"{step.where}: the browser is gone"
        before = capture.recording
        error = await _play(capture, step, seen)
        if error is not None:
            return f"{step.where}: {step.call[:_SHOWN]}: {error}; the steps after it were not done"
        await capture.wait_for_step(before)
    return None


async def _play(capture: PersonCapture, step: ImportedStep, seen: Observation) -> str | None:
    action = PlaywrightCalls().parse(step.call, seen)
    return action.why if isinstance(action, Misread) else await capture.act(action)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path}: is larger than {_MOST_BYTES // 1_000_000} MB")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise InputError(f"{path}: cannot be read: {cause}") from cause


def _of_chrome(path: Path, text: str) -> ImportedSteps:
    try:
        found = _ChromeRecording.model_validate(read_json(text, most_chars=_MOST_BYTES))
    except ForeignError as cause:
        raise InputError(f"{path}: {cause}") from cause
    except ValidationError as cause:
        raise InputError(f"{path}: {first_fault(cause)}") from cause
    actions: list[ImportedStep] = []
    left_out: list[str] = []
    for number, step in enumerate(found.steps, start=1):
        call = _chrome_call(step)
        where = f"step {number}"
        if call is not None:
            actions.append(ImportedStep(where, call))
        elif step.type not in _BARE:
            left_out.append(f"{where} ({step.type[:_SHOWN]}) is left out: {_why_not(step)}")
        else:
            left_out.append(f"{where} ({step.type}) is left out: a reference needs none")
    return ImportedSteps(tuple(actions), tuple(left_out))


def _chrome_call(step: _ChromeStep) -> str | None:
    if step.type == "navigate" and step.url is not None:
        return f"page.goto({step.url!r})"
    locator = next((one for one in map(_locator, _flat(step.selectors)) if one), None)
    if locator is None:
        return None
    match step.type:
        case "click":
            return f"page.{locator}.click()" if step.button in {None, "primary"} else None
        case "doubleClick":
            return f"page.{locator}.dblclick()"
        case "change":
            return f"page.{locator}.fill({step.value or ''!r})"
        case _:
            return None


def _locator(selector: str) -> str | None:
    """Return an accessible name, or a text, in Playwright's words; None for CSS and XPath."""
    found = _ARIA.fullmatch(selector)
    if found is not None and found["role"]:
        return f"get_by_role({found['role']!r}, name={found['name']!r}, exact=True).first"
    if found is not None:
        return f"get_by_text({found['name']!r}, exact=True).first"
    if selector.startswith("text/"):
        return f"get_by_text({selector.removeprefix('text/')!r}).first"
    return None


def _flat(selectors: tuple[tuple[str, ...] | str, ...]) -> Iterator[str]:
    """Yield selectors that lead to the element by themselves, and not through frames."""
    for one in selectors:
        if isinstance(one, str):
            yield one
        elif len(one) == 1:
            yield one[0]


def _why_not(step: _ChromeStep) -> str:
    if step.type in _KEYS:
        return "a key by itself; Enter in a field is seen when its form is sent"
    if step.selectors:
        return "it names its element by neither accessible name nor text"
    return "it is no click, change or navigation"


def _of_lines(text: str) -> Iterator[ImportedStep | str]:
    """Yield the steps of codegen's programs (Python, JavaScript) and of its JSON lines."""
    for number, line in enumerate(text.splitlines(), start=1):
        where, bare = f"line {number}", line.strip()
        if bare.startswith("{"):
            yield from _of_json_line(where, bare)
            continue
        if _ASSERTS.fullmatch(bare):
            yield f"{where} ({bare[:_SHOWN]}) is left out: choose a check in its place"
        found = _AWAITED.fullmatch(bare)
        if found is None:
            continue
        call = _as_python(re.sub(r"^page\d+\.", "page.", found[1]))
        verb = _CALLED.findall(call)[-1:] or [""]
        if verb[0] in _ACTING:
            yield ImportedStep(where, call)
        else:
            yield f"{where} ({bare[:_SHOWN]}) is left out: it acts on nothing"


def _of_json_line(where: str, line: str) -> Iterator[ImportedStep | str]:
    try:
        found = read_json(line, most_chars=_MOST_BYTES)
    except ForeignError as cause:
        yield f"{where} is left out: it {cause}"
        return
    if not isinstance(found, Mapping) or "name" not in found:
        return  # the head, which names the browser
    call = _json_call(found)
    if call is None:
        yield f"{where} ({str(found['name'])[:_SHOWN]}) is left out: it has no plain locator"
    else:
        yield ImportedStep(where, call)


def _json_call(found: Mapping[str, Any]) -> str | None:
    name, text = found["name"], found.get("text")
    if name == "navigate" and isinstance(found.get("url"), str):
        return f"page.goto({found['url']!r})"
    locator = _json_locator(found.get("locator"))
    verb: str | None = None
    match name:
        case "click" | "check" | "uncheck":
            verb = f"{name}()"
        case "fill" if isinstance(text, str):
            verb = f"fill({text!r})"
        case "press" if isinstance(found.get("key"), str):
            verb = f"press({found['key']!r})"
        case "select" if isinstance(found.get("options"), list) and found["options"]:
            verb = f"select_option({str(found['options'][0])!r})"
        case _:
            pass
    return None if locator is None or verb is None else f"page.{locator}.{verb}"


def _json_locator(locator: object) -> str | None:
    """Return a locator of codegen's JSON lines, whose next part may narrow it."""
    if not isinstance(locator, Mapping):
        return None
    kind, body, options = locator.get("kind"), locator.get("body"), locator.get("options")
    options = options if isinstance(options, Mapping) else {}
    exact = ", exact=True" if options.get("exact") is True else ""
    match kind:
        case "role" if isinstance(body, str):
            name = options.get("name")
            named = f", name={name!r}" if isinstance(name, str) else ""
            made = f"get_by_role({body!r}{named}{exact})"
        case "text" | "label" | "placeholder" | "alt" | "title" if isinstance(body, str):
            called = {"alt": "alt_text"}.get(str(kind), str(kind))
            made = f"get_by_{called}({body!r}{exact})"
        case "nth":
            return f"nth({int(str(body))})" if str(body).isdecimal() else None
        case "first" | "last":
            return str(kind)
        case _:
            return None
    after = locator.get("next")
    if after is None:
        return made
    narrowed = _json_locator(after)
    return None if narrowed is None else f"{made}.{narrowed}"


def _as_python(call: str) -> str:
    """Return a call of JavaScript as Python writes it; one of Python as it is."""
    snake = _CALLED.sub(lambda found: "." + _CAMEL.sub(r"_\1", found[1]).lower(), call)
    return _OPTION.sub(_keywords, snake).replace(".first()", ".first").replace(".last()", ".last")


def _keywords(found: re.Match[str]) -> str:
    truth = {"true": "True", "false": "False"}
    pairs = _PAIR.findall(found[1])
    return ", ".join(f"{name}={truth.get(value, value)}" for name, value in pairs)
