"""Profile shodh: memories go into a file and come out of one, as its tools have it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faces.mcp.talking import Talk
from tests.faces.mcp.test_shodh import told
from tests.sync.stores import samples

from palazzo.features.sync.contract import SyncInitRequest
from palazzo.features.sync.sync_init import sync_init
from palazzo.operations.context import Context
from palazzo.palace import Palace


@pytest.fixture
def talk(stocked_palace: Palace, palace_path: Path, tmp_path: Path) -> Talk:
    home = tmp_path / "shop"
    home.mkdir()
    variables = {"PALAZZO_PALACE": str(palace_path)}  # a dry run asks whether there is one
    return Talk(stocked_palace, home, profile="shodh", toolset="core", variables=variables)


def test_export_says_how_many_memories_it_wrote_and_where(talk: Talk, tmp_path: Path) -> None:
    path = tmp_path / "shop" / "memories.jsonl"
    found = told(talk, "export", path="memories.jsonl")
    assert found["path"] == str(path)
    assert found["written"] == path.read_text(encoding="utf-8").count('"kind":"drawer"') > 0


def test_import_memories_adds_what_is_new_and_skips_what_is_here(talk: Talk, tmp_path: Path) -> None:
    path = str(samples.shodh(tmp_path / "shop"))
    seen = told(talk, "import_memories", path=path, dry_run=True)
    assert (seen["dry_run"], seen["from"], seen["added"], seen["skipped"]) == (True, "shodh", 6, 0)
    first = told(talk, "import_memories", path=path)
    assert (first["added"], first["skipped"], first["left_out"][0]["what"]) == (6, 0, "relationships")
    again = told(talk, "import_memories", path=path)
    assert (again["added"], again["skipped"]) == (0, 6)
    assert trusts_of(talk, "shodh") == [("external",)]  # the agent cannot know whose file it is


def test_a_person_imports_an_export_of_a_palace_and_an_agent_looks_into_it(talk: Talk) -> None:
    told(talk, "export", path="memories.jsonl")
    seen = told(talk, "import_memories", path="memories.jsonl", dry_run=True)
    assert seen["skipped"] > 0, seen
    refused = talk.call("import_memories", path="memories.jsonl")
    assert refused["isError"]
    assert "palazzo import" in refused["content"][0]["text"]


@pytest.mark.parametrize("path", ["missing.json", "/dev/null", "../shop", "\x00"])
def test_what_is_no_store_is_refused_in_a_sentence(path: str, talk: Talk) -> None:
    refused = talk.call("import_memories", path=path)
    assert refused["isError"]
    assert "bug" not in refused["content"][0]["text"].lower()


def trusts_of(talk: Talk, store: str) -> list[tuple[str]]:
    with talk.palace.database.snapshot() as connection:
        rows = connection.execute(
            "SELECT DISTINCT trust FROM item JOIN source ON source.id = item.source WHERE uri LIKE ?", (f"{store}:%",)
        )
        return [(str(trust),) for (trust,) in rows]


def test_a_file_that_an_agent_imports_speaks_neither_for_the_person_nor_for_an_agent(
    talk: Talk, tmp_path: Path
) -> None:
    """Else an agent could write a file that speaks for the person, or be told to import a stranger's."""
    told(talk, "import_memories", path=str(samples.claude_mem(tmp_path / "shop")))
    assert trusts_of(talk, "claude-mem") == [("external",)]


def test_memories_are_synced_and_it_says_how_many(talk: Talk, tmp_path: Path) -> None:
    remote = tmp_path / "remote"
    remote.mkdir()
    with Context(talk.palace.database.path, talk.cwd, {"HOME": str(tmp_path)}) as context:
        sync_init(context, SyncInitRequest(str(remote)))
    assert told(talk, "sync_status")["last"] == ""
    assert told(talk, "sync_push")["pushed"] > 3
    assert told(talk, "sync", **{"from": "default"}) == {"pushed": 0, "pulled": 0, "conflicts": []}
    assert told(talk, "sync_pull")["pulled"] == 0
    assert told(talk, "sync_status")["to_push"] == 0
