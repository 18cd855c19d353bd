"""`make faults`: runs under faults, on from where the last one ended; what came of each is counted.

All is kept in `build/faults`: `faults.json` with every fault, and the folder of each run in which
anything was wrong.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Final

from faults.kinds import KINDS
from faults.played import play

_FOLDER: Final = Path(__file__).parents[2] / "build" / "faults"
_STATE: Final = _FOLDER / "faults.json"
# As many as strike a run while its episodes last.
_OF_ONE_RUN: Final = 60
_LANES: Final = 2


def main(count: int) -> int:
    """Inject so many faults more, in runs side by side; 1 if anything is wrong afterwards."""
    runs: list[dict[str, Any]] = json.loads(_STATE.read_text()) if _STATE.exists() else []
    first = 1 + max((run["seed"] for run in runs), default=-1)
    shares = [min(_OF_ONE_RUN, count - at) for at in range(0, count, _OF_ONE_RUN)]
    noted: list[dict[str, Any]] = []
    with ThreadPoolExecutor(_LANES) as lanes:
        playing = [lanes.submit(_play, seed, share) for seed, share in enumerate(shares, first)]
        try:
            for one in as_completed(playing):
                noted.append(one.result())
                _note(noted[-1], [*runs, *noted])
        except KeyboardInterrupt:
            lanes.shutdown(wait=False, cancel_futures=True)
            sys.stdout.write("what is under way is played to its end, and not counted\n")
    runs += noted
    wrong = sum(len(run["wrong"]) for run in noted)
    sys.stdout.write(table(runs))
    return 1 if wrong else 0


def _note(run: dict[str, Any], runs: list[dict[str, Any]]) -> None:
    _STATE.write_text(json.dumps(runs, indent=1))
    lines = (*run["wrong"], _summary(run))
    sys.stdout.writelines(f"run {run['seed']}: {line}\n" for line in lines)
    sys.stdout.flush()


def _play(seed: int, count: int) -> dict[str, Any]:
    folder = _FOLDER / f"run-{seed}"
    shutil.rmtree(folder, ignore_errors=True)  # of one that was broken off
    played = play(seed, count, folder)
    if not played.wrong:
        shutil.rmtree(folder)
    return played.document()


def _struck(runs: Iterable[Mapping[str, Any]]) -> int:
    return sum(one["struck"] is not None for run in runs for one in run["injected"])


def _summary(run: Mapping[str, Any]) -> str:
    faults = _struck([run])
    return (
        f"{faults} faults, {run['trials']} trials in {run['attempts']} attempts, "
        f"{len(run['legs'])} starts, {len(run['wrong'])} wrong"
    )


def table(runs: Iterable[Mapping[str, Any]]) -> str:
    """Return one line for each kind of fault, with what came of it, and one for all."""
    found = list(runs)
    rows: list[tuple[str, ...]] = [
        ("fault", "struck", "broke off", "resumed", "unnoticed", "not there")
    ]
    injected = [one for run in found for one in run["injected"]]
    for kind in KINDS:
        mine = [one for one in injected if (one["area"], one["name"]) == (kind.area, kind.name)]
        rows.append((f"{kind.area}: {kind.name}", *_counted(mine)))
    rows.append(("all", *_counted(injected)))
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    wrong = sum(len(run["wrong"]) for run in found)
    trials, attempts = (sum(run[name] for run in found) for name in ("trials", "attempts"))
    return "\n".join(
        [*lines, f"{len(found)} runs, {trials} trials, {attempts} attempts, {wrong} wrong", ""]
    )


def _counted(injected: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    came = Counter(_class(one) for one in injected)
    struck = sum(came.values()) - came["not there"]
    names = ("broke off", "resumed", "unnoticed", "not there")
    return str(struck), *(str(came[name]) for name in names)


def _class(one: Mapping[str, Any]) -> str:
    if one["struck"] is None:
        return "not there"
    if "resumed" in one["came"]:
        return "resumed"
    return "unnoticed" if one["came"].startswith("nothing") else "broke off"


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
