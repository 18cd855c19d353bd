"""The exporter `dpo`: in one proven state, an action that led to success and one that did not.

An episode's outcome does not label its steps. So a pair is taken only where what is known leaves
little else to explain it; the data card says what stays unknown.
"""

from __future__ import annotations

import ast
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Any, Final

from arena_core.actions import Action, Goto, Infeasible, NewTab, Stop
from arena_core.worlds import World
from evaluators.evidence import Ended
from orchestrator.agents.action_spaces.calls import expressions
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.analysis.run_report.extension_points import Written
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.export.training.builder import (
    OUTCOMES,
    DataSetBuilder,
    DataSetExporter,
    pictures_of,
    require_above_zero,
)
from orchestrator.export.training.dataset import DataSet
from orchestrator.export.training.rollouts import Rollout, Seen, Turn
from orchestrator.export.training.samples import (
    MESSAGES,
    Removed,
    Sample,
    Shape,
    beside,
    digest_of,
    origin,
    sample_of,
    text_shape,
)

# Ends that an action brought about. Where a limit ended an episode, or a crash, or the agent gave
# up, what it did before is not shown to be wrong.
_DECIDED: Final = frozenset({Ended.STOPPED, Ended.INFEASIBLE, Ended.PAGE_ENDED, Ended.PAGE_LEFT})
_ALIKE: Final = (
    (
        "Two states count as the same where everything that the agent saw and did since a proven"
        " start is the same. What a site keeps without showing it may still differ."
    ),
    (
        "An action is rejected for how its continuations ended. Where it did not end the episode"
        " itself (`is_final` false), a later mistake may be the cause: `rejected_n` says how many"
        " continuations there were, and `--option continuations=N` asks for more."
    ),
    (
        "An action is chosen because every continuation seen succeeded: `chosen_n` says how many. A"
        " model that plays better or worse than the one that was sampled may fare otherwise."
    ),
)
_PAIR_FIELDS: Final = {
    "prompt, chosen, rejected": "the messages that the model was sent, and two replies to them; in"
    " the shape `autowebglm` a text each",
    "chosen_action, rejected_action": "what the replies were read as, JSON text",
    "state": "digest of the state: equal states have one",
    "state_n, state_right": "scored continuations of the state, and how many succeeded",
    "chosen_n, rejected_n": "of those, how many began with each action: all of the first"
    " succeeded, all of the second failed",
    "is_final": "whether the rejected action itself ended the episode",
    "chosen_from, rejected_from": "which episode and step each reply is of",
    "tools": MESSAGES["tools"],
    "images": MESSAGES["images"],
}


class NoPair(StrEnum):
    """Why a state, an episode, or two continuations gave no pair; the words of the data card."""

    ALL_ALIKE = "all scored continuations of the state ended alike"
    NONE_CLEAR = "no action of the state always succeeded, or none always failed"
    OTHER_REASON = "the rejected action's episodes ended by a limit, a crash or giving up"
    STILL_OPEN = "after the rejected action an episode saw a page that successful ones saw"
    TOO_FEW = "too few scored continuations of a rejected action that did not end the episode"
    OTHER_PROMPT = "the prompts of the two continuations differ"
    NO_RECORD = "a continuation cannot be a record: see the steps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """An episode with the digests of what it saw.

    Attributes:
        start: see `start_proof`.
        pages: see `page_of`: before each of its actions, and after the last one, where it could
            still act on what it saw then.
    """

    rollout: Rollout
    start: str | None
    pages: tuple[str | None, ...]

    @classmethod
    def of(cls, rollout: Rollout) -> Walk:
        pages = [page_of(rollout, turn.seen) for turn in rollout.turns]
        if rollout.outline.ended not in _DECIDED and rollout.turns:
            pages.append(page_of(rollout, rollout.turns[-1].after))
        return cls(rollout=rollout, start=start_proof(rollout), pages=tuple(pages))

    def places(self, first: int) -> set[tuple[str | None, str]]:
        """Return the pages that it saw from one of its actions on, with where it began."""
        return {(self.start, page) for page in self.pages[first:] if page}


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """One continuation: an episode at one of its actions.

    Attributes:
        place: of the turn among the episode's, from 0.
    """

    walk: Walk
    place: int

    @property
    def rollout(self) -> Rollout:
        return self.walk.rollout

    @property
    def turn(self) -> Turn:
        return self.rollout.turns[self.place]

    @property
    def is_last(self) -> bool:
        return self.place == len(self.rollout.turns) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two replies to one prompt in one state.

    Attributes:
        state: digest of the state: start, and all that was seen and done since.
        n, right: scored continuations of the state, and how many of them succeeded.
        chosen_n, rejected_n: scored continuations of each action.
        is_final: the rejected action itself ended the episode.
    """

    state: str
    chosen: At
    rejected: At
    chosen_sample: Sample
    rejected_sample: Sample
    n: int
    right: int
    chosen_n: int
    rejected_n: int
    is_final: bool


def start_proof(rollout: Rollout) -> str | None:
    """Return a digest of the state that an episode began in; None where nothing proves it.

    It holds the task, the images, the arm, and golden fingerprints that the resets' receipts prove;
    of a page of MiniWoB++ the seed and what it asked; of a branch its root, and the states and step
    of the checkpoint that it was proven equal to. Live sites have no proof, nor have staged ones.
    """
    evidence = rollout.outline
    if rollout.task.recorded is not None:
        return digest_of([rollout.task.model_dump(mode="json")])
    if evidence.world is not World.OFFLINE or not rollout.lock.images:
        return None
    if not all(receipt.proven for receipt in evidence.receipts):
        return None
    miniwob, branch = evidence.miniwob, evidence.branch
    began: list[object] = [*sorted((one.site, one.golden) for one in evidence.receipts)]
    if branch is not None:  # whichever way it came back
        began = [branch.root, branch.step, sorted(branch.states.items())]
        began += ["told"] if branch.told else []  # what its agent was asked is another thing then
    return digest_of(
        [
            rollout.task.model_dump(mode="json"),
            sorted(rollout.lock.images.items()),
            rollout.lock.vary,
            began,
            None
            if miniwob is None
            else [miniwob.page, miniwob.seed, miniwob.mode, miniwob.utterance, miniwob.fields],
        ]
    )


def states_of(walks: Iterable[Walk]) -> Mapping[str, Sequence[At]]:
    """Return the continuations of each state that can be proven, by its digest.

    Two episodes are in the same state where they began in the same one, and saw the same and did
    the same at every step since, to the letter and to the pixel.
    """
    found: defaultdict[str, list[At]] = defaultdict(list)
    for walk in walks:
        state = walk.start
        for place, turn in enumerate(walk.rollout.turns):
            if state is None or walk.pages[place] is None:
                break
            state = digest_of([state, turn.seen])
            found[state].append(At(walk=walk, place=place))
            done = turn.action.model_dump(mode="json")
            state = digest_of([state, done, turn.step.error])
    return found


def page_of(rollout: Rollout, seen: Seen | None) -> str | None:
    """Return a digest of what was seen, apart from its place in the episode; None for nothing."""
    if seen is None:
        return "" if rollout.task.recorded is not None else None
    kept = {name: one for name, one in seen.items() if name not in {"step", "last_error"}}
    return digest_of(kept)


def pairs_of(
    rollouts: Sequence[Rollout], *, continuations: int, removed: Counter[Removed]
) -> Iterator[Pair | NoPair]:
    """Yield the pairs of one task, and why other states and continuations gave none.

    An action is chosen where every scored continuation of the state that begins with it succeeded.
    It is rejected where every one failed and the action itself ended an episode; or where, of those
    that actions ended, there are several, and no later page of any of them was one that a
    successful episode of the task saw: from there it could still have been done.

    Args:
        rollouts: episodes of one task.
        continuations: how many scored continuations a rejected action needs that did not end the
            episode itself.
        removed: counts steps that are no record.
    """
    scored = [Walk.of(one) for one in rollouts if one.success is not None]
    good = {seen for one in scored if one.rollout.success for seen in one.places(0)}
    for state, here in states_of(scored).items():
        right = sum(at.rollout.success is True for at in here)
        if not 0 < right < len(here):
            yield NoPair.ALL_ALIKE
            continue
        yield from _of_state(_State(state, here, right), good, continuations, removed)


@dataclass(frozen=True, slots=True)
class _State:
    digest: str
    here: Sequence[At]
    right: int


def _of_state(
    state: _State,
    good: set[tuple[str | None, str]],
    continuations: int,
    removed: Counter[Removed],
) -> Iterator[Pair | NoPair]:
    branches: defaultdict[str, list[At]] = defaultdict(list)
    for at in state.here:
        branches[action_key(at.turn.action, at.rollout)].append(at)
    outcomes = {key: {at.rollout.success for at in found} for key, found in branches.items()}
    chosen = [found for key, found in branches.items() if outcomes[key] == {True}]
    failed = [found for key, found in branches.items() if outcomes[key] == {False}]
    if not chosen or not failed:
        yield NoPair.NONE_CLEAR
        return
    rejected: list[list[At]] = []
    for found in failed:
        why = _not_shown_wrong(found, good, continuations)
        if why is None:
            rejected.append(found)
        else:
            yield why
    for first, second in product(chosen, rejected):
        yield _pair(state, first, second, removed)


def _not_shown_wrong(
    found: Sequence[At], good: set[tuple[str | None, str]], continuations: int
) -> NoPair | None:
    """Return why the failures of an action do not show that it was wrong; None where they do."""
    decided = [at for at in found if _is_decided(at.rollout)]
    if not decided:
        return NoPair.OTHER_REASON
    if any(at.is_last for at in decided):
        return None
    if any(at.walk.places(at.place + 1) & good for at in found):
        return NoPair.STILL_OPEN
    return NoPair.TOO_FEW if len(decided) < continuations else None


def _is_decided(rollout: Rollout) -> bool:
    """Whether an action ended the episode: a page of MiniWoB++ ends it by its clock, too."""
    evidence = rollout.outline
    by_clock = evidence.miniwob is not None and "timed out" in (evidence.miniwob.reason or "")
    return evidence.ended in _DECIDED and not by_clock


def _pair(
    state: _State, first: Sequence[At], second: Sequence[At], removed: Counter[Removed]
) -> Pair | NoPair:
    """Return a pair of the earliest usable replies that were given to the same prompt."""
    chosen, rejected = _samples(first, removed), _samples(second, removed)
    if not chosen or not rejected:
        return NoPair.NO_RECORD
    for (one, good), (other, bad) in product(chosen, rejected):
        if good.prompt_digest == bad.prompt_digest:
            return Pair(
                state=state.digest,
                chosen=one,
                rejected=other,
                chosen_sample=good,
                rejected_sample=bad,
                n=len(state.here),
                right=state.right,
                chosen_n=len(first),
                rejected_n=len(second),
                is_final=other.is_last and _is_decided(other.rollout),
            )
    return NoPair.OTHER_PROMPT


def _samples(found: Sequence[At], removed: Counter[Removed]) -> list[tuple[At, Sample]]:
    made: list[tuple[At, Sample]] = []
    for at in found:
        sample = sample_of(at.rollout, at.turn, None)
        if isinstance(sample, Removed):
            removed[sample] += 1
        else:
            made.append((at, sample))
    return made


def action_key(action: Action, rollout: Rollout) -> str:
    """Return an action in one spelling: what stands in its comments, cases and blanks is left out.

    Of a recorded step, whose action is the reply itself, that is the command that it holds.
    """
    match action:
        case Infeasible():
            said: dict[str, Any] = {"kind": action.kind}
        case Stop(answer=str() as answer) if rollout.task.recorded is not None:
            said = {"kind": action.kind, "answer": _command(answer)}
        case Stop():
            said = action.model_dump(mode="json", exclude={"reason", "confidence"})
            if action.answer is not None:
                said["answer"] = _plain(action.answer)
        case Goto() | NewTab():
            said = action.model_dump(mode="json")
            said["url"] = (action.url or "").rstrip("/")
        case _:
            said = action.model_dump(mode="json")
    return json.dumps(said, sort_keys=True)


def _command(reply: str) -> str:
    """Return the call that a reply holds, without its comment and in one spelling."""
    found = expressions(reply)
    if isinstance(found, Misread):
        return _plain(reply)
    return "; ".join(ast.dump(one) for one in found)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".!")


class DpoExporter(DataSetExporter):
    """Pairs of replies to one prompt in one proven state: one led to success, one did not."""

    def export(
        self,
        runs: Sequence[RunReport],
        path: Path,
        *,
        shape: Shape = "chat",
        split: str | None = None,
        include: str | None = None,
        continuations: int = 2,
    ) -> Written:
        """Write the pairs as a folder: `dpo.jsonl`, images, and the data card.

        Args:
            runs: finished or not.
            path: of the folder.
            shape: `chat`: prompt, chosen, rejected are lists of messages; `autowebglm`: texts.
            split: as for `sft`.
            include: as for `sft`.
            continuations: how many scored episodes that went on with a rejected action must have
                failed, where it did not end the episode itself.
        """
        require_above_zero(continuations=continuations)
        builder = DataSetBuilder.of(runs, split, include)
        builder.pairs = {why.value: 0 for why in NoPair}

        def add(data: DataSet, rollouts: Sequence[Rollout]) -> None:
            _write_pairs(builder, data, rollouts, shape, continuations)

        return builder.write(
            path,
            "dpo",
            "Preferences between replies in the same state",
            add,
            limits=(*_ALIKE, *OUTCOMES[1:]),
            fields=_PAIR_FIELDS,
        )


DPO: Final = DpoExporter()


def _write_pairs(
    builder: DataSetBuilder,
    data: DataSet,
    rollouts: Sequence[Rollout],
    shape: Shape,
    continuations: int,
) -> None:
    used: set[str] = set()
    for pair in pairs_of(rollouts, continuations=continuations, removed=builder.removed):
        if isinstance(pair, NoPair):
            builder.pairs[pair.value] += 1
            continue
        record = _pair_record(builder, pair, shape)
        if isinstance(record, Removed):
            builder.removed[record] += 1
            continue
        pictures = pictures_of(pair.chosen.rollout, pair.chosen_sample)
        content = digest_of([pair.chosen_sample.digest, pair.rejected_sample.digest])
        if data.add(record, content=content, pictures=pictures):
            builder.took(pair.chosen.rollout, 1)
            builder.took(pair.rejected.rollout, 0)
            used |= {one.rollout.scored.folder for one in (pair.chosen, pair.rejected)}
    for rollout in rollouts:
        if rollout.folder not in builder.written_from:
            builder.leave_out(rollout, _why_no_pair(rollout))


def _why_no_pair(rollout: Rollout) -> str:
    if rollout.success is None:
        return f"is unscored: {rollout.scored.score.outcome.reason}"
    return "no state of it gave a pair: see the data card"


def _pair_record(builder: DataSetBuilder, pair: Pair, shape: Shape) -> dict[str, Any] | Removed:
    first, second = pair.chosen_sample, pair.rejected_sample
    text, other = text_shape(first, shape), text_shape(second, shape)
    for one in (text, other):
        if isinstance(one, Removed):
            return one
    record: dict[str, Any] = {
        "prompt": list(first.prompt) if text is None else text,
        "chosen": [first.reply] if text is None else first.reply["content"],
        "rejected": [second.reply] if text is None else second.reply["content"],
    }
    if text is None:
        record |= beside(first)
    return record | {
        "chosen_action": pair.chosen.turn.action.model_dump_json(),
        "rejected_action": pair.rejected.turn.action.model_dump_json(),
        "state": pair.state,
        "state_n": pair.n,
        "state_right": pair.right,
        "chosen_n": pair.chosen_n,
        "rejected_n": pair.rejected_n,
        "is_final": pair.is_final,
        "chosen_from": origin(pair.chosen.rollout, pair.chosen.turn, first),
        "rejected_from": origin(pair.rejected.rollout, pair.rejected.turn, second),
        **builder.about(pair.chosen.rollout, pair.chosen.turn, first),
    }
