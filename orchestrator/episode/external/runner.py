"""Plays an episode with a command: starts it, waits for its end or a limit, and scores."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from typing import Final

from arena_core.errors import AgentCrashedError
from evaluators.evidence import Ended, UnscoredReason
from orchestrator.browser.observation import Observation
from orchestrator.browser.process.external_browser import ExternalBrowser
from orchestrator.episode.episode import Episode
from orchestrator.episode.episode_runner import DECIDE_DEADLINE_S, Meter, PlayedAttempt, play_by
from orchestrator.episode.external.command import AgentCommand, environment_of, read_finish
from orchestrator.episode.external.episode import ExternalEpisode, open_external
from orchestrator.episode.external.process import AgentProcess, describe_exit

AGENT_LOG: Final = "agent.log"
_LOOK_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalRunner:
    """Plays episodes with a command.

    Attributes:
        command: is started once for each.
        browser: the episode's own.
        interrupted: set when the user asked to stop.
        idle_s: how long the agent may do nothing in the browser.
        meter: of the run; None where nobody counts. A program says only at its end what it spent,
            so the budget is overshot by what the episodes under way cost.
    """

    command: AgentCommand
    browser: ExternalBrowser
    interrupted: asyncio.Event
    idle_s: float = DECIDE_DEADLINE_S
    meter: Meter | None = None

    async def play(self, episode: Episode) -> PlayedAttempt:
        log = ""

        async def act(_: Observation) -> bool:
            nonlocal log
            if self.meter is not None and (spent := self.meter.exhausted) is not None:
                episode.break_off(UnscoredReason.BUDGET, spent)
            if not episode.is_over:
                async with open_external(episode, self.browser) as external:
                    log = await self._let_act(external)
            return False

        played = await play_by(episode, act)
        return replace(played, files={**played.files, AGENT_LOG: log.encode()}) if log else played

    async def _let_act(self, external: ExternalEpisode) -> str:
        """Run the command until it ends or the episode does; return what it printed."""
        info = external.info()
        file = external.folder / "episode.json"
        file.write_text(json.dumps(info, indent=1), encoding="utf-8")
        environment = environment_of(info, str(file))
        try:
            async with AgentProcess.running(self.command.words, environment, str(file)) as agent:
                code = await self._until_ended(agent, external)
                # Before the process is ended: it must not act while the end is looked at.
                await external.settle()
        except AgentCrashedError as crash:
            await external.end(Ended.AGENT_CRASHED, crash.message)
            return crash.message
        await self._conclude(agent, external, code)
        return agent.log.text()

    async def _until_ended(
        self, agent: AgentProcess, external: ExternalEpisode
    ) -> int | str | None:
        """Wait; returns the exit code, why time is up, or None where nothing is the agent's."""
        exited = asyncio.create_task(agent.wait())
        others: list[asyncio.Task[object]] = [
            asyncio.create_task(external.over.wait()),
            asyncio.create_task(external.lost()),
            asyncio.create_task(self.interrupted.wait()),
        ]
        idle = asyncio.create_task(self._too_long(external))
        try:
            await asyncio.wait(
                [exited, idle, *others],
                timeout=self.command.seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if exited.done():
                return exited.result()
            if any(one.done() for one in others):
                return None
            if idle.done():
                return f"the agent did nothing for {self.idle_s:g} s"
            return f"the agent took more than {self.command.seconds:g} s"
        finally:
            for one in (exited, idle, *others):
                one.cancel()
            await asyncio.gather(exited, idle, *others, return_exceptions=True)

    async def _too_long(self, external: ExternalEpisode) -> None:
        while (left := self.idle_s - external.idle_s) > 0:  # noqa: ASYNC110  time that passes
            await asyncio.sleep(max(left, _LOOK_S))

    async def _conclude(
        self, agent: AgentProcess, external: ExternalEpisode, code: int | str | None
    ) -> None:
        match code:
            case None:
                return
            case str():
                await external.end(Ended.DEADLINE, code + _unreached(external))
            case 0:
                try:
                    finish = read_finish(agent.last_line)
                except ValueError as error:
                    because = f"the last line of the agent's output: {error}"
                    await external.end(Ended.AGENT_CRASHED, because)
                    return
                await external.finish(finish)
                if self.meter is not None:
                    self.meter.add(finish.spent)
            case int():
                said = f": {agent.error}" if agent.error else ""
                because = f"the agent {describe_exit(code)}{_unreached(external)}{said}"
                await external.end(Ended.AGENT_CRASHED, because)


def _unreached(external: ExternalEpisode) -> str:
    return "" if external.was_reached else "; it never connected to the browser"
