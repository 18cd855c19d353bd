""""""

from __future__ import annotations

import pytest
import requests
from docker.errors import APIError, DockerException

from arena_core.errors import (
    ArenaError,
    DiskFullError,
    EngineError,
    EngineMissingError,
    ImageError,
    PortTakenError,
    SiteGoneError,
)
from orchestrator.sandbox.engine.calls import mapped


def refusal(status: int, explanation: str) -> APIError:
    response = requests.Response()
    response.status_code = status
    return APIError("refused", response=response, explanation=explanation)


# Words of real engines, 20.10 to 28.
CASES = [
    (
        refusal(
            500,
            "driver failed programming external connectivity on endpoint x (y): "
            "Bind for 127.0.0.1:8080 failed: port is already allocated",
        ),
        PortTakenError,
        "127.0.0.1:8080",
    ),
    (
        refusal(
            500,
            "Error starting userland proxy: listen tcp4 127.0.0.1:8080: bind: "
            "address already in use",
        ),
        PortTakenError,
        "127.0.0.1:8080",
    ),
    (
        refusal(500, "write /var/lib/docker/tmp/x: no space left on device"),
        DiskFullError,
        "disk is full",
    ),
    (refusal(404, "No such container: abc"), SiteGoneError, "abc"),
    (refusal(409, "Container abc is not running"), SiteGoneError, "not running"),
    (refusal(404, "No such image: arena/shop:1"), ImageError, "arena/shop:1"),
    (refusal(404, "could not find the network"), EngineError, "404"),
    (refusal(500, "something else"), EngineError, "something else"),
    (requests.exceptions.ReadTimeout("read timed out"), EngineError, "in time"),
    (
        DockerException("Error while fetching server API version: gone"),
        EngineMissingError,
        "no Docker engine",
    ),
]


@pytest.mark.parametrize(("foreign", "leaf", "evidence"), CASES)
def test_an_error_of_the_sdk_leaves_as_one_leaf_with_its_evidence(
    foreign: Exception, leaf: type[ArenaError], evidence: str
) -> None:
    with pytest.raises(ArenaError) as raised, mapped("starting arena-shop-0"):
        raise foreign

    assert type(raised.value) is leaf
    assert evidence in raised.value.message
    assert raised.value.__cause__ is foreign


def test_a_lost_connection_says_what_the_system_said() -> None:
    lost = requests.exceptions.ConnectionError("x", FileNotFoundError(2, "No such file"))

    with pytest.raises(EngineMissingError, match="No such file") as raised, mapped("asking"):
        raise lost

    assert "arena doctor" in raised.value.hint


def test_a_socket_without_rights_is_not_called_a_missing_engine() -> None:
    lost = requests.exceptions.ConnectionError("x", PermissionError(13, "Permission denied"))

    with pytest.raises(EngineMissingError, match="refuses this user") as raised, mapped("asking"):
        raise lost

    assert "group `docker`" in raised.value.hint


def test_an_error_of_our_own_passes_through() -> None:
    with pytest.raises(ZeroDivisionError), mapped("counting"):
        raise ZeroDivisionError
