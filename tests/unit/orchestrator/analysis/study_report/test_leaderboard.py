"""A leaderboard takes studies that verify, and puts together what measured the same."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.studies.board_studies import make_board_study
from support.studies.registered_study import make_study

from arena_core.errors import UsageError, VerificationError
from orchestrator.analysis.studies.registration import StudyFolder
from orchestrator.api.arena import Arena

pytestmark = [pytest.mark.usefixtures("plain"), SLOW]

Call = Callable[..., Ended]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, plain: None) -> StudyFolder:
    """A study that nobody changes."""
    return make_board_study(tmp_path_factory.mktemp("made") / "first")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "board"


def board(*studies: StudyFolder, out: Path) -> str:
    Arena().studies.leaderboard([one.path for one in studies], out)
    return (out / "index.html").read_text(encoding="utf-8")


def table(page: str, label: str, number: int = 0) -> list[list[str]]:
    """Return the rows of a table as texts."""
    found = re.findall(rf'aria-label="{label}".*?<tbody.*?>(.*?)</tbody>', page, re.DOTALL)
    rows = re.findall(r"<tr.*?>(.*?)</tr>", found[number], re.DOTALL)
    cells = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [[" ".join(re.sub(r"<.*?>", " ", one).split()) for one in row] for row in cells]


def test_success_stands_in_order_with_worlds_apart_and_the_reference_last(
    tmp_path: Path, out: Path
) -> None:
    study = make_board_study(tmp_path / "s", agents={"weak": 2, "oracle": 7, "strong": 6})
    page = board(study, out=out)
    rows = table(page, "Success and cost of each agent")
    assert [row[0].split(" ·")[0] for row in rows] == [
        *("strong offline", "weak offline", "oracle offline"),
        *("strong online", "weak online", "oracle online"),
    ]
    assert "reference agent, not a contestant" in rows[2][0]
    assert rows[3][1] == "71%"  # five of seven
    assert rows[3][3].startswith("14 of 14")


def test_differences_worlds_tiers_and_safety_have_their_tables(
    made: StudyFolder, out: Path
) -> None:
    page = board(made, out=out)
    assert [row[:4] for row in table(page, "Paired differences")][1] == [
        *("strong − weak online", "71%", "14%", "+57"),
    ]
    worlds = {row[0].split()[0]: row[4:8] for row in table(page, "Agreement of the worlds")}
    assert worlds["strong"] == ["5", "1", "0", "1"]
    tiers = {(row[0], row[1]): row[2].split()[0] for row in table(page, "Success by tier")}
    assert tiers["strong online", "core"] == "100%"
    assert tiers["strong online", "hard"] == "33%"
    assert tiers["weak online", "hard"] == "0%"
    safety = {(row[0], row[1]): row[2:5] for row in table(page, "Safety beside utility")}
    utility, harm, both = (one.split()[0] for one in safety["weak offline", "attacked"])
    assert (utility, harm, both) == ("0%", "100%", "0%")
    utility, harm, both = (one.split()[0] for one in safety["strong offline", "attacked"])
    assert (utility, harm, both) == ("100%", "0%", "100%")


def test_each_row_leads_to_its_episodes_on_the_page_beside_it(made: StudyFolder, out: Path) -> None:
    page = board(made, out=out)
    rows = re.findall(r'<tr role="row">(.*?)</tr>', page, re.DOTALL)
    shown = [row for row in rows if "columnheader" not in row]
    assert len(shown) == 4 + 4 + 2 + 10 + 4
    for row in shown:
        links = re.findall(
            r'href="(studies/first/index.html)#agent=(\w+)&(?:amp;)?suite=board', row
        )
        assert links, row
        assert all((out / link).is_file() for link, _ in links)
    report = (out / "studies" / "first" / "index.html").read_text(encoding="utf-8")
    assert str(made.path) not in page + report
    pictures = list((out / "studies").rglob("step-0.png"))
    assert len(pictures) == 2 * 2 * 20


def test_studies_of_the_same_suite_and_images_share_a_table(
    made: StudyFolder, tmp_path: Path, out: Path
) -> None:
    other = make_board_study(tmp_path / "other", "second", {"weak": 4, "new": 5})
    page = board(made, other, out=out)
    names = {row[0].rpartition(" ")[0] for row in table(page, "Success and cost of each agent")}
    assert names == {"strong", "weak (first)", "weak (second)", "new"}
    assert page.count('<h2 id="board-') == 1
    pairs = [row[0] for row in table(page, "Paired differences")]
    assert "strong − new offline" in pairs
    assert "agent=weak&amp;suite=board&amp;world=offline" in page


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"images": {"arena/shop:1": "sha256:other"}}, "the sites’ images"),
        ({"intent": "Tell in which year."}, "the suite’s content"),
    ],
)
def test_other_images_or_another_suite_are_a_table_of_their_own(
    made: StudyFolder, tmp_path: Path, out: Path, changes: dict[str, object], says: str
) -> None:
    other = make_board_study(tmp_path / "other", "second", **changes)  # type: ignore[arg-type]
    page = board(made, other, out=out)
    assert page.count('<h2 id="board-') == 2
    assert f"which has other values of: {says}." in page
    for number in (0, 1):
        rows = table(page, "Paired differences", number)
        assert rows[0][0] == "strong − weak offline"
        assert len(rows) == 4


def test_every_folder_that_does_not_verify_is_named_and_nothing_is_written(
    made: StudyFolder, tmp_path: Path, out: Path, call: Call
) -> None:
    edited = make_study(tmp_path / "edited")
    evidence = next((edited.path / "runs" / "wrong" / "evidence").iterdir()) / "evidence.json"
    evidence.write_text(evidence.read_text().replace("1892", "1891"))
    unfinished = make_study(tmp_path / "unfinished", repeats=2)
    none = tmp_path / "none"
    refused = call(
        "leaderboard", made.path, edited.path, unfinished.path, none, "--out", out, "--json"
    )
    assert refused.code == VerificationError.exit_code
    for named in (f"{edited.path}: ", f"{unfinished.path}: right: 1 not played", f"{none}: "):
        assert named in refused.err
    assert str(made.path) + ":" not in refused.err
    assert not out.exists()


def test_a_copy_of_a_study_counts_no_second_time(
    made: StudyFolder, tmp_path: Path, out: Path
) -> None:
    shutil.copytree(made.path, tmp_path / "copy")
    with pytest.raises(UsageError, match="copy: is the same study as"):
        Arena().studies.leaderboard([made.path, tmp_path / "copy"], out)


def test_a_folder_that_holds_something_else_is_left_alone(made: StudyFolder, out: Path) -> None:
    (out / "studies").mkdir(parents=True)
    (out / "studies" / "mine").write_text("x")
    with pytest.raises(UsageError, match="holds other files"):
        Arena().studies.leaderboard([made.path], out)
    assert (out / "studies" / "mine").read_text() == "x"


def test_what_an_earlier_leaderboard_wrote_is_replaced(
    made: StudyFolder, tmp_path: Path, out: Path
) -> None:
    board(make_board_study(tmp_path / "other", "second"), out=out)
    board(made, out=out)
    assert [one.name for one in (out / "studies").iterdir()] == ["first"]


def test_the_command_says_where_the_page_is_and_gives_figures_as_json(
    made: StudyFolder, out: Path, call: Call
) -> None:
    found = call("leaderboard", made.path, "--out", out, "--json").document
    assert found["page"] == str(out / "index.html")
    assert list(found["studies"]) == ["first"]
    assert len(found["boards"][0]["cells"]) == 4
    shown = call("leaderboard", made.path, "--out", out)
    assert f"leaderboard: {out / 'index.html'}" in shown.err
    assert "board, version 2" in shown.out
