"""sync-sources: documents that are gone, left out, or only out of reach."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.faces.cli.command import Command

COUNTS = ("scanned", "kept", "ignored", "missing", "unreachable")


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=root, check=True, capture_output=True
    )


def synced(palazzo: Command, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = palazzo.json("sync-sources", *arguments)
    assert found["scanned"] == sum(found[name] for name in COUNTS[1:])
    return found


def states(found: dict[str, Any]) -> dict[str, str]:
    return {one["uri"].rpartition("/")[2]: one["state"] for one in found["documents"]}


@pytest.fixture
def docs(home: Path, palazzo: Command) -> Path:
    """Three documents in two directories of the project, in the palace."""
    docs = home / "shop" / "docs"
    (docs / "more").mkdir()
    (docs / "herons.md").write_text("# Herons\n\nThe heron counts its eggs.\n")
    (docs / "newts.md").write_text("# Newts\n\nThe newt keeps the ledger.\n")
    (docs / "more" / "owls.md").write_text("# Owls\n\nThe owl signs the invoices.\n")
    palazzo.json("mine", "docs")
    return docs


def test_what_is_there_is_kept(palazzo: Command, docs: Path) -> None:
    found = synced(palazzo)
    assert (found["scanned"], found["kept"], found["documents"], found["dry_run"]) == (3, 3, [], True)
    assert found["change"] is None


def test_a_deleted_document_is_only_told_of_until_it_is_asked_for(palazzo: Command, docs: Path) -> None:
    (docs / "herons.md").unlink()
    found = synced(palazzo)
    assert (states(found), found["missing"], found["drawers"]) == ({"herons.md": "missing"}, 1, 1)
    assert len(palazzo.json("search", "heron eggs")["hits"]) == 1
    applied = synced(palazzo, "--apply")
    assert (applied["missing"], applied["dry_run"], bool(applied["change"])) == (1, False, True)
    assert palazzo.json("search", "heron eggs")["hits"] == []
    assert synced(palazzo)["scanned"] == 2
    assert palazzo.json("verify")["ok"]
    assert palazzo.json("undo")["undone"]["id"] == applied["change"]
    assert len(palazzo.json("search", "heron eggs")["hits"]) == 1


def test_a_document_that_comes_back_is_found_when_it_is_mined_again(palazzo: Command, docs: Path) -> None:
    words = (docs / "herons.md").read_text()
    (docs / "herons.md").unlink()
    synced(palazzo, "--apply")
    (docs / "herons.md").write_text(words)
    assert palazzo.json("mine", "docs")["taken_back"] == 1
    assert len(palazzo.json("search", "heron eggs")["hits"]) == 1


def test_what_a_rule_leaves_out_now_is_told_with_the_rule(palazzo: Command, docs: Path) -> None:
    (docs.parent / ".gitignore").write_text("more/\n")
    git(docs.parent, "init", "-q")
    found = synced(palazzo, "docs")
    (one,) = found["documents"]
    assert (one["state"], found["ignored"]) == ("ignored", 1)
    assert ".gitignore" in one["reason"]
    synced(palazzo, "docs", "--apply")
    assert palazzo.json("search", "owl invoices")["hits"] == []


def test_an_unmounted_volume_is_no_deletion(palazzo: Command, docs: Path) -> None:
    shutil.rmtree(docs / "more")
    (docs / "more").mkdir()  # a mount point with nothing on it
    assert states(synced(palazzo, "--apply")) == {"owls.md": "unreachable"}
    assert len(palazzo.json("search", "owl invoices")["hits"]) == 1
    docs.parent.rename(docs.parent.parent / "away")
    os.chdir(docs.parent.parent)
    found = synced(palazzo, str(docs.parent), "--apply")
    assert (found["unreachable"], found["change"]) == (3, None)
    assert palazzo.json("sync-sources", "--wing", "shop", "--apply")["unreachable"] == 3
    assert palazzo.json("status")["drawers"] == 3


def test_a_directory_that_is_gone_from_a_project_that_is_there_is_a_deletion(palazzo: Command, docs: Path) -> None:
    shutil.rmtree(docs / "more")
    assert states(synced(palazzo)) == {"owls.md": "missing"}
    assert states(synced(palazzo, "docs/more")) == {"owls.md": "missing"}
    assert states(synced(palazzo, "docs/more/owls.md")) == {"owls.md": "missing"}


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a directory that may not be looked into")
def test_what_may_not_be_looked_at_is_no_deletion(palazzo: Command, docs: Path) -> None:
    (docs / "more").chmod(0)
    try:
        assert states(synced(palazzo)) == {"owls.md": "unreachable"}
    finally:
        (docs / "more").chmod(0o700)


def test_what_is_on_another_branch_is_no_deletion_until_the_branch_is_gone(palazzo: Command, home: Path) -> None:
    root = home / "pond"
    root.mkdir()
    os.chdir(root)
    git(root, "init", "-q", "-b", "main")
    (root / "newts.md").write_text("# Newts\n\nThe newt keeps the ledger.\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "newts")
    git(root, "checkout", "-qb", "owls")
    (root / "owls.md").write_text("# Owls\n\nThe owl signs the invoices.\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "owls")
    palazzo.json("mine", ".")
    git(root, "checkout", "-q", "main")
    assert states(synced(palazzo)) == {"owls.md": "unreachable"}
    git(root, "branch", "-qD", "owls")
    assert states(synced(palazzo)) == {"owls.md": "missing"}


def test_documents_of_one_wing_are_looked_after_alone(palazzo: Command, docs: Path, home: Path) -> None:
    (home / "shop" / "extra.md").write_text("# Extra\n\nThe toad waits.\n")
    palazzo.json("mine", "extra.md", "--wing", "pond")
    for path in (home / "shop" / "extra.md", docs / "herons.md"):
        path.unlink()
    assert states(synced(palazzo, "--wing", "shop")) == {"herons.md": "missing"}
    assert states(synced(palazzo, ".", "--wing", "pond")) == {"extra.md": "missing"}
    assert palazzo("sync-sources", "--wing", "nothing").code == 2


def test_where_the_palace_holds_no_documents_it_says_so(palazzo: Command, docs: Path, home: Path) -> None:
    ran = palazzo("sync-sources", str(home / "elsewhere"))
    assert (ran.code, "palazzo mine" in ran.error) == (2, True)


def test_a_name_that_is_no_text_is_looked_for_by_its_bytes(palazzo: Command, docs: Path) -> None:
    name = os.fsdecode(b"gr\xfcn 100%.md")
    try:
        (docs / name).write_text("# Green\n\nThe frog is green.\n")
    except OSError:
        pytest.skip("this file system takes names of UTF-8 alone")
    palazzo.json("mine", "docs")
    assert synced(palazzo)["kept"] == 4
    (docs / name).unlink()
    assert synced(palazzo)["missing"] == 1


def test_a_person_is_told_what_to_do(palazzo: Command, docs: Path) -> None:
    (docs / "herons.md").unlink()
    assert "--apply" in palazzo("sync-sources").out
    assert "undo" in palazzo("sync-sources", "--apply").out
