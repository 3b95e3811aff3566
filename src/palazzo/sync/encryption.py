"""Seals segments for those who have a key: the age format (https://age-encryption.org/v1), by pyrage.

One X25519 key closes and opens everything of a remote. Devices get it as a file that `age-keygen` could have written
(`age --decrypt --identity FILE` opens a segment), or from the remote itself, where it lies closed by a passphrase:
making a key from a passphrase takes a second on purpose, so that happens once on a device and not for each segment.

pyrage is in the extra `sync`. Who seals nothing does without.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from palazzo.errors import PalazzoError, UsageError, WrongKey

LARGEST_KEY_FILE = 64 * 1024
SHORTEST_PASSPHRASE = 8
"""Characters. What is on a remote can be tried by whoever reads it, at about one guess a second and core."""

_SECRET = "AGE-SECRET-KEY-1"  # noqa: S105 - how every such key begins


@dataclass(frozen=True, slots=True)
class Key:
    """A key that seals and opens. `text` is the key itself, a line `AGE-SECRET-KEY-1…`; it is never shown."""

    text: str = field(repr=False)
    _identity: Any = field(repr=False, compare=False)

    @classmethod
    def new(cls) -> Self:
        """Make one."""
        identity = _pyrage().x25519.Identity.generate()
        return cls(str(identity), identity)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a key from its text; WrongKey for what is none."""
        pyrage = _pyrage()
        try:
            return cls(text, pyrage.x25519.Identity.from_str(text))
        except pyrage.IdentityError:
            raise WrongKey("That is no age key: one is a line that begins with AGE-SECRET-KEY-1.") from None

    @property
    def public(self) -> str:
        """What others may know of it: an age recipient (`age1…`)."""
        return str(self._identity.to_public())

    def seal(self, content: bytes) -> bytes:
        """Return `content` closed for this key."""
        ciphertext: bytes = _pyrage().encrypt(content, [self._identity.to_public()])
        return ciphertext

    def open(self, ciphertext: bytes) -> bytes:
        """Return what was sealed for this key; WrongKey where it was for another, or is not sealed, or damaged."""
        pyrage = _pyrage()
        try:
            content: bytes = pyrage.decrypt(ciphertext, [self._identity])
        except pyrage.DecryptError:
            raise WrongKey(
                "What is on the remote does not open with this palace's key: it was sealed with another one, or is "
                "damaged. 'palazzo sync init' takes the passphrase or the key file."
            ) from None
        return content


def close_with(passphrase: str, key: Key) -> str:
    """Return the key closed by a passphrase, as armoured age text; UsageError for a passphrase that is too short."""
    if len(passphrase) < SHORTEST_PASSPHRASE:
        raise UsageError(f"The passphrase is too short: give at least {SHORTEST_PASSPHRASE} characters.")
    armored_key: bytes = _pyrage().passphrase.encrypt(key.text.encode(), passphrase, armored=True)
    return armored_key.decode("ascii")


def open_with(passphrase: str, armored_key: str) -> Key:
    """Return the key that `close_with` closed; WrongKey where it does not open with this passphrase."""
    pyrage = _pyrage()
    try:
        text = pyrage.passphrase.decrypt(armored_key.encode("utf-8", "replace"), passphrase).decode("ascii", "replace")
    except pyrage.DecryptError:
        raise WrongKey(
            "The passphrase does not open this remote's key: give the one that the first device was given."
        ) from None
    return Key.parse(text)


def save(key: Key, path: Path) -> None:
    """Write the key into a new file that its owner alone reads; UsageError where there is a file already."""
    content = f"# public key: {key.public}\n{key.text}\n".encode()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except FileExistsError:
        raise UsageError(f"{path} is there already; name another file for the key.") from None
    except OSError as error:
        raise UsageError(f"The key cannot be written to {path} ({error.strerror}); name another file.") from None
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)


def load(path: Path) -> Key:
    """Read a key file: `save` wrote it, or `age-keygen`. UsageError where it cannot be read, WrongKey without a key."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise WrongKey(f"{path} is no key file: it is no file.")
        with os.fdopen(handle, "rb") as file:
            content = file.read(LARGEST_KEY_FILE + 1)
    except OSError as error:
        raise UsageError(f"The key file {path} cannot be read ({error.strerror}); name the right one.") from None
    lines = content.decode("utf-8", "replace").split("\n") if len(content) <= LARGEST_KEY_FILE else []
    key_lines = [line.strip() for line in lines if line.strip().startswith(_SECRET)]
    if len(key_lines) != 1:
        raise WrongKey(
            f"{path} is no key file: one has a line that begins with {_SECRET}. 'palazzo sync init --save-key FILE' "
            "writes it on the first device."
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
