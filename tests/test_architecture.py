"""The house stands as docs/architecture.md draws it. Imports are read from the syntax tree, so none escapes."""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "palazzo"

FLOORS = (
    # The lowest floor first. A room imports from its own floor's lower neighbours and from all floors below.
    ("palazzo", "errors", "model", "paths", "locks", "onnx_runtime", "text", "settings"),
    ("security",),
    ("store",),
    ("git",),
    ("archive",),
    ("sources", "index"),
    ("sessions",),
    ("knowledge",),
    ("derived", "injection"),
    ("client",),
    ("sync",),
    ("importers",),
    ("palace",),
    ("bench",),
    ("operations",),
    ("features",),
    ("hosts",),
    ("faces",),
    ("daemon",),
    ("__main__", "cli"),  # the second is a launcher under a former name
)
FLOOR_OF = {room: n for n, rooms in enumerate(FLOORS) for room in rooms}

STANDARD_LIBRARY_ROOMS = ("paths", "locks", "client")
"""What a hook loads before anything else."""
KEYWORD_ANSWER = frozenset(
    f"palazzo.{name}"
    for name in (
        *("text.compiled_patterns", "text.stopwords", "text.token_counts", "security.fences", "security.confusables"),
        *("injection.intent_patterns", "injection.intent", "injection.echo", "injection.keyword_relevance"),
        *("injection.block_layout", "store.readonly_palace", "store.migration_names"),
        *("security", "security.display_names", "security.trust_order"),
    )
)
"""What a hook loads besides if it answers by itself; of other libraries it knows SQLite alone."""
KEYWORD_ANSWER_LATER = (
    ("palazzo.store.readonly_palace", "apsw"),
    ("palazzo.client.keyword_answers", "palazzo.settings.load"),
    ("palazzo.security.trust_order", "palazzo.model.Trust"),  # for the type checker alone
)
"""What it loads if there is something to look for, or a setting that somebody made."""

POSIX_ONLY = frozenset(["fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "syslog", "posix"])
FORBIDDEN_NAMES = frozenset(["utils", "util", "helpers", "helper", "manager", "misc", "common"])
LONGEST_MODULE, MEDIAN_MODULE = 450, 200


@dataclass(frozen=True)
class Import:
    """One name that a module imports, wherever in it and for whatever purpose."""

    module: str
    target: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def files() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = ("palazzo", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports_of(path: Path) -> Iterator[Import]:
    """Every import, also inside functions and under TYPE_CHECKING; `from a import b` may name the module a.b."""
    module = name_of(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            for alias in node.names:
                yield Import(module, f"{base}.{alias.name}", node.lineno)


@cache
def all_imports() -> list[Import]:
    return [found for path in files() for found in imports_of(path)]


@cache
def room_of(module: str) -> str:
    """The room that a dotted name lies in: `palazzo.store.items` and `palazzo.store` are in `store`."""
    parts = module.split(".")
    inside = len(parts) > 1 and ((ROOT / parts[1]).is_dir() or (ROOT / f"{parts[1]}.py").exists())
    return parts[1] if inside else "palazzo"


def test_every_room_of_the_house_stands_on_a_floor() -> None:
    rooms = {room_of(name_of(path)) for path in files()}
    assert rooms - set(FLOOR_OF) == set()


def test_a_module_imports_only_from_floors_below_it() -> None:
    climbing = []
    for found in all_imports():
        if not found.target.startswith("palazzo"):
            continue
        own, other = room_of(found.module), room_of(found.target)
        if own != other and FLOOR_OF[other] >= FLOOR_OF[own] and not allowed_beside(own, other):
            climbing.append(str(found))
    assert climbing == []


def allowed_beside(own: str, other: str) -> bool:
    """On the ground floor all may use the nouns, the errors and the paths, and these use one another no further."""
    return FLOOR_OF[own] == FLOOR_OF[other] == 0 and other in ("palazzo", "errors", "model", "paths", "locks")


def test_the_reader_of_imports_sees_those_inside_functions_and_type_checking() -> None:
    """What a search for lines that begin with `import` would miss."""
    found = {
        (one.module, one.target)
        for one in all_imports()
        if one.module in ("palazzo.index.passage_embedding", "palazzo.store.keyword_table")
    }
    assert ("palazzo.index.passage_embedding", "numpy") in found
    assert ("palazzo.store.keyword_table", "apsw") in found


@pytest.mark.parametrize(
    ("library", "rooms"),
    [
        ("typer", ("palazzo.faces.cli",)),
        ("rich", ("palazzo.faces.cli", "palazzo.features.screen")),
        ("click", ("palazzo.faces.cli",)),
        ("pydantic", ("palazzo.faces.mcp", "palazzo.faces.web")),
    ],
)
def test_a_library_of_faces_lives_in_its_face_alone(library: str, rooms: tuple[str, ...]) -> None:
    elsewhere = [
        str(found)
        for found in all_imports()
        if found.target.split(".")[0] == library and not found.module.startswith(rooms)
    ]
    assert elsewhere == []


SOLE_IMPORTERS = {
    "onnxruntime": "src/palazzo/onnx_runtime.py",
    "markitdown": "src/palazzo/sources/formats/conversion_process.py",
}
"""Libraries that send telemetry unless it is switched off first, or import one that does; and where that is done."""


def libraries_named(path: Path) -> set[str]:
    """The libraries that a file imports by a statement, or by `import_module` and its like."""
    names: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            names.update(
                argument.value
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            )
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize(("library", "module"), SOLE_IMPORTERS.items())
def test_what_sends_telemetry_is_imported_by_one_module_that_switches_it_off(library: str, module: str) -> None:
    top = ROOT.parents[1]
    sources = [path for room in ("src", "tests", "tools", "benchmarks") for path in sorted((top / room).rglob("*.py"))]
    candidate_paths = [path for path in sources if library.encode() in path.read_bytes()]  # few are worth parsing
    importers = [path.relative_to(top).as_posix() for path in candidate_paths if library in libraries_named(path)]
    assert importers == [module]


def test_sqlite_is_spoken_to_by_the_store_alone() -> None:
    elsewhere = [
        str(found)
        for found in all_imports()
        if found.target.split(".")[0] in ("apsw", "sqlite3") and room_of(found.module) not in ("store", "client")
    ]
    assert elsewhere == []


def calls_to(names: set[str]) -> list[tuple[str, str, int]]:
    """(module, callee, line) of every call `x.name(…)` or `name(…)` for dotted `module.name` among `names`."""
    found = []
    for path in files():
        aliases = {found.target.rpartition(".")[2]: found.target for found in imports_of(path)}
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.Call):
                continue
            callee = ast.unparse(node.func)
            head, dot, rest = callee.partition(".")
            full = f"{aliases.get(head, head)}{dot}{rest}"
            if full in names:
                found.append((name_of(path), full, node.lineno))
    return found


def test_items_are_inserted_by_ingest_alone() -> None:
    callers = {module for module, _, _ in calls_to({"palazzo.store.items.insert_items"})}
    assert callers == {"palazzo.archive.ingest", "palazzo.archive.incoming_storage"}  # what is said here, and what came


def test_ingest_is_used_by_writers_of_the_archive_alone() -> None:
    callers = {module for module, _, _ in calls_to({"palazzo.archive.ingest.file"})}
    assert callers
    assert {room_of(module) for module in callers} <= {"archive", "sources"}


def test_text_is_written_into_items_by_one_statement() -> None:
    """No module but theirs has SQL that inserts, updates or deletes items or their raw bytes."""
    writing = [
        f"{name_of(path)}:{node.lineno}"
        for path in files()
        if name_of(path) not in ("palazzo.store.items", "palazzo.store.chain_links", "palazzo.store.packs")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for verb in ("INSERT INTO ", "REPLACE INTO ", "UPDATE ", "DELETE FROM ")
        for table in ("item", "pack", "link")
        if f"{verb}{table}(" in node.value or f"{verb}{table} " in node.value
    ]
    assert writing == []


FACES = ("faces", "hosts", "daemon")
OF_FACES = frozenset(["palazzo", "errors", "model", "paths", "locks", "text", "settings", "client"])
"""What a face may use besides operations, features, other faces and what starts them."""
BEYOND = {
    "palazzo.faces.cli.error_messages": {"store"},  # SQLite's version, for a report of a bug
    "palazzo.daemon.embedding_process": {"index", "store"},  # the background work itself
    "palazzo.daemon.palace_pool": {"index", "palace", "store"},  # keeps palaces open for operations
    "palazzo.daemon.service": {"index"},  # a first search, to be warm
    "palazzo.faces.mcp.http_tokens": {"palace", "store"},  # looks a token up for every request, before any operation
    "palazzo.faces.mcp.http_quotas": {"store"},  # the names of scopes
    "palazzo.faces.mcp.http_scopes": {"store"},
    "palazzo.faces.mcp.token_scopes": {"store"},
}
"""Faces that know more, and of what. Who adds a line says why; an operation is nearly always the better place."""
SHOWING_ROOMS = frozenset(["injection", "security"])
"""What faces need to show recorded words to a model: fences, and the nouns and names of what hooks say."""


def test_a_face_has_no_logic_of_its_own() -> None:
    """It asks operations, and shows what they answer: two faces then never differ in what they do."""
    knowing = []
    shared = OF_FACES | SHOWING_ROOMS | {*FACES, "operations", "features"}
    for found in all_imports():
        other = room_of(found.target)
        if room_of(found.module) not in FACES or not found.target.startswith("palazzo"):
            continue
        if other in shared or other in BEYOND.get(found.module, ()):
            continue
        knowing.append(str(found))
    assert knowing == []


def test_what_a_face_is_allowed_beyond_operations_it_uses() -> None:
    used = {(found.module, room_of(found.target)) for found in all_imports()}
    assert [(module, room) for module, rooms in BEYOND.items() for room in rooms if (module, room) not in used] == []


def test_each_posix_only_module_is_imported_in_one_place() -> None:
    users: dict[str, set[str]] = {}
    for found in all_imports():
        name = found.target.split(".")[0]
        if name in POSIX_ONLY:
            users.setdefault(name, set()).add(found.module)
    assert {name: modules for name, modules in users.items() if len(modules) > 1} == {}


def test_no_module_is_named_for_nothing() -> None:
    assert [name_of(path) for path in files() if set(name_of(path).split(".")) & FORBIDDEN_NAMES] == []


def test_what_a_hook_loads_first_imports_the_standard_library_alone() -> None:
    allowed = set(sys.stdlib_module_names) | {"__future__"}
    inside = frozenset(["palazzo", "errors", *STANDARD_LIBRARY_ROOMS])
    foreign = []
    for found in all_imports():
        if room_of(found.module) not in STANDARD_LIBRARY_ROOMS and found.module not in KEYWORD_ANSWER:
            continue
        target = found.target
        own = target in KEYWORD_ANSWER or target.rpartition(".")[0] in KEYWORD_ANSWER or room_of(target) in inside
        if target.split(".")[0] not in allowed and not own and (found.module, target) not in KEYWORD_ANSWER_LATER:
            foreign.append(str(found))
    assert foreign == []


def test_everything_public_says_what_it_does() -> None:
    """Modules, classes and functions; a method that keeps a protocol's promise is described there."""
    silent = []
    for path in files():
        if ast.get_docstring(tree(path)) is None:
            silent.append(name_of(path))
        for node in tree(path).body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name[0] == "_":
                continue
            if ast.get_docstring(node) is None:
                silent.append(f"{name_of(path)}.{node.name}:{node.lineno}")
    assert silent == []


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_modules_are_short() -> None:
    sizes = {name_of(path): lines_of(path) for path in files() if lines_of(path)}
    assert {name: size for name, size in sizes.items() if size > LONGEST_MODULE} == {}
    assert statistics.median(sizes.values()) <= MEDIAN_MODULE


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python 3.11.0 to 3.11.4 match too little there where the group can go back; of one character it is right."""
    repeated = re.compile(r"\)(?:[*+?]|\{[0-9,]+\})\+")
    found = [
        f"{path.relative_to(ROOT)}:{n}"
        for path in sorted(ROOT.rglob("*.py"))
        if "data" not in path.parts
        for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if repeated.search(line)
    ]
    assert found == []
