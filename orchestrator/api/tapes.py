"""`arena.tapes`: record live sites, import archives, and say what tapes hold and carry."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.api.opened import OpenArena

if TYPE_CHECKING:
    from orchestrator.gateway.tapes.named import Fidelity
    from orchestrator.runs.agent_choice import AgentChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class TapeSummary:
    """What is on a tape.

    Attributes:
        origins: schemes and hosts that it has answers of.
        exchanges: requests with their answers.
        pages: addresses of its documents.
        software: what made it, as it says.
        robots: what robots.txt said where it was recorded, one line each.
        lost: answers without bodies: the browser had dropped them before they could be kept, or
            they repeat what is in another archive.
        packed: answers in br or zstd, which Arena does not unpack: they are sent to browsers that
            take them, and missed by all others.
        passed_over: requests that robots.txt forbade, and those that carried a secret.
    """

    path: Path
    sha256: str
    origins: tuple[str, ...]
    exchanges: int
    pages: tuple[str, ...]
    software: str = ""
    robots: tuple[str, ...] = ()
    lost: int = 0
    packed: int = 0
    passed_over: int = 0


class Tapes:
    """Tapes: recorded traffic of live sites, as WACZ files."""

    def __init__(self, opened: OpenArena) -> None:
        self._opened = opened

    def show(self, tape: Path | str) -> TapeSummary:
        """Check a tape whole, and say what is on it.

        Raises:
            InputError: it is no tape, or is damaged.
            PrerequisiteError: the extra `tape` is not installed.
        """
        from orchestrator.gateway.tapes.wacz import open_tape

        with open_tape(Path(tape)) as opened:
            return TapeSummary(
                path=opened.path,
                sha256=opened.sha256,
                origins=tuple(map(str, opened.origins)),
                exchanges=len(opened.entries),
                pages=tuple(dict.fromkeys(one.url for one in opened.pages)),
                software=opened.software,
                robots=opened.notes.robots,
                lost=opened.lost + opened.notes.lost,
                packed=sum(entry.is_packed for entry in opened.entries),
                passed_over=opened.notes.passed_over,
            )

    def import_archives(self, archives: Sequence[Path | str], out: Path | str) -> TapeSummary:
        """Make one tape of WARC and WACZ files of other programs, without cookies and logins.

        Args:
            archives: `.warc`, `.warc.gz` or `.wacz` files.
            out: the tape, which must not exist.

        Raises:
            InputError: an archive is damaged or holds nothing, or the tape exists.
            PrerequisiteError: the extra `tape` is not installed.
        """
        from orchestrator.gateway.tapes.writing import import_tape

        import_tape([Path(one) for one in archives], Path(out))
        return self.show(out)

    async def record(
        self,
        site: str,
        out: Path | str,
        *,
        suite: str = "demo",
        patterns: Sequence[str] = (),
        agent: AgentChoice = "oracle",
        staged: bool = False,
        resolve: Sequence[str] = (),
        ignore_robots: bool = False,
        by_hand: bool = False,
        headless: bool = False,
        stop: asyncio.Event | None = None,
    ) -> TapeSummary:
        """Record a live site while an agent plays tasks there; the run itself is not kept.

        Bodies come from the browser: TLS to live sites is never intercepted. Cookies, authorisation
        and requests that carry a password are left out, and what robots.txt forbids.

        Args:
            site: whose live origin is recorded.
            out: the tape, which must not exist.
            suite: as in `suites.read`.
            patterns: of its tasks; where omitted, all that visit the site online.
            agent: as in `Arena.run`.
            staged: record the staged live origin on this machine.
            resolve: as in `Arena.run`.
            ignore_robots: record what robots.txt forbids, too.
            by_hand: no agent plays: the start pages of the first task open in a window, and a
                person browses there until `stop` is set.
            headless: with `by_hand`, show no window.
            stop: ends the recording.

        Raises:
            InputError: the tape exists, or nothing was recorded.
            ArenaError: as in `Arena.run`.
        """
        from orchestrator.api.tape_recording import record_tape
        from orchestrator.browser.process.chromium import BrowserOptions

        await record_tape(
            self._opened,
            site,
            Path(out),
            agent,
            ignores_robots=ignore_robots,
            window=BrowserOptions(headless=headless) if by_hand else None,
            stop=stop,
            suite=suite,
            tasks=tuple(patterns),
            staged=staged,
            resolve=tuple(resolve),
        )
        return self.show(out)

    async def verify(
        self,
        site: str,
        tape: Path | str,
        *,
        suite: str = "demo",
        patterns: Sequence[str] = (),
        stop: asyncio.Event | None = None,
    ) -> Fidelity:
        """Play the references of tasks on a tape, and say which it carries.

        What is found is kept beside the tape, for the locks and reports of runs on it.

        Args:
            site: that the tape answers for.
            tape: the tape.
            suite: as in `suites.read`.
            patterns: of its tasks; where omitted, all that visit the site offline.
            stop: ends the verification; nothing is kept then.

        Raises:
            UsageError: no task visits the site offline without a login there.
            ArenaError: as in `Arena.run`.
        """
        from orchestrator.api.tape_recording import verify_tape

        return await verify_tape(
            self._opened, site, Path(tape), suite=suite, patterns=tuple(patterns), stop=stop
        )
