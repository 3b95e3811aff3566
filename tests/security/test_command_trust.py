"""What of a command's output is known to be local; all else is somebody else's."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from benchmarks.provenance_rules import DATA, command_verdicts, half_of
from hypothesis import given
from hypothesis import strategies as st

from palazzo.security.command_trust import judge_command
from palazzo.security.loopback import is_own_server
from palazzo.security.own_sources import OwnSources
from palazzo.security.project_paths import LOCAL_TEXT, OWN_FILE, UNKNOWN_TEXT, Project
from palazzo.security.shell_reader import LONGEST_COMMAND
from palazzo.security.tool_trust import judge_tool

PROJECT = Project("/home/dev/app", "/home/dev/app")


def test_the_tuning_half_of_the_labelled_commands_is_told_apart() -> None:
    entries = [
        entry
        for entry in yaml.safe_load((Path(DATA) / "commands.yaml").read_text(encoding="utf-8"))
        if half_of(entry["id"]) == "tuning"
    ]
    verdicts = command_verdicts(entries)
    false_locals = [entry["id"] for entry in entries if entry["label"] == "foreign" and verdicts[entry["id"]]]
    local = [verdicts[entry["id"]] for entry in entries if entry["label"] == "local"]
    assert false_locals == []
    assert sum(local) >= 0.9 * len(local)


@pytest.mark.parametrize(
    "command",
    [
        "git merge --squash origin/x",
        "git cherry-pick -n upstream/x",
        "git checkout --track origin/x",
        "git clone --depth 1 https://x.example/y",
        "git show :/fixes",
        "git log ..@{u}",
        "R=origin; git log $R/main",
        "export BASE_URL=https://x.example; npm test",
        "PAGER='curl x.example' git log",
        "f() { curl x.example; }; f",
        "trap 'curl x.example' EXIT",
        "read x < /etc/motd; echo $x",
        "echo $(</etc/motd)",
        "cat {src,node_modules/x}/a",
        "cat **/*.md",
        "ls | xargs cat",
        "grep -r foo .",
        "sed '1e curl x' a",
        "awk 'BEGIN{\"curl x\"|getline l; print l}'",
        "python3 -c \"import glob; [print(open(f).read()) for f in glob.glob('/tmp/*')]\"",
        "curl http://127.0.0.1.nip.io/",
        "curl http://localhost:9200/_search",
        "cat 'unclosed",
        f"cat '{OWN_FILE}' {UNKNOWN_TEXT}",
        "echo " + "x" * LONGEST_COMMAND,
    ],
)
def test_what_is_not_known_to_be_local_is_not(command: str) -> None:
    assert not judge_command(command, PROJECT).is_local


@pytest.mark.parametrize(
    "command",
    [
        "f() { curl x.example; }; declare -f f",
        "for f in $(git ls-files '*.sh'); do shellcheck \"$f\"; done",
        'git ls-files src | while read -r f; do wc -l "$f"; done',
        "x=$(git rev-parse HEAD); git show --stat $x",
        "git log origin/main..HEAD",
        "git diff $(git merge-base main HEAD)",
        "curl --resolve app.test:443:127.0.0.1 https://app.test/",
        "g++ -o /tmp/a src/a.cpp && /tmp/a",
        "npm run build > /tmp/b.log 2>&1 || tail -50 /tmp/b.log",
        "DATABASE_URL=postgres://p:p@localhost:5432/test pytest -q",
        "python3 <<'E'\nfrom pathlib import Path\nprint(len(Path('src/a.py').read_text()))\nE",
    ],
)
def test_what_is_known_to_be_local_is(command: str) -> None:
    assert judge_command(command, PROJECT).is_local


@pytest.mark.parametrize(
    ("address", "is_own"),
    [
        ("http://2130706433:8000/", True),
        ("127.1:3000", True),
        ("0x7f000001", True),
        ("http://[::1]:3000/", True),
        (":8000/api", True),
        ("http://localhost@evil.example/", False),
        ("http://evil.example/#@localhost/", False),
        ("http://localhost\\@evil.example/", False),
        ("http://{localhost,evil.example}/", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("10.0.0.1", False),
    ],
)
def test_an_address_is_read_as_programs_read_it(address: str, is_own: bool) -> None:
    assert is_own_server(address) is is_own


def test_what_a_person_lists_is_their_own() -> None:
    own = OwnSources(("kubectl", "wiki.acme.example", "~/work/shared", "origin", "mcp__tracker"))
    for command in (
        "kubectl get pods",
        "curl https://wiki.acme.example/a",
        "cat ~/work/shared/a.md",
        "git pull origin main && git log origin/main",
    ):
        assert not judge_command(command, PROJECT).is_local
        assert judge_command(command, PROJECT, own=own).is_local
    assert judge_tool("mcp__tracker__read", {}, own=own).is_local
    assert not judge_tool("mcp__trackers__read", {}, own=own).is_local
    for command in (
        "kubectl get pods; curl x.example",
        "git log upstream/main",
        "cat ~/work/shared-not/a.md",
        "./kubectl",
    ):
        assert not judge_command(command, PROJECT, own=own).is_local


@pytest.mark.parametrize(
    ("tool", "memory"),
    [
        ("mempalace_status", "mempalace"),
        ("mcp__mempalace__mempalace_search", "mempalace"),
        ("mcp__memory__mempalace_search", "mempalace"),
        ("mempalace-mempalace_search", "mempalace"),
        ("mcp__shodh-memory__recall", "shodh"),
        ("mcp_shodh_recall", "shodh"),
    ],
)
def test_a_memory_is_foreign_until_a_person_says_that_its_name_is_palazzos(tool: str, memory: str) -> None:
    other = "shodh" if memory == "mempalace" else "mempalace"
    assert judge_tool(tool, {}, own=OwnSources((memory,))).is_local
    assert not judge_tool(tool, {}, own=OwnSources((other, "kubectl"))).is_local
    assert not judge_tool(tool, {}).is_local


@pytest.mark.parametrize(
    ("tool", "pattern", "is_local"),
    [
        ("Glob", "node_modules/**/*.md", False),
        ("glob", "/tmp/**/*.md", False),
        ("find", "vendor/*/README*", False),
        ("Glob", "src/**/*.py", True),
        ("Glob", "**/*.md", True),
        ("Grep", "node_modules/x", True),
    ],
)
def test_a_pattern_of_file_names_is_read_as_a_path(tool: str, pattern: str, is_local: bool) -> None:
    assert judge_tool(tool, {"pattern": pattern}, PROJECT).is_local is is_local


@given(st.text(alphabet="ab $(){}`'\"\\|&;<>\n#=~*/-" + UNKNOWN_TEXT + LOCAL_TEXT, max_size=60))
def test_any_text_can_be_judged(command: str) -> None:
    assert judge_command(command, PROJECT).is_local in (True, False)
