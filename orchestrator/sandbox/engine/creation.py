"""From a `ContainerSpec` to a running container, and from the engine's answer to a `Container`."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from orchestrator.sandbox.engine.containers import (
    LOOPBACK,
    STATES_TOKEN,
    Container,
    ContainerSpec,
    Endpoint,
    Labels,
    StateMount,
)

if TYPE_CHECKING:
    from docker import APIClient

_LOG_OPTIONS = {"max-size": "10m", "max-file": "2"}
# The container's own folders. Where the image's folder has another mode, runc keeps that one.
_WRITABLE = {"/tmp": "mode=1777", "/run": "mode=1777"}  # noqa: S108


def create(api: APIClient, spec: ContainerSpec, network_id: str) -> str:
    """Create a container with everything shut that a site does not need; return its id.

    Its files are copied in separately.
    """
    created = api.create_container(
        image=spec.image,
        name=spec.name,
        command=list(spec.command) or None,
        labels=dict(spec.labels),
        environment=dict(spec.environment),
        ports=list(spec.ports),
        host_config=_host_config(api, spec, network_id),
    )
    return str(created["Id"])


def copy_in(api: APIClient, container_id: str, files: Mapping[str, bytes]) -> None:
    """Write files, by absolute path, into a container that need not run."""
    api.put_archive(container_id, "/", _archive(files))


def copy_out(api: APIClient, container_id: str, path: str) -> bytes:
    """Read one file of a container that need not run."""
    chunks, _ = api.get_archive(container_id, path)
    with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as tar:
        content = tar.extractfile(tar.next() or tarfile.TarInfo())
        return content.read() if content else b""


def find_file(api: APIClient, container_id: str, path: str) -> bytes | None:
    """Read one file of a container that need not run; None where there is no such file."""
    from docker.errors import NotFound  # noqa: PLC0415  the SDK loads on first use

    try:
        return copy_out(api, container_id, path)
    except NotFound as cause:
        if "no such container" in str(cause).lower():
            raise
        return None


def inspect(api: APIClient, container_id: str) -> Container:
    found: dict[str, Any] = api.inspect_container(container_id)
    state = found["State"]
    published = found["NetworkSettings"]["Ports"] or {}
    return Container(
        id=found["Id"],
        name=found["Name"].lstrip("/"),
        image_id=found["Image"],
        labels=present(found["Config"]["Labels"]),
        state=state["Status"],
        exit_code=state["ExitCode"] if state["Status"] in {"exited", "dead"} else None,
        ports={
            int(key.split("/")[0]): Endpoint(LOOPBACK, int(bindings[0]["HostPort"]))
            for key, bindings in published.items()
            if bindings
        },
        created=datetime.fromisoformat(found["Created"]).timestamp(),
        fixed={
            int(key.split("/")[0]): int(bindings[0]["HostPort"])
            for key, bindings in (found["HostConfig"]["PortBindings"] or {}).items()
            if bindings and bindings[0]["HostPort"]
        },
    )


def states_token(api: APIClient, container_id: str) -> str | None:
    """Return the token that a container was started with; None where it was started without."""
    variables: list[str] = api.inspect_container(container_id)["Config"]["Env"] or []
    named = dict(variable.split("=", 1) for variable in variables if "=" in variable)
    return named.get(STATES_TOKEN) or None


def summarised(found: Mapping[str, Any]) -> Container:
    """Read one row of the engine's list of containers; it tells no exit code."""
    return Container(
        id=found["Id"],
        name=found["Names"][0].lstrip("/") if found["Names"] else found["Id"][:12],
        image_id=found["ImageID"],
        labels=present(found["Labels"]),
        state=found["State"],
        exit_code=None,
        ports={
            int(port["PrivatePort"]): Endpoint(LOOPBACK, int(port["PublicPort"]))
            for port in found["Ports"] or ()
            if port.get("PublicPort") and port.get("IP") == LOOPBACK
        },
        created=float(found["Created"]),
    )


def remove_volumes(api: APIClient, labels: Mapping[str, str | None]) -> None:
    """Remove the volumes that have all labels and that no container uses."""
    from docker.errors import NotFound  # noqa: PLC0415  the SDK loads on first use

    filters = {"label": label_filters(labels), "dangling": True}
    for volume in api.volumes(filters=filters)["Volumes"] or ():
        try:
            api.remove_volume(volume["Name"])
        except NotFound:
            continue  # another sweep was first


def present(labels: Mapping[str, str] | None) -> dict[str, str]:
    """Return the labels that are not empty (see `Labels`)."""
    return {name: value for name, value in (labels or {}).items() if value}


def label_filters(labels: Mapping[str, str | None]) -> list[str]:
    """Return the engine's filters for labels; None asks for any value."""
    return [name if value is None else f"{name}={value}" for name, value in labels.items()]


def has_labels(container: Container, labels: Mapping[str, str | None]) -> bool:
    """Whether every label is there and not empty, with the value where one is asked for."""
    return all(
        name in container.labels and (value is None or container.labels[name] == value)
        for name, value in labels.items()
    )


def _host_config(api: APIClient, spec: ContainerSpec, network_id: str) -> object:
    return api.create_host_config(
        port_bindings={port: (LOOPBACK, spec.fixed.get(port)) for port in spec.ports},
        network_mode=network_id,
        cap_drop=["ALL"],
        cap_add=sorted(spec.capabilities),
        shm_size=f"{spec.shm_mb}m" if spec.shm_mb else None,
        security_opt=["no-new-privileges:true"],
        pids_limit=spec.pids,
        mem_limit=f"{spec.memory_mb}m",
        memswap_limit=f"{spec.memory_mb}m",
        nano_cpus=round(spec.cpus * 1e9),
        init=True,
        log_config={"Type": "json-file", "Config": _LOG_OPTIONS},
        # A name server that is not there: looking a name up fails at once, and leaves no trace
        # outside. One hop: what masquerading-off still lets out dies on the bridge.
        dns=[LOOPBACK],
        dns_search=["."],
        dns_opt=["timeout:1", "attempts:1"],
        sysctls={"net.ipv4.ip_default_ttl": "1"},
        read_only=spec.read_only,
        tmpfs=_WRITABLE if spec.read_only else {},
        mounts=[_volume(spec.state, spec.labels)] if spec.state else [],
    )


def _volume(state: StateMount, labels: Mapping[str, str]) -> dict[str, object]:
    """Return a volume without a name, in the engine's terms: removed together with its container.

    It has the container's labels, so that a sweep finds it where somebody removed only the latter.
    """
    options: dict[str, object] = {"Labels": dict(labels)}
    if state.memory_mb is not None:
        where = {"type": "tmpfs", "device": "tmpfs", "o": f"size={state.memory_mb}m,mode=1777"}
        options["DriverConfig"] = {"Name": "local", "Options": where}
    return {"Type": "volume", "Target": state.folder, "VolumeOptions": options}


def _archive(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, content in sorted(files.items()):
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.size = len(content)
            entry.mode = 0o644
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def commit_changes(labels: Mapping[str, str]) -> list[str]:
    """Return the Dockerfile lines that label a committed image and empty what it inherits."""
    inherited = dict.fromkeys((Labels.KIND, Labels.OWNER, Labels.SLOT), "")
    return [f"LABEL {name}={_quoted(value)}" for name, value in {**inherited, **labels}.items()]


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"{escaped}"'
