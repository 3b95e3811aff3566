"""Integrity checks, which change nothing: the file is sound, primary data is whole, derived data is as expected.

Each check is independent: one that cannot be carried out has failed, and the others continue.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from palazzo.derived import (
    async_consumer,
    citation_consumer,
    claim_consumer,
    digest_consumer,
    expected_drawers,
    fix_consumer,
    heading_consumer,
    mention_consumer,
)
from palazzo.derived.consumer_activities import activity_of
from palazzo.derived.primary_checks import (
    CheckOutcome,
    check_chain,
    check_file,
    check_imports,
    check_items,
    check_log,
    check_provenance,
    check_references,
    check_variants,
    summarize,
)
from palazzo.errors import EmbedderUnavailable, PalazzoError
from palazzo.frozen_class import frozen
from palazzo.index import retired_drawers
from palazzo.index.embedder import Embedder
from palazzo.index.passage_embedding import current_embedder
from palazzo.model import Micros
from palazzo.store import (
    anchors,
    arrangements,
    claim_rows,
    dead_letters,
    digest_rows,
    drawer_history,
    drawers,
    failure_fixes,
    items,
    keyword_table,
    mention_rows,
    retired_keywords,
    source_rows,
    vector_rows,
)
from palazzo.store.database import Connection, Database
from palazzo.text.count_phrases import agree, count_noun

SAMPLE = 24
"""Number of vectors that are computed again: half a second of work."""
CLAIMS_SAMPLE = 50
"""Number of drawers that are read again for claims: a tenth of a second of work."""
DIGESTS_SAMPLE = 8
"""Number of sessions that are digested again, spread over all sessions."""
SAME = 0.999
"""Minimum cosine for two vectors to be the same: int8 rounding costs less than 0.0002."""
_MOST_DEAD_LETTERS = 100
EmbedderFactory = Callable[[], Embedder]
Progress = Callable[[str, int, int], None]


@frozen
class Check:
    """One check: its subject, whether it passed, and what was found."""

    name: str
    ok: bool
    detail: str


def verify(database: Database, embedder: EmbedderFactory, progress: Progress | None = None) -> Iterator[Check]:
    """Yield every check, each of one state of the palace. `progress` gets (check, done, total) for the long ones."""
    report = progress or (lambda name, done, total: None)
    with contextlib.closing(Database(database.path, "read", compares_checksums=True)) as reader:
        yield from _truth(reader)
        yield _run_check(reader, "log", lambda connection: check_log(connection, database.path))
        yield _run_check(reader, "imports", check_imports)
        yield _run_check(reader, "variants", check_variants)
        yield _run_check(reader, "provenance", check_provenance)
        yield _run_check(reader, "places", _places)
        yield _run_check(reader, "drawers", lambda connection: _drawers(connection, report))
        yield _run_check(reader, "keywords", _keywords)
        yield _run_check(reader, "titles", _headings)
        yield _run_check(reader, "past", lambda connection: _past(connection, report))
        yield _run_check(reader, "claims", _claims)
        yield _run_check(reader, "mentions", _mentions)
        yield _run_check(reader, "digests", _digests)
        yield _run_check(reader, "failures", _failures)
        yield _run_check(reader, "anchors", _anchors)
        yield _run_check(reader, "set aside", _set_aside)
        yield _run_check(reader, "vectors", _vectors)
        yield _run_check(reader, "vectors recomputed", lambda connection: _recompute_sample(connection, embedder))


def verify_truth(path: Path) -> Iterator[Check]:
    """Yield the checks for a backup: that the file is sound, and that nothing archived is lost."""
    with contextlib.closing(Database(path, "read", compares_checksums=True)) as reader:
        yield from _truth(reader)


def _truth(reader: Database) -> Iterator[Check]:
    yield _run_check(reader, "file", check_file)
    yield _run_check(reader, "references", check_references)
    yield _run_check(reader, "chain", check_chain)
    yield _run_check(reader, "items", check_items)


def _run_check(database: Database, name: str, check: Callable[[Connection], CheckOutcome]) -> Check:
    try:
        with database.snapshot() as connection:
            return Check(name, *check(connection))
    except PalazzoError as error:
        return Check(name, False, f"could not be checked: {error}")
    except Exception as error:  # noqa: BLE001 - a damaged page may hold anything where a number or a text should be
        return Check(name, False, f"contains unreadable data ({type(error).__name__})")


# --- what is derived ---------------------------------------------------------------------------------------


def _drawers(connection: Connection, progress: Progress) -> CheckOutcome:
    """Check that live drawers are those that the cutter makes, with the same spans, place, tags and passages."""
    wrong: list[str] = []
    count = 0
    rows = list(source_rows.source_rows(connection))
    for n, source in enumerate(rows):
        due_drawers, live_drawers = (
            expected_drawers.expected(connection, source),
            expected_drawers.live(connection, source),
        )
        count += len(live_drawers)
        wrong += [f"drawer {uid.hex()} is missing" for uid in due_drawers.keys() - live_drawers.keys()]
        wrong += [f"drawer {uid.hex()} should not exist" for uid in live_drawers.keys() - due_drawers.keys()]
        wrong += [
            f"drawer {uid.hex()} differs from what its source yields"
            for uid in due_drawers.keys() & live_drawers
            if due_drawers[uid] != live_drawers[uid]
        ]
        if marks := expected_drawers.marks_that_differ(connection, source):
            wrong.append(f"{marks:,} taint marks in source {source} do not match its rows")
        progress("drawers", n + 1, len(rows))
    stray = drawers.count_drawers(connection) - count
    if stray:
        wrong.append(f"{count_noun(stray, 'drawer')} {agree(stray, 'belongs', 'belong')} to no source")
    return not wrong, summarize(wrong) or f"{count_noun(count, 'drawer')}, all match the archive"


def _matches(count: str, sample: str) -> str:
    return f"{count}; {sample} read again, all match"


def _places(connection: Connection) -> CheckOutcome:
    """Check that names and places of wings and rooms match the arrangements."""
    wings, rooms = arrangements.count_differences(connection)
    if wings or rooms:
        return False, f"{wings:,} wings and {rooms:,} rooms differ from the recorded names or places"
    return True, "the names and places of wings and rooms match the recorded changes"


def _keywords(connection: Connection) -> CheckOutcome:
    index_count, drawer_count = keyword_table.indexed_rows(connection), drawers.count_drawers(connection)
    (missing,) = next(
        connection.execute(
            "SELECT count(*) FROM drawer WHERE retired_at IS NULL AND id NOT IN (SELECT id FROM keyword_docsize)"
        )
    )
    sound = [str(row) for (row,) in connection.execute("PRAGMA integrity_check('keyword')")]
    if sound != ["ok"]:
        return False, f"the index is damaged: {summarize(sound)}"
    if missing or index_count != drawer_count:
        return (
            False,
            f"{missing:,} of {drawer_count:,} live drawers are missing from it, and "
            f"{index_count - drawer_count + missing:,} others are in it",
        )
    return True, f"{count_noun(index_count, 'drawer')}, exactly the live ones"


def _headings(connection: Connection) -> CheckOutcome:
    """Check that every source's title is indexed with its first drawer."""
    if not async_consumer.is_followed(connection, heading_consumer.HEADING_CONSUMER):
        return True, "not compared: not all sources have been read yet"
    if async_consumer.count_pending(connection, heading_consumer.HEADING_CONSUMER):
        return True, "not compared: some sources have not been read yet"
    sources = heading_consumer.HEADING_CONSUMER.everything(connection)
    wrong = heading_consumer.expected(connection, sources)
    if wrong:
        return False, f"{len(wrong):,} of {len(sources):,} sources are not found by their title or path"
    return True, f"{len(sources):,} sources are found by their title or path"


def _past(connection: Connection, progress: Progress) -> CheckOutcome:
    """Check that the past states of drawers match the archive, and that each is in the index of the past."""
    if not retired_drawers.is_followed(connection):
        return True, "none kept: earlier states have never been queried"
    if backlog := retired_drawers.count_pending(connection):
        return True, f"{backlog:,} changes are processed when earlier states are next queried"
    wrong: list[str] = []
    rows = _not_set_aside(connection, retired_drawers.NAME, retired_drawers.candidates(connection))
    for n, row in enumerate(rows):
        if retired_drawers.states(connection, row) != drawer_history.states_of(connection, row):
            wrong.append(f"drawer {drawers.uids_of(connection, [row])[0].hex()} has a recorded state that it never had")
        progress("past", n + 1, len(rows))
    surplus = len(set(drawer_history.drawers_with_states(connection)) - set(rows))
    if surplus:
        wrong.append(f"{count_noun(surplus, 'drawer')} with recorded earlier states never had any")
    state_count, index_count = drawer_history.ended_states(connection), retired_keywords.indexed_rows(connection)
    if state_count != index_count or retired_keywords.strays(connection):
        wrong.append(f"{index_count:,} states are indexed instead of {state_count:,}")
    sound = [str(row) for (row,) in connection.execute("PRAGMA integrity_check('keyword_retired')")]
    if sound != ["ok"]:
        wrong.append(f"the index is damaged: {summarize(sound)}")
    return not wrong, summarize(wrong) or f"{state_count:,} earlier states, all match the acts and versions"


def _claims(connection: Connection) -> CheckOutcome:
    """Check that the stored claims of a sample of drawers are right, and that retired drawers have none."""
    consumer = claim_consumer.ClaimConsumer(Micros(0))
    if not async_consumer.is_followed(connection, consumer):
        return True, "none kept yet"
    if async_consumer.count_pending(connection, consumer):
        return True, "not compared: some drawers have not been read for claims yet"
    sample = _not_set_aside(connection, consumer.name, claim_consumer.sample(connection, CLAIMS_SAMPLE))
    expected_rows, stored_rows = claim_consumer.expected(connection, sample), claim_rows.of_drawers(connection, sample)
    strays = claim_rows.strays(connection)
    if strays or sorted(expected_rows) != sorted(stored_rows):
        return (
            False,
            f"{strays:,} belong to no live drawer, and the claims of a sample of {len(sample)} drawers differ",
        )
    return True, _matches(count_noun(claim_rows.count(connection), "claim"), count_noun(len(sample), "drawer"))


def _mentions(connection: Connection) -> CheckOutcome:
    """Check that the stored mentions of a sample of drawers match their text."""
    if not async_consumer.is_followed(connection, mention_consumer.MENTION_CONSUMER):
        return True, "none kept yet"
    if async_consumer.count_pending(connection, mention_consumer.MENTION_CONSUMER):
        return True, "not compared: some drawers have not been read for names yet"
    sample = _not_set_aside(
        connection, mention_consumer.MENTION_CONSUMER.name, mention_consumer.sample(connection, CLAIMS_SAMPLE)
    )
    expected_rows, stored_rows = (
        mention_consumer.expected(connection, sample),
        mention_rows.of_drawers(connection, sample),
    )
    strays = mention_rows.strays(connection)
    if strays or sorted(expected_rows) != sorted(stored_rows):
        return (
            False,
            f"{strays:,} belong to no live drawer, and the mentions of a sample of {len(sample)} drawers differ",
        )
    return True, _matches(count_noun(mention_rows.count(connection), "mention"), count_noun(len(sample), "drawer"))


def _digests(connection: Connection) -> CheckOutcome:
    """Check that the digests of a sample of sessions match their text."""
    if not async_consumer.is_followed(connection, digest_consumer.DIGEST_CONSUMER):
        return True, "none kept yet"
    if async_consumer.count_pending(connection, digest_consumer.DIGEST_CONSUMER):
        return True, "not compared: some sessions have not been digested yet"
    sample = _spread(
        _not_set_aside(connection, digest_consumer.DIGEST_CONSUMER.name, digest_rows.all_sessions(connection))
    )
    wrong = [
        row for row in sample if digest_consumer.expected(connection, row) != digest_rows.of_source(connection, row)
    ]
    if wrong:
        return False, f"{len(wrong)} of {len(sample)} sessions have a digest that does not match their text"
    return True, _matches(count_noun(digest_rows.count(connection), "line"), count_noun(len(sample), "session"))


def _failures(connection: Connection) -> CheckOutcome:
    """Check that the failures and fixes of a sample of sessions match their text."""
    if not async_consumer.is_followed(connection, fix_consumer.FAILURE_CONSUMER):
        return True, "none kept yet"
    if async_consumer.count_pending(connection, fix_consumer.FAILURE_CONSUMER):
        return True, "not compared: some sessions have not been read yet"
    sample = _spread(
        _not_set_aside(
            connection, fix_consumer.FAILURE_CONSUMER.name, fix_consumer.FAILURE_CONSUMER.everything(connection)
        )
    )
    wrong = [
        row for row in sample if fix_consumer.expected(connection, row) != failure_fixes.of_source(connection, row)
    ]
    if wrong:
        return False, f"{len(wrong)} of {len(sample)} sessions have failures that do not match their text"
    return True, _matches(count_noun(failure_fixes.count(connection), "failure"), count_noun(len(sample), "session"))


def _anchors(connection: Connection) -> CheckOutcome:
    """Check that the stored citations of a sample of sessions and notes match their text."""
    if not async_consumer.is_followed(connection, citation_consumer.ANCHOR_CONSUMER):
        return True, "none kept yet"
    if async_consumer.count_pending(connection, citation_consumer.ANCHOR_CONSUMER):
        return True, "not compared: some sessions and notes have not been read yet"
    sample = _spread(
        _not_set_aside(
            connection, citation_consumer.ANCHOR_CONSUMER.name, citation_consumer.ANCHOR_CONSUMER.everything(connection)
        )
    )
    wrong = [
        row
        for row in sample
        if citation_consumer.expected(connection, row) != citation_consumer.load_citations(connection, row)
    ]
    strays = anchors.strays(connection)
    if wrong or strays:
        return False, (
            f"{strays:,} belong to no live drawer, and {len(wrong)} of {len(sample)} sessions and notes have "
            "citations that do not match their text"
        )
    return True, _matches(count_noun(anchors.count(connection), "citation"), count_noun(len(sample), "source"))


def _set_aside(connection: Connection) -> CheckOutcome:
    """Check that every consumer has processed every text."""
    problems = [
        f"{letter.label}: {activity_of(letter.consumer)} failed ({letter.error})"
        for letter in dead_letters.all_letters(connection)
    ]
    remedy = "; 'palazzo repair' and the next release of Palazzo process them again"
    detail = f"{summarize(problems, _MOST_DEAD_LETTERS)}{remedy}" if problems else "every text was processed"
    return not problems, detail


def _not_set_aside(connection: Connection, consumer: str, things: Sequence[int]) -> list[int]:
    """Return the things that the consumer has not set aside. The others have no derived data."""
    set_aside = dead_letters.things(connection, consumer)
    return [thing for thing in things if thing not in set_aside]


def _spread(things: Sequence[int]) -> Sequence[int]:
    """Return a sample of them, spread over all."""
    return things[:: max(1, len(things) // DIGESTS_SAMPLE)]


def _vectors(connection: Connection) -> CheckOutcome:
    current = current_embedder(connection)
    passages, pending = vector_rows.count_passages(connection), vector_rows.count_pending(connection)
    if current is None:
        return pending == passages, f"none made yet, {pending:,} of {passages:,} pending"
    row, name, dimension = current
    bad = next(
        connection.execute(
            "SELECT count(*) FROM vector WHERE embedder = ? AND (length(body) <> ? OR typeof(scale) <> 'real'"
            " OR scale <= 0 OR scale > 1)",
            (row, dimension),
        )
    )[0]
    missing_count = next(
        connection.execute(
            "SELECT count(*) FROM passage p JOIN drawer d ON d.id = p.drawer WHERE d.retired_at IS NULL"
            " AND NOT EXISTS (SELECT 1 FROM pending WHERE passage = p.id)"
            " AND NOT EXISTS (SELECT 1 FROM vector WHERE embedder = ? AND hash = p.hash)"
            " AND NOT EXISTS (SELECT 1 FROM dead_letter WHERE consumer = 'embed' AND thing = p.drawer)",
            (row,),
        )
    )[0]
    if bad or missing_count:
        return (
            False,
            f"{bad:,} have the wrong shape, {missing_count:,} of {passages:,} passages have no vector and are not "
            "pending",
        )
    have = f"{passages - pending:,} of {passages:,} passages have vectors, {pending:,} pending"
    return True, f"{have} ({dimension} dimensions, {name})"


def _recompute_sample(connection: Connection, embedder: EmbedderFactory) -> CheckOutcome:
    """Check that a sample of vectors matches the embedder's vectors of their texts."""
    current = current_embedder(connection)
    sample = _sample(connection, current[0]) if current is not None else []
    if current is None or not sample:
        return True, "none to compare"
    try:
        model = embedder()
        if model.id != current[1]:
            return True, f"not compared: the settings name {model.id}, but the vectors were made by {current[1]}"
        return _compare_vectors(connection, model, sample)
    except EmbedderUnavailable as error:
        return True, f"not compared: {error}"


def _sample(connection: Connection, embedder: int) -> list[tuple[int, int, int, float, bytes]]:
    """Return a sample of vectors with their texts' positions: (item, start, end, scale, body), spread by hash."""
    samples_by_passage = {}
    for n in range(SAMPLE):
        rows = connection.execute(
            "SELECT p.id, p.item, p.start, p.end, v.scale, v.body FROM vector v JOIN passage p ON p.hash = v.hash"
            " WHERE v.embedder = ? AND v.hash >= ? ORDER BY v.hash LIMIT 1",
            (embedder, bytes([n * 256 // SAMPLE])),
        )
        for passage, item, start, end, scale, body in rows:
            samples_by_passage[passage] = (int(item), int(start), int(end), float(scale), bytes(body))
    return list(samples_by_passage.values())


def _compare_vectors(
    connection: Connection, model: Embedder, sample: list[tuple[int, int, int, float, bytes]]
) -> CheckOutcome:
    import numpy as np

    texts = items.read_texts(connection, (item for item, _, _, _, _ in sample))
    new_vectors = model.embed([texts[item][start:end] for item, start, end, _, _ in sample])
    old_vectors = np.array([np.frombuffer(body, dtype=np.int8) * np.float32(scale) for _, _, _, scale, body in sample])
    lengths = np.maximum(np.linalg.norm(old_vectors, axis=1), 1e-9)
    cosines = (old_vectors * new_vectors).sum(axis=1) / lengths
    wrong = int((cosines < SAME).sum())
    if wrong:
        return (
            False,
            f"{wrong} of {len(sample)} differ from the embedder's result (least cosine {float(cosines.min()):.3f})",
        )
    return True, f"{len(sample)} computed again, all match"
