"""Tasks of Harbor's that bring their sites: what each container reaches, and what is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from arena_core.errors import UsageError
from orchestrator import Arena
from orchestrator.export.harbor import HarborFolders
from orchestrator.sandbox.attached_sites import AttachedSites
from tasks.loader import load_suite

ARENA = "own/arena:1"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> HarborFolders:
    out = tmp_path_factory.mktemp("harbor") / "tasks"
    return Arena().suites.export_harbor("demo", out, image="some/image:1", arena_image=ARENA)


def test_a_sites_network_has_arena_in_it_and_nobody_whom_the_agent_reaches(
    exported: HarborFolders,
) -> None:
    assert len(exported.folders) == len(load_suite("demo").tasks)
    tasks = {one.id: one for one in load_suite("demo").tasks}
    for folder in exported.folders:
        compose = yaml.safe_load((folder / "environment" / "docker-compose.yaml").read_text())
        services = compose["services"]
        sites = {f"site-{name}" for name in tasks[folder.name].sites}
        assert set(services) == {"main", "arena", "service", *sites}
        assert set(services["main"]) == {"depends_on"}  # on the default network alone
        assert "networks" not in services["arena"]
        assert set(services["service"]["networks"]) == sites
        assert set(compose["networks"]) == sites
        for name in sites:
            assert services[name]["networks"] == [name]
            assert compose["networks"][name]["internal"]
        for name in set(services) - {"main"}:
            assert services[name]["cap_drop"] == ["ALL"]
            assert "ports" not in services[name]
            assert "privileged" not in services[name]
        assert "docker.sock" not in json.dumps(compose)


def test_arena_knows_where_the_sites_are_and_the_relay_does_not(exported: HarborFolders) -> None:
    folder = next(one for one in exported.folders if one.name == "shop-latest-order-total")
    compose = yaml.safe_load((folder / "environment" / "docker-compose.yaml").read_text())
    arena, shop = compose["services"]["service"], compose["services"]["site-shop"]
    assert arena["image"] == ARENA
    assert arena["environment"]["DOCKER_HOST"] == "attached:/arena/sites.json"
    written = (folder / "environment" / "arena" / "sites.json").read_text()
    found = AttachedSites.model_validate_json(written).root["arena/shop:1"]
    assert found.address == "site-shop"
    assert found.token == shop["environment"]["ARENA_STATES_TOKEN"]
    assert shop["volumes"][-1].split(":")[0] == arena["volumes"][-1].split(":")[0]
    relay = json.dumps(compose["services"]["arena"])
    assert str(found.token) not in relay
    assert "sites" not in relay
    for file in (folder / "environment").rglob("Dockerfile"):
        assert "sites.json" not in file.read_text()


def test_no_two_folders_share_a_token(exported: HarborFolders) -> None:
    tokens = [
        site.token
        for folder in exported.folders
        for site in AttachedSites.model_validate_json(
            (folder / "environment" / "arena" / "sites.json").read_text()
        ).root.values()
        if site.token is not None
    ]
    assert tokens
    assert len(set(tokens)) == len(tokens)


def test_what_takes_a_sites_container_is_left_out_with_the_reason(tmp_path: Path) -> None:
    exported = Arena().suites.export_harbor("arena-hard", tmp_path / "tasks", arena_image=ARENA)
    tasks = load_suite("arena-hard").tasks
    given = {one.id for one in tasks if one.given}
    in_a_file = {one.id for one in tasks if "erp" in one.sites} - given
    reasons = dict(exported.left_out)
    assert set(reasons) == given | in_a_file
    assert {reasons[one] for one in given} == {"it sets its sites up, which takes their containers"}
    assert {reasons[one] for one in in_a_file} == {
        "the database of 'erp' is a file in its container"
    }


@pytest.mark.parametrize(
    ("arena", "world", "why"),
    [(ARENA, "online", "played offline"), ("a b", "offline", "no image's name")],
)
def test_what_there_cannot_be_is_refused(arena: str, world: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=why):
        Arena().suites.export_harbor("demo", tmp_path / "new", world=world, arena_image=arena)


def test_a_suite_that_the_image_has_not_is_refused(tmp_path: Path) -> None:
    source = Path(__file__).parents[4] / "tasks" / "suites" / "demo.yaml"
    own = tmp_path / "own.yaml"
    own.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(UsageError, match="no suite of Arena's"):
        Arena().suites.export_harbor(str(own), tmp_path / "new", arena_image=ARENA)
