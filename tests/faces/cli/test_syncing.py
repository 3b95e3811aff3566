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


def test_what_could_not_be_pulled_fails_and_stays_in_the_status(palazzo: Command, tmp_path: Path) -> None:
    remote = tmp_path / "there"
    remote.mkdir()
    palazzo("remember", "The vault opens at seven.", "--wing", "shop")
    palazzo("sync", "init", str(remote), "--save-key", "key")
    palazzo("sync", "now")
    (segment,) = remote.rglob("*.seg")
    whole = segment.read_bytes()
    segment.write_bytes(whole[: len(whole) // 2])
    other = ("--palace", "other.db")
    palazzo("sync", "init", str(remote), "--key", "key", *other)
    palazzo("remember", "The walrus sleeps.", *other)
    for command in (("sync", "pull"), ("sync", "now")):
        pulled = palazzo(*command, *other)
        assert (pulled.code, "1 device could not be read" in pulled.out) == (1, True)
        assert "nothing new\n" not in pulled.out.partition("\n")[0]
        assert "is damaged or incomplete" in pulled.out
    for _ in range(2):
        status = palazzo("sync", "status", *other).out
        assert "failed 20" in status
        assert "is damaged or incomplete" in status
        palazzo("sync", "push", *other)  # what is unread stays unread
    assert "is damaged or incomplete" in palazzo("doctor", "--json", *other).out
    segment.write_bytes(whole)
    assert palazzo("sync", "now", *other).code == 0
    assert "failed" not in palazzo("sync", "status", *other).out
    assert "The vault opens" in palazzo("search", "vault", *other).out
