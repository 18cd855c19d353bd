"""A pack for webarena-verified: a folder for each task, which its own evaluator reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from arena_core.errors import UsageError
from evaluators.original import OriginalTask
from evaluators.readings.base import READINGS, ReadingStatus
from orchestrator.exports.har import har_of, write_json
from orchestrator.exports.packing import PackedEpisode, PackForm, UnfitError, choose, write_each
from orchestrator.report.run_report import RunReport
from orchestrator.report.seams import Written

_FORM: Final = PackForm(
    name="webarena-verified",
    title="webarena-verified",
    ids=re.compile(r"0|[1-9][0-9]{0,8}"),
)


class WebArenaVerifiedPack:
    """Writes `TASK/agent_response.json` and `TASK/network.har`, and `config.json` beside them.

    `webarena-verified eval-tasks --config PACK/config.json --output-dir PACK` scores it.
    """

    suffix = ""
    is_folder = True

    def export(
        self,
        runs: Sequence[RunReport],
        path: Path,
        *,
        repeat: int | None = None,
        world: str | None = None,
    ) -> Written:
        """Write one episode of each task.

        What the reading `verified` cannot tell from the evidence would be scored as a failure
        there, and is left out.

        Args:
            runs: of one agent.
            path: the folder.
            repeat: which repeat of each task.
            world: which world.

        Raises:
            StoreError: it cannot be written.
            UsageError: see `choose`; or runs stand on different addresses.
            PluginError: the packages of the reading are missing.
        """
        episodes, unfit = choose(runs, _FORM, repeat=repeat, world=world, any_suite=False)
        path.mkdir()
        addresses: dict[str, str] = {}
        completed: set[str] = set()

        def write(episode: PackedEpisode) -> None:
            _require_readable(episode)
            _add_addresses(addresses, episode.original)
            completed.update(_write(episode, path / episode.id))

        written, left = write_each(episodes, _FORM, unfit, write)
        config = {"environments": {name: {"urls": [url]} for name, url in addresses.items()}}
        write_json(path / "config.json", config)
        return Written(episodes=len(written), left_out=left, notes=tuple(_notes(len(completed))))


def _require_readable(episode: PackedEpisode) -> None:
    """Refuse what the evidence does not hold: its evaluator would take that for a failure.

    Raises:
        UnfitError: saying what is not there.
    """
    found = READINGS.load("verified").score(episode.original, episode.evidence, {})
    if found.status is ReadingStatus.UNSCORED:
        raise UnfitError(found.because)
    if not episode.evidence.network:
        message = "it sent no request, and its evaluator takes no empty HAR"
        raise UnfitError(message)


def _add_addresses(addresses: dict[str, str], original: OriginalTask) -> None:
    for name, url in original.bases.items():
        if addresses.setdefault(name, url) != url:
            message = f"{name} is {addresses[name]} for some tasks, and {url} for others"
            raise UsageError(message, hint="export runs of one import by themselves")


def _write(episode: PackedEpisode, folder: Path) -> set[str]:
    """Write the files of a task; return its id if the response is not the agent's own text."""
    from evaluators.readings.verified.reading import agent_response  # noqa: PLC0415 - heavy

    evidence = episode.evidence
    response = agent_response(episode.original.record, evidence)
    folder.mkdir()
    (folder / "agent_response.json").write_bytes(response.encode())
    write_json(folder / "network.har", har_of(episode.trial, episode.report))
    return set() if response == (evidence.answer or "") else {episode.id}


def _notes(completed: int) -> Iterator[str]:
    yield "webarena-verified eval-tasks --config PACK/config.json --output-dir PACK scores it"
    if completed:
        responses = "1 response was" if completed == 1 else f"{completed} responses were"
        how = "written from an ending with status and data; its task_type is the task's own"
        yield f"{responses} {how}"


WEBARENA_VERIFIED: Final = WebArenaVerifiedPack()
