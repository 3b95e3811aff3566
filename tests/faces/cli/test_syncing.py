"""What `palazzo sync` prints."""

from __future__ import annotations

from pathlib import Path

from tests.faces.cli.command import Command


def test_a_dry_run_says_would_and_a_status_fits_a_terminal(palazzo: Command, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    palazzo("remember", "The vault opens at seven.", "--wing", "shop")
    palazzo("sync", "init", str(tmp_path / "there"), "--name", "t")
    palazzo("sync", "now")
    palazzo("erase", "--match", "seven", "--even-most", "--yes")
    told = palazzo("sync", "push", "--dry-run").out
    assert "All would be pushed again, and the present content there removed." in told
    lines = palazzo("sync", "status").out.splitlines()
    assert any(line.strip().startswith("pushed 2") for line in lines)
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)


def test_a_wing_that_was_merged_while_private_is_listed_and_let_go_by_either_name(palazzo: Command) -> None:
    for freed in ("own", "shop"):
        palazzo("remember", "The walrus sleeps.", "--wing", "own", "--room", "notes")
        palazzo("remember", "The shop opens at seven.", "--wing", "shop", "--room", "notes")
        palazzo("sync", "private", "own")
        assert "From now on, nothing of 'shop' is synced" in palazzo("wing", "merge", "own", "shop").out
        told = palazzo("sync", "private").out
        assert "now a part of 'shop'" in told
        assert "No wing is private" not in told
        assert palazzo.json("sync", "status")["merged_private"] == [{"wing": "own", "into": "shop"}]
        assert "No wing is private" in palazzo("sync", "private", "--public", freed).out
        palazzo("undo")


def test_of_several_private_wings_in_one_the_one_to_let_go_is_named(palazzo: Command) -> None:
    for wing in ("own", "diary", "shop"):
        palazzo("remember", f"Said in {wing}.", "--wing", wing)
    palazzo("sync", "private", "own", "diary")
    palazzo("wing", "merge", "own", "shop")
    palazzo("wing", "merge", "diary", "shop")
    assert "'diary', 'own'; name the one" in palazzo("sync", "private", "--public", "shop").error
    palazzo("sync", "private", "--public", "own")
    assert palazzo.json("sync", "private")["merged"] == [{"wing": "diary", "into": "shop"}]


def test_a_status_counts_what_a_push_would_bring(palazzo: Command, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    palazzo("remember", "The vault opens at seven.", "--wing", "shop")
    palazzo("remember", "The walrus sleeps.", "--wing", "own")
    palazzo("sync", "private", "own")
    palazzo("sync", "init", str(tmp_path / "there"))
    for change, items in (
        (("kg", "add", "shop", "opens_in", "Rome"), 1),
        (("kg", "end", "shop", "opens_in", "Rome"), 0),
        (("sync", "private", "--public", "own"), 1),
    ):
        palazzo(*change)
        (status,) = palazzo.json("sync", "status")["remotes"]
        (would,) = palazzo.json("sync", "push", "--dry-run")["remotes"]
        brought = would["records"]
        assert (status["waiting"], status["waiting"] * 2 + status["other_news"]) == (items, sum(brought.values()))
        assert status["other_news"] > 0
        palazzo("sync", "push")
    assert "  0 items to push" in palazzo("sync", "status").out
    palazzo("kg", "add", "shop", "sells", "books")
    assert "other records to push" in palazzo("sync", "status").out
