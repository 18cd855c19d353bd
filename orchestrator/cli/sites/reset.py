"""`arena reset`: bring the sites of `arena up` back to golden, with a receipt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.arena import in_live_arena
from orchestrator.cli.console import Column, Console

if TYPE_CHECKING:
    from evaluators.evidence import Receipt
    from orchestrator.sandbox.standing_sites import SiteReset

app = typer.Typer()

_DIGEST_WIDTH = 12
_FALLBACK_WIDTH = 160


@app.command()
def reset(
    sites: Annotated[
        list[str] | None, typer.Argument(help="Sites; default: all that are up.")
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="First print what differs from golden: tables, rows, files.",
        ),
    ] = False,
    slot: Annotated[
        int | None,
        typer.Option(min=0, help="Only this slot, if `arena up` started several."),
    ] = None,
    strategy: Annotated[
        str,
        typer.Option(
            help="auto: the cheapest strategy that is proven to lead to golden. rewind: restore the"
            " state inside the running container. recreate: remove the container and start its"
            " image again. clean: keep the site as it is; only for sites without state, since"
            " nothing watched what was written to the others."
        ),
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print the receipts as JSON.")] = False,
) -> None:
    """Bring sites back to golden: the state that their images were sealed with.

    After every reset, the whole state (each table's rows, counters and definition, the rest of the
    database, the stateful folders) is compared with golden. If one strategy does not get there,
    `auto` takes the next costlier one and says so; a site that cannot be reset is removed and
    reported. A URL keeps its port.
    """
    console = Console(as_json)
    outcome = in_live_arena(
        console,
        lambda arena: arena.sites.reset(
            sites or (), slot=slot, strategy=strategy, verify=verify, check=False
        ),
    )
    if not outcome.done and not outcome.failures:
        console.note("nothing is up; `arena up` starts the sites")
    _show(console, outcome.done, verify=verify)
    if outcome.failures:
        for failure in outcome.failures[1:]:
            console.warn(f"arena: {failure.message}")
        raise outcome.failures[0]


def _show(console: Console, done: Sequence[SiteReset], *, verify: bool) -> None:
    columns = (
        Column("site"),
        Column("strategy"),
        Column("seconds", right=True),
        Column("state"),
        Column("proven by"),
        Column("differed before", right=True),
        Column("not enough"),
    )
    labels = _labels(done)
    rows = [
        (
            label,
            receipt.strategy,
            f"{receipt.seconds:.2f}",
            f"golden {receipt.golden[:_DIGEST_WIDTH]}" if receipt.proven else "NOT GOLDEN",
            receipt.proof,
            _differed(receipt),
            ", ".join(fallback.partition(":")[0] for fallback in receipt.fallbacks),
        )
        for label, receipt in zip(labels, [one.receipt for one in done], strict=True)
    ]
    document = [
        {
            **one.receipt.model_dump(),
            "slot": one.slot,
            "proven": one.receipt.proven,
            "rows": one.rows,
        }
        for one in done
    ]
    console.table(columns, rows, document)
    if console.as_json:
        return
    for label, one in zip(labels, done, strict=True):
        for line in _lines(one, verify=verify):
            console.line(f"{label}: {line}")


def _labels(done: Sequence[SiteReset]) -> tuple[str, ...]:
    """Return the sites' names, with the slot where a site has several."""
    names = [one.receipt.site for one in done]
    return tuple(
        f"{one.receipt.site} (slot {one.slot})" if names.count(one.receipt.site) > 1 else name
        for name, one in zip(names, done, strict=True)
    )


def _lines(done: SiteReset, *, verify: bool) -> list[str]:
    """Return what does not fit into the table: the fallbacks, and what differed where asked for."""
    receipt = done.receipt
    lines = [f"{_cut(fallback)}; so {receipt.strategy}" for fallback in receipt.fallbacks]
    if verify:
        lines += [*(receipt.differences or ("nothing differed",)), *done.rows]
    return lines


def _cut(line: str) -> str:
    return line if len(line) <= _FALLBACK_WIDTH else f"{line[: _FALLBACK_WIDTH - 1]}…"


def _differed(receipt: Receipt) -> str:
    if receipt.before is None and not receipt.differences:
        return "not looked"
    return str(len(receipt.differences))
