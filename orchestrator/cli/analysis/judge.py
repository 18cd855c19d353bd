"""`arena judge`: let a model judge free text, and see how far to trust it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.names import counted
from orchestrator.analysis.judging.judge import JudgeChoice
from orchestrator.cli.arena import in_live_arena
from orchestrator.cli.console import Column, Console, Json
from orchestrator.cli.help_groups import PRICES_HELP
from orchestrator.cli.runs import options as of

if TYPE_CHECKING:
    from orchestrator.analysis.judging.agreement_set import JudgeAgreement, JudgeReport
    from orchestrator.analysis.judging.judge import JudgedRun, JudgeSession
    from orchestrator.analysis.stats.rates import Rate

app = typer.Typer()

_MODEL = typer.Option(help="Model of the judge, as its endpoint calls it.")
_URL = typer.Option(help="OpenAI-compatible endpoint; key in OPENAI_API_KEY.")
_VOTES = typer.Option(min=1, max=9, help="Replies to each question, an odd number; most decide.")
_USD = typer.Option(min=0, help="Stop asking after this many US dollars; the rest is left open.")
_PRICES = typer.Option(help=PRICES_HELP)
_HEAT = typer.Option(min=0, max=2, help="Of the judge; default: 0, with several votes 1.")


@app.callback()
def _judge() -> None:
    """Let a model judge free text, by the rubric of `how: semantic`."""


@app.command()
def run(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")],
    model: Annotated[str, _MODEL],
    model_url: Annotated[str | None, _URL] = None,
    votes: Annotated[int, _VOTES] = 1,
    temperature: Annotated[float | None, _HEAT] = None,
    max_usd: Annotated[float | None, _USD] = None,
    prices: Annotated[Path | None, _PRICES] = None,
    scorer: Annotated[
        list[str] | None,
        typer.Option(help="Also what this compatible scorer asks; may be given several times."),
    ] = None,
    reading: of.Reading = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Ask again what was answered before.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Judge what a run's episodes leave to a judge; each question is asked once.

    Until then, such an episode is `unscored: judge_unavailable`. Replies go to judgements.jsonl in
    the run's folder and become part of its evidence: arena score and arena report ask no model. If
    the command is interrupted, run it again to continue.
    """
    judge = JudgeChoice(
        model=model,
        url=model_url,
        votes=votes,
        temperature=temperature,
        max_usd=max_usd,
        prices=None if prices is None else str(prices),
    )
    console = Console(as_json)
    scorers = (*(scorer or ()), *(reading or ()))
    done = in_live_arena(
        console, lambda arena: arena.runs.judge(folder, judge, scorers=scorers, anew=anew)
    )
    rows = [(one.key.world, one.key.task, one.was, str(one.score.outcome)) for one in done.changed]
    columns = (Column("world"), Column("task"), Column("was"), Column("is"))
    if rows or as_json:
        console.table(columns, rows, _run_document(done))
    before = f"{done.known} {'was' if done.known == 1 else 'were'} before"
    console.note(
        f"{len(done.session.judgements)} of {counted(done.asked, 'question')} answered, {before};"
        f" {counted(len(done.changed), 'outcome')} changed{_cost(done.session)}"
    )
    if done.session.failure is not None:
        raise done.session.failure


@app.command()
def check(
    labelled: Annotated[
        Path,
        typer.Argument(
            metavar="SET",
            help="YAML, JSON or JSON lines: a list of rubric, text, label (right or wrong), and"
            " reference where there is one.",
        ),
    ],
    model: Annotated[str, _MODEL],
    model_url: Annotated[str | None, _URL] = None,
    votes: Annotated[int, _VOTES] = 1,
    temperature: Annotated[float | None, _HEAT] = None,
    second_model: Annotated[
        str | None, typer.Option(help="A second judge: how far do the two agree?")
    ] = None,
    second_url: Annotated[str | None, typer.Option(help="Its endpoint.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say how far a judge agrees with people's labels, and with a second judge."""
    judge = JudgeChoice(model=model, url=model_url, votes=votes, temperature=temperature)
    second = None
    if second_model is not None:
        second = JudgeChoice(
            model=second_model, url=second_url or model_url, votes=votes, temperature=temperature
        )
    console = Console(as_json)
    report = in_live_arena(console, lambda arena: arena.runs.check_judge(labelled, judge, second))
    compared = [("labels", report.labels)]
    if report.judges is not None:
        compared.append((second_model or "second judge", report.judges))
    console.table(
        (
            Column("compared with"),
            Column("agreement"),
            Column("kappa", right=True),
            Column("wrong accepts", right=True),
            Column("wrong rejects", right=True),
            Column("undecided", right=True),
        ),
        [
            (
                name,
                _share(one),
                "" if one.kappa is None else f"{one.kappa:.2f}",
                len(one.wrong_accepts),
                len(one.wrong_rejects),
                len(one.undecided),
            )
            for name, one in compared
        ],
        [{"compared_with": name, **_agreement_document(one)} for name, one in compared],
    )
    _name_differences(console, report)


def _cost(session: JudgeSession) -> str:
    tokens = sum(one.input_tokens + one.output_tokens for one in session.judgements)
    prices = [one.usd for one in session.judgements]
    known = [price for price in prices if price is not None]
    usd = f", ${sum(known):.4f}" if known and len(known) == len(prices) else ""
    return f"; {tokens:,} tokens{usd}" if tokens else ""


def _share(one: JudgeAgreement) -> str:
    rate = one.rate
    if rate.value is None or rate.interval is None:
        return "none judged"
    low, high = rate.interval.low, rate.interval.high
    return f"{rate.value:.0%} of {rate.count} ({low:.0%} to {high:.0%})"


def _agreement_document(one: JudgeAgreement) -> dict[str, Json]:
    return {
        "agreement": one.rate.value,
        "interval": _bounds(one.rate),
        "count": one.rate.count,
        "kappa": one.kappa,
        "wrong_accepts": list(one.wrong_accepts),
        "wrong_rejects": list(one.wrong_rejects),
        "undecided": list(one.undecided),
    }


def _bounds(rate: Rate) -> list[Json] | None:
    return None if rate.interval is None else [rate.interval.low, rate.interval.high]


def _run_document(done: JudgedRun) -> list[dict[str, Json]]:
    return [
        {
            "world": one.key.world.value,
            "task": one.key.task,
            "repeat": one.key.repeat,
            "was": one.was,
            "outcome": str(one.score.outcome),
            "because": one.score.because,
        }
        for one in done.changed
    ]


def _name_differences(console: Console, report: JudgeReport) -> None:
    kinds = (
        ("accepted wrongly", report.labels.wrong_accepts),
        ("rejected wrongly", report.labels.wrong_rejects),
        ("no verdict", report.labels.undecided),
    )
    for what, ids in kinds:
        if ids:
            console.note(f"{what}: {', '.join(ids)}")
