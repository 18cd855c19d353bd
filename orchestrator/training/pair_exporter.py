"""The exporter `dpo`: two replies to one prompt in one proven state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from orchestrator.report.run_report import RunReport
from orchestrator.report.seams import Written
from orchestrator.training.dataset import DataSet
from orchestrator.training.gathering import (
    OUTCOMES,
    Gathering,
    cannot_write,
    pictures_of,
    require_above_zero,
)
from orchestrator.training.pairs import At, NoPair, Pair, pairs_of
from orchestrator.training.provenance import origin
from orchestrator.training.records import MESSAGES, beside, text_shape
from orchestrator.training.rollouts import Rollout
from orchestrator.training.samples import Removed, Sample, Shape, digest_of

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


class DpoExporter:
    """Pairs of replies to one prompt in one proven state: one led to success, one did not."""

    suffix = ""
    is_folder = True
    searches_secrets = True

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
            split: as of `sft`.
            include: as of `sft`.
            continuations: how many scored episodes that went on with a rejected action must have
                failed, where it did not end the episode itself.

        Raises:
            UsageError: `continuations` is not above 0.
            InputError, UnknownNameError: the split file or `include` is wrong.
            StoreError: the folder cannot be written.
        """
        require_above_zero(continuations=continuations)
        gathering = Gathering.of(runs, split, include)
        none: Counter[NoPair] = Counter()
        try:
            with DataSet(path, "dpo", gathering.secrets) as data:
                for _, rollouts in gathering.tasks():
                    _write_pairs(gathering, data, none, rollouts, (shape, continuations))
            return gathering.finish(
                data,
                "dpo",
                "Preferences between replies in the same state",
                limits=(*_ALIKE, *OUTCOMES[1:]),
                fields=_PAIR_FIELDS,
                pairs={why.value: none[why] for why in NoPair},
            )
        except OSError as cause:
            raise cannot_write(path, cause) from cause


DPO: Final = DpoExporter()


def _write_pairs(
    gathering: Gathering,
    data: DataSet,
    none: Counter[NoPair],
    rollouts: Sequence[Rollout],
    chosen: tuple[Shape, int],
) -> None:
    shape, continuations = chosen
    used: set[str] = set()
    for pair in pairs_of(rollouts, continuations=continuations, removed=gathering.removed):
        if isinstance(pair, NoPair):
            none[pair] += 1
            continue
        record = _pair_record(gathering, pair, shape)
        if isinstance(record, Removed):
            gathering.removed[record] += 1
            continue
        pictures = pictures_of(pair.chosen.rollout, pair.chosen_sample)
        content = digest_of([pair.chosen_sample.digest, pair.rejected_sample.digest])
        if data.add(record, content=content, pictures=pictures):
            gathering.took(pair.chosen.rollout, 1)
            gathering.took(pair.rejected.rollout, 0)
            used |= {one.rollout.scored.folder for one in (pair.chosen, pair.rejected)}
    for rollout in rollouts:
        if rollout.folder not in gathering.written_from:
            gathering.leave_out(rollout, _why_no_pair(rollout))


def _why_no_pair(rollout: Rollout) -> str:
    if rollout.success is None:
        return f"is unscored: {rollout.scored.score.outcome.reason}"
    return "no state of it gave a pair: see the data card"


def _pair_record(gathering: Gathering, pair: Pair, shape: Shape) -> dict[str, Any] | Removed:
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
        "chosen_from": _origin(pair.chosen, first),
        "rejected_from": _origin(pair.rejected, second),
        **gathering.about(pair.chosen.rollout, pair.chosen.turn, first),
    }


def _origin(at: At, sample: Sample) -> dict[str, Any]:
    return origin(at.rollout, at.turn, sample)
