"""The options of a run on the command line: one alias each, and what the user gave of them.

A command offers an option by a parameter of its name; `asked` hands on by name whatever the user
typed, so no command repeats it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from arena_core.errors import UsageError
from orchestrator.cli.help_groups import PRICES_HELP

OF_RAY: Final = ("ray", "ray_shards", "ray_env", "ray_send", "allow")

Tasks = Annotated[
    list[str] | None, typer.Argument(help="Task ids or patterns such as 'shop-*'; default: all.")
]
Suite = Annotated[str, typer.Option(help="A suite's name or file.")]
Agent = Annotated[
    str,
    typer.Option(
        help="oracle (plays the reference: no contestant), idle, random (baselines), chat or"
        " another that `arena plugins` lists, or package.module:Factory."
    ),
]
AgentCommand = Annotated[
    str | None,
    typer.Option(
        "--agent-cmd",
        help="A program that plays each episode over CDP, such as 'python my_agent.py', in place"
        " of --agent; it finds the rest in ARENA_CDP_URL, ARENA_GOAL and ARENA_EPISODE.",
    ),
]
AgentSeconds = Annotated[
    float | None,
    typer.Option(min=1, help="How long --agent-cmd may take for an episode; default: 1800."),
]
AgentOption = Annotated[
    list[str] | None,
    typer.Option(help="key=value: an option that the agent declares; repeat for more."),
]
Offline = Annotated[bool, typer.Option("--offline", help="Play on replicas (default).")]
Online = Annotated[bool, typer.Option("--online", help="Play on the live origins of the sites.")]
Staged = Annotated[
    bool,
    typer.Option("--staged", help="Stage live origins on this machine, and label them so."),
]
Repeats = Annotated[int, typer.Option(min=1, help="How often each task is played.")]
Attempts = Annotated[
    int, typer.Option(min=1, help="Attempts at an episode when infrastructure fails.")
]


def _number_or_auto(given: str | None) -> str | None:
    if given is not None and given != "auto" and not (given.isdecimal() and int(given)):
        raise typer.BadParameter(f"{given!r} is neither a number from 1 nor auto")
    return given


Workers = Annotated[
    str | None,
    typer.Option(
        callback=_number_or_auto,
        metavar="N|auto",
        help="Episodes of each world side by side; auto follows pressure on cores and free memory;"
        " default: 1.",
    ),
]
Spares = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Warm replicas beyond the workers', of each site that holds state; default: chosen"
        " from available memory.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(help="Budget for all replicas, such as 4GiB; default: most of the machine."),
]
Strategy = Annotated[
    str | None,
    typer.Option(
        help="Resets between episodes: auto (default), swap (always, with a spare), or only clean,"
        " rewind or recreate. A replica that fails verification is replaced."
    ),
]
Resolve = Annotated[
    list[str] | None,
    typer.Option(help="HOST:PORT:ADDR:PORT: send a live host elsewhere, as curl does."),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE[@PARAM]",
        help="Change what the agent meets on replicas, never what checks read: look=dark,"
        " look=large@150 (percent), look=mobile, network=slow@400 (milliseconds), network=flaky@10"
        " (percent), page=notice@3 (the third page), page=wall, page=moved, labels=german,"
        " labels=NAME and content=NAME (of the suite); repeat for more. Not with --online: live"
        " sites are never rewritten.",
    ),
]
Tape = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SITE=FILE[@frozen]",
        help="Offline, let a tape (WACZ) of its live origin answer for a site, in place of a"
        " replica; @frozen sets the clock of its pages to when they were recorded; repeat for"
        " more. See arena tape.",
    ),
]
Model = Annotated[str | None, typer.Option(help="The agent's model, such as chat's.")]
ModelUrl = Annotated[
    str | None, typer.Option(help="OpenAI-compatible endpoint; key in OPENAI_API_KEY.")
]
ModelDeadline = Annotated[
    float | None,
    typer.Option(min=1, help="Seconds for one reply of the model with retries; default: 120."),
]
Temperature = Annotated[
    float | None,
    typer.Option(min=0, max=2, help="The model's temperature; default: 0, of arena sample: 1."),
]
ReasoningEffort = Annotated[
    str | None, typer.Option(help="How long a reasoning model may think, such as low or high.")
]
MaxCompletionTokens = Annotated[
    int | None,
    typer.Option(min=1, help="Where the model's replies are cut, thinking included."),
]
Seed = Annotated[int | None, typer.Option(help="Random seed, also sent to the model; default: 0.")]
Prices = Annotated[Path | None, typer.Option(help=PRICES_HELP)]
Replay = Annotated[
    Path | None,
    typer.Option(help="Answer the agent as this run's model did; asks no model, needs no key."),
]
MaxUsd = Annotated[
    float | None,
    typer.Option(
        help="Stop calling models after this many US dollars; remaining episodes are unscored."
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(min=1, help="The same in tokens, of prompts and replies together."),
]
Screenshots = Annotated[bool, typer.Option(help="Keep one screenshot per step.")]
RecordRequests = Annotated[
    bool,
    typer.Option(
        "--record-requests",
        help="Record the browser's requests in every episode, as arena export har needs; some"
        " tasks have theirs recorded anyway.",
    ),
]
Trace = Annotated[
    bool,
    typer.Option(
        "--trace",
        help="Keep Playwright's trace of each episode, for playwright show-trace; it shows what"
        " was typed and is not redacted.",
    ),
]
Browser = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="headless-shell, chromium (the full browser), headed (the same with a window), or"
        " cdp:URL: one that is running, for live sites (cdp-profile:URL: with its own cookies);"
        " ${NAME} in URL stands for a variable of the environment. Default: chromium on live"
        " sites, headless-shell elsewhere.",
    ),
]
BrowserDeclared = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="provider, proxy or country: what the lock says of --browser and its way out, which"
        " Arena does not check; repeat for more.",
    ),
]
Out = Annotated[Path | None, typer.Option(help="Folder of the new run.")]
Shard = Annotated[
    str | None,
    typer.Option(
        metavar="I/N",
        help="Play the I-th of N shares of the trials (from 1), by a digest of each; arena merge"
        " makes one run of all. --max-usd and --max-tokens hold for each shard by itself.",
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Play on the nodes of a Ray cluster that declare arena-slots: auto, HOST:PORT or"
        " ray://HOST:PORT. Budgets are shared out to the shards.",
    ),
]
RayShards = Annotated[
    int | None,
    typer.Option(min=1, help="With --ray: into how many shards; default: 4 for each slot."),
]
RayEnv = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="With --ray: a variable of the environment that nodes get from here, as they get"
        " OPENAI_API_KEY; repeat for more.",
    ),
]
RaySend = Annotated[
    bool, typer.Option("--ray-send", help="With --ray: send the working folder to the nodes.")
]
Allow = Annotated[
    str | None,
    typer.Option(help="With --ray: in what nodes may differ, with commas, as arena merge has it."),
]
Canary = Annotated[
    bool,
    typer.Option(
        "--canary",
        help="Online: play references before the agent plays, and again after it failed; tasks"
        " that do not hold are unscored.",
    ),
]
CanaryAge = Annotated[
    int | None,
    typer.Option(
        min=1, max=30, help="With --canary: minutes for which a look answers; default: 10."
    ),
]
Headed = Annotated[
    bool, typer.Option("--headed", help="Show the browser: the same as --browser headed.")
]
Yes = Annotated[
    bool, typer.Option("--yes", help="Play it however many episodes and workers that is.")
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Serve a page that shows it meanwhile: see arena watch.")
]
Reading = Annotated[list[str] | None, typer.Option(hidden=True, help="What --scorer was called.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]

_NAMES = {"agent_cmd": "command", "agent_seconds": "seconds"}
_WORLDS = ("offline", "online")
_DECLARED = ("provider", "proxy", "country")


def given(context: typer.Context) -> dict[str, Any]:
    """Return the options that the user typed, by the names of their parameters."""
    return {
        name: value
        for name, value in context.params.items()
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    }


def asked(context: typer.Context) -> dict[str, Any]:
    """Return what the user typed as the fields of `RunSpec`, by name."""
    from orchestrator.agents.options import FLAGS
    from orchestrator.runs.spec import Asked, RunSpec

    typed = given(context)
    if "agent" in typed and "agent_cmd" in typed:
        raise UsageError("--agent and --agent-cmd name two agents", hint="omit one of them")
    if "agent_seconds" in typed and "agent_cmd" not in typed and "config" not in typed:
        raise UsageError("--agent-seconds is about --agent-cmd, and there is none")
    flags: dict[str, object] = {name: typed.pop(name) for name in FLAGS if name in typed}
    options = agent_options(typed.pop("agent_option", ()), flags)
    worlds = [world for world in _WORLDS if typed.pop(world, False)]
    if "browser_declared" in typed:
        typed["browser"] = _declared(typed.get("browser"), typed.pop("browser_declared"))
    named = {_NAMES.get(name, name): value for name, value in typed.items()}
    fields = {*RunSpec.model_fields, *Asked.__annotations__}
    found = {name: value for name, value in named.items() if name in fields}
    if options:
        found["options"] = options
    return found | ({"worlds": worlds} if worlds else {})


def browser_entry(
    browser: str | None, declared: Sequence[str] | None, *, headed: bool
) -> Mapping[str, str] | str | None:
    """Return the browser that `--browser`, `--browser-declared` and `--headed` name together."""
    if headed and browser not in {None, "headed"}:
        message = f"--headed and --browser {(browser or '').partition(':')[0]} name two browsers"
        raise UsageError(message, hint="omit one of them")
    named = "headed" if headed else browser
    return named if declared is None else _declared(named, declared)


def _declared(browser: object, pairs: Sequence[str]) -> dict[str, str]:
    """Return the block `browser` of a run's file, from the options about it."""
    if not isinstance(browser, str):
        raise UsageError("--browser-declared is about --browser, and there is none")
    found = {"use": browser}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or key not in _DECLARED or key in found:
            message = f"--browser-declared {pair}: expected {', '.join(_DECLARED)}=VALUE, each once"
            raise UsageError(message)
        found[key] = value
    return found


def agent_options(
    pairs: Sequence[str], flags: Mapping[str, object] | None = None
) -> dict[str, object]:
    """Return the agent's options: `key=value` pairs, and those with a flag of their own."""
    from orchestrator.agents.options import flag_of, parse_options

    read: dict[str, object] = dict(parse_options(pairs))
    for name, value in (flags or {}).items():
        if name in read:
            raise UsageError(f"{flag_of(name)} and --agent-option {name} say the same thing twice")
        read[name] = value
    return read


def ray_terms(context: typer.Context) -> dict[str, Any] | None:
    """Return how a run is played on a cluster, as `arena.ray` takes it; None without `--ray`."""
    typed = context.params
    if typed["ray"] is None:
        for name in OF_RAY:
            if name in given(context):
                raise UsageError(f"--{name.replace('_', '-')} has no effect without --ray")
        return None
    if typed["headed"]:
        raise UsageError("--headed shows no window on a node", hint="omit it, or omit --ray")
    return {
        "address": typed["ray"],
        "allow": [one.strip() for one in (typed["allow"] or "").split(",") if one.strip()],
        "environment": typed["ray_env"] or (),
        "send": typed["ray_send"],
    }
