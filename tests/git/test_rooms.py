"""What a project says about itself, and where its words are filed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.git.project_rooms import (
    ProjectConfig,
    Room,
    read_project_config,
    room_for_conversation,
    room_for_document,
    slug,
)

TOML = """\
wing = "Acme Web"

[[rooms]]
name = "auth"
description = "logging in"
keywords = ["token", "sign in"]

[[rooms]]
name = "billing"

[mine]
policy = "all"
include = ["docs/**"]
exclude = ["docs/old/"]
"""


def said(root: Path, text: str, name: str = "palazzo.toml") -> ProjectConfig:
    (root / name).write_text(text, encoding="utf-8")
    return read_project_config(root)


def test_a_project_may_say_nothing(tmp_path: Path) -> None:
    assert read_project_config(tmp_path) == ProjectConfig()


def test_the_project_file_is_read(tmp_path: Path) -> None:
    assert said(tmp_path, TOML) == ProjectConfig(
        wing="Acme Web",
        rooms=(Room("auth", "logging in", ("token", "sign in")), Room("billing")),
        policy="all",
        include=("docs/**",),
        exclude=("docs/old/",),
        file=tmp_path / "palazzo.toml",
    )


def test_mempalaces_file_is_read_where_there_is_no_other(tmp_path: Path) -> None:
    text = "wing: acme\nrooms:\n- name: auth\n  description: d\n  keywords: [token]\nexclude_patterns:\n- '*.log'\n"
    found = said(tmp_path, text, "mempalace.yaml")
    assert (found.wing, found.rooms, found.exclude) == ("acme", (Room("auth", "d", ("token",)),), ("*.log",))
    assert not found.problems
    assert said(tmp_path, "").file == tmp_path / "palazzo.toml"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wing = 3", ["palazzo.toml, line 1", "`wing`", "must be a name"]),
        ('wing = "a\\nb"', ["line 1", "`wing`"]),
        ("rooms = 3", ["line 1", "`rooms`", "list of rooms"]),
        ('\n[[rooms]]\nname = ""\n', ["line 3", "`name`"]),
        ("[[rooms]]\ndescription = 'x'\n", ["line 1", "needs a name"]),
        ("[[rooms]]\nname = 'a'\n[[rooms]]\nname = 'b'\nkeywords = 'x'\n", ["line 5", "`keywords`", "list"]),
        ("[[rooms]]\nname = 'a'\nkeyword = ['x']\n", ["line 3", "`keyword`", "keywords"]),
        ("[mine]\npolicy = 'everything'\n", ["line 2", "`policy`", '"docs" or "all"']),
        ("[mine]\nexclude = ['../other/*']\n", ["line 2", "`exclude`", "below the project"]),
        ("mine = 3", ["line 1", "`mine`", "table"]),
        ("wing = \nx = 1", ["palazzo.toml is not valid", "line 1"]),
    ],
)
def test_a_wrong_value_is_named_with_its_line_and_what_is_allowed(tmp_path: Path, text: str, words: list[str]) -> None:
    [problem] = said(tmp_path, text).problems
    assert all(word in problem for word in words), problem


@pytest.mark.parametrize(
    "text", ["rooms: [", "- a\n- b", "a: &a [*a]\nrooms: *a", "d: 2026-13-45", "rooms:\n- 3\n", "? [a]\n: b"]
)
def test_odd_yaml_raises_nothing(tmp_path: Path, text: str) -> None:
    found = said(tmp_path, text, "mempalace.yaml")
    assert found.rooms == ()


def test_one_person_s_file_says_more_and_takes_no_exclusion_back(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    own = "---\nwing: mine\nmine:\n  policy: all\n  exclude: [drafts, ../elsewhere]\nsave_mode: ask\n---\nNotes.\n"
    (tmp_path / ".claude" / "palazzo.local.md").write_text(own)
    assert (said(tmp_path, "").wing, said(tmp_path, "").policy) == ("mine", "all")
    config = said(tmp_path, "wing = 'api'\n[mine]\npolicy = 'docs'\nexclude = ['private']\n[[rooms]]\nname = 'auth'\n")
    assert (config.wing, config.policy, config.exclude) == ("mine", "all", ("private", "drafts"))
    assert ([room.name for room in config.rooms], config.problems) == (["auth"], ())


def test_a_wrong_value_costs_that_value_alone(tmp_path: Path) -> None:
    found = said(tmp_path, TOML.replace('policy = "all"', "policy = 3").replace('"Acme Web"', "[]"))
    assert (found.wing, found.policy) == ("", None)
    assert [room.name for room in found.rooms] == ["auth", "billing"]
    assert len(found.problems) == 2


def test_settings_of_others_are_not_complained_about(tmp_path: Path) -> None:
    assert not said(tmp_path, "redact = true\n[events]\nstop = false\n").problems


@given(text=st.text(max_size=80) | st.text(alphabet="[]{}:=-&*!?|>'\"\n a1.", max_size=80))
def test_no_file_raises(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    root = tmp_path_factory.getbasetemp() / "any"
    root.mkdir(exist_ok=True)
    for name in ("palazzo.toml", "mempalace.yaml"):
        (root / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        assert isinstance(read_project_config(root), ProjectConfig)
        (root / name).unlink()


CONFIG = ProjectConfig(
    rooms=(Room("auth", "", ("token", "sign in", "登录")), Room("Billing Team", "", ("invoice",)), Room("infra"))
)


@pytest.mark.parametrize(
    ("path", "text", "room"),
    [
        ("src/auth/a.py", "invoice invoice", "auth"),
        ("docs/billing-team/a.md", "", "billing-team"),
        ("docs/infra.md", "", "infra"),
        ("docs/a.md", "An invoice, and a token; another invoice.", "billing-team"),
        ("docs/a.md", "tokenizer, invoices", "docs"),
        ("docs/a.md", "how to 登录这里", "auth"),
        ("docs/a.md", "our infra", "infra"),
        ("Docs & Plans/a.md", "", "docs-plans"),
        ("README.md", "", "general"),
    ],
)
def test_a_document_finds_its_room(path: str, text: str, room: str) -> None:
    assert room_for_document(CONFIG, path, text) == room


def test_a_conversation_finds_its_room() -> None:
    assert room_for_conversation(CONFIG, "Why does Sign In fail?") == "auth"
    assert room_for_conversation(CONFIG, "hello") == "sessions"
    assert room_for_conversation(ProjectConfig(), "token") == "sessions"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Acme Web", "acme-web"),
        ("wing_claude", "wing_claude"),
        ("a/b\\c", "a-b-c"),
        ("../..", "general"),
        ("Åäö 注文", "åäö-注文"),
        ("हिन्दी", "हिन्दी"),
        ("", "general"),
        ("🙏", "general"),
        ("\ud800x", "x"),
        ("x" * 100, "x" * 64),
    ],
)
def test_slugs(name: str, wanted: str) -> None:
    assert slug(name) == wanted


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_a_slug_is_its_own_slug_and_safe_anywhere(name: str) -> None:
    made = slug(name)
    assert slug(made) == made
    assert 1 <= len(made) <= 64
    assert not set(made) & set("/\\ .:\n\0\"'")
    made.encode()


def test_a_secret_in_a_name_is_not_kept() -> None:
    assert slug("project password=Winter2026!") == "project-password-redacted"
    assert slug("ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a") == "redacted"
    assert slug("password-reset2") == "password-reset2"
