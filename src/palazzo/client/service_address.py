"""The address of a palace's service: one place for each user and palace, in every environment.

Hosts pass on different variables (Codex drops XDG_RUNTIME_DIR, macOS gives each context its own TMPDIR, cron has
neither), so the place depends on none of them: it is `/tmp/palazzo-UID`, which is used only while it belongs to that
user. Another user of the machine can create that directory first; then the place is in the user's home. The process
that holds the lock beside the socket is the service. Standard library only, imported in a millisecond.
"""

from __future__ import annotations

import os
import sys

from palazzo import paths
from palazzo.errors import ServiceUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_PLACE = "/tmp"  # noqa: S108 - owner and mode of the directory in it are checked
_HOME_PLACE = os.path.join(".cache", "palazzo-run")
"""Used below the user's home directory if `/tmp/palazzo-UID` belongs to another user."""
_LONGEST_ADDRESS = 100
"""The most bytes of a socket's path: macOS allows 103, Linux 107, and a service first binds under another name."""
_USER_TEMPORARY = 65_537
"""The constant of macOS for the directory that TMPDIR names in a login session."""
_WINDOWS = sys.platform == "win32"


class Address:
    """The address of one palace's service. `palace` is the file's real path."""

    __slots__ = ("directory", "lock", "palace", "socket")

    def __init__(self, palace: str, directory: str, name: str) -> None:
        self.palace, self.directory = palace, directory
        self.socket = os.path.join(directory, f"{name}.{'port' if _WINDOWS else 'sock'}")
        self.lock = os.path.join(directory, f"{name}.lock")


def address(palace: str, variables: Mapping[str, str]) -> Address:
    """Return where the service of the palace at `palace` listens. Creates nothing."""
    real = os.path.realpath(palace)
    if _WINDOWS:
        return Address(real, os.path.join(paths.data_place(variables), "run"), _name(real))
    name, directory = _name(real), os.path.join(_PLACE, _own())
    if _is_taken(directory):
        own = os.path.join(_home(), _HOME_PLACE)
        if len(os.fsencode(os.path.join(own, f"{name}.sock"))) <= _LONGEST_ADDRESS:
            directory = own
    return Address(real, directory, name)


def former_addresses(palace: str, variables: Mapping[str, str]) -> list[Address]:
    """Return where services of earlier versions listened for the palace, as far as this environment tells."""
    if _WINDOWS:
        return []
    real, current = os.path.realpath(palace), address(palace, variables).directory
    runtimes = [variables.get("XDG_RUNTIME_DIR"), paths.runtime_place()]
    places = [os.path.join(base, "palazzo") for base in runtimes if base]
    places += [os.path.join(base, _own()) for base in (variables.get("TMPDIR"), _temporary()) if base]
    addresses = [Address(real, place, _name(real)) for place in dict.fromkeys(map(os.path.abspath, places))]
    return [
        former
        for former in addresses
        if former.directory != current and len(os.fsencode(former.socket)) <= _LONGEST_ADDRESS
    ]


def make_directory(place: Address) -> None:
    """Create the service's socket directory (0700); raises ServiceUnavailable if it cannot be the user's own."""
    try:
        os.makedirs(place.directory, mode=0o700, exist_ok=True)
        check_directory(place)
        if not _WINDOWS:
            os.chmod(place.directory, 0o700)
    except OSError as error:
        raise ServiceUnavailable(
            f"{place.directory} cannot be created for the service ({error.strerror}). Move away what is at that "
            "path, or set PALAZZO_SERVICE to off."
        ) from error


def check_directory(place: Address) -> None:
    """Raise ServiceUnavailable if it is not a directory or is another user's, OSError if it does not exist."""
    import stat

    if _WINDOWS:
        return
    status = os.lstat(place.directory)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise ServiceUnavailable(
            f"{place.directory} is not a directory of yours, so no service is used or started there. Have it "
            "removed, or set PALAZZO_SERVICE to off."
        )


def _is_taken(directory: str) -> bool:
    """Return whether another user owns something there, which a sticky `/tmp` lets no one else remove."""
    try:
        return os.lstat(directory).st_uid != os.getuid()
    except OSError:
        return False


def _home() -> str:
    """Return the user's home by the system, not by HOME: all of the user's programs must meet there."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a user without an entry, as in some containers
        return os.path.expanduser("~")


def _own() -> str:
    return f"palazzo-{os.getuid()}"


def _temporary() -> str:
    """Return the user's own temporary directory on macOS, even if no variable names it."""
    try:
        return os.confstr(_USER_TEMPORARY) or "" if sys.platform == "darwin" else ""
    except (ValueError, OSError):
        return ""


def _name(real: str) -> str:
    """Return the name of a palace's socket and lock: a part of the digest of its path."""
    return digest_of(os.fsencode(os.path.normcase(real)))[:16]


def digest_of(value: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal.

    The private modules are hashlib's own. Importing hashlib takes ten milliseconds, since it loads OpenSSL.
    """
    try:
        from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore] # Python 3.12 and later
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found,no-redef,unused-ignore] # 3.11
        except ImportError:
            from hashlib import sha256
    return str(sha256(value).hexdigest())
