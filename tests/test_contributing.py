"""What a contributor relies on: settings parse and agree, and a new thing takes the files that are listed here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import dev
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LOCKED_TOOLS = ("hypothesis", "mypy", "pytest", "ruff")
"""Tools whose results depend on their version: both locks name the same one."""


# --- settings ----------------------------------------------------------------------------------------------


@cache
def read_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def read_toml(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def normalize(name: str) -> str:
    """Return a package's name as indexes write it (https://packaging.python.org/en/latest/specifications/)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_yaml_and_json_files_parse() -> None:
    templates = [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml"]
    assert len(templates) >= 6
    assert all(isinstance(read_yaml(path), dict) for path in templates)
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert "dev.install()" in container["postCreateCommand"]
    python = tuple(map(int, container["image"].rpartition(":")[2].split(".")))
    assert python >= dev.OLDEST


def dev_commands(path: Path) -> set[str]:
    """Return the commands of dev.py that a file names, those of a matrix included."""
    text = path.read_text(encoding="utf-8")
    names = set(re.findall(r"dev\.py (\w+)", text))
    if "dev.py ${{ matrix.command }}" in text:
        names.update(re.findall(r"- command: (\w+)", text))
    return names


def test_tests_that_dev_py_names_exist() -> None:
    named = (*dev.DEPENDENT, *dev.PROGRAMS, *dev.ALONE, *dev.PROPERTIES)
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_commands_of_dev_py_exist() -> None:
    documented = set(re.findall(r"python3 dev\.py (\w+)", dev.__doc__ or ""))
    places = [*WORKFLOWS, ROOT / ".ci" / "run", ROOT / "CONTRIBUTING.md", ROOT / ".github" / "pull_request_template.md"]
    for path in places:
        names = dev_commands(path)
        assert names, path
        assert names <= documented, path
    assert all(callable(getattr(dev, name)) for name in documented)


def test_continuous_integration_runs_every_command_of_the_script() -> None:
    assert dev_commands(ROOT / ".github" / "workflows" / "ci.yml") == dev_commands(ROOT / ".ci" / "run")


def jobs(path: Path) -> Iterator[dict[str, Any]]:
    yield from read_yaml(path)["jobs"].values()


def test_jobs_use_supported_versions_of_python() -> None:
    supported = set(dev.PYTHONS)
    classifiers = read_toml("pyproject.toml")["project"]["classifiers"]
    assert {name.rpartition(" ")[2] for name in classifiers if re.search(r"Python :: 3\.\d", name)} == supported
    assert read_toml("pyproject.toml")["project"]["requires-python"] == f">={dev.PYTHONS[0]}"
    tested = set()
    for path in WORKFLOWS:
        for job in jobs(path):
            matrix = job.get("strategy", {}).get("matrix", {})
            versions = [*matrix.get("python", ()), *(row["python"] for row in matrix.get("include", ()))]
            stated = [step.get("with", {}).get("python-version", "") for step in job["steps"]]
            versions += [version for version in stated if version and "matrix" not in version]
            assert set(versions) <= supported, path
            tested.update(versions)
    assert {dev.PYTHONS[0], dev.PYTHONS[-1]} <= tested


def test_workflows_have_few_rights_and_pinned_actions() -> None:
    for path in WORKFLOWS:
        assert set(read_yaml(path)["permissions"].values() if read_yaml(path)["permissions"] else ()) <= {"read"}
        assert "concurrency" in read_yaml(path)
        for job in jobs(path):
            assert job["timeout-minutes"]
            for step in job["steps"]:
                action, _, pin = step.get("uses", "").partition("@")
                assert not action or re.fullmatch(r"v\d+(\.\d+)*|release/v\d+|[0-9a-f]{40}", pin), step


def test_commands_of_git_hooks_exist() -> None:
    (repository,) = read_yaml(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        python, script, module, *_ = hook["entry"].split()
        assert python == "python"
        assert (ROOT / script).is_file()
        assert subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True).returncode == 0
        assert any(normalize(module) == name for name in requirements("dev")), module


def requirements(extra: str) -> set[str]:
    project = read_toml("pyproject.toml")["project"]
    listed = project["optional-dependencies"][extra] if extra else project["dependencies"]
    names = [re.match(r"[\w.-]+", requirement) for requirement in listed]
    return {normalize(name[0]) for name in names if name is not None}


def test_the_lock_of_uv_names_what_the_project_needs() -> None:
    lock = read_toml("uv.lock")
    (project,) = (package for package in lock["package"] if package["name"] == "palazzo")
    assert {package["name"] for package in project["dependencies"]} == requirements("")
    for extra in ("dev", "documents", "granite", "sync", "team"):
        assert {package["name"] for package in project["optional-dependencies"][extra]} == requirements(extra)
    assert lock["requires-python"] == read_toml("pyproject.toml")["project"]["requires-python"]


def test_the_lock_of_uv_names_public_places_alone() -> None:
    text = (ROOT / "uv.lock").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://([^/\"]+)", text)) == {"files.pythonhosted.org", "pypi.org"}
    assert not re.search(r"(path|directory|url) = \"(?!https://files\.pythonhosted\.org/)", text)


def test_both_locks_name_the_same_versions_of_tools() -> None:
    of_uv = {package["name"]: package.get("version") for package in read_toml("uv.lock")["package"]}
    lines = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8").splitlines()
    of_pip = dict(line.split("==") for line in lines if "==" in line and ";" not in line)
    assert {name: of_uv[name] for name in LOCKED_TOOLS} == {name: of_pip[name] for name in LOCKED_TOOLS}


# --- one more of each --------------------------------------------------------------------------------------


Edit = tuple[str, str, str]
"""A file, a text that stands there once, and the text that replaces it."""


def after(path: str, line: str, text: str) -> Edit:
    """Return the edit that adds lines after a line."""
    return path, f"{line}\n", f"{line}\n{text}"


@dataclass(frozen=True)
class Addition:
    """A new thing: the files that are created, edits of other files, and the files that a tool then writes."""

    created: Mapping[str, str] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    generated: tuple[str, ...] = ()
    tests: tuple[tuple[str, str], ...] = ()
    """Tests that would fail without one of these files: a file, and an expression that selects them (`-k`)."""

    @property
    def written(self) -> list[str]:
        """The files that a contributor writes."""
        return list(dict.fromkeys([*self.created, *(path for path, _, _ in self.edits)]))

    def apply(self, root: Path) -> None:
        for path, text in self.created.items():
            assert not (root / path).exists(), path
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        for path, old, new in self.edits:
            before = (root / path).read_text(encoding="utf-8")
            assert before.count(old) == 1, f"{path}: this text must stand there once: {old}"
            (root / path).write_text(before.replace(old, new), encoding="utf-8")


VERB = Addition(
    created={
        "src/palazzo/features/places/tally.py": '''"""tally: count the wings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.places.contract import TallyRequest, TallyResult
from palazzo.store import place_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def tally(context: Context, request: TallyRequest) -> TallyResult:
    """Count the wings."""
    with context.reading().database.snapshot() as connection:
        return TallyResult(len(place_rows.wings(connection)))
'''
    },
    edits=(
        after(
            "src/palazzo/features/places/contract.py",
            '    examples=("palazzo taxonomy --wing api",),\n)',
            '''

@frozen
class TallyRequest:
    """Count the wings."""


@frozen
class TallyResult:
    """The number of wings."""

    wings: int


TALLY = Operation(
    "tally",
    TallyRequest,
    TallyResult,
    scope="read",
    group="Arrange",
    summary="Count the wings",
    examples=("palazzo tally",),
)
''',
        ),
        after("src/palazzo/features/places/view.py", "    SharingView,", "    TallyResult,\n"),
        after(
            "src/palazzo/features/places/view.py",
            "_MOST_LISTED = 10",
            '''

def tally(screen: Screen, result: TallyResult) -> None:
    """Show the number."""
    screen.say(count_noun(result.wings, "wing"))
''',
        ),
    ),
    generated=("docs/reference/commands.md", "src/palazzo/operations/command_index.py"),
    tests=(
        ("tests/operations/test_registry.py", "every_operation or users_guide"),
        ("tests/faces/mcp/test_http.py", "tally"),
        ("tests/faces/cli/test_help.py", "tally or one_group"),
    ),
)

READER = '''"""{title}'s sessions: one message a line.

{"{name}": "session", "speaker": "person", "text": "words"}
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from palazzo.model import Part, Role
from palazzo.sources.formats import Content, Identity, Message, Row, Unreadable
from palazzo.sources.formats.jsonl_rows import JsonObject, json_lines, objects_in_head, string

KIND = "{name}"
_ROLES: dict[str, Role] = {"person": "user", "agent": "assistant"}


class {title}Sessions:
    """Reads {title}'s sessions."""

    kind = KIND
    version = 1
    appends = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the first object names a session of {title}."""
        objects, _ = objects_in_head(head)
        return bool(objects) and bool(string(objects[0], "{name}"))

    def identify(self, path: Path, head: bytes) -> Identity:
        """Return the session that the first object names, else the file's name."""
        objects, _ = objects_in_head(head)
        session = string(objects[0], "{name}") if objects else ""
        return Identity((KIND, session or path.stem), session)

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield every row from byte `start`."""
        for position, raw, value in json_lines(stream, start):
            yield Row(position, raw, _content(value) if isinstance(value, dict) else value)


def _content(row: JsonObject) -> Content:
    role, text = _ROLES.get(string(row, "speaker")), string(row, "text")
    if role is None or not text:
        return Unreadable("no message")
    return Message(text, role, parts=(Part("text", 0, len(text)),))
'''
"""A reader of transcripts; `{name}` and `{title}` stand for the program's name."""


def reader(name: str) -> str:
    """Return the source of a reader for the program of this name."""
    return READER.replace("{name}", name).replace("{title}", name.title())


HOST = Addition(
    created={
        "src/palazzo/hosts/lantern/__init__.py": '''"""Lantern, an agent that exists in this test alone."""
''',
        "src/palazzo/hosts/lantern/host.py": '''"""What Palazzo knows of Lantern."""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="lantern",
    title="Lantern",
    program="lantern",
    kinds=("lantern",),
    directories=(Location("", ".lantern"),),
    histories=(Location("LANTERN_HOME", ".lantern", ("sessions",)),),
    session_files=r".+\\.jsonl",
    evidence="documentation",
)
''',
        "src/palazzo/hosts/lantern/transcript.py": reader("lantern").replace(
            "import Content,", "import Content, Feeder,"
        )
        + "\n\nFEEDERS: tuple[Feeder, ...] = (LanternSessions(),)\n",
        "src/palazzo/hosts/lantern/hooks.py": '''"""Lantern's hooks: Claude Code's format, with fewer events."""

from __future__ import annotations

from collections.abc import Mapping

from palazzo.hosts import claude_shaped
from palazzo.hosts.adapter import Answer, Payload
from palazzo.injection.hook_events import Event, HookEvent, Reaction

_NAMES: dict[Event, str] = {"session-start": "SessionStart", "prompt": "Prompt", "stop": "Stop"}
_INJECTS: frozenset[Event] = frozenset(["session-start", "prompt"])


class Lantern:
    """The adapter for Lantern."""

    name = "lantern"
    events: Mapping[str, Event] = {own: event for event, own in _NAMES.items()} | {event: event for event in _NAMES}
    shows: frozenset[Event] = frozenset(_NAMES)
    holds_back = False

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened."""
        return claude_shaped.parse_event(self.name, event, payload, claude_shaped.tool(payload))

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return the answer."""
        return claude_shaped.answer(_NAMES, _INJECTS, event, reaction)


ADAPTER = Lantern()
''',
    },
    generated=("docs/reference/hosts.md", "src/palazzo/host_names.py"),
    tests=(
        ("tests/hosts", "lantern"),
        ("tests/sources/test_conformance.py", "lantern"),
    ),
)

FORMAT = Addition(
    created={"src/palazzo/sources/formats/beacon_sessions.py": reader("beacon")},
    edits=(
        after(
            "src/palazzo/sources/formats/transcript_formats.py",
            "from palazzo.sources.formats import Collection, Feeder",
            "from palazzo.sources.formats.beacon_sessions import BeaconSessions\n",
        ),
        (
            "src/palazzo/sources/formats/transcript_formats.py",
            "TRANSCRIPTS: tuple[Feeder, ...] = _HOSTS.feeders()",
            "TRANSCRIPTS: tuple[Feeder, ...] = (*_HOSTS.feeders(), BeaconSessions())",
        ),
    ),
    tests=(("tests/sources/test_conformance.py", "beacon"),),
)

OF_NEW_TABLES = (
    ("tests/archive/test_erasing.py", "every_table"),
    ("tests/store/test_migration_names.py", "schema_that_is_read"),
)
"""Tests of where a table's words go, and of the migrations that a hook knows."""

CONSUMER = Addition(
    created={
        "src/palazzo/derived/length_consumer.py": '''"""Length consumer: how many characters each live drawer has."""

from __future__ import annotations

import json
from collections.abc import Sequence

from palazzo.index.failure_isolation import drawer_label
from palazzo.store.change_log import Change, ChangeKind
from palazzo.store.database import Connection


class LengthConsumer:
    """The consumer that stores lengths. Its things are drawers."""

    name = "length"
    version = 1
    kinds: tuple[ChangeKind, ...] = ("drawer+", "drawer-", "drawer~", "reset")
    at_once = 500

    def find_affected_things(self, connection: Connection, log: Sequence[Change]) -> list[int]:
        """Return the drawers that these changes concern."""
        return sorted({change.ref for change in log})

    def everything(self, connection: Connection) -> list[int]:
        """Return the live drawers, and all drawers with a stored length."""
        rows = connection.execute(
            "SELECT id FROM drawer WHERE retired_at IS NULL UNION SELECT drawer FROM drawer_length ORDER BY 1"
        )
        return [int(row) for (row,) in rows]

    def make(self, connection: Connection, things: Sequence[int]) -> dict[int, int]:
        """Measure these drawers."""
        rows = connection.execute(
            "SELECT drawer, sum(end - start) FROM drawer_span JOIN drawer ON drawer.id = drawer_span.drawer"
            " WHERE drawer IN (SELECT value FROM json_each(?)) AND retired_at IS NULL GROUP BY drawer",
            (json.dumps(list(things)),),
        )
        return {int(drawer): int(length) for drawer, length in rows}

    def keep(self, connection: Connection, things: Sequence[int], output: dict[int, int]) -> None:
        """Store the lengths."""
        self.drop(connection, things)
        connection.executemany("INSERT INTO drawer_length(drawer, characters) VALUES(?, ?)", output.items())

    def drop(self, connection: Connection, things: Sequence[int]) -> None:
        """Remove the lengths of these drawers."""
        connection.executemany("DELETE FROM drawer_length WHERE drawer = ?", [(thing,) for thing in things])

    def label(self, connection: Connection, thing: int) -> str:
        """Return a drawer's name for a person."""
        return drawer_label(connection, thing)


LENGTH_CONSUMER = LengthConsumer()
'''
    },
    edits=(
        after(
            "src/palazzo/store/schema.py",
            "    for statement in source_headings.VECTOR_COLUMNS:\n        connection.execute(statement)",
            '''

def m021_lengths(connection: Connection) -> None:
    """Create the table of the lengths of drawers."""
    connection.execute("CREATE TABLE drawer_length(drawer INTEGER PRIMARY KEY, characters INTEGER NOT NULL)")
''',
        ),
        after("src/palazzo/store/migration_names.py", '    "m020_heading_vectors",', '    "m021_lengths",\n'),
        (
            "src/palazzo/store/salvage_rules.py",
            '"outside", "dead_letter")',
            '"outside", "dead_letter", "drawer_length")',
        ),
        after(
            "src/palazzo/derived/consumers.py",
            "from palazzo.derived.heading_consumer import HEADING_CONSUMER",
            "from palazzo.derived.length_consumer import LENGTH_CONSUMER\n",
        ),
        after(
            "src/palazzo/derived/consumer_activities.py",
            '    "anchor": "finding cited files",',
            '    "length": "measuring drawers",\n',
        ),
        after("src/palazzo/derived/consumers.py", "        ANCHOR_CONSUMER,", "        LENGTH_CONSUMER,\n"),
        after(
            "src/palazzo/daemon/embedding_process.py",
            '        self._run("anchor", lambda: palace.follow_anchors(stop))',
            '        self._run("length", lambda: palace.follow_consumer("length"))\n',
        ),
    ),
    tests=OF_NEW_TABLES,
)

RECORD = Addition(
    created={
        "src/palazzo/sync/records/signpost_records.py": '''"""Signposts: names by which people find their way."""

from __future__ import annotations

from collections.abc import Iterator

from palazzo.frozen_class import frozen
from palazzo.sync.field_codecs import Id, Name
from palazzo.sync.merge_state import Outcome, Work
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, hex_id
from palazzo.sync.records.record_kind import Record, RecordKind


@frozen
class Signpost(Record):
    """A name by which people find their way."""

    id: Id
    name: Name


def _read(snapshot: PalaceSnapshot) -> Iterator[Signpost]:
    for uid, name in snapshot.connection.execute("SELECT uid, name FROM signpost ORDER BY uid"):
        yield Signpost(hex_id(uid), name)


def _merge(work: Work, record: Signpost) -> Outcome:
    uid = bytes.fromhex(record.id)
    if list(work.connection.execute("SELECT 1 FROM signpost WHERE uid = ?", (uid,))):
        return "same"
    work.connection.execute("INSERT INTO signpost(uid, name) VALUES(?, ?)", (uid, work.name(record.name)))
    return "added"


SIGNPOST = RecordKind("signpost", Signpost, read=_read, merge=_merge)
'''
    },
    edits=(
        after("src/palazzo/store/migration_names.py", '    "m020_heading_vectors",', '    "m021_signposts",\n'),
        after(
            "src/palazzo/store/schema.py",
            "    for statement in source_headings.VECTOR_COLUMNS:\n        connection.execute(statement)",
            '''

def m021_signposts(connection: Connection) -> None:
    """Create the table of signposts."""
    connection.execute("CREATE TABLE signpost(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, name TEXT NOT NULL)")
''',
        ),
        after(
            "src/palazzo/store/text_columns.py",
            '    WordTable("known_person", "id", (("name", "name"),)),',
            '    WordTable("signpost", "id", (("name", "name"),)),\n',
        ),
        after(
            "src/palazzo/sync/records/kind_registry.py",
            "from palazzo.sync.records.record_kind import Record, RecordKind",
            "from palazzo.sync.records.signpost_records import SIGNPOST\n",
        ),
        after("src/palazzo/sync/records/kind_registry.py", "    TUNNEL,", "    SIGNPOST,\n"),
    ),
    generated=("docs/reference/export-schema.json",),
    tests=OF_NEW_TABLES,
)

ADDITIONS = {"verb": VERB, "host": HOST, "format": FORMAT, "consumer": CONSUMER, "record": RECORD}


def test_files_that_one_more_of_each_changes_are_as_the_additions_expect() -> None:
    for addition in ADDITIONS.values():
        assert not any((ROOT / path).exists() for path in addition.created)
        for path, old, _ in addition.edits:
            assert (ROOT / path).read_text(encoding="utf-8").count(old) == 1, f"{path}: {old}"


class Checkout:
    """A copy of the tree, with a palace and a home of its own."""

    def __init__(self, directory: Path) -> None:
        self.root, self.palace = directory / "checkout", directory / "state" / "palace.db"
        for part in ("src", "tests", "tools", "docs", "integrations"):
            shutil.copytree(ROOT / part, self.root / part, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("README.md", "dev.py", "pyproject.toml"):
            shutil.copy(ROOT / name, self.root)
        self.notes = directory / "notes"
        self.notes.mkdir()
        (self.notes / "deploy.md").write_text(
            "# Deploy\n\nThe deploy service listens on port 8443.\n", encoding="utf-8"
        )

    def python(self, *arguments: str, stdin: str = "") -> str:
        """Run Python on the copy; return its standard output."""
        variables = {
            **os.environ, **dev.apart_from_the_user(self.palace), "PYTHONPATH": str(self.root / "src"),
            "PALAZZO_SERVICE": "off",
        }  # fmt: skip
        result = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root, env=variables, input=stdin, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert result.returncode == 0, f"{arguments}\n{result.stdout}\n{result.stderr}"
        return result.stdout

    def palazzo(self, *arguments: str, palace: Path | None = None) -> str:
        return self.python("-m", "palazzo", *arguments, "--palace", str(palace or self.palace))

    def rows(self, query: str, palace: Path | None = None) -> Any:
        """Return the rows of a query in the palace, after the changes that it makes."""
        script = (
            "import contextlib, json, sys; from pathlib import Path; from palazzo.store.database import Database\n"
            "with contextlib.closing(Database(Path(sys.argv[1]))) as database, database.transaction() as connection:\n"
            "    print(json.dumps([list(row) for row in connection.execute(sys.argv[2])]))"
        )
        return json.loads(self.python("-c", script, str(palace or self.palace), query))


@pytest.fixture
def checkout(request: pytest.FixtureRequest, tmp_path: Path) -> Checkout:
    """A copy to which the test's additions have been made."""
    copy = Checkout(tmp_path)
    for kind in request.param:
        ADDITIONS[kind].apply(copy.root)
    return copy


def with_added(*kinds: str) -> pytest.MarkDecorator:
    """Give a test a copy of the tree with one more of each of these."""
    return pytest.mark.parametrize("checkout", [kinds], indirect=True, ids=["-".join(kinds)])


def generate(checkout: Checkout) -> None:
    """Run the tools that write files from the code."""
    for tool in ("make_host_table", "make_command_index", "make_reference"):
        checkout.python(f"tools/{tool}.py")


def reference(checkout: Checkout, kind: str) -> str:
    """Return the first generated file of a kind, which is a page."""
    generate(checkout)
    page, *_ = ADDITIONS[kind].generated
    return (checkout.root / page).read_text(encoding="utf-8")


@pytest.mark.slow
@with_added("verb")
def test_a_verb_is_a_command_and_stands_in_the_reference(checkout: Checkout) -> None:
    page = reference(checkout, "verb")
    checkout.palazzo("mine", str(checkout.notes))
    assert "tally" in checkout.python("-m", "palazzo", "--help")
    assert checkout.palazzo("tally").strip() == "1 wing"
    assert json.loads(checkout.palazzo("tally", "--json"))["wings"] == 1
    assert "## palazzo tally" in page


ASKS_A_HOOK = """
import json, os, sys
from pathlib import Path
from palazzo.features.hooks.hook import hook
from palazzo.faces.hooks import hook_exchange, hook_process
from palazzo.operations.context import Context

def ask(request, directory):
    with Context(Path(palace), Path(directory), dict(os.environ)) as context:
        return hook(context, request)

palace, first, second = sys.argv[1], sys.argv[2].encode(), sys.argv[3].encode()
print(hook_exchange.answer("lantern", "Prompt", first, ask, print).decode().strip())
print(hook_process.answer("lantern", "Prompt", second, palace, dict(os.environ), 60.0).decode().strip())
"""
"""Asks both ways to answer a hook, in one process: the program itself gives up after the seconds that a host waits."""


@pytest.mark.slow
@with_added("host")
def test_a_host_s_hooks_are_answered_with_and_without_the_service(checkout: Checkout) -> None:
    assert "| Lantern | `lantern` | yes | yes | yes |" in reference(checkout, "host")
    assert "lantern" in checkout.python("-m", "palazzo", "hook", "--help")
    decision = "We decided on a retry budget of ten percent, because storms of retries took the gateway down."
    checkout.palazzo("remember", decision, "--kind", "decision")
    prompt = {"cwd": str(checkout.root), "prompt": "what did we decide about the retry budget?"}
    payloads = [json.dumps({**prompt, "session_id": session}) for session in ("s-1", "s-2")]
    for line in checkout.python("-c", ASKS_A_HOOK, str(checkout.palace), *payloads).splitlines():
        answer = json.loads(line)["hookSpecificOutput"]
        assert answer["hookEventName"] == "Prompt"
        assert decision in answer["additionalContext"]


@pytest.mark.slow
@with_added("host", "format")
def test_formats_of_a_host_and_of_another_program_are_read(checkout: Checkout) -> None:
    for kind, words in (("lantern", "as the proxy demands"), ("beacon", "as the lighthouse demands")):
        session = checkout.notes / f"{kind}.jsonl"
        message = {kind: f"{kind}-1", "speaker": "agent", "text": f"Port 8443, {words}."}
        session.write_text(json.dumps(message) + "\n", encoding="utf-8")
        checkout.palazzo("mine", str(session))
        assert words in checkout.palazzo("search", words.split()[2])
    stored = checkout.rows("SELECT kind, session_id FROM source ORDER BY kind")
    assert stored == [["beacon", "beacon-1"], ["lantern", "lantern-1"]]


@pytest.mark.slow
@with_added("consumer")
def test_a_consumer_runs_in_the_background_and_in_a_rebuild(checkout: Checkout) -> None:
    lengths = "SELECT drawer, characters FROM drawer_length ORDER BY 1"
    checkout.palazzo("mine", str(checkout.notes))
    checkout.python("-m", "palazzo.daemon.embedding_process", str(checkout.palace))
    rows = checkout.rows(lengths)
    assert [drawer for drawer, _ in rows] == [
        drawer for (drawer,) in checkout.rows("SELECT id FROM drawer WHERE retired_at IS NULL ORDER BY 1")
    ]
    assert all(characters > 0 for _, characters in rows)
    checkout.rows("DELETE FROM drawer_length")
    checkout.palazzo("repair", "--rebuild", "all")
    assert checkout.rows(lengths) == rows


@pytest.mark.slow
@with_added("record")
def test_a_record_is_exported_and_imported_and_stands_in_the_schema(checkout: Checkout, tmp_path: Path) -> None:
    export, other = tmp_path / "palace.jsonl", tmp_path / "other" / "palace.db"
    checkout.palazzo("mine", str(checkout.notes))
    checkout.rows("INSERT INTO signpost(uid, name) VALUES(x'0123456789abcdef0123456789abcdef', 'the old bridge')")
    checkout.palazzo("export", str(export))
    assert '"kind":"signpost"' in export.read_text(encoding="utf-8")
    checkout.palazzo("import", str(export), "--trust", "user", "--yes", palace=other)
    assert checkout.rows("SELECT name FROM signpost", palace=other) == [["the old bridge"]]
    assert "signpost" in json.loads(reference(checkout, "record"))["$defs"]


@pytest.mark.slow
@with_added(*ADDITIONS)
def test_tests_that_hold_lists_know_one_more_of_each(checkout: Checkout) -> None:
    generate(checkout)
    for path, expression in sorted({test for addition in ADDITIONS.values() for test in addition.tests}):
        assert "passed" in checkout.python("-m", "pytest", "-k", expression, path)


@pytest.mark.slow
@with_added(*ADDITIONS)
def test_one_more_of_each_passes_the_formatter_the_linter_and_the_type_checker(checkout: Checkout) -> None:
    written = sorted({path for addition in ADDITIONS.values() for path in addition.written})
    checkout.python("-m", "ruff", "format", "--check", *written)
    checkout.python("-m", "ruff", "check", *written)
    checkout.python("-m", "mypy", *written)
