"""Requests, results and operations of `erase`: what faces know of the feature, without its engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from palazzo.frozen_class import frozen
from palazzo.model import Certificate
from palazzo.operations.operation import PERSON_ONLY, About, Operation


@frozen
class EraseRequest:
    """Remove words for good: from texts, from their sources' bytes, from names, indexes and the file's free pages.

    Each character becomes █. If the same words arrive again, they are recognised and left out. This cannot be undone;
    'palazzo forget' is the reversible way. Without arguments, it finishes an erase that was interrupted.
    """

    ids: Annotated[tuple[str, ...], About("Drawer or item ids, or id prefixes.", positional=True, option="ID")] = ()
    match: Annotated[
        str | None,
        About(
            "Everything that matches this regular expression, and the same characters in other places, also inside "
            "longer words.",
            metavar="REGEX",
        ),
    ] = None
    session: Annotated[str | None, About("Everything said in this session.")] = None
    source: Annotated[str | None, About("Everything that came from this file, directory, address or session.")] = None
    secrets: Annotated[
        bool, About("Everything that the current rules classify as a secret, as 'palazzo doctor --secrets' lists.")
    ] = False
    certificate: Annotated[
        Path | None, About("Also write the certificate to this file, which must not exist yet.", metavar="FILE")
    ] = None
    even_most: Annotated[bool, About("Continue even if the pattern matches a large part of the palace.")] = False
    dry_run: Annotated[bool, About("Only show what would be erased.")] = False


@frozen
class EraseResult:
    """How much was erased (or would be), the certificates, and the effects on other files."""

    dry_run: bool
    items: int
    characters: int
    names: int
    share: float
    """The share of all characters in the palace, from 0 to 1."""
    certificates: tuple[Certificate, ...] = ()
    removed: tuple[str, ...] = ()
    """Files that held the words and were deleted."""
    mend: tuple[str, ...] = ()
    """The user's own files that still hold the words."""
    left: int = 0
    """How many texts were left in place because they also occur in many other sources."""
    backups: tuple[str, ...] = ()
    """Backups from which the words were removed as well."""
    away: tuple[str, ...] = ()
    """Backups that are not accessible now: when one is restored, the words in it are erased again."""
    exports: tuple[str, ...] = ()
    """Exports of this palace that may still hold the words; the user has to delete them."""
    sample: Annotated[tuple[tuple[str, str], ...], PERSON_ONLY] = ()
    """The first few matches: (item, the text around the match, with the match masked)."""


ERASE = Operation(
    "erase",
    EraseRequest,
    EraseResult,
    scope="admin",
    group="Keep and move",
    summary="Remove words for good, with a certificate",
    writes=True,
    steps=True,
    destructive=True,
    examples=("palazzo erase --match 'sk-live-[0-9a-z]+' --dry-run", "palazzo erase 3f2a91 --certificate erased.json"),
)


LARGE_SHARE = 0.25
"""The share of all characters in the palace above which a pattern probably matches more than intended."""
