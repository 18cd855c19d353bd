"""A pack for webarena-verified: a folder for each task, which its own evaluator reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from arena_core.errors import UsageError
from arena_core.names import counted
from evaluators.scorers.base import SCORERS, ScorerStatus
from orchestrator.analysis.run_report.extension_points import Written
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.export.har import har_of, write_json
from orchestrator.export.packs import Pack, PackedEpisode, PackForm, UnfitError


class WebArenaVerifiedPack(Pack):
    """Writes `TASK/agent_response.json` and `TASK/network.har`, and `config.json` beside them.

    `webarena-verified eval-tasks --config PACK/config.json --output-dir PACK` scores it.
    """

    form = PackForm(
        name="webarena-verified",
        title="webarena-verified",
        ids=re.compile(r"0|[1-9][0-9]{0,8}"),
    )

    def __init__(self) -> None:
        self._addresses: dict[str, str] = {}
        self._completed = 0  # responses that are not the agent's own text

    def export(  # type: ignore[override]  # tasks of other sets have no place in its numbering
        self,
        runs: Sequence[RunReport],
        path: Path,
        *,
        repeat: int | None = None,
        world: str | None = None,
    ) -> Written:
        """Write one episode of each task.

        What the scorer `verified` cannot tell from the evidence would be scored as a failure
        there, and is left out.

        Args:
            runs: of one agent.
            path: the folder.
            repeat: which repeat of each task.
            world: which world.
        """
        pack = WebArenaVerifiedPack()
        written = pack.write_pack(runs, path, repeat=repeat, world=world, any_suite=False)
        write_json(path / "config.json", pack.config)
        return written

    @property
    def config(self) -> dict[str, object]:
        return {"environments": {name: {"urls": [url]} for name, url in self._addresses.items()}}

    def write_episode(self, episode: PackedEpisode, path: Path) -> None:
        from evaluators.scorers.verified.scorer import agent_response  # noqa: PLC0415 - heavy

        _require_readable(episode)
        for name, url in episode.original.bases.items():
            if self._addresses.setdefault(name, url) != url:
                known = self._addresses[name]
                message = f"{name} is {known} for some tasks, and {url} for others"
                raise UsageError(message, hint="export runs of one import by themselves")
        response = agent_response(episode.original.record, episode.evidence)
        folder = path / episode.id
        folder.mkdir()
        (folder / "agent_response.json").write_bytes(response.encode())
        write_json(folder / "network.har", har_of(episode.scored, episode.report))
        self._completed += response != (episode.evidence.answer or "")

    def notes(self, written: Sequence[PackedEpisode]) -> Iterator[str]:  # noqa: ARG002
        yield "webarena-verified eval-tasks --config PACK/config.json --output-dir PACK scores it"
        if self._completed:
            responses = counted(self._completed, "response was", "responses were")
            how = "written from an ending with status and data; its task_type is the task's own"
            yield f"{responses} {how}"


def _require_readable(episode: PackedEpisode) -> None:
    """Refuse what the evidence does not hold: its evaluator would take that for a failure."""
    found = SCORERS.load("verified").score(episode.original, episode.evidence, {})
    if found.status is ScorerStatus.UNSCORED:
        raise UnfitError(found.because)
    if not episode.evidence.network:
        raise UnfitError("it sent no request, and its evaluator takes no empty HAR")


WEBARENA_VERIFIED: Final = WebArenaVerifiedPack()
