"""Plays an episode with a command: starts it, waits for its end or a limit, and scores."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Final

from arena_core.errors import AgentCrashedError
from evaluators.evidence import Ended
from orchestrator.browser.exposed import ExposedBrowser
from orchestrator.episode.episode import Episode
from orchestrator.episode.episode_runner import DECIDE_DEADLINE_S, PlayedAttempt
from orchestrator.outside.agent_command import AgentCommand, environment_of, read_finish
from orchestrator.outside.agent_process import AgentProcess, describe_exit
from orchestrator.outside.outside_episode import OutsideEpisode, opened_to_outside

AGENT_LOG: Final = "agent.log"
_LOOK_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideRunner:
    """Plays episodes with a command.

    Attributes:
        command: is started once for each.
        browser: the episode's own.
        interrupted: set when the user asked to stop.
        idle_s: how long the agent may do nothing in the browser.
    """

    command: AgentCommand
    browser: ExposedBrowser
    interrupted: asyncio.Event
    idle_s: float = DECIDE_DEADLINE_S

    async def play(self, episode: Episode) -> PlayedAttempt:
        """Play an episode from its start to its evaluation, and close it."""
        log = ""
        async with episode:
            await episode.reset()
            try:
                if not episode.is_over:
                    async with opened_to_outside(episode, self.browser) as outside:
                        log = await self._let_act(outside)
            except Exception as error:
                if not episode.break_off_by(error):
                    raise
            interrupted = not episode.is_over
            if not interrupted:
                await episode.evaluate()
        files = {**episode.files, AGENT_LOG: log.encode()} if log else episode.files
        return PlayedAttempt(episode.evidence(), files, interrupted)

    async def _let_act(self, outside: OutsideEpisode) -> str:
        """Run the command until it ends or the episode does; return what it printed."""
        info = outside.info()
        file = outside.folder / "episode.json"
        file.write_text(json.dumps(info, indent=1), encoding="utf-8")
        environment = environment_of(info, str(file))
        try:
            async with AgentProcess.running(self.command.words, environment, str(file)) as agent:
                code = await self._until_ended(agent, outside)
                # Before the process is ended: it must not act while the end is looked at.
                await outside.settle()
        except AgentCrashedError as crash:
            await outside.end(Ended.AGENT_CRASHED, crash.message)
            return crash.message
        await self._conclude(agent, outside, code)
        return agent.log.text()

    async def _until_ended(self, agent: AgentProcess, outside: OutsideEpisode) -> int | str | None:
        """Wait; returns the exit code, why time is up, or None where nothing is the agent's."""
        exited = asyncio.create_task(agent.wait())
        others: list[asyncio.Task[object]] = [
            asyncio.create_task(outside.over.wait()),
            asyncio.create_task(outside.lost()),
            asyncio.create_task(self.interrupted.wait()),
        ]
        idle = asyncio.create_task(self._too_long(outside))
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

    async def _too_long(self, outside: OutsideEpisode) -> None:
        """Return when the agent has done nothing for too long."""
        while (left := self.idle_s - outside.idle_s) > 0:  # noqa: ASYNC110  time that passes
            await asyncio.sleep(max(left, _LOOK_S))

    async def _conclude(
        self, agent: AgentProcess, outside: OutsideEpisode, code: int | str | None
    ) -> None:
        """End the episode as the program's end says."""
        match code:
            case None:
                return
            case str():
                await outside.end(Ended.DEADLINE, code + _unreached(outside))
            case 0:
                try:
                    finish = read_finish(agent.last_line)
                except ValueError as error:
                    because = f"the last line of the agent's output: {error}"
                    await outside.end(Ended.AGENT_CRASHED, because)
                    return
                await outside.finish(finish)
            case int():
                said = f": {agent.last_error}" if agent.last_error else ""
                because = f"the agent {describe_exit(code)}{_unreached(outside)}{said}"
                await outside.end(Ended.AGENT_CRASHED, because)


def _unreached(outside: OutsideEpisode) -> str:
    return "" if outside.was_reached else "; it never connected to the browser"
