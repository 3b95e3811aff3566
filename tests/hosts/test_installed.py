"""What doctor says of hosts: what is there, what it starts, whether that answers, and what is wrong with it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from palazzo.features.hosts import host_programs
from palazzo.features.hosts.install_state import TOOLS_TOLD_OF, HostStatus, inspect_hosts
from palazzo.hosts import own_program
from palazzo.hosts.codex.install import trust_keys
from palazzo.hosts.memory_block import BODY
from palazzo.operations.context import Context
from palazzo.operations.registry import operation

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
SERVES = r"""{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"palazzo"}}}
{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"search"},{"name":"read"},{"name":"remember"}]}}"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that answers as Palazzo does, at once."""
    path = tmp_path / "b in" / "palazzo"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\ncat > /dev/null\n[ $1 = mcp ] && echo '{SERVES}' || echo '{{}}'\n")
    path.chmod(0o755)
    for directory in (".claude", ".codex", "shop"):
        (tmp_path / directory).mkdir()
    monkeypatch.setattr(own_program, "_list_program_paths", lambda: iter([path]))
    return path


def surroundings(home: Path) -> Context:
    variables = {"HOME": str(home), "PATH": f"{home}/b in{os.pathsep}/usr/bin{os.pathsep}/bin"}
    return Context(cwd=home / "shop", variables=variables)


def wire(home: Path, target: str, **given: bool) -> None:
    install = operation("install")
    with surroundings(home) as context:
        install.run(context, install.request(target, **given))


def look(home: Path, host: str) -> HostStatus:
    with surroundings(home) as context:
        return next(one for one in inspect_hosts(context) if one.host == host)


def kinds(found: HostStatus) -> list[str]:
    return [trouble.kind for trouble in found.troubles]


def test_hosts_that_are_not_wired_are_said_to_be_so(tmp_path: Path, program: Path) -> None:
    found = look(tmp_path, "claude-code")
    assert (found.is_wired, found.troubles, found.hook_answers) == (False, (), None)


def test_what_is_wired_is_tried_as_the_host_would(tmp_path: Path, program: Path) -> None:
    wire(tmp_path, "claude-code")
    found = look(tmp_path, "claude-code")
    assert (found.scopes, found.server, found.hooks == found.wired) == (("user",), True, True)
    assert (found.hook_answers, found.server_answers, found.troubles) == (True, True, ())
    assert found.programs == (f"'{program}'",)


def test_a_server_without_the_tools_that_agents_are_told_of_is_a_trouble(tmp_path: Path, program: Path) -> None:
    wire(tmp_path, "claude-code")
    program.write_text(program.read_text().replace('"read"', '"recall"'))
    (trouble,) = look(tmp_path, "claude-code").troubles
    assert trouble.detail == "the MCP server lacks tools that agents' instructions name: read"
    assert all(f"`{tool}`" in BODY for tool in TOOLS_TOLD_OF)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo no json", "cannot be read by Claude Code"),
        ("echo broken >&2; exit 3", "ends with 3: broken"),
        (None, "which was not found"),
    ],
)
def test_a_program_that_does_not_answer_is_a_trouble(
    tmp_path: Path, program: Path, script: str | None, says: str
) -> None:
    wire(tmp_path, "claude-code")
    if script is None:
        program.unlink()
    else:
        program.write_text(f"#!/bin/sh\ncat > /dev/null\n{script}\n")
    found = look(tmp_path, "claude-code")
    assert kinds(found) == ["silent", "silent"]
    assert says in found.troubles[0].detail
    assert found.troubles[0].mend == "palazzo install claude-code"


def test_a_program_that_is_slow_is_a_trouble_that_no_installation_mends(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire(tmp_path, "claude-code")
    program.write_text("#!/bin/sh\nexec sleep 30\n")
    monkeypatch.setattr(host_programs, "_PATIENCE", 0.1)
    found = look(tmp_path, "claude-code")
    assert kinds(found) == ["silent", "silent"]
    assert {trouble.mend for trouble in found.troubles} == {"palazzo doctor, when the machine is less busy"}


def test_codex_runs_nothing_before_it_is_trusted_and_again_after_a_change(tmp_path: Path, program: Path) -> None:
    wire(tmp_path, "codex")
    hooks, config = tmp_path / ".codex" / "hooks.json", tmp_path / ".codex" / "config.toml"
    assert kinds(look(tmp_path, "codex")) == ["untrusted"]
    kept = "".join(f"\n[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(said)}\n"
                   for key, said in trust_keys(hooks).items())  # fmt: skip
    config.write_text(config.read_text() + kept)
    assert look(tmp_path, "codex").trusted is True
    hooks.write_text(hooks.read_text().replace('"timeout": 60', '"timeout": 61'))
    assert look(tmp_path, "codex").trusted is False


def test_the_hash_of_trust_is_codex_own() -> None:
    """As Codex 0.169 gave it by `hooks/list` for this definition."""
    from palazzo.hosts.codex import install as install_codex

    handler = {"type": "command", "command": "'/tmp/p7 ü/bin/palazzo' hook codex stop", "timeout": 10}
    known = "sha256:4e017dc4fb2826ff71baf557280ecb1e238686d8c53fff40f18345be589b9417"
    assert install_codex._hash("stop", None, handler) == known
    tool = {"type": "command", "command": "'/tmp/p7 ü/bin/palazzo' hook codex post-tool", "timeout": 10}
    known = "sha256:f34750bfa303be0e087aed015d90be816337fc11e3c739b50290336eb3702324"
    assert install_codex._hash("post_tool_use", "Bash|update_plan", tool) == known


def test_what_stands_there_twice_is_a_trouble(tmp_path: Path, program: Path) -> None:
    wire(tmp_path, "claude-code")
    wire(tmp_path, "claude-code", project=True)
    assert kinds(look(tmp_path, "claude-code")) == ["twice"]
    settings = tmp_path / ".claude" / "settings.json"
    said = json.loads(settings.read_text())
    settings.write_text(json.dumps({**said, "enabledPlugins": {"palazzo@market": True}, "disableAllHooks": True}))
    found = look(tmp_path, "claude-code")
    assert found.scopes == ("user", "project", "plugin")
    assert kinds(found) == ["twice", "off"]


def test_what_mends_a_project_s_files_is_said_with_where_to_run_it(tmp_path: Path, program: Path) -> None:
    wire(tmp_path, "claude-code", project=True)
    (tmp_path / ".claude.json").unlink(missing_ok=True)
    program.write_text("#!/bin/sh\nexit 3\n")
    troubles = look(tmp_path, "claude-code").troubles
    assert {one.mend for one in troubles} == {f"cd {tmp_path / 'shop'} && palazzo install claude-code --project"}
    settings = tmp_path / "shop" / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace('"Stop"', '"Other"'))
    assert {"incomplete", "silent"} == set(kinds(look(tmp_path, "claude-code")))


def test_the_hooks_of_codex_s_plugin_are_to_be_trusted_as_well(tmp_path: Path) -> None:
    config = tmp_path / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('[plugins."palazzo@palazzo"]\nenabled = true\n')
    assert kinds(look(tmp_path, "codex")) == ["untrusted"]
    with config.open("a") as file:
        file.write('[hooks.state."palazzo@palazzo:hooks/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:00"\n')
    assert kinds(look(tmp_path, "codex")) == []


def test_a_plugin_of_codex_beside_the_hooks_is_a_trouble(tmp_path: Path, program: Path) -> None:
    wire(tmp_path, "codex")
    config = tmp_path / ".codex" / "config.toml"
    config.write_text(config.read_text() + '\n[plugins."palazzo@palazzo"]\nenabled = true\n')
    assert kinds(look(tmp_path, "codex")) == ["twice", "untrusted"]
    config.write_text(config.read_text().replace("enabled = true", "enabled = false"))
    assert kinds(look(tmp_path, "codex")) == ["untrusted"]


def test_what_is_missing_unreadable_or_of_another_palace_is_a_trouble(tmp_path: Path, program: Path) -> None:
    wire(tmp_path, "claude-code")
    settings, servers = tmp_path / ".claude" / "settings.json", tmp_path / ".claude.json"
    said = json.loads(settings.read_text())
    del said["hooks"]["Stop"]
    said["hooks"]["SessionStart"][0]["hooks"][0]["args"] += ["--palace", "/else/where.db"]
    settings.write_text(json.dumps(said))
    servers.write_text("{")
    found = look(tmp_path, "claude-code")
    assert kinds(found) == ["unreadable", "other-palace", "incomplete", "incomplete"]
    assert "no hook for Stop" in found.troubles[2].detail


def test_doctor_says_it(tmp_path: Path, program: Path) -> None:
    wire(tmp_path, "codex")
    doctor = operation("doctor")
    with surroundings(tmp_path) as context:
        findings = doctor.run(context, doctor.request()).findings
    claude, codex, trust = (one for one in findings if one.name in ("Claude Code", "Codex"))
    assert claude.ok
    assert claude.mend == "palazzo setup --only claude-code"
    assert codex.ok
    assert codex.detail == f"hooks (user) and MCP server, by '{program}'; both answer"
    assert (trust.ok, trust.mend) == (False, "start codex and type /hooks")


def test_a_server_is_started_once_for_all_hosts_and_each_host_s_hook_is_tried(tmp_path: Path, program: Path) -> None:
    started = tmp_path / "started"
    program.write_text(
        f"#!/bin/sh\ncat > /dev/null\necho $1 $2 >> {started}\n"
        f"[ $1 = mcp ] && echo '{SERVES}' && exit\n[ $2 = kiro ] || echo '{{}}'\n"
    )
    directories = {"aider": ".aider", "cline": ".cline", "cursor": ".cursor", "kiro": ".kiro"}
    directories["windsurf"] = ".codeium/windsurf"
    for host, directory in directories.items():
        (tmp_path / directory).mkdir(parents=True)
        wire(tmp_path, host)
    with surroundings(tmp_path) as context:
        found = {one.host: one for one in inspect_hosts(context) if one.host in directories}
    assert [(one.is_wired, one.troubles) for one in found.values()] == [(True, ())] * len(directories)
    assert {host: one.hook_answers for host, one in found.items() if one.hook_answers is not True} == {"aider": None}
    assert sorted(started.read_text().splitlines()) == [
        *("hook cline", "hook cursor", "hook kiro", "hook windsurf"),
        "mcp",
    ]
