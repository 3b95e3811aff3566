"""Our entries come into hosts' settings and go again, and whatever else is there stays to the byte."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.text.test_json_edit import SPACE, loaded, written

from palazzo.hosts import entry_matcher, hook_wiring, host_settings
from palazzo.hosts.claude_code.wiring import WIRING as CLAUDE_CODE
from palazzo.hosts.codex import codex_settings
from palazzo.hosts.codex.wiring import WIRING as CODEX
from palazzo.hosts.hook_wiring import HostHooks
from palazzo.text import json_edit

PROGRAM = "/opt/mein Büro/bin/palazzo"
THEIRS = {"hooks": [{"type": "command", "command": "notify-send done"}]}


def ours(value: Any) -> bool:
    return entry_matcher.hook(value, "claude-code", "linux") is not None


def installed(text: str | None, wired: HostHooks = CLAUDE_CODE, program: str = PROGRAM) -> str:
    return host_settings.with_hooks(text, hook_wiring.entries(wired, program), wired)


def uninstalled(text: str | None) -> str | None:
    return host_settings.without_hooks(text, ours)


def said(text: str) -> Any:
    """What a text says, whatever its numbers."""
    return json_edit.read(text).content


@st.composite
def settings_of_somebody(draw: st.DrawFn) -> str:
    """Settings with hooks of somebody else, in any shape that is valid, keys that are there twice among them."""
    gap = draw(SPACE)
    groups = draw(st.lists(written(2), max_size=2))
    real = json.dumps(THEIRS, indent=draw(st.sampled_from([None, 2, "\t"])))
    stop = f"[{gap}{f',{gap}'.join([*groups, real])}{gap}]"
    events = [f'{gap}"Stop"{gap}:{gap}{draw(st.sampled_from([stop, "[]", f"[{gap}]"]))}']
    events += [f'"{name}":{draw(written(1))}' for name in draw(st.lists(st.sampled_from(["x", "y"]), max_size=2))]
    hooks = draw(st.sampled_from([f'"hooks":{gap}{{{",".join(events)}}}', '"hooks": {}', f'"hooks":{{{gap}}}', ""]))
    members = [one for one in (draw(st.sampled_from(["", '"hooks": null', '"a":1'])), hooks) if one]
    return f"{gap}{{{gap}{f',{gap}'.join(members)}{gap}}}{draw(SPACE)}"


LINE = hook_wiring.status_line(PROGRAM)


@pytest.mark.parametrize("text", ["{}", "{ }", '{\n  "model": "opus"\n}\n', '{"hooks": {}, "statusLine": null}', "[]"])
def test_a_status_line_of_ours_comes_and_goes_without_a_trace(text: str) -> None:
    if text == "[]":
        with pytest.raises(ValueError, match="is not a JSON object"):
            host_settings.with_status_line(text, LINE, True)
        return
    there = host_settings.with_status_line(installed(text), LINE, True)
    assert said(there)["statusLine"] == (None if "null" in text else LINE)
    assert host_settings.with_status_line(there, LINE, True) == there
    assert uninstalled(host_settings.without_status_line(there)) == text


def test_a_status_line_of_ours_is_brought_up_to_date_and_keeps_what_a_person_said_of_it() -> None:
    before = json.dumps({"statusLine": {**hook_wiring.status_line("/old/palazzo"), "padding": 0}})
    assert said(host_settings.with_status_line(before, LINE, False)) == {"statusLine": {**LINE, "padding": 0}}


@pytest.mark.parametrize("command", ["~/.claude/line.sh", "palazzo statusline | cut -c1-40", "palazzo status", 3])
def test_a_status_line_of_somebody_else_stays(command: object) -> None:
    text = json.dumps({"statusLine": {"type": "command", "command": command}})
    assert host_settings.has_other_status_line(text)
    assert host_settings.with_status_line(text, LINE, True) == text
    assert host_settings.without_status_line(text) == text


@settings(max_examples=5, deadline=None)
@given(text=settings_of_somebody())
def test_what_is_installed_is_uninstalled_without_a_trace(text: str) -> None:
    there_and_back(text)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(text=settings_of_somebody())
def test_what_is_installed_is_uninstalled_without_a_trace_in_many_files(text: str) -> None:
    there_and_back(text)


def there_and_back(text: str) -> None:
    try:
        with_ours = installed(text)
    except ValueError:
        return  # `hooks` that are no object: refused, and named
    wanted = hook_wiring.entries(CLAUDE_CODE, PROGRAM)
    hooks = said(with_ours)["hooks"]
    assert {event: groups[-1] for event, groups in hooks.items() if event in wanted} == wanted
    assert installed(with_ours) == with_ours
    moved = installed(with_ours, program="/elsewhere/palazzo")
    assert loaded(moved) == loaded(with_ours.replace(json.dumps(PROGRAM, ensure_ascii=False), '"/elsewhere/palazzo"'))
    assert uninstalled(moved) == uninstalled(with_ours) == text


@settings(max_examples=10, deadline=None)
@given(text=written())
def test_a_server_comes_and_goes_without_a_trace(text: str) -> None:
    entry = hook_wiring.server(CLAUDE_CODE, PROGRAM)
    for whole in (text, f'{{"mcpServers":{text}}}'):
        try:
            more = host_settings.with_server(whole, entry)
        except ValueError:
            continue
        assert said(more)["mcpServers"]["palazzo"] == entry
        assert host_settings.with_server(more, entry) == more
        assert host_settings.without_servers(more, host_settings.is_our_server) == whole


def test_a_file_that_is_made_is_gone_afterwards() -> None:
    assert uninstalled(installed(None)) is None
    entry = hook_wiring.server(CODEX, PROGRAM)
    made = host_settings.with_server(None, entry)
    assert host_settings.without_servers(made, host_settings.is_our_server) is None
    made = codex_settings.with_server(None, entry)
    assert codex_settings.without_servers(made, host_settings.is_our_server) is None
    assert host_settings.without_block(host_settings.with_block(None, "codex", "a\nb"), "codex") is None


def test_what_others_add_meanwhile_stays() -> None:
    text = json.loads(installed(json.dumps({"model": "x"})))
    text["hooks"]["Stop"].append(THEIRS)
    text["hooks"]["SessionStart"][0]["hooks"].append(THEIRS["hooks"][0])
    text["theirs"] = 1
    left = uninstalled(json.dumps(text, indent=4))
    assert left is not None
    assert json.loads(left) == {
        "model": "x",
        "hooks": {"SessionStart": [THEIRS], "Stop": [THEIRS]},
        "theirs": 1,
    }


def test_older_forms_of_ours_are_replaced_where_they_stand_and_others_stay() -> None:
    """Another path, the host's own names of events, a shell's line, an event that is not wired any more, twice."""
    old = {"type": "command", "command": "'/old path/palazzo' hook claude-code Stop --palace /x", "timeout": 5}
    wrapped = {"type": "command", "command": "palazzo hook claude-code stop; say done"}
    hooks = {
        "Stop": [THEIRS, {"hooks": [old]}, {"hooks": [wrapped]}, {"matcher": "*", "hooks": [old, wrapped, old]}],
        "Notification": [{"hooks": [{"type": "command", "command": "palazzo hook claude-code notification"}]}],
    }
    after = json.loads(installed(json.dumps({"hooks": hooks})))["hooks"]
    wanted = hook_wiring.entries(CLAUDE_CODE, PROGRAM)["Stop"]
    assert after["Stop"] == [THEIRS, wanted, {"hooks": [wrapped]}, {"matcher": "*", "hooks": [wrapped]}]
    assert "Notification" not in after


@pytest.mark.parametrize(
    ("line", "is_ours"),
    [
        ("palazzo hook claude-code stop", True),
        ("/a/b/palazzo hook claude-code Stop --palace '/x y'", True),
        ('"/mein Büro/palazzo" hook claude-code stop', True),
        ("python3.12 -P -m palazzo hook claude-code stop", True),
        ("palazzo hook codex stop", False),
        ("palazzo hook claude-code", False),
        ("timeout 5 palazzo hook claude-code stop", False),
        ("palazzo hook claude-code stop | tee log", False),
        ("mypalazzo hook claude-code stop", False),
        ("mempalace hook claude-code stop", False),
        ("python3 -m other hook claude-code stop", False),
        ("echo 'unbalanced", False),
        ("", False),
    ],
)
def test_ours_is_what_starts_us_and_does_nothing_else(line: str, is_ours: bool) -> None:
    assert ours({"type": "command", "command": line}) is is_ours


def test_windows_paths_are_recognised_there() -> None:
    for line in (r'"C:\Program Files\palazzo.exe" hook codex stop', r"C:\bin\palazzo.exe hook codex stop"):
        assert entry_matcher.hook({"type": "command", "command": line}, "codex", "win32") is not None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("[]", "is not a JSON object"),
        ('{"hooks": []}', "`hooks` is not an object"),
        ('{"hooks": {"Stop": {}}}', r"`hooks\.Stop` is not a list"),
        ("// mine\n{}", "not valid JSON"),
        ('{"a": 1,}', "not valid JSON"),
    ],
)
def test_what_has_another_shape_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        installed(text)


def test_another_server_of_our_name_is_refused_and_never_taken_away() -> None:
    theirs = '{"mcpServers": {"palazzo": {"command": "npx", "args": ["palazzo-art"]}}}'
    with pytest.raises(ValueError, match="starts another program"):
        host_settings.with_server(theirs, hook_wiring.server(CLAUDE_CODE))
    assert host_settings.without_servers(theirs, host_settings.is_our_server) == theirs


def test_a_server_of_ours_keeps_what_a_person_said_of_it() -> None:
    mine = {"command": "palazzo", "args": ["mcp", "--palace", "/old", "--toolset", "full"], "env": {"A": "b"}}
    text = host_settings.with_server(
        json.dumps({"mcpServers": {"palazzo": mine}}), hook_wiring.server(CLAUDE_CODE, PROGRAM)
    )
    assert json.loads(text)["mcpServers"]["palazzo"] == {
        "command": PROGRAM,
        "args": ["mcp", "--toolset", "full"],
        "env": {"A": "b"},
        "type": "stdio",
    }


CONFIG = 'model = "x"\r\n[mcp_servers.mem]\r\ncommand = "m" # é\r\n\r\n[features]\r\nplugins = false'


@pytest.mark.parametrize(
    "text", ["", "\n", "# only this", CONFIG, CONFIG + "\r\n", "\n\n\n", 'a = """\n[b]\n"""', "a = nan"]
)
def test_a_table_comes_and_goes_without_a_trace(text: str) -> None:
    entry = hook_wiring.server(CODEX, PROGRAM)
    more = codex_settings.with_server(text, entry)
    assert tomllib.loads(more)["mcp_servers"]["palazzo"] == entry
    assert codex_settings.with_server(more, entry) == more
    moved = codex_settings.with_server(more, hook_wiring.server(CODEX, "/elsewhere"))
    assert tomllib.loads(moved)["mcp_servers"]["palazzo"]["command"] == "/elsewhere"
    back = codex_settings.with_server(moved.replace("/elsewhere", "/elsewhere/palazzo"), entry)
    assert back == more
    assert codex_settings.without_servers(back, host_settings.is_our_server) == text
    # what Codex itself writes: trust behind it, and a choice below our table
    grown = more + ("" if more.endswith("\n") else "\r\n") + "\n[hooks.state.x]\ntrusted_hash = 'y'\n"
    grown += "[mcp_servers.palazzo.tools.search]\napproval_mode = 'approve'\n"
    left = codex_settings.without_servers(grown, host_settings.is_our_server)
    assert left is not None
    wanted = {**tomllib.loads(text, parse_float=str), "hooks": {"state": {"x": {"trusted_hash": "y"}}}}
    assert tomllib.loads(left, parse_float=str) == wanted


def test_a_table_that_an_older_version_wrote_is_brought_up_to_date() -> None:
    entry = hook_wiring.server(CODEX, PROGRAM)
    old = '[mcp_servers.palazzo]\ncommand = "palazzo" # mine\nargs = ["mcp"]\nstartup_timeout_sec = 9\n\n[tui]\nx = 1\n'
    new = codex_settings.with_server(old, entry)
    assert tomllib.loads(new) == {"mcp_servers": {"palazzo": {**entry, "startup_timeout_sec": 9}}, "tui": {"x": 1}}


@pytest.mark.parametrize("text", ["a = ", "mcp_servers = { mem = { command = 'x' } }", "mcp_servers = 1"])
def test_toml_that_cannot_be_added_to_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not valid TOML|by hand"):
        codex_settings.with_server(text, hook_wiring.server(CODEX))


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers]\npalazzo = { command = "palazzo", args = ["mcp"] }\n',
        'mcp_servers.palazzo.command = "palazzo"\nmcp_servers.palazzo.args = ["mcp"]\n',
    ],
)
def test_a_server_of_ours_that_cannot_be_taken_out_is_refused_and_not_passed_over(text: str) -> None:
    with pytest.raises(ValueError, match="by hand"):
        codex_settings.without_servers(text, host_settings.is_our_server)
    with pytest.raises(ValueError, match="by hand"):
        codex_settings.with_server(text, hook_wiring.server(CODEX, PROGRAM))


@settings(max_examples=20, deadline=None)
@given(text=st.text(st.sampled_from("a#\r\n \ufeff"), max_size=9))
def test_a_block_comes_and_goes_without_a_trace(text: str) -> None:
    more = host_settings.with_block(text, "codex", "## Memory\n\nold")
    assert host_settings.with_block(more, "codex", "## Memory\n\nold") == more
    both = host_settings.with_block(more, "claude-code", "other")
    newer = host_settings.with_block(both, "codex", "## Memory\n\nnew")
    assert newer.count("palazzo:begin") == 2
    assert newer.count("new") == 1
    assert "old" not in newer
    assert host_settings.without_block(host_settings.without_block(newer, "claude-code"), "codex") == text


@pytest.mark.parametrize("fence", ["```", "~~~md"])
def test_a_block_that_is_given_as_an_example_is_not_ours(fence: str) -> None:
    text = f"{fence}\n<!-- palazzo:begin codex -->\nx\n<!-- palazzo:end -->\n{fence[:3]}"
    more = host_settings.with_block(text, "codex", "new")
    assert more.startswith(text)
    assert host_settings.with_block(more, "codex", "new") == more
    assert host_settings.without_block(more, "codex") == text


def test_behind_a_fence_that_is_not_closed_our_block_is_known() -> None:
    more = host_settings.with_block("```\ncode\n", "codex", "new")
    assert host_settings.with_block(more, "codex", "new") == more
    assert host_settings.without_block(more, "codex") == "```\ncode\n"


def test_half_a_block_is_refused() -> None:
    with pytest.raises(ValueError, match="is not followed by a line"):
        host_settings.with_block("<!-- palazzo:begin codex -->\nmine\n", "codex", "x")


def test_codex_gets_its_own_entries() -> None:
    text = host_settings.with_hooks(None, hook_wiring.entries(CODEX, PROGRAM), CODEX)
    assert json.loads(text)["hooks"] == {k: [v] for k, v in hook_wiring.entries(CODEX, PROGRAM).items()}
    assert json_edit.read(text).kind == "object"
