"""The container: limits that the kernel holds, no privileges, no way out, nothing to write on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from orchestrator.engine.engine import Engine
from orchestrator.reset.replica import Replica
from sites.manifest import Capability, Resources

# The kernel's own words, wherever this machine has them: control groups of version 2 or 1.
_LIMITS: Final = """
first() { for file; do [ -r $file ] && cat $file && return; done; echo unknown; }
group=/sys/fs/cgroup
echo "memory $(first $group/memory.max $group/memory/memory.limit_in_bytes)"
echo "pids $(first $group/pids.max $group/pids/pids.max)"
if [ -r $group/cpu.max ]; then echo "cpu $(cat $group/cpu.max)"; else
echo "cpu $(cat $group/cpu/cpu.cfs_quota_us) $(cat $group/cpu/cpu.cfs_period_us)"; fi
"""
_STATUS: Final = "cat /proc/[0-9]*/status"
_PLACES: Final = ("/", "/etc", "/usr", "/var", "/srv", "/opt", "/home", "/root")
_WRITE: Final = "for each in $@; do touch $each/.arena-mark 2>/dev/null && echo $each; done; true"
_REACH: Final = "exec 3<>/dev/tcp/$0/$1"
# A packet filter inside refuses in words of its own what the other side would refuse, or ignore.
_KNOCK: Final = """
export LC_ALL=C
while read -r _ to via _; do [ "$to" = 00000000 ] && gateway=$via; done </proc/net/route
host=$(printf '%d.%d.%d.%d' 0x${gateway:6:2} 0x${gateway:4:2} 0x${gateway:2:2} 0x${gateway:0:2})
timeout 3 bash -c 'exec 3<>/dev/tcp/$0/9' $host 2>&1 | grep -q 'No route to host'
"""
_INTERNET: Final = ("1.1.1.1", "80")
_RESOLVE: Final = "getent hosts example.com"
# linux/capability.h
_BITS: Final[Mapping[Capability, int]] = {
    Capability.CHOWN: 0,
    Capability.DAC_OVERRIDE: 1,
    Capability.FOWNER: 3,
    Capability.FSETID: 4,
    Capability.KILL: 5,
    Capability.SETGID: 6,
    Capability.SETUID: 7,
    Capability.SETPCAP: 8,
    Capability.NET_BIND_SERVICE: 10,
    Capability.SYS_CHROOT: 18,
    Capability.AUDIT_WRITE: 29,
}
_MIB: Final = 1024 * 1024


async def broken_confinement(engine: Engine, replica: Replica) -> tuple[str, ...]:
    """Return in what a replica's container is less confined than every container must be."""
    shell = _Shell(engine, replica.container.id)
    breaches = list(_broken_limits(await shell.says(_LIMITS), replica.site.resources))
    allowed = replica.site.container.capabilities
    breaches += _broken_privileges(await shell.says(_STATUS), allowed)
    # Its own port comes first: a shell that does not reach that proves nothing by reaching nothing.
    if not await shell.reaches("127.0.0.1", str(replica.site.port)):
        breaches.append("whether it has a way out cannot be tried: no bash and timeout in it")
    elif not await shell.does("bash", "-c", _KNOCK):
        breaches.append("it has no packet filter, so it could open connections: see arena doctor")
    if await shell.reaches(*_INTERNET):
        breaches.append("it reaches an address of the internet")
    if await shell.does("timeout", "5", "sh", "-c", _RESOLVE):
        breaches.append("it resolves names of the internet")
    if replica.site.state is not None:
        written = (await shell.says(_WRITE, *_PLACES)).split()
        breaches += [f"{place} can be written to, and is no state" for place in written]
    return tuple(breaches)


def _broken_limits(told: str, wanted: Resources) -> Iterator[str]:
    found = {name: rest for name, _, rest in (line.partition(" ") for line in told.splitlines())}
    memory, pids = wanted.memory_mb * _MIB, wanted.pids
    if found.get("memory") != str(memory):
        yield f"memory is limited to {found.get('memory')} bytes, not to {memory}"
    if found.get("pids") != str(pids):
        yield f"processes are limited to {found.get('pids')}, not to {pids}"
    quota, _, period = found.get("cpu", "").partition(" ")
    if not quota.isdecimal() or int(quota) != round(wanted.cpus * int(period)):
        yield f"cores are limited to '{found.get('cpu')}' (quota and period), not to {wanted.cpus}"


def _broken_privileges(told: str, capabilities: frozenset[Capability]) -> Iterator[str]:
    allowed = sum(1 << _BITS[one] for one in capabilities)
    facts = [line.split(":\t") for line in told.splitlines() if ":\t" in line]
    of: Mapping[str, set[str]] = {
        name: {value for key, value in facts if key == name}
        for name in ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Uid")
    }
    for name in ("CapEff", "CapPrm", "CapBnd"):
        if any(int(mask, 16) & ~allowed for mask in of[name]) or not of[name]:
            yield f"processes have capabilities ({name} {', '.join(sorted(of[name]))})"
    if of["NoNewPrivs"] != {"1"}:
        yield "processes may gain privileges"
    if not capabilities and any("0" in users.split("\t") for users in of["Uid"]):
        yield "a process runs as root"


class _Shell:
    """Runs commands in one container."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine = engine
        self._container = container

    async def says(self, script: str, *words: str) -> str:
        """Return what a script of `sh` prints."""
        done = await self._engine.execute(self._container, ["sh", "-c", script, "sh", *words])
        return done.stdout.decode(errors="replace")

    async def reaches(self, host: str, port: str) -> bool:
        """Whether a connection to a port of a host is taken within three seconds."""
        return await self.does("timeout", "3", "bash", "-c", _REACH, host, port)

    async def does(self, *argv: str) -> bool:
        """Whether a command succeeds."""
        return (await self._engine.execute(self._container, argv)).exit_code == 0
