"""The file systems on which a palace may be written.

SQLite's write-ahead log needs shared memory and reliable locks between processes. Network and pass-through file systems
guarantee neither and corrupt databases silently, so writing there is refused.
"""

from __future__ import annotations

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
        "glusterfs",
        "fuse.glusterfs",
        "lustre",
    ]
)
_MOUNTS = Path("/proc/self/mounts")


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
    if not sys.platform.startswith("linux"):
        return ""  # macOS and Windows name network volumes by path alone; SQLite's own locks guard those
    try:
        mounts = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return ""
    return _type_from(mounts, path.absolute())


def _type_from(mounts: list[str], path: Path) -> str:
    best, kind = "", ""
    for line in mounts:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].encode().decode("unicode_escape", errors="replace")
        inside = path == Path(point) or Path(point) in path.parents
        if inside and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind
