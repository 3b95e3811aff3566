"""Settings: which value holds, where it came from, what a project may not do, and what is said of a wrong one."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from palazzo.errors import UsageError
from palazzo.features.upkeep.setting_writer import write
from palazzo.settings import KEYS, Settings, load
from palazzo.settings.setting_keys import ALIASES, BY_NAME


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The root of a project."""
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The user's file, which is not there yet."""
    return tmp_path / "config" / "config.toml"


def settings(
    config: Path, project: Path | None, user: str = "", team: str = "", person: str = "", **variables: str
) -> Settings:
    """Settings from these files' texts and these variables."""
    for path, text in ((config, user), *(((project / "palazzo.toml", team),) if project else ())):
        if text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    if project and person:
        (project / ".claude" / "palazzo.local.md").write_text(f"---\n{person}\n---\n\nNotes of mine.\n")
    return load(config, project, variables)


def test_without_files_every_key_has_its_default(config: Path, project: Path) -> None:
    found = settings(config, project)
    assert found.problems == ()
    assert {name: held.value for name, held in found.values.items()} == {key.name: key.default for key in KEYS}
    assert {held.origin for held in found.values.values()} == {"default"}


def test_the_contracts_keys_have_the_contracts_defaults() -> None:
    """The documented defaults."""
    wanted = {
        "auto_context_on_start": True, "detect_recall_patterns": True, "context_depth": "medium", "auto_commit": False,
        "save_interval": 15, "save_mode": "silent", "min_messages": 3, "mine.policy": "docs", "mine.exclude": (),
        "redact": True, "auto_inject_trust": "tool", "branch_policy": "label", "events.stop": True,
        "events.pre-tool": False,
    }  # fmt: skip
    assert {name: BY_NAME[name].default for name in wanted} == wanted
    assert "desktop_toast" in BY_NAME
    assert set(ALIASES) == {"prompt_to_save", "silent_save"}


def test_every_key_has_help_an_allowed_range_and_a_default_within_it() -> None:
    from palazzo.settings.setting_keys import read

    for key in KEYS:
        assert key.help.endswith(".")
        assert key.constraint
        assert read(key, key.default) == key.default


def test_later_ones_win_and_say_where_they_stand(config: Path, project: Path) -> None:
    user = "# mine\nsave_interval = 20\nsave_mode = 'ask'\ncontext_depth = 'deep'\n"
    found = settings(
        config, project, user, person="context_depth: shallow\nsave_interval: 30", PALAZZO_SAVE_INTERVAL="40"
    )
    assert (found.number("save_interval"), found.values["save_interval"].origin) == (40, "PALAZZO_SAVE_INTERVAL")
    local = project / ".claude" / "palazzo.local.md"
    assert (found.text("context_depth"), found.values["context_depth"].origin) == ("shallow", f"{local}, line 2")
    assert (found.text("save_mode"), found.values["save_mode"].origin) == ("ask", f"{config}, line 3")
    assert found.problems == ()


def test_tables_and_dotted_keys_are_the_same(config: Path, project: Path) -> None:
    user = (
        "events.stop = 'off'\n[mine]\npolicy = 'all' # code too\nexclude = ['a', 'b']\n[embedder]\nkind = \"openai\"\n"
    )
    found = settings(config, project, user)
    assert (found.flag("events.stop"), found.text("mine.policy"), found.texts("mine.exclude")) == (
        False,
        "all",
        ("a", "b"),
    )
    assert found.values["mine.policy"].origin == f"{config}, line 3"
    assert found.text("embedder.kind") == "openai"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("palace = '/tmp/theirs.db'", "`palace` cannot be set here"),
        ("[embedder]\nbase_url = 'http://evil'", "line 2: `embedder.base_url` cannot be set here"),
        ("redact = false", "`redact` may be made stricter inside a project, but not looser"),
        ("auto_inject_trust = 'external'", "`auto_inject_trust` may be made stricter inside a project, but not looser"),
        ("save_mode = 'ask'", "`save_mode` cannot be set here"),
        ("service = true", "`service` cannot be set here"),
        ("min_messages = 1", "`min_messages` cannot be set here"),
        ("[trust]\nown = ['kubectl']", "`trust.own` cannot be set here"),
    ],
)
def test_a_project_cannot_loosen_or_redirect(config: Path, project: Path, text: str, said: str) -> None:
    found = settings(config, project, team=text)
    assert all(held.origin == "default" for held in found.values.values())
    (problem,) = found.problems
    assert said in problem
    assert str(project / "palazzo.toml") in problem


@pytest.mark.parametrize(
    "text",
    [
        "redact: false",
        "auto_inject_trust: external",
        "palace: /tmp/x.db",
        "embedder: {kind: openai}",
        "trust: {own: [kubectl]}",
    ],
)
def test_neither_can_front_matter_inside_a_project(config: Path, project: Path, text: str) -> None:
    found = settings(config, project, person=text)
    assert all(held.origin == "default" for held in found.values.values())
    assert len(found.problems) == 1


def test_a_project_may_tighten(config: Path, project: Path) -> None:
    found = settings(config, project, "redact = false\n", "redact = true\nauto_inject_trust = 'repo'\n")
    assert (found.flag("redact"), found.text("auto_inject_trust")) == (True, "repo")
    assert found.problems == ()


def test_a_person_in_a_project_cannot_take_back_what_the_project_tightened(config: Path, project: Path) -> None:
    found = settings(config, project, team="auto_inject_trust = 'user'\n", person="auto_inject_trust: tool")
    assert found.text("auto_inject_trust") == "user"


def test_a_project_says_what_concerns_it(config: Path, project: Path) -> None:
    found = settings(
        config, project, team="wing = 'api'\n[mine]\npolicy = 'all'\ninclude = ['*.adoc']\n[[rooms]]\nname = 'auth'\n"
    )
    assert (found.text("wing"), found.text("mine.policy"), found.texts("mine.include")) == ("api", "all", ("*.adoc",))
    assert found.problems == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("save_interval = 0", "line 1: `save_interval` must be an integer from 1 to 10000. The default is used."),
        ("save_interval = true", "`save_interval` must be an integer"),
        ("\nredact = 'maybe'", "line 2: `redact` must be true or false. The default is used."),
        ("context_depth = 'bottomless'", "must be one of shallow, medium, deep"),
        ("[mine]\nexclude = [1]", "line 2: `mine.exclude` must be a list of strings"),
        ("save_intervall = 3", "`save_intervall` is not a setting; did you mean `save_interval`?"),
        ("save_interval = ", "is not valid"),
        ("events = 3", "`events` is not a setting"),
    ],
)
def test_a_wrong_value_is_told_with_its_line_and_costs_itself_alone(config: Path, text: str, said: str) -> None:
    found = settings(config, None, text)
    (problem,) = found.problems
    assert str(config) in problem
    assert said in problem
    assert found.number("save_interval") == 15


def test_a_wrong_value_leaves_the_one_before_it(config: Path, project: Path) -> None:
    found = settings(config, project, "save_interval = 20\n", PALAZZO_SAVE_INTERVAL="often")
    assert found.number("save_interval") == 20
    assert f"The value from {config}, line 1 is used." in found.problems[0]


@pytest.mark.parametrize("person", ["- a\n- b", "key: [unclosed", "a: !!python/object:os.system {}"])
def test_front_matter_that_cannot_be_read_is_told(config: Path, project: Path, person: str) -> None:
    assert "Nothing in it is used." in settings(config, project, person=person).problems[0]


def test_a_file_without_front_matter_says_nothing(config: Path, project: Path) -> None:
    (project / ".claude" / "palazzo.local.md").write_text("# Just notes\nredact: false\n")
    assert settings(config, project).problems == ()


@pytest.mark.parametrize(
    ("name", "text", "mode"),
    [("prompt_to_save", "true", "ask"), ("prompt_to_save", "off", "silent"), ("silent_save", "false", "ask")],
)
def test_aliases_set_what_they_mean(config: Path, name: str, text: str, mode: str) -> None:
    assert settings(config, None, f"{name} = '{text}'\n").text("save_mode") == mode
    assert settings(config, None, **{f"PALAZZO_{name.upper()}": text}).text("save_mode") == mode


@pytest.mark.parametrize("said", ["1", "true", "ON", "yes"])
def test_a_flag_in_the_environment_has_many_spellings(config: Path, said: str) -> None:
    assert settings(config, None, PALAZZO_OFF=said).flag("off")
    assert not settings(config, None, PALAZZO_SERVICE="off").flag("service")


def test_what_is_set_for_the_plugin_counts_unless_the_environment_says_otherwise(config: Path) -> None:
    said = {"CLAUDE_PLUGIN_OPTION_SAVE_MODE": "ask", "CLAUDE_PLUGIN_OPTION_CONTEXT_DEPTH": "unset"}
    found = settings(config, None, "context_depth = 'deep'\n", **said)
    assert (found.text("save_mode"), found.text("context_depth")) == ("ask", "deep")
    assert found.values["save_mode"].origin == "CLAUDE_PLUGIN_OPTION_SAVE_MODE"
    assert settings(config, None, PALAZZO_SAVE_MODE="silent", **said).text("save_mode") == "silent"


def test_nobody_takes_back_what_another_has_excluded(config: Path, project: Path) -> None:
    found = settings(
        config, project, "mine.exclude = ['private']\n", "mine.exclude = ['drafts']\n", PALAZZO_MINE_EXCLUDE="x"
    )
    assert found.texts("mine.exclude") == ("private", "drafts", "x")
    assert settings(config, project, team="mine.exclude = []\n").texts("mine.exclude") == ("private",)


# --- writing -----------------------------------------------------------------------------------------------

WRITTEN = """\
# How I like it.
save_interval = 15   # messages
save_mode = "silent"

[mine]  # what is read
exclude = [
  "*.tmp",  # leftovers
  "a#b",
]

[embedder]
kind = "bundled"
"""


@pytest.mark.parametrize(
    ("key", "value", "before", "after"),
    [
        ("save_interval", "20", "save_interval = 15   # messages", "save_interval = 20   # messages"),
        ("save_mode", "ask", 'save_mode = "silent"', 'save_mode = "ask"'),
        ("embedder.kind", "openai", 'kind = "bundled"', 'kind = "openai"'),
        ("mine.exclude", "x, y", 'exclude = [\n  "*.tmp",  # leftovers\n  "a#b",\n]', 'exclude = ["x", "y"]'),
        ("redact", "off", "\n\n[mine]", "\nredact = false\n\n[mine]"),
        ("mine.policy", "all", '"a#b",\n]\n', '"a#b",\n]\npolicy = "all"\n'),
        ("silent_save", "false", 'save_mode = "silent"', 'save_mode = "ask"'),
    ],
)
def test_writing_changes_one_line_and_no_other(config: Path, key: str, value: str, before: str, after: str) -> None:
    config.parent.mkdir()
    config.write_text(WRITTEN)
    write(config, key, value)
    assert config.read_text() == WRITTEN.replace(before, after)


def test_writing_makes_the_file_and_the_table(config: Path) -> None:
    write(config, "events.pre-tool", "on")
    write(config, "events.stop", "off")
    write(config, "palace", 'a "quoted" C:\\path')
    assert tomllib.loads(config.read_text()) == {
        "palace": 'a "quoted" C:\\path',
        "events": {"pre-tool": True, "stop": False},
    }
    assert [path.name for path in config.parent.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("key", [key.name for key in KEYS if "user" in key.layers])
def test_every_key_can_be_written_and_is_read_back(config: Path, key: str) -> None:
    found = BY_NAME[key]
    value = {"flag": "false", "number": "7", "text": "some text", "list": "a,b"}.get(found.kind) or found.choices[-1]
    written = write(config, key, value)
    held = load(config, None, {}).values[key]
    assert (held.value, held.origin.startswith(str(config))) == (written, True)


def test_a_file_that_cannot_be_parsed_is_left_as_it_is(config: Path) -> None:
    config.parent.mkdir()
    config.write_text("save_interval = = 3\n")
    with pytest.raises(UsageError, match="not valid TOML"):
        write(config, "redact", "true")
    assert config.read_text() == "save_interval = = 3\n"


def test_a_shape_that_cannot_be_edited_is_left_as_it_is(config: Path) -> None:
    config.parent.mkdir()
    config.write_text("mine = 'docs'\n")
    with pytest.raises(UsageError, match=r'set `mine.policy = "all"` there by hand'):
        write(config, "mine.policy", "all")
    assert config.read_text() == "mine = 'docs'\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("mine = { policy = 'docs' } # mine\n", 'mine = { policy = "all" } # mine\n'),
        ("mine.policy = 'docs'\n", 'mine.policy = "all"\n'),
        ("mine.exclude = []\n", 'mine.exclude = []\nmine.policy = "all"\n'),
        ("[mine]\n# about the policy\n\n# about the rest\n[events]\n", None),
        ("# only a comment", None),
    ],
)
def test_a_value_can_be_written_in_every_form_of_toml(config: Path, before: str, after: str | None) -> None:
    config.parent.mkdir()
    config.write_text(before)
    write(config, "mine.policy", "all")
    text = config.read_text()
    assert tomllib.loads(text)["mine"]["policy"] == "all"
    assert after in (None, text)
    assert [line for line in before.splitlines() if line.startswith(("#", "["))] == [
        line for line in text.splitlines() if line.startswith("#") or (line in before.splitlines() and line[:1] == "[")
    ]


def test_line_ends_and_links_are_kept(config: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_bytes(b"save_interval = 3\r\nredact = true\r\n")
    config.parent.mkdir()
    config.symlink_to(real)
    write(config, "save_interval", "4")
    assert real.read_bytes() == b"save_interval = 4\r\nredact = true\r\n"
    assert config.is_symlink()


@pytest.mark.parametrize(("key", "value"), [("wing", "api"), ("off", "true"), ("nonsense", "1"), ("redact", "perhaps")])
def test_what_may_not_be_written_is_refused(config: Path, key: str, value: str) -> None:
    with pytest.raises(UsageError):
        write(config, key, value)
    assert not config.exists()
