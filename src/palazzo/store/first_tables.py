"""The initial tables of a palace: what `m001_first` creates. Never edited: later tables are in `schema`."""

from __future__ import annotations

TRUTH = [
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE device(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, name TEXT, created_at INTEGER)",
    # `first_…` is how a wing or a room came to be, and stays. The rest is how it is called and where it stands now, as
    # `arrangement` tells: of one that was merged into another (`merged_into`), what that one is called.
    "CREATE TABLE wing(id INTEGER PRIMARY KEY, first_name TEXT NOT NULL, name TEXT NOT NULL,"
    " merged_into INTEGER REFERENCES wing)",
    "CREATE UNIQUE INDEX wing_name ON wing(name) WHERE merged_into IS NULL",
    "CREATE INDEX wing_first ON wing(first_name)",
    "CREATE TABLE room(id INTEGER PRIMARY KEY, first_wing INTEGER NOT NULL REFERENCES wing, first_name TEXT NOT NULL,"
    " wing INTEGER NOT NULL REFERENCES wing, name TEXT NOT NULL, merged_into INTEGER REFERENCES room)",
    "CREATE UNIQUE INDEX room_place ON room(wing, name) WHERE merged_into IS NULL",
    "CREATE INDEX room_first ON room(first_wing, first_name)",
    "CREATE INDEX room_name ON room(name)",
    "CREATE INDEX room_merged ON room(merged_into) WHERE merged_into IS NOT NULL",
    # `roots` are local directories that were seen to hold the project, newest first, as a JSON list.
    "CREATE TABLE project(id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, wing INTEGER NOT NULL"
    " REFERENCES wing, roots TEXT NOT NULL DEFAULT '[]')",
    "CREATE TABLE source(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, kind TEXT NOT NULL, key TEXT NOT NULL,"
    " uri TEXT NOT NULL, session_id TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '',"
    " project TEXT NOT NULL DEFAULT '')",
    "CREATE INDEX source_session ON source(session_id) WHERE session_id <> ''",
    # Raw bytes of neighbouring rows are compressed together: alone, rows of a kilobyte hardly compress.
    # `layout` says what a pack is put together from where that is not its own bytes alone (`store/packs`).
    "CREATE TABLE pack(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, layout BLOB,"
    " body BLOB NOT NULL)",
    "CREATE TABLE pack_reference(base INTEGER NOT NULL REFERENCES pack, pack INTEGER NOT NULL REFERENCES pack,"
    " PRIMARY KEY(base, pack)) WITHOUT ROWID",
    "CREATE TABLE landmark(key INTEGER PRIMARY KEY, pack INTEGER NOT NULL REFERENCES pack, start INTEGER NOT NULL)",
    "CREATE TABLE item(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, source INTEGER NOT NULL REFERENCES source,"
    " kind TEXT NOT NULL, role TEXT NOT NULL, standing TEXT NOT NULL, author TEXT NOT NULL, thread TEXT NOT NULL,"
    " ordinal INTEGER NOT NULL, created_at INTEGER NOT NULL, recorded_at INTEGER NOT NULL, trust TEXT NOT NULL,"
    " branch TEXT NOT NULL, commit_id TEXT NOT NULL, room INTEGER NOT NULL REFERENCES room, parts TEXT NOT NULL,"
    " meta TEXT NOT NULL, decoder INTEGER NOT NULL, pack INTEGER REFERENCES pack, raw_start INTEGER,"
    " raw_size INTEGER, salt BLOB, text BLOB NOT NULL, text_codec INTEGER NOT NULL)",
    "CREATE INDEX item_order ON item(source, thread, ordinal)",
    # A row that a source repeats to the byte (a resumed session, two files of one conversation).
    "CREATE TABLE repetition(source INTEGER NOT NULL REFERENCES source, ordinal INTEGER NOT NULL,"
    " item INTEGER NOT NULL REFERENCES item, PRIMARY KEY(source, ordinal, item)) WITHOUT ROWID",
    # Which version of a document was current from when on.
    "CREATE TABLE revision(id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source,"
    " item INTEGER NOT NULL REFERENCES item, at INTEGER NOT NULL)",
    "CREATE INDEX revision_source ON revision(source, id)",
    "CREATE TABLE link(device INTEGER NOT NULL REFERENCES device, seq INTEGER NOT NULL, item_uid BLOB NOT NULL,"
    " digest BLOB NOT NULL, hash BLOB NOT NULL, absent TEXT, PRIMARY KEY(device, seq)) WITHOUT ROWID",
    "CREATE TABLE act(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, kind TEXT NOT NULL, actor TEXT NOT NULL,"
    " at INTEGER NOT NULL, detail TEXT NOT NULL, grp INTEGER REFERENCES change_group)",
    # What one command did, so that it can be taken back; `undoes` says of an undoing what it took back.
    "CREATE TABLE change_group(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, actor TEXT NOT NULL,"
    " at INTEGER NOT NULL, verb TEXT NOT NULL, size INTEGER NOT NULL DEFAULT 0,"
    " summary TEXT NOT NULL, undoes INTEGER UNIQUE REFERENCES change_group)",
    "CREATE TABLE group_member(grp INTEGER NOT NULL REFERENCES change_group, n INTEGER NOT NULL, kind TEXT NOT NULL,"
    " ref INTEGER NOT NULL, PRIMARY KEY(grp, n)) WITHOUT ROWID",
    # `n` counts an act's spans in the order of the drawers they were: a forgotten drawer reads as it did.
    "CREATE TABLE act_span(act INTEGER NOT NULL REFERENCES act, n INTEGER NOT NULL, item_uid BLOB NOT NULL,"
    " start INTEGER NOT NULL, end INTEGER NOT NULL, drawer_uid BLOB NOT NULL, PRIMARY KEY(act, n)) WITHOUT ROWID",
    "CREATE INDEX act_span_item ON act_span(item_uid)",
]

# Facts are only added to. What changes retires one version and records the next, so that what was believed at any
# moment can be asked for; what holds at a moment is said by `valid_from` and `valid_to` (half-open; NULL: not known).
FACTS = [
    # Every subject and object. A name keeps its spelling; `folded` finds it in another.
    "CREATE TABLE entity(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE,"
    " folded TEXT NOT NULL, recorded_at INTEGER NOT NULL)",
    "CREATE INDEX entity_folded ON entity(folded)",
    # `alias`: the name `name` means `entity`. `merge`: the entity `other` is `entity`.
    "CREATE TABLE entity_link(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, kind TEXT NOT NULL,"
    " entity INTEGER NOT NULL REFERENCES entity, name TEXT NOT NULL, folded TEXT NOT NULL,"
    " other INTEGER REFERENCES entity, recorded_at INTEGER NOT NULL, retired_at INTEGER)",
    "CREATE UNIQUE INDEX entity_link_merged ON entity_link(other) WHERE kind = 'merge' AND retired_at IS NULL",
    "CREATE UNIQUE INDEX entity_link_alias ON entity_link(name) WHERE kind = 'alias' AND retired_at IS NULL",
    "CREATE INDEX entity_link_entity ON entity_link(entity)",
    "CREATE INDEX entity_link_folded ON entity_link(folded)",
    "CREATE TABLE predicate(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, folded TEXT NOT NULL)",
    "CREATE INDEX predicate_folded ON predicate(folded)",
    # What was declared of a predicate; the last that is not retired counts.
    "CREATE TABLE predicate_rule(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE,"
    " predicate INTEGER NOT NULL REFERENCES predicate, functional INTEGER NOT NULL, recorded_at INTEGER NOT NULL,"
    " retired_at INTEGER)",
    "CREATE INDEX predicate_rule_predicate ON predicate_rule(predicate)",
    "CREATE TABLE fact(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, subject INTEGER NOT NULL REFERENCES entity,"
    " predicate INTEGER NOT NULL REFERENCES predicate, object INTEGER NOT NULL REFERENCES entity,"
    " wing INTEGER REFERENCES wing)",
    "CREATE INDEX fact_subject ON fact(subject, predicate)",
    "CREATE INDEX fact_object ON fact(object)",
    "CREATE INDEX fact_predicate ON fact(predicate)",
    "CREATE TABLE fact_version(id INTEGER PRIMARY KEY, fact INTEGER NOT NULL REFERENCES fact, valid_from INTEGER,"
    " valid_to INTEGER, confidence REAL NOT NULL, superseded_by INTEGER REFERENCES fact,"
    " recorded_at INTEGER NOT NULL, retired_at INTEGER, CHECK(valid_from < valid_to))",
    "CREATE INDEX fact_version_fact ON fact_version(fact)",
    "CREATE UNIQUE INDEX fact_version_live ON fact_version(fact) WHERE retired_at IS NULL",
    "CREATE INDEX fact_version_retired ON fact_version(retired_at) WHERE retired_at IS NOT NULL",
    # Who stated it, and where that is written; without `item_uid` nowhere but here.
    "CREATE TABLE fact_source(version INTEGER NOT NULL REFERENCES fact_version, n INTEGER NOT NULL,"
    " stated_by TEXT NOT NULL, item_uid BLOB, start INTEGER, end INTEGER, PRIMARY KEY(version, n)) WITHOUT ROWID",
    "CREATE INDEX fact_source_item ON fact_source(item_uid) WHERE item_uid IS NOT NULL",
    # Two that cannot both hold: of each side the fact, or the stretch of an item that says it.
    "CREATE TABLE conflict(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, kind TEXT NOT NULL,"
    " earlier_fact INTEGER REFERENCES fact, earlier_item BLOB, earlier_start INTEGER, earlier_end INTEGER,"
    " later_fact INTEGER REFERENCES fact, later_item BLOB, later_start INTEGER, later_end INTEGER,"
    " found_at INTEGER NOT NULL, dismissed_at INTEGER)",
    "CREATE INDEX conflict_earlier ON conflict(earlier_fact) WHERE earlier_fact IS NOT NULL",
    "CREATE INDEX conflict_later ON conflict(later_fact) WHERE later_fact IS NOT NULL",
]

# A to-do or a reminder is a note with a state; one of which none is recorded is open. Words are in the note alone.
TASKS = [
    "CREATE TABLE task(id INTEGER PRIMARY KEY, item INTEGER NOT NULL UNIQUE REFERENCES item, kind TEXT NOT NULL,"
    " due_at INTEGER)",
    "CREATE TABLE task_state(id INTEGER PRIMARY KEY, task INTEGER NOT NULL REFERENCES task, state TEXT NOT NULL,"
    " recorded_at INTEGER NOT NULL, retired_at INTEGER)",
    "CREATE INDEX task_state_task ON task_state(task)",
    "CREATE UNIQUE INDEX task_state_live ON task_state(task) WHERE retired_at IS NULL",
]

# How wings and rooms were named and put together (`store/arrangements`), and the tunnels between them.
STRUCTURE = [
    # Of a wing where `room` is NULL. `name`: it is called `name` (a room: in the wing `target`). `move`: the room,
    # called `name`, stands in the wing `target`. `merge`: it is a part of the wing or room `target`.
    "CREATE TABLE arrangement(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, kind TEXT NOT NULL,"
    " wing INTEGER REFERENCES wing, room INTEGER REFERENCES room, name TEXT NOT NULL, target INTEGER,"
    " recorded_at INTEGER NOT NULL, retired_at INTEGER, CHECK((wing IS NULL) <> (room IS NULL)))",
    "CREATE INDEX arrangement_name ON arrangement(name)",
    "CREATE TABLE tunnel(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, source INTEGER NOT NULL REFERENCES room,"
    " target INTEGER NOT NULL REFERENCES room, label TEXT NOT NULL, actor TEXT NOT NULL,"
    " recorded_at INTEGER NOT NULL, retired_at INTEGER)",
    "CREATE INDEX tunnel_source ON tunnel(source)",
    "CREATE INDEX tunnel_target ON tunnel(target)",
    # What a tunnel leads to on each side, where that is more than the room.
    "CREATE TABLE tunnel_drawer(tunnel INTEGER NOT NULL REFERENCES tunnel, side TEXT NOT NULL, n INTEGER NOT NULL,"
    " drawer_uid BLOB NOT NULL, PRIMARY KEY(tunnel, side, n)) WITHOUT ROWID",
]

# What was erased is known by keyed hashes alone (`store/tombstones`).
ERASURES = [
    "CREATE TABLE erasure(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, at INTEGER NOT NULL,"
    " finished_at INTEGER, certificate TEXT NOT NULL)",
    "CREATE TABLE erased_item(item_uid BLOB PRIMARY KEY, erasure INTEGER NOT NULL REFERENCES erasure) WITHOUT ROWID",
    "CREATE TABLE tombstone(id INTEGER PRIMARY KEY, erasure INTEGER NOT NULL REFERENCES erasure,"
    " size INTEGER NOT NULL, standing INTEGER NOT NULL, head INTEGER NOT NULL, tail INTEGER NOT NULL,"
    " hash BLOB NOT NULL, UNIQUE(hash, standing))",
]

PROGRESS_TABLES = [
    "CREATE TABLE change(seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, ref INTEGER NOT NULL)",
    "CREATE TABLE cursor(consumer TEXT PRIMARY KEY, version INTEGER NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID",
    # What mining remembers of a file, so that an unchanged one costs a stat and a grown one its tail.
    "CREATE TABLE file_state(uri TEXT PRIMARY KEY, source INTEGER REFERENCES source, feeder TEXT NOT NULL,"
    " version INTEGER NOT NULL, inode INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,"
    " consumed INTEGER NOT NULL, tail BLOB NOT NULL, content BLOB NOT NULL) WITHOUT ROWID",
]

DRAWER_TABLES = [
    "CREATE TABLE drawer(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, kind TEXT NOT NULL,"
    " source INTEGER NOT NULL, thread TEXT NOT NULL, ordinal INTEGER NOT NULL, turn INTEGER NOT NULL,"
    " room INTEGER NOT NULL, role TEXT NOT NULL, author TEXT NOT NULL, title TEXT NOT NULL,"
    " created_at INTEGER NOT NULL, recorded_at INTEGER NOT NULL, retired_at INTEGER, retired_why TEXT,"
    " trust TEXT NOT NULL, branch TEXT NOT NULL, commit_id TEXT NOT NULL, locator TEXT NOT NULL,"
    " size INTEGER NOT NULL, marks INTEGER NOT NULL)",
    "CREATE INDEX drawer_order ON drawer(source, thread, ordinal)",
    "CREATE INDEX drawer_author ON drawer(author) WHERE author <> ''",
    "CREATE INDEX drawer_room ON drawer(room)",
    "CREATE INDEX drawer_diary ON drawer(author, created_at) WHERE kind = 'diary'",
    "CREATE TABLE drawer_span(drawer INTEGER NOT NULL, n INTEGER NOT NULL, item INTEGER NOT NULL,"
    " start INTEGER NOT NULL, end INTEGER NOT NULL, PRIMARY KEY(drawer, n)) WITHOUT ROWID",
    "CREATE INDEX drawer_span_item ON drawer_span(item)",
    "CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE drawer_tag(drawer INTEGER NOT NULL, tag INTEGER NOT NULL, PRIMARY KEY(drawer, tag)) WITHOUT ROWID",
    # What gets a vector: a message or a chunk of one, inside a drawer. The vector belongs to the text's hash.
    "CREATE TABLE passage(id INTEGER PRIMARY KEY, drawer INTEGER NOT NULL, item INTEGER NOT NULL,"
    " start INTEGER NOT NULL, end INTEGER NOT NULL, hash BLOB NOT NULL)",
    "CREATE INDEX passage_drawer ON passage(drawer)",
    "CREATE INDEX passage_hash ON passage(hash)",
    "CREATE TABLE pending(passage INTEGER PRIMARY KEY)",
    "CREATE TABLE embedder(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL)",
    "CREATE TABLE vector(embedder INTEGER NOT NULL, hash BLOB NOT NULL, scale REAL NOT NULL, body BLOB NOT NULL,"
    " PRIMARY KEY(embedder, hash)) WITHOUT ROWID",
    "CREATE VIRTUAL TABLE keyword USING fts5(body, context, scope, content='', contentless_delete=1,"
    " tokenize='porter unicode61 remove_diacritics 2')",
    "INSERT INTO keyword(keyword, rank) VALUES('secure-delete', 1)",
    "CREATE VIRTUAL TABLE keyword_vocabulary USING fts5vocab(keyword, 'row')",
]

# What a session was told when it woke up, so that it is told the same again (`store/wake_blocks`). `asked` is by what.
WAKE_BLOCKS = [
    "CREATE TABLE wake_block(session TEXT NOT NULL, epoch INTEGER NOT NULL, asked TEXT NOT NULL, told TEXT NOT NULL,"
    " at INTEGER NOT NULL, PRIMARY KEY(session, epoch, asked)) WITHOUT ROWID",
]

PAST = [
    # How drawers stood before (`store/drawer_history`). `until` is NULL where a state has lasted since `since`.
    "CREATE TABLE past(id INTEGER PRIMARY KEY, drawer INTEGER NOT NULL, since INTEGER NOT NULL, until INTEGER,"
    " room INTEGER NOT NULL, tags TEXT NOT NULL)",
    "CREATE INDEX past_drawer ON past(drawer)",
    "CREATE VIRTUAL TABLE keyword_retired USING fts5(body, context, scope, content='', contentless_delete=1,"
    " tokenize='porter unicode61 remove_diacritics 2')",
    "INSERT INTO keyword_retired(keyword_retired, rank) VALUES('secure-delete', 1)",
    "CREATE VIRTUAL TABLE keyword_retired_vocabulary USING fts5vocab(keyword_retired, 'row')",
]

MENTIONS = [
    # What drawers mention (`derived/mention_consumer`): each name, folded, once in a drawer, at its first place.
    "CREATE TABLE mention(id INTEGER PRIMARY KEY, drawer INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,"
    " item INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL)",
    "CREATE INDEX mention_drawer ON mention(drawer)",
    "CREATE INDEX mention_name ON mention(name, kind)",
    # The digests of sessions (`derived/digest_consumer`), as places: `about` is what a short answer answers to.
    "CREATE TABLE digest_line(source INTEGER NOT NULL, n INTEGER NOT NULL, kind TEXT NOT NULL, item INTEGER NOT NULL,"
    " start INTEGER NOT NULL, end INTEGER NOT NULL, about_item INTEGER, about_start INTEGER, about_end INTEGER,"
    " said_at INTEGER NOT NULL, PRIMARY KEY(source, n)) WITHOUT ROWID",
    "CREATE INDEX digest_line_kind ON digest_line(kind, said_at)",
    "CREATE INDEX digest_line_item ON digest_line(item)",
]

CLAIMS = [
    # What drawers claim (`derived/claim_consumer`). `predicate` is empty if a claim makes no fact; `old` is what one
    # says held before.
    "CREATE TABLE claim(id INTEGER PRIMARY KEY, drawer INTEGER NOT NULL, item INTEGER NOT NULL, start INTEGER NOT NULL,"
    " end INTEGER NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL,"
    " old TEXT NOT NULL, value TEXT NOT NULL, said_at INTEGER NOT NULL)",
    "CREATE INDEX claim_drawer ON claim(drawer)",
    "CREATE INDEX claim_place ON claim(item, start)",
    "CREATE INDEX claim_changed ON claim(drawer) WHERE old <> ''",
    # Suggested facts that nobody wants; `uid` is a keyed hash of what they say.
    "CREATE TABLE unwanted_fact(id INTEGER PRIMARY KEY, uid BLOB NOT NULL, at INTEGER NOT NULL, retired_at INTEGER)",
    "CREATE INDEX unwanted_fact_uid ON unwanted_fact(uid)",
    "CREATE INDEX conflict_earlier_item ON conflict(earlier_item) WHERE earlier_item IS NOT NULL",
]

INITIAL_TABLES = (
    *TRUTH,
    *STRUCTURE,
    *ERASURES,
    *FACTS,
    *TASKS,
    *PROGRESS_TABLES,
    *DRAWER_TABLES,
    *PAST,
    *CLAIMS,
    *MENTIONS,
    *WAKE_BLOCKS,
)
"""All tables, in order."""
