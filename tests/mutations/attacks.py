"""Ways to leave something behind in a replica that a shell in its container has: a list to grow.

What an episode does through pages, by SQL or to files is in the other modules; here is what lies
beside the state that a fingerprint reads. Each attack checks that it had an effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

# The scripts see: site, home (of its configuration), state, media (a folder of files that are
# state), table (one that pages write to), and `oldest WORDS`: the oldest process of that command.
PREAMBLE: Final = """
oldest() {
  for pid in $(ls /proc | grep -E '^[0-9]+$' | sort -n); do
    if tr '\\0' ' ' < "/proc/$pid/cmdline" 2>/dev/null | grep -qE "$1"; then echo "$pid"; return; fi
  done
  return 1
}
"""
_SQL: Final = 'mariadb --defaults-file="$home/my.cnf" -BN "$site"'
_PARENT: Final = "pid=$(oldest 'serve --config|php-fpm: master|serve/serve.rb');"


class Undone(StrEnum):
    """The first strategy that undoes an attack."""

    REWIND = "rewind"
    RECREATE = "recreate"


@dataclass(frozen=True, slots=True)
class Attack:
    """One way to leave something behind.

    Attributes:
        script: of `sh`, run inside the container as its user after PREAMBLE; it fails where it has
            no effect.
        undone: what `arena reset` needs for it.
        noticed: whether a baseline tells of it; where not, it takes a shell.
    """

    name: str
    script: str
    undone: Undone = Undone.REWIND
    noticed: bool = True


def _by_sql(name: str, statement: str) -> Attack:
    return Attack(name, f'{_SQL} -e "{statement}"')


def _held(name: str, statement: str, look: str, *, noticed: bool) -> Attack:
    """A session of the database that stays open when the shell that made it has gone.

    InnoDB lists its transactions anew only where nobody asked for a tenth of a second.
    """
    return Attack(
        name,
        f'(echo "{statement}"; sleep 600) 2>/dev/null | setsid {_SQL} >/dev/null 2>&1 &'
        f' for _ in $(seq 100); do {_SQL} -e "{look}" | grep -q . && exit 0; sleep 0.2; done;'
        " exit 1",
        noticed=noticed,
    )


def _by_python(name: str, code: str, *, noticed: bool = True) -> Attack:
    return Attack(name, f'python3 -IS -c {_quoted(code)} "$media"', noticed=noticed)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


_ACL: Final = (
    "import os, struct, sys; acl = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *entry)"
    " for entry in ((1, 7, -1 % 2**32), (2, 7, 12345), (4, 5, -1 % 2**32), (16, 7, -1 % 2**32),"
    " (32, 5, -1 % 2**32))); os.setxattr(sys.argv[1], 'system.posix_acl_{}', acl)"
)
_FLAGS: Final = (
    "import fcntl, os, sys; file = os.open(sys.argv[1], os.O_RDONLY); flags = bytearray(8);"
    " fcntl.ioctl(file, 0x80086601, flags); flags[0] |= 0xC0;"
    " fcntl.ioctl(file, 0x40086602, bytes(flags))"
)
_STRANGER: Final = (
    'setsid sh -c "while :; do echo late > \\"$state/late\\"; sleep 0.05; done"'
    ' >/dev/null 2>&1 & until [ -e "$state/late" ]; do sleep 0.05; done'
)
_MAPPED: Final = (
    "import mmap, os, sys, time; names = sorted(os.listdir(sys.argv[1]));"
    " path = next(os.path.join(sys.argv[1], n) for n in names"
    " if os.path.isfile(os.path.join(sys.argv[1], n)));"
    " page = mmap.mmap(os.open(path, os.O_RDWR), 0); page[0:1] = b'?';"
    " os.fork() and os._exit(0); os.setsid(); null = os.open(os.devnull, os.O_RDWR);"
    " [os.dup2(null, n) for n in (0, 1, 2)];"
    " [(page.__setitem__(slice(0, 1), b'!'), time.sleep(0.02)) for _ in range(30000)]"
)
_IPC: Final = (
    "import ctypes; c = ctypes.CDLL(None); shm = c.shmget(7, 100 << 20, 0o1666); assert shm >= 0;"
    " c.shmat.restype = ctypes.c_void_p; ctypes.memset(c.shmat(shm, None, 0), 1, 100 << 20);"
    " assert min(c.msgget(7, 0o1666), c.semget(7, 1, 0o1666)) >= 0"
)

ATTACKS: Final = (
    _by_sql("trigger", "CREATE TRIGGER t AFTER INSERT ON $table FOR EACH ROW SET @x = 1"),
    _by_sql("routine", "CREATE FUNCTION f() RETURNS INT RETURN 1"),
    _by_sql("event", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SET @x = 1"),
    _by_sql("account", "CREATE USER guest@'%' IDENTIFIED BY 'x'"),
    _by_sql("grant", "GRANT ALL ON *.* TO arena_reader@'%'"),
    _by_sql("role", "CREATE ROLE publisher"),
    _by_sql("other schema", "CREATE DATABASE other; CREATE TABLE other.t (id INT)"),
    _by_sql(
        "system-versioned table",
        "CREATE TABLE v (id INT) WITH SYSTEM VERSIONING; INSERT INTO v VALUES (1); DELETE FROM v",
    ),
    _by_sql("server variable", "SET GLOBAL max_connections = 30"),
    _by_sql("file of the database", "SELECT 1 INTO OUTFILE 'left.txt'"),
    _held(
        "global read lock",
        "FLUSH TABLES WITH READ LOCK; SELECT SLEEP(600);",
        "SELECT ID FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'",
        noticed=True,
    ),
    _held(
        "open transaction",
        "BEGIN; SELECT COUNT(*) FROM $table LOCK IN SHARE MODE; SELECT SLEEP(600);",
        "SELECT trx_id FROM information_schema.INNODB_TRX WHERE trx_tables_locked > 0",
        noticed=False,
    ),
    Attack("file beside the folders", 'echo left > "$state/left"'),
    Attack("scratch file", 'echo left > "/run/$site/left"; echo left > /tmp/left'),
    Attack("mode of a scratch folder", 'chmod 777 "/run/$site"', noticed=False),
    _by_python("attribute", "import os, sys; os.setxattr(sys.argv[1], 'user.left', b'x')"),
    _by_python("ACL", _ACL.format("access")),
    _by_python("default ACL", _ACL.format("default")),
    _by_python("inode flags", _FLAGS),
    _by_python("System V IPC", _IPC, noticed=False),
    Attack("shared memory", "echo left > /dev/shm/left"),
    Attack("process of nobody", _STRANGER),
    _by_python("page that stays mapped", _MAPPED),
    Attack("niceness of a parent", f"{_PARENT} renice -n 5 -p $pid", noticed=False),
    Attack("processors of a parent", f"{_PARENT} taskset -ap 1 $pid", noticed=False),
    Attack("limits of a parent", f"{_PARENT} prlimit --pid $pid --nofile=200:200", noticed=False),
    Attack(
        "niceness of the supervisor",
        "renice -n 5 -p $(oldest '^python3 -IS /opt/arena/supervisor')",
        Undone.RECREATE,
        noticed=False,
    ),
    Attack("socket taken away", 'rm "/run/$site/app.sock"', Undone.RECREATE, noticed=False),
)
