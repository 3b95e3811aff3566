"""Skills are written in the open form where hosts look for them, and removed again; what a person wrote there stays."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

from palazzo.errors import UsageError
from palazzo.features.hosts.skill_packages import FILE, SKILLS, is_ours, skill_text
from palazzo.hosts import host_registry, own_program
from palazzo.operations.context import Context
from palazzo.operations.registry import operation

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
NAMES = {skill.name for skill in SKILLS}
HOSTS = {
    "skills": ".agents/skills",
    **{
        host.name: f"{host.skills.default}/{host.skills.entries[0]}"
        for host, _ in host_registry.installers()
        if host.skills
    },
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "palazzo"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "shop").mkdir()
    monkeypatch.setattr(own_program, "_list_program_paths", lambda: iter([program]))
    return tmp_path


def run(home: Path, verb: str, target: str, **options: bool) -> dict[str, str]:
    """Return the state of each file by its path below the home directory."""
    variables = {"HOME": str(home), "PATH": f"{home}/bin"}
    with Context(cwd=home / "shop", variables=variables) as context:
        asked = operation(verb)
        result = asked.run(context, asked.request(target, **options))
    return {Path(file.path).relative_to(home).as_posix(): file.state for file in result.files}


def contents(home: Path) -> dict[str, bytes]:
    """Return the files of the person, without Palazzo's own lock."""
    files = [path for path in home.rglob("*") if path.is_file() and ".local" not in path.parts]
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in files}


def test_a_skill_has_the_open_form() -> None:
    with Context() as context:
        for skill in SKILLS:
            text = skill_text(context, skill)
            _, head, body = text.split("---\n", 2)
            fields = yaml.safe_load(head)
            assert fields["name"] == skill.name
            assert len(skill.name) <= 64
            assert 0 < len(fields["description"]) <= 1024
            assert all(isinstance(value, str) for value in fields["metadata"].values())
            assert body.strip().startswith("# ")
            assert is_ours(text)
            assert is_ours(text.replace("\n", "\r\n"))
            assert not is_ours(text.replace("`", "``", 1))


@pytest.mark.parametrize("target", HOSTS)
def test_skills_are_written_and_removed_again(home: Path, target: str) -> None:
    directory = home / HOSTS[target]
    directory.parent.mkdir(parents=True, exist_ok=True)
    mine = directory / "mine" / FILE
    mine.parent.mkdir(parents=True)
    mine.write_text("---\nname: mine\n---\n")
    before = contents(home)
    options = {} if target == "skills" else {"skills": True}
    written = run(home, "install", target, **options)
    assert {path.name for path in directory.iterdir()} == NAMES | {"mine"}
    assert all(written[f"{HOSTS[target]}/{name}/{FILE}"] == "new" for name in NAMES)
    assert {*run(home, "install", target, **options).values()} == {"same"}
    run(home, "uninstall", target)
    assert {path.name for path in directory.iterdir()} == {"mine"}
    assert contents(home) == before


def test_a_host_gets_skills_only_on_request_and_then_new_versions_of_them(home: Path) -> None:
    (home / ".claude").mkdir()
    run(home, "install", "claude-code")
    assert not (home / ".claude" / "skills").exists()
    run(home, "install", "claude-code", skills=True)
    path = home / ".claude" / "skills" / "palazzo-search" / FILE
    with Context() as context:
        older = skill_text(context, SKILLS[1]).replace(SKILLS[1].name, "palazzo-search")
    (home / ".claude" / "skills" / "palazzo-review" / FILE).unlink()
    text = path.read_text()
    path.write_text(text.replace("\n", "\r\n"))
    assert run(home, "install", "claude-code")[".claude/skills/palazzo-search/SKILL.md"] == "changed"
    assert path.read_text() == text
    assert not (home / ".claude" / "skills" / "palazzo-review" / FILE).exists()
    path.write_text(older)
    assert ".claude/skills/palazzo-search/SKILL.md" not in run(home, "install", "claude-code")


def test_a_skill_that_a_person_changed_stays(home: Path) -> None:
    run(home, "install", "skills")
    path = home / ".agents" / "skills" / "palazzo-search" / FILE
    path.write_text(path.read_text() + "\nAlways search twice.\n")
    changed = path.read_bytes()
    with pytest.raises(UsageError, match="somebody has changed it since; nothing was written"):
        run(home, "install", "skills")
    run(home, "uninstall", "skills")
    assert contents(home / ".agents") == {"skills/palazzo-search/SKILL.md": changed}


def test_a_project_gets_skills_for_everyone_who_works_on_it(home: Path) -> None:
    (home / "shop" / ".git").mkdir()
    run(home, "install", "skills", project=True)
    assert {path.name for path in (home / "shop" / ".agents" / "skills").iterdir()} == NAMES
    run(home, "uninstall", "skills", project=True)
    assert not (home / "shop" / ".agents").exists()


def test_what_takes_no_skills_says_where_they_can_go(home: Path) -> None:
    with pytest.raises(UsageError, match="--clean and --skills are for hosts"):
        run(home, "install", "skills", skills=True)
