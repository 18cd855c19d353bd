"""What a replica holds beside the state that a fingerprint reads; shares no code with Arena.

One script of Python inside the container and one call of the database's client tell it: all entries
of the folders that can be written, with attributes, ACLs and inode flags, System V IPC, processes
with their limits, other schemas, accounts, and what sessions hold.
"""

from __future__ import annotations

from typing import Final

from mutations.subject import Subject

_SCRIPT: Final = r"""
import array, fcntl, glob, hashlib, os, stat, sys

def flags(path):
    try:
        opened = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        found = array.array("L", [0])
        fcntl.ioctl(opened, 0x80086601, found)
        return found[0] & 0x6281C4FF
    except OSError:
        return ""
    finally:
        os.close(opened)

def look(root, content):
    for folder, names, files in os.walk(root):
        for path in [folder] + [os.path.join(folder, name) for name in files]:
            found = os.lstat(path)
            plain = stat.S_ISREG(found.st_mode)
            link = stat.S_ISLNK(found.st_mode)
            facts = [path, oct(found.st_mode), found.st_uid]
            if not link and not stat.S_ISSOCK(found.st_mode):
                facts += [flags(path), {n: os.getxattr(path, n) for n in os.listxattr(path)}]
            if content and plain:
                text = open(path, "rb").read()
                facts += [found.st_size, found.st_mtime_ns, hashlib.sha256(text).hexdigest()]
            yield "entry %r" % (facts,)

def processes():
    own = {str(os.getpid()), str(os.getppid())}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open("/proc/%s/cmdline" % pid).read().split("\0")[:3]
            fields = open("/proc/%s/stat" % pid).read().rpartition(")")[2].split()
            limits = open("/proc/%s/limits" % pid).read().split()
            early = open("/proc/%s/oom_score_adj" % pid).read()
            on = sorted(os.sched_getaffinity(int(pid)))
        except OSError:
            continue
        if pid not in own and fields[0] != "Z":
            yield "process %r" % ([words, fields[16], early, on, limits],)

state, database, site = sys.argv[1:]
lines = set()
for name in os.listdir(state):
    path = os.path.join(state, name)
    if name != database:
        lines.update(look(path, True) if os.path.isdir(path) else ["entry " + path])
for folder, names, files in os.walk(os.path.join(state, database)):
    lines.update("name " + os.path.join(folder, name) for name in names + files)
for root in ("/tmp", "/run/" + site, "/dev/shm", "/dev/mqueue"):
    lines.update(look(root, False))
for kind in ("shm", "msg", "sem"):
    lines.update("ipc " + line for line in open("/proc/sysvipc/" + kind).readlines()[1:])
lines.update(processes())
print("\n".join(sorted(lines)))
"""
_SQL: Final = (
    "SELECT 'schema', SCHEMA_NAME FROM information_schema.SCHEMATA",
    "SELECT 'table', TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES",
    "SELECT 'trigger', TRIGGER_NAME, ACTION_STATEMENT FROM information_schema.TRIGGERS",
    "SELECT 'routine', ROUTINE_SCHEMA, ROUTINE_NAME FROM information_schema.ROUTINES",
    "SELECT 'event', EVENT_NAME, EVENT_DEFINITION FROM information_schema.EVENTS",
    "SELECT 'account', User, Host, Priv FROM mysql.global_priv",
    "SELECT 'grant', User, Db FROM mysql.db",
    "SELECT VARIABLE_NAME FROM information_schema.SYSTEM_VARIABLES WHERE GLOBAL_VALUE_ORIGIN='SQL'",
    "SELECT DISTINCT 'locks', 1 FROM information_schema.INNODB_TRX WHERE trx_tables_locked > 0",
    "SELECT DISTINCT 'sleeps', 1 FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'",
)


async def beside(subject: Subject) -> frozenset[str]:
    """Return one line for each fact; equal sets mean that nothing was left."""
    state = subject.replica.site.state
    assert state is not None
    command = 'python3 -IS -c "$1" "$2" db "$3"'
    # One after the other: the database's client is a process as well.
    seen = await subject.shell(command, _SCRIPT, state.folder, subject.site)
    return frozenset((*seen.splitlines(), *await subject.sql(*_SQL)))
