"""Checks of primary data: the file is sound, the chain holds, and every archived item can be read."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from palazzo.archive import device_chain
from palazzo.store import chain_links, device_rows, foreign_rows, items, log_frames, tombstones, unfinished_imports
from palazzo.store.database import Connection
from palazzo.text.count_phrases import count_noun

_MOST_FINDINGS = 3
CheckOutcome = tuple[bool, str]


def check_file(connection: Connection) -> CheckOutcome:
    """Check that SQLite finds the file sound."""
    messages = [str(row) for (row,) in connection.execute("PRAGMA integrity_check(20)")]
    return messages == ["ok"], "SQLite reports no errors" if messages == ["ok"] else summarize(messages)


def check_log(connection: Connection, palace: Path) -> CheckOutcome:
    """Check that SQLite can read every transaction in the write-ahead log of the palace that `connection` is to."""
    ((page_size,),) = connection.execute("PRAGMA page_size")
    count = log_frames.count_unreadable(palace, int(str(page_size)))
    if not count:
        return True, "every transaction in the write-ahead log can be read"
    return False, (
        f"the write-ahead log is damaged: {count_noun(count, 'transaction')} after the damage cannot be read. If the "
        "machine lost power meanwhile, they may never have been acknowledged; otherwise compare with a backup"
    )


def check_references(connection: Connection) -> CheckOutcome:
    """Check that no row refers to a missing row."""
    problems = [f"{table} row {row} refers to a missing row of {parent}" for table, row, parent, _ in
             islice(connection.execute("PRAGMA foreign_key_check"), 20)]  # fmt: skip
    return not problems, summarize(problems) or "all references are valid"


def check_chain(connection: Connection) -> CheckOutcome:
    """Check that every link follows from the one before it, and that every body matches it: raw bytes and text.

    Links and erasures come after their items; after an interrupted import some of them are still missing.
    """
    are_to_come = bool(unfinished_imports.paths(connection))
    faults = (fault for fault in device_chain.audit(connection) if fault.seq or not are_to_come)
    breaks = [f"link {fault.seq} (item {fault.item}): {fault.reason}" for fault in islice(faults, 20)]
    breaks += [f"item {uid.hex()} is marked as erased, but no erasure record explains it"
               for uid in islice([] if are_to_come else tombstones.find_unproven_items(connection), 20)]  # fmt: skip
    why = chain_links.absent_links(connection)
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in why.items() if reason)
    but = f", except those recorded as absent ({reasons})" if reasons else ""
    if lost_items := chain_links.lost_items(connection):
        but += f"; {len(lost_items):,} items cannot be read as they were archived: {summarize(lost_items)}"
    waits = "; links of an import are still to come" if are_to_come else ""
    links = count_noun(sum(why.values()), "link")
    return not breaks, summarize(breaks) or f"{links}, all bodies match the archive{but}{waits}"


def check_items(connection: Connection) -> CheckOutcome:
    """Check that every text can be read, and that every part lies within it."""
    wrong: list[str] = []
    count = 0
    for uid, text, codec, parts in connection.execute("SELECT uid, text, text_codec, parts FROM item"):
        count += 1
        try:
            size = len(items.decode_text(text, codec))
            inside = all(0 <= part.start <= part.end <= size for part in items.load_parts(parts))
        except Exception as error:  # noqa: BLE001 - zlib, JSON and Unicode have their own; the item is what matters
            wrong.append(f"item {bytes(uid).hex()} cannot be read ({type(error).__name__})")
        else:
            if not inside:
                wrong.append(f"item {bytes(uid).hex()} has parts outside its text")
    return not wrong, summarize(wrong) or f"{count_noun(count, 'item')}, all readable"


def check_imports(connection: Connection) -> CheckOutcome:
    """Check that no import was left incomplete."""
    interruptions = [f"the import of {path} is incomplete: if it is not still running, import it again"
             for path in unfinished_imports.paths(connection)]  # fmt: skip
    return not interruptions, summarize(interruptions) or "none was interrupted"


def check_variants(connection: Connection) -> CheckOutcome:
    """Name items that an import had with other words. The words archived here stay, so this is no failure."""
    variants = [variant.item for variant in foreign_rows.variants(connection)]
    if not variants:
        return True, "no imported item has other text than here"
    return True, f"{len(variants):,} imported items have other text than here; yours are kept: {summarize(variants)}"


def check_provenance(connection: Connection) -> CheckOutcome:
    """Report segments that were refused, and words lost without a known erasure. Neither is damage."""
    problems = [f"remote '{refusal.remote}': {refusal.reason}" for refusal in device_rows.refusals(connection)]
    unproven = [uid.hex() for uid in device_rows.unproven(connection)]
    if unproven:
        count = f"{len(unproven):,} item{'' if len(unproven) == 1 else 's'}"
        problems.append(f"{count} lost their words without a known erasure: {summarize(unproven)}")
    return True, summarize(problems) or "everything received through remotes is from devices that may write"


def summarize(findings: list[str], most: int = _MOST_FINDINGS) -> str:
    """Return the first findings, and the number of the others."""
    more = len(findings) - most
    return "; ".join(findings[:most]) + (f"; and {more} more" if more > 0 else "")
