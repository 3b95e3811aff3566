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
    (
        "palazzo",
        "errors",
        "model",
        "frozen_class",
        "named_tuples",
        "paths",
        "locks",
        "host_names",
        "onnx_runtime",
        "garbage_collection",
        "text",
        "settings",
    ),
    ("security",),
    ("store",),
    ("git",),
    ("archive",),
    ("sources", "index"),
    ("sessions",),
    ("knowledge",),
    ("derived", "injection"),
    ("client",),
    ("hosts",),
    ("sync",),
    ("importers",),
    ("palace",),
    ("team",),
    ("bench",),
    ("operations",),
    ("features",),
    ("faces",),
    ("daemon",),
    ("__main__", "cli"),  # the second is a launcher under a former name
)
FLOOR_OF = {room: n for n, rooms in enumerate(FLOORS) for room in rooms}

STANDARD_LIBRARY_ROOMS = ("paths", "locks", "host_names", "client")
"""What a hook loads before anything else."""
GROUND = ("palazzo", "errors", "model", "frozen_class", "paths", "locks")
"""What all others of the ground floor may use."""
POSIX_ONLY = frozenset(["fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "syslog", "posix"])
FORBIDDEN_NAMES = frozenset(["utils", "util", "helpers", "helper", "manager", "misc", "common"])
LONGEST_MODULE, MEDIAN_MODULE = 450, 200
LONGEST_CONTRACT = 700
"""A contract is a list of data: the requests and results of up to twenty verbs."""


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


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file's tree; the tests of a process walk through each file once."""
    return tuple(ast.walk(tree(path)))


def imports_of(path: Path) -> Iterator[Import]:
    """Every import, also inside functions and under TYPE_CHECKING; `from a import b` may name the module a.b."""
    module = name_of(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in nodes(path):
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
    """On the ground floor all may use the nouns, the errors and the paths, and these no other part of it."""
    return FLOOR_OF[own] == FLOOR_OF[other] == 0 and other in GROUND


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
        ("rich", ("palazzo.faces.cli", "palazzo.features.screen")),
        ("pydantic", ("palazzo.faces.mcp", "palazzo.faces.web")),
        ("starlette", ("palazzo.faces.web", "palazzo.faces.mcp", "palazzo.faces.team", "palazzo.faces.http")),
        ("psycopg", ("palazzo.team.server",)),
        ("jwt", ("palazzo.team.server.id_tokens",)),
        ("jinja2", ("palazzo.faces.web",)),
        ("tomlkit", ("palazzo.text.toml_edit",)),
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
    for node in nodes(path):
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
    last_names = {name.rpartition(".")[2] for name in names}
    for path in files():
        aliases = {found.target.rpartition(".")[2]: found.target for found in imports_of(path)}
        for node in nodes(path):
            if not isinstance(node, ast.Call) or last_name(node.func) not in last_names:
                continue
            callee = ast.unparse(node.func)
            head, dot, rest = callee.partition(".")
            full = f"{aliases.get(head, head)}{dot}{rest}"
            if full in names:
                found.append((name_of(path), full, node.lineno))
    return found


def last_name(called: ast.expr) -> str:
    """Return the name of what is called, without the module or object that it belongs to."""
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


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
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for verb in ("INSERT INTO ", "REPLACE INTO ", "UPDATE ", "DELETE FROM ")
        for table in ("item", "pack", "link")
        if f"{verb}{table}(" in node.value or f"{verb}{table} " in node.value
    ]
    assert writing == []


FACES = ("faces", "daemon")
OF_FACES = frozenset(
    [
        "palazzo",
        "errors",
        "model",
        "frozen_class",
        "paths",
        "locks",
        "host_names",
        "garbage_collection",
        "text",
        "settings",
        "client",
        "hosts",
    ]
)
"""What a face may use besides operations, features and other faces: what starts them, and what hosts call things."""
BEYOND = {
    "palazzo.faces.cli.error_messages": {"store"},  # SQLite's version, for a report of a bug
    "palazzo.daemon.embedding_process": {"index", "store"},  # the background work itself
    "palazzo.daemon.palace_pool": {"index", "palace", "store"},  # keeps palaces open for operations
    "palazzo.faces.cli.team_doctor_command": {"team"},
    "palazzo.faces.cli.team_invite_command": {"team"},  # the team server has no palace, so no operation could run it
    "palazzo.faces.cli.team_purge_command": {"team"},
    "palazzo.faces.cli.team_serve_command": {"team"},
    "palazzo.faces.team.team_app": {"sync", "team"},
    "palazzo.faces.team.team_server": {"team"},
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
    inside = frozenset(["palazzo", "errors", "frozen_class", *STANDARD_LIBRARY_ROOMS])
    foreign = []
    for found in all_imports():
        target = found.target
        is_known = target.split(".")[0] in allowed or room_of(target) in inside
        if room_of(found.module) in STANDARD_LIBRARY_ROOMS and not is_known:
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


def longest(module: str) -> int:
    """Return the most lines that this module may have."""
    return LONGEST_CONTRACT if module.endswith(".contract") else LONGEST_MODULE


def test_modules_are_short() -> None:
    sizes = {name_of(path): lines_of(path) for path in files() if lines_of(path)}
    assert {name: size for name, size in sizes.items() if size > longest(name)} == {}
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


LATE_IMPORTS = {
    "palazzo.__main__": "each way of starting imports what it needs",
    "palazzo.client": "a hook starts with the standard library alone",
    "palazzo.daemon": "a service answers its first call before the rest of it is loaded",
    "palazzo.faces.cli": "help, completion and single commands start without the others' libraries",
    "palazzo.faces.mcp": "a client is answered before the SDK is loaded",
    "palazzo.features.hooks": "an event imports what it needs; most need little",
    "palazzo.features.hosts.install": "one host's installer is imported",
    "palazzo.features.search.team_hits": "a search that asks no team loads no HTTP",
    "palazzo.features.upkeep.doctor": "a doctor reports a module that cannot be imported",
    "palazzo.features.upkeep.settings": "settings are shown without the engine",
    "palazzo.index.embedder_choice": "one embedder is imported, not those that the settings do not name",
    "palazzo.operations.context": "a command that opens no palace does not import the engine",
    "palazzo.operations.damage": "loaded only where a palace is damaged",
    "palazzo.palace": "a reader does not import what writes and derives",
}
"""The modules and rooms in which a function may import Palazzo's own modules, and why."""
MOST_OTHER_LATE_IMPORTS = 7
"""Other modules together may have so many."""


def is_late(module: str) -> bool:
    """Whether imports inside this module's functions have a reason."""
    return any(module == known or module.startswith(f"{known}.") for known in LATE_IMPORTS)


@cache
def imports_inside_functions() -> list[str]:
    """The modules that import Palazzo's own modules inside functions, once for each import."""
    importing = []
    for path in files():
        for function in nodes(path):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                importing += [
                    name_of(path)
                    for node in ast.walk(function)
                    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("palazzo")
                ]
    return importing


def test_functions_import_only_where_start_up_needs_it() -> None:
    assert len([module for module in imports_inside_functions() if not is_late(module)]) <= MOST_OTHER_LATE_IMPORTS
    assert [
        known for known in LATE_IMPORTS if not any(is_in(known, module) for module in imports_inside_functions())
    ] == []


def is_in(room: str, module: str) -> bool:
    """Whether a module is this one or lies in this room."""
    return module == room or module.startswith(f"{room}.")


PARTS_OF_FACES = ("contract", "view", "tools", "screen")
"""The parts of a feature that faces know."""
ENGINES_OF_FACES = {
    "palazzo.faces.cli.session_actions": {"digest", "digest_view"},  # the picker previews a session
    "palazzo.faces.hooks.hook_process": {"spool"},  # a hook without a service keeps its event
    "palazzo.faces.mcp.prompts": {"instruction_prompts"},  # prompts are texts of the hosts' instructions
    "palazzo.faces.mcp.profiles.own_profile": {"instruction_prompts"},
}
"""What a face needs of a feature besides."""


def test_faces_import_contracts_views_and_tools_alone() -> None:
    engines: dict[str, set[str]] = {}
    for imported in all_imports():
        parts = imported.target.split(".")
        if not imported.module.startswith("palazzo.faces.") or parts[:2] != ["palazzo", "features"]:
            continue
        name = next((part for part in parts[2:4] if part in PARTS_OF_FACES), parts[3] if len(parts) > 3 else parts[2])
        if name not in PARTS_OF_FACES:
            engines.setdefault(imported.module, set()).add(name)
    assert engines == ENGINES_OF_FACES


VIEWS_USE = frozenset(
    ["palazzo", "errors", "model", "frozen_class", "text", "operations", "settings", "paths", "features"]
)
"""The rooms that a view may import from: it is loaded to show a result, and what shows a result runs no engine."""
LIGHT_PARTS = frozenset(
    [
        "palazzo.security.display_names",
        "palazzo.security.fences",
        "palazzo.injection.wake_up_text",
        "palazzo.features.search.hit_entries",
        "palazzo.bench.summaries",
    ]
)
"""Modules of other rooms that hold data or pure functions on text."""


def is_view(module: str) -> bool:
    """Whether a module shows results, on a terminal or to an agent."""
    name = module.rpartition(".")[2]
    return module.startswith("palazzo.features.") and (name in ("view", "tools") or name.endswith("_view"))


def test_views_load_no_engine() -> None:
    engines = []
    for imported in all_imports():
        if not is_view(imported.module) or not imported.target.startswith("palazzo"):
            continue
        parts = imported.target.split(".")
        is_engine_of_a_feature = parts[1:2] == ["features"] and not any(
            part in PARTS_OF_FACES or part.endswith("_view") for part in parts[2:4]
        )
        is_light = any(is_in(part, imported.target) for part in LIGHT_PARTS)
        if not is_light and (is_engine_of_a_feature or room_of(imported.target) not in VIEWS_USE):
            engines.append(str(imported))
    assert engines == []
