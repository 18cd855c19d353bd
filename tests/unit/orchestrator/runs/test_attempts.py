import errno
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from quick_cases import ONE_QUICK
from support.runs.tiny_run import SUITE, make_lock, tiny_evidence

from arena_core.errors import ModelError, RepeatedFaultError, UnhealthyError, UnknownNameError
from arena_core.worlds import World
from evaluators.evidence import Ended, EpisodeFault, Evidence, StepEvidence, UnscoredReason
from orchestrator.runs.attempts import AttemptRunner, FaultSpree, Progress
from orchestrator.runs.events import (
    AttemptBegan,
    AttemptBroke,
    EpisodeEnded,
    ProgressNote,
    RunEvent,
)
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey, Ledger
from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder

TASK = SUITE.tasks[0]
KEY = EpisodeKey("one", World.OFFLINE)


class Attempted:
    """What an attempt left behind, as `AttemptRunner` reads it from a recorder."""

    def __init__(self, evidence: Evidence, *, interrupted: bool = False) -> None:
        self.files: dict[str, bytes] = {}
        self.interrupted = interrupted
        self._evidence = evidence

    def evidence(self) -> Evidence:
        return self._evidence


def evidence(
    answer: str | None = None,
    *,
    ended: Ended | None = Ended.STOPPED,
    fault: EpisodeFault | None = None,
) -> Evidence:
    return tiny_evidence(agent="oracle", answer=answer, ended=ended, fault=fault)


INFRA = evidence(
    ended=None, fault=EpisodeFault(reason=UnscoredReason.INFRA, message="container died")
)
DRIFTED = evidence(
    ended=None, fault=EpisodeFault(reason=UnscoredReason.DRIFTED, message="login gone")
)


def runner(folder: RunFolder, ledger: Ledger, **parts: Any) -> AttemptRunner:
    usual: dict[str, Any] = {
        "limit": 2,
        "progress": Progress(total=1),
        "on_event": lambda _: None,
    }
    return AttemptRunner(folder=folder, ledger=ledger, **(usual | parts))


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", make_lock(), SUITE)


def collecting(events: list[RunEvent]) -> Callable[[RunEvent], None]:
    """Collect what becomes of attempts; that each begins is no news."""
    return lambda event: None if isinstance(event, AttemptBegan) else events.append(event)


async def play(
    folder: RunFolder, *attempts: Attempted | Exception
) -> tuple[bool, list[RunEvent], list[tuple[AttemptState, str | None]]]:
    """Play one episode whose attempts end as given; returns what the ledger then says."""
    events: list[RunEvent] = []
    left = list(attempts)

    async def perform(number: int) -> Attempted:
        assert number == len(attempts) - len(left) + 1
        attempt = left.pop(0)
        if isinstance(attempt, Exception):
            raise attempt
        return attempt

    with folder.writing() as ledger:
        keeper = runner(folder, ledger, on_event=collecting(events))
        is_done = await keeper.play(KEY, TASK, perform)
        states = [(one.state, one.outcome) for one in ledger.attempts()]
    assert left == []
    return is_done, events, states


async def test_a_right_answer_finishes_the_episode_as_success(folder: RunFolder) -> None:
    is_done, events, states = await play(folder, Attempted(evidence("in 1891")))
    assert is_done
    assert states == [(AttemptState.FINISHED, "success")]
    assert [type(event) for event in events] == [EpisodeEnded]


async def test_a_secret_that_an_agent_answers_with_is_kept_nowhere_and_scored_as_it_is_kept(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else `arena score` would find another outcome than the run."""
    monkeypatch.setenv("SOME_API_KEY", "in 1891")
    _, [ended], states = await play(folder, Attempted(evidence("in 1891")))
    assert states == [(AttemptState.FINISHED, "failure")]
    assert isinstance(ended, EpisodeEnded)
    assert "in 1891" not in f"{ended.evidence} {ended.score}"
    assert [one.is_same for one in rescore(folder)] == [True]


async def test_a_fault_of_the_machine_is_tried_again_and_never_a_failure(folder: RunFolder) -> None:
    _, events, states = await play(folder, Attempted(INFRA), Attempted(evidence("1891")))
    assert states == [(AttemptState.RETRIED, "infra"), (AttemptState.FINISHED, "success")]
    assert [type(event) for event in events] == [AttemptBroke, EpisodeEnded]


async def test_a_machine_that_stays_broken_leaves_the_episode_unscored(folder: RunFolder) -> None:
    _, _, states = await play(folder, Attempted(INFRA), Attempted(INFRA))
    assert states[-1] == (AttemptState.FINISHED, "unscored: infra")


async def test_a_drifted_world_is_not_tried_again(folder: RunFolder) -> None:
    _, _, states = await play(folder, Attempted(DRIFTED))
    assert states == [(AttemptState.FINISHED, "unscored: drifted")]


async def test_a_failure_of_the_agent_is_not_tried_again(folder: RunFolder) -> None:
    _, _, states = await play(folder, Attempted(evidence("1066")))
    assert states == [(AttemptState.FINISHED, "failure")]


async def test_a_replica_that_cannot_be_made_ready_once_is_tried_again(folder: RunFolder) -> None:
    _, events, states = await play(
        folder, UnhealthyError("shop: not healthy"), Attempted(evidence("1891"))
    )
    assert states == [(AttemptState.RETRIED, "infra"), (AttemptState.FINISHED, "success")]
    assert [event.reason for event in events if isinstance(event, AttemptBroke)] == [
        "shop: not healthy"
    ]


async def test_a_bug_is_not_tried_again_and_its_place_is_kept(folder: RunFolder) -> None:
    is_done, events, states = await play(folder, ZeroDivisionError("a bug"))
    assert is_done
    assert states == [(AttemptState.FINISHED, "unscored: internal")]
    [ended] = events
    assert isinstance(ended, EpisodeEnded)
    fault = folder.evidence(KEY.folder(1)).fault
    assert fault is not None
    assert (fault.reason, fault.message) == (UnscoredReason.INTERNAL, "ZeroDivisionError: a bug")
    assert re.fullmatch(r"orchestrator/runs/attempts\.py:\d+ _performed", fault.place or "")
    assert ended.score.because == f"{fault.message} at {fault.place}"
    assert [str(one.score.outcome) for one in rescore(folder)] == ["unscored: internal"]


async def test_a_bug_while_evidence_is_gathered_ends_the_episode_too(folder: RunFolder) -> None:
    class Broken(Attempted):
        def evidence(self) -> Evidence:
            raise AttributeError

    _, _, states = await play(folder, Broken(INFRA))
    assert states == [(AttemptState.FINISHED, "unscored: internal")]


async def test_a_bug_in_scoring_hides_no_evidence_and_no_other_score(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise LookupError

    monkeypatch.setattr("orchestrator.runs.store.scoring.score", broken)
    _, [ended], states = await play(folder, Attempted(evidence("1891")))
    assert states == [(AttemptState.FINISHED, "unscored: internal")]
    assert isinstance(ended, EpisodeEnded)
    assert ended.score.because.startswith("while scoring: LookupError at ")
    monkeypatch.undo()
    assert [str(one.score.outcome) for one in rescore(folder)] == ["success"]


async def test_a_machine_that_is_full_is_no_bug(folder: RunFolder) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    _, events, states = await play(folder, full, Attempted(evidence("1891")))
    assert states == [(AttemptState.RETRIED, "infra"), (AttemptState.FINISHED, "success")]
    assert [type(event) for event in events] == [AttemptBroke, EpisodeEnded]


async def test_a_persons_mistake_is_not_tried_again(folder: RunFolder) -> None:
    with pytest.raises(UnknownNameError):
        await play(folder, UnknownNameError("no role 'merchant'"))
    with folder.reading() as ledger:
        assert [one.state for one in ledger.attempts()] == [AttemptState.ABANDONED]


async def test_a_model_that_refuses_for_good_leaves_its_episode_open_and_is_not_asked_again(
    folder: RunFolder,
) -> None:
    with pytest.raises(ModelError, match="answered 401"):
        await play(folder, ModelError("answered 401", is_permanent=True))
    with folder.reading() as ledger:
        assert [one.state for one in ledger.attempts()] == [AttemptState.ABANDONED]


async def test_a_replica_that_never_becomes_ready_ends_the_run_and_leaves_the_episode_open(
    folder: RunFolder,
) -> None:
    with pytest.raises(UnhealthyError, match="second"):
        await play(folder, UnhealthyError("first"), UnhealthyError("second"))
    with folder.reading() as ledger:
        assert [one.state for one in ledger.attempts()] == [
            AttemptState.RETRIED,
            AttemptState.ABANDONED,
        ]
        assert ledger.finished() == ()


async def test_an_interrupted_attempt_counts_for_nothing(folder: RunFolder) -> None:
    cut_short = Attempted(evidence(ended=None), interrupted=True)
    is_done, events, states = await play(folder, cut_short)
    assert not is_done
    assert states == [(AttemptState.ABANDONED, None)]
    assert events == []


def adopt(folder: RunFolder, prepare: Callable[[Ledger, int], object]) -> list[AttemptState]:
    """Leave an attempt as a killed process would, then start a new process on the run."""
    with folder.writing() as ledger:
        prepare(ledger, ledger.start(KEY))
    with folder.writing() as ledger:
        keeper = runner(folder, ledger)
        keeper.recover({"one": TASK})
        return [one.state for one in ledger.attempts()]


def test_a_kill_between_evidence_and_ledger_loses_nothing(folder: RunFolder) -> None:
    states = adopt(
        folder, lambda _, number: folder.save_evidence(KEY.folder(number), evidence("1891"), {})
    )
    assert states == [AttemptState.FINISHED]


def test_a_kill_in_the_middle_of_an_attempt_abandons_it(folder: RunFolder) -> None:
    assert adopt(folder, lambda _, __: None) == [AttemptState.ABANDONED]


@pytest.mark.parametrize(
    "left",
    [evidence(ended=None), INFRA, INFRA.model_copy(update={"ended": Ended.STOPPED})],
    ids=["interrupted", "broken", "broken after the agent stopped"],
)
def test_evidence_of_an_attempt_that_must_be_repeated_is_not_adopted(
    folder: RunFolder, left: Evidence
) -> None:
    states = adopt(folder, lambda _, n: folder.save_evidence(KEY.folder(n), left, {}))
    assert states == [AttemptState.ABANDONED]
    with folder.reading() as ledger:
        assert list(ledger.evidence_digests()) == [KEY.folder(1)]


def test_a_drifted_attempt_that_was_written_whole_is_adopted(folder: RunFolder) -> None:
    states = adopt(folder, lambda _, n: folder.save_evidence(KEY.folder(n), DRIFTED, {}))
    assert states == [AttemptState.FINISHED]


def finish(folder: RunFolder, ledger: Ledger, number: int) -> Path:
    folder.save_evidence(KEY.folder(number), evidence("1891"), {})
    ledger.end(KEY, number, AttemptState.FINISHED, "success")
    return folder.evidence_folder(KEY.folder(number)) / "evidence.json"


def test_what_finished_stays_finished(folder: RunFolder) -> None:
    def prepare(ledger: Ledger, number: int) -> None:
        finish(folder, ledger, number)

    assert adopt(folder, prepare) == [AttemptState.FINISHED]


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"{"), Path.unlink])
@pytest.mark.parametrize("is_finished", [True, False])
async def test_a_episode_whose_evidence_cannot_be_read_is_played_again(
    folder: RunFolder, damage: Callable[[Path], object], *, is_finished: bool
) -> None:
    events: list[RunEvent] = []
    with folder.writing() as ledger:
        damage(finish(folder, ledger, ledger.start(KEY)))
        if not is_finished:
            ledger.end(KEY, 1, AttemptState.STARTED, None)
        keeper = runner(folder, ledger, on_event=collecting(events))
        keeper.recover({"one": TASK})
        assert ledger.finished() == ()

        async def perform(number: int) -> Attempted:
            assert number == 2
            return Attempted(evidence("1891"))

        await keeper.play(KEY, TASK, perform)
        assert [one.number for one in ledger.finished()] == [2]
    told = [event.text for event in events if isinstance(event, ProgressNote)]
    assert told == [] or "played again" in told[0]
    assert told != [] or not is_finished


@pytest.mark.parametrize(
    ("again", "is_played"),
    [
        ({UnscoredReason.DRIFTED}, True),
        ({UnscoredReason.INTERNAL, UnscoredReason.DRIFTED}, True),
        ({UnscoredReason.INTERNAL}, False),
        (set(), False),
    ],
)
async def test_what_is_unscored_is_played_again_for_the_reasons_that_are_asked_for(
    folder: RunFolder, again: set[UnscoredReason], *, is_played: bool
) -> None:
    await play(folder, Attempted(DRIFTED))
    with folder.writing() as ledger:
        keeper = runner(folder, ledger, again=frozenset(again))
        keeper.recover({"one": TASK})
        assert (ledger.finished() == ()) is is_played


async def test_a_failure_is_never_played_again(folder: RunFolder) -> None:
    await play(folder, Attempted(evidence("1066")))
    with folder.writing() as ledger:
        keeper = runner(folder, ledger, again=frozenset(UnscoredReason))
        keeper.recover({"one": TASK})
        assert len(ledger.finished()) == 1


async def test_evidence_that_cannot_be_written_ends_its_own_episode_and_not_the_run(
    folder: RunFolder,
) -> None:
    broken = Attempted(evidence("1891"))
    broken.files["picture.png"] = cast("Any", "no bytes")
    is_done, _, states = await play(folder, broken)
    assert is_done
    assert states == [(AttemptState.FINISHED, "unscored: internal")]


AT_ONCE = INFRA.model_copy(update={"seconds": 0.0})


async def play_in_a_row(
    folder: RunFolder, *ends: Evidence
) -> tuple[RepeatedFaultError | None, list[AttemptState]]:
    """Let one worker play repeats that end as given; what stopped it, and the ledger's states."""
    stopped: RepeatedFaultError | None = None
    with folder.writing() as ledger:
        keeper = runner(
            folder, ledger, progress=Progress(total=len(ends), done=len(ledger.finished()))
        )
        spree = FaultSpree()
        finished = {one.key.repeat for one in ledger.finished()}
        for repeat, end in enumerate(ends):
            if repeat in finished:
                continue

            async def perform(_: int, end: Evidence = end) -> Attempted:
                return Attempted(end)

            try:
                await keeper.play(EpisodeKey("one", World.OFFLINE, repeat), TASK, perform, spree)
            except RepeatedFaultError as error:
                stopped = error
                break
        assert keeper.progress.done == len(ledger.finished())
        last = {one.key: one.state for one in ledger.attempts()}
        return stopped, list(last.values())


async def test_episodes_that_break_off_at_once_for_one_reason_stop_the_run_and_stay_open(
    folder: RunFolder,
) -> None:
    stopped, states = await play_in_a_row(folder, evidence("1891"), *[AT_ONCE] * 4)
    assert stopped is not None
    assert "container died" in stopped.message
    assert states == [AttemptState.FINISHED, *[AttemptState.ABANDONED] * 3]
    stopped, states = await play_in_a_row(folder, *[evidence("1891")] * 4)
    assert (stopped, states) == (None, [AttemptState.FINISHED] * 4)


def at_once(message: str) -> Evidence:
    fault = EpisodeFault(reason=UnscoredReason.INFRA, message=message)
    return AT_ONCE.model_copy(update={"fault": fault})


def opened_pages() -> Evidence:
    step = StepEvidence(index=0, action=None, url="", logical=None, title="")
    return AT_ONCE.model_copy(update={"steps": (step,)})


@ONE_QUICK
@pytest.mark.parametrize(
    "ends",
    [
        [INFRA.model_copy(update={"seconds": 30.0})] * 4,
        [opened_pages()] * 4,
        [DRIFTED] * 4,
        [at_once("no login"), at_once("no login"), at_once("no page"), at_once("no page")],
        [AT_ONCE, AT_ONCE, evidence("1891"), AT_ONCE],
    ],
    ids=["took their time", "were opened", "drifted", "for other reasons", "not in a row"],
)
async def test_other_episodes_that_break_off_stop_nothing(
    folder: RunFolder, ends: list[Evidence]
) -> None:
    stopped, states = await play_in_a_row(folder, *ends)
    assert (stopped, states) == (None, [AttemptState.FINISHED] * 4)


async def test_ports_and_other_numbers_make_no_other_reason(folder: RunFolder) -> None:
    ends = [at_once(f"nothing answers at port {port}") for port in (4001, 4002, 4003)]
    stopped, _ = await play_in_a_row(folder, *ends)
    assert stopped is not None


def truncate(evidence: Path) -> None:
    evidence.write_bytes(evidence.read_bytes()[:100])


def forge(evidence: Path) -> None:
    evidence.write_text(evidence.read_text().replace('"seconds": 1.0', '"seconds": "long"'))


def remove(evidence: Path) -> None:
    evidence.unlink()


@pytest.mark.parametrize("damage", [truncate, forge, remove])
async def test_a_finished_episode_whose_evidence_cannot_be_read_is_opened_again(
    folder: RunFolder, damage: Callable[[Path], None]
) -> None:
    await play(folder, Attempted(evidence("in 1891")))
    damage(folder.evidence_folder(KEY.folder(1)) / "evidence.json")
    with folder.writing() as ledger:
        runner(folder, ledger).recover({TASK.id: TASK})
        assert [one.state for one in ledger.attempts()] == [AttemptState.ABANDONED]


async def test_a_finished_episode_stays_so_unread_and_also_where_a_picture_is_gone(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempted = Attempted(evidence("in 1891"))
    attempted.files["step-000.webp"] = b"picture"
    await play(folder, attempted)
    read: list[str] = []
    kept = RunFolder.evidence

    def noted(at: RunFolder, name: str) -> Evidence:
        read.append(name)
        return kept(at, name)

    monkeypatch.setattr(RunFolder, "evidence", noted)
    for is_whole in (True, False):
        with folder.writing() as ledger:
            runner(folder, ledger).recover({TASK.id: TASK})
            assert [one.state for one in ledger.attempts()] == [AttemptState.FINISHED]
        assert read == ([] if is_whole else [KEY.folder(1)])
        (folder.evidence_folder(KEY.folder(1)) / "step-000.webp").unlink(missing_ok=True)
