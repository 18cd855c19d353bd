"""What an entry has besides content, owner, mode and times: attributes, ACLs, inode flags."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys

_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS
_SET_FLAGS = 0x40086602  # FS_IOC_SETFLAGS
TOP_OF_TREES = 0x00020000  # EXT4_TOPDIR_FL, which `chattr +T` sets
# What chattr(1) can set, but for "top of trees", which the restorer sets itself. The others tell
# how a file system keeps the entry.
_SETTABLE = 0x6281C4FF
_OWN = ("user.", "system.posix_acl_")

Attributes = dict[str, bytes]


def attributes_of(target: bytes | int) -> Attributes:
    """Return the extended attributes that an entry's owner can set, ACLs among them.

    Args:
        target: a path, which must not be a link, or a descriptor.
    """
    try:
        return {name: os.getxattr(target, name) for name in _names(target)}
    except OSError:
        return {}  # a file system that has none


def is_settable(name: str) -> bool:
    """Whether an extended attribute is one that an entry's owner can set."""
    return name.startswith(_OWN)


def restore_attributes(target: bytes | int, golden: Attributes) -> None:
    """Give an entry just these extended attributes. Raises OSError where it cannot."""
    for name in _names(target):
        if name not in golden:
            os.removexattr(target, name)
    for name, value in golden.items():
        os.setxattr(target, name, value)


def flags_of(descriptor: int) -> int:
    """Return the inode flags of an open entry that its owner can set; 0 where there are none."""
    return _flags(descriptor) & _SETTABLE


def restore_flags(descriptor: int, golden: int) -> None:
    """Give an open folder or file these flags. Raises OSError where it may not."""
    now = _flags(descriptor)
    wanted = now & ~_SETTABLE | golden
    if wanted != now:
        fcntl.ioctl(descriptor, _SET_FLAGS, wanted.to_bytes(8, sys.byteorder))


def mark_top(descriptor: int) -> None:
    """Mark an open folder as the top of trees. Raises OSError where its file system has no such."""
    now = _flags(descriptor)
    if not now & TOP_OF_TREES:
        wanted = now | TOP_OF_TREES
        fcntl.ioctl(descriptor, _SET_FLAGS, wanted.to_bytes(8, sys.byteorder))


def _names(target: bytes | int) -> list[str]:
    with contextlib.suppress(OSError):
        return [name for name in os.listxattr(target) if is_settable(name)]
    return []


def _flags(descriptor: int) -> int:
    flags = bytearray(8)
    with contextlib.suppress(OSError):
        fcntl.ioctl(descriptor, _GET_FLAGS, flags)
    return int.from_bytes(flags, sys.byteorder)
