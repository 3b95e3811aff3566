"""The programs that `install mempalace-compat` writes, run as clients run them, and beside the real MemPalace."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.faces.cli.command import Command
from tests.sync.mempalace_peer import MemPalace, mempalace

from palazzo.faces.cli import mempalace_command as shim
from palazzo.faces.cli import mempalace_layout, mempalace_rules
from palazzo.faces.mcp.profiles.mempalace import TOOLS
from palazzo.features.hosts import install_mempalace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are .cmd files there")
FILES = {
    "docs/retries.md": "# Retries\n\nThe gateway retries a failed payment three times, then parks it for a person.\n",
    "storage.md": "# Storage\n\nInvoices are kept in PostgreSQL for ten years, as the auditors want it.\n",
    "mempalace.yaml": "wing: till\nrooms:\n- name: docs\n  description: Files from docs/\n- name: general\n",
}
SNIPPET = re.compile(r"\n\n\s+(.+?)(?:\n\s+-{10,}|\s*$)", re.DOTALL)


@dataclass(frozen=True)
class Programs:
    """The installed programs, by the directory they lie in."""

    directory: Path

    def run(
        self, *words: str | Path, program: str = "mempalace", stdin: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run one of them."""
        return run_program([self.directory / program, *words], stdin, variables)

    def python(self, *words: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a Python that imports them."""
        return run_program([sys.executable, *words], stdin, {"PYTHONPATH": str(self.directory), **variables})

    def call(
        self, *calls: tuple[str, dict[str, object]], flags: tuple[str, ...] = (), **variables: str
    ) -> list[dict[str, object]]:
        """Start the server with these flags, list its tools and call some; return its answers to that."""
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
        requests = [("initialize", hello), ("tools/list", {})]
        requests += [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls]
        environment = {**os.environ, **variables}
        command = [str(self.directory / "mempalace-mcp"), *flags]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            answers = []
            for n, (method, params) in enumerate(requests):
                message = {"jsonrpc": "2.0", "id": n, "method": method, "params": params}
                server.stdin.write(f"{json.dumps(message)}\n")
                server.stdin.flush()
                answers.append(json.loads(server.stdout.readline()))
        assert server.returncode == 0
        return answers[1:]


def run_program(command: list[str | Path], stdin: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run([str(word) for word in command], input=stdin, capture_output=True, text=True, env=environment)


@pytest.fixture
def programs(palazzo: Command, home: Path) -> Programs:
    directory = home / "my bin"
    palazzo.json("install", "mempalace-compat", str(directory))
    return Programs(directory)


@pytest.fixture
def till(home: Path) -> Path:
    """A project as MemPalace's `init` leaves one behind."""
    root = home / "till"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


# --- which version, and which tools ------------------------------------------------------------------------


def test_the_version_is_that_of_the_interface_wherever_a_client_asks_for_it(programs: Programs) -> None:
    assert shim.VERSION == install_mempalace.VERSION
    assert programs.run("--version").stdout == f"MemPalace {shim.VERSION}\n"
    assert programs.python("-m", "mempalace", "--version").stdout == f"MemPalace {shim.VERSION}\n"
    printed_version = programs.python("-c", "import mempalace; print(mempalace.__version__)")
    assert printed_version.stdout == f"{shim.VERSION}\n"


@pytest.mark.slow
def test_the_module_of_the_server_has_its_tools_and_starts_it(programs: Programs) -> None:
    script = (
        "from mempalace.mcp_server import TOOLS, main; print(*sorted(TOOLS)); TOOLS['mempalace_search']['description']"
    )
    tool_names = programs.python("-c", script).stdout.split()
    ran = programs.python("-m", "mempalace.mcp_server", stdin='{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    assert (ran.returncode, json.loads(ran.stdout)["id"]) == (0, 1)
    [tool_list] = programs.call()
    assert tool_names == sorted(tool["name"] for tool in tool_list["result"]["tools"])  # type: ignore[index]


ADAPTER = """
import json, sys
from mempalace.config import MempalaceConfig
from mempalace.convo_miner import mine_convos
import mempalace.mcp_server as mcp_server
added = mcp_server.tool_add_drawer(wing="till", room="ports", content=sys.argv[2], added_by="opencode")
found = mcp_server.tool_search(query="port of the gateway", limit=5, wing="till", room=None, source_file=None)
fact = mcp_server.tool_kg_add(subject="gateway", predicate="has_port", object="8443", valid_from="", source_closet="")
mine_convos(convo_dir=sys.argv[1], palace_path=MempalaceConfig().palace_path, wing="till", agent="opencode",
            extract_mode="general")
talk = mcp_server.tool_search(query="who parks a failed payment", limit=5)
bad = mcp_server.tool_delete_drawer(drawer_id="no-such-drawer")
print(json.dumps([added, found, fact, talk, bad]))
"""
"""What the extension of rvboris for opencode does in Python (version 0.5.0, `bridge/mempalace_adapter.py`)."""


@pytest.mark.slow
def test_an_extension_that_imports_mempalace_finds_its_functions(programs: Programs, tmp_path: Path) -> None:
    (tmp_path / "talk").mkdir()
    said = "> Who parks a failed payment?\nThe night shift parks each failed payment by hand.\n"
    (tmp_path / "talk" / "session.txt").write_text(said * 3)
    ran = programs.python("-c", ADAPTER, str(tmp_path / "talk"), "The port of the gateway is 8443 since May.")
    assert ran.returncode == 0, ran.stderr
    added, found, fact, talk, bad = json.loads(ran.stdout)
    assert (added["success"], fact["success"], bad["success"]) == (True, True, False)
    assert "8443" in found["results"][0]["text"]
    assert any("night shift" in result["text"] for result in talk["results"])


@pytest.mark.slow
def test_the_command_lines_of_extensions_are_understood(programs: Programs, till: Path, home: Path) -> None:
    lines: list[tuple[str | Path, ...]] = [
        # Auda29/pi-mempalace-extension 0.2.0, `src/tools.ts`: each of its tools
        ("init", till, "--yes"),
        ("mine", till),
        ("search", "failed payment"),
        ("status",),
        ("wake-up",),
        # nguyentamdat/opencode-mempalace 0.3.1, `src/mempalace-cli.ts`
        ("init", "--yes", till),
        ("status", "--palace", till / ".mempalace" / "palace"),
        ("wake-up", "--wing", "till"),
        ("mine", till, "--mode", "convos", "--wing", "till"),
    ]
    for line in lines:
        ran = programs.run(*line)
        assert (ran.returncode, bool(ran.stdout)) == (0, True), (line, ran.stderr)


# --- where nothing may be written --------------------------------------------------------------------------

ADDED: tuple[str, dict[str, object]] = (
    "mempalace_add_drawer",
    {"wing": "zoo", "room": "okapis", "content": "Okapis are shy animals of the forest."},
)


@pytest.mark.slow
@pytest.mark.parametrize(("flags", "variables"), [(("--read-only",), {}), ((), {"MEMPALACE_MCP_READ_ONLY": "1"})])
@pytest.mark.parametrize("service", ["off", "on"])
def test_a_server_for_reading_hides_what_writes_and_refuses_it(
    programs: Programs, palazzo: Command, flags: tuple[str, ...], variables: dict[str, str], service: str, home: Path
) -> None:
    around = {**variables, "PALAZZO_SERVICE": service, "XDG_RUNTIME_DIR": str(home)}
    try:
        programs.call(ADDED, PALAZZO_SERVICE="off")
        item_count = palazzo.json("status")["items"]
        tool_list, added, search_answer = programs.call(
            ADDED, ("mempalace_search", {"query": "okapis"}), flags=flags, **around
        )
    finally:
        run_program([sys.executable, "-m", "palazzo", "service", "stop"], "", around)
    names = {tool["name"] for tool in tool_list["result"]["tools"]}  # type: ignore[index]
    assert "mempalace_search" in names
    assert "mempalace_add_drawer" not in names
    assert added["error"] == {
        "code": -32003,
        "message": "Server is in read-only mode; this tool is disabled",
        "data": {"tool": "mempalace_add_drawer"},
    }
    assert "Okapis are shy" in search_answer["result"]["content"][0]["text"]  # type: ignore[index]
    assert item_count == palazzo.json("status")["items"] == 1


@pytest.mark.parametrize("words", [("init",), ("mine", "."), ("sync", ".", "--apply"), ("repair", "--yes")])
def test_a_verb_that_writes_is_refused_where_nothing_may_be_written(
    programs: Programs, home: Path, words: tuple[str, ...]
) -> None:
    ran = programs.run(*words, "--read-only")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "--read-only forbids" in ran.stderr
    assert not (home / ".local" / "share" / "palazzo").exists()
    hook = programs.run("hook", "run", "--hook", "stop", "--harness", "codex", "--read-only", stdin="{}")
    assert (hook.returncode, hook.stdout) == (0, "{}\n")


# --- what is printed ---------------------------------------------------------------------------------------


def test_the_help_of_each_verb_names_its_options(programs: Programs) -> None:
    assert shim.main(["--help"]) == 0
    for verb, options in shim._OPTIONS.items():
        ran = programs.run(verb, "--help")
        assert (ran.returncode, ran.stderr) == (0, "")
        assert all(option in ran.stdout for option in options)


def test_help_fits_a_terminal_and_the_version_is_told_after_other_options(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("", *shim._USAGE):
        assert shim.main([*filter(None, [verb]), "--help"]) == 0
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 80, verb
    for options_before in (["--read-only"], ["--palace", "x"]):
        assert shim.main([*options_before, "--version"]) == 0
        assert capsys.readouterr().out == f"MemPalace {shim.VERSION}\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["mine"], "say what to read: mempalace mine PATH."),
        (["sweep", "--dry-run"], "say what to read: mempalace sweep PATH."),
        (["search", "port", "--results", "many"], "--results needs a number: 1 or more."),
        (["search", "port", "--results=-1"], "--results needs a number: 1 or more."),
        (["rules", "--host", "mac", "--harness", "claude"], "rules needs --project NAME."),
    ],
)
def test_what_is_missing_is_said_in_the_words_of_mempalace(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert shim.main(words) == 2
    assert capsys.readouterr().err == f"mempalace: {sentence}\n"


def test_rules_name_the_agent_and_only_tools_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rules", "--host", "mac", "--harness", "claude", "--project", "till"]
    assert shim.translate(words) == ["rules", "mac", "claude", "till"]
    assert mempalace_rules.main(["mac", "claude", "till"]) == 0
    block = capsys.readouterr().out
    assert block.startswith("<!-- mempalace-shared-brain:start ")
    assert block.endswith("<!-- mempalace-shared-brain:end -->\n")
    assert "mac:claude:till" in block
    assert set(re.findall(r"mempalace_\w+", block)) <= {tool.name for tool in TOOLS}
    assert mempalace_rules.main(["Mac", "claude", "till"]) == 1


def test_a_hook_is_answered_and_an_unknown_verb_is_not(shop: Path, programs: Programs) -> None:
    hook = programs.run("hook", "run", "--hook", "stop", "--harness", "claude-code", stdin='{"session_id": "s"}')
    assert (hook.returncode, json.loads(hook.stdout)) == (0, {})
    compaction = programs.run(
        "hook", "run", "--hook", "precompact", "--harness", "claude-code", stdin='{"session_id": "s"}'
    )
    assert (compaction.returncode, json.loads(compaction.stdout)) == (0, {})
    wrong = programs.run("compress")
    assert (wrong.returncode, wrong.stdout) == (2, "")


@pytest.mark.parametrize(
    ("words", "expected_output", "sentence"),
    [
        (["search", "--wing", "zoo", "port"], 'No results found for: "port"', "There is no wing 'zoo'"),
        (["search", "--room", "zoo", "port"], 'No results found for: "port"', "There is no room 'zoo'"),
        (["wake-up", "--wing", "zoo"], "No memories yet.", "There is no wing 'zoo'"),
    ],
)
def test_an_unknown_place_is_named_on_standard_error(
    shop: Path, capsys: pytest.CaptureFixture[str], words: list[str], expected_output: str, sentence: str
) -> None:
    capsys.readouterr()
    assert mempalace_layout.main(words) == 0
    output = capsys.readouterr()
    assert expected_output in output.out
    assert output.err.startswith(f"mempalace: {sentence}")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize(("words", "code"), [(["status"], 3), (["search", "--since", "nonsense", "port"], 2)])
def test_a_failure_is_one_sentence_with_the_exit_code_of_palazzo(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], code: int
) -> None:
    def fail(options: object, context: object) -> str:
        raise RuntimeError

    if code == 3:
        monkeypatch.setitem(mempalace_layout._RENDERERS, "status", fail)
    capsys.readouterr()
    assert mempalace_layout.main(words) == code
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("palazzo: ")
    assert output.err.count("\n") == 1


def test_a_client_that_stops_reading_meets_no_bug_report(programs: Programs, shop: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [str(programs.directory / "mempalace"), "status"]
    ran = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.slow
def test_a_palace_is_the_file_in_the_directory_that_is_named(programs: Programs, till: Path, home: Path) -> None:
    other_palace = home / "elsewhere" / "palace"
    assert programs.run("--palace", other_palace, "mine", till).returncode == 0
    assert (other_palace / "palace.db").is_file()
    assert "MemPalace Status -- 2 drawers" in programs.run("status", f"--palace={other_palace}").stdout
    assert "2 drawers" in programs.run("status", MEMPALACE_PALACE_PATH=str(other_palace)).stdout
    assert "No palace found" in programs.run("status").stdout
    (other_palace.parent / "theirs").mkdir()
    (other_palace.parent / "theirs" / "chroma.sqlite3").write_bytes(b"")
    assert "palazzo import --palace" in programs.run("--palace", other_palace.parent / "theirs", "status").stderr


@pytest.mark.slow
def test_what_is_ignored_is_read_where_it_is_asked_for(programs: Programs, till: Path) -> None:
    (till / ".gitignore").write_text("plans/\n*.tmp.md\n")
    for name in ("plans/harbour.md", "plans/deep/quay.md", "crane.tmp.md"):
        (till / name).parent.mkdir(parents=True, exist_ok=True)
        (till / name).write_text("# Plan\n\nThe crane is painted in May, by the people of the harbour.\n")
    assert "2 new" in programs.run("mine", till).stdout
    assert "3 new" in programs.run("mine", till, "--include-ignored", "plans/,crane.tmp.md").stdout
    status = programs.run("status").stdout
    assert "5 drawers" in status
    assert status.count("WING:") == 1


# --- beside the real program -------------------------------------------------------------------------------


@pytest.mark.slow
def test_clients_read_the_same_of_the_real_program_and_of_this_one(
    programs: Programs, till: Path, tmp_path: Path
) -> None:
    with mempalace(tmp_path / "their home") as theirs:
        run = theirs_runner(theirs)
        for empty in (("status",), ("wake-up",), ("wake-up", "--wing", "none"), ("search", "payment")):
            assert same_form(run(*empty), programs.run(*empty))
        assert run("mine", str(till)).returncode == programs.run("mine", till).returncode == 0
        for words in (
            ("search", "failed payment"),
            ("search", "payment", "--wing", "till", "--room", "docs"),
            ("search", "payment", "--wing", "none"),
            ("search", "payment", "--room", "none"),
            ("status",),
            ("wake-up",),
            ("wake-up", "--wing", "none"),
            ("--version",),
        ):
            assert same_form(run(*words), programs.run(*words)), words
        assert snippets(run("search", "failed payment")) == snippets(programs.run("search", "failed payment"))
        assert {run("nonsense").returncode, programs.run("nonsense").returncode} == {2}
        assert {run("search").returncode, programs.run("search").returncode} == {2}


def theirs_runner(peer: MemPalace) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [peer.python, "-m", "mempalace", *words]
        return subprocess.run(command, env=peer.environment, cwd=peer.home, capture_output=True, text=True, check=False)

    return run


def same_form(theirs: subprocess.CompletedProcess[str], ours: subprocess.CompletedProcess[str]) -> bool:
    """Whether a client that goes by exit codes and by the lines that frame words meets the same."""
    assert (theirs.returncode, framing_lines(theirs.stdout)) == (ours.returncode, framing_lines(ours.stdout)), (
        ours.stderr
    )
    return True


def framing_lines(output: str) -> list[str]:
    """The lines that are no recorded words, with numbers and places of this machine left out; of hits the first."""
    first = output.partition("  [2] ")[0]
    lines = [
        line
        for line in first.splitlines()
        if re.match(
            r"=|  (\[|Results|Wing|Room|No |Run|WING|MemP)|    ROOM|"
            r"      (Source|Match)|Wake-up|MemPalace",
            line,
        )
    ]
    return [re.sub(r"\d+\.\d+|~\d+|at /.*", "#", line) for line in lines]


def snippets(ran: subprocess.CompletedProcess[str]) -> list[tuple[str, str]]:
    """What a client takes out of a search: the words of each block that states a cosine, with its source."""
    blocks = re.split(r"\n  \[\d+\] ", ran.stdout)[1:]
    assert blocks
    assert all(re.search(r"cosine_sim=[0-9.]+", block) for block in blocks)
    source_pattern = re.compile(r"Source: (\S+)")
    return sorted(
        (source.group(1), words.group(1).strip())
        for block in blocks
        if (source := source_pattern.search(block)) and (words := SNIPPET.search(block))
    )
