"""What is exported is read by the libraries that train on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW
from support.agents.scripted_model import Calls
from support.runs.made_run import picture
from support.runs.played_episode import KETTLE
from support.runs.sampled_runs import RIGHT, TO_KETTLE, WRONG, Sampled
from support.tasks.code_blocks import ROOT, blocks_of

from orchestrator.analysis.run_report.extension_points import EXPORTERS
from orchestrator.export.training.dataset import DataSet
from orchestrator.runs.store.secrets import SecretSearch
from tasks.schema import Task

Play = Callable[..., Any]
_DEADLINE_S = 240.0
GUIDE = ROOT / "docs" / "training-data.md"

_LOAD = """
import json, sys
from datasets import load_dataset
for path in sys.argv[1:]:
    data = load_dataset("json", data_files=path, split="train")
    print(json.dumps([data.num_rows, data[0], data[-1]]))
"""

_TRAIN = """
import json, sys
import torch
from datasets import load_dataset
from transformers import GPT2Config, GPT2LMHeadModel

rows = load_dataset("json", data_files=sys.argv[1], split="train")
examples = []
for row in rows:
    *prompt, reply = row["messages"]
    before = "".join(one["content"] for one in prompt)[-300:].encode()
    said = reply["content"].encode()[:200]
    ids = torch.tensor([list(before + said)])
    labels = ids.clone()
    labels[0, : len(before)] = -100  # only the reply is learnt
    examples.append((ids, labels))
torch.manual_seed(0)
torch.set_num_threads(1)
size = GPT2Config(vocab_size=256, n_positions=512, n_embd=32, n_layer=1, n_head=2)
model = GPT2LMHeadModel(size)
optimiser = torch.optim.AdamW(model.parameters(), lr=0.01)
losses = []
for step in range(16):
    ids, labels = examples[step % len(examples)]
    loss = model(input_ids=ids, labels=labels).loss
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    losses.append(loss.item())
print(json.dumps(losses))
"""


def run_apart(program: str, folder: Path, *arguments: str) -> list[Any]:
    """Run a program with the heavy libraries in a process of its own, without a network."""
    home = {"HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **home},
        capture_output=True,
        text=True,
        timeout=_DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@SLOW
async def test_datasets_reads_every_form(play: Play, tmp_path: Path, task: Task) -> None:
    words = await play([Sampled(task, [TO_KETTLE, RIGHT]), Sampled(task, [TO_KETTLE, WRONG])])
    called = [Calls.one("goto", url=KETTLE), Calls.one("stop", answer="1891")]
    tools = await play([Sampled(task, called)], name="tools", agent="tools")
    unprompted = await play([Sampled(task, [])], name="oracle", agent="oracle")
    paths = []
    for form in ("sft", "rft", "dpo", "rewards"):
        EXPORTERS.load(form).export([words, tools, unprompted], tmp_path / form)
        paths.append(str(tmp_path / form / f"{form}.jsonl"))
    sft, rft, dpo, rewards = run_apart(_LOAD, tmp_path, *paths)
    assert [one[0] for one in (sft, rft, dpo, rewards)] == [4, 4, 1, 7]
    assert sft[1]["messages"][-1]["content"] == TO_KETTLE.text
    assert dpo[1]["chosen"][0]["content"] == RIGHT.text
    assert rewards[2]["messages"] is None


@SLOW
async def test_the_guides_lines_read_what_was_exported(
    play: Play, tmp_path: Path, task: Task
) -> None:
    run = await play([Sampled(task, [TO_KETTLE, RIGHT])])
    EXPORTERS.load("sft").export([run], tmp_path / "data" / "sft")
    lines = [one.text for one in blocks_of(GUIDE) if one.language == "python"]
    shown = 'import json; print(json.dumps([data[0]["completion"], len(data[0]["prompt"])]))'
    program = "\n".join([f"import os; os.chdir({str(tmp_path)!r})", *lines, shown])
    [[completion, prompts]] = run_apart(program, tmp_path)
    assert completion == [{"role": "assistant", "content": TO_KETTLE.text, "weight": 1}]
    assert prompts == 2


@pytest.mark.slow(minutes=1)
async def test_a_model_learns_from_what_was_exported(
    play: Play, tmp_path: Path, task: Task
) -> None:
    if find_spec("torch") is None or find_spec("transformers") is None:
        pytest.skip("torch and transformers are gigabytes: no dependencies of the tests")
    run = await play([Sampled(task, [TO_KETTLE, RIGHT])])
    EXPORTERS.load("sft").export([run], tmp_path / "sft")
    [losses] = run_apart(_TRAIN, tmp_path, str(tmp_path / "sft" / "sft.jsonl"))
    assert losses[-1] < losses[0] * 0.7


@SLOW
def test_texts_become_parts_where_another_record_has_images(tmp_path: Path) -> None:
    shown = tmp_path / "image-1.png"
    shown.write_bytes(picture())
    parts = [{"type": "image", "image": "images/image-1.png"}, {"type": "text", "text": "what?"}]
    with DataSet(tmp_path / "out", "sft", SecretSearch([])) as data:
        data.add({"messages": [{"role": "user", "content": "hello"}]}, content="1")
        data.add({"messages": [{"role": "user", "content": parts}]}, content="2", pictures=[shown])
    lines = [json.loads(line) for line in data.path.read_text(encoding="utf-8").splitlines()]
    assert lines[0]["messages"][0]["content"] == [{"type": "text", "text": "hello"}]
    assert lines[1]["messages"][0]["content"] == parts
    assert (tmp_path / "out" / "images" / "image-1.png").read_bytes() == shown.read_bytes()
    [[rows, first, last]] = run_apart(_LOAD, tmp_path, str(data.path))
    assert (rows, first["messages"][0]["content"][0]["text"]) == (2, "hello")
    assert last["messages"][0]["content"][0]["image"] == "images/image-1.png"


@pytest.mark.parametrize(
    "text",
    [
        "p4ssw0rd-of-emma",
        "?password=p4ssw0rd%2Dof%2Demma&x=1",
        json.dumps({"arguments": json.dumps({"text": 'p4ssw0rd"of\\emma'})}),
        "Authorization: Basic cDRzc3cwcmQtb2YtZW1tYQ==",
        "key sk-proj-abcdefghijklmnop1234",
        "http://emma:secret@shop.test/",
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_a_secret_is_found_however_it_is_written(text: str) -> None:
    search = SecretSearch(["p4ssw0rd-of-emma", 'p4ssw0rd"of\\emma'])
    assert not search.finds(search.redacted(text))
    assert search.finds({"messages": [{"content": [{"text": text}]}]})
    assert search.finds({text: 1})


def test_an_ordinary_word_is_no_secret() -> None:
    search = SecretSearch(["emma", "ab"])
    assert search.finds("log in as emma")
    assert not search.finds("the dilemma of a cab; the token sk-8")
