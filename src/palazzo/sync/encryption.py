"""Encryption of segments for the holders of a key: the age format (https://age-encryption.org/v1), by pyrage.

One X25519 key encrypts and decrypts everything of a remote. Devices get it as a file that `age-keygen` could have
written (`age --decrypt --identity FILE` opens a segment), or from the remote itself, where it is stored encrypted with
a passphrase. Deriving a key from a passphrase takes a second by design, so that is done once per device and not for
each segment.

pyrage is in the extra `sync`. It is not needed without encryption.
"""

from __future__ import annotations

import os
import stat
from dataclasses import field
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from palazzo.errors import PalazzoError, UsageError, WrongKey
from palazzo.frozen_class import frozen

LARGEST_KEY_FILE = 64 * 1024
SHORTEST_PASSPHRASE = 8
"""In characters. Anyone who can read the remote can try passphrases, at about one guess per second and core."""

_SECRET = "AGE-SECRET-KEY-1"  # noqa: S105 - how every such key begins


@frozen
class Key:
    """A key that encrypts and decrypts. `text` is the key itself, a line `AGE-SECRET-KEY-1…`; it is never shown."""

    text: str = field(repr=False)
    _identity: Any = field(repr=False, compare=False)

    @classmethod
    def new(cls) -> Self:
        """Create a new key."""
        identity = _pyrage().x25519.Identity.generate()
        return cls(str(identity), identity)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a key from its text; raises WrongKey if it is not a key."""
        pyrage = _pyrage()
        try:
            return cls(text, pyrage.x25519.Identity.from_str(text))
        except pyrage.IdentityError:
            raise WrongKey("That is not an age key: an age key is a line that begins with AGE-SECRET-KEY-1.") from None

    @property
    def public(self) -> str:
        """Return the public part of the key: an age recipient (`age1…`)."""
        return str(self._identity.to_public())

    def seal(self, content: bytes) -> bytes:
        """Return `content` encrypted for this key."""
        ciphertext: bytes = _pyrage().encrypt(content, [self._identity.to_public()])
        return ciphertext

    def open(self, ciphertext: bytes) -> bytes:
        """Decrypt data sealed for this key; raises WrongKey if it is for another key, not sealed, or damaged."""
        pyrage = _pyrage()
        try:
            content: bytes = pyrage.decrypt(ciphertext, [self._identity])
        except pyrage.DecryptError:
            raise WrongKey(
                "The data on the remote cannot be decrypted with this palace's key: it was sealed with another key, "
                "or is damaged. Give 'palazzo sync init' the passphrase or the key file."
            ) from None
        return content


def close_with(passphrase: str, key: Key) -> str:
    """Return the key encrypted with a passphrase, as armoured age text; raises UsageError for a short one."""
    if len(passphrase) < SHORTEST_PASSPHRASE:
        raise UsageError(f"The passphrase is too short: give at least {SHORTEST_PASSPHRASE} characters.")
    armored_key: bytes = _pyrage().passphrase.encrypt(key.text.encode(), passphrase, armored=True)
    return armored_key.decode("ascii")


def open_with(passphrase: str, armored_key: str) -> Key:
    """Return the key that `close_with` encrypted; raises WrongKey if this passphrase does not open it."""
    pyrage = _pyrage()
    try:
        text = pyrage.passphrase.decrypt(armored_key.encode("utf-8", "replace"), passphrase).decode("ascii", "replace")
    except pyrage.DecryptError:
        raise WrongKey(
            "The passphrase does not open this remote's key: use the passphrase given on the first device."
        ) from None
    return Key.parse(text)


def save(key: Key, path: Path) -> None:
    """Write the key to a new file that only its owner can read; raises UsageError if the file exists."""
    content = f"# public key: {key.public}\n{key.text}\n".encode()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except FileExistsError:
        raise UsageError(f"{path} already exists; name another file for the key.") from None
    except OSError as error:
        raise UsageError(f"The key cannot be written to {path} ({error.strerror}); name another file.") from None
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)


def load(path: Path) -> Key:
    """Read a key file of `save` or `age-keygen`. Raises UsageError if unreadable, WrongKey if it has no key."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise WrongKey(f"{path} is not a key file: it is not a file.")
        with os.fdopen(handle, "rb") as file:
            content = file.read(LARGEST_KEY_FILE + 1)
    except OSError as error:
        raise UsageError(f"The key file {path} cannot be read ({error.strerror}); name the right file.") from None
    lines = content.decode("utf-8", "replace").split("\n") if len(content) <= LARGEST_KEY_FILE else []
    key_lines = [line.strip() for line in lines if line.strip().startswith(_SECRET)]
    if len(key_lines) != 1:
        raise WrongKey(
            f"{path} is not a key file: a key file has a line that begins with {_SECRET}. 'palazzo sync init "
            "--save-key FILE' writes one on the first device."
        )
    return Key.parse(key_lines[0])


def _pyrage() -> ModuleType:
    try:
        import pyrage
    except ImportError:
        raise PalazzoError(
            "Sealed segments need a library that is not installed; install it with: pip install 'palazzo[sync]'"
        ) from None
    return pyrage  # type: ignore[no-any-return]
