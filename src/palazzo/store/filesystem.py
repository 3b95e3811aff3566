"""The file systems on which a palace may be written, and directories that are flushed to them.

SQLite's write-ahead log needs shared memory and reliable locks between processes. Network and pass-through file systems
guarantee neither and corrupt databases silently, so writing there is refused.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from pathlib import Path

from palazzo.errors import PalaceUnusable

UNSAFE_TYPES = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb",
        "smb3",
        "smbfs",
        "9p",
        "virtiofs",
        "drvfs",
        "afpfs",
        "webdav",
        "davfs",
        "fuse.sshfs",
        "fuse.rclone",
        "fuse.s3fs",
        "ncpfs",
        "fuse.gcsfuse",
        "vboxsf",
        "prl_fs",
        "fuse.vmhgfs-fuse",
        "fakeowner",
        "ceph",
        "fuse.ceph",
        "glusterfs",
        "fuse.glusterfs",
        "lustre",
        "afs",
        "beegfs",
        "orangefs",
        "fuse.grpcfuse",
        "fuse.osxfs",
        "fuse.juicefs",
        "fuse.goofys",
        "fuse.mountpoint-s3",
        "fuse.blobfuse",
        "fuse.blobfuse2",
        "fuse.curlftpfs",
    ]
)
_MOUNTS = Path("/proc/self/mounts")
_ESCAPE = re.compile(rb"\\([0-7]{3})")
"""How that file writes a blank, a tab, a line's end and a backslash in a path."""


def refuse_unsafe(path: Path) -> None:
    """Raise PalaceUnusable if `path` is on a file system that cannot keep a palace intact."""
    kind = type_of(path)
    if kind in UNSAFE_TYPES:
        raise PalaceUnusable(
            f"{path} is on a {kind} file system, which cannot lock a database safely. Keep the palace on a local "
            "disk (--palace, or PALAZZO_PALACE), and use 'palazzo backup' or a named volume to carry it elsewhere."
        )


def type_of(path: Path) -> str:
    """Return the type of the file system that holds `path`, or '' if it is unknown."""
    return mount_of(path)[0]


def mount_of(path: Path) -> tuple[str, str]:
    """Return the type and the mount options of the file system that holds `path`, or '' where they are unknown.

    A link counts as the place to which it leads.
    """
    if not sys.platform.startswith("linux"):
        return "", ""  # macOS and Windows name network volumes by path alone; SQLite's own locks guard those
    try:
        mounts = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return "", ""
    return _mount_from(mounts, Path(os.path.realpath(path)))


def _mount_from(mounts: list[str], path: Path) -> tuple[str, str]:
    best, kind, options = "", "", ""
    for line in mounts:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        escaped = fields[1].encode(errors="surrogateescape")
        point = os.fsdecode(_ESCAPE.sub(lambda match: bytes([int(match[1], 8)]), escaped))
        inside = path == Path(point) or Path(point) in path.parents
        if inside and len(point) >= len(best):
            best, kind, options = point, fields[2], fields[3] if len(fields) > 3 else ""
    return kind, options


def sync_directory(path: Path) -> None:
    """Flush the names in a directory to disk, where the system supports it, and the directory may be read.

    Raises OSError if the disk refuses.
    """
    if sys.platform == "win32":
        return
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # it may be written all the same
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # network drives know no such thing
            raise
    finally:
        os.close(handle)
