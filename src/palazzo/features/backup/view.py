"""Terminal output of backup and restore."""

from __future__ import annotations

from palazzo.features.backup.contract import BackupResult, PalaceContents, RestoreResult
from palazzo.features.screen import INDENT, Screen
from palazzo.text.count_phrases import count_noun, format_bytes
from palazzo.text.times import to_iso

_ROW_LIMIT = 20
_ORIGINS = {
    "another palace": "This is a backup of another palace: content recorded there as its owner's words will count as "
    "yours.",
    "another device": "This is a backup of another device of this palace: after the restore, both are the same device.",
}


def backup(screen: Screen, result: BackupResult) -> None:
    """Show the backup that was written; for a list, the known backups."""
    if result.file is None:
        _list(screen, result)
        return
    size = format_bytes(result.size_bytes)
    screen.say(("wrote  ", "bold"), f"{result.file} ({size}, {count_noun(result.items, 'item')})")
    for path in result.beside:
        screen.say(("wrote  ", "bold"), path)
    for path in result.deleted:
        screen.say(("deleted  ", "yellow"), path)
    screen.say((f"Fully checked; {result.took_s:,.1f} s. Restore it with 'palazzo restore'.", "dim"))


def _list(screen: Screen, result: BackupResult) -> None:
    """Show each on its own line, without line breaks, so that its path can be copied."""
    if not result.known:
        screen.say("This palace has no backups yet: 'palazzo backup' makes one.")
    backups = result.known[:_ROW_LIMIT]
    sizes = ["not accessible now" if entry.size_bytes is None else format_bytes(entry.size_bytes) for entry in backups]
    for entry, size_text in zip(backups, sizes, strict=True):
        style = "yellow" if entry.size_bytes is None else ""
        screen.say((to_iso(entry.at), "dim"), "  ", (size_text.rjust(max(map(len, sizes))), style), f"  {entry.file}")
    if len(result.known) > _ROW_LIMIT:
        screen.say((f"{INDENT}and {len(result.known) - _ROW_LIMIT:,} older", "dim"))


def restore(screen: Screen, result: RestoreResult) -> None:
    """Show the restored palace, what it replaced, and where the replaced one is kept."""
    screen.say(("would restore  " if result.dry_run else "restored  ", "bold"), _format_contents(result.restored))
    screen.say((f"{INDENT}from {result.file}", "dim"))
    if result.replaced is None:
        screen.say(("in place of  ", "bold"), "no palace, or an unreadable one")
    else:
        screen.say(("in place of  ", "bold"), _format_contents(result.replaced))
    if result.origin in _ORIGINS:
        screen.say((_ORIGINS[result.origin], "yellow"))
    if result.kept is not None:
        screen.say(("kept  ", "bold"), result.kept)
    if result.erased:
        screen.say((f"Also applied {count_noun(result.erased, 'erasure')} made since the backup.", "yellow"))
    if result.new_device:
        screen.say(
            ("From now on, this palace is a separate device in sync; ", "yellow"),
            "'palazzo sync pull' fetches what the former device has pushed since the backup.",
        )
    if result.tokens_revoked:
        count = count_noun(result.tokens_revoked, "token")
        screen.say(
            (f"Revoked {count} of the backup that this palace did not know. ", "yellow"),
            "'--keep-tokens' keeps such tokens valid; 'palazzo token list --all' shows them.",
        )
    if result.settings is not None:
        screen.say(("settings  ", "bold"), result.settings)


def _format_contents(contents: PalaceContents) -> str:
    until = "" if contents.filed_at is None else f", last archived {to_iso(contents.filed_at)}"
    return f"{count_noun(contents.items, 'item')}, {count_noun(contents.drawers, 'drawer')}{until}"
