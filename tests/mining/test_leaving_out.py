"""What a rule leaves out that was mined before: retired by mining, kept in the archive, taken back with the rule."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.derived.state import complaints, drawers

from palazzo.derived import integrity_checks
from palazzo.index.query import Query
from palazzo.palace import Palace
from palazzo.sources.discovery import Mode
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "acme"
    write(root / "guide.md", "# Guide\n\nThe gate opens at dawn.\n")
    write(root / "drafts" / "idea.md", "# Idea\n\nA heron keeps the ledger.\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def mined(palace: Palace, top: Path, exclude: tuple[str, ...] = (), mode: Mode = "docs") -> tuple[int, int]:
    """Mine; return how many documents were left out, and how many taken back."""
    report = mine(palace.database, palace.clock, MineRequest((top,), mode, exclude=exclude))
    return report.left_out, report.taken_back


def titles(palace: Palace) -> set[str]:
    return {drawer.title for drawer in drawers(palace) if drawer.title in ("Guide", "Idea", "Idea, again")}


def test_a_document_that_is_ignored_from_now_on_is_retired_and_still_resolves(palace: Palace, project: Path) -> None:
    mined(palace, project)
    (idea,) = [drawer for drawer in drawers(palace) if drawer.title == "Idea"]
    write(project / ".gitignore", "drafts/\n")
    assert mined(palace, project) == (1, 0)
    assert titles(palace) == {"Guide"}
    assert palace.search(Query("heron ledger")).hits == []
    retired = palace.drawer(idea.id)
    assert retired.retired_at is not None
    assert "heron" in retired.text
    assert complaints(palace) == []


def test_it_is_retired_once_and_back_when_the_rule_is_gone(palace: Palace, project: Path) -> None:
    mined(palace, project)
    before = {drawer.id for drawer in drawers(palace)}
    ignore = write(project / ".palazzoignore", "drafts\n")
    assert [mined(palace, project), mined(palace, project)] == [(1, 0), (0, 0)]
    ignore.unlink()
    assert [mined(palace, project), mined(palace, project)] == [(0, 1), (0, 0)]
    assert {drawer.id for drawer in drawers(palace)} == before
    assert [hit.drawer.title for hit in palace.search(Query("heron ledger")).hits] == ["Idea"]


@pytest.mark.parametrize(
    "config",
    ['[mine]\nexclude = ["drafts/**"]\n', '[mine]\ninclude = ["/*.md"]\n'],
    ids=["exclude", "include"],
)
def test_the_projects_own_file_leaves_out(palace: Palace, project: Path, config: str) -> None:
    mined(palace, project)
    write(project / "palazzo.toml", config)
    assert mined(palace, project)[0] == 1
    assert titles(palace) == {"Guide"}


def test_a_stated_policy_leaves_out_code_that_an_earlier_one_took(palace: Palace, project: Path) -> None:
    write(project / "dawn.py", "def gate() -> str:\n    return 'heron'\n")
    mined(palace, project, mode="all")
    assert mined(palace, project) == (0, 0)
    assert any("gate()" in drawer.text for drawer in drawers(palace))
    write(project / "palazzo.toml", '[mine]\npolicy = "docs"\n')
    assert mined(palace, project) == (1, 0)
    assert not any("gate()" in drawer.text for drawer in drawers(palace))


@pytest.mark.parametrize("mode", ["auto", "docs"])
@pytest.mark.parametrize("name", ["dawn.py", "page.html"])
def test_code_that_was_read_once_is_kept_up_to_date(palace: Palace, project: Path, mode: Mode, name: str) -> None:
    code = write(project / name, "<p>the heron keeps the gate</p>\n")
    mined(palace, project, mode="all")
    write(code, "<p>a bittern guards the sluice</p>\n")
    write(project / "new.py", "def sluice() -> str: ...\n")
    report = mine(palace.database, palace.clock, MineRequest((project,), mode))
    assert (report.new, report.grown) == (0, 1)
    texts = [drawer.text for drawer in drawers(palace)]
    assert any("bittern" in text for text in texts)
    assert not any("keeps the gate" in text for text in texts)


def test_a_named_file_of_any_kind_is_kept_up_to_date(palace: Palace, project: Path) -> None:
    named = write(project / "ledger.xyz", "The heron keeps the ledger.\n")
    mined(palace, named)
    write(named, "A bittern keeps the ledger.\n")
    assert mine(palace.database, palace.clock, MineRequest((project,))).grown == 1


@pytest.mark.parametrize(
    ("exclude", "config", "ignored"),
    [
        (("*.py",), "", ""),
        ((), '[mine]\nexclude = ["*.py"]\n', ""),
        ((), '[mine]\npolicy = "docs"\n', ""),
        ((), "", "*.py\n"),
    ],
    ids=["settings", "exclude", "policy", "gitignore"],
)
def test_code_that_was_read_once_is_not_read_against_a_rule(
    palace: Palace, project: Path, exclude: tuple[str, ...], config: str, ignored: str
) -> None:
    code = write(project / "dawn.py", "def gate() -> str: ...\n")
    mined(palace, project, mode="all")
    write(code, "def sluice() -> str: ...\n")
    write(project / "palazzo.toml", config)
    write(project / ".gitignore", ignored)
    assert mined(palace, project, exclude) == (1, 0)
    assert not any("sluice" in drawer.text or "gate()" in drawer.text for drawer in drawers(palace))


def test_code_comes_back_up_to_date_when_its_rule_is_gone(palace: Palace, project: Path) -> None:
    code = write(project / "dawn.py", "def gate() -> str: ...\n")
    mined(palace, project, mode="all")
    config = write(project / "palazzo.toml", '[mine]\npolicy = "docs"\n')
    assert mined(palace, project) == (1, 0)
    write(code, "def sluice() -> str: ...\n")
    config.unlink()
    mined(palace, project)
    assert any("sluice()" in drawer.text for drawer in drawers(palace))


def test_a_pattern_of_the_settings_leaves_out(palace: Palace, project: Path) -> None:
    mined(palace, project)
    assert mined(palace, project, exclude=("drafts",)) == (1, 0)
    assert mined(palace, project) == (0, 1)


def test_what_is_gone_from_the_disk_stays_found(palace: Palace, project: Path) -> None:
    mined(palace, project)
    (project / "drafts" / "idea.md").unlink()
    write(project / ".gitignore", "drafts/\n")
    assert mined(palace, project) == (0, 0)
    assert titles(palace) == {"Guide", "Idea"}


def test_a_run_that_asks_for_less_retires_nothing(palace: Palace, project: Path) -> None:
    mined(palace, project)
    assert mined(palace, project / "drafts") == (0, 0)
    assert mined(palace, project, mode="convos") == (0, 0)
    assert titles(palace) == {"Guide", "Idea"}


def test_a_document_that_was_named_stays_whatever_ignores_it(palace: Palace, project: Path) -> None:
    write(project / ".gitignore", "drafts/\n")
    named = project / "drafts" / "idea.md"
    assert [mined(palace, named), mined(palace, project), mined(palace, named)] == [(0, 0)] * 3
    assert titles(palace) == {"Guide", "Idea"}


def test_a_directory_that_was_named_stays_too(palace: Palace, project: Path) -> None:
    write(project / ".gitignore", "drafts/\n")
    assert [mined(palace, project / "drafts"), mined(palace, project)] == [(0, 0)] * 2
    assert titles(palace) == {"Guide", "Idea"}


def test_a_run_that_passes_over_ignore_files_or_includes_a_pattern_names_what_it_took(
    palace: Palace, project: Path
) -> None:
    write(project / ".gitignore", "drafts/\n")
    write(project / "palazzo.toml", '[mine]\npolicy = "docs"\n')
    write(project / "dawn.py", "def gate() -> str:\n    return 'heron'\n")
    request = MineRequest((project,), "docs")
    mine(palace.database, palace.clock, replace(request, gitignore=False))
    mine(palace.database, palace.clock, replace(request, include=("*.py",)))
    assert mined(palace, project) == (0, 0)
    assert titles(palace) == {"Guide", "Idea"}
    assert any("gate()" in drawer.text for drawer in drawers(palace))


def test_a_dry_run_counts_and_retires_nothing(palace: Palace, project: Path) -> None:
    mined(palace, project)
    write(project / ".gitignore", "drafts/\n")
    report = mine(palace.database, palace.clock, MineRequest((project,), "docs", dry_run=True))
    assert report.left_out == 1
    assert titles(palace) == {"Guide", "Idea"}


def test_each_path_of_one_run_has_its_own_projects_rules(palace: Palace, project: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other" / "drafts" / "idea.md", "# Idea\n\nElsewhere.\n").parents[1]
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    paths = (project, other)
    mine(palace.database, palace.clock, MineRequest(paths, "docs"))
    write(other / "palazzo.toml", '[mine]\nexclude = ["drafts"]\n')
    assert mine(palace.database, palace.clock, MineRequest(paths, "docs")).left_out == 1
    assert [drawer.text.endswith("ledger.") for drawer in drawers(palace) if drawer.title == "Idea"] == [True]


def test_naming_a_document_takes_it_back_for_good(palace: Palace, project: Path) -> None:
    mined(palace, project)
    write(project / ".gitignore", "drafts/\n")
    mined(palace, project)
    assert mined(palace, project / "drafts" / "idea.md") == (0, 1)
    assert mined(palace, project) == (0, 0)
    assert titles(palace) == {"Guide", "Idea"}


def test_a_document_that_changed_while_it_was_left_out_and_changed_back(palace: Palace, project: Path) -> None:
    mined(palace, project)
    ignore, idea = write(project / ".gitignore", "drafts/\n"), project / "drafts" / "idea.md"
    mined(palace, project)
    first = idea.read_text(encoding="utf-8")
    write(idea, "# Idea, again\n\nA stork does.\n")
    ignore.unlink()
    mined(palace, project)
    assert titles(palace) == {"Guide", "Idea, again"}
    write(idea, first)
    assert mined(palace, project) == (0, 1)
    assert titles(palace) == {"Guide", "Idea"}


def test_a_rebuild_leaves_out_what_was_left_out(palace: Palace, project: Path) -> None:
    mined(palace, project)
    write(project / ".gitignore", "drafts/\n")
    mined(palace, project)
    palace.rebuild("all")
    assert titles(palace) == {"Guide"}
    checks = {
        check.name: (check.ok, check.detail) for check in integrity_checks.verify(palace.database, palace.embedder)
    }
    assert checks["drawers"][0], checks["drawers"]
    assert checks["keywords"][0], checks["keywords"]


def test_what_a_person_forgot_is_not_taken_back(palace: Palace, project: Path) -> None:
    mined(palace, project)
    palace.forget([drawer.id for drawer in drawers(palace) if drawer.title == "Idea"])
    ignore = write(project / ".gitignore", "drafts/\n")
    mined(palace, project)
    ignore.unlink()
    mined(palace, project)
    assert titles(palace) == {"Guide"}


def test_a_nested_repository_has_its_own_ignore_files(palace: Palace, project: Path) -> None:
    inner = project / "vendor-docs"
    write(inner / "drafts" / "idea.md", "# Idea\n\nInner.\n")
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    mined(palace, project)
    write(project / ".gitignore", "drafts/\n")
    assert mined(palace, project) == (1, 0)
    assert any(drawer.text.endswith("Inner.") for drawer in drawers(palace))


def test_names_that_addresses_must_quote_are_matched(palace: Palace, tmp_path: Path) -> None:
    root = tmp_path / "a b%20c"
    write(root / "übung #1?.md", "# Idea\n\nA heron keeps the ledger.\n")
    mined(palace, root)
    assert mined(palace, root, exclude=("*#1*",)) == (1, 0)
    assert titles(palace) == set()


# Wings


def test_a_project_whose_file_names_another_wing_stays_in_the_one_it_has(palace: Palace, project: Path) -> None:
    write(project / "palazzo.toml", 'wing = "harbour"\n')
    mined(palace, project)
    write(project / "palazzo.toml", 'wing = "lighthouse"\n')
    write(project / "guide.md", "# Guide\n\nThe gate opens at noon.\n")
    write(project / "new.md", "# New\n\nA tide table.\n")
    mined(palace, project)
    found = drawers(palace)
    assert {drawer.place.wing for drawer in found} == {"harbour"}
    texts = [drawer.text for drawer in found]
    assert len(texts) == len(set(texts))
    assert not any("dawn" in text for text in texts)
