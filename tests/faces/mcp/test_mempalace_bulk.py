"""Tools and arguments that came to MemPalace by 3.11: many drawers, mining, successors of facts, hallways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.faces.mcp.talking import Talk
from tests.faces.mcp.test_mempalace import added, failed, parsed

from palazzo.palace import Palace


@pytest.fixture
def talk(stocked_palace: Palace, tmp_path: Path) -> Talk:
    home = tmp_path / "shop"
    home.mkdir()
    return Talk(stocked_palace, home, profile="mempalace", toolset="core")


def undo(talk: Talk) -> None:
    Talk(talk.palace, talk.cwd, toolset="full").told("undo")


# --- many drawers ------------------------------------------------------------------------------------------


def test_drawers_are_read_in_the_order_of_their_ids(talk: Talk) -> None:
    first, second = added(talk, "Okapis are shy."), added(talk, "Okapis eat leaves.")
    answer = parsed(talk, "get_drawers", drawer_ids=[second, "ffffffff", first, "not an id"])
    assert list(answer) == ["results", "count", "errors"]
    assert (answer["count"], answer["errors"]) == (4, 2)
    rows = answer["results"]
    assert rows[0] == parsed(talk, "get_drawer", drawer_id=second)
    assert rows[2] == parsed(talk, "get_drawer", drawer_id=first)
    for row, drawer_id in ((rows[1], "ffffffff"), (rows[3], "not an id")):
        assert list(row) == ["drawer_id", "error"]
        assert row["drawer_id"] == drawer_id


def test_more_text_than_one_answer_holds_is_left_out_and_counted(talk: Talk) -> None:
    texts = ("\n\n".join(f"Okapi {n}.{m} was seen by the river at dawn." for m in range(150)) for n in range(6))
    ids = [added(talk, text) for text in texts]
    answer = parsed(talk, "get_drawers", drawer_ids=ids)
    assert answer["count"] + answer["left_out"] == 6
    assert answer["count"] == len(answer["results"]) < 6
    assert len(json.dumps(answer)) < 25_000


@pytest.mark.parametrize("tool", ["get_drawers", "delete_drawers"])
def test_no_ids_and_too_many_are_refused(talk: Talk, tool: str) -> None:
    for ids in ([], ["ffffffff"] * 501):
        answer = failed(talk, tool, drawer_ids=ids)
        assert list(answer) == ["error"]
    assert talk.asked == []
    assert talk.error(f"mempalace_{tool}", drawer_ids="ffffffff")[0] == -32602


def test_drawers_are_deleted_in_one_change(talk: Talk) -> None:
    first, second = added(talk, "Okapis are shy."), added(talk, "Okapis eat leaves.")
    answer = parsed(talk, "delete_drawers", drawer_ids=[first, "ffffffff", second, first])
    assert list(answer) == ["results", "count", "deleted", "errors"]
    assert (answer["count"], answer["deleted"], answer["errors"]) == (4, 2, 2)
    rows = answer["results"]
    assert rows[0] == {"drawer_id": first, "deleted_ids": [first], "chunks_deleted": 1, "closets_deleted": 0}
    assert [list(row) for row in (rows[1], rows[3])] == [["drawer_id", "error"]] * 2
    assert parsed(talk, "list_drawers", wing="zoo")["total"] == 0
    undo(talk)
    assert parsed(talk, "list_drawers", wing="zoo")["total"] == 2


def test_deleting_what_is_not_there_changes_nothing(talk: Talk) -> None:
    uid = added(talk)
    answer = parsed(talk, "delete_drawers", drawer_ids=["ffffffff"])
    assert (answer["deleted"], answer["errors"]) == (0, 1)
    undo(talk)  # the last change is still the drawer
    assert failed(talk, "delete_drawer", drawer_id=uid)


def test_a_long_text_is_deleted_whole_among_others(talk: Talk) -> None:
    content = "\n\n".join(f"Okapi number {n} was seen in the forest by the river at dawn." for n in range(400))
    long_note = parsed(talk, "add_drawer", wing="zoo", room="okapis", content=content)
    answer = parsed(talk, "delete_drawers", drawer_ids=[long_note["drawer_id"]])
    assert answer["results"][0]["chunks_deleted"] == long_note["chunks"] > 1
    assert parsed(talk, "list_drawers", wing="zoo")["total"] == 0


# --- sources -----------------------------------------------------------------------------------------------


def mined(talk: Talk, *names: str) -> None:
    for name in names:
        path = talk.cwd / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {path.stem}\n\nThe {path.stem} eats leaves.\n")
    assert parsed(talk, "mine", source=str(talk.cwd))["success"]


def test_a_file_is_deleted_after_a_preview(talk: Talk) -> None:
    mined(talk, "okapi.md", "quagga.md")
    file = str(talk.cwd / "okapi.md")
    preview = parsed(talk, "delete_by_source", source_file=file)
    assert list(preview) == [
        "success", "dry_run", "source_file", "match_count", "closet_match_count", "sample", "hint",
    ]  # fmt: skip
    assert (preview["dry_run"], preview["match_count"]) == (True, 1)
    drawer = parsed(talk, "search", query="what does the okapi eat", source_file=file)["results"][0]
    assert preview["sample"] == [{"wing": drawer["wing"], "room": drawer["room"]}]
    answer = parsed(talk, "delete_by_source", source_file=file, dry_run=False)
    assert answer == {
        "success": True, "dry_run": False, "source_file": file, "deleted": 1, "closets_deleted": 0,
    }  # fmt: skip
    again = parsed(talk, "delete_by_source", source_file=file, dry_run=False)
    assert (again["success"], again["deleted"]) == (True, 0)
    undo(talk)
    assert parsed(talk, "delete_by_source", source_file=file)["match_count"] == 1


def test_a_directory_or_a_session_is_no_file(talk: Talk) -> None:
    mined(talk, "docs/okapi.md")
    for source in (str(talk.cwd), f"{talk.cwd}/", f"{talk.cwd.as_uri()}/", "docs", "docs/"):
        assert parsed(talk, "delete_by_source", source_file=source)["match_count"] == 0
        assert parsed(talk, "delete_by_source", source_file=source, dry_run=False)["deleted"] == 0
    assert parsed(talk, "delete_by_source", source_file="docs/okapi.md")["match_count"] == 1
    assert failed(talk, "delete_by_source", source_file=" ")["success"] is False


# --- mining ------------------------------------------------------------------------------------------------


def test_a_directory_is_mined(talk: Talk) -> None:
    (talk.cwd / "okapi.md").write_text("# Okapi\n\nOkapis eat leaves.\n")
    preview = parsed(talk, "mine", source=str(talk.cwd), dry_run=True)
    assert list(preview) == ["success", "mode", "dry_run", "output"]
    assert (preview["success"], preview["mode"], preview["dry_run"]) == (True, "projects", True)
    assert parsed(talk, "delete_by_source", source_file="okapi.md")["match_count"] == 0
    answer = parsed(talk, "mine", source=str(talk.cwd), wing="zoo")
    assert answer["output"].startswith("Read 1 source: 1 new")
    (hit,) = parsed(talk, "search", query="okapi leaves", wing="zoo", limit=1)["results"]
    assert hit["source_file"] == str(talk.cwd / "okapi.md")


def test_ignored_paths_are_read_when_they_are_named(talk: Talk) -> None:
    (talk.cwd / ".gitignore").write_text("private.md\n")
    for name in ("okapi", "private"):
        (talk.cwd / f"{name}.md").write_text(f"# {name}\n\nThe {name} leaves.\n")
    without = parsed(talk, "mine", source=str(talk.cwd), dry_run=True)["output"]
    answer = parsed(talk, "mine", source=str(talk.cwd), include_ignored=["private.md"], dry_run=True)["output"]
    assert without.startswith("Would read 1 source")
    assert answer.startswith("Would read 2 sources")


def test_a_mine_that_cannot_be_done_says_why(talk: Talk) -> None:
    for arguments in (
        {"source": str(talk.cwd / "nowhere")},
        {"source": " "},
        {"source": str(talk.cwd), "mode": "convos", "include_ignored": ["a"]},
        {"source": str(talk.cwd), "include_ignored": [" "]},
    ):
        answer = failed(talk, "mine", **arguments)
        assert answer["success"] is False
        assert answer["error"].endswith(".")
    assert talk.error("mempalace_mine", source=".", mode="everything")[0] == -32602


# --- successors of facts -----------------------------------------------------------------------------------


def test_a_fact_is_superseded_at_one_moment(talk: Talk) -> None:
    parsed(talk, "kg_add", subject="Ada", predicate="works at", object="Initech", valid_from="2024-01-01")
    answer = parsed(
        talk, "kg_supersede", subject="Ada", predicate="works at", old_object="Initech", new_object="Initrode",
        at="2025-07-01",
    )  # fmt: skip
    assert list(answer) == ["success", "triple_id", "fact", "superseded"]
    assert (answer["fact"], answer["superseded"]) == ("Ada → works at → Initrode", "Initech")
    (fact,) = parsed(talk, "kg_query", entity="Ada", as_of="2025-07-01")["facts"]
    assert (fact["object"], fact["valid_from"]) == ("Initrode", "2025-07-01")
    undo(talk)
    assert parsed(talk, "kg_query", entity="Ada", as_of="2025-07-01")["facts"][0]["object"] == "Initech"


def test_only_a_fact_that_holds_has_a_successor(talk: Talk) -> None:
    answer = failed(
        talk, "kg_supersede", subject="Ada", predicate="works at", old_object="Initech", new_object="Initrode"
    )
    assert list(answer) == ["success", "error"]
    assert parsed(talk, "kg_stats")["triples"] == 0


# --- hallways ----------------------------------------------------------------------------------------------


def test_names_that_drawers_mention_together_are_hallways(talk: Talk) -> None:
    for n, room in enumerate(("okapis", "okapis", "feeding")):
        added(talk, f"Visit {n}: `parse_feed` reads `zoo/okapi_feed.py` again.", room=room)
    added(talk, "`parse_feed` is called by `zoo/main_gate.py`.")
    answer = parsed(talk, "list_hallways", wing="zoo")
    assert list(answer) == ["hallways", "total", "count", "offset", "limit"]
    assert (answer["count"], answer["offset"], answer["limit"]) == (answer["total"], 0, 100)
    pair = next(row for row in answer["hallways"] if {row["entity_a"], row["entity_b"]} == {
        "parse_feed", "zoo/okapi_feed.py",
    })  # fmt: skip
    assert list(pair) == [
        "id", "wing", "entity_a", "entity_b", "co_occurrence_count", "rooms", "label", "created_at", "created_by",
    ]  # fmt: skip
    assert (pair["wing"], pair["co_occurrence_count"], pair["rooms"]) == ("zoo", 3, ["feeding", "okapis"])
    assert not [row for row in answer["hallways"] if "zoo/main_gate.py" in row["label"]]
    assert parsed(talk, "list_hallways", wing="zoo", limit=1, offset=answer["total"])["hallways"] == []
    assert parsed(talk, "list_hallways", wing="nowhere")["total"] == 0
    deletion = parsed(talk, "delete_hallway", hallway_id=pair["id"])
    assert deletion["deleted"] is False
    assert parsed(talk, "list_hallways", wing="zoo") == answer


# --- newer arguments ---------------------------------------------------------------------------------------


def test_arguments_without_an_effect_are_accepted_and_named(talk: Talk) -> None:
    for tool, needed, ignored in (
        ("search", {"query": "zebra"}, {"candidate_strategy": "union", "include_media": True, "query_task": "code"}),
        ("checkpoint", {"items": []}, {"dedup_threshold": 0.8}),
        ("mine", {"source": str(talk.cwd)}, {"agent": "ada", "limit": 3, "include_subagents": True}),
    ):
        for name, value in ignored.items():
            more = {"diary": {"entry": f"About {name}."}} if tool == "checkpoint" else {}
            answer: dict[str, Any] = parsed_with_remarks(talk, tool, **needed, **more, **{name: value})
            assert answer["remarks"] == [f"'{name}' has no effect here."]


def parsed_with_remarks(talk: Talk, tool: str, **arguments: Any) -> dict[str, Any]:
    result = talk.call(f"mempalace_{tool}", **arguments)
    assert not result["isError"], result
    answer: dict[str, Any] = json.loads(result["content"][0]["text"])
    return answer


def test_a_search_for_the_command_line_returns_what_it_prints(talk: Talk) -> None:
    query = "zebra retries were decided by the web team"
    answer = parsed_with_remarks(talk, "search", query=query, wing="web", cli_compatible=True)
    assert list(answer) == ["query", "cli_output"]
    assert f'  Results for: "{query}"\n  Wing: web\n' in answer["cli_output"]
    assert "  [1] web / login\n" in answer["cli_output"]
    assert f"\n      {query}\n" in answer["cli_output"]
    assert "cosine_sim=" in answer["cli_output"]
    assert "context" in failed(talk, "search", query=query, context="why", cli_compatible=True)["error"]


def test_a_fact_cites_its_drawer_and_names_its_file(talk: Talk) -> None:
    uid = added(talk)
    parsed(talk, "kg_add", subject="okapi", predicate="is", object="shy", source_drawer_id=uid, source_file="zoo.md")
    with talk.palace.database.snapshot() as connection:
        ((stated_by, drawer),) = connection.execute(
            "SELECT stated_by, hex(d.uid) FROM fact_source f JOIN item i ON i.uid = f.item_uid"
            " JOIN drawer_span s ON s.item = i.id JOIN drawer d ON d.id = s.drawer"
        )
    assert (stated_by, drawer.lower()) == ("zoo.md", uid)
    unknown = failed(talk, "kg_add", subject="okapi", predicate="eats", object="x", source_drawer_id="ffffffff")
    assert unknown["success"] is False


def test_the_author_of_a_checkpoint_is_the_one_that_it_names(talk: Talk) -> None:
    items = [{"wing": "zoo", "room": "okapis", "content": "Okapis are shy."}]
    diary = {"agent_name": "ada", "content": "Watched okapis.", "wing": "zoo"}
    answer = parsed(talk, "checkpoint", items=items, diary=diary, added_by="kim")
    (note,) = answer["added"]
    assert parsed(talk, "get_drawer", drawer_id=note["drawer_id"])["metadata"]["added_by"] == "kim"
    (entry,) = parsed(talk, "diary_read", agent_name="ada", wing="zoo")["entries"]
    assert entry["content"] == "Watched okapis."
